"""What the scenes with a body share: parameters, and how a recording of a tracked motion is judged."""

from __future__ import annotations

import numpy as np

from vitruvian.world import Parameter, Recording

Array = np.ndarray

STEPS = Parameter(4, "steps per frame of 1/60 s", low=1, high=100)
RATE = Parameter(60.0, "control decisions a second", "1/s", low=20.0, high=2000.0)


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
