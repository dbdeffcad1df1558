"""A soft panda kicks as a captured person did, under an open loop found by sampling.

Samples were drawn around what inverse dynamics says. The control lasts for a second, in which it stays up; nothing
brings it back to its stand after that, and it falls. Liu & al. 2013, figure 1.

    vitruvian run kung-fu --view
    vitruvian run kung-fu --set control=off      # servos on the captured kick alone
"""

from __future__ import annotations

from vitruvian.scenes._soft import CONTROL, TOUCH, Parameters, moved_report, opened
from vitruvian.world import Recording, Report, Scene, World


def build(parameters: Parameters) -> World:
    return opened("kung-fu", off=parameters["control"] == "off", touch=parameters["touch"] == "on")


def check(recording: Recording, parameters: Parameters) -> Report:
    report = moved_report(recording)
    if parameters["control"] == "found" and recording.time[-1] > 0.9:
        report.checks["it stays up for the second of the control"] = report.metrics["upright_s"] >= 0.99
        report.checks["a foot comes higher than the hips stand"] = report.metrics["kick_height"] > 0.41
    return report


scene = Scene(
    name="kung-fu",
    summary="A soft panda kicks under a control found by sampling",
    answers="Liu & al. 2013, figure 1",
    seconds=1.4,
    build=build,
    check=check,
    parameters={"control": CONTROL, "touch": TOUCH},
)
