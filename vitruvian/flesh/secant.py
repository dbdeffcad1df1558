"""Elastic forces over a whole time step, which do exactly the work by which the energy falls.

Between two shapes, with C = FᵀF at every point, strain runs along C(s) = C₀ + s (C₁ − C₀), and the stress is its mean:

    f_a = −Σ_q w ½(F₀ + F₁) S̄ ∇N_a,      S̄ = 2 ∫₀¹ ∂Ψ/∂C ds + p̂ ∫₀¹ J C⁻¹ ds + fibres

S̄ is symmetric and acts on the mean of F, so forces have no sum and no moment about ½(x₀ + x₁); and as ½ S̄ : (C₁ − C₀)
is the change of the energy density, f · (x₁ − x₀) = E₀ − E₁. A step with these forces keeps linear and angular momentum
and energy (Simo and Tarnow 1992; Gonzalez 2000). Mooney–Rivlin and St. Venant–Kirchhoff stress is linear in C, so its
mean is that at ½(C₀ + C₁). The pressure is that of the mean volume, κ(½(J̄₀ + J̄₁) − 1) − p0, as U is quadratic; what
acts on the mean of F of lattice cells (`elasticity`) does so along the C of that mean.
Fibres: the change of their energy over that of λ². Volume and corotated tissue: three Gauss points. A rotation leaves C
as it is, so it brings no stress, however large.

Where a point turns inside out, J = √det C has lost its sign; there strain runs along F₀ + s (F₁ − F₀), which keeps
energy and linear momentum only.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.point import add_fibre_stress, add_stress, cofactor_of, deformation
from vitruvian.flesh.point_kernels import mean_gradients
from vitruvian.flesh.rotation import signed_svd

GAUSS = (0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15))
SHARE = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)
NEAR = 1e-5  # relative change of λ² below which the slope at its mean is taken


@njit(cache=True, parallel=True)
def secant_forces(x0, x1, pressure, activation, elements, colours, blocks, order, fibres, force, jbar):
    """Mean elastic force on the nodes [N] from x0 to x1 added to `force`; ½(J̄₀ + J̄₁) into jbar.

    Arguments as in `point_kernels.point_forces`.
    """
    nodes_of, gradients, weights, volume, moduli = elements
    points, corners = gradients.shape[1:3]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            f0, f1, cofactor, stress = np.empty(9), np.empty(9), np.empty(9), np.empty(9)
            work, between = np.empty((6, 3, 3)), np.empty((corners, 3))
            for place in range(blocks[block], blocks[block + 1]):
                e = order[place]
                nodes, drawn = nodes_of[e], moduli[e, 9]
                mean = 0.0
                for q in range(points):
                    deformation(x0, nodes, gradients[e, q], f0)
                    deformation(x1, nodes, gradients[e, q], f1)
                    mean += 0.5 * weights[e, q] * (cofactor_of(f0, cofactor) + cofactor_of(f1, cofactor))
                mean /= volume[e]
                jbar[e] = mean
                before, after = 0.0, 0.0
                if drawn != 0.0:
                    mean_gradients(gradients[e], weights[e], volume[e], between)
                    deformation(x0, nodes, between, f0)
                    deformation(x1, nodes, between, f1)
                    before, after = cofactor_of(f0, cofactor), cofactor_of(f1, cofactor)
                    jbar[e] += drawn * (mean - 0.5 * (before + after))
                hat = pressure[e] + moduli[e, 5] * (jbar[e] - 1.0 - (pressure[e] + moduli[e, 4]) / moduli[e, 3])
                beside = drawn * (hat + moduli[e, 4])
                if drawn != 0.0:
                    stress[:] = 0.0
                    add_mean_pressure(f0, f1, -beside, before > 0.0 and after > 0.0, work, stress)
                    push(stress, between, volume[e], nodes, force)
                for q in range(points):
                    grads, w = gradients[e, q], weights[e, q]
                    deformation(x0, nodes, grads, f0)
                    deformation(x1, nodes, grads, f1)
                    stress[:] = 0.0
                    before, after = cofactor_of(f0, cofactor), cofactor_of(f1, cofactor)
                    near = hat + beside + moduli[e, 6] * (0.5 * (before + after) - mean)
                    if before > 0.0 and after > 0.0:
                        add_mean_stress(f0, f1, moduli[e], near, e, activation, fibres, work, stress)
                    else:
                        add_chord_stress(f0, f1, moduli[e], near, e, activation, fibres, stress)
                    push(stress, grads, w, nodes, force)


@njit(cache=True)
def push(stress, grads, w, nodes, force):
    """The force of stress (9,) on an element's corners, of weight w [m³]."""
    for a in range(len(grads)):
        for i in range(3):
            pull = 0.0
            for j in range(3):
                pull += stress[3 * i + j] * grads[a, j]
            force[nodes[a], i] -= w * pull


@njit(cache=True)
def add_mean_pressure(f0, f1, pressure, along, work, out):
    """The mean of p cof F [Pa] to out (9,), along C or, where J has lost its sign, along F."""
    c, s = work[0], work[1]
    f, cofactor = np.empty(9), np.empty(9)
    s[:] = 0.0
    for k in range(3):
        if not along:
            for i in range(9):
                f[i] = f0[i] + GAUSS[k] * (f1[i] - f0[i])
            cofactor_of(f, cofactor)
            for i in range(9):
                out[i] += SHARE[k] * pressure * cofactor[i]
            continue
        for i in range(3):
            for j in range(3):
                before = f0[i] * f0[j] + f0[3 + i] * f0[3 + j] + f0[6 + i] * f0[6 + j]
                after = f1[i] * f1[j] + f1[3 + i] * f1[3 + j] + f1[6 + i] * f1[6 + j]
                c[i, j] = before + GAUSS[k] * (after - before)
        add_volume_stress(c, SHARE[k] * pressure, s)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                out[3 * i + j] += 0.5 * (f0[3 * i + k] + f1[3 * i + k]) * s[k, j]


@njit(cache=True)
def add_mean_stress(f0, f1, moduli, hat, e, activation, fibres, work, out):
    """½(F₀ + F₁) S̄ [Pa] to out (9,), along C."""
    mu10, mu01, muc, mus, lams = moduli[0], moduli[1], moduli[2], moduli[7], moduli[8]
    c0, c1, c, s = work[0], work[1], work[2], work[3]
    trace = 0.0
    for i in range(3):
        for j in range(3):
            c0[i, j] = f0[i] * f0[j] + f0[3 + i] * f0[3 + j] + f0[6 + i] * f0[6 + j]
            c1[i, j] = f1[i] * f1[j] + f1[3 + i] * f1[3 + j] + f1[6 + i] * f1[6 + j]
            s[i, j] = (0.5 * mus - mu01) * (c0[i, j] + c1[i, j])
        trace += 0.5 * (c0[i, i] + c1[i, i])
    for i in range(3):
        s[i, i] += 2.0 * (mu10 + mu01 * trace + muc) - mus + 0.5 * lams * (trace - 3.0)
    for k in range(3):
        for i in range(3):
            for j in range(3):
                c[i, j] = c0[i, j] + GAUSS[k] * (c1[i, j] - c0[i, j])
        add_volume_stress(c, SHARE[k] * hat, s)
        if muc > 0.0:
            add_inverse_stretch(c, -2.0 * SHARE[k] * muc, work[4], work[5], s)
    offset, muscle, density, direction, peak, optimal = fibres
    for m in range(offset[e], offset[e + 1]):
        which, d = muscle[m], direction[m]
        before, after = 0.0, 0.0
        for i in range(3):
            for j in range(3):
                before += d[i] * c0[i, j] * d[j]
                after += d[i] * c1[i, j] * d[j]
        middle, change = 0.5 * (before + after), after - before
        if abs(change) > NEAR * middle:
            stored0, _, _ = fibre_tension(np.sqrt(before), activation[which], peak[which], optimal[which])
            stored1, _, _ = fibre_tension(np.sqrt(after), activation[which], peak[which], optimal[which])
            pull = 2.0 * (stored1 - stored0) / change
        else:
            stretch = np.sqrt(middle)
            _, tension, _ = fibre_tension(stretch, activation[which], peak[which], optimal[which])
            pull = tension / max(stretch, 1e-300)
        for i in range(3):
            for j in range(3):
                s[i, j] += density[m] * pull * d[i] * d[j]
    for i in range(3):
        for j in range(3):
            for k in range(3):
                out[3 * i + j] += 0.5 * (f0[3 * i + k] + f1[3 * i + k]) * s[k, j]


@njit(cache=True)
def add_volume_stress(c, hat, s):
    """p̂ J C⁻¹ to s (3, 3)."""
    m00, m01 = c[1, 1] * c[2, 2] - c[1, 2] ** 2, c[0, 2] * c[1, 2] - c[0, 1] * c[2, 2]
    m02 = c[0, 1] * c[1, 2] - c[0, 2] * c[1, 1]
    j = np.sqrt(max(c[0, 0] * m00 + c[0, 1] * m01 + c[0, 2] * m02, 1e-300))
    k = hat / j
    m11, m22 = c[0, 0] * c[2, 2] - c[0, 2] ** 2, c[0, 0] * c[1, 1] - c[0, 1] ** 2
    m12 = c[0, 1] * c[0, 2] - c[0, 0] * c[1, 2]
    s[0, 0] += k * m00
    s[1, 1] += k * m11
    s[2, 2] += k * m22
    s[0, 1] += k * m01
    s[1, 0] += k * m01
    s[0, 2] += k * m02
    s[2, 0] += k * m02
    s[1, 2] += k * m12
    s[2, 1] += k * m12


@njit(cache=True)
def add_inverse_stretch(c, factor, u, v, s):
    """factor U⁻¹ to s (3, 3), U² = C."""
    squares = np.empty(3)
    signed_svd(c, u, squares, v)
    for k in range(3):
        share = factor / np.sqrt(max(squares[k], 1e-300))
        for i in range(3):
            for j in range(3):
                s[i, j] += share * v[i, k] * v[j, k]


@njit(cache=True)
def add_chord_stress(f0, f1, moduli, hat, e, activation, fibres, out):
    """The mean of P along F₀ + s (F₁ − F₀) to out (9,)."""
    offset, muscle, density, direction, peak, optimal = fibres
    f, cofactor, stress = np.empty(9), np.empty(9), np.empty(9)
    for k in range(3):
        for i in range(9):
            f[i] = f0[i] + GAUSS[k] * (f1[i] - f0[i])
            stress[i] = 0.0
        cofactor_of(f, cofactor)
        add_stress(f, cofactor, moduli, hat, stress)
        for m in range(offset[e], offset[e + 1]):
            which = muscle[m]
            add_fibre_stress(f, direction[m], density[m], activation[which], peak[which], optimal[which], stress)
        for i in range(9):
            out[i] += SHARE[k] * stress[i]
