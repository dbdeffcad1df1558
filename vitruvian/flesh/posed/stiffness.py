"""Stiffness of posed flesh for implicit steps, without false resistance to turning.

The energy's second derivative with the rotation left free to follow, its negative parts left out:

    dF: K: dF = V (2 μ (|dF|² - aᵀ Y⁻¹ a) + λ' (G:dF)²),   a = Σ_i p_i × u_i,   p_i = G ∇N_i,   Y = tr(G Gᵀ) I - G Gᵀ

The first bracket is min_ω |dF - [ω] G|²: never negative, and zero for every rotation of the element. With the rotation
frozen instead, an implicit step resists turning and takes spin away.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.forces import CHUNK, F, P, shape_rotations


@njit(cache=True, error_model="numpy")
def add_elastic(flesh, x, pose, scale, force, matrix):
    """Add the elastic forces [N] to force (n_nodes, 3) and `scale` times the stiffness to matrix (n_places, 3, 3)."""
    w = np.empty((40, CHUNK))
    c, s = flesh.corners, flesh.slopes
    g, p, q, stress = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3, 3)), np.empty((3, 3))
    Y = np.empty((3, 3))
    for first in range(0, c.shape[1], CHUNK):
        count = shape_rotations(flesh, x, pose, first, w)
        for k in range(count):
            e = first + k
            along, size = 0.0, 0.0
            for j in range(9):
                along += (w[F + j, k] - w[P + j, k]) * w[P + j, k]
                size += w[P + j, k] * w[P + j, k]
            shear, bulk = flesh.shear[e], flesh.bulk[e] / size
            for a in range(3):
                for b in range(3):
                    j = 3 * a + b
                    stress[a, b] = shear * (w[F + j, k] - w[P + j, k]) + bulk * along * w[P + j, k]
                    g[1 + a, b] = s[j, e]
            for b in range(3):
                g[0, b] = -(g[1, b] + g[2, b] + g[3, b])
            for i in range(4):
                for a in range(3):
                    p[i, a] = w[P + 3 * a, k] * g[i, 0] + w[P + 3 * a + 1, k] * g[i, 1] + w[P + 3 * a + 2, k] * g[i, 2]
                    force[c[i, e], a] -= (
                        stress[a, 0] * g[i, 0] + stress[a, 1] * g[i, 1] + stress[a, 2] * g[i, 2]
                    )
            _inverse_turning(w, k, size, Y)
            for i in range(4):
                # q_i = Y⁻¹ [p_i]×, column by column: [p]× e_0 = (0, p2, -p1), e_1 = (-p2, 0, p0), e_2 = (p1, -p0, 0)
                for a in range(3):
                    q[i, a, 0] = Y[a, 1] * p[i, 2] - Y[a, 2] * p[i, 1]
                    q[i, a, 1] = Y[a, 2] * p[i, 0] - Y[a, 0] * p[i, 2]
                    q[i, a, 2] = Y[a, 0] * p[i, 1] - Y[a, 1] * p[i, 0]
            for i in range(4):
                for j in range(i, 4):
                    dot = shear * scale * (g[i, 0] * g[j, 0] + g[i, 1] * g[j, 1] + g[i, 2] * g[j, 2])
                    here, there = flesh.place[e, i, j], flesh.place[e, j, i]
                    for b in range(3):
                        # [p_i]×ᵀ q = -p_i × q
                        t0 = p[i, 2] * q[j, 1, b] - p[i, 1] * q[j, 2, b]
                        t1 = p[i, 0] * q[j, 2, b] - p[i, 2] * q[j, 0, b]
                        t2 = p[i, 1] * q[j, 0, b] - p[i, 0] * q[j, 1, b]
                        v0 = scale * (bulk * p[i, 0] * p[j, b] - shear * t0)
                        v1 = scale * (bulk * p[i, 1] * p[j, b] - shear * t1)
                        v2 = scale * (bulk * p[i, 2] * p[j, b] - shear * t2)
                        if b == 0:
                            v0 += dot
                        elif b == 1:
                            v1 += dot
                        else:
                            v2 += dot
                        matrix[here, 0, b] += v0
                        matrix[here, 1, b] += v1
                        matrix[here, 2, b] += v2
                        if i != j:
                            matrix[there, b, 0] += v0
                            matrix[there, b, 1] += v1
                            matrix[there, b, 2] += v2


@njit(cache=True, error_model="numpy")
def _inverse_turning(w, k, size, out):
    """Y⁻¹ for Y = |G|² I - G Gᵀ, positive definite unless G is a line."""
    y00 = size - (w[P, k] ** 2 + w[P + 1, k] ** 2 + w[P + 2, k] ** 2)
    y11 = size - (w[P + 3, k] ** 2 + w[P + 4, k] ** 2 + w[P + 5, k] ** 2)
    y22 = size - (w[P + 6, k] ** 2 + w[P + 7, k] ** 2 + w[P + 8, k] ** 2)
    y01 = -(w[P, k] * w[P + 3, k] + w[P + 1, k] * w[P + 4, k] + w[P + 2, k] * w[P + 5, k])
    y02 = -(w[P, k] * w[P + 6, k] + w[P + 1, k] * w[P + 7, k] + w[P + 2, k] * w[P + 8, k])
    y12 = -(w[P + 3, k] * w[P + 6, k] + w[P + 4, k] * w[P + 7, k] + w[P + 5, k] * w[P + 8, k])
    c00, c01, c02 = y11 * y22 - y12 * y12, y02 * y12 - y01 * y22, y01 * y12 - y02 * y11
    scale = 1.0 / (y00 * c00 + y01 * c01 + y02 * c02)
    out[0, 0], out[0, 1], out[0, 2] = scale * c00, scale * c01, scale * c02
    out[1, 0], out[1, 1], out[1, 2] = out[0, 1], scale * (y00 * y22 - y02 * y02), scale * (y01 * y02 - y00 * y12)
    out[2, 0], out[2, 1], out[2, 2] = out[0, 2], out[1, 2], scale * (y00 * y11 - y01 * y01)
