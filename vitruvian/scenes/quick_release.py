"""The classic quick-release experiment: a half-active muscle is held at constant length, let go at 0.5 s, and
shortens without load.

Force falls with the speed of shortening, at once; the Hill muscle's damping is in the muscle itself (Gasser and Hill
1924), so its force comes back more slowly than the spring's.

    vitruvian run quick-release --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.scenes._pair import GRAVITY, MASS, PairSystem
from vitruvian.world import Parameter, Recording, Report, Scene, World


def build(parameters: Mapping[str, Any]) -> World:
    release, level, length = parameters["release_at"], parameters["level"], parameters["length"]
    simulation = PairSystem(lambda time: level, lambda time: length if time < release else None, length=length)
    return World(simulation, frame_rate=120.0, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, force, length = recording.time, recording.signals["force"], recording.signals["depth"]
    release = parameters["release_at"]
    report = Report()
    if time[-1] < release + 1.0:
        return report
    before = force[(time > 0.5 * release) & (time < release)].mean(axis=0)
    after = time >= release
    drop = 1.0 - force[after].min(axis=0) / before
    rise = [_recovery(time[after], force[after, k]) for k in range(2)]
    report.metrics |= {
        "spring_isometric_n": float(before[0]),
        "hill_isometric_n": float(before[1]),
        "spring_drop": float(drop[0]),
        "hill_drop": float(drop[1]),
        "spring_fall_s": _time_to(time[after], force[after, 0], 0.5 * before[0]),
        "hill_fall_s": _time_to(time[after], force[after, 1], 0.5 * before[1]),
        "spring_recovery_s": rise[0],
        "hill_recovery_s": rise[1],
        "hill_final_length_m": float(length[-1, 1]),
    }
    report.checks["force drops by more than half after the release"] = bool((drop > 0.5).all())
    report.checks["force recovers more slowly in the Hill model"] = rise[1] > rise[0]
    return report


def _time_to(time: np.ndarray, force: np.ndarray, level: float) -> float:
    """Seconds until force first falls below `level`."""
    below = np.flatnonzero(force < level)
    return float(time[below[0]] - time[0]) if len(below) else float("inf")


def _recovery(time: np.ndarray, force: np.ndarray) -> float:
    """Seconds from the release until force, after its lowest, carries the particle's weight again."""
    low = int(np.argmin(force))
    back = np.flatnonzero(force[low:] >= MASS * GRAVITY)
    return float(time[low + back[0]] - time[0]) if len(back) else float("inf")


scene = Scene(
    name="quick-release",
    summary="A held muscle is let go: force falls with the speed of shortening, in two muscle models",
    answers="DiLorenzo 2009, figures 4.6 and 4.7",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "release_at": Parameter(0.5, "release", "s", low=0.05, high=30.0),
        "level": Parameter(0.5, "level of activation", low=0.01, high=1.0),
        "length": Parameter(1.0, "held at", "m", low=0.6, high=1.4),
        "steps": Parameter(8, "steps per frame of 1/120 s (8: about 1 ms)", low=1, high=1000),
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 80}},
)
