"""Inner loops over cells: energy and forces of trilinear hexahedra with cell-mean volume.

Cells are grouped in blocks of 4×4×4 grid cells and the blocks in eight colours: blocks of one colour share no node, so
threads add to nodes without races, and the order of every sum is fixed whatever the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.rotation import signed_svd


@njit(cache=True)
def shape_gradients(px, py, pz, h, out):
    """Gradients [1/m] of the eight trilinear shape functions at a point (0 to 1), into out (8, 3)."""
    for c in range(8):
        x, dx = (px, 1.0) if c & 1 else (1.0 - px, -1.0)
        y, dy = (py, 1.0) if (c >> 1) & 1 else (1.0 - py, -1.0)
        z, dz = (pz, 1.0) if c >> 2 else (1.0 - pz, -1.0)
        out[c, 0] = dx * y * z / h
        out[c, 1] = x * dy * z / h
        out[c, 2] = x * y * dz / h


@njit(cache=True)
def deformation(x, nodes, grads, f):
    """F = Σ x_a ⊗ ∇N_a into f (9,), row by row."""
    for i in range(9):
        f[i] = 0.0
    for c in range(8):
        n = nodes[c]
        for i in range(3):
            f[3 * i] += x[n, i] * grads[c, 0]
            f[3 * i + 1] += x[n, i] * grads[c, 1]
            f[3 * i + 2] += x[n, i] * grads[c, 2]


@njit(cache=True)
def cofactor_of(f, out):
    out[0] = f[4] * f[8] - f[5] * f[7]
    out[1] = f[5] * f[6] - f[3] * f[8]
    out[2] = f[3] * f[7] - f[4] * f[6]
    out[3] = f[2] * f[7] - f[1] * f[8]
    out[4] = f[0] * f[8] - f[2] * f[6]
    out[5] = f[1] * f[6] - f[0] * f[7]
    out[6] = f[1] * f[5] - f[2] * f[4]
    out[7] = f[2] * f[3] - f[0] * f[5]
    out[8] = f[0] * f[4] - f[1] * f[3]
    return f[0] * out[0] + f[1] * out[1] + f[2] * out[2]


@njit(cache=True, parallel=True)
def cell_forces(x, pressure, activation, cells, colours, blocks, order, fibres, force, energy, jbar):
    """Elastic force on the nodes [N] added to `force`; per cell the energy at the points [J] and the mean J."""
    nodes_of, points, volume, moduli, h = cells
    offset, muscle, density, direction, peak, optimal = fibres
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            grads = np.empty((4, 8, 3))
            f = np.empty((4, 9))
            cof = np.empty((4, 9))
            p = np.empty(9)
            u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
            for place in range(blocks[block], blocks[block + 1]):
                c = order[place]
                nodes = nodes_of[c]
                mean = 0.0
                for q in range(4):
                    shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads[q])
                    deformation(x, nodes, grads[q], f[q])
                    mean += 0.25 * cofactor_of(f[q], cof[q])
                jbar[c] = mean
                mu10, mu01, muc, kappa, p0, gamma = (
                    moduli[c, 0],
                    moduli[c, 1],
                    moduli[c, 2],
                    moduli[c, 3],
                    moduli[c, 4],
                    moduli[c, 5],
                )
                hat = pressure[c] + gamma * (mean - 1.0 - (pressure[c] + p0) / kappa)
                w = 0.25 * volume[c]
                total = 0.0
                for q in range(4):
                    g = f[q]
                    # symmetric C = FᵀF
                    c00 = g[0] * g[0] + g[3] * g[3] + g[6] * g[6]
                    c01 = g[0] * g[1] + g[3] * g[4] + g[6] * g[7]
                    c02 = g[0] * g[2] + g[3] * g[5] + g[6] * g[8]
                    c11 = g[1] * g[1] + g[4] * g[4] + g[7] * g[7]
                    c12 = g[1] * g[2] + g[4] * g[5] + g[7] * g[8]
                    c22 = g[2] * g[2] + g[5] * g[5] + g[8] * g[8]
                    i1 = c00 + c11 + c22
                    cc = c00 * c00 + c11 * c11 + c22 * c22 + 2.0 * (c01 * c01 + c02 * c02 + c12 * c12)
                    total += mu10 * (i1 - 3.0) + mu01 * (0.5 * (i1 * i1 - cc) - 3.0)
                    for i in range(3):
                        a, b, d = g[3 * i], g[3 * i + 1], g[3 * i + 2]
                        k = 2.0 * (mu10 + mu01 * i1)
                        p[3 * i] = k * a - 2.0 * mu01 * (a * c00 + b * c01 + d * c02) + hat * cof[q, 3 * i]
                        p[3 * i + 1] = k * b - 2.0 * mu01 * (a * c01 + b * c11 + d * c12) + hat * cof[q, 3 * i + 1]
                        p[3 * i + 2] = k * d - 2.0 * mu01 * (a * c02 + b * c12 + d * c22) + hat * cof[q, 3 * i + 2]
                    if muc > 0.0:
                        for i in range(9):
                            full[i // 3, i % 3] = g[i]
                        signed_svd(full, u, s, v)
                        for i in range(3):
                            for j in range(3):
                                r = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
                                p[3 * i + j] += 2.0 * muc * (g[3 * i + j] - r)
                            total += muc * (s[i] - 1.0) ** 2
                    for e in range(offset[c], offset[c + 1]):
                        m = muscle[e]
                        w0, w1, w2 = direction[e, 0], direction[e, 1], direction[e, 2]
                        n0 = g[0] * w0 + g[1] * w1 + g[2] * w2
                        n1 = g[3] * w0 + g[4] * w1 + g[5] * w2
                        n2 = g[6] * w0 + g[7] * w1 + g[8] * w2
                        stretch = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
                        work, tension, _ = fibre_tension(stretch, activation[m], peak[m], optimal[m])
                        total += density[e] * work
                        if stretch > 0.0:
                            k = density[e] * tension / stretch
                            p[0] += k * n0 * w0
                            p[1] += k * n0 * w1
                            p[2] += k * n0 * w2
                            p[3] += k * n1 * w0
                            p[4] += k * n1 * w1
                            p[5] += k * n1 * w2
                            p[6] += k * n2 * w0
                            p[7] += k * n2 * w1
                            p[8] += k * n2 * w2
                    for a in range(8):
                        n = nodes[a]
                        g0, g1, g2 = w * grads[q, a, 0], w * grads[q, a, 1], w * grads[q, a, 2]
                        force[n, 0] -= p[0] * g0 + p[1] * g1 + p[2] * g2
                        force[n, 1] -= p[3] * g0 + p[4] * g1 + p[5] * g2
                        force[n, 2] -= p[6] * g0 + p[7] * g1 + p[8] * g2
                energy[c] = w * total


@njit(cache=True, parallel=True)
def volume_rates(x, dx, cells, rate):
    """Change of each cell's mean J under node displacements dx: g · dx into rate (n_cells,)."""
    nodes_of, points, _, _, h = cells
    for chunk in prange((len(nodes_of) + 255) // 256):
        grads = np.empty((8, 3))
        f, cof, df = np.empty(9), np.empty(9), np.empty(9)
        for c in range(256 * chunk, min(256 * chunk + 256, len(nodes_of))):
            total = 0.0
            for q in range(4):
                shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
                deformation(x, nodes_of[c], grads, f)
                deformation(dx, nodes_of[c], grads, df)
                cofactor_of(f, cof)
                for i in range(9):
                    total += cof[i] * df[i]
            rate[c] = 0.25 * total


@njit(cache=True, parallel=True)
def pressure_forces(x, change, cells, colours, blocks, order, force):
    """Nodal forces V g s [N] of a change s [Pa] of each cell's pressure, added to `force`."""
    nodes_of, points, volume, _, h = cells
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            grads = np.empty((8, 3))
            f, cof = np.empty(9), np.empty(9)
            for place in range(blocks[block], blocks[block + 1]):
                c = order[place]
                w = 0.25 * volume[c] * change[c]
                for q in range(4):
                    shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
                    deformation(x, nodes_of[c], grads, f)
                    cofactor_of(f, cof)
                    for a in range(8):
                        n = nodes_of[c, a]
                        for i in range(3):
                            force[n, i] += w * (
                                cof[3 * i] * grads[a, 0] + cof[3 * i + 1] * grads[a, 1] + cof[3 * i + 2] * grads[a, 2]
                            )
