"""Stiffness of one cell beyond plain Mooney–Rivlin: other tissue, fibres, and curvature projected for bad starts.

The formulas are those of `point` and `projection`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.lattice.kernels import shape_gradients
from vitruvian.flesh.point import add_corotated, add_fibre, add_ratio_slope, add_venant, cofactor_of, deformation
from vitruvian.flesh.projection import add_projected, inverse_trace_minus
from vitruvian.flesh.rotation import signed_svd


@njit(cache=True)
def cell_parts(c, x, pressure, activation, cells, fibres, projected, extra):
    """Fill the upper blocks of extra (24, 24) [N/m] with all that `cell_stiffness` does not do in its lanes.

    projected: everything, with negative curvature clamped at each point, and pressure at the points only; else fibres,
    corotated and St. Venant–Kirchhoff tissue only.
    """
    nodes_of, points, volume, moduli, h = cells
    offset, muscle, density, direction, peak, optimal = fibres
    grads = np.empty((8, 3))
    f, cof = np.empty(9), np.empty(9)
    g = np.zeros(24)
    u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    inv, work9 = np.empty((3, 3)), np.empty((9, 9))
    muc, kappa, p0, gamma, zeta = moduli[c, 2], moduli[c, 3], moduli[c, 4], moduli[c, 5], moduli[c, 6]
    w = 0.25 * volume[c]
    extra[:] = 0.0
    hat, mean, here, drawn = 0.0, 0.0, np.empty(24), moduli[c, 9]
    if projected:
        between, whole = np.zeros((8, 3)), np.zeros(24)
        for q in range(4):
            shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
            between += 0.25 * grads
            deformation(x, nodes_of[c], grads, f)
            mean += 0.25 * cofactor_of(f, cof)
            add_ratio_slope(0.25, cof, grads, g)
        deformation(x, nodes_of[c], between, f)
        ratio = (1.0 + drawn) * mean - drawn * cofactor_of(f, cof)
        add_ratio_slope(-drawn, cof, between, whole)
        hat = pressure[c] + gamma * (ratio - 1.0 - (pressure[c] + p0) / kappa)
        for i in range(24):
            whole[i] += (1.0 + drawn) * g[i]
        for i in range(24):
            for j in range(24):
                extra[i, j] = volume[c] * (gamma * whole[i] * whole[j] - zeta * g[i] * g[j])
    for q in range(4):
        shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
        deformation(x, nodes_of[c], grads, f)
        if projected or muc > 0.0:
            for i in range(9):
                full[i // 3, i % 3] = f[i]
            signed_svd(full, u, s, v)
        if projected:
            near = hat + zeta * (cofactor_of(f, cof) - mean)
            here[:] = 0.0
            add_ratio_slope(1.0, cof, grads, here)
            for i in range(24):
                for j in range(24):
                    extra[i, j] += w * zeta * here[i] * here[j]
            add_projected(moduli[c], near, u, s, v, w, grads, work9, extra)
        elif muc > 0.0:
            inverse_trace_minus(s, v, inv)
            add_corotated(muc, u, v, inv, w, grads, extra)
        if moduli[c, 7] > 0.0 and not projected:
            add_venant(moduli[c, 7], moduli[c, 8], w, f, grads, extra)
        for e in range(offset[c], offset[c + 1]):
            m = muscle[e]
            add_fibre(direction[e], density[e], activation[m], peak[m], optimal[m], w, f, grads, projected, extra)
