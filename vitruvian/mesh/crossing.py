"""Triangles of a surface that cross each other: swept along one axis, boxes first, then every edge against the other's
triangle (Möller and Trumbore 1997). Triangles that share a corner do not count.
"""

from __future__ import annotations

import numpy as np
from numba import njit

Array = np.ndarray


def crossing_pairs(vertices: Array, faces: Array, most: int = 1000) -> Array:
    """Pairs of triangles that cross, shape (n, 2), at most `most` of them."""
    vertices = np.ascontiguousarray(vertices, float)
    corners = vertices[faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    axis = int(np.argmax(np.ptp(vertices, axis=0) / np.maximum(np.median(high - low, axis=0), 1e-300)))
    order = np.argsort(low[:, axis], kind="stable")
    out = np.empty((most, 2), np.int64)
    count = _sweep(corners, np.ascontiguousarray(faces, np.int64), low, high, order, axis, out)
    return out[:count]


@njit(cache=True)
def _sweep(corners, faces, low, high, order, axis, out):
    count = 0
    n = len(order)
    for i in range(n):
        a = order[i]
        for j in range(i + 1, n):
            b = order[j]
            if low[b, axis] > high[a, axis]:
                break
            apart = False
            for k in range(3):
                if low[b, k] > high[a, k] or low[a, k] > high[b, k]:
                    apart = True
                    break
            if apart or _share_corner(faces, a, b):
                continue
            if _pierces(corners, a, b) or _pierces(corners, b, a):
                if count == len(out):
                    return count
                out[count, 0], out[count, 1] = a, b
                count += 1
    return count


@njit(cache=True)
def _share_corner(faces, a, b):
    for i in range(3):
        for j in range(3):
            if faces[a, i] == faces[b, j]:
                return True
    return False


@njit(cache=True)
def _pierces(corners, a, b):
    """Whether an edge of triangle a passes through triangle b."""
    o = corners[b, 0]
    e1, e2 = corners[b, 1] - o, corners[b, 2] - o
    for i in range(3):
        p = corners[a, i]
        d = corners[a, (i + 1) % 3] - p
        h = np.cross(d, e2)
        det = e1[0] * h[0] + e1[1] * h[1] + e1[2] * h[2]
        if det == 0.0:
            continue
        s = p - o
        u = (s[0] * h[0] + s[1] * h[1] + s[2] * h[2]) / det
        if u < 0.0 or u > 1.0:
            continue
        g = np.cross(s, e1)
        v = (d[0] * g[0] + d[1] * g[1] + d[2] * g[2]) / det
        if v < 0.0 or u + v > 1.0:
            continue
        t = (e2[0] * g[0] + e2[1] * g[1] + e2[2] * g[2]) / det
        if 0.0 < t < 1.0:
            return True
    return False
