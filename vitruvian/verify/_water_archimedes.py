"""Water: Archimedes with both force models. F = rho g V; a box rights itself by rho g V GM sin(angle)."""

from __future__ import annotations

import numpy as np

from vitruvian.mesh import box, sphere
from vitruvian.spatial import rotation_about
from vitruvian.verify._water_common import DT, RHO, SIZES, Array, G, solid, still
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import (
    RigidBodies,
    Tank,
    buoyancy_correction,
    fill,
    project,
    step,
)

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
def righting_moment_of_a_box() -> Finding:
    """Moment on a tilted half-dense low box over rho g V GM sin(angle) of theory (stable), 5 degrees."""
    measured, theory = _righting((0.5, 0.3, 0.16))
    return Finding(measured / theory, 1.0, 0.06, detail=f"GM positive: {measured:.3f} against {theory:.3f} N m, 48^3")


@claim
def a_tall_box_capsizes() -> Finding:
    """Moment on a tilted half-dense tall box over theory, whose metacentre lies below its mass (unstable)."""
    measured, theory = _righting((0.5, 0.16, 0.24))
    return Finding(measured / theory, 1.0, 0.06, detail=f"GM negative: {measured:.3f} against {theory:.3f} N m, 48^3")


def _static_pressure(n: int, shape: tuple, position: tuple, level: float, rotation: Array | None = None) -> Array:
    """Wrench on a body held in still water: pressure of one solve and the buoyancy correction."""
    tank, bodies, body, state, b = still(n, shape, position, 500.0, level=level, rotation=rotation)
    state.w -= G * DT
    found = project(tank, state, b, DT)
    return found.impulses[0] / DT + buoyancy_correction(tank, state, b, bodies.skins(body))[0]


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


def _righting(size: tuple[float, float, float]) -> tuple[float, float]:
    """Moment about x that rights a half-dense box tilted by 5 degrees about x, measured and by theory [N m]."""
    angle = np.deg2rad(5.0)
    length, breadth, height = size
    wrench = _static_pressure(48, box(size), (0.5, 0.5, 0.6), 0.6, rotation_about((1.0, 0.0, 0.0), angle))
    displaced = 0.5 * length * breadth * height
    # wall-sided formula of a half-immersed box about its centre: GZ = sin(angle) (GM + BM tan^2(angle) / 2)
    bm = length * breadth**3 / 12.0 / displaced
    gm = bm - 0.25 * height
    theory = RHO * G * displaced * np.sin(angle) * (gm + 0.5 * bm * np.tan(angle) ** 2)
    return -float(wrench[0]), float(theory)
