"""Where a skin lies on the grid: its distance in a narrow band, and what it alone leaves open of faces and cells.

Both are remembered with the skin's shape. A skin that has not moved since, on a grid that has not moved either, is not
looked at again: a resting body costs a comparison and a copy of its box, a moving one its own box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.mesh import Topology, mesh_distance
from vitruvian.water.boundary import Pieces
from vitruvian.water.crossings import ASIDE, Lattice, cross_lattice
from vitruvian.water.fractions import open_fractions
from vitruvian.water.piece_walls import long_faces
from vitruvian.water.pieces import split_cells

Array = np.ndarray
Fractions = tuple[Array, Array, Array, Array]
BAND = 1.75  # cells about a skin in which its distance is exact: corners of cells that it cuts lie within sqrt(3)
FINE_BAND = 1.1  # the same about finer nodes, in their spacing: ends of edges that a skin cuts lie within 1


@dataclass
class Cut:
    """What skins leave open in a box of cells."""

    fractions: Fractions  # open part of x-, y- and z-faces and of cells
    pieces: Pieces  # further pieces of split cells; indices of the grid
    faces: Array  # axis, i, j, k of faces whose water has a length other than 1 between its cells' centres, (n, 4)
    lengths: Array  # that length, in cells, shape (n,)


@dataclass
class Placed:
    """A skin on the grid. Arrays cover the nodes of `box` or the cells between them."""

    vertices: Array  # [m], shape (n, 3)
    grid: tuple  # origin, cell, nodes and detail of the grid
    distance: Array  # signed distance [m] at the nodes, clamped to the band
    triangle: Array  # nearest triangle of each node, -1 beyond the band
    box: Array  # low and high (one past) node, shape (3, 2); empty if the skin misses the grid
    fine: Array  # signed distance [m] at nodes `detail` to a cell's edge, clamped to a few of them
    lattice: Lattice  # where the skin crosses the edges between those nodes
    corners: Array  # of its triangles [m], shape (m, 3, 3)
    fractions: Cut | None = None  # once asked for

    def opened(self, others: Sequence[Placed] = ()) -> Cut:
        """What it and these others leave open."""
        if others:
            return _opened(self, *_together(self, others))
        if self.fractions is None:
            self.fractions = _opened(self, self.fine, self.lattice, self.corners)
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
    fine, lattice = distance, Lattice(np.ones(distance.shape, bool), np.zeros((3, 0, 0, 0)), np.zeros((3, 0, 0, 0)))
    if distance.size:
        size = tuple(detail * (n - 1) + 1 for n in distance.shape)
        corner = origin + box[:, 0] * h
        lattice = cross_lattice(vertices, mesh.faces, corner, h / detail, size)
        if detail > 1:
            band = FINE_BAND * h / detail
            near, _, inner = mesh_distance(vertices, mesh, corner, h / detail, size, band)
            fine = np.full(size, band)
            if near.size:  # a skin beside the grid is near it, yet not on it
                fine[tuple(slice(low, high) for low, high in inner)] = near
    placed = Placed(vertices.copy(), grid, distance, triangle, box, fine, lattice, vertices[mesh.faces])
    memory["placed"] = placed
    return placed


def meet(a: Array, b: Array) -> bool:
    """Whether two boxes of nodes, low and high (3, 2), share or touch a node."""
    return bool(np.all((a[:, 0] <= b[:, 1]) & (b[:, 0] <= a[:, 1])))


def _opened(one: Placed, fine: Array, lattice: Lattice, corners: Array) -> Cut:
    h, detail = one.grid[3], one.grid[-1]
    x, y, z = ((n - 1) // detail for n in fine.shape)
    made = np.ones((x + 1, y, z)), np.ones((x, y + 1, z)), np.ones((x, y, z + 1)), np.ones((x, y, z))
    open_fractions(fine, detail, (FINE_BAND if detail > 1 else BAND) * h / detail, *made)
    low = np.asarray(one.grid[:3]) + h * one.box[:, 0]
    half = np.full((3, x, y, z), 0.5)
    pieces = split_cells(lattice, detail, (corners - low) / h - np.array(ASIDE) / detail, half, *made[:3])
    faces, lengths = long_faces(half, *made[:3])
    faces[:, 1:] += one.box[:, 0]
    return Cut(made, pieces.moved(one.box[:, 0]), faces, lengths)


def _together(one: Placed, others: Sequence[Placed]) -> tuple[Array, Lattice, Array]:
    """Fine distance, crossings and triangles in the box of `one` of it and of these others."""
    r = one.grid[-1]
    fine, lattice = one.fine.copy(), one.lattice.copy()
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
        lattice.wet[mine] &= other.lattice.wet[theirs]
        for ours, found in ((lattice.low, other.lattice.low), (lattice.high, other.lattice.high)):
            here, there = (slice(None), *mine), (slice(None), *theirs)
            ours[here] = np.minimum(ours[here], found[there])
    return fine, lattice, np.concatenate([one.corners, *(o.corners for o in others)])
