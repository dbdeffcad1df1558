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

from vitruvian.mesh import box, sphere
from vitruvian.scenes._mannequin import mannequin
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, floating_report, floating_world
from vitruvian.scenes._water import TankSimulation, body_readings
from vitruvian.water import RigidBody, Tank
from vitruvian.water.forces import FORCES
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.world import World

BALL = 0.2  # radius [m]
BOX = (0.5, 0.3, 0.2)  # [m]
LEVEL = 0.0
HUMAN = ("lungs", "water", "cell", "steps", "triangles")  # settings of the human alone


def ball_draught(ratio: float, radius: float = BALL) -> float:
    """Depth [m] of the lowest point of a floating ball."""
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
        size, start = (1.0, 1.0, 0.9), ball_centre(ratio) + parameters["lift"]
    elif shape == "box":
        vertices, faces = box(BOX)
        size, start = (1.2, 1.0, 0.9), BOX[2] * (0.5 - ratio) + parameters["lift"]
    else:
        vertices, faces = mannequin()
        size, start = (2.4, 1.2, 0.9), parameters["lift"] - 0.05
    h = size[0] / n
    tank = Tank.of_size(size, h, origin=(-0.5 * size[0], -0.5 * size[1], -0.55), rest_level=LEVEL)
    body = RigidBody.solid(shape, np.asarray(vertices), faces, ratio * tank.density, position=(0.0, 0.0, start))
    simulation = TankSimulation(tank, bodies=(body,), forces=parameters["forces"], readings=body_readings(shape))
    return World(simulation, frame_rate=30.0)


def ball_centre(ratio: float) -> float:
    """Height [m] of the centre of a floating ball above the calm surface."""
    return BALL - ball_draught(ratio)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    if parameters["shape"] == "human":
        return floating_report(recording, parameters)
    report = Report()
    time, height, force = recording.time, recording.signals["height"], recording.signals["force"]
    late = time >= 0.5 * time[-1]
    mean = float(height[late].mean())
    report.metrics["mean_height_m"] = mean
    report.metrics["volume_error"] = float(np.abs(recording.signals["volume_error"]).max())
    report.checks["volume stays within 1 %"] = report.metrics["volume_error"] < 0.01
    report.checks["it floats"] = bool(np.abs(height[late]).max() < 0.5)
    ratio = parameters["ratio"]
    # the water's level differs from its rest level once a body has displaced some
    if parameters["shape"] == "ball" and ratio < 1.0:
        rise = _rise(parameters, 4.0 / 3.0 * np.pi * BALL**3 * ratio, ball_centre(ratio) + parameters["lift"])
        draught = BALL - (mean - rise)
        report.metrics["draught_m"] = draught
        report.metrics["draught_error"] = abs(draught / ball_draught(ratio) - 1.0)
    elif parameters["shape"] == "box" and ratio < 1.0:
        report.metrics["draught_m"] = 0.5 * BOX[2] - mean
        report.metrics["draught_error"] = abs(report.metrics["draught_m"] / (ratio * BOX[2]) - 1.0)
    if "draught_error" in report.metrics:
        report.checks["draught within 5 % of Archimedes"] = report.metrics["draught_error"] < 0.05
    report.metrics["mean_force_n"] = float(force[late, 2].mean())
    return report


def _rise(parameters: Mapping[str, Any], displaced: float, start: float) -> float:
    """How far the tank's level rises between a start at height `start` and rest [m]."""
    d = min(max(BALL - start, 0.0), 2.0 * BALL)
    before = np.pi * d * d * (3.0 * BALL - d) / 3.0
    return (displaced - before) / 1.0


scene = Scene(
    name="float",
    summary="a ball, a box, a person-shaped body or a human floats as deep as Archimedes says",
    answers="Archimedes; Si 2013, section 3.4",
    seconds=4.0,
    build=build,
    check=check,
    parameters={
        "shape": Parameter("ball", "what floats", choices=("ball", "box", "person", "human")),
        "ratio": Parameter(0.5, "density of the body over that of water", low=0.05, high=1.5),
        "lift": Parameter(0.05, "height above rest at which it is let go", "m", low=-0.3, high=0.3),
        "cells": Parameter(40, "cells along the tank", low=16, high=200),
        "forces": Parameter("pressure", "force model", choices=FORCES),
        "lungs": replace(PARAMETERS["lungs"], default="normal", help="air in the human's lungs"),
        "water": PARAMETERS["water"],
        "cell": PARAMETERS["cell"],
        "steps": PARAMETERS["steps"],
        "triangles": PARAMETERS["triangles"],
    },
    qualities={
        "draft": {"cells": 28, **human_quality("draft")},
        "standard": {"cells": 48, **human_quality("standard")},
        "seed": {"cells": 96, **human_quality("seed")},
    },
)
