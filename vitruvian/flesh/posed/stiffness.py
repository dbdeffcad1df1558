"""Stiffness of posed flesh for implicit steps, without false resistance to turning.

The energy's second derivative with the rotation left free to follow, its negative parts left out:

    dF: K: dF = V (2 μ (|dF|² - aᵀ Y⁻¹ a) + λ' (G:dF)²),   a = Σ_i p_i × u_i,   p_i = G ∇N_i,   Y = tr(G Gᵀ) I - G Gᵀ

The first bracket is min_ω |dF - [ω] G|²: never negative, and zero for every rotation of G. With the rotation frozen
instead, an implicit step resists turning and takes spin away. As for forces, elements are taken in chunks.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.forces import ROWS, P, block_forces
from vitruvian.flesh.posed.model import CHUNK

# rows of a chunk's second scratch: ∇N (12), p (12), Y⁻¹ (9), Y⁻¹ [p]× (36), shear, bulk; 10 blocks of 9
G, PP, YY, QQ, SHEAR, BULK, BLOCKS = 0, 12, 24, 33, 69, 70, 71
PAIRS = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]])


@njit(cache=True, error_model="numpy")
def add_elastic(flesh, x, pose, scale, force, matrix):
    """Add the elastic forces [N] to force (n_nodes, 3) and `scale` times the stiffness to matrix (n_places, 3, 3)."""
    w, z = np.empty((ROWS, CHUNK)), np.empty((BLOCKS + 90, CHUNK))
    flat = matrix.reshape(-1)
    for block in range(len(flesh.corners)):
        count = block_forces(flesh, x, pose, block, w, force)
        _prepare(flesh, block, CHUNK, w, z)
        _blocks(CHUNK, scale, z)
        for k in range(count):
            e = block * CHUNK + k
            for pair in range(10):
                i, j = PAIRS[pair, 0], PAIRS[pair, 1]
                at, o = 9 * flesh.place[e, i, j], BLOCKS + 9 * pair
                for t in range(9):
                    flat[at + t] += z[o + t, k]
                if i != j:
                    at = 9 * flesh.place[e, j, i]
                    for a in range(3):
                        for b in range(3):
                            flat[at + 3 * a + b] += z[o + 3 * b + a, k]


@njit(cache=True, error_model="numpy")
def _prepare(flesh, block, count, w, z):
    """∇N, p, Y⁻¹, Y⁻¹ [p]× and moduli of a chunk."""
    s, shear, bulk = flesh.slopes[block], flesh.shear[block], flesh.bulk[block]
    for j in range(9):
        for k in range(count):
            z[G + 3 + j, k] = s[j, k]
    for b in range(3):
        for k in range(count):
            z[G + b, k] = -(z[G + 3 + b, k] + z[G + 6 + b, k] + z[G + 9 + b, k])
    for k in range(count):
        z[SHEAR, k] = 0.0
    for j in range(9):
        for k in range(count):
            z[SHEAR, k] += w[P + j, k] * w[P + j, k]
    for k in range(count):  # Y = |G|² I - G Gᵀ, positive definite unless G is a line
        size = z[SHEAR, k]
        y00 = size - (w[P, k] ** 2 + w[P + 1, k] ** 2 + w[P + 2, k] ** 2)
        y11 = size - (w[P + 3, k] ** 2 + w[P + 4, k] ** 2 + w[P + 5, k] ** 2)
        y22 = size - (w[P + 6, k] ** 2 + w[P + 7, k] ** 2 + w[P + 8, k] ** 2)
        y01 = -(w[P, k] * w[P + 3, k] + w[P + 1, k] * w[P + 4, k] + w[P + 2, k] * w[P + 5, k])
        y02 = -(w[P, k] * w[P + 6, k] + w[P + 1, k] * w[P + 7, k] + w[P + 2, k] * w[P + 8, k])
        y12 = -(w[P + 3, k] * w[P + 6, k] + w[P + 4, k] * w[P + 7, k] + w[P + 5, k] * w[P + 8, k])
        c00, c01, c02 = y11 * y22 - y12 * y12, y02 * y12 - y01 * y22, y01 * y12 - y02 * y11
        d = 1.0 / (y00 * c00 + y01 * c01 + y02 * c02)
        z[YY, k], z[YY + 1, k], z[YY + 2, k] = d * c00, d * c01, d * c02
        z[YY + 3, k], z[YY + 4, k], z[YY + 5, k] = d * c01, d * (y00 * y22 - y02 * y02), d * (y01 * y02 - y00 * y12)
        z[YY + 6, k], z[YY + 7, k], z[YY + 8, k] = d * c02, d * (y01 * y02 - y00 * y12), d * (y00 * y11 - y01 * y01)
    for k in range(count):
        z[BULK, k] = bulk[k] / z[SHEAR, k]
        z[SHEAR, k] = shear[k]
    for i in range(4):
        for a in range(3):
            for k in range(count):
                z[PP + 3 * i + a, k] = (
                    w[P + 3 * a, k] * z[G + 3 * i, k]
                    + w[P + 3 * a + 1, k] * z[G + 3 * i + 1, k]
                    + w[P + 3 * a + 2, k] * z[G + 3 * i + 2, k]
                )
        for a in range(3):  # [p]× e_0 = (0, p2, -p1), e_1 = (-p2, 0, p0), e_2 = (p1, -p0, 0)
            q, y, p = QQ + 9 * i + 3 * a, YY + 3 * a, PP + 3 * i
            for k in range(count):
                z[q, k] = z[y + 1, k] * z[p + 2, k] - z[y + 2, k] * z[p + 1, k]
                z[q + 1, k] = z[y + 2, k] * z[p, k] - z[y, k] * z[p + 2, k]
                z[q + 2, k] = z[y, k] * z[p + 1, k] - z[y + 1, k] * z[p, k]


@njit(cache=True, error_model="numpy")
def _blocks(count, scale, z):
    """The ten 3×3 blocks on and above the diagonal: V (2 μ (∇N_i·∇N_j I - [p_i]×ᵀ Y⁻¹ [p_j]×) + λ' p_i p_jᵀ)."""
    for pair in range(10):
        i, j = PAIRS[pair, 0], PAIRS[pair, 1]
        o, p, r, q = BLOCKS + 9 * pair, PP + 3 * i, PP + 3 * j, QQ + 9 * j
        for b in range(3):
            for k in range(count):  # [p]×ᵀ q = -p × q
                shear, bulk = scale * z[SHEAR, k], scale * z[BULK, k] * z[r + b, k]
                p0, p1, p2 = z[p, k], z[p + 1, k], z[p + 2, k]
                q0, q1, q2 = z[q + b, k], z[q + 3 + b, k], z[q + 6 + b, k]
                z[o + b, k] = bulk * p0 - shear * (p2 * q1 - p1 * q2)
                z[o + 3 + b, k] = bulk * p1 - shear * (p0 * q2 - p2 * q0)
                z[o + 6 + b, k] = bulk * p2 - shear * (p1 * q0 - p0 * q1)
        for k in range(count):
            g, h = G + 3 * i, G + 3 * j
            dot = scale * z[SHEAR, k] * (z[g, k] * z[h, k] + z[g + 1, k] * z[h + 1, k] + z[g + 2, k] * z[h + 2, k])
            z[o, k] += dot
            z[o + 4, k] += dot
            z[o + 8, k] += dot
