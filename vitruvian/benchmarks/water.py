"""Water timings: the whole step, its parts, cost per cell over grid sizes, and the projection beside PyAMG and PhiFlow.

The state is a tank, two thirds full, with a sloshing surface and a ball in it; and a swimmer's window, small and open
at the sides, with a tree of 103 bones in the pressure solve. Seconds are the best of a few turns; on a busy machine the
figure "processor seconds" says more. They are those of all threads, and idle threads that wait for others count too.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numba import get_num_threads
from scipy.sparse import coo_matrix
from scipy.spatial import cKDTree

from vitruvian.anatomy.human import human
from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.couple.skin_water import BonesInWater, ChainState
from vitruvian.errors import MissingExtra
from vitruvian.mesh import sphere
from vitruvian.scenes._mannequin import mannequin
from vitruvian.skeleton import SkeletonState, bone_poses
from vitruvian.spatial import quaternion_from_rotation, rotation_from_quaternion
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
from vitruvian.water.solids import Skin, SkinShape

Array = np.ndarray
SIZES = ((64, 64, 64), (128, 64, 64), (256, 128, 96))
MILLION = (160, 80, 80)
HALF_MORE = (192, 96, 82)
PHIFLOW = (40, 36, 32)  # the square of the number of cells must stay below 2^31 for PhiFlow's matrix
DT = 0.004
WINDOW, WINDOW_CELL = (3.2, 1.7, 1.3), 0.05  # a swimmer's window [m]


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
    return _step(SIZES[2])


@timing
def step_of_a_million_cells() -> Timing:
    """Whole step at 160 x 80 x 80 (1.02 million cells); aim 0.6 s on two cores."""
    return _step(MILLION)


@timing
def step_of_one_and_a_half_million_cells() -> Timing:
    """Whole step at 192 x 96 x 82 (1.51 million cells); aim 1 s and 2 GB."""
    return _step(HALF_MORE)


@timing
def cost_per_cell_over_sizes() -> Timing:
    """Mean seconds of a whole step over 64^3, 128 x 64 x 64 and 256 x 128 x 96; aim: cost per cell within 1.5 times."""
    steps = {shape: _step(shape) for shape in SIZES}
    per_cell = {shape: t.figures["nanoseconds per cell"] for shape, t in steps.items()}
    figures = {f"nanoseconds per cell, {_by(shape)}": value for shape, value in per_cell.items()}
    figures["largest over smallest"] = max(per_cell.values()) / min(per_cell.values())
    processor = [t.figures["processor seconds"] / t.figures["cells"] for t in steps.values()]
    figures["largest over smallest, processor seconds"] = max(processor) / min(processor)
    return Timing(float(np.mean([t.seconds for t in steps.values()])), detail="three sizes", figures=figures)


@timing
def swimmer_window() -> Timing:
    """Step of a window of 56 thousand cells of 50 mm with a deforming skin on 103 bones; aim 30 ms on one core."""
    tank, bones, body, state = _swimmer()
    return _timed(tank, state, bones, body, 1.0 / 96.0, 4, f"skin of 10688 triangles on {bones.skeleton.n_bones} bones")


@timing
def parts_64() -> Timing:
    """Each part of the step at 64^3; seconds of the parts are in the figures."""
    return _parts(SIZES[0])


@timing
def parts_128() -> Timing:
    """Each part of the step at 128 x 64 x 64."""
    return _parts(SIZES[1])


@timing
def parts_256() -> Timing:
    """Each part of the step at 256 x 128 x 96."""
    return _parts(SIZES[2])


@timing
def parts_of_a_step_of_a_million_cells() -> Timing:
    """Each part of the step at 160 x 80 x 80."""
    return _parts(MILLION)


@timing
def skin_on_the_grid() -> Timing:
    """A skin of 10688 triangles made fractions of faces and cells, at 50 mm; at 20 mm in the figures."""
    vertices, faces = mannequin()
    shape = SkinShape.build("skin", faces, len(vertices))
    seconds = {}
    for cell in (0.05, 0.02):
        low = vertices.min(axis=0) - 5.0 * cell
        tank = Tank.of_size(tuple(vertices.max(axis=0) + 5.0 * cell - low), cell, origin=tuple(low))
        state = fill(tank, level=float(low[2] + 0.5 * tank.size[2]))
        skin = Skin(shape, vertices)
        seconds[cell] = _turns(lambda: rasterise(tank, state, [skin], np.zeros((1, 3))))  # noqa: B023
    return Timing(seconds[0.05], detail="10688 triangles", figures={"seconds at 20 mm": seconds[0.02]})


@timing
def projection_46k() -> Timing:
    """Pressure solve at 40 x 36 x 32 to a residual of 1e-6, against PyAMG and PhiFlow (it cannot index more)."""
    return _projection(PHIFLOW, with_phiflow=True)


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


def _swimmer() -> tuple[Tank, BonesInWater, ChainState, WaterState]:
    """A person-shaped skin that lies on its back in a window, each vertex on the nearest bone of the whole body."""
    body = human()
    skeleton = body.skeleton
    middle = np.array([0.5 * WINDOW[0], 0.5 * WINDOW[1], 0.8])
    lying = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    q = body.default_q.copy()
    q[3:7] = quaternion_from_rotation(lying @ rotation_from_quaternion(q[3:7]))
    origins = bone_poses(skeleton, q)[:, :3, 3]
    q[:3] += middle - 0.5 * (origins.min(axis=0) + origins.max(axis=0))
    poses = bone_poses(skeleton, q)
    vertices, faces = mannequin()
    vertices = vertices - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)) + middle
    bone = cKDTree(poses[:, :3, 3]).query(vertices)[1]
    local = np.einsum("nji,nj->ni", poses[bone, :3, :3], vertices - poses[bone, :3, 3])
    shape = SkinShape.build("skin", faces, len(vertices), bone[faces[:, 0]])

    def skins(state: ChainState) -> list[Skin]:
        now = bone_poses(skeleton, state.q)[bone]
        x = np.einsum("nij,nj->ni", now[:, :3, :3], local) + now[:, :3, 3]
        return [Skin(shape, x, 0.02 * np.sin(3.0 * x[:, :1]) * np.array([[0.0, 1.0, 0.0]]))]

    bones = BonesInWater(skeleton, skins=skins)
    start = bones.start(SkeletonState(q, np.zeros(skeleton.n_v)))
    sides = dict.fromkeys(("x-", "x+", "y-", "y+"), "open")
    tank = Tank.of_size(
        WINDOW, WINDOW_CELL, boundaries=sides, rest_level=0.85, sponge=0.2, courant=1.5, particles=8, tolerance=1e-4
    )
    state = fill(tank, level=0.85, mechanism=bones, body=start)
    for _ in range(2):
        step(tank, state, 1.0 / 96.0, mechanism=bones, body=start)
    return tank, bones, start, state


@cache
def _step(shape: tuple[int, int, int]) -> Timing:
    tank, bodies, body, state = _slosh(shape)
    return _timed(tank, state, bodies, body, DT, 3, "ball of 5120 triangles")


def _timed(tank: Tank, state: WaterState, mechanism: Any, body: Any, dt: float, repeats: int, what: str) -> Timing:
    """Best seconds of a sub-step."""
    best = processor = float("inf")
    iterations = 0
    for _ in range(repeats):
        start, start_processor = perf_counter(), process_time()
        done = step(tank, state, dt, mechanism=mechanism, body=body)
        best = min(best, (perf_counter() - start) / done.substeps)
        processor = min(processor, (process_time() - start_processor) / done.substeps)
        iterations = done.iterations // done.substeps
    cells = tank.cells
    figures = {
        "cells": float(cells),
        "cells per second": cells / best,
        "nanoseconds per cell": 1e9 * best / cells,
        "processor seconds": processor,
        "threads": float(get_num_threads()),
        "pressure iterations": float(iterations),
        "peak memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }
    return Timing(best, detail=f"{_by(tank.shape)}, {what}, {len(state.markers)} markers", figures=figures)


def _parts(shape: tuple[int, int, int]) -> Timing:
    tank, bodies, body, state = _slosh(shape)
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
        seconds = _best(state, run)
        figures[name] = seconds
        figures[f"{name}, cells per second"] = tank.cells / seconds
        total += seconds
    figures["markers counted"] = float(len(state.markers))
    return Timing(total, detail=_by(shape), figures=figures)


def _by(shape: tuple[int, int, int]) -> str:
    return "x".join(map(str, shape))


def _copy(state: WaterState) -> WaterState:
    return deepcopy(state)


def _best(state: WaterState, run: Callable[[WaterState], object], repeats: int = 2) -> float:
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
    x = np.zeros_like(right)

    def run() -> tuple[int, float]:
        x[:] = 0.0
        return solve(system, right, x, tolerance=1e-6)

    ours = _turns(run)
    iterations, _ = run()
    wet = system.diagonal > 0.0
    matrix = _sparse(system, wet)
    b = right[wet]
    peers, failed = {}, ""
    figures = {"iterations": float(iterations), "residual": _left(matrix, x[wet], b)}
    seconds, answer = _pyamg(matrix, b)
    peers["PyAMG, smoothed aggregation with CG"] = seconds
    figures["residual of PyAMG"] = _left(matrix, answer, b)
    if with_phiflow:
        peer_b = right[1:-1, 1:-1, 1:-1]
        try:
            peers["PhiFlow, CG"], figures["residual of PhiFlow"] = _phiflow(peer_b, shape)
        except MissingExtra:
            raise
        except Exception as error:  # a peer that fails costs its own line, not ours
            failed = f"; PhiFlow failed: {type(error).__name__}"
    return Timing(ours, peers, f"{_by(shape)}, {int(wet.sum())} wet cells{failed}", figures)


def _left(matrix: coo_matrix, x: Array, b: Array) -> float:
    """Residual relative to the right-hand side, 2-norm."""
    return float(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b))


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


def _pyamg(matrix: coo_matrix, b: Array) -> tuple[float, Array]:
    try:
        import pyamg
    except ImportError:
        raise MissingExtra("pyamg", "pip install 'vitruvian[peers]'") from None
    answer = np.zeros_like(b)

    # the matrix changes with every step of the water, so its set-up is part of the solve, as it is of ours
    def run() -> None:
        hierarchy = pyamg.smoothed_aggregation_solver(matrix, max_coarse=500)
        answer[:] = hierarchy.solve(b, tol=1e-6, accel="cg")

    return _turns(run, repeats=1), answer


def _phiflow(b: Array, shape: tuple[int, int, int]) -> tuple[float, float]:
    """Seconds and relative residual of PhiFlow's conjugate gradients for -laplace(p) = b with b (nx, ny, nz): the same
    right-hand side on the same number of cells, p = 0 beyond the lid and walls elsewhere (it has no free surface of our
    kind, so all cells are wet).
    """
    try:
        from phi import flow
    except ImportError:
        raise MissingExtra("phiflow", "pip install 'vitruvian[peers]'") from None
    nx, ny, nz = shape
    domain = flow.Box(x=float(nx), y=float(ny), z=float(nz))
    wall, lid = flow.extrapolation.ZERO_GRADIENT, flow.extrapolation.ZERO
    sides = flow.extrapolation.combine_sides(x=wall, y=wall, z=(wall, lid))
    values = flow.tensor(b, flow.spatial("x,y,z"))
    right = flow.CenteredGrid(values, sides, domain, x=nx, y=ny, z=nz)
    guess = flow.CenteredGrid(0.0, sides, domain, x=nx, y=ny, z=nz)
    method = flow.Solve("CG", 1e-6, 0.0, x0=guess, max_iterations=2000)
    found = {}

    def laplacian(p: Any) -> Any:
        return -flow.field.laplace(p)

    solved = flow.math.jit_compile_linear(laplacian)

    def run() -> None:
        found["p"] = flow.field.solve_linear(solved, right, method)

    seconds = _turns(run, repeats=1)
    left = (right - laplacian(found["p"])).values.numpy("x,y,z")
    return seconds, float(np.linalg.norm(left) / np.linalg.norm(b))
