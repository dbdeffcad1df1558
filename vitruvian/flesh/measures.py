"""Looking at deformed flesh: volume, strain, and the outside of its elements."""

from __future__ import annotations

import numpy as np

from vitruvian.flesh.elements import Elements


def deformation_gradients(elements: Elements, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F at the quadrature points, shape (n, q, 3, 3), with the nodes at x [m], and the points' shares, shape (n, q)."""
    gradients, shares = elements.quadrature()
    return np.einsum("nai,nqaj->nqij", x[elements.element_nodes], gradients), shares


def tissue_volume(elements: Elements, x: np.ndarray) -> float:
    """Volume of the deformed tissue [m³]."""
    f, shares = deformation_gradients(elements, x)
    return float(np.sum(elements.volume * (shares * np.linalg.det(f)).sum(axis=1)))


def cell_strain(elements: Elements, x: np.ndarray) -> np.ndarray:
    """Size of the Green strain, ‖½(FᵀF − 1)‖, averaged over each element, shape (n,)."""
    f, shares = deformation_gradients(elements, x)
    green = 0.5 * (np.einsum("nqki,nqkj->nqij", f, f) - np.eye(3))
    return (shares * np.linalg.norm(green, axis=(2, 3))).sum(axis=1)


def node_values(elements: Elements, of_element: np.ndarray) -> np.ndarray:
    """A quantity of elements carried to the nodes by volume-weighted averaging, shape (n_nodes,)."""
    corners, n, k = elements.element_nodes.ravel(), len(elements.nodes), elements.element_nodes.shape[1]
    weight = np.bincount(corners, np.repeat(elements.volume, k), n)
    return np.bincount(corners, np.repeat(elements.volume * of_element, k), n) / weight
