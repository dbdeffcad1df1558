"""Points that ride in the flesh: skin, muscle surfaces, bone attachments.

A point of the rest body is a fixed mixture of its element's corners, x = W X. Forces on such points go back to
the nodes through the transpose, so that they do the same virtual work: f · δx = (Wᵀ f) · δX (Si 2013, section 3.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from scipy.sparse import csr_matrix

from vitruvian.errors import InputError
from vitruvian.flesh.elements import Elements


@dataclass(frozen=True)
class Embedding:
    """Weights of points in elements of k corners."""

    element: np.ndarray  # of each point, shape (n,)
    nodes: np.ndarray  # shape (n, k)
    weights: np.ndarray  # sum to one, shape (n, k)
    matrix: csr_matrix  # the same as a sparse matrix, shape (n, n_nodes)
    transpose: csr_matrix

    def positions(self, x: np.ndarray) -> np.ndarray:
        """Where the points are [m], shape (n, 3), when the nodes are at x [m], shape (n_nodes, 3)."""
        return times_vectors(self.matrix, x)

    def nodal_forces(self, forces: np.ndarray) -> np.ndarray:
        """Forces on the points [N] as forces on the nodes, shape (n_nodes, 3)."""
        return times_vectors(self.transpose, forces)


def embed(elements: Elements, points: np.ndarray) -> Embedding:
    """Embed rest points [m], shape (n, 3). A point outside every element rides with the nearest, by extrapolation."""
    points = np.asarray(points, float)
    if points.ndim == 0 or points.shape[-1] != 3 or points.ndim > 2:
        raise InputError(f"flesh embedding: points must have shape (n, 3), not {points.shape}")
    points = points.reshape(-1, 3)
    if not np.isfinite(points).all():
        bad = int((~np.isfinite(points).all(axis=1)).sum())
        raise InputError(f"flesh embedding: {bad} of {len(points)} points have coordinates that are not finite")
    element = elements.locate(points)
    weights, nodes = elements.weights(element, points), elements.element_nodes[element]
    rows = np.repeat(np.arange(len(points)), nodes.shape[1])
    matrix = csr_matrix((weights.ravel(), (rows, nodes.ravel())), shape=(len(points), len(elements.nodes)))
    matrix.sum_duplicates()
    return Embedding(element, nodes, weights, matrix, matrix.T.tocsr())


def times_vectors(matrix: csr_matrix, vectors: np.ndarray) -> np.ndarray:
    """A sparse matrix times vectors (n, 3): on all threads, and faster than SciPy on one."""
    out = np.empty((matrix.shape[0], 3))
    _times_vectors(matrix.indptr, matrix.indices, matrix.data, np.ascontiguousarray(vectors, float), out)
    return out


@njit(cache=True, parallel=True)
def _times_vectors(start, column, data, vectors, out):
    for chunk in prange((len(out) + 511) // 512):
        for i in range(512 * chunk, min(512 * chunk + 512, len(out))):
            a, b, c = 0.0, 0.0, 0.0
            for e in range(start[i], start[i + 1]):
                w, j = data[e], column[e]
                a += w * vectors[j, 0]
                b += w * vectors[j, 1]
                c += w * vectors[j, 2]
            out[i, 0], out[i, 1], out[i, 2] = a, b, c
