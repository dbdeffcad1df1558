"""Inner loops over trilinear cells, cell by cell: gradients, rates of volume, forces of pressure, folded cells.

Cells are grouped in blocks of 4×4×4 grid cells and the blocks in eight colours: blocks of one colour share no node, so
threads add to nodes without races, and the order of every sum is fixed whatever the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.point import add_ratio_slope, cofactor_of, deformation


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
    nodes_of = cells[0]
    for chunk in prange((len(nodes_of) + 255) // 256):
        g, room, grads = np.empty(24), np.empty((2, 9)), np.empty((2, 8, 3))
        for c in range(256 * chunk, min(256 * chunk + 256, len(nodes_of))):
            volume_slope(x, cells, c, grads, room, g)
            rate[c] = 0.0
            for a in range(8):
                for i in range(3):
                    rate[c] += g[3 * a + i] * dx[nodes_of[c, a], i]


@njit(cache=True)
def volume_slope(x, cells, c, grads, room, g):
    """g = ∂J̄/∂x of one cell into g (24,); grads (2, 8, 3), room (2, 9): room."""
    nodes_of, points, _, moduli, h = cells
    drawn, here, between, f, cof = moduli[c, 9], grads[0], grads[1], room[0], room[1]
    g[:] = 0.0
    between[:] = 0.0
    for q in range(4):
        shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, here)
        between += 0.25 * here
        deformation(x, nodes_of[c], here, f)
        cofactor_of(f, cof)
        add_ratio_slope(0.25 * (1.0 + drawn), cof, here, g)
    deformation(x, nodes_of[c], between, f)
    cofactor_of(f, cof)
    add_ratio_slope(-drawn, cof, between, g)


@njit(cache=True, parallel=True)
def pressure_forces(x, change, cells, colours, blocks, order, force):
    """Nodal forces V g s [N] of a change s [Pa] of each cell's pressure, added to `force`."""
    nodes_of, volume = cells[0], cells[2]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            g, room, grads = np.empty(24), np.empty((2, 9)), np.empty((2, 8, 3))
            for place in range(blocks[block], blocks[block + 1]):
                c = order[place]
                volume_slope(x, cells, c, grads, room, g)
                for a in range(8):
                    for i in range(3):
                        force[nodes_of[c, a], i] += volume[c] * change[c] * g[3 * a + i]


@njit(cache=True)
def folded_cells(x, cell_nodes, low, high):
    """How many cells are turned inside out somewhere, det F ≤ 0.

    low, high: corners of the box in which each cell is asked (`tissue_boxes`), shape (n_cells, 3). Only the sign
    counts, so h is left out of F.
    """
    at, slope = np.empty((8, 3)), np.empty((3, 4, 3))
    count = 0
    for c in range(len(cell_nodes)):
        for a in range(8):
            for i in range(3):
                at[a, i] = x[cell_nodes[c, a], i]
        for d in range(3):  # ∂x along direction d: its four edges blended to the box's own four edges
            one, two = 1 << (d + 1) % 3, 1 << (d + 2) % 3
            p0, p1 = low[c, (d + 1) % 3], high[c, (d + 1) % 3]
            q0, q1 = low[c, (d + 2) % 3], high[c, (d + 2) % 3]
            for i in range(3):
                e0, e1 = at[1 << d, i] - at[0, i], at[one + (1 << d), i] - at[one, i]
                e2 = at[two + (1 << d), i] - at[two, i]
                e3 = at[one + two + (1 << d), i] - at[one + two, i]
                near, far = e0 + q0 * (e2 - e0), e1 + q0 * (e3 - e1)
                slope[d, 0, i], slope[d, 1, i] = near + p0 * (far - near), near + p1 * (far - near)
                near, far = e0 + q1 * (e2 - e0), e1 + q1 * (e3 - e1)
                slope[d, 2, i], slope[d, 3, i] = near + p0 * (far - near), near + p1 * (far - near)
        for k in range(8):
            u, v, w = slope[0, k >> 1], slope[1, (k >> 2) + 2 * (k & 1)], slope[2, k & 3]
            volume = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2])
            if volume + u[2] * (v[0] * w[1] - v[1] * w[0]) <= 0.0:
                count += 1
                break
    return count


def tissue_boxes(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Opposite corners, in units of the cell, of the box that has the tissue's mean and spread: a full cell's own.

    A cell whose corner was pushed through its far side may be sound at all four quadrature points, but not there.
    points: quadrature points, shape (n, 4, 3).
    """
    mean = points.mean(axis=1)
    half = np.sqrt(3.0) * points.std(axis=1)  # of a box with this variance
    return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)
