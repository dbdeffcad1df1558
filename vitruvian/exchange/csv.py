"""Recordings as comma-separated values: one row per frame, the time, every signal, then every body's pose.

A column is headed by its name and unit, `knee angle [rad]`, `head velocity.x [m/s]`, `femur.qw`. Numbers are written
with as many digits as it takes to read back the same bits.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

POSE = (("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", ""))


def write_csv(recording: Any, out: str | Path, progress: Callable[[float, float], None] | None = None) -> None:
    """Write time [s], signals and poses of a recording to `out`."""
    stage, time = recording.stage, np.asarray(recording.time)
    heads, columns = ["time [s]"], [time.reshape(-1, 1)]
    for signal in stage.signals:
        names = [f"{signal.name}.{part}" for part in signal.components] or [signal.name]
        heads += [_head(name, signal.unit) for name in names]
        columns.append(np.asarray(recording.signals[signal.name], dtype=float).reshape(len(time), -1))
    for body in stage.bodies:
        heads += [_head(f"{body}.{part}", unit) for part, unit in POSE]
    block = np.concatenate(columns, axis=1)
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        for i in range(len(time)):
            poses = np.asarray(recording.frame(i).poses) if not hasattr(recording, "poses") else recording.poses[i]
            writer.writerow([*block[i].tolist(), *poses.ravel().tolist()])
            if progress:
                progress(i + 1, len(time))


def _head(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name
