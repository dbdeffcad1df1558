"""Inner loops over elements that are sums over points, whatever their number of corners and points.

Threads work on blocks of one colour at a time (`pattern`): no two of them share a node, and the order of every sum is
fixed whatever the number of threads. `elements` below is (element_nodes, gradients, weights, volume, moduli) of
`PointElasticity`, `fibres` is `MuscleFibres.kernel()`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.point import (
    add_corotated,
    add_elastic,
    add_fibre,
    add_fibre_stress,
    add_stress,
    add_venant,
    cofactor_of,
    deformation,
)
from vitruvian.flesh.projection import add_projected, inverse_trace_minus
from vitruvian.flesh.rotation import signed_svd


@njit(cache=True, parallel=True)
def point_forces(x, pressure, activation, elements, colours, blocks, order, fibres, force, energy, jbar):
    """Elastic force on the nodes [N] added to `force`; of each element the energy at its points [J] and J̄."""
    nodes_of, gradients, weights, volume, moduli = elements
    offset, muscle, density, direction, peak, optimal = fibres
    points, corners = gradients.shape[1:3]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            f, cofactor, stress = np.empty(9), np.empty(9), np.empty(9)
            for place in range(blocks[block], blocks[block + 1]):
                e = order[place]
                nodes = nodes_of[e]
                jbar[e] = 0.0
                for q in range(points):
                    deformation(x, nodes, gradients[e, q], f)
                    jbar[e] += weights[e, q] / volume[e] * cofactor_of(f, cofactor)
                hat = hat_pressure(pressure[e], jbar[e], moduli[e])
                energy[e] = 0.0
                for q in range(points):
                    grads, w = gradients[e, q], weights[e, q]
                    deformation(x, nodes, grads, f)
                    away = cofactor_of(f, cofactor) - jbar[e]
                    stress[:] = 0.0
                    energy[e] += w * add_stress(f, cofactor, moduli[e], hat + moduli[e, 6] * away, stress)
                    energy[e] += 0.5 * w * moduli[e, 6] * away * away
                    for m in range(offset[e], offset[e + 1]):
                        which = muscle[m]
                        energy[e] += w * add_fibre_stress(
                            f, direction[m], density[m], activation[which], peak[which], optimal[which], stress
                        )
                    for a in range(corners):
                        for i in range(3):
                            pull = 0.0
                            for j in range(3):
                                pull += stress[3 * i + j] * grads[a, j]
                            force[nodes[a], i] -= w * pull


@njit(cache=True, parallel=True)
def point_stiffness(x, pressure, activation, elements, colours, blocks, order, fibres, slots, projected, data):
    """Add the stiffness of all elements to the block matrix (n_blocks, 9); slots: as in `Pattern`."""
    corners = elements[0].shape[1]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            matrix = np.empty((3 * corners, 3 * corners))
            for place in range(blocks[block], blocks[block + 1]):
                e = order[place]
                element_matrix(e, x, pressure, activation, elements, fibres, projected, matrix)
                for a in range(corners):
                    for b in range(corners):
                        d = data[slots[e, a, b]]
                        for i in range(3):
                            for j in range(3):
                                if b >= a:
                                    d[3 * i + j] += matrix[3 * a + i, 3 * b + j]
                                else:
                                    d[3 * i + j] += matrix[3 * b + j, 3 * a + i]


@njit(cache=True)
def element_matrix(e, x, pressure, activation, elements, fibres, projected, out):
    """Fill the upper blocks of out (3k, 3k) [N/m] with the stiffness of element e."""
    nodes_of, gradients, weights, volume, moduli = elements
    offset, muscle, density, direction, peak, optimal = fibres
    points, corners = gradients.shape[1:3]
    nodes, mu10, mu01, muc = nodes_of[e], moduli[e, 0], moduli[e, 1], moduli[e, 2]
    f, cofactor, g = np.empty(9), np.empty(9), np.zeros(3 * corners)
    u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    inverse, work = np.empty((3, 3)), np.empty((9, 9))
    zeta, here = moduli[e, 6], np.empty(3 * corners)
    jbar = 0.0
    for q in range(points):
        deformation(x, nodes, gradients[e, q], f)
        share = weights[e, q] / volume[e]
        jbar += share * cofactor_of(f, cofactor)
        add_ratio_slope(share, cofactor, gradients[e, q], g)
    hat = hat_pressure(pressure[e], jbar, moduli[e])
    for i in range(3 * corners):
        for j in range(3 * corners):
            out[i, j] = volume[e] * (moduli[e, 5] - zeta) * g[i] * g[j]
    for q in range(points):
        grads, w = gradients[e, q], weights[e, q]
        deformation(x, nodes, grads, f)
        near = hat + zeta * (cofactor_of(f, cofactor) - jbar)
        if zeta != 0.0:
            here[:] = 0.0
            add_ratio_slope(1.0, cofactor, grads, here)
            for i in range(3 * corners):
                for j in range(3 * corners):
                    out[i, j] += w * zeta * here[i] * here[j]
        if projected or muc > 0.0:
            for i in range(9):
                full[i // 3, i % 3] = f[i]
            signed_svd(full, u, s, v)
        if projected:
            add_projected(moduli[e], near, u, s, v, w, grads, work, out)
        else:
            add_elastic(mu10, mu01, near, w, f, grads, out)
            if moduli[e, 7] > 0.0:
                add_venant(moduli[e, 7], moduli[e, 8], w, f, grads, out)
            if muc > 0.0:
                inverse_trace_minus(s, v, inverse)
                add_corotated(muc, u, v, inverse, w, grads, out)
        for m in range(offset[e], offset[e + 1]):
            which = muscle[m]
            add_fibre(
                direction[m], density[m], activation[which], peak[which], optimal[which], w, f, grads, projected, out
            )


@njit(cache=True)
def point_stress(x, pressure, activation, elements, fibres, first, cauchy):
    """Mean first Piola–Kirchhoff and Cauchy stress [Pa] of each element into (n, 3, 3), with p as it is given."""
    nodes_of, gradients, weights, volume, moduli = elements
    offset, muscle, density, direction, peak, optimal = fibres
    f, cofactor, p = np.empty(9), np.empty(9), np.empty(9)
    for e in range(len(nodes_of)):
        jbar = 0.0
        for q in range(gradients.shape[1]):
            deformation(x, nodes_of[e], gradients[e, q], f)
            jbar += weights[e, q] / volume[e] * cofactor_of(f, cofactor)
        for q in range(gradients.shape[1]):
            deformation(x, nodes_of[e], gradients[e, q], f)
            away = cofactor_of(f, cofactor) - jbar
            p[:] = 0.0
            add_stress(f, cofactor, moduli[e], pressure[e] + moduli[e, 6] * away, p)
            for m in range(offset[e], offset[e + 1]):
                w = muscle[m]
                add_fibre_stress(f, direction[m], density[m], activation[w], peak[w], optimal[w], p)
            share = weights[e, q] / volume[e]
            for i in range(3):
                for j in range(3):
                    first[e, i, j] += share * p[3 * i + j]
                    for k in range(3):
                        cauchy[e, i, j] += share / jbar * p[3 * i + k] * f[3 * j + k]


@njit(cache=True)
def hat_pressure(pressure, jbar, moduli):
    """p̂ = p + γ c [Pa]."""
    return pressure + moduli[5] * (jbar - 1.0 - (pressure + moduli[4]) / moduli[3])


@njit(cache=True)
def add_ratio_slope(share, cofactor, grads, g):
    """Add one point's share of ∂J̄/∂x to g (3k,)."""
    for a in range(len(grads)):
        for i in range(3):
            for j in range(3):
                g[3 * a + i] += share * cofactor[3 * i + j] * grads[a, j]


@njit(cache=True, parallel=True)
def point_volume_rates(x, dx, elements, rate):
    """Change of each element's J̄ under node displacements dx into rate (n,)."""
    nodes_of, gradients, weights, volume, _ = elements
    for chunk in prange((len(rate) + 255) // 256):
        f, cofactor, df = np.empty(9), np.empty(9), np.empty(9)
        for e in range(256 * chunk, min(256 * chunk + 256, len(rate))):
            rate[e] = 0.0
            for q in range(gradients.shape[1]):
                deformation(x, nodes_of[e], gradients[e, q], f)
                deformation(dx, nodes_of[e], gradients[e, q], df)
                cofactor_of(f, cofactor)
                for i in range(9):
                    rate[e] += weights[e, q] / volume[e] * cofactor[i] * df[i]


@njit(cache=True, parallel=True)
def point_pressure_forces(x, change, elements, colours, blocks, order, force):
    """Nodal forces V ∂J̄/∂x s [N] of a change s [Pa] of each element's pressure, added to `force`."""
    nodes_of, gradients, weights, _, _ = elements
    points, corners = gradients.shape[1:3]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            f, cofactor, g = np.empty(9), np.empty(9), np.empty(3 * corners)
            for place in range(blocks[block], blocks[block + 1]):
                e = order[place]
                g[:] = 0.0
                for q in range(points):
                    deformation(x, nodes_of[e], gradients[e, q], f)
                    cofactor_of(f, cofactor)
                    add_ratio_slope(weights[e, q] * change[e], cofactor, gradients[e, q], g)
                for a in range(corners):
                    for i in range(3):
                        force[nodes_of[e, a], i] += g[3 * a + i]
