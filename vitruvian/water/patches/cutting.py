"""A part of a closed skin, closed again: each of its rims is filled with a fan of triangles about the rim's middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.water.solids import WetShape, WetSurface

Array = np.ndarray


@dataclass(frozen=True)
class Cut:
    """Some triangles of a skin and the fans that close them."""

    shape: WetShape  # triangles of the skin first, then those of the fans
    faces: Array  # which triangles of the whole skin these are, shape (m,)
    vertices: Array  # which vertices, shape (n,)
    rims: tuple[Array, ...]  # vertices of each rim, in the numbering of this part; its middle follows them

    def points(self, vertices: Array) -> Array:
        """Vertices [m] of this part, the middles of its rims last, from those of the whole skin."""
        mine = vertices[self.vertices]
        return np.vstack([mine, *(mine[rim].mean(axis=0)[None] for rim in self.rims)])

    def drift(self, drift: Array | None) -> Array | None:
        """Velocities [m/s] relative to the links at the corners of the triangles; fans take part in none."""
        if drift is None:
            return None
        if drift.ndim == 2:
            out = np.zeros((len(self.vertices) + len(self.rims), 3))
            out[: len(self.vertices)] = drift[self.vertices]
            return out
        out = np.zeros((len(self.shape.mesh.faces), 3, 3))
        out[: len(self.faces)] = drift[self.faces]
        return out

    def surface(self, skin: WetSurface) -> WetSurface:
        """This part at the instant of the whole skin."""
        return WetSurface(self.shape, self.points(skin.vertices), self.drift(skin.drift))


def cut(name: str, shape: WetShape, chosen: Array) -> Cut:
    """The triangles of a skin for which `chosen` (m,) is true, closed; fans belong to the links of the rims."""
    faces = shape.mesh.faces[chosen]
    if not len(faces):
        raise InputError(f"{name}: no triangle of the skin belongs to it")
    vertices, faces = np.unique(faces, return_inverse=True)
    faces = faces.reshape(-1, 3)
    links = shape.links[chosen]
    rims, fans, owners = [], [], []
    count = len(vertices)
    for edges, triangles in _rims(faces):
        rims.append(edges[:, 0].copy())
        fans += [(b, a, count) for a, b in edges]
        owners += [links[t] for t in triangles]
        count += 1
    whole = np.vstack([faces, np.array(fans, np.int64).reshape(-1, 3)])
    owner = np.concatenate([links, np.array(owners, np.int64)])
    return Cut(WetShape.build(name, whole, count, owner), np.flatnonzero(chosen), vertices, tuple(rims))


def connected(faces: Array, among: Array, start: Array) -> Array:
    """Which triangles (m,) hang together with those of `start` by vertices, going over those of `among` alone."""
    reached = start.copy()
    touched = np.zeros(int(faces.max()) + 1, bool)
    while True:
        touched[faces[reached]] = True
        more = among & ~reached & touched[faces].any(axis=1)
        if not more.any():
            return reached
        reached |= more


def _rims(faces: Array) -> list[tuple[Array, Array]]:
    """Edges that one triangle alone has, in rings: each (edges (n, 2), their triangles (n,))."""
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    owner = np.repeat(np.arange(len(faces)), 3)
    there = {(int(a), int(b)) for a, b in edges}
    open_edges = [n for n, (a, b) in enumerate(edges) if (int(b), int(a)) not in there]
    following: dict[int, list[int]] = {}
    for n in open_edges:
        following.setdefault(int(edges[n, 0]), []).append(n)
    rings = []
    while following:
        n = following[next(iter(following))][0]
        ring = []
        while True:
            start = int(edges[n, 0])
            following[start].remove(n)
            if not following[start]:
                del following[start]
            ring.append(n)
            end = int(edges[n, 1])
            if end not in following:
                break
            n = following[end][0]
        rings.append((edges[ring], owner[ring]))
    return rings
