"""Flesh on a swimmer: finite elements give the skin what skinning does not know, bulges, creases and kept volume.

After each step the flesh balances around the new bones (`couple.flesh_follower`). What its skin adds to the skinned
one, in the frame of the bone that moves the vertex most, is the flesh's own motion, d; the water meets the skin at

    x = x_skinned(q) + R_b d,       v = v_skinned(q, v) + R_b d'
with d' from the last two balances: prescribed within a step, so that only bones are solved together with the pressure.
Skin is a thin plate (`flesh.drape`): d is what it takes of the lattice's motion, without the ridges of single cells.
Exchanging forces with free flesh explicitly grows by 2 to 4.5 times a step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin_flesh import BodyFlesh
from vitruvian.anatomy.skinning import BoundSkin, SkinPlace
from vitruvian.couple.flesh_follower import Follower, FollowState
from vitruvian.flesh import Drape
from vitruvian.flesh.drape import CELLS
from vitruvian.skeleton import bone_poses, difference, integrate

Array = np.ndarray
PARTS = 24  # balances from the default pose to the first


@dataclass
class FleshMotion:
    """What changes about the flesh."""

    follow: FollowState
    offset: Array  # d [m], shape (n, 3)
    rate: Array  # d' [m/s], shape (n, 3)


@dataclass(frozen=True, eq=False)
class FleshPlace:
    """A skin on flesh in one pose; see `anatomy.skinning.SkinPlace`."""

    place: SkinPlace  # with the vertices moved
    drift: Array  # R_b d' [m/s], shape (n, 3)

    @property
    def vertices(self) -> Array:
        return self.place.vertices

    def velocities(self, twists: Array) -> Array:
        return self.place.velocities(twists) + self.drift

    def wrenches(self, forces: Array) -> Array:
        return self.place.wrenches(forces)


class FleshSkin:
    """A bound skin that flesh moves; what it remembers is set from the state at the start of each step."""

    def __init__(self, body: Body, skin: BoundSkin, flesh: BodyFlesh):
        self.body = body
        # flesh keeps its own volume
        self.bound = replace(skin, volume=None)
        self.follower = Follower(flesh.model)
        self.embedding = self.follower.skin(skin.rest)
        self.faces, self.bones, self.names, self.face_bone = skin.faces, skin.bones, skin.names, skin.face_bone
        self._drape = Drape(skin.rest, skin.faces, CELLS * flesh.model.lattice.spacing)
        self._main = skin.bones[skin.influence[:, 0]]
        self._offset = np.zeros_like(skin.rest)
        self._rate = np.zeros_like(skin.rest)

    def start(self, q: Array) -> FleshMotion:
        """Flesh in balance around bones at q, reached in small parts from the default pose."""
        s = self.body.skeleton
        follow = self.follower.start(bone_poses(s, self.body.default_q))
        way = difference(s, self.body.default_q, q)
        for n in range(1, PARTS + 1):
            poses = bone_poses(s, integrate(s, self.body.default_q, n / PARTS * way, 1.0))
            self.follower.follow(follow, poses, 1.0, skin=self.embedding)
        out = FleshMotion(follow, np.zeros_like(self._offset), np.zeros_like(self._rate))
        out.offset = self._difference(out, poses)
        self.recall(out)
        return out

    def recall(self, motion: FleshMotion) -> None:
        """Take the flesh's motion from a state."""
        self._offset, self._rate = motion.offset, motion.rate

    def follow(self, motion: FleshMotion, poses: Array, dt: float) -> None:
        """Balance around bones at `poses` (n_bones, 4, 4) after dt [s]."""
        self.follower.follow(motion.follow, poses, dt, skin=self.embedding)
        new = self._difference(motion, poses)
        motion.rate = (new - motion.offset) / dt
        motion.offset = new
        self.recall(motion)

    def place(self, poses: Array) -> FleshPlace:
        place = self.bound.place(poses)
        turns = poses[self._main, :3, :3]
        moved = place.vertices + np.einsum("nij,nj->ni", turns, self._offset)
        return FleshPlace(replace(place, vertices=moved), np.einsum("nij,nj->ni", turns, self._rate))

    def _difference(self, motion: FleshMotion, poses: Array) -> Array:
        apart = self._drape(self.embedding.positions(motion.follow.flesh.x) - self.bound.place(poses).vertices)
        return np.einsum("nji,nj->ni", poses[self._main, :3, :3], apart)
