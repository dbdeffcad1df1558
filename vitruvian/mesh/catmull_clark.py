"""One level of Catmull–Clark subdivision of quads as a sparse matrix, so that a moving mesh is refined by one product.

face point     mean of the quad
edge point     mean of its two ends and the two face points; on a border the middle of the edge
vertex point   (F + 2 R + (n − 3) P)/n, F the mean of its face points, R of the middles of its edges;
               on a border ¾ P + ⅛ of both neighbours along it               (Catmull & Clark 1978)
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags, vstack

Array = np.ndarray


def catmull_clark(quads: Array, n: int) -> tuple[csr_matrix, Array]:
    """Matrix (n_new, n) from old vertices to new ones, and the new quads (4 m, 4), those of quad i at 4 i to 4 i + 3.

    quads: (m, 4); n: number of vertices. Each edge may have one or two quads."""
    m = len(quads)
    ends = np.sort(np.stack([quads, np.roll(quads, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, which, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(m, 4)
    face = csr_matrix((np.full(4 * m, 0.25), (np.repeat(np.arange(m), 4), quads.ravel())), shape=(m, n))
    middle = csr_matrix(
        (np.full(2 * len(edges), 0.5), (np.repeat(np.arange(len(edges)), 2), edges.ravel())), shape=(len(edges), n)
    )
    inner = (count == 2).astype(float)
    beside = csr_matrix((np.full(4 * m, 0.5), (which.ravel(), np.repeat(np.arange(m), 4))), shape=(len(edges), m))
    edge = diags(1.0 - 0.5 * inner) @ middle + diags(0.5 * inner) @ (beside @ face)
    around = csr_matrix((np.ones(4 * m), (quads.ravel(), np.repeat(np.arange(m), 4))), shape=(n, m))
    at_end = csr_matrix(
        (np.ones(2 * len(edges)), (edges.ravel(), np.repeat(np.arange(len(edges)), 2))), shape=(n, len(edges))
    )
    faces_of, edges_of = (np.maximum(np.asarray(a.sum(axis=1)).ravel(), 1.0) for a in (around, at_end))
    smooth = (
        diags(1.0 / faces_of**2) @ around @ face
        + diags(2.0 / (faces_of * edges_of)) @ at_end @ middle
        + diags((faces_of - 3.0) / faces_of)
    )
    rim = at_end @ diags(1.0 - inner)
    on_rim = np.asarray(rim.sum(axis=1)).ravel()
    border = 0.5 * diags(np.ones(n)) + diags(0.5 / np.maximum(on_rim, 1.0)) @ rim @ middle
    lone = np.bincount(quads.ravel(), minlength=n) == 0
    keep = diags(np.where(lone, 1.0, 0.0))
    vertex = (
        diags((~lone & (on_rim == 0)).astype(float)) @ smooth + diags((~lone & (on_rim > 0)).astype(float)) @ border
    )
    matrix = vstack([vertex + keep, edge, face]).tocsr()
    matrix.eliminate_zeros()
    centre = n + len(edges) + np.arange(m)
    before = n + np.roll(which, 1, axis=1)
    fine = np.stack([quads, n + which, np.repeat(centre[:, None], 4, axis=1), before], axis=2).reshape(-1, 4)
    return matrix, fine


def refined_part(quads: Array, n: int, part: Array) -> tuple[csr_matrix, Array, Array]:
    """Subdivide some quads (mask (m,)) and leave the rest: matrix (n_new, n), quads, and the old quad of each.

    Vertices on the border of the part stay, and new ones there lie on its edges, so that no gap opens."""
    own = np.flatnonzero(part)
    matrix, fine = catmull_clark(quads[own], n)
    inner = np.zeros(n, bool)
    inner[quads[own].ravel()] = True
    inner[quads[~part].ravel()] = False
    ends = np.sort(np.stack([quads[own], np.roll(quads[own], -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, count = np.unique(ends, axis=0, return_counts=True)
    inner[edges[count == 1].ravel()] = False
    still = diags((~inner).astype(float))
    top = diags(inner.astype(float)) @ matrix[:n] + still
    rest = np.flatnonzero(~part)
    return (
        vstack([top, matrix[n:]]).tocsr(),
        np.concatenate([quads[rest], fine]),
        np.concatenate([rest, np.repeat(own, 4)]),
    )
