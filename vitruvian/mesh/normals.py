"""Normals of vertices: the mean of the triangles around each, weighted by their areas."""

from __future__ import annotations

import numpy as np
from numba import njit

Array = np.ndarray
UP = (0.0, 0.0, 1.0)  # for shading a vertex without area any direction will do, but it must be one


def vertex_normals(vertices: Array, faces: Array, *, flat: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Array:
    """Unit normals of vertices [m] (n, 3) with triangles (m, 3), shape (n, 3); `flat` where a vertex has no area."""
    out = np.zeros((len(vertices), 3))
    place = np.ascontiguousarray(vertices, dtype=np.float64)
    _vertex_normals(place, np.ascontiguousarray(faces), np.array(flat, dtype=np.float64), out)
    return out


@njit(cache=True, nogil=True, inline="always")
def face_vector(vertices, faces, f):
    """Twice the area times the normal of triangle f."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    vx, vy, vz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@njit(cache=True, nogil=True)
def _vertex_normals(vertices, faces, flat, out):
    for f in range(faces.shape[0]):
        x, y, z = face_vector(vertices, faces, f)
        for i in range(3):
            v = faces[f, i]
            out[v, 0] += x
            out[v, 1] += y
            out[v, 2] += z
    for v in range(out.shape[0]):
        length = np.sqrt(out[v, 0] ** 2 + out[v, 1] ** 2 + out[v, 2] ** 2)
        for k in range(3):
            out[v, k] = out[v, k] / length if length > 0.0 else flat[k]
