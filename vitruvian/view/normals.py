"""Normals for smooth shading that keep sharp edges sharp.

Each corner of each triangle has its own normal: the area-weighted mean over the triangles around its vertex whose
planes meet the corner's own at less than the crease angle. Vertices at the same place count as one, so files that
repeat a vertex per triangle shade smoothly too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.mesh.normals import face_vector

Array = np.ndarray

CREASE = np.cos(np.deg2rad(55.0))


@dataclass(frozen=True)
class Around:
    """Which triangles stand around each welded vertex: faces[start[v]:start[v + 1]]."""

    weld: Array  # welded vertex of each vertex, shape (n,)
    start: Array  # shape (n_welded + 1,)
    faces: Array  # shape (3 m,)


def around(vertices: Array, faces: Array) -> Around:
    """Weld vertices at the same place and list the triangles around each."""
    vertices = np.where(np.isfinite(vertices), vertices, 0.0)
    low = vertices.min(axis=0, initial=np.inf)
    size = float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0
    grid = np.round((vertices - low) / (1e-6 * size if size > 0.0 else 1.0)).astype(np.int64)
    _, weld = np.unique((grid[:, 0] << 42) | (grid[:, 1] << 21) | grid[:, 2], return_inverse=True)
    weld = weld.reshape(-1)
    corner = weld[faces.reshape(-1)]
    order = np.argsort(corner, kind="stable")
    count = int(weld.max()) + 1 if len(weld) else 0
    start = np.searchsorted(corner[order], np.arange(count + 1))
    return Around(weld.astype(np.int32), start.astype(np.int32), (order // 3).astype(np.int32))


def turned_outwards(vertices: Array, faces: Array, neighbours: Around) -> tuple[Array, bool]:
    """Triangles turned outwards, and True, if they close around a volume; else as they are, and False."""
    faces = np.ascontiguousarray(faces, dtype=np.int32)
    corner = neighbours.weld[faces].astype(np.int64)
    n = len(neighbours.start)
    start, end = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)
    if len(faces) == 0 or not np.array_equal(np.sort(start * n + end), np.sort(end * n + start)):
        return faces, False
    a, b, c = (np.asarray(vertices, dtype=float)[faces[:, k]] for k in range(3))
    outwards = float(np.einsum("ij,ij->", a, np.cross(b, c))) > 0.0
    return (faces if outwards else np.ascontiguousarray(faces[:, ::-1])), True


def corner_normals(vertices: Array, faces: Array, neighbours: Around) -> Array:
    """Unit normals of every corner, shape (m, 3, 3)."""
    out = np.empty((len(faces), 3, 3), dtype=np.float32)
    _corner_normals(
        np.ascontiguousarray(vertices, dtype=np.float64),
        faces,
        neighbours.weld,
        neighbours.start,
        neighbours.faces,
        CREASE,
        out,
    )
    return out


@njit(cache=True, nogil=True)
def _corner_normals(vertices, faces, weld, start, ring, crease, out):
    m = faces.shape[0]
    vector = np.empty((m, 4))
    for f in range(m):
        x, y, z = face_vector(vertices, faces, f)
        vector[f, 0], vector[f, 1], vector[f, 2] = x, y, z
        vector[f, 3] = np.sqrt(x * x + y * y + z * z)
    for f in range(m):
        nx, ny, nz, size = vector[f, 0], vector[f, 1], vector[f, 2], vector[f, 3]
        for i in range(3):
            v = weld[faces[f, i]]
            x, y, z = nx, ny, nz
            for j in range(start[v], start[v + 1]):
                g = ring[j]
                if g == f:
                    continue
                dot = nx * vector[g, 0] + ny * vector[g, 1] + nz * vector[g, 2]
                if dot > crease * size * vector[g, 3]:
                    x += vector[g, 0]
                    y += vector[g, 1]
                    z += vector[g, 2]
            length = np.sqrt(x * x + y * y + z * z)
            if length > 0.0:
                out[f, i, 0], out[f, i, 1], out[f, i, 2] = x / length, y / length, z / length
            else:
                out[f, i, 0], out[f, i, 1], out[f, i, 2] = 0.0, 0.0, 1.0
