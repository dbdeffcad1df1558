"""Stiffness of one cell beyond plain Mooney–Rivlin: fibres, corotated tissue, and curvature projected for bad starts.

    μc:  2[(a·b) 1 + R[a]×G⁻¹[b]×Rᵀ], G = tr(S) 1 − S            fibre: (a·w)(b·w)[T/λ 1 + (T′ − T/λ) nnᵀ]

with a, b the rest gradients of two corners' shape functions at a quadrature point.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.kernels import cofactor_of, deformation, shape_gradients
from vitruvian.flesh.projection import add_projected, inverse_trace_minus
from vitruvian.flesh.rotation import signed_svd


@njit(cache=True)
def cell_parts(c, x, pressure, activation, cells, fibres, projected, extra):
    """Fill the upper blocks of extra (24, 24) [N/m] with all that `cell_stiffness` does not do in its lanes.

    projected: everything, with negative curvature clamped at each point; else fibres and corotated tissue only.
    """
    nodes_of, points, volume, moduli, h = cells
    offset, muscle, density, direction, peak, optimal = fibres
    grads = np.empty((8, 3))
    f, cof = np.empty(9), np.empty(9)
    g = np.zeros(24)
    u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    inv, work9 = np.empty((3, 3)), np.empty((9, 9))
    mu10, mu01, muc = moduli[c, 0], moduli[c, 1], moduli[c, 2]
    kappa, p0, gamma = moduli[c, 3], moduli[c, 4], moduli[c, 5]
    w = 0.25 * volume[c]
    extra[:] = 0.0
    hat = 0.0
    if projected:
        mean = 0.0
        for q in range(4):
            shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
            deformation(x, nodes_of[c], grads, f)
            mean += 0.25 * cofactor_of(f, cof)
            for a in range(8):
                for i in range(3):
                    for j in range(3):
                        g[3 * a + i] += 0.25 * cof[3 * i + j] * grads[a, j]
        hat = pressure[c] + gamma * (mean - 1.0 - (pressure[c] + p0) / kappa)
        for i in range(24):
            for j in range(24):
                extra[i, j] = volume[c] * gamma * g[i] * g[j]
    for q in range(4):
        shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
        deformation(x, nodes_of[c], grads, f)
        if projected or muc > 0.0:
            for i in range(9):
                full[i // 3, i % 3] = f[i]
            signed_svd(full, u, s, v)
        if projected:
            add_projected(mu10, mu01, muc, hat, u, s, v, w, grads, work9, extra)
        elif muc > 0.0:
            inverse_trace_minus(s, v, inv)
            add_corotated(muc, u, v, inv, w, grads, extra)
        for e in range(offset[c], offset[c + 1]):
            m = muscle[e]
            add_fibre(direction[e], density[e], activation[m], peak[m], optimal[m], w, f, grads, projected, extra)


@njit(cache=True)
def add_fibre(direction, density, activation, peak, optimal, w, f, grads, projected, out):
    """Stiffness of fibres; projected keeps only what resists: max(T′, 0) nnᵀ + max(T/λ, 0)(1 − nnᵀ)."""
    w0, w1, w2 = direction[0], direction[1], direction[2]
    n = np.empty(3)
    for i in range(3):
        n[i] = f[3 * i] * w0 + f[3 * i + 1] * w1 + f[3 * i + 2] * w2
    stretch = np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
    if stretch <= 0.0:
        return
    _, tension, slope = fibre_tension(stretch, activation, peak, optimal)
    across = density * tension / stretch
    along = density * slope
    if projected:
        along = max(along, 0.0)
    for i in range(3):
        n[i] /= stretch
    for a in range(8):
        wa = w * (grads[a, 0] * w0 + grads[a, 1] * w1 + grads[a, 2] * w2)
        for b in range(a, 8):
            wab = wa * (grads[b, 0] * w0 + grads[b, 1] * w1 + grads[b, 2] * w2)
            for i in range(3):
                for j in range(3):
                    out[3 * a + i, 3 * b + j] += wab * (along - across) * n[i] * n[j]
                out[3 * a + i, 3 * b + i] += wab * across


@njit(cache=True)
def add_corotated(mu, u, v, inverse, w, grads, out):
    """2 μ w [(a·b) 1 + R [a]× G⁻¹ [b]× Rᵀ]; inverse: G⁻¹ in the rest frame."""
    r = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            r[i, j] = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
    left = np.empty((8, 3, 3))  # R [a]×
    for a in range(8):
        x, y, z = grads[a, 0], grads[a, 1], grads[a, 2]
        for i in range(3):
            left[a, i, 0] = r[i, 1] * z - r[i, 2] * y
            left[a, i, 1] = r[i, 2] * x - r[i, 0] * z
            left[a, i, 2] = r[i, 0] * y - r[i, 1] * x
    for a in range(8):
        for b in range(a, 8):
            ab = grads[a, 0] * grads[b, 0] + grads[a, 1] * grads[b, 1] + grads[a, 2] * grads[b, 2]
            for i in range(3):
                for j in range(3):
                    # [b]× Rᵀ = −(R [b]×)ᵀ
                    total = 0.0
                    for k in range(3):
                        for l in range(3):
                            total -= left[a, i, k] * inverse[k, l] * left[b, j, l]
                    if i == j:
                        total += ab
                    out[3 * a + i, 3 * b + j] += 2.0 * mu * w * total
