"""Finer and smoother triangles for coarse bones, tolerant of the flaws that scanned surfaces have.

Each round splits every triangle into four at the middles of its edges, then smooths with Taubin's pair of steps
(Taubin 1995): a plain average towards the neighbours, λ, and one that pushes back, μ < −λ, so that the bone does not
shrink. Unlike Loop's scheme it asks nothing of the surface: holes, doubled faces and edges with three faces are all
right.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags

Array = np.ndarray

TOWARDS, BACK, PASSES = 0.5, -0.53, 6


def smoothed(vertices: Array, faces: Array, rounds: int = 1) -> tuple[Array, Array]:
    """Vertices [m] and faces after `rounds` of splitting and smoothing."""
    vertices, faces = np.asarray(vertices, float), np.asarray(faces)
    for _ in range(rounds):
        vertices, faces = split(vertices, faces)
        average = _averages(len(vertices), faces)
        for _ in range(PASSES):
            for share in (TOWARDS, BACK):
                vertices = vertices + share * (average @ vertices - vertices)
    return vertices, faces


def split(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Every triangle in four, at the middles of its edges."""
    edges = np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    unique, inverse = np.unique(edges, axis=0, return_inverse=True)
    ab, bc, ca = inverse.reshape(3, -1) + len(vertices)
    a, b, c = faces.T
    quarters = np.vstack([np.column_stack(t) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    return np.vstack([vertices, 0.5 * vertices[unique].sum(axis=1)]), quarters


def _averages(count: int, faces: Array) -> csr_matrix:
    """The matrix that replaces each vertex by the mean of its neighbours (alone, it stays)."""
    i = faces[:, [0, 1, 1, 2, 2, 0]].ravel()
    j = faces[:, [1, 0, 2, 1, 0, 2]].ravel()
    links = coo_matrix((np.ones(len(i)), (i, j)), shape=(count, count)).tocsr()
    links.data[:] = 1.0
    degree = np.asarray(links.sum(axis=1)).ravel()
    return (diags(1.0 / np.maximum(degree, 1.0)) @ links + diags((degree == 0.0).astype(float))).tocsr()
