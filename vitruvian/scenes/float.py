"""A ball, a box, a person-shaped body or a human floats: how deep is Archimedes' affair.

A body of density ratio r displaces r of its volume; a ball of radius R then sits at the draught d with
d^2 (3 R - d) = 4 r R^3. A low box floats level; it is stable there if its metacentre lies above its centre of mass.

    vitruvian run float --set shape=person --set ratio=0.95
    vitruvian run float --set shape=human --set lungs=empty      bones, joints and skin, all muscles off
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.couple import StillWater
from vitruvian.mesh import box, mesh_volume, sphere
from vitruvian.mesh.mannequin import mannequin
from vitruvian.scenes._breath import BREATHING
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, floating_report, floating_world
from vitruvian.spatial import transform_from_pose
from vitruvian.systems import TankSystem
from vitruvian.systems.tank import body_measures
from vitruvian.water import FORCES, WATER_DENSITY, RigidBody, Tank
from vitruvian.world import Parameter, Recording, Report, Scene, World

BALL = 0.2  # radius [m]
BOX = (0.5, 0.3, 0.2)  # [m]
TANKS = {"ball": (1.0, 1.0, 0.9), "box": (1.2, 1.0, 0.9), "person": (2.4, 1.2, 0.9)}  # [m]
LEVEL, FLOOR = 0.0, -0.55  # [m]
HUMAN = ("lungs", "breathing", "water", "cell", "steps", "triangles")  # settings of the human alone


def ball_draught(ratio: float, radius: float = BALL) -> float:
    """Depth [m] of the lowest point of a floating ball; its diameter, just drowned, for one that does not float."""
    if ratio >= 1.0:
        return 2.0 * radius
    roots = np.roots([-1.0, 3.0 * radius, 0.0, -4.0 * ratio * radius**3])
    real = roots[np.abs(roots.imag) < 1e-9].real
    return float(real[(real >= -1e-12) & (real <= 2.0 * radius + 1e-12)][0])


def human_quality(name: str) -> dict[str, Any]:
    return {key: value for key, value in QUALITIES[name].items() if key in HUMAN}


def build(parameters: Mapping[str, Any]) -> World:
    shape, ratio, n = parameters["shape"], parameters["ratio"], int(parameters["cells"])
    if shape == "human":
        return floating_world(parameters)
    if shape == "ball":
        vertices, faces = sphere(BALL, subdivisions=4)
        start = ball_centre(ratio) + parameters["lift"]
    elif shape == "box":
        vertices, faces = box(BOX)
        start = box_centre(ratio) + parameters["lift"]
    else:
        vertices, faces = mannequin()
        start = parameters["lift"] - 0.05
    size = TANKS[shape]
    h = size[0] / n
    tank = Tank.of_size(size, h, origin=(-0.5 * size[0], -0.5 * size[1], FLOOR), rest_level=LEVEL)
    body = RigidBody.solid(shape, np.asarray(vertices), faces, ratio * tank.density, position=(0.0, 0.0, start))
    simulation = TankSystem(tank, bodies=(body,), forces=parameters["forces"], measures=body_measures(shape))
    return World(simulation, frame_rate=30.0)


def ball_centre(ratio: float) -> float:
    """Height [m] of the centre of a floating ball above the calm surface."""
    return BALL - ball_draught(ratio)


def box_centre(ratio: float) -> float:
    """Height [m] of the centre of a floating box above the calm surface."""
    return BOX[2] * (0.5 - min(ratio, 1.0))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    if parameters["shape"] == "human":
        return floating_report(recording, parameters)
    report = Report()
    shape, ratio = parameters["shape"], parameters["ratio"]
    time, height, force = recording.time, recording.signals["height"], recording.signals["force"]
    late = time >= 0.5 * time[-1]
    mean = float(height[late].mean())
    report.metrics["mean_height_m"] = mean
    report.metrics["volume_error"] = float(np.abs(recording.signals["volume_error"]).max())
    report.checks["volume stays within 1 %"] = report.metrics["volume_error"] < 0.01
    body = recording.stage.meshes[0]
    volume = mesh_volume(body.vertices, body.faces)
    frames = np.flatnonzero(late)[::4]
    carried = float(force[late, 2].mean()) / (ratio * WATER_DENSITY * 9.81 * volume)
    clear = min(float(_placed(recording, n)[:, 2].min()) for n in frames) - FLOOR
    report.metrics["mean_force_n"] = float(force[late, 2].mean())
    report.metrics["force_over_weight"] = carried
    report.metrics["clear_of_the_floor_m"] = clear
    if ratio > 1.0:
        sunk = max(float(_placed(recording, n)[:, 2].max()) for n in frames[-1:])
        report.checks["it sinks below the surface"] = sunk < LEVEL
        return report
    report.checks["the water carries its weight within 5 %"] = abs(carried - 1.0) < 0.05
    report.checks["it lies clear of the floor"] = clear > 2.0 * TANKS[shape][0] / int(parameters["cells"])
    # the water's level differs from its rest level once a body has displaced some
    area = TANKS[shape][0] * TANKS[shape][1]
    if shape == "ball":
        start = ball_centre(ratio) + parameters["lift"]
        draught = BALL - (mean - (ratio * volume - _below_ball(start)) / area)
        report.metrics["draught_m"] = draught
        report.metrics["draught_error"] = abs(draught / ball_draught(ratio) - 1.0)
    elif shape == "box":
        start = box_centre(ratio) + parameters["lift"]
        before = BOX[0] * BOX[1] * min(max(0.5 * BOX[2] - start, 0.0), BOX[2])
        draught = 0.5 * BOX[2] - (mean - (ratio * volume - before) / area)
        report.metrics["draught_m"] = draught
        report.metrics["draught_error"] = abs(draught / (ratio * BOX[2]) - 1.0)
    else:
        before = _below(_placed(recording, 0), body.faces)
        wet = float(np.mean([_settled_below(_placed(recording, n), body.faces, before, area) for n in frames]))
        report.metrics["displaced_over_volume"] = wet / volume
        report.checks["displaces its density ratio of its volume within 3 %"] = abs(wet / (ratio * volume) - 1.0) < 0.03
    if "draught_error" in report.metrics:
        report.checks["draught within 3 % of Archimedes"] = report.metrics["draught_error"] < 0.03
    return report


def _placed(recording: Recording, frame: int) -> np.ndarray:
    """Vertices [m] (n, 3) of the body in a frame."""
    T = transform_from_pose(recording.poses[frame, 0])
    return np.asarray(recording.stage.meshes[0].vertices @ T[:3, :3].T + T[:3, 3])


def _below(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Volume [m^3] of a body below the level 0."""
    still, links = StillWater(), np.zeros(len(faces), np.int64)
    lift = still.forces(vertices, np.zeros_like(vertices), faces, links, 1).lift
    return float(lift[0, 5]) / (still.density * still.gravity)


def _settled_below(vertices: np.ndarray, faces: np.ndarray, before: float, area: float) -> float:
    """Volume [m^3] below the level, which has risen by what is displaced beyond `before` over the tank's `area`."""
    wet = before
    for _ in range(4):
        wet = _below(vertices - np.array([0.0, 0.0, (wet - before) / area]), faces)
    return wet


def _below_ball(height: float) -> float:
    """Volume [m^3] of a ball below the calm surface, its centre at `height`."""
    d = min(max(BALL - height, 0.0), 2.0 * BALL)
    return float(np.pi * d * d * (3.0 * BALL - d) / 3.0)


scene = Scene(
    name="float",
    summary="a ball, a box, a person-shaped body or a human floats as deep as Archimedes says",
    answers="Archimedes; Si 2013, section 3.4",
    seconds=4.0,
    build=build,
    check=check,
    parameters={
        "shape": Parameter("ball", "what floats", choices=("ball", "box", "person", "human")),
        "ratio": Parameter(0.5, "density of ball, box or person over that of water", low=0.05, high=1.5),
        "lift": Parameter(0.05, "height above rest at which ball, box or person is let go", "m", low=-0.3, high=0.3),
        "cells": Parameter(40, "cells along the tank of ball, box or person", low=16, high=200),
        "forces": Parameter("pressure", "force model", choices=FORCES),
        "lungs": replace(PARAMETERS["lungs"], default="normal", help="air in the human's lungs"),
        "breathing": replace(BREATHING, help="human: none, or a behaviour by name, on top of `lungs`"),
        **{name: replace(PARAMETERS[name], help=f"human: {PARAMETERS[name].help}") for name in HUMAN[2:]},
    },
    qualities={
        "draft": {"cells": 28, **human_quality("draft")},
        "standard": {"cells": 48, **human_quality("standard")},
        "fine": {"cells": 96, **human_quality("fine")},
    },
)
