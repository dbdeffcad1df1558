"""Velocity beyond the water: smooth, and free of divergence near the surface.

A face is known where the projection has set it: open, and beside a wet cell. Known faces pass their mean on to their
unknown neighbours, layer by layer (Enright, Marschner and Fedkiw 2002), which slides freely along walls and bodies. A
second, small projection in the first layers of air then removes the divergence of that extension, known faces held:
the surface lies up to half a cell beyond the last known face, and a thin layer that is stretched would otherwise thin
too slowly and gain volume (Rasmussen et al. 2004). Air squeezed out of a closing pocket would be faster than anything
that moves the surface; it is held to the speed of the fastest water.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.model import Tank
from vitruvian.water.multigrid import System, solve
from vitruvian.water.pressure import Boundary
from vitruvian.water.state import WaterState

LAYERS = 7
AIR = 1.0  # cells of air in which the extension is made divergence-free: those that may hold some water
SOFTNESS = 1e-2  # of that projection: keeps pockets without an outlet solvable
TOLERANCE = 1e-2
Array = np.ndarray


def extrapolate_velocity(
    tank: Tank, state: WaterState, boundary: Boundary, diagonal: np.ndarray, layers: int = LAYERS
) -> None:
    """Extend the projected velocity in place; `diagonal` is that of the pressure system (positive in wet cells)."""
    sides = tank.open_sides()
    masks = []
    for axis, (f, opened) in enumerate(
        zip((state.u, state.v, state.w), (boundary.open_x, boundary.open_y, boundary.open_z))
    ):
        known = np.zeros(f.shape, np.uint8)
        _known(axis, opened, diagonal, known, f, sides[2 * axis], sides[2 * axis + 1])
        _extend(f, known, layers)
        masks.append(known)
    if tank.free_surface:
        _free_of_divergence(tank, state, masks)


def _free_of_divergence(tank: Tank, state: WaterState, known: list[Array]) -> None:
    shape = tuple(n + 2 for n in tank.shape)
    cx, cy, cz, diagonal, right, x = (np.zeros(shape) for _ in range(6))
    system = System(cx, cy, cz, diagonal, np.ones(shape[:2], np.int64))
    kx, ky, kz = known
    reach = AIR * tank.cell
    _build_air(state.phi, reach, kx, ky, kz, state.u, state.v, state.w, cx, cy, cz, diagonal, system.top, right)
    solve(system, right, x, tolerance=TOLERANCE, limit=20)
    fastest = max(_fastest(f, k) for f, k in zip((state.u, state.v, state.w), known))
    _update_air(kx, ky, kz, diagonal, x, state.u, state.v, state.w, fastest)


def _fastest(f: Array, known: Array) -> float:
    partial = np.zeros(f.shape[0])
    _known_speed(f, known, partial)
    return float(partial.max())


@njit(cache=True, parallel=True)
def _known_speed(f, known, partial):
    for ii in prange(f.shape[0]):
        i = np.int64(ii)
        most = 0.0
        for j in range(f.shape[1]):
            for k in range(f.shape[2]):
                if known[i, j, k] == 1:
                    most = max(most, abs(f[i, j, k]))
        partial[i] = most


@njit(cache=True, inline="always")
def _air(phi, i, j, k, reach):
    nx, ny, nz = phi.shape
    return 0 <= i < nx and 0 <= j < ny and 0 <= k < nz and 0.0 <= phi[i, j, k] < reach


@njit(cache=True, parallel=True)
def _build_air(phi, reach, kx, ky, kz, u, v, w, cx, cy, cz, diagonal, top, right):
    nx, ny, nz = phi.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            highest = 1
            for k in range(nz):
                if not _air(phi, i, j, k, reach):
                    continue
                d = 0.0
                if kx[i, j, k] != 1:
                    d += 1.0
                    if _air(phi, i - 1, j, k, reach):
                        cx[i + 1, j + 1, k + 1] = 1.0
                if kx[i + 1, j, k] != 1:
                    d += 1.0
                if ky[i, j, k] != 1:
                    d += 1.0
                    if _air(phi, i, j - 1, k, reach):
                        cy[i + 1, j + 1, k + 1] = 1.0
                if ky[i, j + 1, k] != 1:
                    d += 1.0
                if kz[i, j, k] != 1:
                    d += 1.0
                    if _air(phi, i, j, k - 1, reach):
                        cz[i + 1, j + 1, k + 1] = 1.0
                if kz[i, j, k + 1] != 1:
                    d += 1.0
                if d > 0.0:
                    diagonal[i + 1, j + 1, k + 1] = d + SOFTNESS
                    right[i + 1, j + 1, k + 1] = (
                        u[i, j, k] - u[i + 1, j, k] + v[i, j, k] - v[i, j + 1, k] + w[i, j, k] - w[i, j, k + 1]
                    )
                    highest = k + 2
            top[i + 1, j + 1] = highest


@njit(cache=True, parallel=True)
def _update_air(kx, ky, kz, diagonal, x, u, v, w, most):
    nx, ny, nz = u.shape[0] - 1, v.shape[1] - 1, w.shape[2] - 1
    for ii in prange(nx + 1):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if kx[i, j, k] != 1 and (diagonal[i, j + 1, k + 1] > 0.0 or diagonal[i + 1, j + 1, k + 1] > 0.0):
                    change = x[i + 1, j + 1, k + 1] - x[i, j + 1, k + 1]
                    u[i, j, k] = min(max(u[i, j, k] - change, -most), most)
        if i == nx:
            continue
        for j in range(ny + 1):
            for k in range(nz):
                if ky[i, j, k] != 1 and (diagonal[i + 1, j, k + 1] > 0.0 or diagonal[i + 1, j + 1, k + 1] > 0.0):
                    change = x[i + 1, j + 1, k + 1] - x[i + 1, j, k + 1]
                    v[i, j, k] = min(max(v[i, j, k] - change, -most), most)
        for j in range(ny):
            for k in range(nz + 1):
                if kz[i, j, k] != 1 and (diagonal[i + 1, j + 1, k] > 0.0 or diagonal[i + 1, j + 1, k + 1] > 0.0):
                    change = x[i + 1, j + 1, k + 1] - x[i + 1, j + 1, k]
                    w[i, j, k] = min(max(w[i, j, k] - change, -most), most)


@njit(cache=True, parallel=True)
def _known(axis, opened, diagonal, known, f, low_open, high_open):
    a, b, c = (1 if axis == 0 else 0), (1 if axis == 1 else 0), (1 if axis == 2 else 0)
    for ii in prange(f.shape[0]):
        i = np.int64(ii)
        for j in range(f.shape[1]):
            for k in range(f.shape[2]):
                wet = diagonal[i + 1, j + 1, k + 1] > 0.0 or diagonal[i + 1 - a, j + 1 - b, k + 1 - c] > 0.0
                at = i if axis == 0 else (j if axis == 1 else k)
                wall = (at == 0 and low_open == 0) or (at == f.shape[axis] - 1 and high_open == 0)
                if wall:
                    # nothing passes a wall, in air neither
                    known[i, j, k] = 1
                    f[i, j, k] = 0.0
                elif wet and opened[i, j, k] > 0.0:
                    known[i, j, k] = 1
                else:
                    f[i, j, k] = 0.0


@njit(cache=True, parallel=True)
def _extend(f, known, layers):
    nx, ny, nz = f.shape
    for layer in range(layers):
        mark = np.uint8(layer + 2)
        for ii in prange(nx):
            i = np.int64(ii)
            for j in range(ny):
                for k in range(nz):
                    if known[i, j, k] != 0:
                        continue
                    total = 0.0
                    count = 0
                    # faces of this layer are marked `mark`; only those of earlier layers are read
                    if i > 0 and 0 < known[i - 1, j, k] < mark:
                        total += f[i - 1, j, k]
                        count += 1
                    if i < nx - 1 and 0 < known[i + 1, j, k] < mark:
                        total += f[i + 1, j, k]
                        count += 1
                    if j > 0 and 0 < known[i, j - 1, k] < mark:
                        total += f[i, j - 1, k]
                        count += 1
                    if j < ny - 1 and 0 < known[i, j + 1, k] < mark:
                        total += f[i, j + 1, k]
                        count += 1
                    if k > 0 and 0 < known[i, j, k - 1] < mark:
                        total += f[i, j, k - 1]
                        count += 1
                    if k < nz - 1 and 0 < known[i, j, k + 1] < mark:
                        total += f[i, j, k + 1]
                        count += 1
                    if count > 0:
                        f[i, j, k] = total / count
                        known[i, j, k] = mark
