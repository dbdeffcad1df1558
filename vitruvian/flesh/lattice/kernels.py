"""Inner loops over trilinear cells, cell by cell: gradients, rates of volume, forces of pressure, folded cells.

Cells are grouped in blocks of 4×4×4 grid cells and the blocks in eight colours: blocks of one colour share no node, so
threads add to nodes without races, and the order of every sum is fixed whatever the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.point import cofactor_of, deformation


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


@njit(cache=True)
def folded_cells(x, cell_nodes, points, h):
    """How many cells are turned inside out somewhere, det F ≤ 0.

    Asked at the corners of the box that has the tissue's mean and spread: a full cell's own corners. A cell whose
    corner was pushed through its far side may be sound at all four quadrature points.
    """
    grads, f, cofactor = np.empty((8, 3)), np.empty(9), np.empty(9)
    low, high = np.empty(3), np.empty(3)
    count = 0
    for c in range(len(cell_nodes)):
        for i in range(3):
            mean = 0.25 * (points[c, 0, i] + points[c, 1, i] + points[c, 2, i] + points[c, 3, i])
            square = 0.0
            for q in range(4):
                square += 0.25 * (points[c, q, i] - mean) ** 2
            half = np.sqrt(3.0 * square)  # of a box with this variance
            low[i], high[i] = max(mean - half, 0.0), min(mean + half, 1.0)
        for k in range(8):
            a = high[0] if k & 1 else low[0]
            b = high[1] if (k >> 1) & 1 else low[1]
            d = high[2] if k >> 2 else low[2]
            shape_gradients(a, b, d, h, grads)
            deformation(x, cell_nodes[c], grads, f)
            if cofactor_of(f, cofactor) <= 0.0:
                count += 1
                break
    return count
