"""Tetrahedra for a shape by themselves: a body-centred cubic lattice, its rim drawn to the surface.

Nodes stand at the corners and centres of cubes of edge h; each face between two cubes carries four tetrahedra (the two
centres and an edge of the face), all alike and well shaped (Labelle and Shewchuk 2007). Those that touch the shape are
kept, and nodes outside of it are drawn along the gradient of its distance towards `margin` outside of the surface, less
far where a tetrahedron would get a dihedral angle that is nearer to 0 or 180 degrees than `angle`. The hull encloses
the shape, so that a fine surface rides inside.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.tetrahedra import Tetrahedra, tetrahedra_from_mesh

Array = np.ndarray
Distance = Callable[[Array], Array]  # signed distance [m] at points (n, 3), negative inside
MOST = 2_000_000  # cubes of a lattice
BACK, ROUNDS = 0.8, 60  # how far a node goes back when a tetrahedron gets too flat, and how often at most


def bcc_tetrahedra(
    distance: Distance, lower: Array, upper: Array, spacing: float, *, margin: float = 0.2, angle: float = 25.0
) -> Tetrahedra:
    """Tetrahedra that enclose the shape in the box from lower to upper [m], (3,).

    spacing: edge h of the cubes [m]; margin: distance of the hull from the surface in units of h; angle: least dihedral
    angle, and least distance of one from 180 degrees.
    """
    nodes, corners = _lattice(np.asarray(lower, float), np.asarray(upper, float), spacing)
    kept = _touches(distance, nodes, corners)
    if not kept.any():
        raise InputError(f"tetrahedra: a lattice of {spacing:g} m finds nothing inside the shape")
    used, corners = np.unique(corners[kept], return_inverse=True)
    nodes, corners = nodes[used], corners.reshape(-1, 4)
    moved = _drawn(distance, nodes, margin * spacing)
    share = np.ones(len(nodes))
    for _ in range(ROUNDS):
        at = nodes + share[:, None] * (moved - nodes)
        bad = _flatness(at[corners]) < angle
        if not bad.any():
            break
        share[np.unique(corners[bad])] *= BACK
    return tetrahedra_from_mesh(nodes + share[:, None] * (moved - nodes), corners)


def spacing_for(distance: Distance, lower: Array, upper: Array, nodes: int) -> float:
    """The edge [m] at which the lattice has about as many nodes."""
    volume = float(np.prod(np.asarray(upper, float) - lower))
    low, high = (0.02 * volume / nodes) ** (1.0 / 3.0), (8.0 * volume / nodes) ** (1.0 / 3.0)
    for _ in range(12):
        middle = 0.5 * (low + high)
        at, corners = _lattice(np.asarray(lower, float), np.asarray(upper, float), middle)
        found = len(np.unique(corners[_touches(distance, at, corners)]))
        if found > nodes:
            low = middle
        else:
            high = middle
    return high


def euler_number(faces: Array) -> int:
    """Vertices - edges + triangles that are in use: 2 for one closed surface without handles."""
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return len(np.unique(faces)) - len(np.unique(edges, axis=0)) + len(faces)


def dihedral_angles(corners: Array) -> Array:
    """Angles [degrees] at the six edges of tetrahedra (n, 4, 3), shape (n, 6)."""
    out = []
    for a, b in combinations(range(4), 2):
        c, d = (k for k in range(4) if k not in (a, b))
        along = corners[:, b] - corners[:, a]
        along = along / np.linalg.norm(along, axis=1, keepdims=True)
        sides = [corners[:, k] - corners[:, a] for k in (c, d)]
        p, q = (s - np.sum(s * along, axis=1, keepdims=True) * along for s in sides)
        cosine = np.sum(p * q, axis=1) / (np.linalg.norm(p, axis=1) * np.linalg.norm(q, axis=1) + 1e-300)
        out.append(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return np.stack(out, axis=1)


def _volume(corners: Array) -> Array:
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


def _flatness(corners: Array) -> Array:
    """Least of the dihedral angles and their distances from 180 degrees; negative where turned inside out, (n,)."""
    angles = dihedral_angles(corners)
    least = np.minimum(angles, 180.0 - angles).min(axis=1)
    return np.where(_volume(corners) > 0.0, least, -1.0)


def _lattice(lower: Array, upper: Array, h: float) -> tuple[Array, Array]:
    """All nodes and tetrahedra of the lattice over a box, positively oriented."""
    counts = np.ceil((upper - lower) / h).astype(int) + 2
    if np.prod(counts.astype(float)) > MOST:
        raise InputError(f"tetrahedra: {counts} cubes of {h:g} m are too many")
    origin = 0.5 * (lower + upper) - 0.5 * h * counts
    grids = [np.stack(np.meshgrid(*map(np.arange, c), indexing="ij"), axis=-1) for c in (counts + 1, counts)]
    nodes = np.concatenate([grids[0].reshape(-1, 3), grids[1].reshape(-1, 3) + 0.5]) * h + origin
    corner = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    centre = np.arange(np.prod(counts)).reshape(counts) + corner.size
    out = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        first = np.moveaxis(centre, (axis, u, v), (0, 1, 2))
        rim = np.moveaxis(corner, (axis, u, v), (0, 1, 2))[1:-1]
        a, b = first[:-1], first[1:]
        square = [rim[:, :-1, :-1], rim[:, 1:, :-1], rim[:, 1:, 1:], rim[:, :-1, 1:]]
        for k in range(4):
            out.append(np.stack([a, b, square[k], square[(k + 1) % 4]], axis=-1).reshape(-1, 4))
    return nodes, np.concatenate(out)


def _touches(distance: Distance, nodes: Array, corners: Array) -> Array:
    """Tetrahedra with a corner, an edge's middle, a face's middle or the centroid inside the shape."""
    reach = 1.2 * np.linalg.norm(nodes[corners[0, 0]] - nodes[corners[0, 1]])
    level = distance(nodes)
    kept = (level[corners] < 0.0).any(axis=1)
    near = np.flatnonzero(~kept & (level[corners].min(axis=1) < reach))
    blends = [np.isin(range(4), pair) / 2.0 for pair in combinations(range(4), 2)]
    blends += [np.isin(range(4), three) / 3.0 for three in combinations(range(4), 3)] + [np.full(4, 0.25)]
    for blend in blends:
        kept[near] |= distance(np.einsum("a,nai->ni", blend, nodes[corners[near]])) < 0.0
    return kept


def _drawn(distance: Distance, nodes: Array, margin: float) -> Array:
    """Nodes farther outside than `margin` [m], drawn down the gradient of the distance to there; the others stay."""
    at, step = nodes.copy(), 1e-4
    for _ in range(4):
        level = distance(at)
        far = np.flatnonzero(level > margin)
        slope = np.stack([(distance(at[far] + step * e) - distance(at[far] - step * e)) for e in np.eye(3)], axis=1)
        slope /= 2.0 * step
        steep = np.maximum(np.sum(slope**2, axis=1), 0.25)
        at[far] -= ((level[far] - margin) / steep)[:, None] * slope
    return at
