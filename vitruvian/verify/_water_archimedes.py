"""Water: Archimedes with both force models. F = rho g V; a box rights itself by rho g V GM sin(angle)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vitruvian.mesh import box, sphere
from vitruvian.mesh.distance import mesh_volume
from vitruvian.spatial import rotation_about
from vitruvian.verify._water_common import DT, RHO, SIZES, Array, G, as_arrays, solid, still
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import (
    RigidBodies,
    Tank,
    buoyancy_correction,
    fill,
    link_wrenches,
    project,
    step,
    velocity_forces,
)

Static = Callable[..., Array]


@claim
def neutral_density_ratio_by_pressure() -> Finding:
    """Density ratio at which a drowned ball or box hangs still, pressure force; worst of three grids."""
    return _neutral(_static_pressure)


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
    """The same with the documents' buoyancy from the pseudo water surface."""
    return _neutral(_static_formula)


@claim
def draught_of_a_half_dense_ball_by_pressure() -> Finding:
    """Draught at which the pressure carries a half-dense ball over the analytic one; worst of three grids."""
    return _draught(_static_pressure, "ball")


@claim
def draught_of_a_half_dense_ball_by_formula() -> Finding:
    """The same with the documents' buoyancy."""
    return _draught(_static_formula, "ball")


@claim
def draught_of_a_half_dense_box_by_pressure() -> Finding:
    """Draught at which the pressure carries a half-dense box over the analytic one; worst of three grids."""
    return _draught(_static_pressure, "box")


@claim
def draught_of_a_half_dense_box_by_formula() -> Finding:
    """The same with the documents' buoyancy."""
    return _draught(_static_formula, "box")


@claim
def a_floating_ball_comes_to_rest_at_its_draught() -> Finding:
    """A half-dense ball let go 0.04 m too high swings about its analytic draught: mean over two swings, relative."""
    n, radius, level = 32, 0.15, 0.5
    tank = Tank((n, n, n), 1.0 / n)
    bodies = RigidBodies([solid("ball", sphere(radius, subdivisions=4), 500.0, (0.5, 0.5, level + 0.04))])
    body = bodies.start()
    state = fill(tank, level=level, mechanism=bodies, body=body)
    heights, times = [], []
    for i in range(100):
        step(tank, state, 0.02, mechanism=bodies, body=body)
        heights.append(body.position[0, 2])
        times.append(0.02 * (i + 1))
    # the level rises by what the ball displaces beyond its start
    d0 = radius - 0.04
    before = np.pi * d0**2 * (3.0 * radius - d0) / 3.0
    rise = 0.5 * 4.0 / 3.0 * np.pi * radius**3 - before
    draught = radius - (np.mean(heights[-50:]) - level - rise)
    return Finding(float(draught / radius), 1.0, 0.03, detail="32^3, 2 s, mean of the second one")


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


def _static_formula(n: int, shape: tuple, position: tuple, level: float, rotation: Array | None = None) -> Array:
    tank, bodies, body, state, b = still(n, shape, position, 500.0, level=level, rotation=rotation)
    skins, links = bodies.skins(body), bodies.links(body)
    return link_wrenches(velocity_forces(tank, state, b, skins, links.twists), skins, links.origins)[0]


def _neutral(force: Static) -> Finding:
    ratios = []
    for n in SIZES:
        for shape in (sphere(0.2, subdivisions=5), box((0.4, 0.3, 0.2))):
            vertices, faces = as_arrays(shape)
            weight = RHO * G * mesh_volume(vertices, faces)
            ratios.append(float(force(n, shape, (0.51, 0.48, 0.33), 0.7)[5] / weight))
    farthest = worst(ratios, 1.0)
    return Finding(farthest, 1.0, 0.01, detail=f"grids {SIZES}, ball and box: {', '.join(f'{r:.5f}' for r in ratios)}")


def _draught(force: Static, kind: str) -> Finding:
    """Bisect the height at which the force carries half the body's weight in water."""
    shape = sphere(0.2, subdivisions=5) if kind == "ball" else box((0.4, 0.3, 0.2))
    vertices, faces = as_arrays(shape)
    weight = 0.5 * RHO * G * mesh_volume(vertices, faces)
    half, level = (0.2 if kind == "ball" else 0.1), 0.6
    ratios = []
    for n in SIZES:
        low, high = level - 0.3 * half, level + 0.33 * half
        for _ in range(10):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if force(n, shape, (0.51, 0.48, middle), level)[5] > weight else (low, middle)
        ratios.append((half + level - 0.5 * (low + high)) / half)
    farthest = worst(ratios, 1.0)
    return Finding(farthest, 1.0, 0.03, detail=f"grids {SIZES}: {', '.join(f'{r:.4f}' for r in ratios)}")


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
