"""Triangles cut where one colour gives way to another, so that the border is a smooth line and no saw.

Each colour has a distance at each vertex, and the nearest one is the vertex's. Where the two ends of an edge differ, a
vertex is set on it where both colours are as near, to first order; a triangle with two colours becomes three, one with
three becomes six around where all three are as near. The surface keeps its shape.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
INSIDE = 0.02  # least weight of a corner, so that no triangle is flat


def cut_along_borders(vertices: Array, faces: Array, distance: Array) -> tuple[Array, Array, Array]:
    """vertices [m] (n, 3), faces (m, 3), distance [m] of the colours at the vertices (n, k).

    Returns vertices with those that came last, faces, and the colour of each face."""
    own = distance.argmin(axis=1)
    points: list[Array] = []
    made: dict[tuple[int, int], int] = {}

    def cut(i: int, j: int) -> int:
        i, j = min(i, j), max(i, j)
        if (i, j) not in made:
            a, b = distance[i, own[j]] - distance[i, own[i]], distance[j, own[i]] - distance[j, own[j]]
            made[i, j] = len(vertices) + len(points)
            points.append(vertices[i] + (vertices[j] - vertices[i]) * (a / (a + b) if a + b > 0.0 else 0.5))
        return made[i, j]

    out, colour = [], []
    for i, j, k in faces.tolist():
        kinds = len({own[i], own[j], own[k]})
        if kinds == 1:
            out.append((i, j, k))
            colour.append(own[i])
        elif kinds == 2:
            while own[i] == own[j] or own[i] == own[k]:  # until i is the odd one
                i, j, k = j, k, i
            p, q = cut(i, j), cut(k, i)
            out += [(i, p, q), (p, j, k), (p, k, q)]
            colour += [own[i], own[j], own[j]]
        else:
            p, q, r, middle = cut(i, j), cut(j, k), cut(k, i), len(vertices) + len(points)
            corners = [i, j, k]
            points.append(_meeting(distance[np.ix_(corners, own[corners])]) @ vertices[corners])
            for a, b, c in ((i, p, r), (j, q, p), (k, r, q)):
                out += [(a, b, middle), (a, middle, c)]
                colour += [own[a], own[a]]
    return np.concatenate([vertices, np.array(points).reshape(-1, 3)]), np.array(out), np.array(colour)


def _meeting(distance: Array) -> Array:
    """Weights of a triangle's corners (3,) where three colours, whose distances at the corners are the columns, are as
    near as each other, or where the triangle comes closest to that."""
    matrix = np.vstack([(distance[:, 1:] - distance[:, :1]).T, np.ones(3)])
    if abs(np.linalg.det(matrix)) < 1e-12 * np.abs(matrix).max() ** 2:
        return np.full(3, 1.0 / 3.0)
    found = np.maximum(np.linalg.solve(matrix, np.array([0.0, 0.0, 1.0])), INSIDE)
    return found / found.sum()
