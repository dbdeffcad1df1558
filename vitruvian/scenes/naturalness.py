"""Turning onto the back with and without learned limbs, side by side (Si 2013, figure 6.11).

vitruvian run naturalness --set water=still --set starts=5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitruvian.anatomy import Body
from vitruvian.control.tasks import TaskControl, turning_tasks
from vitruvian.scenes._tasks import (
    SOON,
    TASK_PARAMETERS,
    TASK_QUALITIES,
    controller,
    turn_report,
    turn_world,
)
from vitruvian.skin import BoundSkin
from vitruvian.world import Parameter, Recording, Report, Scene, World

LANES = ("natural", "plain")


def build(parameters: Mapping[str, Any]) -> World:
    def made(weight: float) -> Any:
        def make(body: Body, skin: BoundSkin, q: Any) -> TaskControl:
            return controller(body, skin, parameters, turning_tasks(body, True, natural=weight))

        return make

    return turn_world(True, parameters, {"natural": made(parameters["w_nat"]), "plain": made(0.0)})


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    return turn_report(recording, parameters, LANES)


scene = Scene(
    name="naturalness",
    summary="turning onto the back with and without learned motion of the limbs",
    answers="Si 2013, figure 6.11",
    seconds=SOON,
    build=build,
    check=check,
    parameters={
        "starts": Parameter(1, "random starts, each in a pair of lanes", low=1, high=50),
        "first": Parameter(0, "number of the first start", low=0, high=10000),
        "w_nat": Parameter(0.01, "weight of the limbs' learned motion", low=0.0, high=1.0),
        **TASK_PARAMETERS,
    },
    qualities=TASK_QUALITIES,
)
