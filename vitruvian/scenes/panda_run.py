"""A soft panda with a belly and short legs goes on and on under a feedback policy. See `michelin-run`.

Its policy was found from the mascot's, on the same cycle.

    vitruvian run panda-run --view
"""

from __future__ import annotations

from vitruvian.scenes._soft import YOUNG, Parameters, ran, running_checks, running_report, steady
from vitruvian.world import Parameter, Recording, Report, Scene, World


def build(parameters: Parameters) -> World:
    system, policy, _ = steady("panda-run", off=parameters["control"] == "off", young=parameters["young"])
    return ran(system, policy)


def check(recording: Recording, parameters: Parameters) -> Report:
    report = running_report(recording)
    if parameters["control"] != "off":
        running_checks(report, recording)
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
