"""Water: vessels with thin walls, which have water on one side and air on the other (`water.sides`).

An open box of 40 x 40 x 30 cm on cells of 50 mm, its walls and floor 0.4, 1 and 2 cells thick, along the grid and in
random places and orientations. Dry inside it must stay dry, float at the draught of Archimedes, rho_box V_hull = rho V
with V the hull and the dry inside below the level, and lifted out of the water it must keep what it holds.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.mesh import open_box
from vitruvian.spatial import exp_so3
from vitruvian.verify._water_common import RHO
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import Boundary, RigidBodies, RigidBody, RigidState, Tank, WaterState, fill, step, water_volume

Array = np.ndarray
CELL = 0.05  # [m]
BOX = np.array([0.4, 0.4, 0.3])  # outer size [m]
LEVEL = 0.5  # of the tank's water [m]
SUNK = 0.18  # of the box [m]
MIDDLE = np.array([0.6, 0.6, LEVEL - SUNK + 0.5 * BOX[2]])  # of the box, in a tank of 1.2 m
WALLS = (0.4, 1.0, 2.0)  # cells
TURNS = 3  # random places and orientations of each
TILT = 0.1  # [rad] at most about the horizontal axes: the rim stays above the water
STEP = 0.05  # [s]


@claim
def a_dry_vessel_held_in_water_stays_dry() -> Finding:
    """Water [l] that a dry open box takes in within 2 s, held still with 18 cm of it in calm water: the most of three
    walls, along the grid and in three random places and orientations each.
    """
    found = {f"{wall:g}/{seed}": 1e3 * held(wall, seed) for wall in WALLS for seed in range(TURNS + 1)}
    return Finding.within(max(found.values()), 0.0, 0.05, detail=", ".join(f"{n} {v:.3f}" for n, v in found.items()))


@claim
def a_dry_vessel_floats_at_its_draught() -> Finding:
    """Mean draught in the second second of the same box let go, over that of Archimedes: the farthest from 1."""
    found = {f"{wall:g}/{seed}": floating(wall, seed) for wall in WALLS for seed in range(2)}
    return Finding(worst(list(found.values()), 1.0), 1.0, 0.03, detail=_told(found))


@claim
def a_cup_lifted_out_of_the_water_keeps_what_it_holds() -> Finding:
    """Water in the box a second after it was lifted out full of it, over what it held when it came to rest in the air:
    the farthest from 1 of the three walls in two random places and orientations each.
    """
    found = {f"{wall:g}/{seed}": lifted(wall, seed) for wall in WALLS for seed in (1, 2)}
    return Finding(worst(list(found.values()), 1.0), 1.0, 0.05, detail=_told(found) + "; the aim is 0.02")


def _told(found: dict[str, float]) -> str:
    return "walls in cells/placing " + ", ".join(f"{n} {v:.4f}" for n, v in found.items())


def placed(seed: int, tilt: float = TILT) -> tuple[Array, Array]:
    """Where a box is aside of the middle [m], and how it is turned; along the grid for seed 0."""
    rng = np.random.default_rng(seed)
    if seed == 0:
        return np.zeros(3), np.eye(3)
    turn = exp_so3(np.array([tilt, tilt, 3.0]) * rng.uniform(-1.0, 1.0, 3))
    return CELL * rng.uniform(-0.5, 0.5, 3), turn


def cavity(points: Array, centre: Array, turn: Array, wall: float = 0.0) -> Array:
    """Which points lie in the box; wall: its thickness [m]."""
    local, inner = (points - centre) @ turn, 0.5 * BOX - wall
    upright = (local[..., 2] > -inner[2]) & (local[..., 2] < 0.5 * BOX[2])
    return np.asarray(upright & (np.abs(local[..., :2]) < inner[:2]).all(-1))


def inside(tank: Tank, state: WaterState, b: Boundary, cells: Array) -> float:
    """Water [m^3] in these cells, on their side of the walls."""
    return water_volume(tank, np.where(cells, state.phi, 5.0 * tank.cell), b)


def tank_with(
    body: RigidBody, dry: Array | None, height: float, wall: float = 0.0
) -> tuple[Tank, RigidBodies, RigidState, WaterState]:
    """A tank of water at LEVEL with the box in it; dry: its middle [m], if it is dry inside, up
    to the middle of walls of `wall` cells.
    """
    tank = Tank.of_size((1.2, 1.2, height), CELL)
    bodies = RigidBodies([body])
    start = bodies.start()
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    phi = z - LEVEL
    if dry is not None:
        turn = np.eye(3) if body.rotation is None else body.rotation
        phi = np.where(cavity(np.stack([x, y, z], -1), dry, turn, 0.5 * wall * CELL), 5.0 * CELL, phi)
    return tank, bodies, start, fill(tank, phi, mechanism=bodies, body=start)


def box(wall: float, centre: Array, turn: Array, rise: float = 0.0) -> RigidBody:
    """The box, held still or lifted by `rise` [m] within a second."""

    def course(t: float) -> tuple[Array, Array]:
        s = min(t, 1.0)
        return centre + np.array([0.0, 0.0, rise * (3.0 - 2.0 * s) * s**2]), np.array(
            [0.0, 0.0, 6.0 * rise * (1.0 - s) * s]
        )

    return RigidBody("box", *open_box(BOX, wall * CELL), 1.0, np.eye(3), tuple(centre), turn, course=course)


@cache
def held(wall: float, seed: int) -> float:
    """Water [m^3] in a dry box after 2 s in calm water."""
    aside, turn = placed(seed)
    centre = MIDDLE + aside
    tank, bodies, body, state = tank_with(box(wall, centre, turn), centre, 0.8, wall)
    for _ in range(round(2.0 / STEP)):
        done = step(tank, state, STEP, mechanism=bodies, body=body)
    assert done.boundary is not None
    points = np.stack(np.meshgrid(*tank.centres(), indexing="ij"), -1)
    return inside(tank, state, done.boundary, cavity(points, centre, turn, wall * CELL))


@cache
def floating(wall: float, seed: int) -> float:
    """Mean draught in the second second over that of Archimedes."""
    aside, turn = placed(seed, tilt=0.0)
    vertices, faces = open_box(BOX, wall * CELL)
    hull = float(np.prod(BOX) - np.prod(BOX - wall * CELL * np.array([2.0, 2.0, 1.0])))
    solid = RigidBody.solid("box", vertices, faces, RHO * BOX[0] * BOX[1] * SUNK / hull)
    centre = MIDDLE + aside * np.array([1.0, 1.0, 0.0])
    low = solid.vertices[0, 2]  # of the bottom below the centre of mass
    at = centre + np.array([0.0, 0.0, vertices[0, 2] - low])
    free = RigidBody("box", solid.vertices, faces, solid.mass, solid.inertia, tuple(at), turn)
    tank, bodies, body, state = tank_with(free, centre, 0.8, wall)
    draughts = []
    for n in range(round(2.0 / STEP)):
        step(tank, state, STEP, mechanism=bodies, body=body)
        if n * STEP >= 1.0:
            bottom = body.position[0] + bodies.rotation(body, 0) @ np.array([0.0, 0.0, low])
            draughts.append(LEVEL - bottom[2])
    return float(np.mean(draughts)) / SUNK


@cache
def lifted(wall: float, seed: int) -> float:
    """Water in the box at 2 s over that at 1 s, when it has come to rest in the air."""
    aside, turn = placed(seed, tilt=0.05)
    centre, rise = MIDDLE + aside, 0.5
    tank, bodies, body, state = tank_with(box(wall, centre, turn, rise), None, 1.3)
    points = np.stack(np.meshgrid(*tank.centres(), indexing="ij"), -1)
    above = points[..., 2] > LEVEL + 0.1
    found = []
    for n in range(round(2.0 / STEP)):
        done = step(tank, state, STEP, mechanism=bodies, body=body)
        if n + 1 in (round(1.0 / STEP), round(2.0 / STEP)):
            assert done.boundary is not None
            found.append(inside(tank, state, done.boundary, above))
    return found[1] / found[0]
