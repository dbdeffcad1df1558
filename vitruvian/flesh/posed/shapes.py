"""Shapes of a block of elements: F, that of the reference F_p, Q = polar(F F_pᵀ) and G = Q F_p.

In creases skinning may fold a reference shape. One with less than `LEAST` of its volume is led towards its rotation
until it has that: F_p ← (1 - s) F_p + s polar(F_p), det F_p = LEAST.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.blocks import DET, EDGES, FAST, NORM, SLOPES, A, F, P, nine, row_by
from vitruvian.flesh.posed.model import CHUNK
from vitruvian.flesh.posed.polar import NEAR, polar

LEAST = 0.2  # of an element's volume: no reference shape has less


@njit(cache=True, error_model="numpy")
def shape_rotations(flesh, x, pose, block, w):
    """Fill F, G = Q F_p and Q of a block of elements into the scratch w (ROWS, CHUNK); returns how many are real."""
    shapes_of(flesh.corners.reshape(-1), flesh.slopes.reshape(-1), x, pose, block, w.reshape(-1))
    return min(CHUNK, len(flesh.place) - block * CHUNK)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def shapes_of(corners, slopes, x, pose, block, f):
    """That with plain arrays: counting who holds the many of `flesh` takes as long as a block's arithmetic."""
    _edges(corners, 4 * CHUNK * block, x, pose, f)
    for k in range(9 * CHUNK):
        f[SLOPES * CHUNK + k] = slopes[9 * CHUNK * block + k]
    _gradients(f)
    if _least_volume(f) < LEAST:
        _unfold(f)
    _product(f)
    polar(f)
    _turned(f)


@njit(cache=True)
def _edges(corners, c, x, pose, f):
    for k in range(CHUNK):
        i, j = np.uint32(corners[c + k]), np.uint32(corners[c + CHUNK + k])
        l, m = np.uint32(corners[c + 2 * CHUNK + k]), np.uint32(corners[c + 3 * CHUNK + k])
        for a in range(3):
            at = (EDGES + a) * CHUNK + k
            o, r = x[i, a], pose[i, a]
            f[at], f[at + 3 * CHUNK], f[at + 6 * CHUNK] = x[j, a] - o, x[l, a] - o, x[m, a] - o
            f[at + 9 * CHUNK] = pose[j, a] - r
            f[at + 12 * CHUNK] = pose[l, a] - r
            f[at + 15 * CHUNK] = pose[m, a] - r


@njit(cache=True, fastmath=FAST)
def _gradients(f):
    """F and F_p: edges times the inverse of those at rest."""
    for edges, out in ((EDGES, F), (EDGES + 9, P)):
        for k in range(CHUNK):
            s0, s1, s2, s3, s4, s5, s6, s7, s8 = nine(f, SLOPES, k)
            a, b, c, d, e, g, h, i, j = nine(f, edges, k)
            p = out * CHUNK + k
            f[p], f[p + CHUNK], f[p + 2 * CHUNK] = row_by(a, d, h, s0, s1, s2, s3, s4, s5, s6, s7, s8)
            f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK] = row_by(b, e, i, s0, s1, s2, s3, s4, s5, s6, s7, s8)
            f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK] = row_by(c, g, j, s0, s1, s2, s3, s4, s5, s6, s7, s8)


@njit(cache=True, fastmath=FAST)
def _product(f):
    """A = F F_pᵀ."""
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        u0, v0, w0, u1, v1, w1, u2, v2, w2 = nine(f, F, k)
        p = A * CHUNK + k
        f[p], f[p + CHUNK], f[p + 2 * CHUNK] = row_by(u0, v0, w0, a, d, h, b, e, i, c, g, j)
        f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK] = row_by(u1, v1, w1, a, d, h, b, e, i, c, g, j)
        f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK] = row_by(u2, v2, w2, a, d, h, b, e, i, c, g, j)


@njit(cache=True, fastmath=FAST)
def _turned(f):
    """G = Q F_p in place of F_p."""
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        u0, v0, w0, u1, v1, w1, u2, v2, w2 = nine(f, A, k)
        p = P * CHUNK + k
        f[p], f[p + CHUNK], f[p + 2 * CHUNK] = row_by(u0, v0, w0, a, b, c, d, e, g, h, i, j)
        f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK] = row_by(u1, v1, w1, a, b, c, d, e, g, h, i, j)
        f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK] = row_by(u2, v2, w2, a, b, c, d, e, g, h, i, j)


@njit(cache=True, fastmath=FAST)
def _least_volume(f):
    """Smallest det F_p of the block; each in row DET."""
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        f[DET * CHUNK + k] = a * (e * j - g * i) + b * (g * h - d * j) + c * (d * i - e * h)
    least = f[DET * CHUNK]
    for k in range(CHUNK):
        least = min(least, f[DET * CHUNK + k])
    return least


@njit(cache=True, error_model="numpy")
def _unfold(f):
    """Reference shapes F_p of a block with `LEAST` of their volume or more, in place; rows A and below are used."""
    for k in range(9 * CHUNK):
        f[A * CHUNK + k] = f[P * CHUNK + k]
    polar(f)
    for k in range(CHUNK):
        third = f[DET * CHUNK + k]
        if third >= LEAST:
            continue
        trace = 0.0  # I1 of the symmetric factor F_p Rᵀ, closer than the root that R is made from
        for j in range(9):
            trace += f[(P + j) * CHUNK + k] * f[(A + j) * CHUNK + k]
        s = _lead(trace, 0.5 * (trace * trace - f[NORM * CHUNK + k]), third)
        for j in range(9):
            at = (P + j) * CHUNK + k
            f[at] = (1.0 - s) * f[at] + s * f[(A + j) * CHUNK + k]


@njit(cache=True, error_model="numpy")
def _lead(trace, second, third):
    """s with det((1 - s) S + s I) = LEAST: Newton's method, by halves where it leaves what is known."""
    low, high, s = 0.0, 1.0, 0.5
    for _ in range(40):
        r = 1.0 - s
        far = r * r * (r * third + s * second) + s * s * (r * trace + s) - LEAST
        if far < 0.0:
            low = s
        else:
            high = s
        slope = r * r * (second - 3.0 * third) + 2.0 * r * s * (trace - second) + s * s * (3.0 - trace)
        new = s - far / slope
        if not (low < new < high):
            new = 0.5 * (low + high)
        done = abs(new - s) < NEAR
        s = new
        if done:
            break
    return s
