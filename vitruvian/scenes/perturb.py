"""A shove in mid-stroke: the rhythm goes on, and the swimmer comes back to his course.

What an undisturbed swimmer does is read off the last stroke before the shove (not the first of all, in which he gets
under way). A stroke after the shove is back in the cycle if, phase by phase, roll and depth differ from that stroke by
less than they swing within it (rms against half its range), and if its mean speed and heading are those of before.

    vitruvian run perturb --set force=300
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.scenes._swim_clock import ROUNDING, phase_at, phases
from vitruvian.systems import Push
from vitruvian.world import Parameter, Recording, Report, Scene, World

Array = np.ndarray
BACK = 10.0  # [deg] of heading, against the stroke before the shove
SPEED = 0.25  # of the mean speed before it
STROKES = 3  # within which he is to be back
UNDER_WAY = 1.0  # cycles that no undisturbed stroke reaches back into
SAMPLES = np.arange(64) / 64  # of a cycle; the next one begins at the instant of the shove


def build(parameters: Mapping[str, Any]) -> World:
    shove = Push("T6", (parameters["force"], 0.0, 0.0), parameters["at"], parameters["duration"])
    return stroke_world("crawl", parameters, pushes=(shove,))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters)
    if parameters["physics"] == "kinematic":
        return report
    time, at = recording.time, parameters["at"]
    shoved = (time >= at) & (time < at + parameters["duration"] + 0.1)
    if shoved.any():
        report.metrics["sideways_speed"] = float(np.abs(recording.signals["velocity"][shoved, 0]).max())
    back = {
        "roll": _near(_strokes(recording, parameters, recording.signals["roll"][:, 1])),
        "depth": _near(_strokes(recording, parameters, recording.signals["height"])),
        "speed": _same_mean(_strokes(recording, parameters, recording.signals["speed"]), share=SPEED),
        "heading": _same_mean(_strokes(recording, parameters, recording.signals["heading"]), within=BACK),
    }
    for name, strokes in back.items():
        report.metrics[f"{name}_strokes_to_recover"] = _first(strokes)
        report.checks[f"{name} back in the cycle within three strokes"] = bool(strokes.any())
    together = np.logical_and.reduce(list(back.values()))
    report.metrics["strokes_to_recover"] = _first(together)
    report.checks["back in the cycle within three strokes"] = bool(together.any())
    return report


def _strokes(recording: Recording, parameters: Mapping[str, Any], signal: Array) -> Array:
    """A signal in the stroke before the shove and in those after it, phase by phase, shape (1 + STROKES, samples); not
    numbers where the recording does not reach or he was not yet under way."""
    rate = parameters["rate"]
    phase = phases(recording, rate)
    shove = phase_at(recording, rate, parameters["at"])
    at = shove + np.arange(-1, STROKES)[:, None] + SAMPLES
    out = np.interp(at, phase, signal)
    out[at[:, 0] + 1.0 > phase[-1] + ROUNDING] = np.nan
    out[at[:, 0] < UNDER_WAY - ROUNDING] = np.nan
    return out


def _near(strokes: Array) -> Array:
    """Whether each stroke after the shove stays with the one before it; (STROKES,)."""
    swing = 0.5 * np.ptp(strokes[0])
    return np.asarray(np.sqrt(((strokes[1:] - strokes[0]) ** 2).mean(axis=1)) < swing)


def _same_mean(strokes: Array, *, share: float = 0.0, within: float = 0.0) -> Array:
    """Whether each stroke after the shove has the mean of the one before it, but for a share of it or `within`."""
    mean = strokes.mean(axis=1)
    return np.asarray(np.abs(mean[1:] - mean[0]) < share * abs(mean[0]) + within)


def _first(back: Array) -> float:
    """Strokes until the first that is back, infinite if none is."""
    return float(back.argmax() + 1) if back.any() else float("inf")


scene = Scene(
    name="perturb",
    summary="a swimmer is shoved sideways in mid-stroke and finds back into his rhythm",
    answers="Si 2013, section 7.1",
    seconds=8.4,
    build=build,
    check=check,
    parameters={
        **PARAMETERS,
        "force": Parameter(200.0, "force of the shove on the chest, to the left", "N", low=-2000.0, high=2000.0),
        "at": Parameter(4.0, "when it comes; two strokes before it show him undisturbed", "s", low=0.0, high=60.0),
        "duration": Parameter(0.2, "how long it lasts", "s", low=0.01, high=2.0),
    },
    qualities=QUALITIES,
)
