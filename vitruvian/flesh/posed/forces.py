"""Corotated tetrahedra with pose-based plasticity (Liu & al. 2013, eqs. 12-16), in a form that has an energy.

With F and F_p the deformation gradients of the shape and of its reference, Q = polar(F F_pᵀ) and G = Q F_p:

    E = V (μ |F - G|² + λ' / 2 (G:(F - G))²),      P = 2 μ (F - G) + λ' (G:(F - G)) G,      λ' = 3 λ / |F_p|²

The μ-term is Liu's, for his R R_pᵀ is Q; it is the exact gradient since Q is where |F - Q F_p| is least. P Fᵀ is
symmetric, so no element makes angular momentum, and F_p = I gives plain corotated elasticity. Liu's λ-term has no
energy.

The rotation of the polar decomposition A = R S comes without iterating on matrices: I1 = tr S is the largest root of

    l⁴ - 2 |A|² l² - 8 det(A) l + |A|⁴ - 4 |cof A|²      (Horn 1987), and
    R = ((I1² - I2) A + I1 cof A - A Aᵀ A) / (I1 I2 - I3)

by Cayley and Hamilton, with I2 = (I1² - |A|²)/2, I3 = det A. Inverted elements get the rotation with the smallest
singular value negative. Elements are taken in chunks whose loops the compiler turns into vector instructions.

In creases skinning may fold a reference shape. One with less than `LEAST` of its volume is led towards its rotation
until it has that: F_p ← (1 - s) F_p + s polar(F_p), det F_p = LEAST.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CHUNK = 64
LEAST = 0.2  # of an element's volume: no reference shape has less
NEWTON = 10  # steps down from √3 |A|; enough but for elements on the verge of two rotations, which lose digits
F, P, A, R, SCALARS = 0, 9, 18, 27, 36  # rows of a chunk's scratch: F (later P), F_p (later G), F F_pᵀ, Q


@njit(cache=True, error_model="numpy")
def shape_rotations(flesh, x, pose, first, w):
    """Fill F, G = Q F_p and Q of the elements from `first` on into the scratch w (40, CHUNK); returns how many."""
    count = min(CHUNK, flesh.corners.shape[1] - first)
    c, s = flesh.corners, flesh.slopes
    for k in range(count):
        e = first + k
        i0, i1, i2, i3 = c[0, e], c[1, e], c[2, e], c[3, e]
        for a in range(3):
            p0, p1, p2 = x[i1, a] - x[i0, a], x[i2, a] - x[i0, a], x[i3, a] - x[i0, a]
            r0, r1, r2 = pose[i1, a] - pose[i0, a], pose[i2, a] - pose[i0, a], pose[i3, a] - pose[i0, a]
            for b in range(3):
                w[F + 3 * a + b, k] = p0 * s[b, e] + p1 * s[3 + b, e] + p2 * s[6 + b, e]
                w[P + 3 * a + b, k] = r0 * s[b, e] + r1 * s[3 + b, e] + r2 * s[6 + b, e]
    unfold(w, count)
    for a in range(3):
        for b in range(3):
            for k in range(count):
                w[A + 3 * a + b, k] = (
                    w[F + 3 * a, k] * w[P + 3 * b, k]
                    + w[F + 3 * a + 1, k] * w[P + 3 * b + 1, k]
                    + w[F + 3 * a + 2, k] * w[P + 3 * b + 2, k]
                )
    polar(w, A, R, count)
    for b in range(3):
        for k in range(count):  # G = Q F_p in place of F_p
            g0, g1, g2 = w[P + b, k], w[P + 3 + b, k], w[P + 6 + b, k]
            w[P + b, k] = w[R, k] * g0 + w[R + 1, k] * g1 + w[R + 2, k] * g2
            w[P + 3 + b, k] = w[R + 3, k] * g0 + w[R + 4, k] * g1 + w[R + 5, k] * g2
            w[P + 6 + b, k] = w[R + 6, k] * g0 + w[R + 7, k] * g1 + w[R + 8, k] * g2
    return count


@njit(cache=True, error_model="numpy")
def unfold(w, count):
    """Reference shapes F_p of a chunk with `LEAST` of their volume or more, in place."""
    for k in range(count):
        w[SCALARS, k] = (
            w[P, k] * (w[P + 4, k] * w[P + 8, k] - w[P + 5, k] * w[P + 7, k])
            + w[P + 1, k] * (w[P + 5, k] * w[P + 6, k] - w[P + 3, k] * w[P + 8, k])
            + w[P + 2, k] * (w[P + 3, k] * w[P + 7, k] - w[P + 4, k] * w[P + 6, k])
        )
    for k in range(count):
        if w[SCALARS, k] < LEAST:
            one = np.empty((18, 1))
            for j in range(9):
                one[j, 0] = w[P + j, k]
            polar(one, 0, 9, 1)
            trace = size = 0.0  # of the symmetric factor: I1, |F_p|²
            for j in range(9):
                trace += one[j, 0] * one[9 + j, 0]
                size += one[j, 0] * one[j, 0]
            second, third = 0.5 * (trace * trace - size), w[SCALARS, k]
            low, high = 0.0, 1.0
            for _ in range(40):
                s = 0.5 * (low + high)
                r = 1.0 - s
                if r * r * r * third + r * r * s * second + r * s * s * trace + s * s * s < LEAST:
                    low = s
                else:
                    high = s
            for j in range(9):
                w[P + j, k] = (1.0 - high) * one[j, 0] + high * one[9 + j, 0]


@njit(cache=True, error_model="numpy")
def polar(w, at, out, count):
    """Rotations in rows out..out+8 of the matrices in rows at..at+8, column by column."""
    for k in range(count):
        a, b, c = w[at, k], w[at + 1, k], w[at + 2, k]
        d, e, f = w[at + 3, k], w[at + 4, k], w[at + 5, k]
        g, h, i = w[at + 6, k], w[at + 7, k], w[at + 8, k]
        ca, cb, cc = e * i - f * h, f * g - d * i, d * h - e * g
        cd, ce, cf = c * h - b * i, a * i - c * g, b * g - a * h
        cg, ch, ci = b * f - c * e, c * d - a * f, a * e - b * d
        n = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
        m = ca * ca + cb * cb + cc * cc + cd * cd + ce * ce + cf * cf + cg * cg + ch * ch + ci * ci
        det = a * ca + b * cb + c * cc
        z = n * n - 4.0 * m
        l = np.sqrt(3.0 * n)
        for _ in range(NEWTON):
            l2 = l * l
            slope = 4.0 * l * (l2 - n) - 8.0 * det
            value = (l2 - 2.0 * n) * l2 - 8.0 * det * l + z
            l = l - (value / slope if slope > 1e-300 else 0.0)
        i2 = 0.5 * (l * l - n)
        scale = l * i2 - det
        scale = 1.0 / scale if scale > 1e-300 else 0.0
        u = (l * l - i2) * scale
        v = l * scale
        # A Aᵀ A by way of the symmetric A Aᵀ
        s00, s01, s02 = a * a + b * b + c * c, a * d + b * e + c * f, a * g + b * h + c * i
        s11, s12, s22 = d * d + e * e + f * f, d * g + e * h + f * i, g * g + h * h + i * i
        w[out, k] = u * a + v * ca - scale * (s00 * a + s01 * d + s02 * g)
        w[out + 1, k] = u * b + v * cb - scale * (s00 * b + s01 * e + s02 * h)
        w[out + 2, k] = u * c + v * cc - scale * (s00 * c + s01 * f + s02 * i)
        w[out + 3, k] = u * d + v * cd - scale * (s01 * a + s11 * d + s12 * g)
        w[out + 4, k] = u * e + v * ce - scale * (s01 * b + s11 * e + s12 * h)
        w[out + 5, k] = u * f + v * cf - scale * (s01 * c + s11 * f + s12 * i)
        w[out + 6, k] = u * g + v * cg - scale * (s02 * a + s12 * d + s22 * g)
        w[out + 7, k] = u * h + v * ch - scale * (s02 * b + s12 * e + s22 * h)
        w[out + 8, k] = u * i + v * ci - scale * (s02 * c + s12 * f + s22 * i)


@njit(cache=True, error_model="numpy")
def elastic_forces(flesh, x, pose, force):
    """Add the elastic forces [N] on nodes at x with reference shape `pose` [m] to force (n_nodes, 3)."""
    w = np.empty((40, CHUNK))
    c, s = flesh.corners, flesh.slopes
    for first in range(0, c.shape[1], CHUNK):
        count = shape_rotations(flesh, x, pose, first, w)
        stress(flesh, first, count, w)
        for k in range(count):
            e = first + k
            i0, i1, i2, i3 = c[0, e], c[1, e], c[2, e], c[3, e]
            for a in range(3):
                p0, p1, p2 = w[F + 3 * a, k], w[F + 3 * a + 1, k], w[F + 3 * a + 2, k]
                f1 = p0 * s[0, e] + p1 * s[1, e] + p2 * s[2, e]
                f2 = p0 * s[3, e] + p1 * s[4, e] + p2 * s[5, e]
                f3 = p0 * s[6, e] + p1 * s[7, e] + p2 * s[8, e]
                force[i0, a] += f1 + f2 + f3
                force[i1, a] -= f1
                force[i2, a] -= f2
                force[i3, a] -= f3


@njit(cache=True, error_model="numpy")
def stress(flesh, first, count, w):
    """V P in place of F; the energy [J] of each element in row SCALARS."""
    for k in range(count):
        w[SCALARS, k] = 0.0
        w[SCALARS + 1, k] = 0.0
        w[SCALARS + 2, k] = 0.0
    for j in range(9):
        for k in range(count):
            d, g = w[F + j, k] - w[P + j, k], w[P + j, k]
            w[F + j, k] = d
            w[SCALARS, k] += d * d
            w[SCALARS + 1, k] += d * g
            w[SCALARS + 2, k] += g * g
    for k in range(count):
        shear, bulk = flesh.shear[first + k], flesh.bulk[first + k] / w[SCALARS + 2, k]
        w[SCALARS, k] = 0.5 * (shear * w[SCALARS, k] + bulk * w[SCALARS + 1, k] ** 2)
        w[SCALARS + 1, k] *= bulk
    for j in range(9):
        for k in range(count):
            w[F + j, k] = flesh.shear[first + k] * w[F + j, k] + w[SCALARS + 1, k] * w[P + j, k]


@njit(cache=True)
def elastic_energy(flesh, x, pose):
    """Energy [J] of all elements."""
    w, total = np.empty((40, CHUNK)), 0.0
    for first in range(0, flesh.corners.shape[1], CHUNK):
        count = shape_rotations(flesh, x, pose, first, w)
        stress(flesh, first, count, w)
        for k in range(count):
            total += w[SCALARS, k]
    return total
