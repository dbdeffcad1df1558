"""Polylines as tubes for formats that know only triangles: a ring of vertices around every point of each line.

Rings stand across the mean direction of the two segments that meet, turned by one fixed direction for
each line.
"""

from __future__ import annotations

import numpy as np

SIDES = 8
Array = np.ndarray


def tube_vertices(points: Array, offsets: Array, radius: Array) -> Array:
    """Vertices [m], shape (points * SIDES, 3), of tubes of `radius` [m], shape (lines,), along polylines."""
    points, offsets = np.asarray(points, dtype=float), np.asarray(offsets)
    line = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first, last = offsets[:-1][line], offsets[1:][line] - 1
    here = np.arange(len(points))
    along = _unit(points[np.minimum(here + 1, last)] - points[np.maximum(here - 1, first)])
    # The axis least along the whole line is across all of it.
    chord = np.abs(_unit(points[offsets[1:] - 1] - points[offsets[:-1]]))
    reference = np.eye(3)[chord.argmin(axis=1)][line]
    across = _unit(np.cross(along, reference))
    upward = np.cross(along, across)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = across[:, None] * np.cos(angle)[:, None] + upward[:, None] * np.sin(angle)[:, None]
    return (points[:, None] + np.asarray(radius, dtype=float)[line][:, None, None] * ring).reshape(-1, 3)


def tube_faces(offsets: Array) -> Array:
    """Triangles, shape (m, 3), of the walls between rings; ends are open."""
    offsets = np.asarray(offsets)
    starts = np.setdiff1d(np.arange(offsets[-1]), offsets[1:] - 1)  # points that have a next one in their line
    side = np.arange(SIDES)
    a = starts[:, None] * SIDES + side
    b = starts[:, None] * SIDES + (side + 1) % SIDES
    return np.concatenate(
        [
            np.stack([a, b, a + SIDES], axis=-1).reshape(-1, 3),
            np.stack([b, b + SIDES, a + SIDES], axis=-1).reshape(-1, 3),
        ]
    )


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 0.0, vectors / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
