"""What the scenes with a body share: parameters, and how a recording of a tracked motion is judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import Motion, load_motion
from vitruvian.exchange import bvh_motion, read_trial
from vitruvian.exchange.bvh import read_bvh
from vitruvian.measured import trial_motion
from vitruvian.world import Parameter, Recording

Array = np.ndarray

STEPS = Parameter(4, "steps per frame of 1/60 s", low=1, high=100)
RATE = Parameter(60.0, "control decisions a second", "1/s", low=20.0, high=2000.0)

MEASURED = (".c3d", ".trc", ".csv")
MOTION = "a name, a .toml file of key poses, or measured: .bvh, .c3d, .trc, .csv"


def scene_motion(body: Body, source: str) -> Motion:
    """The motion that a scene is to follow: key poses by name or file, or a measured one."""
    kind = Path(source).suffix.lower()
    if kind == ".bvh":
        return bvh_motion(read_bvh(source), body)
    if kind in MEASURED:
        return trial_motion(read_trial(source), body)
    return load_motion(body, source)


def missing_metrics(recording: Recording) -> dict[str, float]:
    """Where muscles fell short: the largest missing torque [N m], and once more under its joint if above 0.001 N m."""
    missing = recording.signals["missing_torque"]
    worst = int(np.argmax(missing))
    out = {"largest_missing_torque_nm": float(missing[worst])}
    if missing[worst] > 1e-3:
        bone = recording.attributes["bodies"][int(recording.signals["missing_at"][worst])]
        out[f"missing_torque_at_{bone}_nm"] = float(missing[worst])
    return out


def deviation(signal: Array) -> Array:
    """Angle less target [degrees] of a signal made by `tracking_measures`, shape (frames,)."""
    return np.degrees(signal[:, 0] - signal[:, 1])
