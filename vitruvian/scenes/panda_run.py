"""A soft panda with a belly and short legs goes on and on under a feedback policy. See `michelin-run`.

`control=jog` is another policy, with a runner's arms and its legs under the body, a little slower; its feet slide more.

    vitruvian run panda-run --view
    vitruvian run panda-run --set control=jog
"""

from __future__ import annotations

from vitruvian.scenes._soft import YOUNG, Parameters, ran, running_report, steady
from vitruvian.world import Parameter, Recording, Report, Scene, World

CYCLE = 0.95  # [s], two steps


def build(parameters: Parameters) -> World:
    found = "panda-jog" if parameters["control"] == "jog" else "panda-run"
    system, policy, _ = steady(found, off=parameters["control"] == "off", young=parameters["young"])
    return ran(system, policy)


def check(recording: Recording, parameters: Parameters) -> Report:
    report = running_report(recording)
    if parameters["control"] != "off":
        report.checks["it does not fall"] = report.metrics["upright_s"] >= recording.time[-1] - 1e-9
        if recording.time[-1] >= 30.0 * CYCLE:
            report.checks["thirty strides"] = report.metrics["strides"] >= 30.0
    return report


scene = Scene(
    name="panda-run",
    summary="A soft panda goes on and on under a feedback policy",
    answers="Liu & al. 2013, figure 1",
    seconds=29.0,
    build=build,
    check=check,
    parameters={
        "control": Parameter(
            "found",
            "a policy; one that looks more like a run; the captured motion alone",
            choices=("found", "jog", "off"),
        ),
        "young": YOUNG,
    },
)
