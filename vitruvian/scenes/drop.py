"""A ball falls into a tank: crown, cavity, jet and spray.

While it is in the air the ball falls freely; when it meets the water the water's force on it stays finite and the
momentum that it loses is the water's gain. Volume is kept, spray included.

    vitruvian run drop --quality standard
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import sphere
from vitruvian.systems import TankSystem
from vitruvian.systems.tank import body_measures, volume_metrics
from vitruvian.water import RigidBody, Tank
from vitruvian.world import Parameter, Recording, Report, Scene, World


def build(parameters: Mapping[str, Any]) -> World:
    n, radius = int(parameters["cells"]), parameters["radius"]
    size = (1.0, 1.0, 1.1)
    tank = Tank.of_size(size, size[0] / n, origin=(-0.5, -0.5, -0.5), rest_level=0.0, particles=16)
    vertices, faces = sphere(radius, subdivisions=4)
    ball = RigidBody.solid(
        "ball", np.asarray(vertices), faces, parameters["ratio"] * tank.density,
        position=(0.0, 0.0, radius + 2.5 * tank.cell), velocity=(0.0, 0.0, -parameters["speed"]),
    )  # fmt: skip
    return World(TankSystem(tank, bodies=(ball,), measures=body_measures("ball")), frame_rate=60.0)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    height, speed = recording.signals["height"], recording.signals["speed"]
    report = Report()
    report.metrics["deepest_m"] = float(height.min())
    report.metrics["fastest_water_m_per_s"] = float(speed.max())
    report.metrics.update(volume_metrics(recording))
    report.metrics["most_spray_m3"] = float(recording.signals["spray"].max())
    report.checks["volume stays within 1 %, spray included"] = report.metrics["volume_error"] < 0.01
    report.checks["ball goes under"] = bool(height.min() < 0.0)
    if parameters["speed"] > 0.0:
        # water that rises at a good part of the speed of the blow, and drops that leave the surface
        thrown = speed.max() > 0.5 * parameters["speed"] and report.metrics["most_spray_m3"] > 0.0
        report.checks["it makes a splash"] = bool(thrown)
    return report


scene = Scene(
    name="drop",
    summary="a ball falls into the water and splashes",
    answers="Si 2013, appendix A (splashes)",
    seconds=1.5,
    build=build,
    check=check,
    parameters={
        "radius": Parameter(0.12, "radius of the ball", "m", low=0.02, high=0.3),
        "speed": Parameter(3.0, "speed at which it meets the water", "m/s", low=0.0, high=15.0),
        "ratio": Parameter(0.7, "density of the ball over that of water", low=0.1, high=8.0),
        "cells": Parameter(48, "cells along the tank", low=20, high=200),
    },
    qualities={"draft": {"cells": 36}, "standard": {"cells": 64}, "fine": {"cells": 128}},
)
