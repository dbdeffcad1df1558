"""Water timings beside peers: the pressure solve beside PyAMG on the same matrix and PhiFlow's for the same right-hand
side; a step of advection and projection beside PhiFlow's.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from time import process_time
from typing import Any

import numpy as np
from numba import get_num_threads, set_num_threads
from scipy.sparse import coo_matrix

from vitruvian.benchmarks._water_tanks import DT, by, turns
from vitruvian.benchmarks.suite import Timing
from vitruvian.errors import MissingExtra
from vitruvian.water import Tank, WaterState, fill, open_boundary, project
from vitruvian.water.advect import advect_velocity
from vitruvian.water.multigrid import System, solve

Array = np.ndarray


def projection_timing(shape: tuple[int, int, int], *, with_phiflow: bool = False) -> Timing:
    tank = Tank(shape, 1.0 / shape[1], particles=0)
    state = fill(tank, level=0.66 * tank.size[2])
    rng = np.random.default_rng(0)
    for f in (state.u, state.v, state.w):
        f[:] = rng.normal(size=f.shape)
    boundary = open_boundary(tank)
    found = project(tank, deepcopy(state), boundary, DT)
    system = found.system
    right = _right_hand_side(system, state)
    x = np.zeros_like(right)

    def run() -> tuple[int, float]:
        x[:] = 0.0
        return solve(system, right, x, tolerance=1e-6)

    ours = turns(run)
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
    return Timing(ours, peers, f"{by(shape)}, {int(wet.sum())} wet cells{failed}", figures)


def flow_timing(cells: int) -> Timing:
    """Processor seconds of one thread for MacCormack advection of a vortex in a closed box of cells^3 (Courant number
    a quarter) and its projection to a residual of 1e-6, ours and PhiFlow's by turns.
    """
    try:
        from phi import flow
    except ImportError:
        raise MissingExtra("phiflow", "pip install 'vitruvian[peers]'") from None
    h = 2.0 * np.pi / cells
    dt = 0.25 * h
    tank = Tank((cells, cells, cells), h, free_surface=False, gravity=(0.0, 0.0, 0.0), tolerance=1e-6)
    first = fill(tank)
    face, centre = np.arange(cells + 1) * h, (np.arange(cells) + 0.5) * h
    deep = np.cos(centre)[None, None]
    first.u[:] = np.sin(face)[:, None, None] * np.cos(centre)[None, :, None] * deep
    first.v[:] = -np.cos(centre)[:, None, None] * np.sin(face)[None, :, None] * deep
    boundary = open_boundary(tank)
    found: dict[str, Any] = {}

    def ours() -> None:
        state = deepcopy(first)
        advect_velocity(tank, state, dt)
        found["before"] = _outflow(state)
        project(tank, state, boundary, dt)
        found["left"] = _outflow(state) / found["before"]

    def vortex(x: Any) -> Any:
        a, b, c = x.vector["x"], x.vector["y"], x.vector["z"]
        sine, cosine = flow.math.sin, flow.math.cos
        return flow.vec(x=sine(a) * cosine(b) * cosine(c), y=-cosine(a) * sine(b) * cosine(c), z=0.0 * a)

    domain = flow.Box(x=2.0 * np.pi, y=2.0 * np.pi, z=2.0 * np.pi)
    given = flow.StaggeredGrid(vortex, 0, domain, x=cells, y=cells, z=cells)
    method = flow.Solve("CG", 1e-6, 0.0, max_iterations=2000, rank_deficiency=1)

    def theirs() -> None:
        carried = flow.advect.mac_cormack(given, given, dt)
        done, _ = flow.fluid.make_incompressible(carried, (), method)
        size = [np.abs(flow.field.divergence(f).values.numpy("x,y,z")).max() for f in (carried, done)]
        found["left of PhiFlow"] = float(size[1] / size[0])

    threads = get_num_threads()
    set_num_threads(1)
    try:
        own, peer = _by_turns(ours, theirs)
    finally:
        set_num_threads(threads)
    figures = {
        "divergence left": found["left"], "divergence left by PhiFlow": found["left of PhiFlow"], "ratio": peer / own,
    }  # fmt: skip
    return Timing(own, {"PhiFlow, MacCormack and CG": peer}, f"{by(tank.shape)}, processor seconds", figures)


def _by_turns(one: Callable[[], None], two: Callable[[], None], repeats: int = 3) -> tuple[float, float]:
    """Least processor seconds of two functions that are run by turns."""
    best = [np.inf, np.inf]
    for turn in range(repeats + 1):
        for n, run in enumerate((one, two)):
            start = process_time()
            run()
            if turn:
                best[n] = min(best[n], process_time() - start)
    return best[0], best[1]


def _outflow(state: WaterState) -> float:
    """Largest sum of the flow out of a cell [m/s]."""
    return float(np.abs(np.diff(state.u, axis=0) + np.diff(state.v, axis=1) + np.diff(state.w, axis=2)).max())


def _left(matrix: coo_matrix, x: Array, b: Array) -> float:
    """Residual relative to the right-hand side, 2-norm."""
    return float(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b))


def _right_hand_side(system: System, state: WaterState) -> Array:
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

    return turns(run, repeats=1), answer


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

    seconds = turns(run, repeats=1)
    left = (right - laplacian(found["p"])).values.numpy("x,y,z")
    return seconds, float(np.linalg.norm(left) / np.linalg.norm(b))
