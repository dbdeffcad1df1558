"""Rotations of the polar decomposition A = R S of a block of matrices, without iterating on matrices.

I1 = tr S is the largest root of

    l⁴ - 2 |A|² l² - 8 det(A) l + |A|⁴ - 4 |cof A|²      (Horn 1987), and
    R = ((I1² - I2) A + I1 cof A - A Aᵀ A) / (I1 I2 - I3)

by Cayley and Hamilton, with I2 = (I1² - |A|²)/2, I3 = det A. Inverted elements get the rotation with the smallest
singular value negative. I1 is found by Newton's method from √3 |A| downwards, as many steps as the slowest element of
a block needs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.blocks import CHANGE, DET, FAST, NORM, REST, ROOT, A, nine
from vitruvian.flesh.posed.model import CHUNK

SURE, MOST = 4, 10  # Newton steps that all elements take, and how many more at most
NEAR = 1e-9  # a step so small, of I1, is the last: the next would be in the rounding


@njit(cache=True, error_model="numpy", fastmath=FAST)
def polar(f):
    """The rotations of the matrices in rows A of a block's flat scratch, in their place."""
    _first_roots(f)
    for _ in range(MOST):
        if _newton(f) <= 0.0:
            break
    _rotations(f)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _first_roots(f):
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, A, k)
        ca, cb, cc = e * j - g * i, g * h - d * j, d * i - e * h
        cd, ce, cf = c * i - b * j, a * j - c * h, b * h - a * i
        cg, ch, ci = b * g - c * e, c * d - a * g, a * e - b * d
        n = a * a + b * b + c * c + d * d + e * e + g * g + h * h + i * i + j * j
        m = ca * ca + cb * cb + cc * cc + cd * cd + ce * ce + cf * cf + cg * cg + ch * ch + ci * ci
        det = a * ca + b * cb + c * cc
        z = n * n - 4.0 * m
        l = np.sqrt(3.0 * n)
        for _ in range(SURE):
            l2 = l * l
            slope = 4.0 * l * (l2 - n) - 8.0 * det
            l = l - ((l2 - 2.0 * n) * l2 - 8.0 * det * l + z) / max(slope, 1e-300)
        f[NORM * CHUNK + k], f[DET * CHUNK + k], f[REST * CHUNK + k], f[ROOT * CHUNK + k] = n, det, z, l


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _newton(f):
    """One more step; what is returned is positive while one of them is not yet `NEAR`."""
    for k in range(CHUNK):
        n, det, z, l = f[NORM * CHUNK + k], f[DET * CHUNK + k], f[REST * CHUNK + k], f[ROOT * CHUNK + k]
        l2 = l * l
        slope = 4.0 * l * (l2 - n) - 8.0 * det
        change = ((l2 - 2.0 * n) * l2 - 8.0 * det * l + z) / max(slope, 1e-300)
        f[ROOT * CHUNK + k] = l - change
        f[CHANGE * CHUNK + k] = change - NEAR * l
    most = f[CHANGE * CHUNK]
    for k in range(CHUNK):
        most = max(most, f[CHANGE * CHUNK + k])
    return most


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _rotations(f):
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, A, k)
        n, det, l = f[NORM * CHUNK + k], f[DET * CHUNK + k], f[ROOT * CHUNK + k]
        i2 = 0.5 * (l * l - n)
        scale = 1.0 / max(l * i2 - det, 1e-300)
        v = l * scale
        u = (l * l - i2) * scale
        m00, m01 = u - scale * (a * a + b * b + c * c), -scale * (a * d + b * e + c * g)
        m02, m11 = -scale * (a * h + b * i + c * j), u - scale * (d * d + e * e + g * g)
        m12, m22 = -scale * (d * h + e * i + g * j), u - scale * (h * h + i * i + j * j)
        p = A * CHUNK + k
        f[p] = m00 * a + m01 * d + m02 * h + v * (e * j - g * i)
        f[p + CHUNK] = m00 * b + m01 * e + m02 * i + v * (g * h - d * j)
        f[p + 2 * CHUNK] = m00 * c + m01 * g + m02 * j + v * (d * i - e * h)
        f[p + 3 * CHUNK] = m01 * a + m11 * d + m12 * h + v * (c * i - b * j)
        f[p + 4 * CHUNK] = m01 * b + m11 * e + m12 * i + v * (a * j - c * h)
        f[p + 5 * CHUNK] = m01 * c + m11 * g + m12 * j + v * (b * h - a * i)
        f[p + 6 * CHUNK] = m02 * a + m12 * d + m22 * h + v * (b * g - c * e)
        f[p + 7 * CHUNK] = m02 * b + m12 * e + m22 * i + v * (c * d - a * g)
        f[p + 8 * CHUNK] = m02 * c + m12 * g + m22 * j + v * (a * e - b * d)
