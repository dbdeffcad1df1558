"""A soft baby rolls forwards over its head, under an open loop found by sampling.

A captured roll is put on the baby, whose head is a third of it: the root's path follows from what touches the ground,
the chin is drawn in upside down by 1.2 rad, and both sides move alike. The captured person squats and pushes off with
long legs, which the baby cannot; so the scene begins at 0.5 s of the clip, in the middle of the push, with the clip's
speed. It goes over its head and its back onto its feet, and ends in a squat. Liu & al. 2013, figure 6.

    vitruvian run baby-roll --view
    vitruvian run baby-roll --set control=off      # servos on the captured roll alone
"""

from __future__ import annotations

from vitruvian.scenes._soft import CONTROL, TOUCH, Parameters, moved_report, opened
from vitruvian.world import Recording, Report, Scene, World


def build(parameters: Parameters) -> World:
    return opened("baby-roll", off=parameters["control"] == "off", touch=parameters["touch"] == "on")


def check(recording: Recording, parameters: Parameters) -> Report:
    report = moved_report(recording)
    if parameters["control"] == "found" and recording.time[-1] > 0.9:
        report.checks["it goes over its head: half a turn or more"] = report.metrics["somersault_deg"] >= 180.0
        report.checks["and not to the side"] = report.metrics["spin_deg"] < 45.0
    return report


scene = Scene(
    name="baby-roll",
    summary="A soft baby rolls forwards over its head under a control found by sampling",
    answers="Liu & al. 2013, figure 6",
    seconds=1.2,
    build=build,
    check=check,
    parameters={"control": CONTROL, "touch": TOUCH},
)
