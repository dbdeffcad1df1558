"""Skin against skin: an arm on the trunk, thigh on thigh, the fold of an elbow.

Each vertex of a contact surface looks for the nearest other part of the surface that faces it. If it has sunk a depth d
below it, both are pushed apart along the direction u from the vertex to its foot on that part,

    E = Σ k A/2 d₊²,   d = u · (x_foot − x_vertex),   x = W X  for both,

so that forces are opposite and, since the foot lies along u, make no torque. Pairs and directions are found before a
solve and checked after it; in between E is quadratic wherever d > 0, and its stiffness is exact: the part within a cell
goes into the matrix, the part between the two cells is applied by itself (`couple`).

Parts that lie close together already at rest are no pair unless they face each other across air.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.flesh.embedding import Embedding, embed
from vitruvian.flesh.fill import CORNERS
from vitruvian.flesh.lattice import Lattice
from vitruvian.mesh.distance import closest_on_triangle
from vitruvian.mesh.remesh import vertex_normals

STIFFNESS = 5e6  # [Pa/m], shared by the two sides: 2 mm deep under 10 kPa
FACING = 0.0  # cosine between the normals of skin that faces skin: the walls of a fold of 90 degrees and more
THROUGH = 0.2  # cosine beyond which the other part is seen through tissue: the back of a finger


@dataclass(frozen=True)
class SelfContact:
    """A surface that may touch itself. Built by `self_contact`."""

    lattice: Lattice
    rest: np.ndarray  # vertices of the rest body [m], shape (n, 3)
    normals: np.ndarray  # in the rest body, shape (n, 3)
    faces: np.ndarray  # shape (m, 3)
    around: tuple[np.ndarray, np.ndarray]  # faces at each vertex: first place (n + 1,), face numbers
    areas: np.ndarray  # of the vertices [m²], shape (n,)
    embedding: Embedding
    free: np.ndarray  # vertices that touch nothing in the rest body, shape (n,)
    stiffness: float  # [Pa/m]
    apart: float  # [m], rest distance below which two vertices are neighbours
    reach: float  # [m], greatest depth, and how far ahead pairs are looked for


@dataclass(frozen=True)
class Pairs:
    """Vertices and their feet, with fixed directions."""

    vertex: np.ndarray  # of the surface, shape (m,)
    cell: np.ndarray  # of vertex and foot, shape (m, 2)
    nodes: np.ndarray  # shape (m, 2, 8)
    weights: np.ndarray  # shape (m, 2, 8)
    direction: np.ndarray  # u, shape (m, 3)
    stiffness: np.ndarray  # k A [N/m], shape (m,)

    def depths(self, x: np.ndarray) -> np.ndarray:
        """d of each pair [m], positive where skin is in skin."""
        at = np.einsum("msa,msai->msi", self.weights, x[self.nodes])
        return np.sum(self.direction * (at[:, 1] - at[:, 0]), axis=1)

    def touching(self, which: np.ndarray) -> Pairs:
        """Some of the pairs only."""
        return Pairs(
            self.vertex[which],
            self.cell[which],
            self.nodes[which],
            self.weights[which],
            self.direction[which],
            self.stiffness[which],
        )

    def forces(self, x: np.ndarray, out: np.ndarray) -> tuple[float, np.ndarray]:
        """Add the push to nodal forces; (energy [J], which pairs touch)."""
        if len(self.vertex) == 0:
            return 0.0, np.zeros(0, np.int64)
        depth = self.depths(x)
        touching = np.flatnonzero(depth > 0.0)
        push = (self.stiffness * depth)[touching, None] * self.direction[touching]
        add_pushes(self.nodes, self.weights, touching, push, out)
        return float(0.5 * np.sum(self.stiffness[touching] * depth[touching] ** 2)), touching


def self_contact(
    lattice: Lattice,
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    stiffness: float = STIFFNESS,
    apart: float | None = None,
    reach: float | None = None,
) -> SelfContact:
    """Let a closed surface of the rest body [m] touch itself; triangles about as large as half a cell do well.

    apart: rest distance below which two points are neighbours and never a pair [m], one cell if left out;
    reach: greatest depth [m], one cell if left out.
    """
    rest, triangles = np.ascontiguousarray(vertices, float), np.ascontiguousarray(faces, np.int64)
    if not stiffness > 0.0:
        raise InputError(f"flesh self-contact: the stiffness must be positive, got {stiffness} Pa/m")
    apart = lattice.spacing if apart is None else apart
    reach = lattice.spacing if reach is None else reach
    if not (apart > 0.0 and reach > 0.0):
        raise InputError(f"flesh self-contact: distances must be positive, got apart {apart} m and reach {reach} m")
    corners = rest[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if not area.sum() > 0.0:
        raise InputError("flesh self-contact: the surface has no area")
    share = np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), len(rest))
    order = np.argsort(triangles.ravel(), kind="stable")
    start = np.searchsorted(triangles.ravel()[order], np.arange(len(rest) + 1)).astype(np.int64)
    found = SelfContact(
        lattice=lattice,
        rest=rest,
        normals=vertex_normals(rest, triangles),
        faces=triangles,
        around=(start, order // 3),
        areas=share,
        embedding=embed(lattice, rest),
        free=np.ones(len(rest), bool),
        stiffness=0.5 * stiffness,  # each side's vertices push
        apart=apart,
        reach=reach,
    )
    # skin that lies in skin already at rest (where fingers melt together) would push for ever: it is left out
    pairs = find_pairs(found, lattice.nodes)
    found.free[pairs.vertex[pairs.depths(lattice.nodes) > 0.0]] = False
    return found


def no_pairs() -> Pairs:
    return Pairs(
        np.zeros(0, np.int64),
        np.zeros((0, 2), np.int64),
        np.zeros((0, 2, 8), np.int64),
        np.zeros((0, 2, 8)),
        np.zeros((0, 3)),
        np.zeros(0),
    )


def find_pairs(contact: SelfContact, x: np.ndarray) -> Pairs:
    """Vertices that touch other parts of the surface, or may soon, with the lattice's nodes at x [m]."""
    skin = contact.embedding.positions(x)
    normals = vertex_normals(skin, contact.faces)
    low = skin.min(axis=0)
    size = 1.5 * contact.reach
    bins = np.floor((skin - low) / size).astype(np.int64)
    counts = bins.max(axis=0) + 1
    key = (bins[:, 0] * counts[1] + bins[:, 1]) * counts[2] + bins[:, 2]
    order = np.argsort(key, kind="stable")
    vertex, face, bary, direction = _search(
        skin,
        normals,
        contact.rest,
        contact.normals,
        contact.faces,
        *contact.around,
        contact.free,
        bins,
        counts,
        key[order],
        order,
        contact.apart,
        contact.reach,
    )
    where, lattice = contact.embedding, contact.lattice
    # the foot as a point of the rest body, in the cell of the face's nearest corner
    corners = contact.faces[face]
    foot = np.einsum("mk,mki->mi", bary, contact.rest[corners])
    cell = where.cell[corners[np.arange(len(face)), np.argmax(bary, axis=1)]]
    local = (foot - lattice.origin) / lattice.spacing - lattice.cells[cell]
    weights = np.prod(np.where(CORNERS[None] == 1, local[:, None, :], 1.0 - local[:, None, :]), axis=2)
    return Pairs(
        vertex=vertex,
        cell=np.stack([where.cell[vertex], cell], axis=1),
        nodes=np.stack([where.nodes[vertex], lattice.cell_nodes[cell]], axis=1),
        weights=np.stack([where.weights[vertex], weights], axis=1),
        direction=direction,
        stiffness=contact.stiffness * contact.areas[vertex],
    )


@njit(cache=True)
def _search(skin, normals, rest, rest_normals, faces, first, around, free, bins, counts, keys, order, apart, reach):
    """For each vertex the nearest foot that may be touched: (vertices, faces, barycentric, directions)."""
    n = len(skin)
    vertex, face = np.empty(n, np.int64), np.empty(n, np.int64)
    bary, direction = np.empty((n, 3)), np.empty((n, 3))
    count = 0
    far = (1.5 * reach) ** 2
    for i in range(n):
        if not free[i]:
            continue
        best, other = far, -1
        for a in range(max(bins[i, 0] - 1, 0), min(bins[i, 0] + 2, counts[0])):
            for b in range(max(bins[i, 1] - 1, 0), min(bins[i, 1] + 2, counts[1])):
                line = (a * counts[1] + b) * counts[2]
                low = np.searchsorted(keys, line + max(bins[i, 2] - 1, 0))
                high = np.searchsorted(keys, line + min(bins[i, 2] + 1, counts[2] - 1), side="right")
                for place in range(low, high):
                    j = order[place]
                    d2 = 0.0
                    for k in range(3):
                        d2 += (skin[i, k] - skin[j, k]) ** 2
                    if d2 < best and may_touch(i, j, normals, rest, rest_normals, apart):
                        best, other = d2, j
        if other < 0 or first[other] == first[other + 1]:
            continue
        nearest = 1e300
        for place in range(first[other], first[other + 1]):
            f = around[place]
            a, b, c = skin[faces[f, 0]], skin[faces[f, 1]], skin[faces[f, 2]]
            if flat(a, b, c):
                continue
            s, t, _ = closest_on_triangle(skin[i, 0], skin[i, 1], skin[i, 2], a, b, c)
            d2 = 0.0
            for k in range(3):
                d2 += (a[k] + s * (b[k] - a[k]) + t * (c[k] - a[k]) - skin[i, k]) ** 2
            if d2 < nearest:
                nearest = d2
                face[count] = f
                bary[count, 0], bary[count, 1], bary[count, 2] = 1.0 - s - t, s, t
        if nearest > reach * reach:
            continue
        f = face[count]
        outward, length = np.zeros(3), 0.0
        for k in range(3):
            foot = 0.0
            for m in range(3):
                foot += bary[count, m] * skin[faces[f, m], k]
                outward[k] += bary[count, m] * normals[faces[f, m], k]
            direction[count, k] = foot - skin[i, k]
            length += direction[count, k] ** 2
        length, size, inside = np.sqrt(length), np.sqrt(np.sum(outward**2)), 0.0
        if size == 0.0:
            continue
        for k in range(3):
            inside += direction[count, k] * outward[k]
        # u points out of the other part: along the way to the foot when sunk, against it when still outside
        for k in range(3):
            if length > 1e-9 and abs(inside) > 0.5 * length * size:
                direction[count, k] /= length if inside > 0.0 else -length
            else:
                direction[count, k] = outward[k] / size
        vertex[count] = i
        count += 1
    return vertex[:count].copy(), face[:count].copy(), bary[:count].copy(), direction[:count].copy()


@njit(cache=True)
def flat(a, b, c):
    """Whether a triangle has no area to speak of."""
    ux, uy, uz, vx, vy, vz = b[0] - a[0], b[1] - a[1], b[2] - a[2], c[0] - a[0], c[1] - a[1], c[2] - a[2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return x * x + y * y + z * z <= 1e-12 * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)


@njit(cache=True)
def may_touch(i, j, normals, rest, rest_normals, apart):
    """Whether vertices i and j can be skin on skin: facing, and at rest not neighbours or two sides of a part."""
    facing, away, d2, back, front = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        facing += normals[i, k] * normals[j, k]
        away += rest_normals[i, k] * rest_normals[j, k]
        d = rest[j, k] - rest[i, k]
        d2 += d * d
        back += d * rest_normals[j, k]
        front -= d * rest_normals[i, k]
    if facing > FACING or i == j:
        return False
    length = np.sqrt(d2)
    if back > THROUGH * length or front > THROUGH * length:
        return False
    return length > apart or (away < FACING and back < -THROUGH * length)


@njit(cache=True)
def add_pushes(nodes, weights, touching, push, out):
    for m in range(len(touching)):
        p = touching[m]
        for a in range(8):
            for k in range(3):
                out[nodes[p, 0, a], k] += weights[p, 0, a] * push[m, k]
                out[nodes[p, 1, a], k] -= weights[p, 1, a] * push[m, k]


@njit(cache=True)
def couple(nodes, weights, direction, stiffness, p, out):
    """Add the part of the pairs' stiffness between vertex and foot to out = A p; returns its part of p · A p."""
    total = 0.0
    for m in range(len(stiffness)):
        a, b = 0.0, 0.0
        for c in range(8):
            i, j = nodes[m, 0, c], nodes[m, 1, c]
            for k in range(3):
                a += weights[m, 0, c] * direction[m, k] * p[i, k]
                b += weights[m, 1, c] * direction[m, k] * p[j, k]
        total -= 2.0 * stiffness[m] * a * b
        for c in range(8):
            i, j = nodes[m, 0, c], nodes[m, 1, c]
            for k in range(3):
                out[i, k] -= stiffness[m] * weights[m, 0, c] * direction[m, k] * b
                out[j, k] -= stiffness[m] * weights[m, 1, c] * direction[m, k] * a
    return total
