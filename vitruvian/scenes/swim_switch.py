"""From butterfly to crawl under way: weights, amplitudes and baselines of all oscillators change, lengths go over.

vitruvian run swim-switch --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.swim import stroke
from vitruvian.scenes._swim import BAND, PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.scenes._swim_clock import cycle_times, mean_speed, phase_at, speeds_between
from vitruvian.world import Parameter, Recording, Report, Scene, World

SMOOTH = 1e-9  # [m, m/s] by which no wanted length and no rate of one may leap: rounding


def build(parameters: Mapping[str, Any]) -> World:
    return stroke_world("butterfly", parameters, plan=[(parameters["at"], stroke("crawl"))], strokes=["crawl"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    """Strokes are counted back from the switch, the first of the swim left out, and on from it. The one just after the
    switch, in which he goes over, must bring him on too, but is neither a butterfly's nor a crawl's speed."""
    report = swim_report(recording, parameters)
    if parameters["physics"] == "kinematic":
        return report
    rate, switch = parameters["rate"], phase_at(recording, parameters["rate"], parameters["at"])
    butterfly = cycle_times(recording, rate, 1.0, switch, back=True)
    crawl = cycle_times(recording, rate, switch + 1.0, np.inf)
    over = np.append(parameters["at"], crawl[:1])
    report.metrics["speed_butterfly"] = mean_speed(recording, butterfly)
    report.metrics["speed_going_over"] = mean_speed(recording, over)
    report.metrics["speed_crawl"] = mean_speed(recording, crawl)
    measured = len(butterfly) > 1 and len(crawl) > 1
    report.checks["forward in every stroke before, at and after the switch"] = measured and all(
        bool((speeds_between(recording, ends) > 0.0).all()) for ends in (butterfly, over, crawl)
    )
    report.checks["crawl after the switch between 0.6 and 1.6 m/s"] = bool(
        BAND[0] <= report.metrics["speed_crawl"] <= BAND[1]
    )
    if measured:
        report.metrics["arms_alike_butterfly"] = arms_alike(recording, butterfly[0], butterfly[-1])
        report.metrics["arms_alike_crawl"] = arms_alike(recording, crawl[0], crawl[-1])
        report.checks["arms together before the switch, in turn after it"] = bool(
            report.metrics["arms_alike_butterfly"] > 0.5 and report.metrics["arms_alike_crawl"] < -0.5
        )
    leap = np.asarray(recording.signals["wanted_jump"])[-1]
    report.metrics["wanted_length_jump_m"], report.metrics["wanted_rate_jump_m_per_s"] = float(leap[0]), float(leap[1])
    report.checks["wanted muscle lengths and their rates do not leap"] = bool((leap <= SMOOTH).all())
    return report


def arms_alike(recording: Recording, start: float, end: float) -> float:
    """Correlation of left and right hand, along the course and against the pelvis, from start to end [s]: 1 for arms
    that move together, -1 for arms in turn."""
    inside = (recording.time >= start) & (recording.time <= end)
    ahead = recording.poses[inside][:, :, 1]
    bones = recording.stage.bodies
    left, right = (ahead[:, bones.index(name)] - ahead[:, bones.index("Pel")] for name in ("Ha_l", "Ha_r"))
    return float(np.corrcoef(left, right)[0, 1])


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
