"""A soft panda with a belly and short legs goes on and on under a feedback policy. See `michelin-run`.

vitruvian run panda-run --view
"""

from __future__ import annotations

from vitruvian.scenes._soft import YOUNG, Parameters, ran, running_report, steady
from vitruvian.world import Parameter, Recording, Report, Scene, World

LONG = 28.5  # [s] in which it is to make thirty strides


def build(parameters: Parameters) -> World:
    system, policy, _ = steady("panda-run", off=parameters["control"] == "off", young=parameters["young"])
    return ran(system, policy)


def check(recording: Recording, parameters: Parameters) -> Report:
    report = running_report(recording)
    if parameters["control"] != "off":
        report.checks["it does not fall"] = report.metrics["upright_s"] >= recording.time[-1] - 1e-9
        if recording.time[-1] >= LONG:
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
        "control": Parameter("found", "a policy; the captured motion alone", choices=("found", "off")),
        "young": YOUNG,
    },
)
