"""Surfaces from elsewhere made fit for a level set: welded, closed, turned outward, with a note of what was done.

A level set asks for a closed, consistently oriented mesh. Small faults (doubled vertices, missing triangles, a
surface turned inside out) are mended; a surface that crosses itself is kept, with a warning; one that is open over more
than a part of itself is an error.
"""

from __future__ import annotations

import warnings

import numpy as np

from vitruvian.errors import InputError
from vitruvian.mesh.crossing import crossing_pairs

Array = np.ndarray
MOST_CROSSINGS = 1000  # that are counted
MOST_OPEN = 0.2  # open edges over all edges beyond which a surface is not a solid


def closed_mesh(vertices: Array, faces: Array, *, name: str = "mesh", quiet: bool = False) -> tuple[Array, Array]:
    """The mesh, mended if it must be; a warning says how. Raises `InputError` where mending would be guessing."""
    vertices, faces = np.asarray(vertices, float), np.asarray(faces, np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
        raise InputError(f"{name}: vertices must be finite, shape (n, 3), not {vertices.shape}")
    if faces.ndim != 2 or faces.shape[1] != 3 or len(faces) < 4 or faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(f"{name}: a solid needs at least four triangles that name existing vertices")
    done = []
    if len(open_edges(faces)):
        size = float(np.ptp(vertices, axis=0).max())
        cells = np.round(vertices / (1e-7 * size + 1e-300)).astype(np.int64)
        _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        if len(first) < len(vertices):
            done.append(f"{len(vertices) - len(first)} doubled vertices welded")
            vertices, faces = vertices[first], number.reshape(-1)[faces]
        flat = (faces[:, 0] == faces[:, 1]) | (faces[:, 1] == faces[:, 2]) | (faces[:, 2] == faces[:, 0])
        faces = faces[~flat]
    _, once = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    if len(once) < len(faces):
        done.append(f"{len(faces) - len(once)} repeated triangles dropped")
        faces = faces[np.sort(once)]
    gap = open_edges(faces)
    if len(gap):
        if len(gap) > MOST_OPEN * 1.5 * len(faces):
            raise InputError(
                f"{name}: {len(gap)} of {len(faces)} triangles' edges are open; this is a sheet, not a solid"
            )
        done.append(f"{len(gap)} open edges closed")
        vertices, faces = _filled(vertices, faces, gap, name)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:
        done.append("turned outward")
        faces = faces[:, ::-1].copy()
    if not quiet:
        crossing = len(crossing_pairs(vertices, faces, MOST_CROSSINGS))
        if crossing:
            many = f"{crossing}{' or more' if crossing == MOST_CROSSINGS else ''} pairs of triangles cross each other"
            done.append(f"{many} and are left so; what cannot be reached from outside counts as inside")
    if done and not quiet:
        warnings.warn(f"{name}: {', '.join(done)}", stacklevel=2)
    return vertices, faces


def is_closed(faces: Array) -> bool:
    """Whether every edge belongs to exactly two triangles, which run along it in opposite directions."""
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2).astype(np.int64)
    n = int(faces.max()) + 1
    forward, backward = np.sort(ends[:, 0] * n + ends[:, 1]), np.sort(ends[:, 1] * n + ends[:, 0])
    return bool((np.diff(forward) > 0).all() and (forward == backward).all())


def open_edges(faces: Array) -> Array:
    """Directed edges (a, b) that more triangles run one way than the other, shape (n, 2)."""
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    n = int(faces.max()) + 1
    forward, count = np.unique(ends[:, 0] * n + ends[:, 1], return_counts=True)
    backward = (forward % n) * n + forward // n
    place = np.searchsorted(forward, backward)
    place = np.minimum(place, len(forward) - 1)
    opposite = np.where(forward[place] == backward, count[place], 0)
    extra = np.maximum(count - opposite, 0)
    key = np.repeat(forward, extra)
    return np.stack([key // n, key % n], axis=1)


def _filled(vertices: Array, faces: Array, gap: Array, name: str) -> tuple[Array, Array]:
    """Close each loop of open edges with a fan around its middle."""
    following: dict[int, list[int]] = {}
    for a, b in gap.tolist():
        following.setdefault(a, []).append(b)
    more: list[Array] = []
    caps: list[list[int]] = []
    while following:
        start = next(iter(following))
        loop, at = [start], start
        while True:
            nexts = following.get(at)
            if not nexts:
                raise InputError(f"{name}: its open edges form no loops; the surface crosses or touches itself")
            step = nexts.pop()
            if not nexts:
                del following[at]
            if step == start:
                break
            loop.append(step)
            at = step
        if len(loop) == 2:
            continue  # the two triangles of a sliver: the edge is there twice and closes itself
        centre = len(vertices) + len(more)
        more.append(vertices[loop].mean(axis=0))
        caps += [[b, a, centre] for a, b in zip(loop, [*loop[1:], loop[0]], strict=True)]
    if not more:
        return vertices, faces
    return np.vstack([vertices, more]), np.vstack([faces, np.array(caps, np.int64)])
