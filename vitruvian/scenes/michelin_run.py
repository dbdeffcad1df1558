"""A round soft mascot goes on and on under a feedback policy.

A captured motion is put on the mascot, whose legs are half as long, and made the same on both sides. CMA-ES finds how
the targets of the servos are turned, window by window and by feedback: with the flesh rigid on the bones first, then
soft. Legs change roles as feet land. The scene plays that policy on the soft mascot in implicit steps of 4 ms. How
many strides (two steps each) it keeps up, and how far feet slide, is the result. `control=open` plays a captured sprint
under an open loop found by sampling, which falls. Liu & al. 2013, figure 6.

    vitruvian run michelin-run --view
    vitruvian run michelin-run --set control=off      # servos on the captured motion alone
"""

from __future__ import annotations

from vitruvian.scenes._soft import YOUNG, Parameters, opened, ran, running_checks, running_report, steady
from vitruvian.world import Parameter, Recording, Report, Scene, World

SPRINT = 0.8  # [s], two steps of the open loop


def build(parameters: Parameters) -> World:
    if parameters["control"] == "open":
        return opened("michelin-open", loop=True)
    system, policy, _ = steady("michelin-run", off=parameters["control"] == "off", young=parameters["young"])
    return ran(system, policy)


def check(recording: Recording, parameters: Parameters) -> Report:
    sprint = parameters["control"] == "open"
    report = running_report(recording, SPRINT if sprint else None)
    if parameters["control"] == "found":
        running_checks(report, recording)
    elif sprint and recording.time[-1] >= 1.0:
        report.checks["a whole stride without a fall"] = report.metrics["strides"] >= 1.0
        report.checks["it leaves the ground"] = float(recording.signals["ground_force"][:, 2].min()) <= 0.0
    return report


scene = Scene(
    name="michelin-run",
    summary="A soft mascot goes on and on under a feedback policy",
    answers="Liu & al. 2013, figure 6",
    seconds=29.0,
    build=build,
    check=check,
    parameters={
        "control": Parameter(
            "found",
            "a policy; a sprint in open loop; the captured motion alone",
            choices=("found", "open", "off"),
        ),
        "young": YOUNG,
    },
)
