"""The cubic lattice that carries the flesh: cells that hold tissue, their nodes, and where in a cell the tissue is.

Built from a level set (`build`). Partly filled cells keep a four-point quadrature that is exact to degree two on the
filled part (`fill`), and separate parts do not share nodes (`fragments`). Cells that lie wholly in bone are left out;
where they were and what they held is kept (`carved`). After Si 2013, section 3.2.2.4, and Patterson, Mitchell and
Sifakis 2012. A lattice is one kind of `Elements`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.flesh.elements import Coarser
from vitruvian.flesh.lattice.coarsen import coarser_levels
from vitruvian.flesh.lattice.elasticity import CellElasticity, cell_elasticity
from vitruvian.flesh.lattice.fill import CORNERS
from vitruvian.flesh.lattice.kernels import folded_cells, tissue_boxes
from vitruvian.flesh.lattice.trilinear import corner_weights, gauss_gradients, gradients
from vitruvian.flesh.materials import Material
from vitruvian.flesh.muscles import MuscleFibres
from vitruvian.flesh.pattern import Pattern

BLOCK = 4  # cells along the edge of a block that one thread works on


@dataclass(frozen=True)
class Lattice:
    """Cells and nodes in the undeformed body. Built by `lattice_from_level_set` or `lattice_from_values`."""

    origin: np.ndarray  # corner of the bounding grid [m], shape (3,)
    spacing: float  # edge of a cell [m]
    samples: int  # fine cubes along a cell's edge
    nodes: np.ndarray  # rest positions [m], shape (n_nodes, 3)
    cells: np.ndarray  # grid coordinates, shape (n_cells, 3)
    cell_nodes: np.ndarray  # corners, x fastest, shape (n_cells, 8)
    volume: np.ndarray  # tissue in each cell [m³], shape (n_cells,)
    points: np.ndarray  # quadrature points in units of the cell, 0 to 1, shape (n_cells, 4, 3); each weighs volume / 4
    node_volume: np.ndarray  # tissue that belongs to each node [m³], shape (n_nodes,)
    owner: np.ndarray  # cell of each fine cube, -1 for none, shape (grid * samples)
    carved: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))  # centroid [m], volume [m³] of cells in bone

    @property
    def n_cells(self) -> int:
        return len(self.cells)

    @property
    def n_nodes(self) -> int:
        return len(self.nodes)

    def centres(self) -> np.ndarray:
        """Centroid of each cell's tissue [m], shape (n_cells, 3)."""
        return self.origin + self.spacing * (self.cells + self.points.mean(axis=1))

    # what any elements have (`Elements`)

    @property
    def element_nodes(self) -> np.ndarray:
        return self.cell_nodes

    @property
    def size(self) -> np.ndarray:
        return np.full(self.n_cells, self.spacing)

    def locate(self, points: np.ndarray) -> np.ndarray:
        """The cell of each point: the owner of its fine cube, else the cell whose tissue is nearest. Shape (n,)."""
        fine = np.floor((points - self.origin) / self.spacing * self.samples).astype(int)
        inside = np.all((fine >= 0) & (fine < self.owner.shape), axis=1)
        cell = np.full(len(points), -1)
        cell[inside] = self.owner[tuple(fine[inside].T)]
        lost = cell < 0
        if lost.any():
            # tissue is known fine cube by fine cube: the nearest filled one decides, so that a fingertip stays on its
            # finger
            filled = np.argwhere(self.owner >= 0)
            centres = self.origin + (filled + 0.5) * (self.spacing / self.samples)
            _, nearest = cKDTree(centres).query(points[lost])
            cell[lost] = self.owner[tuple(filled[nearest].T)]
        return cell

    def weights(self, element: np.ndarray, points: np.ndarray) -> np.ndarray:
        return corner_weights((points - self.origin) / self.spacing - self.cells[element])

    def spread_points(self, count: int) -> np.ndarray:
        """count³ points in each cell, mapped so that their mean and covariance are those of the tissue."""
        mean = self.points.mean(axis=1)
        spread = self.points - mean[:, None]
        covariance = np.einsum("nqi,nqj->nij", spread, spread) / 4.0
        values, vectors = np.linalg.eigh(covariance)
        root = np.einsum("nij,nj,nkj->nik", vectors, np.sqrt(np.maximum(values, 0.0)), vectors)
        axis = (np.arange(count) + 0.5) / count - 0.5
        grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
        deviation = np.sqrt(np.mean(axis**2)) if count > 1 else 1.0
        local = mean[:, None] + np.einsum("nij,sj->nsi", root, grid / deviation)
        return self.origin + self.spacing * (self.cells[:, None] + local)

    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        return gradients(self.points, self.spacing), np.full(self.points.shape[:2], 0.25)

    def gradient_products(self, weight: np.ndarray) -> np.ndarray:
        """Over the whole cell, filled or not."""
        slope = gauss_gradients()
        return (weight / self.spacing**2)[:, None, None] * (np.einsum("qai,qbi->ab", slope, slope) / 8.0)

    def blocks(self) -> np.ndarray:
        return self.cells // BLOCK

    def surface(self) -> np.ndarray:
        quads = np.array([[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]])
        faces = self.cell_nodes[:, quads].reshape(-1, 4)
        key = np.sort(faces, axis=1)
        _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
        outer = faces[np.sort(first[count == 1])]
        return np.concatenate([outer[:, [0, 1, 2]], outer[:, [0, 2, 3]]])

    def folded(self, x: np.ndarray) -> int:
        return int(folded_cells(x, self.cell_nodes, *self._boxes))

    @cached_property
    def _boxes(self) -> tuple[np.ndarray, np.ndarray]:
        return tissue_boxes(self.points)

    def coarser(self) -> Sequence[Coarser]:
        return coarser_levels(self.cells, self.cell_nodes)

    def elasticity(
        self, materials: Sequence[Material], which: np.ndarray, muscles: MuscleFibres, pattern: Pattern
    ) -> CellElasticity:
        return cell_elasticity(self, materials, which, muscles, pattern)


def open_faces(cell_nodes: np.ndarray) -> np.ndarray:
    """Which faces of cells no other cell has, shape (n_cells, 6): low x, high x, low y, high y, low z, high z."""
    corners = np.stack([np.flatnonzero(CORNERS[:, i] == side) for i in range(3) for side in (0, 1)])
    faces = np.sort(cell_nodes[:, corners].reshape(-1, 4), axis=1)
    _, which, count = np.unique(faces, axis=0, return_inverse=True, return_counts=True)
    return (count[which.ravel()] == 1).reshape(-1, 6)
