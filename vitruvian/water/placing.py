"""Where a skin lies on the grid: its distance in a narrow band, and what it alone leaves open of faces and cells.

Both are remembered with the skin's shape. A skin that has not moved since, on a grid that has not moved either, is not
looked at again: a resting body costs a comparison and a copy of its box, a moving one its own box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.mesh import Topology, mesh_distance
from vitruvian.water.fractions import open_fractions

Array = np.ndarray
Fractions = tuple[Array, Array, Array, Array]
BAND = 1.75  # cells about a skin in which its distance is exact: corners of cells that it cuts lie within sqrt(3)
FINE_BAND = 1.1  # the same about finer nodes, in their spacing: ends of edges that a skin cuts lie within 1


@dataclass
class Placed:
    """A skin on the grid. Arrays cover the nodes of `box` or the cells between them."""

    vertices: Array  # [m], shape (n, 3)
    grid: tuple  # origin, cell, nodes and detail of the grid
    distance: Array  # signed distance [m] at the nodes, clamped to the band
    triangle: Array  # nearest triangle of each node, -1 beyond the band
    box: Array  # low and high (one past) node, shape (3, 2); empty if the skin misses the grid
    fine: Array  # signed distance [m] at nodes `detail` to a cell's edge, clamped to a few of them
    fractions: Fractions | None = None  # open part of x-, y- and z-faces and of cells, once asked for

    def opened(self, others: Sequence[Placed] = ()) -> Fractions:
        """Open parts beside these others."""
        if others:
            return _opened(_nearest_of(self, others), self.grid)
        if self.fractions is None:
            self.fractions = _opened(self.fine, self.grid)
        return self.fractions


def place(
    memory: dict[str, Placed], vertices: Array, mesh: Topology, origin: Array, h: float, nodes: tuple, detail: int
) -> Placed:
    """The skin's distance on the grid; what `memory` holds is taken if nothing has moved."""
    grid = (*map(float, origin), h, *nodes, detail)
    kept = memory.get("placed")
    if kept is not None and kept.grid == grid and np.array_equal(kept.vertices, vertices):
        return kept
    distance, triangle, box = mesh_distance(vertices, mesh, origin, h, nodes, BAND * h)
    fine = distance
    if detail > 1 and distance.size:
        size = tuple(detail * (n - 1) + 1 for n in distance.shape)
        band = FINE_BAND * h / detail
        near, _, inner = mesh_distance(vertices, mesh, origin + box[:, 0] * h, h / detail, size, band)
        fine = np.full(size, band)
        if near.size:  # a skin beside the grid is near it, yet not on it
            fine[tuple(slice(low, high) for low, high in inner)] = near
    placed = Placed(vertices.copy(), grid, distance, triangle, box, fine)
    memory["placed"] = placed
    return placed


def meet(a: Array, b: Array) -> bool:
    """Whether two boxes of nodes, low and high (3, 2), share or touch a node."""
    return bool(np.all((a[:, 0] <= b[:, 1]) & (b[:, 0] <= a[:, 1])))


def _opened(fine: Array, grid: tuple) -> Fractions:
    h, detail = grid[3], grid[-1]
    x, y, z = ((n - 1) // detail for n in fine.shape)
    made = np.ones((x + 1, y, z)), np.ones((x, y + 1, z)), np.ones((x, y, z + 1)), np.ones((x, y, z))
    open_fractions(fine, detail, (FINE_BAND if detail > 1 else BAND) * h / detail, *made)
    return made


def _nearest_of(one: Placed, others: Sequence[Placed]) -> Array:
    """Fine distance in the box of `one` to whichever skin is nearest."""
    r = one.grid[-1]
    fine = one.fine.copy()
    for other in others:
        low = np.maximum(one.box[:, 0], other.box[:, 0])
        high = np.minimum(one.box[:, 1], other.box[:, 1])
        if np.any(low >= high):
            continue
        mine, theirs = (
            tuple(
                slice(r * (a - p.box[d, 0]), r * (b - 1 - p.box[d, 0]) + 1) for d, (a, b) in enumerate(zip(low, high))
            )
            for p in (one, other)
        )
        fine[mine] = np.minimum(fine[mine], other.fine[theirs])
    return fine
