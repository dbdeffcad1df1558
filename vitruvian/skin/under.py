"""What lies under the drawn skin goes with it: the bellies of muscles, drawn under a skin that is draped.

The lattice carries bellies and skin alike, but the skin that is drawn is smoothed (`flesh.drape`) and passes over to
skinning at the edge of the flesh; a belly a few millimetres below it would come through. So points near the skin take
the same correction, that of the skin's vertices nearest to them at rest, whole within a cell of the skin and fading
out to two. What is then still above the drawn skin is laid just beneath it. Which skin belongs to which point is found
once at rest, so that an arm that folds onto the trunk does not find the trunk's skin.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.mesh import vertex_normals

Array = np.ndarray
MIXED = 6  # vertices of the skin that a point takes its correction from
KNOWN = 24  # that it may lie under
COVER = 0.001  # [m] of skin over what is laid beneath it; bellies have 2.8 mm or more at rest
ROUNDS = 4  # of laying beneath, for another vertex may then be the nearest


class Under:
    """Points that stay under a drawn skin."""

    def __init__(self, skin: Array, faces: Array, points: Array, reach: float) -> None:
        """skin: vertices at rest [m] (n, 3); points: at rest [m] (m, 3); reach: depth [m] of the whole correction."""
        count = min(KNOWN, len(skin))
        depth, known = (a.reshape(-1, count) for a in cKDTree(skin).query(points, k=count))
        self.faces = faces
        self.near = np.flatnonzero(depth[:, 0] < 2.0 * reach)
        depth, self._known = depth[self.near], known[self.near]
        self._shallow = np.flatnonzero(depth[:, 0] < reach)
        fade = np.clip(2.0 - depth[:, 0] / reach, 0.0, 1.0)
        weight = 1.0 / np.maximum(depth[:, :MIXED], 1e-6) ** 2
        self._weight = (fade * fade * (3.0 - 2.0 * fade))[:, None] * weight / weight.sum(axis=1, keepdims=True)

    def __call__(self, points: Array, riding: Array, drawn: Array) -> Array:
        """Points [m] (m, 3) as the lattice has them, corrected; riding, drawn: the skin's vertices [m] (n, 3) likewise
        and as they are drawn."""
        out = np.array(points, float)
        moved = np.einsum("nk,nki->ni", self._weight, (drawn - riding)[self._known[:, :MIXED]])
        out[self.near] += moved
        normals = vertex_normals(drawn, self.faces)
        left = self._shallow
        for _ in range(ROUNDS):
            at, known = out[self.near[left]], self._known[left]
            way = at[:, None] - drawn[known]
            nearest = np.einsum("nki,nki->nk", way, way).argmin(axis=1)
            rows = np.arange(len(left))
            normal = normals[known[rows, nearest]]
            above = np.einsum("ni,ni->n", way[rows, nearest], normal) + COVER
            high = above > 0.0
            out[self.near[left[high]]] -= above[high, None] * normal[high]
            left = left[high]
            if len(left) == 0:
                break
        return out
