"""Where a skin crosses the edges of a lattice: which nodes are dry, and how far each edge is free from either end.

Every line of the lattice is met with the triangles themselves, not with a distance at the nodes, so that nothing is too
thin to be seen: a sheet between two wet nodes still cuts the edge between them. A node is dry where its column has
entered the mesh more often than left it, as in `mesh.distance`. Lines run a little beside the nodes, by the same shift
along all three axes, so that a face of the mesh that lies in a plane of the lattice is on one side of it for all lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

Array = np.ndarray
ASIDE = (1.2345e-7, 2.3456e-7, 1.8765e-7)  # of an edge
UNCUT = 2.0  # free length of an edge that nothing cuts


@dataclass
class Lattice:
    """A skin on a lattice of nodes; lengths in edges."""

    wet: Array  # whether a node is outside, shape (nx, ny, nz)
    low: Array  # free length from the lower end of each edge, `UNCUT` if whole; (axis, nx, ny, nz)
    high: Array  # the same from the upper end

    def copy(self) -> Lattice:
        return Lattice(self.wet.copy(), self.low.copy(), self.high.copy())


def cross_lattice(vertices: Array, faces: Array, corner: Array, d: float, shape: tuple[int, ...]) -> Lattice:
    """The skin on nodes corner + d (i, j, k), counted by shape."""
    wet = np.ones(shape, np.bool_)
    low, high = np.full((3, *shape), UNCUT), np.full((3, *shape), UNCUT)
    _cross(vertices, faces, np.asarray(corner, float), d, wet, low, high)
    return Lattice(wet, low, high)


@njit(cache=True)
def _cross(vertices, faces, corner, d, wet, low, high):
    shape = wet.shape
    entered = np.zeros((shape[0], shape[1], shape[2] + 1), np.int32)
    at = np.empty(3, np.int64)
    for n in range(faces.shape[0]):
        p, q, r = faces[n, 0], faces[n, 1], faces[n, 2]
        a, b, c = vertices[p], vertices[q], vertices[r]
        for axis in range(3):
            e, f = (axis + 1) % 3, (axis + 2) % 3
            e0 = max(0, int(np.ceil((min(a[e], min(b[e], c[e])) - corner[e]) / d - 1e-6)))
            e1 = min(shape[e] - 1, int(np.floor((max(a[e], max(b[e], c[e])) - corner[e]) / d + 1e-6)))
            f0 = max(0, int(np.ceil((min(a[f], min(b[f], c[f])) - corner[f]) / d - 1e-6)))
            f1 = min(shape[f] - 1, int(np.floor((max(a[f], max(b[f], c[f])) - corner[f]) / d + 1e-6)))
            for m in range(e0, e1 + 1):
                x = corner[e] + (m + ASIDE[e]) * d
                for o in range(f0, f1 + 1):
                    y = corner[f] + (o + ASIDE[f]) * d
                    left = _left(vertices, p, q, e, f, x, y)
                    if left != _left(vertices, q, r, e, f, x, y) or left != _left(vertices, r, p, e, f, x, y):
                        continue
                    area = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e])
                    z = a[axis]
                    if area != 0.0:
                        s = ((x - a[e]) * (c[f] - a[f]) - (y - a[f]) * (c[e] - a[e])) / area
                        t = ((b[e] - a[e]) * (y - a[f]) - (b[f] - a[f]) * (x - a[e])) / area
                        z += s * (b[axis] - a[axis]) + t * (c[axis] - a[axis])
                    z = (z - corner[axis]) / d - ASIDE[axis]
                    at[e], at[f], at[axis] = m, o, int(np.floor(z))
                    if 0 <= at[axis] < shape[axis] - 1:
                        part = z - at[axis]
                        i, j, k = at[0], at[1], at[2]
                        low[axis, i, j, k] = min(low[axis, i, j, k], part)
                        high[axis, i, j, k] = min(high[axis, i, j, k], 1.0 - part)
                    if axis == 2:
                        entered[m, o, min(shape[2], max(0, at[2] + 1))] += -1 if left else 1
    for i in range(shape[0]):
        for j in range(shape[1]):
            within = 0
            for k in range(shape[2]):
                within += entered[i, j, k]
                wet[i, j, k] = within <= 0


@njit(cache=True, inline="always")
def _left(vertices, p, q, e, f, x, y):
    """Whether a point lies left of the line from p to q, seen along the third axis; one of (p, q) and (q, p) says
    so.
    """
    first, last = min(p, q), max(p, q)
    a, b = vertices[first], vertices[last]
    return ((b[e] - a[e]) * (y - a[f]) - (b[f] - a[f]) * (x - a[e]) >= 0.0) == (p < q)
