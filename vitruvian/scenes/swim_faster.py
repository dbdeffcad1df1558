"""The swimmer is told to go faster: the frequency of all oscillators slides to a higher one, and speed follows.

Muscles follow up to about 0.9 strokes a second, so he begins slowly.

    vitruvian run swim-faster --set factor=1.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.swim.pilot import rate
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, mean_speed_between, stroke_world, swim_report
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.world import World


def build(parameters: Mapping[str, Any]) -> World:
    faster = parameters["rate"] * parameters["factor"]
    return stroke_world("crawl", parameters, plan=[(parameters["at"], rate(faster))])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters)
    end, at = float(recording.time[-1]), parameters["at"]
    before = mean_speed_between(recording, 1.0 / parameters["rate"], at)
    fast = parameters["rate"] * parameters["factor"]
    cycles = max(1.0, np.floor((end - at - 0.5) * fast))
    after = mean_speed_between(recording, end - cycles / fast, end)
    report.metrics["speed_before"], report.metrics["speed_after"] = before, after
    report.checks["a higher stroke rate is a higher speed"] = after > before
    return report


scene = Scene(
    name="swim-faster",
    summary="the crawl's oscillators are told to beat faster, and the swimmer speeds up",
    answers="Si 2013, section 6.2",
    seconds=9.5,
    build=build,
    check=check,
    parameters={
        **PARAMETERS,
        "rate": Parameter(0.4, "stroke cycles a second at first", "1/s", low=0.2, high=1.0),
        "factor": Parameter(2.0, "by which the rate grows", low=1.0, high=2.5),
        "at": Parameter(5.0, "when the command comes", "s", low=0.0, high=60.0),
    },
    qualities=QUALITIES,
)
