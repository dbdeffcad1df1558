"""Flesh in tetrahedra: four corners, one strain, one pressure each; from any mesh.

    x = Σ b_a x_a,   F = Σ x_a ⊗ ∇b_a  constant,   b: barycentric coordinates

Linear tetrahedra hold any shape with few elements, and are too stiff in bending: a beam of cubes cut into six sags by
0.50, 0.79 and 0.95 of what beam theory says with 2, 4 and 10 cubes across at ν = 0.3, and by 0.30, 0.59 and 0.88 at
0.45. With one volume to keep for each element they lock when tissue is nearly incompressible: take ν up to 0.4, or a
lattice. Materials and muscle fibres are those of any elements (`elasticity`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from vitruvian.errors import InputError
from vitruvian.flesh.checks import number, vector, whole
from vitruvian.flesh.elasticity import PointElasticity, point_elasticity
from vitruvian.flesh.elements import Coarser
from vitruvian.flesh.materials import Material
from vitruvian.flesh.muscles import MuscleFibres
from vitruvian.flesh.pattern import Pattern

Array = np.ndarray
FLAT = 1e-9  # volume over that of a cube on the longest edge, below which a tetrahedron is flat
OUTSIDE = -1e-9  # barycentric coordinate below which a point is not in the tetrahedron
NEIGHBOURS = 16  # tetrahedra among which a point outside all of them finds its own
FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # opposite to each corner, outward


@dataclass(frozen=True)
class Tetrahedra:
    """Tetrahedra in the undeformed body, one kind of `Elements`. Built by `tetrahedra_from_mesh`."""

    nodes: Array  # rest positions [m], shape (n_nodes, 3)
    element_nodes: Array  # corners, the fourth on the side of the first three's normal, shape (n, 4)
    volume: Array  # [m³], shape (n,)
    gradients: Array  # ∇b of the corners [1/m], shape (n, 4, 3)

    @property
    def n_nodes(self) -> int:
        return len(self.nodes)

    @property
    def n_elements(self) -> int:
        return len(self.element_nodes)

    @cached_property
    def node_volume(self) -> Array:
        return np.bincount(self.element_nodes.ravel(), np.repeat(0.25 * self.volume, 4), self.n_nodes)

    @cached_property
    def size(self) -> Array:
        """Edge of the regular tetrahedron of the same volume [m], shape (n,)."""
        return np.cbrt(6.0 * np.sqrt(2.0) * self.volume)

    def centres(self) -> Array:
        """Centroids [m], shape (n, 3)."""
        return self.nodes[self.element_nodes].mean(axis=1)

    def locate(self, points: Array) -> Array:
        """The tetrahedron of each point; outside all, that of those near by whose coordinates are least negative."""
        centres = self.centres()
        reach = np.linalg.norm(self.nodes[self.element_nodes] - centres[:, None], axis=2).max(axis=1)
        best, found = np.full(len(points), -np.inf), np.zeros(len(points), np.int64)
        if len(points):
            near = cKDTree(points).query_ball_point(centres, (1.0 + 1e-9) * reach)
            owner = np.repeat(np.arange(self.n_elements), [len(p) for p in near])
            self._choose(np.concatenate(near).astype(np.int64), owner, points, best, found)
        lost = np.flatnonzero(best < OUTSIDE)
        if len(lost):
            _, owner = cKDTree(centres).query(points[lost], k=min(NEIGHBOURS, self.n_elements))
            owner = owner.reshape(len(lost), -1)
            self._choose(np.repeat(lost, owner.shape[1]), owner.ravel(), points, best, found)
        return found

    def _choose(self, point: Array, owner: Array, points: Array, best: Array, found: Array) -> None:
        """Of pairs of points and tetrahedra keep for each point the one that it lies deepest in, the first if equal."""
        inside = self.weights(owner, points[point]).min(axis=1)
        order = np.lexsort((owner, -inside, point))
        first = order[np.unique(point[order], return_index=True)[1]]
        better = first[inside[first] > best[point[first]]]
        best[point[better]], found[point[better]] = inside[better], owner[better]

    def weights(self, element: Array, points: Array) -> Array:
        away = points - self.nodes[self.element_nodes[element]].mean(axis=1)
        return 0.25 + np.einsum("nai,ni->na", self.gradients[element], away)

    def spread_points(self, count: int) -> Array:
        """Points of a regular grid in the unit cube, folded into the tetrahedron without changing volumes."""
        axis = (np.arange(count) + 0.5) / count
        s, t, u = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3).T
        s, t = np.where(s + t > 1.0, [1.0 - s, 1.0 - t], [s, t])  # into the prism, then into the tetrahedron
        above, within = t + u > 1.0, s + t + u <= 1.0
        s, t, u = np.where(
            within, [s, t, u], np.where(above, [s, 1.0 - u, 1.0 - s - t], [1.0 - t - u, t, s + t + u - 1.0])
        )
        blend = np.stack([1.0 - s - t - u, s, t, u], axis=1)
        return np.einsum("sa,nai->nsi", blend, self.nodes[self.element_nodes])

    def quadrature(self) -> tuple[Array, Array]:
        return self.gradients[:, None], np.ones((self.n_elements, 1))

    def gradient_products(self, weight: Array) -> Array:
        return weight[:, None, None] * np.einsum("nai,nbi->nab", self.gradients, self.gradients)

    def blocks(self) -> Array:
        """Boxes as wide as the widest tetrahedron twice over: a node is within one of them of its centroids."""
        centres = self.centres()
        reach = np.linalg.norm(self.nodes[self.element_nodes] - centres[:, None], axis=2).max()
        return np.floor((centres - centres.min(axis=0)) / (2.001 * reach)).astype(np.int64)

    def surface(self) -> Array:
        faces = self.element_nodes[:, FACES].reshape(-1, 3)
        _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
        return faces[np.sort(first[count == 1])]

    def folded(self, x: Array) -> int:
        edges = x[self.element_nodes[:, 1:]] - x[self.element_nodes[:, :1]]
        return int(np.sum(np.linalg.det(edges) <= 0.0))

    def coarser(self) -> Sequence[Coarser]:
        return ()

    def elasticity(
        self, materials: Sequence[Material], which: Array, muscles: MuscleFibres, pattern: Pattern
    ) -> PointElasticity:
        return point_elasticity(self, materials, which, muscles, pattern)


def tetrahedra_from_mesh(nodes: ArrayLike, elements: ArrayLike) -> Tetrahedra:
    """Tetrahedra with corners (n, 4) among nodes [m] (n_nodes, 3); those that are turned inside out are turned back."""
    at, corners = np.ascontiguousarray(nodes, float), np.array(elements, np.int64)
    if at.ndim != 2 or at.shape[1] != 3 or not np.isfinite(at).all():
        raise InputError(f"tetrahedra: nodes must be finite, shape (n, 3), not {at.shape}")
    if corners.ndim != 2 or corners.shape[1] != 4 or len(corners) == 0:
        raise InputError(f"tetrahedra: elements must have shape (n, 4), at least one of them, not {corners.shape}")
    if not np.array_equal(np.unique(corners), np.arange(len(at))):
        raise InputError(f"tetrahedra: elements must use each of {len(at)} nodes and no others")
    edges = at[corners[:, 1:]] - at[corners[:, :1]]
    volume = np.linalg.det(edges) / 6.0
    flat = np.abs(volume) <= FLAT * np.linalg.norm(edges, axis=2).max(axis=1) ** 3
    if flat.any():
        raise InputError(f"tetrahedra: {int(flat.sum())} are flat, the first is number {int(np.flatnonzero(flat)[0])}")
    turned = volume < 0.0
    corners[turned] = corners[turned][:, [0, 2, 1, 3]]
    edges = at[corners[:, 1:]] - at[corners[:, :1]]
    slopes = np.linalg.inv(edges).transpose(0, 2, 1)  # ∇b of corners 1 to 3
    gradients = np.concatenate([-slopes.sum(axis=1, keepdims=True), slopes], axis=1)
    return Tetrahedra(at, corners, np.abs(volume), np.ascontiguousarray(gradients))


def box_tetrahedra(
    counts: tuple[int, int, int], spacing: float, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Tetrahedra:
    """A block of cubes of edge `spacing` [m], each cut into six tetrahedra around its diagonal (Kuhn)."""
    counts = whole("tetrahedra", "counts", counts, 1)
    number("tetrahedra", "spacing [m]", spacing, above=0.0)
    corner = vector("tetrahedra", "origin", origin)
    grid = np.stack(np.meshgrid(*(np.arange(c + 1) for c in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    stride = np.array([(counts[1] + 1) * (counts[2] + 1), counts[2] + 1, 1])
    lowest = grid[np.all(grid < counts, axis=1)] @ stride
    paths = np.array([np.cumsum([0, *stride[list(order)]]) for order in permutations(range(3))])
    corners = (lowest[:, None, None] + paths).reshape(-1, 4)
    return tetrahedra_from_mesh(corner + spacing * grid, corners)
