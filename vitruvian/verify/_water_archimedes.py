"""Water: Archimedes with both force models. F = rho g V; boxes let go tilted come back or capsize, by their GM."""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.mesh import box, sphere
from vitruvian.spatial import rotation_about
from vitruvian.verify._water_common import DT, RHO, SIZES, Array, G, solid, still
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import (
    FORCES,
    RigidBodies,
    Tank,
    fill,
    project,
    step,
)

LOW, TALL = (0.4, 0.3, 0.16), (0.4, 0.16, 0.24)  # boxes with the metacentre above and below their mass [m]
TILT = 8.0  # degrees at which they are let go
FLOATING = (16, 24, 32)  # cells along a tank of 1 m in which bodies float


@claim
def neutral_density_ratio_by_pressure() -> Finding:
    """Density ratio at which a drowned ball or box neither sinks nor rises, pressure force; worst of three grids."""
    return _neutral("pressure")


@claim
def displacement_of_the_grid_alone() -> Finding:
    """Pressure force on a drowned ball over Archimedes' without the correction for the grid's smaller body."""
    ratios = []
    for n in SIZES:
        tank, bodies, _, state, b = still(n, sphere(0.2, subdivisions=5), (0.51, 0.48, 0.33), 500.0, level=0.7)
        state.w -= G * DT
        force = project(tank, state, b, DT).impulses[0, 5] / DT
        ratios.append(float(force / (RHO * G * bodies.bodies[0].volume)))
    detail = f"R = {', '.join(f'{0.2 * n:.1f}' for n in SIZES)} cells: {', '.join(f'{r:.4f}' for r in ratios)}"
    return Finding(ratios[0], 1.0, 0.02, detail=detail + "; the correction brings all to 1.0000 in still water")


@claim
def neutral_density_ratio_by_formula() -> Finding:
    """The same with the documents' force and buoyancy from the pseudo water surface."""
    return _neutral("velocity")


@claim
def a_half_dense_ball_floats_at_its_draught_by_pressure() -> Finding:
    """Mean draught of a half-dense ball let go 0.02 m too high over the analytic one; worst of three grids."""
    return _floating("ball", "pressure")


@claim
def a_half_dense_ball_floats_at_its_draught_by_formula() -> Finding:
    """The same with the documents' force."""
    return _floating("ball", "velocity")


@claim
def a_half_dense_box_floats_at_its_draught_by_pressure() -> Finding:
    """Mean draught of a half-dense box let go 0.02 m too high over the analytic one; worst of three grids."""
    return _floating("box", "pressure")


@claim
def a_half_dense_box_floats_at_its_draught_by_formula() -> Finding:
    """The same with the documents' force."""
    return _floating("box", "velocity")


@claim
def a_low_box_let_go_tilted_rolls_with_its_period_by_formula() -> Finding:
    """Roll period of a half-dense low box let go at 8 degrees over 2 pi sqrt(I / (rho g V GM)): no added mass here."""
    return Finding(_period(LOW, "velocity"), 1.0, 0.05, detail=_rolls(LOW, "velocity"))


@claim
def a_low_box_let_go_tilted_rolls_with_its_period_by_pressure() -> Finding:
    """The same by pressure: longer than in the formula, since water must move with the box, but not by half."""
    return Finding.within(_period(LOW, "pressure"), 1.05, 1.3, detail=_rolls(LOW, "pressure"))


@claim
def a_low_box_let_go_tilted_comes_back_upright() -> Finding:
    """Largest tilt of a low box in the second second over that at which it was let go; worst of both force models."""
    left = [float(np.abs(_roll(LOW, forces)[50:]).max()) / TILT for forces in FORCES]
    detail = ", ".join(f"{forces} {ratio:.2f}" for forces, ratio in zip(FORCES, left))
    return Finding.within(max(left), 0.0, 0.95, detail=detail)


@claim
def a_tall_box_capsizes_by_pressure() -> Finding:
    """Largest tilt [degrees] within 1 s of a half-dense tall box let go at 8: its metacentre lies below its mass."""
    return Finding.within(float(_roll(TALL, "pressure")[:50].max()), 60.0, 180.0, detail=_rolls(TALL, "pressure"))


@claim
def a_tall_box_capsizes_by_formula() -> Finding:
    """The same with the documents' force."""
    return Finding.within(float(_roll(TALL, "velocity")[:50].max()), 60.0, 180.0, detail=_rolls(TALL, "velocity"))


def _neutral(forces: str) -> Finding:
    """Bodies 1 % lighter and heavier than water are let go; between their speeds lies the ratio of one that stays."""
    light, heavy = 0.99, 1.01
    ratios = []
    for n in FLOATING:
        for shape in (sphere(0.2, subdivisions=4), box((0.4, 0.3, 0.2))):
            up, down = (_speed_after_release(n, shape, ratio, forces) for ratio in (light, heavy))
            ratios.append(light + (heavy - light) * up / (up - down))
    detail = f"grids {FLOATING}, ball and box: {', '.join(f'{r:.5f}' for r in ratios)}"
    return Finding(worst(ratios, 1.0), 1.0, 0.01, detail=detail)


def _speed_after_release(n: int, shape: tuple, ratio: float, forces: str) -> float:
    """Upward speed [m/s] of a drowned body 0.2 s after it was let go."""
    tank = Tank((n, n, n), 1.0 / n, particles=0)
    bodies = RigidBodies([solid("body", shape, ratio * RHO, (0.51, 0.48, 0.33))])
    body = bodies.start()
    state = fill(tank, level=0.7, mechanism=bodies, body=body)
    for _ in range(10):
        step(tank, state, 0.02, mechanism=bodies, body=body, forces=forces)
    return float(body.velocity[0, 2])


def _floating(kind: str, forces: str) -> Finding:
    """Let a free body go above its draught in a closed tank and average its height over the second second."""
    radius, size, level, lift = 0.15, (0.4, 0.4, 0.2), 0.5, 0.02
    ball = kind == "ball"
    half = radius if ball else 0.5 * size[2]
    shape = sphere(radius, subdivisions=4) if ball else box(size)
    d = half - lift
    start = np.pi * d**2 * (3.0 * radius - d) / 3.0 if ball else size[0] * size[1] * d
    ratios = []
    for n in FLOATING:
        tank = Tank((n, n, n), 1.0 / n, particles=0)
        bodies = RigidBodies([solid(kind, shape, 0.5 * RHO, (0.51, 0.49, level + lift))])
        body = bodies.start()
        state = fill(tank, level=level, mechanism=bodies, body=body)
        heights = []
        for _ in range(100):
            step(tank, state, 0.02, mechanism=bodies, body=body, forces=forces)
            heights.append(body.position[0, 2])
        # the water rises by what the body displaces beyond its start, over a floor of 1 m^2
        rise = 0.5 * bodies.bodies[0].volume - start
        ratios.append(float((half + level + rise - np.mean(heights[50:])) / half))
    cells = ", ".join(f"{half * n:.1f}" for n in FLOATING)
    detail = f"half height {cells} cells: {', '.join(f'{r:.4f}' for r in ratios)}"
    return Finding(worst(ratios, 1.0), 1.0, 0.03, detail=detail)


@cache
def _roll(size: tuple[float, float, float], forces: str) -> Array:
    """Tilt [degrees] about x of a half-dense box of twelve triangles, every 20 ms over 2 s after it was let go."""
    tank = Tank.of_size((0.8, 0.8, 0.7), 1.0 / 24, particles=0)
    tilted = rotation_about((1.0, 0.0, 0.0), np.deg2rad(TILT))
    bodies = RigidBodies([solid("box", box(size), 0.5 * RHO, (0.4, 0.4, 0.4), tilted)])
    body = bodies.start()
    state = fill(tank, level=0.4, mechanism=bodies, body=body)
    tilts = []
    for _ in range(100):
        step(tank, state, 0.02, mechanism=bodies, body=body, forces=forces)
        R = bodies.rotation(body, 0)
        tilts.append(np.rad2deg(np.arctan2(R[2, 1], R[2, 2])))
    return np.array(tilts)


def _period(size: tuple[float, float, float], forces: str) -> float:
    """Period between the first and the last passage through upright, over that of theory without added mass."""
    tilts = _roll(size, forces)
    n = np.flatnonzero(tilts[:-1] * tilts[1:] < 0.0)
    if len(n) < 2:
        return float("inf")
    passed = 0.02 * (n + tilts[n] / (tilts[n] - tilts[n + 1]))
    length, breadth, height = size
    displaced = 0.5 * length * breadth * height
    gm = length * breadth**3 / 12.0 / displaced - 0.25 * height
    inertia = RHO * displaced * (breadth**2 + height**2) / 12.0
    theory = 2.0 * np.pi * np.sqrt(inertia / (RHO * G * displaced * gm))
    return float(2.0 * (passed[-1] - passed[0]) / (len(n) - 1) / theory)


def _rolls(size: tuple[float, float, float], forces: str) -> str:
    tilts = ", ".join(f"{t:.0f}" for t in _roll(size, forces)[9::10])
    return f"every 0.2 s, degrees: {tilts}"
