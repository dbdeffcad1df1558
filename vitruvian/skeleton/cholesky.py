"""Cholesky factorisation of small symmetric systems (10 to 300 unknowns) on one thread.

The implicit step of a body and the activation solve each factor one such matrix per step. A library call would go
through a threaded BLAS, which is slower at this size and may change the last bits with the number of threads; this
one does neither. Right-looking, four columns at a time: L L^T = A, with rows that do not touch the four columns
skipped, so that a matrix ordered leaves-first (limbs before trunk) pays only for what couples.
"""

from __future__ import annotations

import numba as nb
import numpy as np

Array = np.ndarray


@nb.njit(cache=True)
def cholesky(A: Array) -> int:
    """Overwrite the lower triangle of A with its factor L; return -1, or the first row that is not positive."""
    n = A.shape[0]
    panel = np.empty((4, n))
    k = 0
    while k + 4 <= n:
        for c in range(k, k + 4):  # factor the four columns, rows below the diagonal block too
            for j in range(k, c):
                A[c, c] -= A[c, j] * A[c, j]
            if not A[c, c] > 0.0:
                return c
            A[c, c] = np.sqrt(A[c, c])
            inverse = 1.0 / A[c, c]
            for i in range(c + 1, n):
                s = A[i, c]
                for j in range(k, c):
                    s -= A[i, j] * A[c, j]
                A[i, c] = s * inverse
        for i in range(k + 4, n):
            panel[0, i] = A[i, k]
            panel[1, i] = A[i, k + 1]
            panel[2, i] = A[i, k + 2]
            panel[3, i] = A[i, k + 3]
        for i in range(k + 4, n):
            a, b, c3, d = panel[0, i], panel[1, i], panel[2, i], panel[3, i]
            if a == 0.0 and b == 0.0 and c3 == 0.0 and d == 0.0:
                continue
            row = A[i]
            for j in range(k + 4, i + 1):
                row[j] -= a * panel[0, j] + b * panel[1, j] + c3 * panel[2, j] + d * panel[3, j]
        k += 4
    for c in range(k, n):
        for j in range(k, c):
            A[c, c] -= A[c, j] * A[c, j]
        if not A[c, c] > 0.0:
            return c
        A[c, c] = np.sqrt(A[c, c])
        for i in range(c + 1, n):
            s = A[i, c]
            for j in range(k, c):
                s -= A[i, j] * A[c, j]
            A[i, c] = s / A[c, c]
    return -1


@nb.njit(cache=True)
def solve_cholesky(L: Array, x: Array) -> None:
    """Overwrite x with the solution of L L^T x = right side held in x."""
    n = L.shape[0]
    for i in range(n):
        s = x[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        s = x[i]
        for j in range(i):
            x[j] -= s * L[i, j]
