"""Triangles cut in two along a line across them, such as the one at which they go through the water's surface.

A value is given at every vertex; where it changes its sign along an edge, at the part t = v₁ / (v₁ − v₂) of the way, a
vertex is put, with place, colour and normal of that part. Three pieces take the place of a triangle that is crossed.
Those of one side share no vertex with those of the other, and end `HAIR` of an edge before the line, so that it is
plain of each vertex on which side it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.view.drawing import Triangles, join

Array = np.ndarray
HAIR = 1e-6


def split(triangles: Triangles, value: Array, whole: Array | None = None) -> Triangles:
    """The triangles, with those in which `value` (n,) changes its sign cut along its zero.

    whole: which triangles are left as they are, (m,)."""
    positive = (value > 0.0)[triangles.faces]
    some = positive.sum(axis=1)
    crossed = (some == 1) | (some == 2)
    if whole is not None:
        crossed &= ~whole
    if not crossed.any():
        return triangles
    return join([chosen(triangles, ~crossed), _pieces(triangles, np.flatnonzero(crossed), positive, value)])


def chosen(triangles: Triangles, which: Array) -> Triangles:
    """Some of the triangles, by a mask or by their numbers; the vertices stay."""
    return replace(
        triangles, faces=triangles.faces[which], normals=triangles.normals[which], finish=triangles.finish[which],
        closed=triangles.closed[which],
    )  # fmt: skip


def _pieces(triangles: Triangles, which: Array, positive: Array, value: Array) -> Triangles:
    """Triangles that are crossed, in pieces: with corner a alone on its side, (a, p, q), (b, c, s) and (b, s, r)."""
    side = positive[which]
    alone = np.where(side.sum(axis=1) == 1, side.argmax(axis=1), (~side).argmax(axis=1))
    turn = (alone[:, None] + np.arange(3)) % 3
    corners = np.take_along_axis(triangles.faces[which], turn, axis=1)
    normal = np.take_along_axis(triangles.normals[which], turn[:, :, None], axis=1)
    v = value[corners]
    part = v[:, :1] / (v[:, :1] - v[:, 1:])  # of the way from a to b and from a to c

    def with_cuts(at: Array) -> Array:
        """Values at a, b, c (k, 3, ...), and at the cuts of ab and ac on this side and on that: (k, 7, ...)."""
        t = np.concatenate([(1.0 - HAIR) * part, part + HAIR * (1.0 - part)], axis=1)[:, :, None].astype(at.dtype)
        edges = at[:, 1:] - at[:, :1]
        return np.concatenate([at, at[:, :1] + t * np.concatenate([edges, edges], axis=1)], axis=1)

    places = with_cuts(triangles.vertices[corners])
    colours = with_cuts(triangles.colours[corners])
    normals = with_cuts(normal)
    normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-12)
    order = np.array([[0, 3, 4], [1, 2, 6], [1, 6, 5]])
    k = len(which)
    return Triangles(
        places.reshape(-1, 3),
        (7 * np.arange(k)[:, None, None] + order).reshape(-1, 3).astype(np.int32),
        normals[:, order].reshape(-1, 3, 3).astype(np.float32),
        colours.reshape(-1, 3).astype(np.float32),
        np.repeat(triangles.finish[which], 3, axis=0),
        np.repeat(triangles.closed[which], 3),
    )
