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
    add_ratio_slope,
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
            between, push = np.empty((corners, 3)), np.empty(3 * corners)
            for place in range(blocks[block], blocks[block + 1]):
                e = order[place]
                nodes = nodes_of[e]
                mean = mean_ratio(x, nodes, gradients[e], weights[e], f, cofactor)
                hat, beside, jbar[e] = pressures(x, nodes, elements, e, pressure[e], mean, between, f, cofactor)
                energy[e] = volume[e] * moduli[e, 4] * (jbar[e] - mean)
                if beside != 0.0:
                    push[:] = 0.0
                    add_ratio_slope(beside * volume[e], cofactor, between, push)
                    for a in range(corners):
                        for i in range(3):
                            force[nodes[a], i] += push[3 * a + i]
                for q in range(points):
                    grads, w = gradients[e, q], weights[e, q]
                    deformation(x, nodes, grads, f)
                    away = cofactor_of(f, cofactor) - mean
                    stress[:] = 0.0
                    energy[e] += w * add_stress(f, cofactor, moduli[e], hat + beside + moduli[e, 6] * away, stress)
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
    zeta, drawn, here, between = moduli[e, 6], moduli[e, 9], np.zeros(3 * corners), np.empty((corners, 3))
    for q in range(points):
        deformation(x, nodes, gradients[e, q], f)
        cofactor_of(f, cofactor)
        add_ratio_slope(weights[e, q] / volume[e], cofactor, gradients[e, q], g)
    mean = mean_ratio(x, nodes, gradients[e], weights[e], f, cofactor)
    hat, beside, _ = pressures(x, nodes, elements, e, pressure[e], mean, between, f, cofactor)
    if drawn != 0.0:
        add_ratio_slope(-drawn, cofactor, between, here)
    for i in range(3 * corners):
        here[i] += (1.0 + drawn) * g[i]
    for i in range(3 * corners):
        for j in range(3 * corners):
            out[i, j] = volume[e] * (moduli[e, 5] * here[i] * here[j] - zeta * g[i] * g[j])
    if projected:
        beside = 0.0
    elif drawn != 0.0:
        add_elastic(0.0, 0.0, -beside, volume[e], f, between, out)
    for q in range(points):
        grads, w = gradients[e, q], weights[e, q]
        deformation(x, nodes, grads, f)
        near = hat + beside + zeta * (cofactor_of(f, cofactor) - mean)
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
    between = np.empty((gradients.shape[2], 3))
    for e in range(len(nodes_of)):
        mean = mean_ratio(x, nodes_of[e], gradients[e], weights[e], f, cofactor)
        _, _, jbar = pressures(x, nodes_of[e], elements, e, pressure[e], mean, between, f, cofactor)
        beside = moduli[e, 9] * (pressure[e] + moduli[e, 4])
        if beside != 0.0:
            for i in range(3):
                for j in range(3):
                    first[e, i, j] -= beside * cofactor[3 * i + j]
                    for k in range(3):
                        cauchy[e, i, j] -= beside / jbar * cofactor[3 * i + k] * f[3 * j + k]
        for q in range(gradients.shape[1]):
            deformation(x, nodes_of[e], gradients[e, q], f)
            away = cofactor_of(f, cofactor) - mean
            p[:] = 0.0
            add_stress(f, cofactor, moduli[e], pressure[e] + beside + moduli[e, 6] * away, p)
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
def mean_ratio(x, nodes, gradients, weights, f, cofactor):
    """J̃, the mean of J over an element's points; f, cofactor (9,): room."""
    total, whole = 0.0, 0.0
    for q in range(len(weights)):
        deformation(x, nodes, gradients[q], f)
        total += weights[q] * cofactor_of(f, cofactor)
        whole += weights[q]
    return total / whole


@njit(cache=True)
def pressures(x, nodes, elements, e, pressure, mean, between, f, cofactor):
    """p̂ = p + γ c and e (p̂ + p0) [Pa] of an element, and J̄ from its J̃.

    Where e is not zero, the mean of its gradients goes into between (k, 3), of F into f (9,), with its cofactor.
    """
    _, gradients, weights, volume, moduli = elements
    drawn, ratio = moduli[e, 9], mean
    if drawn != 0.0:
        mean_gradients(gradients[e], weights[e], volume[e], between)
        deformation(x, nodes, between, f)
        ratio += drawn * (mean - cofactor_of(f, cofactor))
    hat = pressure + moduli[e, 5] * (ratio - 1.0 - (pressure + moduli[e, 4]) / moduli[e, 3])
    return hat, drawn * (hat + moduli[e, 4]), ratio


@njit(cache=True)
def mean_gradients(gradients, weights, volume, out):
    """Mean over the points of an element into out (k, 3)."""
    out[:] = 0.0
    for q in range(len(weights)):
        out += weights[q] / volume * gradients[q]


@njit(cache=True)
def volume_slope(x, elements, e, g):
    """∂J̄/∂x of one element into g (3k,)."""
    nodes_of, gradients, weights, volume, moduli = elements
    drawn, f, cofactor, between = moduli[e, 9], np.empty(9), np.empty(9), np.empty(gradients.shape[2:])
    g[:] = 0.0
    for q in range(gradients.shape[1]):
        deformation(x, nodes_of[e], gradients[e, q], f)
        cofactor_of(f, cofactor)
        add_ratio_slope((1.0 + drawn) * weights[e, q] / volume[e], cofactor, gradients[e, q], g)
    if drawn != 0.0:
        mean_gradients(gradients[e], weights[e], volume[e], between)
        deformation(x, nodes_of[e], between, f)
        cofactor_of(f, cofactor)
        add_ratio_slope(-drawn, cofactor, between, g)


@njit(cache=True, parallel=True)
def point_volume_rates(x, dx, elements, rate):
    """Change of each element's J̄ under node displacements dx into rate (n,)."""
    nodes_of = elements[0]
    corners = nodes_of.shape[1]
    for chunk in prange((len(rate) + 255) // 256):
        g = np.empty(3 * corners)
        for e in range(256 * chunk, min(256 * chunk + 256, len(rate))):
            volume_slope(x, elements, e, g)
            rate[e] = 0.0
            for a in range(corners):
                for i in range(3):
                    rate[e] += g[3 * a + i] * dx[nodes_of[e, a], i]


@njit(cache=True, parallel=True)
def point_pressure_forces(x, change, elements, colours, blocks, order, force):
    """Nodal forces V ∂J̄/∂x s [N] of a change s [Pa] of each element's pressure, added to `force`."""
    nodes_of, volume = elements[0], elements[3]
    corners = nodes_of.shape[1]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            g = np.empty(3 * corners)
            for place in range(blocks[block], blocks[block + 1]):
                e = order[place]
                volume_slope(x, elements, e, g)
                for a in range(corners):
                    for i in range(3):
                        force[nodes_of[e, a], i] += volume[e] * change[e] * g[3 * a + i]
