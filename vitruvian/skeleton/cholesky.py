"""Cholesky factorisation of small symmetric systems (10 to 300 unknowns) on one thread.

The implicit step of a body and the activation solve each factor one such matrix per step. A library call would go
through a threaded BLAS, which is slower at this size and may change the last bits with the number of threads; this
one does neither. Right-looking, four columns at a time: L L^T = A. Rows that do not touch the four columns are skipped,
as rows and as columns of what is taken away, so that a matrix ordered leaves-first (limbs before trunk) pays only for
what couples. Four rows side by side share what is read of the four columns.
"""

from __future__ import annotations

import numba as nb
import numpy as np

Array = np.ndarray


@nb.njit(cache=True, fastmath={"contract"})
def cholesky(A: Array) -> int:
    """Overwrite the lower triangle of A with its factor L; return -1, or the first row that is not positive."""
    n = A.shape[0]
    panel = np.empty((4, n))  # the four columns, as rows
    rows = np.empty(n, np.int64)  # that touch them
    runs = np.empty((n, 2), np.int64)  # first and end of each stretch of such rows
    k = 0
    while k + 4 <= n:
        bad = _factor(A, k, k + 4, k + 4)
        if bad >= 0:
            return bad
        count, n_runs = _panel(A, k, panel, rows, runs)
        e = 0
        while e < count:
            i = rows[e]
            if e + 4 <= count and rows[e + 3] == i + 3:
                _take_four(A, i, panel, runs, n_runs)
                e += 4
            else:
                _take_one(A[i], i, panel, runs, n_runs)
                e += 1
        k += 4
    return _factor(A, k, n, n)


@nb.njit(cache=True, fastmath={"contract"})
def _factor(A: Array, first: int, end: int, rows: int) -> int:
    """Columns first to end of the factor, down to row `rows`, plainly; -1, or the first row that is not positive."""
    for c in range(first, end):
        for j in range(first, c):
            A[c, c] -= A[c, j] * A[c, j]
        if not A[c, c] > 0.0:
            return c
        A[c, c] = np.sqrt(A[c, c])
        inverse = 1.0 / A[c, c]
        for i in range(c + 1, rows):
            s = A[i, c]
            for j in range(first, c):
                s -= A[i, j] * A[c, j]
            A[i, c] = s * inverse
    return -1


@nb.njit(cache=True, fastmath={"contract"})
def _panel(A: Array, k: int, panel: Array, rows: Array, runs: Array) -> tuple[int, int]:
    """Four columns of the factor below their own four rows; returns how many rows they touch, in how many stretches."""
    l10, l20, l21 = A[k + 1, k], A[k + 2, k], A[k + 2, k + 1]
    l30, l31, l32 = A[k + 3, k], A[k + 3, k + 1], A[k + 3, k + 2]
    i0, i1, i2, i3 = 1.0 / A[k, k], 1.0 / A[k + 1, k + 1], 1.0 / A[k + 2, k + 2], 1.0 / A[k + 3, k + 3]
    count, n_runs, last = 0, 0, -2
    for i in range(k + 4, A.shape[0]):
        row = A[i]
        a, b, c, d = row[k], row[k + 1], row[k + 2], row[k + 3]
        if a == 0.0 and b == 0.0 and c == 0.0 and d == 0.0:
            continue
        a *= i0
        b = (b - a * l10) * i1
        c = (c - a * l20 - b * l21) * i2
        d = (d - a * l30 - b * l31 - c * l32) * i3
        row[k], row[k + 1], row[k + 2], row[k + 3] = a, b, c, d
        panel[0, i], panel[1, i], panel[2, i], panel[3, i] = a, b, c, d
        rows[count] = i
        count += 1
        if i != last + 1:
            runs[n_runs, 0] = i
            n_runs += 1
        runs[n_runs - 1, 1] = i + 1
        last = i
    return count, n_runs


@nb.njit(cache=True, fastmath={"contract"})
def _take_one(row: Array, i: int, panel: Array, runs: Array, n_runs: int) -> None:
    """Row i of the lower triangle less its share of the four columns."""
    a, b, c, d = panel[0, i], panel[1, i], panel[2, i], panel[3, i]
    for r in range(n_runs):
        for j in range(runs[r, 0], min(runs[r, 1], i + 1)):
            row[j] -= a * panel[0, j] + b * panel[1, j] + c * panel[2, j] + d * panel[3, j]


@nb.njit(cache=True, fastmath={"contract"})
def _take_four(A: Array, i: int, panel: Array, runs: Array, n_runs: int) -> None:
    """Rows i to i + 3 of the lower triangle less their share of the four columns."""
    r0, r1, r2, r3 = A[i], A[i + 1], A[i + 2], A[i + 3]
    a0, b0, c0, d0 = panel[0, i], panel[1, i], panel[2, i], panel[3, i]
    a1, b1, c1, d1 = panel[0, i + 1], panel[1, i + 1], panel[2, i + 1], panel[3, i + 1]
    a2, b2, c2, d2 = panel[0, i + 2], panel[1, i + 2], panel[2, i + 2], panel[3, i + 2]
    a3, b3, c3, d3 = panel[0, i + 3], panel[1, i + 3], panel[2, i + 3], panel[3, i + 3]
    for r in range(n_runs):
        for j in range(runs[r, 0], min(runs[r, 1], i)):
            p0, p1, p2, p3 = panel[0, j], panel[1, j], panel[2, j], panel[3, j]
            r0[j] -= a0 * p0 + b0 * p1 + c0 * p2 + d0 * p3
            r1[j] -= a1 * p0 + b1 * p1 + c1 * p2 + d1 * p3
            r2[j] -= a2 * p0 + b2 * p1 + c2 * p2 + d2 * p3
            r3[j] -= a3 * p0 + b3 * p1 + c3 * p2 + d3 * p3
    for m in range(i, i + 4):
        for j in range(i, m + 1):
            for k in range(4):
                A[m, j] -= panel[k, m] * panel[k, j]


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def solve_cholesky(L: Array, x: Array) -> None:
    """Overwrite x with the solution of L L^T x = right side held in x."""
    solve_lower(L, x)
    for i in range(L.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        s = x[i]
        for j in range(i):
            x[j] -= s * L[i, j]


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def solve_lower(L: Array, x: Array) -> None:
    """Overwrite x with the solution of L x = right side held in x."""
    for i in range(L.shape[0]):
        s = x[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]


@nb.njit(cache=True, fastmath={"contract"})
def add_outer(w: float, x: Array, at: Array, n: int, A: Array) -> None:
    """Lower triangle of A += w x xᵀ for the first n of x, whose rows `at` (unsigned) descend; four rows at a time."""
    i = 0
    while i + 3 < n:
        w0, w1, w2, w3 = w * x[i], w * x[i + 1], w * x[i + 2], w * x[i + 3]
        r0, r1, r2, r3 = A[at[i]], A[at[i + 1]], A[at[i + 2]], A[at[i + 3]]
        r0[at[i]] += w0 * x[i]
        r0[at[i + 1]] += w0 * x[i + 1]
        r1[at[i + 1]] += w1 * x[i + 1]
        r0[at[i + 2]] += w0 * x[i + 2]
        r1[at[i + 2]] += w1 * x[i + 2]
        r2[at[i + 2]] += w2 * x[i + 2]
        for j in range(i + 3, n):
            r, y = at[j], x[j]
            r0[r] += w0 * y
            r1[r] += w1 * y
            r2[r] += w2 * y
            r3[r] += w3 * y
        i += 4
    for k in range(i, n):
        for j in range(k, n):
            A[at[k], at[j]] += w * x[k] * x[j]
