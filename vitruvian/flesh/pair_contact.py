"""Two walls of one body that face each other at rest, such as the lips, and may not pass through each other.

Point i of one wall and its partner on the other, each a mixture of the corners of its own element, keep

    g_i = n_i · (x_i − y_i) − s_i ≥ 0,      E = Σ k A/2 min(g_i, 0)²

The pairs and their directions n_i stay those of the rest body: cheaper than `lattice.self_contact`, and smooth, where
walls only close, part and shear a little. It is a `Touching`, so `Loads.self_contact` takes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.flesh.embedding import Embedding
from vitruvian.flesh.pairs import Near, Pairs


@dataclass(frozen=True)
class PairContact:
    """See above; n points a wall."""

    first: Embedding  # points of the wall that n points out to
    second: Embedding
    normal: np.ndarray  # unit, from the second wall to the first, shape (n, 3)
    stiffness: np.ndarray  # k A [N/m], shape (n,)
    start: np.ndarray  # g that counts as touching [m]: 0, or less where the walls overlap at rest, shape (n,)
    spacing: float  # edge of the elements [m]

    @property
    def n_vertices(self) -> int:
        return len(self.normal)

    def gaps(self, x: np.ndarray) -> np.ndarray:
        """g [m], shape (n,), with the nodes at x [m]."""
        return np.sum((self.first.positions(x) - self.second.positions(x)) * self.normal, axis=1) - self.start

    def find_near(self, x: np.ndarray) -> Near:
        return Near(x.copy(), np.arange(self.n_vertices), self.second.element)

    def find_pairs(self, x: np.ndarray, near: Near | None = None, without: np.ndarray | None = None) -> Pairs:
        gap = self.gaps(x)
        inside = gap < 0.0
        if without is not None:
            inside &= ~without
        at = np.flatnonzero(inside)
        a, b = self.first, self.second
        return Pairs(
            at,
            np.stack([a.element[at], b.element[at]], axis=1),
            np.stack([a.nodes[at], b.nodes[at]], axis=1),
            np.stack([a.weights[at], b.weights[at]], axis=1),
            self.normal[at],
            self.stiffness[at],
            -gap[at],
        )
