"""Stiffness with its negative curvature removed, from the singular values of F.

In the frame F = U diag(σ) Vᵀ the 9×9 derivative of the stress falls apart into one 3×3 block (stretches) and three
pairs (i, j), k the third, each with a symmetric and a skew mode:

    stretch block: diagonal 2μ10 + 2μ01(σj² + σk²) + 2μc,  off-diagonal 4μ01 σi σj + p σk
    symmetric: 2μ10 + 2μ01(σk² − σi σj) − p σk + 2μc,      skew: 2μ10 + 2μ01(σk² + σi σj) + p σk + 2μc(1 − 2/(σi + σj))

St. Venant–Kirchhoff tissue adds, with e = λs tr(E) − μs, (3μs + λs)σi² + e and λs σi σj to the stretch block, and
μs(σi² ± σi σj + σj²) + e to the symmetric (+) and skew (−) modes. Each eigenvalue is clamped at zero; nothing divides
by a small number, so inverted and collapsed cells are harmless (Smith, de Goes and Kim 2019; Teran et al. 2005).
"""

from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST = 1e-3  # |σi + σj| below this counts as this in the rotation's derivative, which is singular at zero


@njit(cache=True)
def inverse_trace_minus(s, v, out):
    """(tr(S) 1 − S)⁻¹ for S = V diag(s) Vᵀ, into out (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = 0.0
    for k in range(3):
        total = s[(k + 1) % 3] + s[(k + 2) % 3]
        if abs(total) < SMALLEST:
            total = SMALLEST if total >= 0.0 else -SMALLEST
        for i in range(3):
            for j in range(3):
                out[i, j] += v[i, k] * v[j, k] / total


@njit(cache=True)
def add_projected(moduli, p, u, s, v, w, grads, d, out):
    """Add the projected stiffness of one point (all of `materials`, and pressure) to out (3k, 3k)."""
    mu10, mu01, muc, mus, lams = moduli[0], moduli[1], moduli[2], moduli[7], moduli[8]
    strain = 0.5 * lams * (s[0] ** 2 + s[1] ** 2 + s[2] ** 2 - 3.0) - mus
    for i in range(9):
        for j in range(9):
            d[i, j] = 0.0
    block = np.empty((3, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        block[i, i] = 2.0 * mu10 + 2.0 * mu01 * (s[j] ** 2 + s[k] ** 2) + 2.0 * muc
        block[i, i] += (3.0 * mus + lams) * s[i] ** 2 + strain
        block[i, j] = (4.0 * mu01 + lams) * s[i] * s[j] + p * s[k]
        block[j, i] = block[i, j]
    values, vectors = np.linalg.eigh(block)
    for m in range(3):
        if values[m] > 0.0:
            for i in range(3):
                for j in range(3):
                    d[4 * i, 4 * j] += values[m] * vectors[i, m] * vectors[j, m]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        base = 2.0 * mu10 + 2.0 * mu01 * s[k] ** 2 + 2.0 * muc + mus * (s[i] ** 2 + s[j] ** 2) + strain
        change = (2.0 * mu01 - mus) * s[i] * s[j] + p * s[k]
        symmetric = max(base - change, 0.0)
        skew = base + change
        if muc > 0.0:
            total = s[i] + s[j]
            skew -= 4.0 * muc / total if total > SMALLEST else 4.0 * muc / SMALLEST
        skew = max(skew, 0.0)
        ij, ji = 3 * i + j, 3 * j + i
        d[ij, ij] = 0.5 * (symmetric + skew)
        d[ji, ji] = d[ij, ij]
        d[ij, ji] = 0.5 * (symmetric - skew)
        d[ji, ij] = d[ij, ji]
    turned = np.empty((len(grads), 3))  # Vᵀ a
    for a in range(len(grads)):
        for i in range(3):
            turned[a, i] = v[0, i] * grads[a, 0] + v[1, i] * grads[a, 1] + v[2, i] * grads[a, 2]
    local = np.empty((3, 3))
    for a in range(len(grads)):
        for b in range(a, len(grads)):
            for i in range(3):
                for k in range(3):
                    total = 0.0
                    for j in range(3):
                        for l in range(3):
                            total += turned[a, j] * d[3 * i + j, 3 * k + l] * turned[b, l]
                    local[i, k] = w * total
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for k in range(3):
                        for l in range(3):
                            total += u[i, k] * local[k, l] * u[j, l]
                    out[3 * a + i, 3 * b + j] += total
