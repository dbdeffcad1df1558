"""A small projection in the first layer of air, which removes the divergence of the extended velocity there.

Only cells that may hold some water take part, about one in forty, so they are kept as a list: with d_c the number of
unknown faces of cell c plus a softness, which keeps pockets without an outlet solvable,

    d_c x_c - sum_n x_n = - div(u)_c,        u_f -= x_right - x_left        (x = 0 in air beyond the layer)

The layer is a cell thick and open on one side, so conjugate gradients scaled by the diagonal need about ten turns.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

SOFTNESS = 1e-2
TOLERANCE = 1e-2  # of the divergence left, relative to the largest before
MOST_TURNS = 60
Array = np.ndarray
Flow = tuple[Array, Array, Array]


def remove_divergence(phi: Array, reach: float, known: Flow, flow: Flow, wrapped: tuple[int, ...] = ()) -> None:
    """Change the faces of `flow` that are not known (marked 1) beside cells with 0 <= phi < reach [m], in place.
    wrapped: periodic axes.

    Air squeezed out of a closing pocket is held to the fastest face of the cells that it passes between.
    """
    cells = _cells_of_air(phi, reach)
    if len(cells):
        number = np.full(phi.shape, -1, np.int32)
        _solve_air(cells, number, *known, *(*flow, 0 in wrapped, 1 in wrapped))


def _cells_of_air(phi: Array, reach: float) -> Array:
    """Indices of the cells in order, shape (n, 3)."""
    count = np.zeros(phi.shape[0], np.int64)
    found = np.empty((phi.shape[0], phi.shape[1] * phi.shape[2]), np.int32)
    _scan_air(phi, reach, count, found)
    return _listed(phi.shape[2], count, found)


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, parallel=True)
def _scan_air(phi, reach, count, found):
    for ii in prange(phi.shape[0]):
        i = np.int64(ii)
        n = 0
        for j in range(phi.shape[1]):
            for k in range(phi.shape[2]):
                if 0.0 <= phi[i, j, k] < reach:
                    found[i, n] = j * phi.shape[2] + k
                    n += 1
        count[i] = n


@njit(cache=True)
def _listed(nz, count, found):
    cells = np.empty((count.sum(), 3), np.int64)
    n = 0
    for i in range(len(count)):
        for m in range(count[i]):
            cells[n, 0], cells[n, 1], cells[n, 2] = i, found[i, m] // nz, found[i, m] % nz
            n += 1
    return cells


@njit(cache=True)
def _solve_air(cells, number, kx, ky, kz, u, v, w, ring_x, ring_y):
    nx, ny, nz = number.shape
    n = cells.shape[0]
    for c in range(n):
        number[cells[c, 0], cells[c, 1], cells[c, 2]] = c
    beside = np.full((n, 6), n, np.int32)  # cells across unknown faces; n stands for air beyond the layer, where x is 0
    diagonal = np.empty(n)
    right = np.empty(n)
    fastest = np.zeros(n + 1)  # of the faces of each cell
    for c in range(n):
        i, j, k = cells[c, 0], cells[c, 1], cells[c, 2]
        faces = 0
        for s in range(2):
            if kx[i + s, j, k] != 1:
                faces += 1
                a = (i + 2 * s - 1) % nx if ring_x else i + 2 * s - 1
                if 0 <= a < nx and number[a, j, k] >= 0:
                    beside[c, s] = number[a, j, k]
            if ky[i, j + s, k] != 1:
                faces += 1
                a = (j + 2 * s - 1) % ny if ring_y else j + 2 * s - 1
                if 0 <= a < ny and number[i, a, k] >= 0:
                    beside[c, 2 + s] = number[i, a, k]
            if kz[i, j, k + s] != 1:
                faces += 1
                if 0 <= k + 2 * s - 1 < nz and number[i, j, k + 2 * s - 1] >= 0:
                    beside[c, 4 + s] = number[i, j, k + 2 * s - 1]
        diagonal[c] = faces + SOFTNESS if faces > 0 else 0.0
        out = u[i, j, k] - u[i + 1, j, k] + v[i, j, k] - v[i, j + 1, k] + w[i, j, k] - w[i, j, k + 1]
        right[c] = out if faces > 0 else 0.0
        fastest[c] = max(
            max(max(abs(u[i, j, k]), abs(u[i + 1, j, k])), max(abs(v[i, j, k]), abs(v[i, j + 1, k]))),
            max(abs(w[i, j, k]), abs(w[i, j, k + 1])),
        )
    x = _gradients(beside, diagonal, right)
    for c in range(n):
        i, j, k = cells[c, 0], cells[c, 1], cells[c, 2]
        if diagonal[c] == 0.0:
            continue
        # each face once: the lower ones of every cell, the upper ones where no cell of the list comes next
        for s in range(2):
            sign = 1.0 - 2.0 * s
            if kx[i + s, j, k] != 1 and (s == 0 or beside[c, 1] == n):
                value = u[i + s, j, k] - sign * (x[c] - x[beside[c, s]])
                most = max(fastest[c], fastest[beside[c, s]])
                u[i + s, j, k] = min(max(value, -most), most)
                if ring_x and (i + s) % nx == 0:
                    u[0, j, k] = u[nx, j, k] = u[i + s, j, k]
            if ky[i, j + s, k] != 1 and (s == 0 or beside[c, 3] == n):
                value = v[i, j + s, k] - sign * (x[c] - x[beside[c, 2 + s]])
                most = max(fastest[c], fastest[beside[c, 2 + s]])
                v[i, j + s, k] = min(max(value, -most), most)
                if ring_y and (j + s) % ny == 0:
                    v[i, 0, k] = v[i, ny, k] = v[i, j + s, k]
            if kz[i, j, k + s] != 1 and (s == 0 or beside[c, 5] == n):
                value = w[i, j, k + s] - sign * (x[c] - x[beside[c, 4 + s]])
                most = max(fastest[c], fastest[beside[c, 4 + s]])
                w[i, j, k + s] = min(max(value, -most), most)


@njit(cache=True)
def _gradients(beside, diagonal, right):
    """Conjugate gradients scaled by the diagonal; the last entry of x stays 0."""
    n = len(diagonal)
    x = np.zeros(n + 1)
    p = np.zeros(n + 1)
    y = np.empty(n)
    r = right.copy()
    goal = 0.0
    for c in range(n):
        goal = max(goal, abs(r[c]))
    goal *= TOLERANCE
    old = 1.0
    for turn in range(MOST_TURNS):
        worst = 0.0
        new = 0.0
        for c in range(n):
            worst = max(worst, abs(r[c]))
            if diagonal[c] > 0.0:
                new += r[c] * r[c] / diagonal[c]
        if worst <= goal:
            break
        beta = new / old if turn else 0.0
        for c in range(n):
            p[c] = beta * p[c] + (r[c] / diagonal[c] if diagonal[c] > 0.0 else 0.0)
        curvature = 0.0
        for c in range(n):
            total = diagonal[c] * p[c]
            for s in range(6):
                total -= p[beside[c, s]]
            y[c] = total
            curvature += total * p[c]
        if curvature <= 0.0:
            break
        alpha = new / curvature
        for c in range(n):
            x[c] += alpha * p[c]
            r[c] -= alpha * y[c]
        old = new
    return x
