"""An open box with thin walls, dry inside, is let go on the water: a boat of the simplest kind.

It displaces its own mass and its load, walls and dry inside together: draught = mass / (rho a b). Loaded deeper than
its rim it fills and goes down.

    vitruvian run vessel --set load=14
    vitruvian run vessel --set load=40          fills and sinks
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import mesh_volume, open_box
from vitruvian.spatial import transform_from_pose
from vitruvian.systems import TankSystem
from vitruvian.systems.tank import body_measures
from vitruvian.water import WATER_DENSITY, RigidBody, Tank
from vitruvian.world import Parameter, Recording, Report, Scene, World

BOX = (0.5, 0.3, 0.2)  # outer size [m]
TANK = (1.1, 0.9, 0.8)  # [m]
FLOOR = -0.5  # [m]; the calm surface is at 0
SHELL = 700.0  # density of walls and floor [kg/m^3]: wood


def build(parameters: Mapping[str, Any]) -> World:
    h = TANK[0] / int(parameters["cells"])
    tank = Tank.of_size(TANK, h, origin=(-0.5 * TANK[0], -0.5 * TANK[1], FLOOR), rest_level=0.0)
    vertices, faces = open_box(BOX, parameters["wall"])
    mass = SHELL * mesh_volume(vertices, faces) + parameters["load"]
    shell = RigidBody.solid("vessel", vertices, faces, mass / mesh_volume(vertices, faces))
    low = float(shell.vertices[:, 2].min())  # of the bottom below the centre of mass
    at = (0.0, 0.0, parameters["lift"] - min(draught(mass), BOX[2]) - low)
    body = RigidBody("vessel", shell.vertices, faces, mass, shell.inertia, at)
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    inner = 0.5 * np.array(BOX[:2]) - 0.5 * parameters["wall"]
    bottom = at[2] + low
    dry = (np.abs(x) < inner[0]) & (np.abs(y) < inner[1])
    dry &= (z > bottom + 0.5 * parameters["wall"]) & (z < bottom + BOX[2])
    system = TankSystem(tank, np.where(dry, 5.0 * h, z), bodies=(body,), measures=body_measures("vessel"))
    return World(system, frame_rate=30.0)


def draught(mass: float) -> float:
    """Depth [m] of the bottom below the surface about the box, of a box of that mass [kg]."""
    return mass / (WATER_DENSITY * BOX[0] * BOX[1])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    time, height, force = (recording.time, recording.signals["height"], recording.signals["force"])
    late = time >= 0.5 * time[-1]
    vertices, faces = open_box(BOX, parameters["wall"])
    mass = SHELL * mesh_volume(vertices, faces) + parameters["load"]
    report.metrics["volume_error"] = float(np.abs(recording.signals["volume_error"]).max())
    report.metrics["mass_kg"] = mass
    report.checks["volume stays within 1 %"] = report.metrics["volume_error"] < 0.01
    corners = recording.stage.meshes[0].vertices
    lowest = [_lowest(recording, corners, n) for n in np.flatnonzero(late)[::4]]
    if draught(mass) > BOX[2]:
        sunk = transform_from_pose(recording.poses[-1, 0])
        report.checks["it fills and goes under"] = bool((corners @ sunk[:3, :3].T + sunk[:3, 3])[:, 2].max() < 0.0)
        return report
    # the level falls or rises by what it displaces more or less than at the start, over the tank's area
    first = max(-_lowest(recording, corners, 0), 0.0) * BOX[0] * BOX[1]
    level = (mass / WATER_DENSITY - first) / (TANK[0] * TANK[1])
    found = level - float(np.mean(lowest))
    carried = float(force[late, 2].mean()) / (mass * 9.81)
    report.metrics["draught_m"], report.metrics["archimedes_m"] = found, draught(mass)
    report.metrics["force_over_weight"] = carried
    report.metrics["mean_height_m"] = float(height[late].mean())
    report.checks["draught within 3 % of Archimedes"] = abs(found / draught(mass) - 1.0) < 0.03
    report.checks["the water carries its weight within 5 %"] = abs(carried - 1.0) < 0.05
    return report


def _lowest(recording: Recording, corners: np.ndarray, frame: int) -> float:
    """Height [m] of the middle of the bottom in a frame."""
    T = transform_from_pose(recording.poses[frame, 0])
    return float((T[:3, :3] @ np.array([0.0, 0.0, corners[:, 2].min()]) + T[:3, 3])[2])


scene = Scene(
    name="vessel",
    summary="an open box with thin walls floats as deep as Archimedes says, or fills and sinks",
    answers="Archimedes",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "load": Parameter(10.0, "load on its floor, spread over the walls", "kg", low=0.0, high=60.0),
        "wall": Parameter(0.03, "thickness of walls and floor", "m", low=0.002, high=0.06),
        "lift": Parameter(0.02, "height above rest at which it is let go", "m", low=0.0, high=0.1),
        "cells": Parameter(24, "cells along the tank", low=16, high=120),
    },
    qualities={"draft": {"cells": 24}, "standard": {"cells": 40}, "fine": {"cells": 72}},
)
