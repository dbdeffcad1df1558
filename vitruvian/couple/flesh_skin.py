"""Skin on flesh in water: finite elements give the skin what skinning does not know, bulges, creases and kept volume.

After each step the flesh balances around the new bones (`couple.flesh_follower`). What its skin adds to the skinned
one, in the frame of the bone that moves the vertex most, is the flesh's own motion, d; the water meets the skin at

    x = x_skinned(q) + R_b d,       v = v_skinned(q, v) + R_b d'
with d' from the last two balances: prescribed within a step, so that only bones are solved together with the pressure.
Skin is a thin plate (`flesh.drape`): d is what it takes of the lattice's motion, without the ridges of single cells.
Exchanging forces with free flesh explicitly grows by 2 to 4.5 times a step. Muscles whose fibres lie in the flesh
contract there as they work, so a working calf bulges (Si 2013, figure 6.8); their pull on the bones is the line
muscles' alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vitruvian.couple.flesh_follower import Follower, FollowState
from vitruvian.flesh import Drape, FleshModel
from vitruvian.flesh.drape import CELLS
from vitruvian.skeleton import Skeleton, bone_poses, difference, integrate
from vitruvian.skin import BoundSkin, SkinPlace

Array = np.ndarray
PORTIONS = 24  # balances from the rest pose to the first


@dataclass
class FleshMotion:
    """What changes about the flesh."""

    follow: FollowState
    offset: Array  # d [m], shape (n, 3)
    rate: Array  # d' [m/s], shape (n, 3)


class FleshSkin:
    """A bound skin that flesh moves; holds buffers, never state."""

    def __init__(
        self, skeleton: Skeleton, rest_q: Array, skin: BoundSkin, model: FleshModel, muscles: Sequence[str] = ()
    ):
        """rest_q: the pose in which skin and flesh were made, shape (n_q,). muscles: names in the order of the
        activations, which the flesh's own are among; without them the flesh's fibres rest."""
        self.skeleton, self.rest_q = skeleton, rest_q
        # flesh keeps its own volume
        self.bound = replace(skin, volume=None)
        self.follower = Follower(model)
        self.embedding = self.follower.skin(skin.rest)
        self._drape = Drape(skin.rest, skin.faces, CELLS * float(np.median(model.elements.size)))
        self._main = skin.bones[skin.influence[:, 0]]
        number = {name: i for i, name in enumerate(muscles)}
        self._rows = np.array([number[name] for name in model.muscles.names], int) if muscles else None

    def start(self, q: Array) -> FleshMotion:
        """Flesh in balance around bones at q, reached in small parts from the rest pose."""
        s = self.skeleton
        follow = self.follower.start(bone_poses(s, self.rest_q))
        way = difference(s, self.rest_q, q)
        for n in range(1, PORTIONS + 1):
            poses = bone_poses(s, integrate(s, self.rest_q, n / PORTIONS * way, 1.0))
            self.follower.follow(follow, poses, 1.0, skin=self.embedding)
        return FleshMotion(follow, self._difference(follow, poses), np.zeros_like(self.bound.rest))

    def follow(self, motion: FleshMotion, poses: Array, dt: float, activation: Array | None = None) -> None:
        """Balance around bones at `poses` (n_bones, 4, 4) after dt [s]. activation: of all muscles (n_muscles,)."""
        alive = None if activation is None or self._rows is None else activation[self._rows]
        self.follower.follow(motion.follow, poses, dt, skin=self.embedding, activation=alive)
        new = self._difference(motion.follow, poses)
        motion.rate = (new - motion.offset) / dt
        motion.offset = new

    def at(self, motion: FleshMotion) -> MovedSkin:
        """The skin as the flesh moves it now: a `MovingSkin`."""
        return MovedSkin(self.bound, self._main, motion.offset, motion.rate)

    def _difference(self, follow: FollowState, poses: Array) -> Array:
        apart = self._drape(self.embedding.positions(follow.flesh.x) - self.bound.place(poses).vertices)
        return np.einsum("nji,nj->ni", poses[self._main, :3, :3], apart)


@dataclass(frozen=True, eq=False)
class MovedSkin:
    """A bound skin with the flesh's motion of one instant; a `MovingSkin`."""

    bound: BoundSkin
    main: Array  # bone that moves each vertex most, shape (n,)
    offset: Array  # d [m], shape (n, 3)
    rate: Array  # d' [m/s], shape (n, 3)

    @property
    def faces(self) -> Array:
        return self.bound.faces

    @property
    def bones(self) -> Array:
        return self.bound.bones

    @property
    def face_bone(self) -> Array:
        return self.bound.face_bone

    def place(self, poses: Array) -> FleshPlace:
        place = self.bound.place(poses)
        turns = poses[self.main, :3, :3]
        moved = place.vertices + np.einsum("nij,nj->ni", turns, self.offset)
        return FleshPlace(replace(place, vertices=moved), np.einsum("nij,nj->ni", turns, self.rate))


@dataclass(frozen=True, eq=False)
class FleshPlace:
    """A skin on flesh in one pose; see `skin.SkinPlace`."""

    place: SkinPlace  # with the vertices moved
    drift: Array  # R_b d' [m/s], shape (n, 3)

    @property
    def vertices(self) -> Array:
        return self.place.vertices

    def velocities(self, twists: Array) -> Array:
        return self.place.velocities(twists) + self.drift

    def wrenches(self, forces: Array) -> Array:
        return self.place.wrenches(forces)
