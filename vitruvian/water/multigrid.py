"""The pressure equation on a MAC grid: its matrix, its multigrid hierarchy, and its solution by conjugate gradients.

The matrix is kept as arrays, so that every stencil is free of branches: `cx[i]` couples cells i - 1 and i, `diagonal`
holds the sum of the couplings and what air neighbours add, and cells that take no part have zeros everywhere. All
arrays are padded by one cell on each side.

    (A P)_c = diagonal_c P_c - sum_n c_n P_n

Coarse matrices are half the Galerkin product of piecewise-constant transfer, which keeps partly open faces and the
free surface without any decision about which coarse cell is air (McAdams, Sifakis and Teran 2010 treat them
geometrically). A column of cells ends at its highest wet cell. Conjugate gradients work in float32 (`gradients`,
`cycle`) and are begun anew from the residual in float64 until that is small enough: iterative refinement, which costs
one or two iterations more, each a third as long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from vitruvian.water.cycle import SMALL
from vitruvian.water.gradients import couple, gradients, remove_means
from vitruvian.water.split import Split, add_couplings

Array = np.ndarray
FINEST_ROUND = 1e-4  # reduction of the residual that one round in float32 can be trusted with
SLACK = 0.7  # part of the wanted residual at which a round ends, since float64 may find a little more
MOST_ROUNDS = 40


@dataclass
class System:
    """Matrix of the pressure equation; arrays have shape (nx + 2, ny + 2, nz + 2)."""

    cx: Array
    cy: Array
    cz: Array
    diagonal: Array
    top: Array  # one past the highest padded k that takes part, per column; shape (nx + 2, ny + 2)
    wrapped: tuple[int, ...] = ()  # axes along which the first cell follows the last; c[1] couples the two


@dataclass
class Coupling:
    """A further part G S G^T of the matrix: bodies that move with the pressure."""

    cells: Array  # padded indices of the cells beside bodies, one row per (cell, link), shape (n, 3)
    link: Array  # shape (n,)
    rows: Array  # g_c, shape (n, 6)
    mobility: Array  # S, already times rho h^3, shape (6 links, 6 links)


@dataclass
class Hierarchy:
    """Levels in the layout of `cycle`, float32, one behind the other in each buffer."""

    cx: Array
    cy: Array
    cz: Array
    diagonal: Array
    inverse: Array  # 1 / diagonal, 0 where a cell takes no part
    odd: Array  # 1 for rows whose cells are shifted, for even and odd planes, shape (2, plane) for each level
    shape: Array  # ny + 2, nz + 2, cells of one colour in a row, one past the highest wet plane, nx; (levels, 5)
    offset: Array  # where each level begins, shape (levels + 1,)
    odd_offset: Array


def build_hierarchy(system: System) -> Hierarchy:
    """Levels from the given matrix down to a few cells; an axis that is down to one cell stays so, the others go on."""
    sizes = [np.array(system.cx.shape) - 2]
    while sizes[-1].max() >= 4:
        sizes.append((sizes[-1] + 1) // 2)
    shape = np.array([[n[1] + 2, n[2] + 2, (n[0] + 4) // 2 + 1, n[2] + 1, n[0]] for n in sizes], np.int64)
    offset = np.concatenate([[0], np.cumsum(2 * shape[:, 0] * shape[:, 1] * shape[:, 2])])
    rows = [np.tile(np.repeat(np.arange(s[0]) % 2, s[2]), 2) for s in shape]
    odd = np.concatenate([np.where(np.arange(len(r)) < len(r) // 2, r, 1 - r) for r in rows]).astype(np.float32)
    odd_offset = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    cx, cy, cz, diagonal, inverse = (np.zeros(offset[-1], np.float32) for _ in range(5))
    out = Hierarchy(cx, cy, cz, diagonal, inverse, odd, shape, offset, odd_offset)
    fine: tuple[Array, ...] = (system.cx, system.cy, system.cz, system.diagonal)
    wet = int(system.top.max())
    for n in range(len(shape)):
        if n:
            coarse = tuple(np.zeros(tuple(sizes[n] + 2), np.float32) for _ in range(4))
            (_coarsen if fine[0].size > SMALL else _coarsen_serial)(*fine, *coarse)
            fine = coarse
            join_ends(System(coarse[0], coarse[1], coarse[2], coarse[3], system.top, system.wrapped))
            wet = min(wet // 2 + 1, int(shape[n, 3]))
        shape[n, 3] = wet
        split = [_level(a, out, n) for a in (cx, cy, cz, diagonal, inverse)]
        sort = _sort_colours if fine[0].size > SMALL else _sort_colours_serial
        sort(fine[0], fine[1], fine[2], fine[3], wet, split[0], split[1], split[2], split[3], split[4])
    return out


def solve(
    system: System,
    right: Array,
    x: Array,
    *,
    tolerance: float,
    limit: int = 200,
    coupling: Coupling | None = None,
    pockets: Array | None = None,
    split: Split | None = None,
) -> tuple[int, float]:
    """Solve A x = right in place from the guess in x; returns iterations and the residual relative to max |right|.

    `pockets` numbers the cells of regions that no air touches (0 elsewhere): pressure is free up to a constant there,
    so their mean is removed. `split`: further pieces of cells, in the padding of right and x.
    """
    scale = max(float(right.max()), -float(right.min()))
    if scale == 0.0:
        x[:] = 0.0
        return 0, 0.0
    h = build_hierarchy(system)
    s = system
    half = int(h.shape[0, 2])
    z, b = np.zeros(h.offset[-1], np.float32), np.zeros(h.offset[-1], np.float32)
    d, p, y = (np.zeros(h.offset[1], np.float32) for _ in range(3))
    wet = int(h.shape[0, 3])
    r = np.zeros_like(x)
    partial = np.zeros(x.shape[0])
    plain, coupled, link, rows, mobility = _coupled_cells(coupling, x.shape, half)
    pocket_plain, pocket_split, pocket = _pocket_cells(pockets, x.shape, half)
    pieces = _pieces(split, x.shape, half)
    slot = np.zeros(0, np.int64) if split is None else split.slot[split.slot >= 0]
    ring = np.array([0 in s.wrapped, 1 in s.wrapped])
    done = 0
    worst = before = np.inf
    for _ in range(MOST_ROUNDS):
        # what moving bodies add is put on the right-hand side for the while
        flat = right.reshape(-1)
        saved = flat[plain]
        couple(x.reshape(-1), flat, plain, link, rows, -mobility)
        _fill_ends(x, s.wrapped)
        (_residual if x.size > SMALL else _residual_serial)(s.cx, s.cy, s.cz, s.diagonal, s.top, x, right, r, partial)
        worst = float(partial.max())
        if split is not None:
            r.reshape(-1)[slot] = flat[slot]
            add_couplings(x.reshape(-1), r.reshape(-1), split.one, split.two, -split.amount)
            worst = float(np.abs(r).max())
        flat[plain] = saved
        if len(pocket):
            remove_means(r.reshape(-1), pocket_plain, pocket)
            worst = float(np.abs(r).max())
        if not np.isfinite(worst) or worst <= tolerance * scale or done >= limit or worst > 0.5 * before:
            break
        before = worst
        wanted = tolerance * scale / worst
        goal = SLACK * wanted if wanted > FINEST_ROUND else max(FINEST_ROUND, SLACK * np.sqrt(wanted))
        p[:] = d[:] = 0.0
        (_split if x.size > SMALL else _split_serial)(r, 1.0 / worst, wet, _level(b, h, 0))
        b[pieces[0]] = r.reshape(-1)[slot] / worst
        turns = gradients(
            h.cx, h.cy, h.cz, h.inverse, h.diagonal, z, b, h.odd, h.offset, h.shape, h.odd_offset, d, p, y,
            goal, limit - done, coupled, link, rows, mobility, pocket_split, pocket, *(*pieces, ring),
        )  # fmt: skip
        if turns < 0:
            return done, float("nan")
        done += turns
        (_add if x.size > SMALL else _add_serial)(x, worst, wet, _level(d, h, 0))
        x.reshape(-1)[slot] += worst * d[pieces[0]]
    return done, worst / scale


def join_ends(system: System) -> None:
    """Along periodic axes the coupling of the last cell with the first is known beyond the last as well, in place. A
    single cell is its own neighbour, which its diagonal does without.
    """
    for axis in system.wrapped:
        c = np.moveaxis((system.cx, system.cy)[axis], axis, 0)
        if len(c) == 3:
            np.moveaxis(system.diagonal, axis, 0)[1] -= 2.0 * c[1]
            c[1] = 0.0
        c[-1] = c[1]


def _fill_ends(x: Array, wrapped: tuple[int, ...]) -> None:
    """Padding of periodic axes takes the values of the other end, in place."""
    for axis in wrapped:
        line = np.moveaxis(x, axis, 0)
        line[0], line[-1] = line[-2], line[1]


def _level(buffer: Array, h: Hierarchy, n: int) -> Array:
    """One level as (2, planes, rows, half)."""
    rows, planes, half = (int(v) for v in h.shape[n, :3])
    return buffer[h.offset[n] : h.offset[n + 1]].reshape(2, planes, rows, half)


def _split_index(cells: tuple[Array, ...], shape: tuple[int, ...], half: int) -> Array:
    """Place of padded cells in a flat array of the layout of `cycle`."""
    i, j, k = (c.astype(np.int64) for c in cells)
    return (((i + j + k) % 2 * shape[2] + k) * shape[1] + j) * half + i // 2


def _coupled_cells(coupling: Coupling | None, shape: tuple[int, ...], half: int) -> tuple[Array, ...]:
    """Flat places of the coupled cells in both layouts, and only those links that have any."""
    if coupling is None or not len(coupling.cells):
        none = np.zeros(0, np.int64)
        return none, none, none, np.zeros((0, 6)), np.zeros((0, 0))
    cells = tuple(coupling.cells.T)
    used, link = np.unique(coupling.link, return_inverse=True)
    at = (6 * used[:, None] + np.arange(6)).ravel()
    mobility = np.ascontiguousarray(coupling.mobility[np.ix_(at, at)])
    plain = np.ravel_multi_index(cells, shape).astype(np.int64)
    return plain, _split_index(cells, shape, half), link.astype(np.int64), np.ascontiguousarray(coupling.rows), mobility


def _pieces(split: Split | None, shape: tuple[int, ...], half: int) -> tuple[Array, ...]:
    """What `gradients` is told of further pieces, in the layout of `cycle`."""
    none = np.zeros(0, np.int64)
    if split is None:
        return none, none, none, none, np.zeros(0), none, np.zeros(1, np.int64), none, *(np.zeros(0) for _ in range(3))

    def at(places: Array) -> Array:
        found = _split_index(np.unravel_index(np.maximum(places, 0), shape), shape, half)
        return np.where(places >= 0, found, -1)

    s = split
    active = s.slot >= 0
    return (
        at(s.slot[active]), at(s.joined[active]), at(s.one), at(s.two), s.amount,
        at(s.near), s.near_start, at(s.near_place), s.near_amount, s.near_diagonal,
        np.where(s.near_diagonal > 0.0, 1.0 / np.maximum(s.near_diagonal, 1e-300), 0.0),
    )  # fmt: skip


def _pocket_cells(pockets: Array | None, shape: tuple[int, ...], half: int) -> tuple[Array, Array, Array]:
    if pockets is None:
        none = np.zeros(0, np.int64)
        return none, none, none
    plain = np.flatnonzero(pockets)
    return plain, _split_index(np.unravel_index(plain, shape), shape, half), pockets.ravel()[plain] - 1


# --- kernels -------------------------------------------------------------------------------------------------------


def _sort_colours_py(cx, cy, cz, diagonal, wet, out_x, out_y, out_z, out_diagonal, inverse):
    for jj in prange(cx.shape[1]):
        j = np.int64(jj)
        for i in range(cx.shape[0]):
            m = i // 2
            for k in range(wet + 1):
                colour = (i + j + k) % 2
                out_x[colour, k, j, m] = cx[i, j, k]
                out_y[colour, k, j, m] = cy[i, j, k]
                out_z[colour, k, j, m] = cz[i, j, k]
                d = np.float32(diagonal[i, j, k])
                out_diagonal[colour, k, j, m] = d
                inverse[colour, k, j, m] = np.float32(1.0) / d if d > np.float32(0.0) else np.float32(0.0)


def _split_py(r, factor, wet, out):
    for jj in prange(1, r.shape[1] - 1):
        j = np.int64(jj)
        for i in range(1, r.shape[0] - 1):
            for k in range(1, wet):
                out[(i + j + k) % 2, k, j, i // 2] = r[i, j, k] * factor


def _add_py(x, factor, wet, d):
    for jj in prange(1, x.shape[1] - 1):
        j = np.int64(jj)
        for i in range(1, x.shape[0] - 1):
            for k in range(1, wet):
                x[i, j, k] += factor * d[(i + j + k) % 2, k, j, i // 2]


def _residual_py(cx, cy, cz, diagonal, top, x, right, r, partial):
    """r = right - A x in float64; leaves max |r| per plane in `partial`."""
    for ii in prange(1, x.shape[0] - 1):
        i = np.int64(ii)
        worst = 0.0
        for j in range(1, x.shape[1] - 1):
            for k in range(1, top[i, j]):
                a = (
                    right[i, j, k]
                    - diagonal[i, j, k] * x[i, j, k]
                    + cx[i, j, k] * x[i - 1, j, k]
                    + cx[i + 1, j, k] * x[i + 1, j, k]
                    + cy[i, j, k] * x[i, j - 1, k]
                    + cy[i, j + 1, k] * x[i, j + 1, k]
                    + cz[i, j, k] * x[i, j, k - 1]
                    + cz[i, j, k + 1] * x[i, j, k + 1]
                )
                r[i, j, k] = a
                worst = max(worst, abs(a))
        partial[i] = worst


def _coarsen_py(cx, cy, cz, diagonal, coarse_x, coarse_y, coarse_z, coarse_diagonal):
    half = np.float32(0.5)
    for ii in prange(1, coarse_x.shape[0] - 1):
        i = np.int64(ii)
        i0, i1 = 2 * i - 1, min(2 * i, cx.shape[0] - 2)
        for j in range(1, coarse_x.shape[1] - 1):
            j0, j1 = 2 * j - 1, min(2 * j, cx.shape[1] - 2)
            for k in range(1, coarse_x.shape[2] - 1):
                k0, k1 = 2 * k - 1, min(2 * k, cx.shape[2] - 2)
                tx = ty = tz = np.float32(0.0)
                d = np.float32(0.0)
                for fi in range(i0, i1 + 1):
                    for fj in range(j0, j1 + 1):
                        for fk in range(k0, k1 + 1):
                            d += np.float32(diagonal[fi, fj, fk])
                            if fi == i0:
                                tx += np.float32(cx[fi, fj, fk])
                            else:
                                d -= np.float32(2.0) * np.float32(cx[fi, fj, fk])
                            if fj == j0:
                                ty += np.float32(cy[fi, fj, fk])
                            else:
                                d -= np.float32(2.0) * np.float32(cy[fi, fj, fk])
                            if fk == k0:
                                tz += np.float32(cz[fi, fj, fk])
                            else:
                                d -= np.float32(2.0) * np.float32(cz[fi, fj, fk])
                coarse_x[i, j, k] = half * tx
                coarse_y[i, j, k] = half * ty
                coarse_z[i, j, k] = half * tz
                # rounding must not leave a speck of diagonal where a whole coarse cell stands alone
                coarse_diagonal[i, j, k] = half * d if d > np.float32(1e-4) else np.float32(0.0)


_sort_colours = njit(cache=True, parallel=True)(_sort_colours_py)
_sort_colours_serial = njit(cache=True)(_sort_colours_py)
_split = njit(cache=True, parallel=True)(_split_py)
_split_serial = njit(cache=True)(_split_py)
_add = njit(cache=True, parallel=True)(_add_py)
_add_serial = njit(cache=True)(_add_py)
_residual = njit(cache=True, parallel=True)(_residual_py)
_residual_serial = njit(cache=True)(_residual_py)
_coarsen = njit(cache=True, parallel=True)(_coarsen_py)
_coarsen_serial = njit(cache=True)(_coarsen_py)
