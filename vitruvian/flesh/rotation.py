"""Singular values of 3×3 matrices with the sign in the smallest: F = U diag(σ) Vᵀ, U and V rotations.

σ3 < 0 where F is inverted. Jacobi rotations on FᵀF; no division by a singular value that may vanish, so collapsed and
inverted elements are fine (Irving, Teran and Fedkiw 2004).
"""

from __future__ import annotations

import numpy as np
from numba import njit


def rotation_of(f: np.ndarray) -> np.ndarray:
    """The rotation R of the polar decomposition F = R S, det R = 1 also when F is inverted. Shape (3, 3)."""
    u, s, v = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    signed_svd(np.ascontiguousarray(f, float), u, s, v)
    return u @ v.T


@njit(cache=True)
def signed_svd(f, u, s, v):
    """Fill u (3, 3), s (3,), v (3, 3) with f = u diag(s) vᵀ, s descending in size, sign in s[2]."""
    c = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            c[i, j] = f[0, i] * f[0, j] + f[1, i] * f[1, j] + f[2, i] * f[2, j]
            v[i, j] = 1.0 if i == j else 0.0
    for _ in range(12):
        off = abs(c[0, 1]) + abs(c[0, 2]) + abs(c[1, 2])
        if off <= 1e-17 * (c[0, 0] + c[1, 1] + c[2, 2]):
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if c[p, q] == 0.0:
                    continue
                theta = 0.5 * (c[q, q] - c[p, p]) / c[p, q]
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                cs = 1.0 / np.sqrt(t * t + 1.0)
                sn = t * cs
                for k in range(3):
                    a, b = c[k, p], c[k, q]
                    c[k, p], c[k, q] = cs * a - sn * b, sn * a + cs * b
                for k in range(3):
                    a, b = c[p, k], c[q, k]
                    c[p, k], c[q, k] = cs * a - sn * b, sn * a + cs * b
                for k in range(3):
                    a, b = v[k, p], v[k, q]
                    v[k, p], v[k, q] = cs * a - sn * b, sn * a + cs * b
    for i in range(2):  # sort by size, largest first
        for j in range(2 - i):
            if c[j, j] < c[j + 1, j + 1]:
                c[j, j], c[j + 1, j + 1] = c[j + 1, j + 1], c[j, j]
                for k in range(3):
                    v[k, j], v[k, j + 1] = v[k, j + 1], v[k, j]
    cross(v, 0, 1, 2)  # a rotation, whatever the sort did
    for j in range(3):
        for i in range(3):
            u[i, j] = f[i, 0] * v[0, j] + f[i, 1] * v[1, j] + f[i, 2] * v[2, j]
    n = norm(u, 0)
    if n == 0.0:
        for j in range(3):
            s[j] = 0.0
            for i in range(3):
                u[i, j] = 1.0 if i == j else 0.0
        return
    s[0] = n
    scale(u, 0, 1.0 / n)
    d = u[0, 0] * u[0, 1] + u[1, 0] * u[1, 1] + u[2, 0] * u[2, 1]
    for i in range(3):
        u[i, 1] -= d * u[i, 0]
    m = norm(u, 1)
    if m <= 1e-14 * n:  # a line: any direction across it will do
        axis = 0
        for i in range(1, 3):
            if abs(u[i, 0]) < abs(u[axis, 0]):
                axis = i
        for i in range(3):
            u[i, 1] = (1.0 if i == axis else 0.0) - u[axis, 0] * u[i, 0]
        m = norm(u, 1)
        s[1] = 0.0
    else:
        s[1] = m
    scale(u, 1, 1.0 / m)
    w0, w1, w2 = u[0, 2], u[1, 2], u[2, 2]
    cross(u, 0, 1, 2)
    s[2] = u[0, 2] * w0 + u[1, 2] * w1 + u[2, 2] * w2


@njit(cache=True)
def cross(a, i, j, k):
    a[0, k] = a[1, i] * a[2, j] - a[2, i] * a[1, j]
    a[1, k] = a[2, i] * a[0, j] - a[0, i] * a[2, j]
    a[2, k] = a[0, i] * a[1, j] - a[1, i] * a[0, j]


@njit(cache=True)
def norm(a, j):
    return np.sqrt(a[0, j] ** 2 + a[1, j] ** 2 + a[2, j] ** 2)


@njit(cache=True)
def scale(a, j, factor):
    for i in range(3):
        a[i, j] *= factor
