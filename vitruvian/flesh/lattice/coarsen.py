"""Coarser lattices for multigrid: every second plane of nodes, with separate parts kept apart.

Eight cells become one, but only where they hang together: the cells of a 2×2×2 group that share no node get coarse
cells of their own. A coarse corner is common to two coarse cells if a fine node rides on it in both. Fine nodes ride on
coarse ones by trilinear weights, x = P X, so that any linear motion of the coarse lattice is one of the fine lattice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from vitruvian.flesh.elements import Coarser
from vitruvian.flesh.lattice.fill import CORNERS
from vitruvian.flesh.lattice.fragments import find, union
from vitruvian.flesh.lattice.trilinear import corner_weights

COARSEST = 60  # nodes below which a level is not coarsened
WORTH = 0.8  # of the nodes that may be left on the next level


@dataclass(frozen=True)
class Grid:
    """Cells and nodes of one level, in units of its own spacing."""

    cells: np.ndarray  # grid coordinates, shape (n_cells, 3)
    cell_nodes: np.ndarray  # shape (n_cells, 8)
    nodes: np.ndarray  # grid coordinates of the nodes, shape (n_nodes, 3)


def grid_of(cells: np.ndarray, cell_nodes: np.ndarray) -> Grid:
    nodes = np.empty((int(cell_nodes.max()) + 1, 3), np.int64)
    nodes[cell_nodes.ravel()] = (cells[:, None, :] + CORNERS[None]).reshape(-1, 3)
    return Grid(np.asarray(cells, np.int64), np.asarray(cell_nodes, np.int64), nodes)


def coarser_levels(cells: np.ndarray, cell_nodes: np.ndarray) -> list[Coarser]:
    """Lattices of twice the spacing, four times and so on, as far as it is worth while."""
    grid, levels = grid_of(cells, cell_nodes), []
    while len(grid.nodes) > COARSEST:
        coarse, ride = coarsen(grid)
        if len(coarse.nodes) >= WORTH * len(grid.nodes):  # slender parts that cannot be coarsened any more
            break
        levels.append(Coarser(ride, coarse.cell_nodes))
        grid = coarse
    return levels


def coarsen(fine: Grid) -> tuple[Grid, csr_matrix]:
    """The lattice of twice the spacing, and P, shape (n_fine, n_coarse)."""
    group = fine.cells // 2
    size = group.max(axis=0) + 1
    key = (group[:, 0] * size[1] + group[:, 1]) * size[2] + group[:, 2]
    piece = _pieces(np.argsort(key, kind="stable"), key, fine.cell_nodes, len(fine.nodes))
    _, first, piece = np.unique(piece, return_index=True, return_inverse=True)
    cells = group[first]
    corner = _corners(piece, cells, fine.cell_nodes, fine.nodes)
    _, cell_nodes = np.unique(corner, return_inverse=True)
    coarse = grid_of(cells, cell_nodes.reshape(-1, 8))
    # every cell that holds a node gives it the same weights: take the first
    owner = np.empty(len(fine.nodes), np.int64)
    owner[fine.cell_nodes[::-1].ravel()] = np.repeat(piece[::-1], 8)
    local = 0.5 * fine.nodes - cells[owner]
    weights = corner_weights(local)
    rows = np.repeat(np.arange(len(fine.nodes)), 8)
    used = weights.ravel() > 0.0
    entries = (weights.ravel()[used], (rows[used], coarse.cell_nodes[owner].ravel()[used]))
    return coarse, csr_matrix(entries, shape=(len(fine.nodes), len(coarse.nodes)))


@njit(cache=True)
def _pieces(order, key, cell_nodes, n_nodes):
    """A number that each cell shares with those of its group that it hangs together with, shape (n_cells,)."""
    n = len(order)
    parent = np.arange(n)
    last = np.full(n_nodes, -1, np.int64)  # the last cell seen at a node
    for place in range(n):
        c = order[place]
        for a in range(8):
            other = last[cell_nodes[c, a]]
            if other >= 0 and key[other] == key[c]:
                union(parent, c, other)
            last[cell_nodes[c, a]] = c
    out = np.empty(n, np.int64)
    for c in range(n):
        out[c] = find(parent, c)
    return out


@njit(cache=True)
def _corners(piece, cells, cell_nodes, nodes):
    """A number for each corner of each coarse cell, equal where they are one node, shape (n_coarse, 8)."""
    n = len(cells)
    parent = np.arange(8 * n)
    seen = np.full((len(nodes), 8), -1, np.int64)  # corners that each node rides on, by their place around it
    for c in range(len(cell_nodes)):
        k = piece[c]
        for a in range(8):
            node = cell_nodes[c, a]
            for corner in range(8):
                place = 0
                rides = True
                for axis in range(3):
                    at = cells[k, axis] + ((corner >> axis) & 1)  # of the corner, coarse
                    off = nodes[node, axis] - 2 * at
                    if off < -1 or off > 1:
                        rides = False
                    elif off == -1:  # the corner beyond the node
                        place += 1 << axis
                if rides:
                    if seen[node, place] < 0:
                        seen[node, place] = 8 * k + corner
                    else:
                        union(parent, seen[node, place], 8 * k + corner)
    out = np.empty((n, 8), np.int64)
    for k in range(n):
        for corner in range(8):
            out[k, corner] = find(parent, 8 * k + corner)
    return out
