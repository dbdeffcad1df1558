"""Water: the tanks and bodies that several claims share."""

from __future__ import annotations

import numpy as np

from vitruvian.water import (
    Boundary,
    RigidBodies,
    RigidBody,
    RigidState,
    Tank,
    WaterState,
    fill,
    rasterise,
    set_body_velocity,
)

Array = np.ndarray
G = 9.81  # [m/s^2]
RHO = 1000.0  # [kg/m^3]
DT = 0.01  # [s]
SIZES = (24, 32, 48)  # cells along a tank of 1 m


def as_arrays(shape: tuple) -> tuple[Array, Array]:
    """Vertices and faces of a shape as arrays."""
    return np.asarray(shape[0], float), np.asarray(shape[1])


def solid(name: str, shape: tuple, density: float, position: tuple, rotation: Array | None = None) -> RigidBody:
    """A free body of uniform density [kg/m^3]."""
    return RigidBody.solid(name, *as_arrays(shape), density, position=position, rotation=rotation)


def still(
    n: int, shape: tuple, position: tuple, density: float, *, level: float = 0.6, rotation: Array | None = None
) -> tuple[Tank, RigidBodies, RigidState, WaterState, Boundary]:
    """A body held in calm water, n cells along a tank of 1 m."""
    tank = Tank((n, n, n), 1.0 / n, particles=0)
    bodies = RigidBodies([solid("body", shape, density, position, rotation)])
    body = bodies.start()
    state = fill(tank, level=level, mechanism=bodies, body=body)
    boundary = rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)
    set_body_velocity(tank, state, boundary, bodies.skins(body), bodies.links(body).twists)
    return tank, bodies, body, state, boundary
