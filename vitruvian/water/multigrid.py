"""Conjugate gradients, preconditioned by geometric multigrid, for the pressure equation on a MAC grid.

The matrix is kept as arrays, so that every stencil is free of branches: `cx[i]` couples cells i - 1 and i, `diagonal`
holds the sum of the couplings and what air neighbours add, and cells that take no part have zeros everywhere. All
arrays are padded by one cell on each side.

    (A P)_c = diagonal_c P_c - sum_n c_n P_n

Coarse matrices are half the Galerkin product of piecewise-constant transfer, which keeps partly open faces and the
free surface without any decision about which coarse cell is air (McAdams, Sifakis and Teran 2010 treat them
geometrically). Smoothing is red-black Gauss-Seidel, red-black before and black-red after, so that the preconditioner
is symmetric; a column of cells ends at its highest wet cell. The preconditioner works in float32, the outer iteration
in float64. Sums are taken per slab and then over slabs, so that the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit, prange

Array = np.ndarray
SMALL = 30_000  # cells below which threads cost more than they bring
COARSEST_SWEEPS = 16


@dataclass
class System:
    """Matrix of one level; arrays have shape (nx + 2, ny + 2, nz + 2)."""

    cx: Array
    cy: Array
    cz: Array
    diagonal: Array
    top: Array  # one past the highest padded k that takes part, per column; shape (nx + 2, ny + 2)


@dataclass
class Level:
    """A float32 level with its work arrays."""

    cx: Array
    cy: Array
    cz: Array
    inverse: Array  # 1 / diagonal, 0 where a cell takes no part
    diagonal: Array
    top: Array
    x: Array
    b: Array
    r: Array


def build_hierarchy(system: System) -> list[Level]:
    """Levels from the given matrix down to a few cells."""
    cx, cy, cz, diagonal = (a.astype(np.float32) for a in (system.cx, system.cy, system.cz, system.diagonal))
    levels = [_level(cx, cy, cz, diagonal, system.top)]
    while True:
        fine = levels[-1]
        n = np.array(fine.x.shape) - 2
        if n.min() < 4:
            return levels
        cx, cy, cz, diagonal = (np.zeros(tuple((n + 1) // 2 + 2), np.float32) for _ in range(4))
        top = np.zeros(tuple((n[:2] + 1) // 2 + 2), np.int64)
        coarsen = _coarsen if fine.x.size > SMALL else _coarsen_serial
        coarsen(fine.cx, fine.cy, fine.cz, fine.diagonal, fine.top, cx, cy, cz, diagonal, top)
        levels.append(_level(cx, cy, cz, diagonal, top))


def solve(
    system: System,
    right: Array,
    x: Array,
    *,
    tolerance: float,
    limit: int = 200,
    extra: Callable[[Array, Array], None] | None = None,
    pockets: Array | None = None,
) -> tuple[int, float]:
    """Solve A x = right in place from the guess in x; returns iterations and the residual relative to max |right|.

    `extra(p, y)` adds a further symmetric positive semidefinite part of the matrix (moving bodies) to y. `pockets`
    numbers the cells of regions that no air touches (0 elsewhere): pressure is free up to a constant there, so their
    mean is removed.
    """
    levels = build_hierarchy(system)
    s = system
    y = np.zeros_like(x)
    r = np.zeros_like(x)
    partial = np.zeros(x.shape[0])
    scale = float(np.abs(right).max())
    if scale == 0.0:
        x[:] = 0.0
        return 0, 0.0
    if pockets is not None:
        right = right.copy()
        remove_means(right, pockets)
    _apply(s.cx, s.cy, s.cz, s.diagonal, s.top, x, y, partial)
    if extra is not None:
        extra(x, y)
    np.subtract(right, y, out=r)
    worst = float(np.abs(r).max())
    z = np.zeros_like(x)
    p = np.zeros_like(x)
    old = 0.0
    done = 0
    while worst > tolerance * scale and done < limit:
        _precondition(levels, r, z)
        if pockets is not None:
            remove_means(z, pockets)
        _dot(r, z, s.top, partial)
        new = _sum(partial)
        if not np.isfinite(new):
            return done, float("nan")
        _direction(p, z, new / old if done else 0.0, s.top)
        _apply(s.cx, s.cy, s.cz, s.diagonal, s.top, p, y, partial)
        if extra is not None:
            extra(p, y)
            _dot(p, y, s.top, partial)
        curvature = _sum(partial)
        if curvature <= 0.0:
            break
        _advance(x, r, p, y, new / curvature, s.top, partial)
        worst = float(partial[1:-1].max())
        old = new
        done += 1
    return done, worst / scale


def _sum(partial: Array) -> float:
    """Sum over slabs, in the same order whatever the number of threads."""
    return float(partial[1:-1].sum())


def remove_means(a: Array, pockets: Array) -> None:
    """Subtract from each numbered region its mean."""
    n = int(pockets.max())
    flat = pockets.ravel()
    count = np.bincount(flat, minlength=n + 1)
    total = np.bincount(flat, weights=a.ravel(), minlength=n + 1)
    mean = np.where(count > 0, total / np.maximum(count, 1), 0.0)
    mean[0] = 0.0
    a -= mean[pockets]


def _level(cx: Array, cy: Array, cz: Array, diagonal: Array, top: Array) -> Level:
    inverse = np.divide(np.float32(1.0), diagonal, out=np.zeros_like(diagonal), where=diagonal > 0.0)
    return Level(cx, cy, cz, inverse, diagonal, top, np.zeros_like(cx), np.zeros_like(cx), np.zeros_like(cx))


def _precondition(levels: list[Level], r: Array, z: Array) -> None:
    """z = M^-1 r by one V-cycle."""
    first = levels[0]
    first.b[:] = r
    for n, level in enumerate(levels[:-1]):
        below = levels[n + 1]
        big = level.x.size > SMALL
        down = _smooth_down if big else _smooth_down_serial
        down(level.cx, level.cy, level.cz, level.inverse, level.top, level.x, level.b)
        restrict = _restrict if big else _restrict_serial
        restrict(level.cx, level.cy, level.cz, level.diagonal, level.top, level.x, level.b, level.r, below.b)
    last = levels[-1]
    _coarsest(last.cx, last.cy, last.cz, last.inverse, last.top, last.x, last.b)
    for n in range(len(levels) - 2, -1, -1):
        level = levels[n]
        up = _smooth_up if level.x.size > SMALL else _smooth_up_serial
        up(level.cx, level.cy, level.cz, level.inverse, level.top, level.x, level.b, levels[n + 1].x)
    z[:] = first.x


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _relax(cx, cy, cz, inverse, x, b, i, j, k):
    return (
        b[i, j, k]
        + cx[i, j, k] * x[i - 1, j, k]
        + cx[i + 1, j, k] * x[i + 1, j, k]
        + cy[i, j, k] * x[i, j - 1, k]
        + cy[i, j + 1, k] * x[i, j + 1, k]
        + cz[i, j, k] * x[i, j, k - 1]
        + cz[i, j, k + 1] * x[i, j, k + 1]
    ) * inverse[i, j, k]


def _half_sweep_py(cx, cy, cz, inverse, top, x, b, colour):
    for ii in prange(1, x.shape[0] - 1):
        i = np.int64(ii)
        for j in range(1, x.shape[1] - 1):
            for k in range(1 + (i + j + 1 + colour) % 2, top[i, j], 2):
                x[i, j, k] = _relax(cx, cy, cz, inverse, x, b, i, j, k)


_half_sweep = njit(cache=True, parallel=True)(_half_sweep_py)
_half_sweep_serial = njit(cache=True)(_half_sweep_py)


def _make_down(half):
    def down(cx, cy, cz, inverse, top, x, b):
        # from zero, the first half sweep needs no neighbours
        for ii in prange(x.shape[0]):
            i = np.int64(ii)
            for j in range(x.shape[1]):
                for k in range(x.shape[2]):
                    x[i, j, k] = b[i, j, k] * inverse[i, j, k] * ((i + j + k) % 2 == 0)
        half(cx, cy, cz, inverse, top, x, b, 1)
        half(cx, cy, cz, inverse, top, x, b, 0)
        half(cx, cy, cz, inverse, top, x, b, 1)

    return down


_smooth_down = njit(cache=True, parallel=True)(_make_down(_half_sweep))
_smooth_down_serial = njit(cache=True)(_make_down(_half_sweep_serial))


def _make_up(half):
    def up(cx, cy, cz, inverse, top, x, b, coarse):
        for ii in prange(1, x.shape[0] - 1):
            i = np.int64(ii)
            for j in range(1, x.shape[1] - 1):
                for k in range(1, top[i, j]):
                    if inverse[i, j, k] > 0.0:
                        x[i, j, k] += coarse[(i + 1) // 2, (j + 1) // 2, (k + 1) // 2]
        half(cx, cy, cz, inverse, top, x, b, 1)
        half(cx, cy, cz, inverse, top, x, b, 0)
        half(cx, cy, cz, inverse, top, x, b, 1)
        half(cx, cy, cz, inverse, top, x, b, 0)

    return up


_smooth_up = njit(cache=True, parallel=True)(_make_up(_half_sweep))
_smooth_up_serial = njit(cache=True)(_make_up(_half_sweep_serial))


@njit(cache=True)
def _coarsest(cx, cy, cz, inverse, top, x, b):
    x[:] = 0.0
    for _s in range(COARSEST_SWEEPS):
        for c in range(2):
            _half_sweep_serial(cx, cy, cz, inverse, top, x, b, c)
    for _s in range(COARSEST_SWEEPS):
        for c in range(2):
            _half_sweep_serial(cx, cy, cz, inverse, top, x, b, 1 - c)


def _restrict_py(cx, cy, cz, diagonal, top, x, b, r, coarse):
    """Residual of the fine level, summed over the children of each coarse cell."""
    for ii in prange(1, coarse.shape[0] - 1):
        i = np.int64(ii)
        for fi in range(2 * i - 1, min(2 * i + 1, x.shape[0] - 1)):
            for j in range(1, x.shape[1] - 1):
                for k in range(1, top[fi, j]):
                    r[fi, j, k] = (
                        b[fi, j, k]
                        - diagonal[fi, j, k] * x[fi, j, k]
                        + cx[fi, j, k] * x[fi - 1, j, k]
                        + cx[fi + 1, j, k] * x[fi + 1, j, k]
                        + cy[fi, j, k] * x[fi, j - 1, k]
                        + cy[fi, j + 1, k] * x[fi, j + 1, k]
                        + cz[fi, j, k] * x[fi, j, k - 1]
                        + cz[fi, j, k + 1] * x[fi, j, k + 1]
                    )
                for k in range(max(1, top[fi, j]), x.shape[2] - 1):
                    r[fi, j, k] = 0.0
        for j in range(1, coarse.shape[1] - 1):
            for k in range(1, coarse.shape[2] - 1):
                total = np.float32(0.0)
                for fi in range(2 * i - 1, min(2 * i + 1, x.shape[0] - 1)):
                    for fj in range(2 * j - 1, min(2 * j + 1, x.shape[1] - 1)):
                        for fk in range(2 * k - 1, min(2 * k + 1, x.shape[2] - 1)):
                            total += r[fi, fj, fk]
                coarse[i, j, k] = total


_restrict = njit(cache=True, parallel=True)(_restrict_py)
_restrict_serial = njit(cache=True)(_restrict_py)


def _coarsen_py(cx, cy, cz, diagonal, top, coarse_x, coarse_y, coarse_z, coarse_diagonal, coarse_top):
    half = np.float32(0.5)
    for ii in prange(1, coarse_x.shape[0] - 1):
        i = np.int64(ii)
        i0, i1 = 2 * i - 1, min(2 * i, cx.shape[0] - 2)
        for j in range(1, coarse_x.shape[1] - 1):
            j0, j1 = 2 * j - 1, min(2 * j, cx.shape[1] - 2)
            highest = 1
            for k in range(1, coarse_x.shape[2] - 1):
                k0, k1 = 2 * k - 1, min(2 * k, cx.shape[2] - 2)
                tx = ty = tz = np.float32(0.0)
                d = np.float32(0.0)
                for fi in range(i0, i1 + 1):
                    for fj in range(j0, j1 + 1):
                        for fk in range(k0, k1 + 1):
                            d += diagonal[fi, fj, fk]
                            if fi == i0:
                                tx += cx[fi, fj, fk]
                            else:
                                d -= np.float32(2.0) * cx[fi, fj, fk]
                            if fj == j0:
                                ty += cy[fi, fj, fk]
                            else:
                                d -= np.float32(2.0) * cy[fi, fj, fk]
                            if fk == k0:
                                tz += cz[fi, fj, fk]
                            else:
                                d -= np.float32(2.0) * cz[fi, fj, fk]
                coarse_x[i, j, k] = half * tx
                coarse_y[i, j, k] = half * ty
                coarse_z[i, j, k] = half * tz
                # rounding must not leave a speck of diagonal where a whole coarse cell stands alone
                coarse_diagonal[i, j, k] = half * d if d > np.float32(1e-4) else np.float32(0.0)
                if d > np.float32(1e-4):
                    highest = k + 1
            coarse_top[i, j] = highest


_coarsen = njit(cache=True, parallel=True)(_coarsen_py)
_coarsen_serial = njit(cache=True)(_coarsen_py)


@njit(cache=True, parallel=True)
def _apply(cx, cy, cz, diagonal, top, x, y, partial):
    """y = A x; leaves x.y per slab in `partial` (a sum here would be split among threads)."""
    for ii in prange(1, x.shape[0] - 1):
        i = np.int64(ii)
        total = 0.0
        for j in range(1, x.shape[1] - 1):
            for k in range(1, top[i, j]):
                a = (
                    diagonal[i, j, k] * x[i, j, k]
                    - cx[i, j, k] * x[i - 1, j, k]
                    - cx[i + 1, j, k] * x[i + 1, j, k]
                    - cy[i, j, k] * x[i, j - 1, k]
                    - cy[i, j + 1, k] * x[i, j + 1, k]
                    - cz[i, j, k] * x[i, j, k - 1]
                    - cz[i, j, k + 1] * x[i, j, k + 1]
                )
                y[i, j, k] = a
                total += a * x[i, j, k]
        partial[i] = total


@njit(cache=True, parallel=True)
def _dot(a, b, top, partial):
    for ii in prange(1, a.shape[0] - 1):
        i = np.int64(ii)
        total = 0.0
        for j in range(1, a.shape[1] - 1):
            for k in range(1, top[i, j]):
                total += a[i, j, k] * b[i, j, k]
        partial[i] = total


@njit(cache=True, parallel=True)
def _direction(p, z, beta, top):
    for ii in prange(1, p.shape[0] - 1):
        i = np.int64(ii)
        for j in range(1, p.shape[1] - 1):
            for k in range(1, top[i, j]):
                p[i, j, k] = z[i, j, k] + beta * p[i, j, k]


@njit(cache=True, parallel=True)
def _advance(x, r, p, y, alpha, top, partial):
    """x += alpha p, r -= alpha y; leaves max |r| per slab in `partial`."""
    for ii in prange(1, x.shape[0] - 1):
        i = np.int64(ii)
        worst = 0.0
        for j in range(1, x.shape[1] - 1):
            for k in range(1, top[i, j]):
                x[i, j, k] += alpha * p[i, j, k]
                r[i, j, k] -= alpha * y[i, j, k]
                worst = max(worst, abs(r[i, j, k]))
        partial[i] = worst
