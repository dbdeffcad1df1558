"""Conjugate gradients on a matrix of 3×3 blocks, preconditioned by its diagonal blocks or by multigrid.

Truncated as Newton's method wants it: it stops at a loose tolerance, and on a direction of negative curvature it keeps
what it has (Nocedal and Wright 2006, algorithm 7.1). Sums run over fixed chunks of rows, so the result does not
depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.multigrid import Multigrid
from vitruvian.flesh.pairs import Pairs, couple

ROWS = 512  # rows per chunk


@njit(cache=True, parallel=True)
def conjugate_gradients(start, column, data, inverse, b, x, relative, most, nodes, weights, direction, stiffness):
    """Solve A x = b from x = 0; returns (iterations, whether negative curvature was met).

    start, column, data: block rows, data (n_blocks, 9); inverse: preconditioner blocks (n, 3, 3), zero where a
    component is held fixed; b, x: (n, 3); nodes, weights, direction, stiffness: of `Pairs` whose two sides the matrix
    does not couple.
    """
    n = len(b)
    zero = data.dtype.type(0.0)
    chunks = (n + ROWS - 1) // ROWS
    partial = np.zeros(chunks)
    partial2 = np.zeros(chunks)
    r = np.empty((n, 3))
    z = np.empty((n, 3))
    p = np.empty((n, 3))
    ap = np.empty((n, 3))
    low = np.empty((n, 3), data.dtype)  # p as the matrix has it: no conversion block by block
    for chunk in prange(chunks):
        total, total2 = 0.0, 0.0
        for i in range(chunk * ROWS, min(chunk * ROWS + ROWS, n)):
            for k in range(3):
                x[i, k] = 0.0
                r[i, k] = b[i, k]
            for k in range(3):
                z[i, k] = inverse[i, k, 0] * r[i, 0] + inverse[i, k, 1] * r[i, 1] + inverse[i, k, 2] * r[i, 2]
                p[i, k] = z[i, k]
                low[i, k] = z[i, k]
                total += z[i, k] * r[i, k]
            total2 += r[i, 0] ** 2 + r[i, 1] ** 2 + r[i, 2] ** 2
        partial[chunk] = total
        partial2[chunk] = total2
    rz, rr = total_of(partial), total_of(partial2)
    goal = relative * relative * rr
    done = 0
    while done < most and rr > goal and rz > 0.0:
        for chunk in prange(chunks):
            total = 0.0
            for i in range(chunk * ROWS, min(chunk * ROWS + ROWS, n)):
                s0, s1, s2 = zero, zero, zero
                for e in range(start[i], start[i + 1]):
                    j = column[e]
                    p0, p1, p2 = low[j, 0], low[j, 1], low[j, 2]
                    s0 += data[e, 0] * p0 + data[e, 1] * p1 + data[e, 2] * p2
                    s1 += data[e, 3] * p0 + data[e, 4] * p1 + data[e, 5] * p2
                    s2 += data[e, 6] * p0 + data[e, 7] * p1 + data[e, 8] * p2
                ap[i, 0], ap[i, 1], ap[i, 2] = s0, s1, s2
                total += p[i, 0] * s0 + p[i, 1] * s1 + p[i, 2] * s2
            partial[chunk] = total
        curvature = total_of(partial) + couple(nodes, weights, direction, stiffness, p, ap)
        if curvature <= 0.0:
            if done == 0:
                for i in range(n):
                    for k in range(3):
                        x[i, k] = z[i, k]
            return done, True
        alpha = rz / curvature
        for chunk in prange(chunks):
            total, total2 = 0.0, 0.0
            for i in range(chunk * ROWS, min(chunk * ROWS + ROWS, n)):
                for k in range(3):
                    x[i, k] += alpha * p[i, k]
                    r[i, k] -= alpha * ap[i, k]
                free = 0.0
                for k in range(3):
                    z[i, k] = inverse[i, k, 0] * r[i, 0] + inverse[i, k, 1] * r[i, 1] + inverse[i, k, 2] * r[i, 2]
                    total += z[i, k] * r[i, k]
                    if inverse[i, k, k] != 0.0:
                        free += r[i, k] ** 2
                total2 += free
            partial[chunk] = total
            partial2[chunk] = total2
        before = rz
        rz, rr = total_of(partial), total_of(partial2)
        beta = rz / before
        for chunk in prange(chunks):
            for i in range(chunk * ROWS, min(chunk * ROWS + ROWS, n)):
                for k in range(3):
                    p[i, k] = z[i, k] + beta * p[i, k]
                    low[i, k] = p[i, k]
        done += 1
    return done, False


@njit(cache=True)
def total_of(partial):
    """The sum in the order of the chunks: `partial.sum()` within a parallel kernel would be shared among threads."""
    total = 0.0
    for chunk in range(len(partial)):
        total += partial[chunk]
    return total


def multigrid_gradients(
    start: np.ndarray,
    column: np.ndarray,
    data: np.ndarray,
    multigrid: Multigrid,
    b: np.ndarray,
    x: np.ndarray,
    relative: float,
    most: int,
    pairs: Pairs,
) -> tuple[int, bool]:
    """The same as `conjugate_gradients`, preconditioned by one V-cycle that `Multigrid.update` has prepared."""
    x[:] = 0.0
    r, z, ap = b.copy(), np.empty_like(b), np.empty_like(b)
    multigrid.apply(r, z)
    p = z.copy()
    rz, goal = float(np.sum(r * z)), (relative * float(np.sqrt(np.sum(r * r)))) ** 2
    for done in range(most):
        if float(np.sum(r * r)) <= goal or not rz > 0.0:
            return done, False
        multiply(start, column, data, p, ap)
        couple(pairs.nodes, pairs.weights, pairs.direction, pairs.stiffness, p, ap)
        curvature = float(np.sum(p * ap))
        if curvature <= 0.0:
            if done == 0:
                x[:] = z
            return done, True
        alpha = rz / curvature
        x += alpha * p
        r -= alpha * ap
        r[multigrid.fixed] = 0.0
        multigrid.apply(r, z)
        before, rz = rz, float(np.sum(r * z))
        p *= rz / before
        p += z
    return most, False


@njit(cache=True, parallel=True)
def multiply(start, column, data, p, out):
    """out = A p for block rows; p, out: (n, 3)."""
    for i in prange(len(p)):
        s0, s1, s2 = 0.0, 0.0, 0.0
        for e in range(start[i], start[i + 1]):
            j = column[e]
            s0 += data[e, 0] * p[j, 0] + data[e, 1] * p[j, 1] + data[e, 2] * p[j, 2]
            s1 += data[e, 3] * p[j, 0] + data[e, 4] * p[j, 1] + data[e, 5] * p[j, 2]
            s2 += data[e, 6] * p[j, 0] + data[e, 7] * p[j, 1] + data[e, 8] * p[j, 2]
        out[i, 0], out[i, 1], out[i, 2] = s0, s1, s2


@njit(cache=True, parallel=True)
def inverse_diagonal(data, diagonal, fixed, out):
    """Inverse 3×3 diagonal blocks into out (n, 3, 3); rows and columns of fixed components are zero.

    A block that is not positive definite is replaced by its positive diagonal, so that the preconditioner stays
    definite.
    """
    for i in prange(len(diagonal)):
        d = data[diagonal[i]]
        a, b, c, e, f, g = (
            float(d[0]),
            0.5 * (d[1] + d[3]),
            0.5 * (d[2] + d[6]),
            float(d[4]),
            0.5 * (d[5] + d[7]),
            float(d[8]),
        )
        if fixed[i, 0]:
            a, b, c = 1.0, 0.0, 0.0
        if fixed[i, 1]:
            b, e, f = 0.0, 1.0, 0.0
        if fixed[i, 2]:
            c, f, g = 0.0, 0.0, 1.0
        minor = a * e - b * b
        m0, m1, m2 = e * g - f * f, c * f - b * g, b * f - c * e
        det = a * m0 + b * m1 + c * m2
        out[i, :, :] = 0.0
        if a > 0.0 and minor > 0.0 and det > 0.0:
            out[i, 0, 0] = m0 / det
            out[i, 0, 1] = m1 / det
            out[i, 0, 2] = m2 / det
            out[i, 1, 1] = (a * g - c * c) / det
            out[i, 1, 2] = (b * c - a * f) / det
            out[i, 2, 2] = minor / det
            out[i, 1, 0], out[i, 2, 0], out[i, 2, 1] = out[i, 0, 1], out[i, 0, 2], out[i, 1, 2]
        else:
            size = max(abs(a), abs(e), abs(g), 1e-300)
            out[i, 0, 0] = 1.0 / (a if a > 0.01 * size else size)
            out[i, 1, 1] = 1.0 / (e if e > 0.01 * size else size)
            out[i, 2, 2] = 1.0 / (g if g > 0.01 * size else size)
        for k in range(3):
            if fixed[i, k]:
                for l in range(3):
                    out[i, k, l] = 0.0
                    out[i, l, k] = 0.0
