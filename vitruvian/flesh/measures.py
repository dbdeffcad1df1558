"""Looking at deformed flesh: volume, strain, and the outer faces of the lattice."""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.fill import CORNERS
from vitruvian.flesh.kernels import cofactor_of, deformation, shape_gradients
from vitruvian.flesh.lattice import Lattice


def deformation_gradients(lattice: Lattice, x: np.ndarray) -> np.ndarray:
    """F at the quadrature points, shape (n_cells, 4, 3, 3), with the nodes at x [m]."""
    p = lattice.points[:, :, None, :]  # (n, 4, 1, 3)
    up = CORNERS[None, None] == 1
    factor = np.where(up, p, 1.0 - p)  # (n, 4, 8, 3)
    sign = np.where(up, 1.0, -1.0) / lattice.spacing
    grads = np.empty(factor.shape)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        grads[..., a] = sign[..., a] * factor[..., b] * factor[..., c]
    return np.einsum("nai,nqaj->nqij", x[lattice.cell_nodes], grads)


def tissue_volume(lattice: Lattice, x: np.ndarray) -> float:
    """Volume of the deformed tissue [m³]."""
    return float(np.sum(lattice.volume * np.linalg.det(deformation_gradients(lattice, x)).mean(axis=1)))


def folded_cells(lattice: Lattice, x: np.ndarray) -> int:
    """How many cells are turned inside out somewhere, det F ≤ 0, with the nodes at x [m].

    Asked at the corners of the box that has the tissue's mean and spread: a full cell's own corners. A cell whose
    corner was pushed through its far side may be sound at all four quadrature points.
    """
    return int(_folded(x, lattice.cell_nodes, lattice.points, lattice.spacing))


def cell_strain(lattice: Lattice, x: np.ndarray) -> np.ndarray:
    """Size of the Green strain, ‖½(FᵀF − 1)‖, averaged over each cell, shape (n_cells,)."""
    f = deformation_gradients(lattice, x)
    green = 0.5 * (np.einsum("nqki,nqkj->nqij", f, f) - np.eye(3))
    return np.linalg.norm(green, axis=(2, 3)).mean(axis=1)


def node_values(lattice: Lattice, of_cell: np.ndarray) -> np.ndarray:
    """A cell quantity carried to the nodes by volume-weighted averaging, shape (n_nodes,)."""
    corners = lattice.cell_nodes.ravel()
    weight = np.bincount(corners, np.repeat(lattice.volume, 8), lattice.n_nodes)
    return np.bincount(corners, np.repeat(lattice.volume * of_cell, 8), lattice.n_nodes) / weight


def lattice_surface(lattice: Lattice) -> np.ndarray:
    """Triangles over the outer faces of the lattice, shape (n, 3), corners are nodes, normals outward."""
    quads = np.array([[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]])
    faces = lattice.cell_nodes[:, quads].reshape(-1, 4)
    key = np.sort(faces, axis=1)
    _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
    outer = faces[np.sort(first[count == 1])]
    return np.concatenate([outer[:, [0, 1, 2]], outer[:, [0, 2, 3]]])


@njit(cache=True)
def _folded(x, cell_nodes, points, h):
    grads, f, cofactor = np.empty((8, 3)), np.empty(9), np.empty(9)
    low, high = np.empty(3), np.empty(3)
    count = 0
    for c in range(len(cell_nodes)):
        for i in range(3):
            mean = 0.25 * (points[c, 0, i] + points[c, 1, i] + points[c, 2, i] + points[c, 3, i])
            square = 0.0
            for q in range(4):
                square += 0.25 * (points[c, q, i] - mean) ** 2
            half = np.sqrt(3.0 * square)  # of a box with this variance
            low[i], high[i] = max(mean - half, 0.0), min(mean + half, 1.0)
        for k in range(8):
            a = high[0] if k & 1 else low[0]
            b = high[1] if (k >> 1) & 1 else low[1]
            d = high[2] if k >> 2 else low[2]
            shape_gradients(a, b, d, h, grads)
            deformation(x, cell_nodes[c], grads, f)
            if cofactor_of(f, cofactor) <= 0.0:
                count += 1
                break
    return count
