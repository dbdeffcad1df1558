"""The swimmer is told to go faster: the frequency of all oscillators slides to a higher one, and speed follows.

Muscles follow up to about one stroke a second, so he begins slowly; at 0.4 an arm is in the air for so long that
it rolls him over.

    vitruvian run swim-faster --set factor=1.5
    vitruvian run swim-faster --set stroke=butterfly --set rate=0.6 --set factor=1.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.swim import rate
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.scenes._swim_clock import cycle_times, mean_speed, phase_at
from vitruvian.world import Parameter, Recording, Report, Scene, World

SLID = 0.98  # of the rate asked for, from which on he is counted as having it


def build(parameters: Mapping[str, Any]) -> World:
    faster = parameters["rate"] * parameters["factor"]
    return stroke_world(parameters["stroke"], parameters, plan=[(parameters["at"], rate(faster))])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    """Speeds over whole cycles, each as long as it really was: those before the command but the first, and the last
    ones, swum at the new rate."""
    report = swim_report(recording, parameters, stroke=parameters["stroke"])
    if parameters["physics"] == "kinematic":
        return report
    slow, at = parameters["rate"], parameters["at"]
    before = cycle_times(recording, slow, 1.0, phase_at(recording, slow, at), back=True)
    there = _there(recording, slow * parameters["factor"])
    after = cycle_times(recording, slow, phase_at(recording, slow, there), np.inf, back=True)
    for word, ends in (("before", before), ("after", after)):
        report.metrics[f"speed_{word}"] = mean_speed(recording, ends)
        report.metrics[f"rate_{word}"] = float((len(ends) - 1) / np.ptp(ends)) if len(ends) > 1 else float("nan")
    report.checks["a higher stroke rate is a higher speed, whole cycles before and after"] = bool(
        report.metrics["speed_after"] > report.metrics["speed_before"]
    )
    return report


def _there(recording: Recording, asked: float) -> float:
    """Time [s] from which on the stroke rate is what was asked for; not within the recording if it never was."""
    reached = np.asarray(recording.signals["stroke_rate"]) >= SLID * asked
    return float(recording.time[reached.argmax()]) if reached.any() else float(recording.time[-1])


scene = Scene(
    name="swim-faster",
    summary="a swimmer's oscillators are told to beat faster, and he speeds up",
    answers="Si 2013, section 6.2",
    seconds=8.8,
    build=build,
    check=check,
    parameters={
        "stroke": Parameter("crawl", "a stroke by name, or a file of your own"),
        **PARAMETERS,
        "rate": Parameter(0.5, "stroke cycles a second at first", "1/s", low=0.2, high=1.0),
        "factor": Parameter(2.0, "factor by which the rate grows", low=1.0, high=2.5),
        "at": Parameter(4.1, "when the command comes", "s", low=0.0, high=60.0),
    },
    qualities=QUALITIES,
)
