"""Skin that lies in tissue: vertices of the skin, the elements that they have sunk into, and what they do to the nodes.

A vertex and the place X′ in the rest body that it has come to lie in, each a mixture of the corners of its element,
are pushed apart with k A φ along u. The stiffness is k A u uᵀ: the part within an element goes into the matrix, the
part between the two elements is applied by itself (`couple`). Who finds the pairs is another matter
(`lattice.self_contact`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

MARGIN = 0.1  # of an edge that nodes may move before the elements near each vertex are listed anew


@dataclass(frozen=True)
class Pairs:
    """Vertices of the skin, and the elements that they lie in."""

    vertex: np.ndarray  # of the surface, shape (m,)
    element: np.ndarray  # of vertex and of X′, shape (m, 2)
    nodes: np.ndarray  # shape (m, 2, k)
    weights: np.ndarray  # shape (m, 2, k)
    direction: np.ndarray  # u, shape (m, 3)
    stiffness: np.ndarray  # k A [N/m], shape (m,)
    depth: np.ndarray  # −φ [m], shape (m,)

    def forces(self, out: np.ndarray) -> float:
        """Add the push to nodal forces; its energy [J]."""
        if len(self.vertex) == 0:
            return 0.0
        add_pushes(self.nodes, self.weights, (self.stiffness * self.depth)[:, None] * self.direction, out)
        return float(0.5 * np.sum(self.stiffness * self.depth**2))


@dataclass(frozen=True)
class Near:
    """Elements that vertices may come to lie in while no node moves by more than `MARGIN` edges."""

    at: np.ndarray  # nodes when they were listed [m], shape (n_nodes, 3)
    vertex: np.ndarray  # shape (m,)
    element: np.ndarray  # shape (m,)

    def holds(self, x: np.ndarray, spacing: float) -> bool:
        return bool(np.abs(x - self.at).max() <= MARGIN * spacing)


class Touching(Protocol):
    """A skin that may touch itself."""

    @property
    def n_vertices(self) -> int: ...

    @property
    def spacing(self) -> float:
        """Edge of the elements [m]."""
        ...

    def find_near(self, x: np.ndarray) -> Near:
        """Elements near each vertex with the nodes at x [m]."""
        ...

    def find_pairs(self, x: np.ndarray, near: Near | None = None, without: np.ndarray | None = None) -> Pairs:
        """Vertices that lie in tissue other than their own with the nodes at x [m], but for some, shape (n,)."""
        ...


def no_pairs() -> Pairs:
    whole, real = np.int64, float
    return Pairs(
        np.zeros(0, whole),
        np.zeros((0, 2), whole),
        np.zeros((0, 2, 0), whole),
        np.zeros((0, 2, 0), real),
        np.zeros((0, 3), real),
        np.zeros(0, real),
        np.zeros(0, real),
    )


def strays(before: Pairs, after: Pairs, move: np.ndarray, n: int, least: float) -> np.ndarray:
    """Which of n vertices are deeper after a move of the nodes (n_nodes, 3) [m] than it can have brought them.

    least [m] deeper. A move of `way` against the element takes a vertex |u| way deeper at most; twice that is allowed
    for the curvature.
    """
    way = np.einsum("mca,mcai->mci", after.weights, move[after.nodes])
    reach = np.linalg.norm(way[:, 0] - way[:, 1], axis=1) * np.linalg.norm(after.direction, axis=1)
    brought = np.zeros(n)
    np.maximum.at(brought, after.vertex, reach)
    depth = [np.sqrt(np.bincount(p.vertex, p.depth**2, n)) for p in (before, after)]
    return depth[1] > depth[0] + 2.0 * brought + least


def movers(before: Pairs, after: Pairs, n: int) -> np.ndarray:
    """Which of n vertices lie in other elements after than before."""
    size = 1 + max(int(p.element.max(initial=0)) for p in (before, after))
    found = np.zeros(n, bool)
    found[np.setxor1d(*(p.vertex * size + p.element[:, 1] for p in (before, after))) // size] = True
    return found


@njit(cache=True)
def add_pushes(nodes, weights, push, out):
    for m in range(len(push)):
        for a in range(weights.shape[2]):
            for k in range(3):
                out[nodes[m, 0, a], k] += weights[m, 0, a] * push[m, k]
                out[nodes[m, 1, a], k] -= weights[m, 1, a] * push[m, k]


@njit(cache=True)
def couple(nodes, weights, direction, stiffness, p, out):
    """Add the part of the pairs' stiffness between vertex and foot to out = A p; returns its part of p · A p."""
    total = 0.0
    for m in range(len(stiffness)):
        a, b = 0.0, 0.0
        for c in range(weights.shape[2]):
            i, j = nodes[m, 0, c], nodes[m, 1, c]
            for k in range(3):
                a += weights[m, 0, c] * direction[m, k] * p[i, k]
                b += weights[m, 1, c] * direction[m, k] * p[j, k]
        total -= 2.0 * stiffness[m] * a * b
        for c in range(weights.shape[2]):
            i, j = nodes[m, 0, c], nodes[m, 1, c]
            for k in range(3):
                out[i, k] -= stiffness[m] * weights[m, 0, c] * direction[m, k] * b
                out[j, k] -= stiffness[m] * weights[m, 1, c] * direction[m, k] * a
    return total
