"""Momentum between a swimmer and his water over a stroke, from sums that know nothing of each other.

On the body: the impulses in his book, which the mechanism writes down when it receives them. On the water: what every
pressure solve of the run changed in the momentum of the flow, rho h^3 sum_f w_f theta_f (u_f - u*_f) over the open
faces, less what the walls of the closed tank gave. Archimedes' correction (`water.forces.buoyancy_correction`) acts on
the body alone, as its file says; it is taken off before both sides are compared, and told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

from vitruvian.anatomy import buoyancy
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.swim import CourseActuation
from vitruvian.systems import SwimmerSystem, pool
from vitruvian.verify._swim_bodies import lying_human
from vitruvian.verify.book import Finding, worst
from vitruvian.water import Boundary, Projection, Tank, WaterState, buoyancy_correction
from vitruvian.water.boundary import face_masses
from vitruvian.water.ghost import THETA_MIN
from vitruvian.world import World

Array = np.ndarray
CELL = 0.08  # [m]
TANK = (2.4, 3.8, 1.5)  # [m], closed: what leaves through an open side could not be told from what is lost
RATE = 0.9  # [1/s] of the crawl


@dataclass
class Exchange:
    """Impulses so far [N s], world axes, shape (3,) each, in every step of a run, shape (steps, 3)."""

    booked: list[Array] = field(default_factory=list)  # on the body, all that the water gave
    correction: list[Array] = field(default_factory=list)  # of these, Archimedes' correction
    water: list[Array] = field(default_factory=list)  # on the flow by its pressure, walls taken off


def equal_and_opposite() -> Finding:
    """Largest gap between both sides in parts of what passed along that axis."""
    run = swim_a_stroke()
    passed = _passed(np.array(run.booked))
    apart = ", ".join(f"{100 * x:.1f}" for x in np.abs(np.array(run.correction)).max(axis=0) / passed)
    detail = f"a stroke of crawl, {CELL:g} m cells, {', '.join(f'{x:.0f}' for x in passed)} N s along x, y, z"
    detail += f"; Archimedes' correction, on the body alone and left out here, is {apart} % of it"
    return Finding.error(worst(gaps(run)), 1e-9, "", detail)


def gaps(run: Exchange) -> Array:
    """Largest difference of both sides in parts of what passed, along each axis, shape (3,)."""
    body = np.array(run.booked) - np.array(run.correction)
    return np.asarray(np.abs(body + np.array(run.water)).max(axis=0) / _passed(np.array(run.booked)))


@cache
def swim_a_stroke(steps: int = round(96 / RATE), cell: float = CELL) -> Exchange:
    """A crawl with its joints on a course in a closed tank, every pressure solve watched."""
    body, skin = lying_human("full")
    motion = StrokeMotion(body, load_stroke("crawl"), RATE)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.15 + buoyancy(body, skin, q).centre_of_mass[2]
    v[:6] = 0.0
    tank = pool(cell, size=TANK, boundaries={}, sponge=0.0)
    simulation = SwimmerSystem(body, skin, water=tank, q=q, v=v, muscles=False, drawn=False)
    world = World(simulation, CourseActuation(motion), frame_rate=96.0)
    world.start()
    out = Exchange()
    with _watched() as sums:
        for _ in range(steps):
            world.step()
            out.booked.append(world.state.book.impulse["water"].copy())
            out.correction.append(sums.correction.copy())
            out.water.append(sums.water.copy())
    if world.retried:
        raise RuntimeError("a step was cut up, and its first try is in the sums")
    return out


@dataclass
class _Sums:
    water: Array = field(default_factory=lambda: np.zeros(3))
    correction: Array = field(default_factory=lambda: np.zeros(3))


@contextmanager
def _watched() -> Iterator[_Sums]:
    """Sum up what every projection of a run does to its water."""
    story = import_module("vitruvian.water.substep")
    solve, sums = story.project, _Sums()

    def project(tank: Tank, water: WaterState, b: Boundary, dt: float, **options: Any) -> Projection:
        sums.correction += dt * buoyancy_correction(tank, water, b, b.skins)[:, 3:].sum(axis=0)
        before = momentum(tank, water, b)
        done: Projection = solve(tank, water, b, dt, **options)
        walls = _of_walls(tank, b, done.scaled_pressure[1:-1, 1:-1, 1:-1])
        sums.water += momentum(tank, water, b) - before - walls - np.array([0.0, 0.0, done.weight])
        return done

    with patch.object(story, "project", project):
        yield sums


def momentum(tank: Tank, water: WaterState, b: Boundary) -> Array:
    """Of the water [N s], shape (3,); a face at the surface moves only the water below it, a part theta of a cell."""
    out = np.zeros(3)
    for axis, (speed, opened) in enumerate(zip((water.u, water.v, water.w), face_masses(b, water.phi))):
        inner = tuple(slice(1, tank.shape[axis]) if a == axis else slice(None) for a in range(3))
        out[axis] = float((opened[inner] * _share(water.phi, axis) * speed[inner]).sum())
    return tank.density * tank.cell**3 * out


def _of_walls(tank: Tank, b: Boundary, P: Array) -> Array:
    """Impulse [N s] of the walls on the water, shape (3,); P: scaled pressure of the cells."""
    out = np.zeros(3)
    for axis, opened in enumerate((b.open_x, b.open_y, b.open_z)):
        for end, sign in ((0, 1.0), (-1, -1.0)):
            out[axis] += sign * float((np.take(P, end, axis) * np.take(opened, end, axis)).sum())
    return tank.density * tank.cell**3 * out


def _share(phi: Array, axis: int) -> Array:
    """Part of the way between two cells that is water, at the faces between them; 0 where both are air."""
    count = phi.shape[axis]
    low, high = phi.take(range(count - 1), axis), phi.take(range(1, count), axis)
    wet, other = np.minimum(low, high), np.maximum(low, high)
    theta = np.maximum(THETA_MIN, wet / np.where(wet < other, wet - other, -1.0))
    return np.where(wet >= 0.0, 0.0, np.where(other < 0.0, 1.0, theta))


def _passed(sums: Array) -> Array:
    """What went to and fro along each axis [N s], from running sums (steps, 3)."""
    return np.abs(np.diff(sums, axis=0, prepend=0.0)).sum(axis=0)
