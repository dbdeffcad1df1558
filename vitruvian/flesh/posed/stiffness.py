"""Stiffness of posed flesh for implicit steps, without false resistance to turning.

The energy's second derivative with the rotation left free to follow, its negative parts left out:

    dF: K: dF = V (2 μ (|dF|² - aᵀ Y⁻¹ a) + λ' (G:dF)²),   a = Σ_i p_i × u_i,   p_i = G ∇N_i,   Y = tr(G Gᵀ) I - G Gᵀ

The first bracket is min_ω |dF - [ω] G|²: never negative, and zero for every rotation of G. With the rotation frozen
instead, an implicit step resists turning and takes spin away. As for forces, elements are taken in chunks.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.blocks import FAST, ROWS, SLOPES, P, nine
from vitruvian.flesh.posed.forces import block_forces
from vitruvian.flesh.posed.model import CHUNK

# rows of a chunk's second scratch: ∇N (12), p (12), Y⁻¹ (9), Y⁻¹ [p]× (36), shear, bulk; of the third: 10 blocks of 9
G, PP, YY, QQ, SHEAR, BULK, PREPARED = 0, 12, 24, 33, 69, 70, 71
PAIRS = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]])


@njit(cache=True, error_model="numpy")
def add_elastic(flesh, x, pose, scale, force, matrix):
    """Add the elastic forces [N] to force (n_nodes, 3) and `scale` times the stiffness to matrix (n_places, 3, 3)."""
    f, z, m = np.empty(ROWS * CHUNK), np.empty(PREPARED * CHUNK), np.empty(90 * CHUNK)
    flat, places, count = matrix.reshape(-1), flesh.place.reshape(-1), len(flesh.place)
    corners, slopes = flesh.corners.reshape(-1), flesh.slopes.reshape(-1)
    shear, bulk = flesh.shear.reshape(-1), flesh.bulk.reshape(-1)
    for block in range(len(flesh.corners)):
        block_forces(corners, slopes, shear, bulk, x, pose, block, f, force)
        _prepare(shear, bulk, block, scale, f, z)
        _blocks(z, m)
        _spread(places, 16 * CHUNK * block, min(CHUNK, count - block * CHUNK), m, flat)


@njit(cache=True)
def _spread(places, first, count, m, flat):
    """Blocks of the elements to their places in the matrix, those under the diagonal transposed."""
    for k in range(count):
        for pair in range(10):
            i, j = PAIRS[pair, 0], PAIRS[pair, 1]
            at, o = 9 * places[first + 16 * k + 4 * i + j], 9 * pair * CHUNK + k
            for t in range(9):
                flat[at + t] += m[o + t * CHUNK]
            if i != j:
                at = 9 * places[first + 16 * k + 4 * j + i]
                for a in range(3):
                    for b in range(3):
                        flat[at + 3 * a + b] += m[o + (3 * b + a) * CHUNK]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _prepare(shear, bulk, block, scale, f, z):
    """∇N, p, Y⁻¹, Y⁻¹ [p]× and `scale` times the moduli of a chunk whose scratch of forces is f."""
    for k in range(CHUNK):
        s0, s1, s2, s3, s4, s5, s6, s7, s8 = nine(f, SLOPES, k)
        _put(z, G + 3, k, s0, s1, s2)
        _put(z, G + 6, k, s3, s4, s5)
        _put(z, G + 9, k, s6, s7, s8)
        _put(z, G, k, -(s0 + s3 + s6), -(s1 + s4 + s7), -(s2 + s5 + s8))
    for k in range(CHUNK):  # Y = |G|² I - G Gᵀ, positive definite unless G is a line
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        r0, r1, r2 = a * a + b * b + c * c, d * d + e * e + g * g, h * h + i * i + j * j
        size = r0 + r1 + r2
        y00, y11, y22 = size - r0, size - r1, size - r2
        y01, y02, y12 = -(a * d + b * e + c * g), -(a * h + b * i + c * j), -(d * h + e * i + g * j)
        c00, c01, c02 = y11 * y22 - y12 * y12, y02 * y12 - y01 * y22, y01 * y12 - y02 * y11
        u = 1.0 / (y00 * c00 + y01 * c01 + y02 * c02)
        off = u * (y01 * y02 - y00 * y12)
        _put(z, YY, k, u * c00, u * c01, u * c02)
        _put(z, YY + 3, k, u * c01, u * (y00 * y22 - y02 * y02), off)
        _put(z, YY + 6, k, u * c02, off, u * (y00 * y11 - y01 * y01))
        z[SHEAR * CHUNK + k] = scale * shear[CHUNK * block + k]
        z[BULK * CHUNK + k] = scale * bulk[CHUNK * block + k] / size
    for n in range(4):
        for k in range(CHUNK):
            a, b, c, d, e, g, h, i, j = nine(f, P, k)
            at = (G + 3 * n) * CHUNK + k
            s0, s1, s2 = z[at], z[at + CHUNK], z[at + 2 * CHUNK]
            p0, p1, p2 = a * s0 + b * s1 + c * s2, d * s0 + e * s1 + g * s2, h * s0 + i * s1 + j * s2
            _put(z, PP + 3 * n, k, p0, p1, p2)
            for r in range(3):  # [p]× e_0 = (0, p2, -p1), e_1 = (-p2, 0, p0), e_2 = (p1, -p0, 0)
                y = (YY + 3 * r) * CHUNK + k
                y0, y1, y2 = z[y], z[y + CHUNK], z[y + 2 * CHUNK]
                _put(z, QQ + 9 * n + 3 * r, k, y1 * p2 - y2 * p1, y2 * p0 - y0 * p2, y0 * p1 - y1 * p0)


@njit(cache=True)
def _put(z, row, k, a, b, c):
    at = row * CHUNK + k
    z[at], z[at + CHUNK], z[at + 2 * CHUNK] = a, b, c


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _blocks(z, m):
    """The ten 3×3 blocks on and above the diagonal: V (2 μ (∇N_i·∇N_j I - [p_i]×ᵀ Y⁻¹ [p_j]×) + λ' p_i p_jᵀ)."""
    for pair in range(10):
        i, j = PAIRS[pair, 0], PAIRS[pair, 1]
        for k in range(CHUNK):
            shear, bulk = z[SHEAR * CHUNK + k], z[BULK * CHUNK + k]
            at, to = (PP + 3 * i) * CHUNK + k, 9 * pair * CHUNK + k
            p0, p1, p2 = z[at], z[at + CHUNK], z[at + 2 * CHUNK]
            at = (G + 3 * i) * CHUNK + k
            g0, g1, g2 = z[at], z[at + CHUNK], z[at + 2 * CHUNK]
            at = (G + 3 * j) * CHUNK + k
            dot = shear * (g0 * z[at] + g1 * z[at + CHUNK] + g2 * z[at + 2 * CHUNK])
            for b in range(3):  # [p]×ᵀ q = -p × q
                at = (QQ + 9 * j + b) * CHUNK + k
                q0, q1, q2 = shear * z[at], shear * z[at + 3 * CHUNK], shear * z[at + 6 * CHUNK]
                r = bulk * z[(PP + 3 * j + b) * CHUNK + k]
                e0, e1, e2 = (dot if b == 0 else 0.0), (dot if b == 1 else 0.0), (dot if b == 2 else 0.0)
                m[to + b * CHUNK] = r * p0 - (p2 * q1 - p1 * q2) + e0
                m[to + (3 + b) * CHUNK] = r * p1 - (p0 * q2 - p2 * q0) + e1
                m[to + (6 + b) * CHUNK] = r * p2 - (p1 * q0 - p0 * q1) + e2
