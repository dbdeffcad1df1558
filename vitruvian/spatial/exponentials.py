"""Products of exponentials of constant twists, with Jacobian and Hessian by recursion (Lee 2008, section 6.3.3).

G(q) = H ∏ exp(g_k φ_k(q)),    s_i = (G⁻¹ ∂G/∂q_i)ˇ
s_i       <- g_k ∂φ_k/∂q_i + Ad⁻¹_{exp(g_k φ_k)} s_i                                                        (6.29)
∂s_i/∂q_j <- g_k ∂²φ_k/∂q_i∂q_j + Ad⁻¹_{exp(g_k φ_k)} (∂s_i/∂q_j + ad_{s_i} g_k ∂φ_k/∂q_j)                     (6.31)

A twist enters as a record of 13 numbers, so that no norm, division or cross product is taken in the loop:
unit axis a (3), θ = |ω|, v (3), a×v/θ (3), a×(a×v)/θ (3). With x = θ φ the motion is
R = I + sin x [a] + (1 - cos x)[a]²,   p = φ v + (1 - cos x) a×v/θ + (x - sin x) a×(a×v)/θ.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

Array = np.ndarray
RECORD = 13


def twist_record(twist: ArrayLike) -> Array:
    """The 13 numbers that `multiply_exponential` needs of a twist (6,)."""
    g = np.asarray(twist, dtype=float)
    w, v = g[:3], g[3:]
    angle = float(np.sqrt(w @ w))
    if angle < 1e-150:  # no rotation at all, and 1/θ would overflow
        return np.concatenate([np.zeros(4), v, np.zeros(6)])
    axis = w / angle
    av = np.cross(axis, v)
    return np.concatenate([axis, [angle], v, av / angle, np.cross(axis, av) / angle])


@njit(cache=True)
def multiply_exponential(params, r, phi, slope, curvature, n, G, jacobian, hessian):
    """G <- G exp(g φ) and the recursions (6.29), (6.31) for n coordinates.

    params[r:r+13]: the twist's record; phi: φ; slope: ∂φ/∂q (n,); curvature: ∂²φ/∂q² (n, n).
    G: R row by row, then p, shape (12,). jacobian[i]: s_i, (>=n, 6). hessian[i, j]: ∂s_i/∂q_j, (>=n, >=n, 6)."""
    ax, ay, az, angle = params[r], params[r + 1], params[r + 2], params[r + 3]
    vx, vy, vz = params[r + 4], params[r + 5], params[r + 6]
    if angle == 0.0:
        _multiply_translation(vx, vy, vz, phi, slope, curvature, n, G, jacobian, hessian)
        return
    wx, wy, wz = angle * ax, angle * ay, angle * az
    x = angle * phi
    s = np.sin(x)
    half = np.sin(0.5 * x)
    c = 2.0 * half * half  # 1 - cos x
    px = phi * vx + c * params[r + 7] + (x - s) * params[r + 10]
    py = phi * vy + c * params[r + 8] + (x - s) * params[r + 11]
    pz = phi * vz + c * params[r + 9] + (x - s) * params[r + 12]
    e00, e01, e02 = 1.0 - c * (ay * ay + az * az), c * ax * ay - s * az, c * ax * az + s * ay
    e10, e11, e12 = c * ax * ay + s * az, 1.0 - c * (ax * ax + az * az), c * ay * az - s * ax
    e20, e21, e22 = c * ax * az - s * ay, c * ay * az + s * ax, 1.0 - c * (ax * ax + ay * ay)
    for row in range(3):
        g0, g1, g2 = G[3 * row], G[3 * row + 1], G[3 * row + 2]
        G[9 + row] += g0 * px + g1 * py + g2 * pz
        G[3 * row] = g0 * e00 + g1 * e10 + g2 * e20
        G[3 * row + 1] = g0 * e01 + g1 * e11 + g2 * e21
        G[3 * row + 2] = g0 * e02 + g1 * e12 + g2 * e22
    for i in range(n):
        s0, s1, s2 = jacobian[i, 0], jacobian[i, 1], jacobian[i, 2]
        s3, s4, s5 = jacobian[i, 3], jacobian[i, 4], jacobian[i, 5]
        # ad_{s_i} g = (ω_i × w, v_i × w + ω_i × v)
        b0, b1, b2 = s1 * wz - s2 * wy, s2 * wx - s0 * wz, s0 * wy - s1 * wx
        b3 = s4 * wz - s5 * wy + s1 * vz - s2 * vy
        b4 = s5 * wx - s3 * wz + s2 * vx - s0 * vz
        b5 = s3 * wy - s4 * wx + s0 * vy - s1 * vx
        for j in range(n):
            d, dd = slope[j], curvature[i, j]
            h0, h1, h2 = hessian[i, j, 0] + b0 * d, hessian[i, j, 1] + b1 * d, hessian[i, j, 2] + b2 * d
            m0 = hessian[i, j, 3] + b3 * d - (py * h2 - pz * h1)
            m1 = hessian[i, j, 4] + b4 * d - (pz * h0 - px * h2)
            m2 = hessian[i, j, 5] + b5 * d - (px * h1 - py * h0)
            hessian[i, j, 0] = wx * dd + e00 * h0 + e10 * h1 + e20 * h2
            hessian[i, j, 1] = wy * dd + e01 * h0 + e11 * h1 + e21 * h2
            hessian[i, j, 2] = wz * dd + e02 * h0 + e12 * h1 + e22 * h2
            hessian[i, j, 3] = vx * dd + e00 * m0 + e10 * m1 + e20 * m2
            hessian[i, j, 4] = vy * dd + e01 * m0 + e11 * m1 + e21 * m2
            hessian[i, j, 5] = vz * dd + e02 * m0 + e12 * m1 + e22 * m2
        d = slope[i]
        m0 = s3 - (py * s2 - pz * s1)
        m1 = s4 - (pz * s0 - px * s2)
        m2 = s5 - (px * s1 - py * s0)
        jacobian[i, 0] = wx * d + e00 * s0 + e10 * s1 + e20 * s2
        jacobian[i, 1] = wy * d + e01 * s0 + e11 * s1 + e21 * s2
        jacobian[i, 2] = wz * d + e02 * s0 + e12 * s1 + e22 * s2
        jacobian[i, 3] = vx * d + e00 * m0 + e10 * m1 + e20 * m2
        jacobian[i, 4] = vy * d + e01 * m0 + e11 * m1 + e21 * m2
        jacobian[i, 5] = vz * d + e02 * m0 + e12 * m1 + e22 * m2


@njit(cache=True)
def _multiply_translation(vx, vy, vz, phi, slope, curvature, n, G, jacobian, hessian):
    """`multiply_exponential` for a twist without rotation: Ad⁻¹ (ω, v) = (ω, v + φ ω × g)."""
    for row in range(3):
        G[9 + row] += phi * (G[3 * row] * vx + G[3 * row + 1] * vy + G[3 * row + 2] * vz)
    for i in range(n):
        s0, s1, s2 = jacobian[i, 0], jacobian[i, 1], jacobian[i, 2]
        b0, b1, b2 = s1 * vz - s2 * vy, s2 * vx - s0 * vz, s0 * vy - s1 * vx
        for j in range(n):
            h0, h1, h2 = hessian[i, j, 0], hessian[i, j, 1], hessian[i, j, 2]
            d, dd = slope[j], curvature[i, j]
            hessian[i, j, 3] += vx * dd + b0 * d + phi * (h1 * vz - h2 * vy)
            hessian[i, j, 4] += vy * dd + b1 * d + phi * (h2 * vx - h0 * vz)
            hessian[i, j, 5] += vz * dd + b2 * d + phi * (h0 * vy - h1 * vx)
        jacobian[i, 3] += vx * slope[i] + phi * b0
        jacobian[i, 4] += vy * slope[i] + phi * b1
        jacobian[i, 5] += vz * slope[i] + phi * b2
