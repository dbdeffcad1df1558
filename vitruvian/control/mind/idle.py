"""What a living head does when nothing happens: it sways a little, nods with the breath, and its eyes do not stay on
one spot of a face but go from eye to eye and to the mouth.

All of it follows from the time and one number of each head (`phase`), so that nothing need be remembered. The sway is a
sum of slow waves whose rates have no common measure, so that it does not repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray
RATES = np.array([[0.071, 0.163, 0.317], [0.053, 0.127, 0.269], [0.083, 0.191, 0.353]])  # [1/s] nod, tilt, turn
SHARES = np.array([0.6, 0.35, 0.2])
SPOTS = np.array([[0.032, 0.0], [-0.032, 0.0], [0.0, -0.072]])  # [m] of a face: eyes and mouth, aside and up
LOOKED_AT = np.array([0.42, 0.84, 1.0])  # how often, summed up


def _number(default: float, low: float, high: float) -> Any:
    return field(default=default, metadata={"range": (low, high)})


@dataclass(frozen=True)
class Idle:
    """How a head idles."""

    sway: float = _number(1.0, 0.0, 10.0)  # degrees
    breath: float = _number(14.0, 1.0, 60.0)  # [1/min]
    nod: float = _number(0.4, 0.0, 5.0)  # degrees with each breath
    dwell: float = _number(0.9, 0.2, 60.0)  # [s] on one spot of a face


def sway(idle: Idle, phase: float, time: float) -> Array:
    """Turn of the head on top of all others: rotation vector [rad] (3,)."""
    start = 2.0 * np.pi * phase * np.array([[1.3, 5.1, 11.7], [2.9, 3.7, 7.3], [13.1, 17.9, 19.3]])
    turn = idle.sway * (np.sin(2.0 * np.pi * RATES * time + start) @ SHARES)
    turn[0] += idle.nod * np.sin(2.0 * np.pi * (idle.breath / 60.0 * time + phase))
    return np.asarray(np.radians(turn))


def spot(idle: Idle, phase: float, time: float, face: Array) -> Array:
    """What is looked at [m] (3,) of a face whose eyes have their middle at `face` [m] (3,), both in the head's axes."""
    # dwells last from a half to one and a half of the mean
    count = time / idle.dwell + 0.25 * np.sin(2.4 * time / idle.dwell + 6.0 * phase)
    draw = float(np.modf(np.sin(12.9898 * np.floor(count) + 78.233 * phase) * 43758.5453)[0]) % 1.0
    aside, up = SPOTS[np.searchsorted(LOOKED_AT, draw)]
    across = np.array([face[1], -face[0], 0.0]) / max(float(np.hypot(face[0], face[1])), 1e-9)
    return np.asarray(face + aside * across + (0.0, 0.0, up))
