"""A head on a whole body: parameters, controller and measures that scenes of the body share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.head import Carried, GazeControl, HeadControl, HeadSettings, HeadStatics, Limp, shipped
from vitruvian.errors import InputError
from vitruvian.systems import Measure
from vitruvian.world import Parameter, Signal, World

Array = np.ndarray
PARAMETERS = {
    "head": Parameter(
        "body",
        "the neck follows the body's own plan, or looks where it is told, or its muscles are off",
        choices=("body", "gaze", "limp"),
    ),
    "look": Parameter("0,-5,1.7", "where it looks, x,y,z in metres: left, back, up; for head=gaze"),
}


def carry_head(world: World, body: Body, parameters: Mapping[str, Any]) -> World:
    """The world with the head driven as the parameters say."""
    if parameters["head"] == "body":
        return world
    statics = HeadStatics(body)
    if parameters["head"] == "limp":
        world.controller = Limp(world.controller, statics.muscles)
        return world
    target = looked_at(parameters["look"])
    nets = shipped("neck", tuple(body.muscles.names[i] for i in statics.muscles))
    # networks that meet the torque closely leave little stiffness: tone holds the head in a push
    settings = HeadSettings(tone=0.2, tone_rises=True, gain_rises=True)
    head = HeadControl(body, None, settings, networks=nets, statics=statics)
    world.controller = Carried(world.controller, GazeControl(head, lambda time: target))
    return world


def looked_at(text: str) -> Array:
    """Three numbers [m]."""
    try:
        point = np.array([float(x) for x in str(text).split(",")])
    except ValueError:
        point = np.zeros(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise InputError(f"look must be three numbers x,y,z in metres, got '{text}'")
    return point


def head_up_measure() -> Measure:
    """Signal `head_tilt`: how far the head's vertical axis is from upright [rad]."""

    def tilt(now: Any) -> float:
        return float(np.arccos(np.clip(now.pose("Sku")[2, 2], -1.0, 1.0)))

    return Measure(Signal("head_tilt", "rad", "the head's axis from upright"), tilt)
