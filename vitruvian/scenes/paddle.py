"""A plate is driven to and fro under water: the force on it, from the pressure and from the documents' formula.

For small strokes the force of an ideal fluid is its added mass times the acceleration; a plate also sheds vortices,
which costs drag. The signal shows both sides of Si's choice: the solver's pressure (lighter water, added mass
included) and the velocity-based force of eq. 3.12.

    vitruvian run paddle --set frequency=2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import box
from vitruvian.systems import Measure, Now, TankSystem
from vitruvian.water import RigidBody, Tank, link_wrenches, rasterise, set_body_velocity, velocity_forces
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

PLATE = (0.06, 0.3, 0.3)  # thickness, breadth, height [m]


def build(parameters: Mapping[str, Any]) -> World:
    n = int(parameters["cells"])
    size = (1.2, 0.9, 0.9)
    tank = Tank.of_size(size, size[0] / n, origin=(-0.6, -0.45, -0.7), rest_level=0.0)
    omega, stroke = 2.0 * np.pi * parameters["frequency"], parameters["stroke"]

    def course(time: float) -> tuple[np.ndarray, np.ndarray]:
        x, v = stroke * (1.0 - np.cos(omega * time)), stroke * omega * np.sin(omega * time)
        return np.array([x - stroke, 0.0, parameters["height"]]), np.array([v, 0.0, 0.0])

    vertices, faces = box(PLATE)
    plate = RigidBody.solid("plate", np.asarray(vertices), faces, 1000.0, course=course)

    def formula(now: Now) -> float:
        state = now.state
        assert simulation.mechanism is not None
        skins, links = simulation.mechanism.skins(state.bodies), simulation.mechanism.links(state.bodies)
        b = rasterise(tank, state.water, skins, links.origins)
        set_body_velocity(tank, state.water, b, skins, links.twists)
        loads = velocity_forces(tank, state.water, b, skins, links.twists)
        return float(link_wrenches(loads, skins, links.origins)[0, 3])

    measures = (
        Measure(Signal("force", "N", "force of the water on the plate, along x"), lambda now: now.state.force[0, 3]),
        Measure(Signal("formula", "N", "the same by the velocity-based formula"), formula),
        Measure(Signal("place", "m", "position of the plate"), lambda now: now.state.bodies.position[0, 0]),
        Measure(Signal("plate_speed", "m/s", "speed of the plate"), lambda now: now.state.bodies.velocity[0, 0]),
    )
    simulation = TankSystem(tank, bodies=(plate,), measures=measures)
    return World(simulation, frame_rate=60.0)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, force = recording.time, recording.signals["force"]
    omega, stroke = 2.0 * np.pi * parameters["frequency"], parameters["stroke"]
    acceleration = stroke * omega**2 * np.cos(omega * time)
    speed = stroke * omega * np.sin(omega * time)
    rows = np.stack([-acceleration, -speed * np.abs(speed)], axis=1)[1:]
    (added, drag), *_ = np.linalg.lstsq(rows, force[1:], rcond=None)
    report = Report()
    report.metrics["added_mass_kg"] = float(added)
    report.metrics["drag_coefficient"] = float(drag / (0.5 * 1000.0 * PLATE[1] * PLATE[2]))
    report.metrics["largest_force_n"] = float(np.abs(force).max())
    report.metrics["largest_formula_force_n"] = float(np.abs(recording.signals["formula"]).max())
    report.metrics["volume_error"] = float(np.abs(recording.signals["volume_error"]).max())
    # a square plate deep in water: added mass 0.579 rho pi a^2 b / 4 with sides a = b (Blevins 1979), more for its
    # thickness
    thin = 0.579 * np.pi / 4.0 * 1000.0 * PLATE[1] ** 2 * PLATE[2]
    report.metrics["thin_plate_added_mass_kg"] = thin
    report.checks["added mass near that of a thin plate"] = bool(0.7 * thin < added < 1.8 * thin)
    report.checks["volume stays within 1 %"] = report.metrics["volume_error"] < 0.01
    return report


scene = Scene(
    name="paddle",
    summary="a plate is driven through water; its force by pressure and by the documents' formula",
    answers="Si 2013, eq. 3.12; added mass of a square plate",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "frequency": Parameter(1.0, "frequency of the stroke", "1/s", low=0.1, high=5.0),
        "stroke": Parameter(0.1, "amplitude", "m", low=0.01, high=0.25),
        "height": Parameter(-0.3, "height of the plate's centre", "m", low=-0.5, high=0.0),
        "cells": Parameter(40, "cells along the tank", low=24, high=160),
    },
    qualities={"draft": {"cells": 30}, "standard": {"cells": 48}, "fine": {"cells": 96}},
)
