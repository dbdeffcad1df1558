"""Water timings: the whole step, its parts, cost per cell over grid sizes, and the projection beside PyAMG and PhiFlow.

The state is a tank, two thirds full, with a sloshing surface and a ball in it. Seconds are the best of a few turns.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from copy import deepcopy
from time import perf_counter

import numpy as np
from scipy.sparse import coo_matrix

from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.errors import MissingExtra
from vitruvian.mesh import sphere
from vitruvian.water import (
    BodyState,
    RigidBodies,
    RigidBody,
    Tank,
    WaterState,
    fill,
    open_boundary,
    project,
    rasterise,
    redistance,
    step,
)
from vitruvian.water import particles as markers
from vitruvian.water.advect import advect_velocity
from vitruvian.water.extrapolate import extrapolate_velocity
from vitruvian.water.levelset import advect_surface
from vitruvian.water.multigrid import System, solve

Array = np.ndarray
SIZES = ((64, 64, 64), (128, 64, 64), (256, 128, 96))
MILLION = (160, 80, 80)
HALF_MORE = (192, 96, 82)
DT = 0.004


@timing
def step_64() -> Timing:
    """Whole step of water and a ball at 64^3."""
    return _step(SIZES[0])


@timing
def step_128() -> Timing:
    """Whole step at 128 x 64 x 64."""
    return _step(SIZES[1])


@timing
def step_256() -> Timing:
    """Whole step at 256 x 128 x 96 (3.1 million cells)."""
    return _step(SIZES[2], repeats=2)


@timing
def step_of_a_million_cells() -> Timing:
    """Whole step at 160 x 80 x 80 (1.02 million cells); aim 0.6 s on two cores."""
    return _step(MILLION)


@timing
def step_of_one_and_a_half_million_cells() -> Timing:
    """Whole step at 192 x 96 x 82 (1.51 million cells); aim 1 s and 2 GB."""
    return _step(HALF_MORE, repeats=2)


@timing
def parts_of_a_step_of_a_million_cells() -> Timing:
    """Each part of the step at 160 x 80 x 80; seconds of the parts are in the figures."""
    tank, bodies, body, state = _slosh(MILLION)
    boundary = rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)
    found = project(tank, _copy(state), boundary, DT)
    figures = {}
    total = 0.0
    for name, run in {
        "velocity advection": lambda s: advect_velocity(tank, s, DT),
        "surface advection": lambda s: advect_surface(tank, s, DT),
        "markers moved": lambda s: markers.move_particles(tank, s, DT, None),
        "markers mend the surface": lambda s: markers.correct_surface(tank, s),
        "redistancing": lambda s: redistance(s.phi, tank.cell),
        "body on the grid": lambda s: rasterise(tank, s, bodies.skins(body), bodies.links(body).origins),
        "projection": lambda s: project(tank, s, boundary, DT, mobility=bodies.links(body).mobility),
        "extension": lambda s: extrapolate_velocity(tank, s, boundary, found.system.diagonal),
    }.items():
        figures[name] = _best(state, run)
        total += figures[name]
    figures["markers counted"] = float(len(state.markers))
    return Timing(total, detail="160x80x80", figures=figures)


@timing
def projection_32() -> Timing:
    """Pressure solve at 32^3 to a residual of 1e-6, against PyAMG and PhiFlow (whose matrix of 64^3 overflows)."""
    return _projection((32, 32, 32), with_phiflow=True)


@timing
def projection_64() -> Timing:
    """Pressure solve at 64^3 to a residual of 1e-6, against PyAMG on the same matrix."""
    return _projection(SIZES[0])


@timing
def projection_128() -> Timing:
    """Pressure solve at 128 x 64 x 64 to a residual of 1e-6, against PyAMG on the same matrix."""
    return _projection(SIZES[1])


# --- helpers -------------------------------------------------------------------------------------------------------


def _slosh(shape: tuple[int, int, int]) -> tuple[Tank, RigidBodies, BodyState, WaterState]:
    h = 1.0 / shape[1]
    tank = Tank(shape, h)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    length, height = tank.size[0], tank.size[2]
    vertices, faces = sphere(0.12, subdivisions=4)
    centre = (0.5 * length, 0.5, 0.66 * height)
    bodies = RigidBodies([RigidBody.solid("ball", np.asarray(vertices), faces, 600.0, position=centre)])
    body = bodies.start()
    state = fill(tank, z - 0.66 * height - 0.05 * np.cos(np.pi * x / length), mechanism=bodies, body=body)
    for _ in range(2):
        step(tank, state, DT, mechanism=bodies, body=body)
    return tank, bodies, body, state


def _step(shape: tuple[int, int, int], repeats: int = 3) -> Timing:
    tank, bodies, body, state = _slosh(shape)
    best = float("inf")
    iterations = 0
    for _ in range(repeats):
        start = perf_counter()
        done = step(tank, state, DT, mechanism=bodies, body=body)
        best = min(best, (perf_counter() - start) / done.substeps)
        iterations = done.iterations // done.substeps
    cells = tank.cells
    figures = {
        "cells": float(cells),
        "cells per second": cells / best,
        "nanoseconds per cell": 1e9 * best / cells,
        "pressure iterations": float(iterations),
        "peak memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }
    detail = f"{'x'.join(map(str, shape))}, ball of 5120 triangles, {len(state.markers)} markers"
    return Timing(best, detail=detail, figures=figures)


def _copy(state: WaterState) -> WaterState:
    return deepcopy(state)


def _best(state: WaterState, run: Callable[[WaterState], object], repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        twin = _copy(state)
        start = perf_counter()
        run(twin)
        best = min(best, perf_counter() - start)
    return best


def _projection(shape: tuple[int, int, int], *, with_phiflow: bool = False) -> Timing:
    tank = Tank(shape, 1.0 / shape[1], particles=0)
    state = fill(tank, level=0.66 * tank.size[2])
    rng = np.random.default_rng(0)
    for f in (state.u, state.v, state.w):
        f[:] = rng.normal(size=f.shape)
    boundary = open_boundary(tank)
    found = project(tank, _copy(state), boundary, DT)
    system = found.system
    right = _right_hand_side(system, state, tank)
    ours = _turns(lambda: solve(system, right, np.zeros_like(right), tolerance=1e-6))
    peers = {}
    iterations, _ = solve(system, right, np.zeros_like(right), tolerance=1e-6)
    wet = system.diagonal > 0.0
    matrix = _sparse(system, wet)
    b = right[wet]
    peers["PyAMG, smoothed aggregation with CG"] = _pyamg(matrix, b)
    if with_phiflow:
        peers["PhiFlow, make_incompressible"] = _phiflow(shape)
    detail = f"{'x'.join(map(str, shape))}, {int(wet.sum())} wet cells"
    return Timing(ours, peers, detail, {"iterations": float(iterations)})


def _turns(run: Callable[[], object], repeats: int = 3) -> float:
    run()
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        run()
        best = min(best, perf_counter() - start)
    return best


def _right_hand_side(system: System, state: WaterState, tank: Tank) -> Array:
    out = np.zeros_like(system.diagonal)
    flux = np.diff(state.u, axis=0) + np.diff(state.v, axis=1) + np.diff(state.w, axis=2)
    out[1:-1, 1:-1, 1:-1] = -flux
    out[system.diagonal == 0.0] = 0.0
    return out


def _sparse(system: System, wet: Array) -> coo_matrix:
    number = -np.ones(wet.shape, np.int64)
    n = int(wet.sum())
    number[wet] = np.arange(n)
    rows, columns, values = [number[wet]], [number[wet]], [system.diagonal[wet]]
    for axis, c in enumerate((system.cx, system.cy, system.cz)):
        at = np.argwhere(c > 0.0)
        before = at.copy()
        before[:, axis] -= 1
        i, j, value = number[tuple(at.T)], number[tuple(before.T)], -c[tuple(at.T)]
        rows += [i, j]
        columns += [j, i]
        values += [value, value]
    data = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return coo_matrix(data, shape=(n, n)).tocsr()


def _pyamg(matrix: coo_matrix, b: Array) -> float:
    try:
        import pyamg
    except ImportError:
        raise MissingExtra("pyamg", "pip install 'vitruvian[peers]'") from None

    # the matrix changes with every step of the water, so its set-up is part of the solve, as it is of ours
    def run() -> None:
        hierarchy = pyamg.smoothed_aggregation_solver(matrix, max_coarse=500)
        hierarchy.solve(b, tol=1e-6, accel="cg")

    return _turns(run, repeats=1)


def _phiflow(shape: tuple[int, int, int]) -> float:
    """PhiFlow's pressure solve in a closed box of the same number of cells (it has no free surface of this kind)."""
    try:
        from phi import flow
    except ImportError:
        raise MissingExtra("phiflow", "pip install 'vitruvian[peers]'") from None
    nx, ny, nz = shape
    domain = flow.Box(x=float(nx), y=float(ny), z=float(nz))
    noise = flow.StaggeredGrid(flow.Noise(), 0.0, domain, x=nx, y=ny, z=nz)
    method = flow.Solve("CG", 1e-6, 1e-6, max_iterations=2000)

    def run() -> None:
        flow.fluid.make_incompressible(noise, (), method)

    return _turns(run, repeats=1)
