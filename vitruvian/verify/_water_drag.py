"""Water: drag that only the numbers make. An ideal fluid does not hold back a body in steady motion (d'Alembert)."""

from __future__ import annotations

import numpy as np

from vitruvian.mesh import sphere
from vitruvian.verify._water_common import RHO, Array, as_arrays
from vitruvian.verify.book import Finding, claim
from vitruvian.water import RigidBodies, RigidBody, Tank, fill, follow, step

SPEED, RAMP, SECONDS, DT = 1.5, 0.6, 1.8, 0.0125  # [m/s], [s]
DIAMETER, SLENDERNESS, CELLS = 0.4, 4.0, 6  # [m], length over diameter, cells across


@claim
def drag_of_a_slender_body_in_ideal_flow() -> Finding:
    """Drag coefficient of an ellipsoid 4 : 1 towed deep, which an ideal fluid would not have; on the frontal area."""
    length = SLENDERNESS * DIAMETER
    size = (length + 3.0 * DIAMETER, 4.0 * DIAMETER, 4.0 * DIAMETER)
    tank = Tank.of_size(
        size, DIAMETER / CELLS, origin=(-0.5 * size[0], -0.5 * size[1], -0.5 * size[2]), free_surface=False,
        gravity=(0.0, 0.0, 0.0), boundaries={"x-": "open", "x+": "open"},
    )  # fmt: skip
    vertices, faces = as_arrays(sphere(0.5 * DIAMETER, subdivisions=4))
    body = RigidBody.solid("hull", vertices * (SLENDERNESS, 1.0, 1.0), faces, RHO, course=_course)
    bodies = RigidBodies([body], tank.gravity)
    state = bodies.start()
    water = fill(tank, mechanism=bodies, body=state)
    drag = []
    while water.time < SECONDS - 0.5 * DT:
        done = step(tank, water, DT, mechanism=bodies, body=state)
        drag.append(done.impulses[0, 3] / DT)
        follow(tank, water, state.position[0], axes=(0,))
    late = float(np.mean(drag[len(drag) // 2 :]))
    coefficient = late / (0.5 * RHO * SPEED**2 * 0.25 * np.pi * DIAMETER**2)
    detail = f"{CELLS} cells across, sub-steps of {1e3 * DT:g} ms; it is of first order in the sub-step"
    return Finding.error(coefficient, 0.08, detail=detail)


def _course(time: float) -> tuple[Array, Array]:
    """Head first along -x, speeding up evenly; off the grid's planes of symmetry."""
    t = min(time, RAMP)
    way = SPEED * (0.5 * t * t / RAMP + max(0.0, time - RAMP))
    return np.array([-way, 0.013, 0.007]), np.array([-SPEED * t / RAMP, 0.0, 0.0])
