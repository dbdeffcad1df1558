"""A soft character under its policy is shoved, harder each time, until it falls.

Every 2.5 s a force acts on its chest for 0.2 s, from behind, the left, the front and the right in turn, each time with
an impulse larger by `more`. The largest impulse after which it was still up 2 s later is the result.

    vitruvian run soft-push --set first=20
"""

from __future__ import annotations

import numpy as np

from vitruvian.scenes._soft import YOUNG, Parameters, ran, steady, upright
from vitruvian.systems import Push
from vitruvian.world import Parameter, Recording, Report, Scene, World

BEGIN, EVERY, LONG, ON = 2.0, 2.5, 0.2, 2.0  # [s]
SIDES = ((0.0, -1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))  # where a shove goes
COUNT = 40


def impulse(parameters: Parameters, n: int) -> float:
    """Of shove n [N s]."""
    return float(parameters["first"] + parameters["more"] * n)


def build(parameters: Parameters) -> World:
    pushes = [
        Push("chest", tuple(impulse(parameters, n) / LONG * np.array(SIDES[n % 4])), BEGIN + n * EVERY, LONG)
        for n in range(COUNT)
    ]
    system, policy, _ = steady(f"{parameters['character']}-run", young=parameters["young"], pushes=pushes)
    return ran(system, policy)


def check(recording: Recording, parameters: Parameters) -> Report:
    up = upright(recording)
    past = [n for n in range(COUNT) if BEGIN + n * EVERY + ON <= up + 1e-9]
    survived = max((impulse(parameters, n) for n in past), default=0.0)
    report = Report(metrics={"impulse_survived": survived, "upright_s": up, "shoves_survived": float(len(past))})
    if recording.time[-1] >= BEGIN + ON:
        report.checks["it stays up after a shove"] = len(past) > 0
    return report


scene = Scene(
    name="soft-push",
    summary="A soft character under its policy is shoved, harder each time, until it falls",
    answers="Liu & al. 2013, section 6",
    seconds=29.0,
    build=build,
    check=check,
    parameters={
        "character": Parameter("michelin", "who is shoved", choices=("michelin", "panda")),
        "first": Parameter(5.0, "impulse of the first shove", "N s", low=0.0, high=200.0),
        "more": Parameter(5.0, "how much larger the next one is", "N s", low=0.0, high=50.0),
        "young": YOUNG,
    },
)
