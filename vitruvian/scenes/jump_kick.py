"""A soft mascot leaps, turns in the air and kicks as a captured person did, under an open loop found by sampling.

The time in the air of a figure with short legs is not the captured person's, so the time of each window was sampled
too. Liu & al. 2013, section 6.

    vitruvian run jump-kick --view
    vitruvian run jump-kick --set control=off      # servos on the captured kick alone
"""

from __future__ import annotations

from vitruvian.scenes._soft import CONTROL, TOUCH, Parameters, moved_report, opened
from vitruvian.world import Recording, Report, Scene, World


def build(parameters: Parameters) -> World:
    return opened("jump-kick", off=parameters["control"] == "off", touch=parameters["touch"] == "on")


def check(recording: Recording, parameters: Parameters) -> Report:
    report = moved_report(recording)
    if parameters["control"] == "found" and recording.time[-1] > 1.0:
        report.checks["it leaves the ground"] = float(recording.signals["ground_force"][:, 2].min()) <= 0.0
        report.checks["a foot comes higher than the hips stand"] = report.metrics["kick_height"] > 0.43
    return report


scene = Scene(
    name="jump-kick",
    summary="A soft mascot leaps, turns and kicks under a control found by sampling",
    answers="Liu & al. 2013, section 6",
    seconds=1.2,
    build=build,
    check=check,
    parameters={"control": CONTROL, "touch": TOUCH},
)
