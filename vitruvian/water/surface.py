"""The water's surface as triangles: marching cubes on the level set, closed at the walls and carried on through
bodies.

Inside bodies phi is the pseudo water surface (Si 3.4), so no gap shows around them. Beyond a wall phi is mirrored
with its sign turned, which puts the closing triangles exactly on the wall. A light volume-keeping smoothing (Taubin
1995) takes off what the grid leaves.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from skimage.measure import marching_cubes

from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState

Array = np.ndarray
PASSES = 2  # of smoothing
SHRINK, GROW = 0.5, -0.53


def surface_mesh(tank: Tank, state: WaterState, *, closed: bool = True, passes: int = PASSES) -> tuple[Array, Array]:
    """Vertices [m] (n, 3) and outward-facing faces (m, 3). `closed` adds the water's sides and floor."""
    phi = np.pad(state.phi, 1, mode="edge")
    if closed:
        for axis in range(3):
            for end in (0, -1):
                edge = [slice(None)] * 3
                edge[axis] = slice(end, None) if end else slice(0, 1)
                phi[tuple(edge)] = np.abs(phi[tuple(edge)])
    if not (phi < 0.0).any() or not (phi >= 0.0).any():
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    vertices, faces, _, _ = marching_cubes(phi.astype(np.float32), 0.0, allow_degenerate=False)
    faces = np.ascontiguousarray(faces, dtype=np.int64)
    vertices = vertices.astype(float)
    for n in range(2 * passes):
        _smooth(vertices, faces, SHRINK if n % 2 == 0 else GROW, np.asarray(phi.shape, float))
    return vertices * tank.cell + state.origin - 0.5 * tank.cell, faces


@njit(cache=True)
def _smooth(vertices, faces, amount, shape):
    """Move vertices towards the mean of their neighbours; those on a wall only along it."""
    total = np.zeros_like(vertices)
    count = np.zeros(vertices.shape[0])
    for n in range(faces.shape[0]):
        for s in range(3):
            a, b = faces[n, s], faces[n, (s + 1) % 3]
            total[a] += vertices[b]
            total[b] += vertices[a]
            count[a] += 1.0
            count[b] += 1.0
    for n in range(vertices.shape[0]):
        if count[n] > 0.0:
            for a in range(3):
                wall = vertices[n, a] < 0.5 + 1e-6 or vertices[n, a] > shape[a] - 1.5 - 1e-6
                if not wall:
                    vertices[n, a] += amount * (total[n, a] / count[n] - vertices[n, a])
