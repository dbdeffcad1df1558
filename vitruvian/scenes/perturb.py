"""A shove in mid-stroke: the rhythm goes on, and the swimmer comes back to his course.

vitruvian run perturb --set force=300
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.world.body import Push
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.world import World

BACK = 10.0  # [deg] of heading, against the same phase before the shove
SPEED = 0.25  # of the mean speed before it


def build(parameters: Mapping[str, Any]) -> World:
    shove = Push("T6", (parameters["force"], 0.0, 0.0), parameters["at"], parameters["duration"])
    return stroke_world("crawl", parameters, pushes=(shove,))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters)
    time, period, at = recording.time, 1.0 / parameters["rate"], parameters["at"]
    sideways = recording.signals["velocity"][:, 0]
    shoved = (time >= at) & (time < at + parameters["duration"] + 0.1)
    if not shoved.any():
        return report
    report.metrics["sideways_speed"] = float(np.abs(sideways[shoved]).max())
    before = [_cycle_means(recording, name, at - period, period) for name in ("speed", "heading")]
    strokes = [_cycle_means(recording, "speed", at + n * period, period) for n in range(1, 4)]
    turns = [_cycle_means(recording, "heading", at + n * period, period) for n in range(1, 4)]
    back = [
        n + 1
        for n, (v, h) in enumerate(zip(strokes, turns))
        if abs(v - before[0]) < SPEED * abs(before[0]) and abs(h - before[1]) < BACK
    ]
    report.metrics["strokes_to_recover"] = float(back[0]) if back else float("inf")
    report.checks["back in the cycle within three strokes"] = bool(back)
    return report


def _cycle_means(recording: Recording, name: str, start: float, period: float) -> float:
    """Mean of a signal over one cycle; nan if the recording does not reach so far."""
    inside = (recording.time >= start) & (recording.time < start + period)
    whole = recording.time[-1] >= start + period - 0.05
    return float(recording.signals[name][inside].mean()) if whole else float("nan")


scene = Scene(
    name="perturb",
    summary="a swimmer is shoved sideways in mid-stroke and finds back into his rhythm",
    answers="Si 2013, section 7.1",
    seconds=7.0,
    build=build,
    check=check,
    parameters={
        **PARAMETERS,
        "force": Parameter(200.0, "of the shove on the chest, to the left", "N", low=-2000.0, high=2000.0),
        "at": Parameter(2.4, "when it comes", "s", low=0.0, high=60.0),
        "duration": Parameter(0.2, "how long it lasts", "s", low=0.01, high=2.0),
    },
    qualities=QUALITIES,
)
