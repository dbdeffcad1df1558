"""Well-conditioned triangles on a level set: vertices slide to the middle of their neighbours and back onto the
surface.

Marching cubes leaves slivers where the surface grazes a grid node. A few rounds of tangential smoothing, each
followed by a projection onto the zero set, even them out (Lee 2008, section 5.2.1, meshes the level set for the same
reason). In a slit as narrow as the grid, as between two toes, the projection may take the walls through each other:
vertices there go back towards where marching cubes put them, which never crosses itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags

from vitruvian.mesh.crossing import crossing_pairs
from vitruvian.mesh.levelset import LevelSet
from vitruvian.mesh.normals import vertex_normals

Array = np.ndarray
HALVINGS = 6  # of the way that a vertex has gone, before it is put back to its start


def relaxed(level: LevelSet, vertices: Array, faces: Array, *, rounds: int = 12, value: float = 0.0) -> Array:
    """Vertices [m] moved along the surface `level` = `value` towards even triangles, shape (n, 3)."""
    average = neighbour_average(len(vertices), faces)
    x = vertices.copy()
    for _ in range(rounds):
        normal = vertex_normals(x, faces)
        move = average @ x - x
        move -= np.sum(move * normal, axis=1, keepdims=True) * normal
        x = x + 0.6 * move
        gradient = level.gradient(x)
        steep = np.maximum(np.sum(gradient * gradient, axis=1), 0.25)  # a blurred distance is flat in creases
        x -= ((level(x) - value) / steep)[:, None] * gradient
    return untangled(vertices, x, faces)


def untangled(start: Array, goal: Array, faces: Array) -> Array:
    """Vertices as near to `goal` as no triangles cross [m], shape (n, 3), coming from a `start` in which none do."""
    part = np.ones(len(start))  # of the way from start to goal
    average = neighbour_average(len(start), faces)
    for _ in range(20 * HALVINGS):
        x = start + part[:, None] * (goal - start)
        pairs = crossing_pairs(x, faces)
        if len(pairs) == 0:
            break
        bad = np.zeros(len(start))
        bad[faces[pairs].ravel()] = 1.0
        around = (bad > 0.0) | (average @ bad > 0.0)
        if (part[around] == 0.0).all():
            break  # they cross at the start
        part[around] *= 0.5
        part[part < 0.5**HALVINGS] = 0.0
    return start + part[:, None] * (goal - start)


def neighbour_average(count: int, faces: Array) -> csr_matrix:
    """Matrix that takes each vertex to the mean of its neighbours."""
    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    both = np.concatenate([ends, ends[:, ::-1]])
    matrix = csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(count, count))
    matrix.data[:] = 1.0
    degree = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1.0)
    return (diags(1.0 / degree) @ matrix).tocsr()


@dataclass(frozen=True)
class TriangleQuality:
    """Angles and edges of a mesh."""

    least_angle: float  # [rad]
    worst_percent_angle: float  # first percentile of each triangle's least angle [rad]
    aspect: float  # longest over shortest edge of a triangle, 99th percentile


def triangle_quality(vertices: Array, faces: Array) -> TriangleQuality:
    corners = vertices[faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    a, b, c = edges[:, 0], edges[:, 1], edges[:, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        angles = [
            np.arccos(np.clip((q * q + r * r - p * p) / (2.0 * q * r), -1.0, 1.0))
            for p, q, r in ((a, b, c), (b, c, a), (c, a, b))
        ]
    aspect = edges.max(axis=1) / np.maximum(edges.min(axis=1), 1e-12)
    least = np.nan_to_num(np.min(angles, axis=0))
    return TriangleQuality(float(least.min()), float(np.percentile(least, 1.0)), float(np.percentile(aspect, 99.0)))
