"""How the skin of the head rides: in the tissue's lattice where there is one, with skull and jaw elsewhere.

A vertex near the mouth's slit is embedded in a cell of its own lip. Beyond the lattice (back of the head, ears, deep
mouth) vertices go with bone, blended over BLEND.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.grids import HIGH, above_slit, mouth_corners
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.face.tissue import FaceTissue
from vitruvian.flesh import Embedding

Array = np.ndarray
BLEND = (0.002, 0.010)  # [m] from tissue: rides in it, rides with bone
ASIDE = 0.0035  # [m] from the slit, where the cell of a lip's vertex is looked for
NEAR_SLIT = 0.008  # [m]


def skin_embedding(head: HeadMesh, tissue: FaceTissue) -> tuple[Embedding, Array]:
    """Embedding of all head vertices, and how much each rides in the tissue, 0 to 1, shape (n,)."""
    lattice, v = tissue.lattice, head.vertices
    away = from_slit(head, tissue)
    asked = v.copy()
    close = np.abs(away) < NEAR_SLIT
    asked[close, 2] += np.where(away[close] > 0.0, ASIDE, -ASIDE)
    # the cell must be one of its own lip
    element = lattice.locate(asked)
    filled = np.argwhere(lattice.owner >= 0)
    places = lattice.origin + (filled + 0.5) * (lattice.spacing / lattice.samples)
    far = cKDTree(places).query(v)[0]
    share = 1.0 - np.clip((far - BLEND[0]) / (BLEND[1] - BLEND[0]), 0.0, 1.0)
    share *= np.clip((HIGH[2] - v[:, 2]) / 0.012, 0.0, 1.0) * np.clip((HIGH[1] - v[:, 1]) / 0.012, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    return embedding_in(tissue, element, v), share


def embedding_in(tissue: FaceTissue, element: Array, points: Array) -> Embedding:
    """Points embedded in given cells."""
    lattice = tissue.lattice
    weights, nodes = lattice.weights(element, points), lattice.element_nodes[element]
    rows = np.repeat(np.arange(len(points)), nodes.shape[1])
    matrix = csr_matrix((weights.ravel(), (rows, nodes.ravel())), shape=(len(points), lattice.n_nodes))
    return Embedding(element, nodes, weights, matrix, matrix.T.tocsr())


def from_slit(head: HeadMesh, tissue: FaceTissue) -> Array:
    """Height above the mouth's slit [m] (n,), signed by which lip a vertex belongs to; far from the mouth infinite."""
    v = head.vertices
    corner = mouth_corners(head)[0]
    middle = float(np.nanmedian(tissue.slit))
    near = (np.abs(v[:, 0]) < corner[0] + 0.002) & (np.abs(v[:, 2] - middle) < 0.02) & (v[:, 1] < -0.06)
    sign = np.where(above_slit(v, tissue.slit), 1.0, -1.0)
    # which lip: by the jaw's skinning weight where the slit itself does not say
    sign = np.where(head.jaw > 0.6, -1.0, np.where(head.jaw < 0.4, 1.0, sign))
    return np.where(near, sign * np.maximum(np.abs(v[:, 2] - middle), 1e-6), np.inf)
