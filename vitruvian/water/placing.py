"""Where a skin lies on the grid: its distance in a narrow band, and what it alone leaves open of faces and cells.

Both are remembered with the skin's shape. A skin that has not moved since, on a grid that has not moved either, is not
looked at again: a resting body costs a comparison and a copy of its box, a moving one its own box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.mesh.distance import Topology, mesh_distance
from vitruvian.water.fractions import open_fractions

Array = np.ndarray
Fractions = tuple[Array, Array, Array, Array]


@dataclass
class Placed:
    """A skin on the grid. Arrays cover the nodes of `box` or the cells between them."""

    vertices: Array  # [m], shape (n, 3)
    grid: tuple  # origin, cell and nodes of the grid
    distance: Array  # signed distance [m] at the nodes, clamped to the band
    triangle: Array  # nearest triangle of each node, -1 beyond the band
    box: Array  # low and high (one past) node, shape (3, 2); empty if the skin misses the grid
    fractions: Fractions | None = None  # open part of x-, y- and z-faces and of cells, once asked for

    def opened(self) -> Fractions:
        """Open parts if no other skin is near."""
        if self.fractions is None:
            x, y, z = (n - 1 for n in self.distance.shape)
            made = np.ones((x + 1, y, z)), np.ones((x, y + 1, z)), np.ones((x, y, z + 1)), np.ones((x, y, z))
            open_fractions(self.distance, np.array([[0, x], [0, y], [0, z]]), *made)
            self.fractions = made
        return self.fractions


def place(
    memory: dict[str, Placed], vertices: Array, mesh: Topology, origin: Array, h: float, nodes: tuple, band: float
) -> Placed:
    """The skin's distance on the grid; what `memory` holds is taken if nothing has moved."""
    grid = (*map(float, origin), h, *nodes)
    kept = memory.get("placed")
    if kept is not None and kept.grid == grid and np.array_equal(kept.vertices, vertices):
        return kept
    placed = Placed(vertices.copy(), grid, *mesh_distance(vertices, mesh, origin, h, nodes, band))
    memory["placed"] = placed
    return placed


def alone(boxes: Sequence[Array]) -> list[bool]:
    """For each box of nodes, low and high (3, 2): whether no other shares or touches a node of it."""
    return [
        not any(np.all((a[:, 0] <= b[:, 1]) & (b[:, 0] <= a[:, 1])) for m, b in enumerate(boxes) if m != n)
        for n, a in enumerate(boxes)
    ]
