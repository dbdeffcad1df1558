"""From butterfly to crawl under way: weights, amplitudes and baselines of all oscillators change, lengths go over.

vitruvian run swim-switch --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitruvian.control.swim.pilot import stroke
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, mean_speed_between, stroke_world, swim_report
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.world import World


def build(parameters: Mapping[str, Any]) -> World:
    return stroke_world("butterfly", parameters, plan=[(parameters["at"], stroke("crawl"))], strokes=["crawl"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters)
    period, at, end = 1.0 / parameters["rate"], parameters["at"], float(recording.time[-1])
    report.metrics["speed_butterfly"] = mean_speed_between(recording, period, at)
    report.metrics["speed_crawl"] = mean_speed_between(recording, min(at + period, end - period), end)
    report.checks["he swims on after the switch"] = report.metrics["speed_crawl"] > 0.0
    return report


scene = Scene(
    name="swim-switch",
    summary="butterfly becomes crawl without a pause",
    answers="Si 2013, section 6.2",
    seconds=6.7,
    build=build,
    check=check,
    parameters={**PARAMETERS, "at": Parameter(3.3, "when the stroke changes", "s", low=0.0, high=60.0)},
    qualities=QUALITIES,
)
