"""The clock of a swim: phase and rate of the stroke as they were in force, and the whole cycles of a recording.

A stroke rate may slide in mid-swim, so cycles are counted by the recorded phase and not by the rate asked for at first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.systems import Measure, Now
from vitruvian.world import Recording, Signal

Array = np.ndarray
ROUNDING = 1e-6  # cycles by which a whole one may fall short


def clock_measures(rate: float) -> tuple[Measure, ...]:
    """Signals of the rhythm; rate [1/s]: of a swimmer whose controls have none of their own (a course of joints)."""

    def beat(now: Now) -> Any:
        return getattr(now.controls, "beat", None)

    def phase(now: Now) -> float:
        return rate * now.time if (b := beat(now)) is None else b.phase_at(now.time)

    return (
        Measure(Signal("stroke_phase", "1", "cycles since the start"), phase),
        Measure(
            Signal("stroke_rate", "1/s", "cycles a second now"), lambda n: rate if (b := beat(n)) is None else b.rate
        ),
        Measure(
            Signal("wanted_jump", "m, m/s", "largest leap of a wanted muscle length so far", ("length", "rate")),
            lambda n: np.zeros(2) if (b := beat(n)) is None else b.jump,
        ),
    )


def phases(recording: Recording, rate: float) -> Array:
    """Cycles since the start in each frame; rate [1/s]: for a recording that has no clock."""
    signals = recording.signals
    return np.asarray(signals["stroke_phase"] if "stroke_phase" in signals else rate * recording.time)


def phase_at(recording: Recording, rate: float, time: float) -> float:
    """Cycles since the start at a time [s]."""
    return float(np.interp(time, recording.time, phases(recording, rate)))


def cycle_times(recording: Recording, rate: float, first: float, last: float, *, back: bool = False) -> Array:
    """Ends [s] of the whole cycles from phase `first` to phase `last` and within the recording, shape (n + 1,).

    Counted on from `first`, or back from `last`; one instant alone, or none, where there is no whole cycle."""
    phase = phases(recording, rate)
    first, last = max(first, float(phase[0])), min(last, float(phase[-1]))
    count = int(np.floor(last - first + ROUNDING))
    if count < 0:
        return np.zeros(0)
    steps = np.arange(count + 1)
    at = last - steps[::-1] if back else first + steps
    return np.interp(at, phase, recording.time)


def speeds_between(recording: Recording, times: Array, *, straight: bool = True) -> Array:
    """Mean speed [m/s] from each time [s] to the next: along -y, or, unless `straight`, from place to place."""
    place = recording.signals["position"][:, :2]
    gone = np.diff(np.stack([np.interp(times, recording.time, place[:, k]) for k in range(2)], axis=1), axis=0)
    return np.asarray((-gone[:, 1] if straight else np.linalg.norm(gone, axis=1)) / np.diff(times))


def mean_speed(recording: Recording, times: Array, *, straight: bool = True) -> float:
    """Mean speed [m/s] over cycles that end at `times` [s]; not a number if there is none."""
    if len(times) < 2:
        return float("nan")
    return float(speeds_between(recording, times, straight=straight) @ np.diff(times) / (times[-1] - times[0]))
