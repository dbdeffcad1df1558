"""Triangles that a browser shades well: doubled along sharp edges, turned outwards where they close."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.view import normals

Array = np.ndarray

# A surface seen from both sides would cast its shadow on itself.
OPEN: dict[str, Any] = {"side": "double", "receive_shadow": False}


def split_at_creases(vertices: Array, faces: Array) -> tuple[Array, Array, Array]:
    """Vertices doubled along sharp edges, faces, and the old index of each new vertex.

    The browser averages normals over each vertex, so an edge is sharp when its sides share none.
    """
    vertices = np.asarray(vertices, dtype=np.float64)
    faces = np.ascontiguousarray(faces, dtype=np.int32)
    if len(faces) == 0:
        return vertices, faces, np.arange(len(vertices))
    ring = normals.around(vertices, faces)
    corner = normals.corner_normals(vertices, faces, ring).reshape(-1, 3)
    place = ring.weld[faces.reshape(-1)]
    key = np.column_stack([place, np.round(corner * 200.0).astype(np.int64)])
    _, first, new = np.unique(key, axis=0, return_index=True, return_inverse=True)
    origin = faces.reshape(-1)[first]
    return vertices[origin], new.reshape(-1, 3).astype(np.int32), origin


def siding(vertices: Array, faces: Array) -> tuple[Array, dict[str, Any]]:
    """Faces turned outwards and drawn from outside only if they close around a volume; else drawn from both sides."""
    faces = np.ascontiguousarray(faces, dtype=np.int32)
    if len(faces) == 0:
        return faces, dict(OPEN)
    ring = normals.around(np.asarray(vertices, dtype=np.float64), faces)
    faces, closed = normals.turned_outwards(vertices, faces, ring)
    return faces, ({"side": "front"} if closed else dict(OPEN))
