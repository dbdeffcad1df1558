"""Mends a triangle surface that should be closed: drops flaps, turns faces alike, fills holes.

Scanned and hand-reduced bones have slits, edges with three faces, faces turned inside out and holes. Step by step:
slits are stitched; of the faces on an edge with more than two, those with the most free edges go (they are flaps);
neighbouring faces are made to run along their common edge in opposite directions; each rim of a hole is closed by
triangles to its middle; the whole faces outwards.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.surfaces.shaping import Shape

Array = np.ndarray
Edge = tuple[int, int]
SLIT = 0.0015  # widest gap [m] that counts as a slit, not a hole


def mended(shape: Shape, rounds: int = 4) -> Shape:
    """The surface, closed and facing outwards as far as that can be had in a few rounds."""
    vertices, faces = shape[0], _stitched(*shape)
    for _ in range(rounds):
        faces = _turned_alike(vertices, _without_flaps(vertices, faces))
        points, patches = _patches(vertices, faces)
        vertices, faces = np.concatenate([vertices, points]), np.concatenate([faces, patches])
        if not len(patches):
            break
    used, index = np.unique(faces, return_inverse=True)
    return vertices[used], index.reshape(-1, 3)


def _stitched(vertices: Array, faces: Array) -> Array:
    """Join the two sides of slits: rim vertices that are each other's nearest, close by and not on a common edge."""
    there = {edge: len(at) for edge, at in _faces_at_edges(faces).items()}
    rim = np.array(sorted({v for edge, count in there.items() if count == 1 for v in edge}), dtype=np.int64)
    if len(rim) < 2:
        return faces
    distance, nearest = cKDTree(vertices[rim]).query(vertices[rim], k=2)
    target = np.arange(len(vertices))
    for i, (d, j) in enumerate(zip(distance[:, 1], nearest[:, 1])):
        a, b = int(rim[i]), int(rim[j])
        if i < j and nearest[j, 1] == i and d < SLIT and _edge(a, b) not in there:
            target[b] = a
    return target[faces]


def _without_flaps(vertices: Array, faces: Array) -> Array:
    faces = faces[np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1]]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    while True:
        around = _faces_at_edges(faces)
        crowded = [edge for edge, at in around.items() if len(at) > 2]
        if not crowded:
            return faces
        area = np.linalg.norm(
            np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]]),
            axis=1,
        )
        free = np.array([sum(len(around[edge]) == 1 for edge in _edges(face)) for face in faces])
        worst = {max(around[edge], key=lambda f: (free[f], -area[f])) for edge in crowded}
        faces = np.delete(faces, sorted(worst), axis=0)


def _turned_alike(vertices: Array, faces: Array) -> Array:
    """Flood each connected part from its first face; then turn it as a whole so that its volume is positive."""
    faces = faces.copy()
    around = _faces_at_edges(faces)
    seen = np.zeros(len(faces), bool)
    for start in range(len(faces)):
        if seen[start]:
            continue
        part, waiting = [], [start]
        seen[start] = True
        while waiting:
            f = waiting.pop()
            part.append(f)
            for a, b in _directed(faces[f]):
                for other in around[_edge(a, b)]:
                    if not seen[other]:
                        seen[other] = True
                        if (a, b) in _directed(faces[other]):
                            faces[other] = faces[other][::-1]
                        waiting.append(other)
        a, b, c = (vertices[faces[part, k]] - vertices[faces[part, 0]].mean(axis=0) for k in range(3))
        if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:
            faces[part] = faces[part][:, ::-1]
    return faces


def _patches(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Middle points of holes (k, 3) and the triangles that join each to its rim."""
    there = {edge for face in faces for edge in _directed(face)}
    after: dict[int, list[int]] = defaultdict(list)
    for a, b in sorted(there):
        if (b, a) not in there:
            after[b].append(a)  # along the rim, against the face that it borders
    points: list[Array] = []
    patches: list[tuple[int, int, int]] = []
    for start in sorted(after):
        while after[start]:
            rim = [start]
            while after[rim[-1]]:
                rim.append(after[rim[-1]].pop())
                if rim[-1] == start:
                    break
            if rim[-1] != start or len(rim) < 4:
                continue  # an open seam: nothing to fill
            rim.pop()
            if len(rim) == 3:
                patches.append((rim[0], rim[1], rim[2]))
                continue
            middle = len(vertices) + len(points)
            points.append(vertices[rim].mean(axis=0))
            patches += [(a, b, middle) for a, b in zip(rim, [*rim[1:], rim[0]])]
    return np.array(points).reshape(-1, 3), np.array(patches, dtype=np.int64).reshape(-1, 3)


def _faces_at_edges(faces: Array) -> dict[Edge, list[int]]:
    around: dict[Edge, list[int]] = defaultdict(list)
    for f, face in enumerate(faces):
        for edge in _edges(face):
            around[edge].append(f)
    return around


def _edges(face: Array) -> list[Edge]:
    return [_edge(a, b) for a, b in _directed(face)]


def _directed(face: Array) -> list[Edge]:
    a, b, c = int(face[0]), int(face[1]), int(face[2])
    return [(a, b), (b, c), (c, a)]


def _edge(a: int, b: int) -> Edge:
    return (a, b) if a < b else (b, a)
