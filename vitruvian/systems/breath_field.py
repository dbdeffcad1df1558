"""What breath does to the skin: the lining of chest and belly, and how its motion spreads to the skin over it.

Lining points lie on the ribs' rings and on the wall of the belly. What they do beyond being carried by the spine,

    d_p = R_pᵀ (x_p - x_p carried) - the same at rest        in the frame of the bone that carries the point most

goes to the skin over them: wholly where it lies within NEAR of a point, not at all beyond FAR, by the four nearest
points, weighted by 1 / distance.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.trunk import Trunk
from vitruvian.breath import vertices
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin, bind

Array = np.ndarray
NEAR, FAR = 0.02, 0.07  # [m] from the lining within which the skin goes with it wholly, and beyond which not at all
NEIGHBOURS = 4


class Lining:
    """Points of chest and belly, and what they do beyond being carried by the spine."""

    def __init__(self, trunk: Trunk, bound: BoundSkin):
        """bound: a skin of the trunk's body; the spine's weights at the skin over a point carry the point too."""
        body, c = trunk.body, trunk.cavities
        self.trunk = trunk
        self.chosen = np.unique(np.concatenate([trunk.shape.rings.ravel(), trunk.shape.wall.ravel()]))
        self.rest = vertices(c, c.rest, bone_poses(body.skeleton, body.default_q))[self.chosen]
        spine = np.array([n == "Pel" or (n[0] in "LT" and n[1:].isdigit()) for n in bound.names])
        weights = bound.dense_weights() * spine
        over = np.flatnonzero(weights.sum(axis=1) > 0.5)
        weights = weights[over][cKDTree(bound.rest[over]).query(self.rest)[1]]
        self.carried = bind(body.skeleton, body.default_q, self.rest, np.zeros((0, 3), int), bound.names, weights)
        self.main = self.carried.bones[self.carried.influence[:, 0]]

    def beyond(self, poses: Array, x: Array) -> Array:
        """R_pᵀ (x_p - x_p carried) [m], (points, 3), with bones at poses and the belly's points at x."""
        apart = vertices(self.trunk.cavities, x, poses)[self.chosen] - self.carried.place(poses).vertices
        return np.einsum("nji,nj->ni", poses[self.main, :3, :3], apart)


class Spread:
    """From points of the lining to the vertices of a skin, both in the default pose."""

    def __init__(self, points: Array, skin: Array):
        far, near = cKDTree(points).query(skin, k=NEIGHBOURS)
        share = np.clip((FAR - far[:, 0]) / (FAR - NEAR), 0.0, 1.0)
        self.share = share * share * (3.0 - 2.0 * share)  # (n,)
        self.moved = np.flatnonzero(self.share > 0.0)
        close = 1.0 / (far[self.moved] + 1e-3)
        self._near = near[self.moved]
        self._weight = self.share[self.moved, None] * close / close.sum(axis=1, keepdims=True)

    def __call__(self, values: Array) -> Array:
        """Values at points (p, 3) as those at the skin's vertices (n, 3)."""
        out = np.zeros((len(self.share), 3))
        out[self.moved] = np.einsum("ij,ijk->ik", self._weight, values[self._near])
        return out
