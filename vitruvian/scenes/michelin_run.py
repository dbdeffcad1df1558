"""A round soft mascot runs as a captured runner did, under a control that was found by sampling.

The captured run is put on the mascot, whose legs are half as long, and sampling-based control finds what the servos
must aim at, first with the flesh rigid on the bones, then soft. The scene plays that control on the soft mascot, in
implicit steps of 4 ms. It is an open loop: after its last window the servos follow the captured run itself, and it
falls in the end. How many strides it kept up, and how far feet slid, is the result. Liu & al. 2013, figure 6.

    vitruvian run michelin-run --view
    vitruvian run michelin-run --set control=off      # servos on the captured run alone
"""

from __future__ import annotations

from vitruvian.scenes._soft import Parameters, played, running_report
from vitruvian.world import Parameter, Recording, Report, Scene, World

CYCLE = 0.8  # [s] of the captured run, two steps


def build(parameters: Parameters) -> World:
    return played(
        "mascot",
        "run",
        "michelin-run",
        loop=True,
        young=parameters["young"],
        once=True,
        off=parameters["control"] == "off",
    )


def check(recording: Recording, parameters: Parameters) -> Report:
    report = running_report(recording, CYCLE)
    if recording.time[-1] >= 1.0 and parameters["control"] == "found":
        report.checks["a whole stride without a fall"] = report.metrics["strides"] >= 1.0
        report.checks["it leaves the ground"] = float(recording.signals["ground_force"][:, 2].min()) <= 0.0
    return report


scene = Scene(
    name="michelin-run",
    summary="A soft mascot runs a captured run under a control found by sampling",
    answers="Liu & al. 2013, figure 6",
    seconds=1.6,
    build=build,
    check=check,
    parameters={
        "control": Parameter("found", "the one that was found, or the captured run alone", choices=("found", "off")),
        "young": Parameter(1e5, "Young's modulus of the flesh", "Pa", low=1e4, high=1e6),
    },
)
