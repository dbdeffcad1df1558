"""A person-shaped body is towed along the surface: drag against speed, in a window of water that travels with it.

Drag = towing force averaged once the flow has settled, drag area C A = F / (rho v^2 / 2). People pulled through water
at rest (passive drag) need about 23.5 v^2 N; the grid's body is a smooth mannequin, its boundary layer is not
resolved.

    vitruvian run tow --set speed=1.5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.mesh import sphere
from vitruvian.scenes._mannequin import mannequin
from vitruvian.scenes._water import Reading, TankSimulation, TankState
from vitruvian.water import RigidBody, Tank, follow
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Camera, Signal
from vitruvian.world.world import World

PASSIVE_DRAG = 23.5  # [N s^2/m^2], people towed prone
AIR = 0.3  # height of the window above the calm surface [m]


@dataclass
class TowSimulation(TankSimulation):
    """A tank whose window follows its first body."""

    def step(self, state: TankState, controls: Any, time: float, dt: float) -> None:
        super().step(state, controls, time, dt)
        follow(self.tank, state.water, state.bodies.position[0], axes=(0,))


def build(parameters: Mapping[str, Any]) -> World:
    n, speed, ramp = int(parameters["cells"]), parameters["speed"], parameters["ramp"]
    if parameters["shape"] == "person":
        vertices, faces = mannequin()
        length = 3.0
    else:
        vertices, faces = sphere(0.15, subdivisions=4)
        length = 1.8
    breadth, depth = parameters["breadth"], parameters["depth"]
    size = (length, breadth, depth + AIR)
    h = length / n
    tank = Tank.of_size(
        size, h, origin=(-0.5 * length, -0.5 * breadth, -depth), rest_level=0.0,
        boundaries={"x-": "open", "x+": "open"}, sponge=0.12 * length,
    )  # fmt: skip

    def course(time: float) -> tuple[np.ndarray, np.ndarray]:
        # head first (-x), speeding up evenly
        t = min(time, ramp)
        x = -speed * (0.5 * t * t / ramp + max(0.0, time - ramp))
        return np.array([x, 0.0, parameters["height"]]), np.array([-speed * t / ramp, 0.0, 0.0])

    body = RigidBody.solid(parameters["shape"], np.asarray(vertices), faces, 1000.0, course=course)
    simulation = TowSimulation(
        tank, bodies=(body,),
        readings=(
            Reading(Signal("drag", "N", "towing force"), lambda t, s: float(s.force[0, 3])),
            Reading(Signal("lift", "N", "vertical force"), lambda t, s: float(s.force[0, 5])),
            Reading(Signal("tow_speed", "m/s", "towing speed"), lambda t, s: float(-s.bodies.velocity[0, 0])),
        ),
        cameras=(
            Camera("side", (0.5, -3.4, 1.3), (0.0, 0.0, -0.1), follow=parameters["shape"]),
            Camera("above", (0.4, -1.6, 3.2), (0.0, 0.0, 0.0), follow=parameters["shape"]),
        ),
    )  # fmt: skip
    return World(simulation, frame_rate=30.0)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, drag = recording.time, recording.signals["drag"]
    late = time > max(parameters["ramp"] * 1.5, 0.5 * time[-1])
    report = Report()
    if not late.any():
        settled = 1.5 * parameters["ramp"]
        report.checks[f"long enough: the flow is looked at from {settled:g} s on, the run ends before"] = False
        return report
    mean = float(drag[late].mean())
    speed = parameters["speed"]
    report.metrics["drag_n"] = mean
    report.metrics["drag_over_speed_squared"] = mean / speed**2
    report.metrics["people_drag_over_speed_squared"] = PASSIVE_DRAG
    report.metrics["drag_area_m2"] = mean / (500.0 * speed**2)
    report.checks["water holds the body back"] = mean > 0.0
    if parameters["shape"] == "person":
        report.checks["drag within a factor 3 of people's passive drag"] = (
            PASSIVE_DRAG / 3.0 < mean / speed**2 < PASSIVE_DRAG * 3.0
        )
    return report


scene = Scene(
    name="tow",
    summary="a person-shaped body is towed at speed v in a window that follows it: drag",
    answers="passive drag of swimmers, about 23.5 v^2 N",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "shape": Parameter("person", "what is towed", choices=("person", "ball")),
        "speed": Parameter(1.5, "towing speed", "m/s", low=0.1, high=4.0),
        "ramp": Parameter(0.6, "time to reach it", "s", low=0.05, high=5.0),
        "height": Parameter(-0.15, "of the body's centre", "m", low=-0.5, high=0.1),
        "breadth": Parameter(1.2, "of the window, between free-slip walls", "m", low=0.8, high=6.0),
        "depth": Parameter(0.7, "of the water", "m", low=0.4, high=4.0),
        "cells": Parameter(75, "cells along the window", low=30, high=300),
    },
    qualities={"draft": {"cells": 60}, "standard": {"cells": 100}, "seed": {"cells": 200}},
)
