"""A skin of rigid parts: every vertex rides on one bone. What a mechanism without flesh shows to the water."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.skeleton import Skeleton

Array = np.ndarray


@dataclass(frozen=True)
class BonePart:
    """A closed surface that rides on a bone."""

    bone: str
    vertices: Array  # [m] in the bone's frame, shape (n, 3)
    faces: Array  # shape (m, 3), facing outwards


class BoneParts:
    """A `MovingSkin` of rigid parts."""

    def __init__(self, skeleton: Skeleton, parts: Sequence[BonePart]):
        if not parts:
            raise InputError("bones in water need surface parts or a skin")
        ends = np.cumsum([0, *(len(p.vertices) for p in parts)])
        bone = np.repeat([skeleton.index(p.bone) for p in parts], np.diff(ends))
        self._ride(
            np.concatenate([np.asarray(p.vertices, float) for p in parts]),
            bone,
            np.concatenate([np.asarray(p.faces) + start for p, start in zip(parts, ends)]),
        )

    @classmethod
    def riding(cls, vertices: Array, bone: Array, faces: Array) -> BoneParts:
        """Vertices [m] (n, 3), each in the frame of its bone, numbered by `bone` (n,)."""
        out = cls.__new__(cls)
        out._ride(np.asarray(vertices, float), np.asarray(bone), np.asarray(faces))
        return out

    def _ride(self, vertices: Array, bone: Array, faces: Array) -> None:
        self.local, self.faces, self._bone = vertices, faces, bone
        self.bones, self._link = np.unique(bone, return_inverse=True)
        self.face_bone = self._link[faces[:, 0]]

    def place(self, poses: Array) -> PartsPlace:
        """Where it is when the bones are at `poses` (n_bones, 4, 4)."""
        now = poses[self._bone]
        return PartsPlace(
            self._link, np.einsum("nij,nj->ni", now[:, :3, :3], self.local) + now[:, :3, 3], len(self.bones)
        )


@dataclass(frozen=True, eq=False)
class PartsPlace:
    """Rigid parts in one pose; see `skin.SkinPlace`."""

    link: Array  # that carries each vertex, shape (n,)
    vertices: Array  # [m] in the world, shape (n, 3)
    count: int  # of links

    def velocities(self, twists: Array) -> Array:
        """Vertex velocities [m/s] (n, 3) from the links' twists about the world's origin (links, 6)."""
        t = twists[self.link]
        return np.asarray(t[:, 3:] + np.cross(t[:, :3], self.vertices))

    def wrenches(self, forces: Array) -> Array:
        """Forces on the vertices [N] (n, 3) as (moment about the world's origin, force) on the links, (links, 6)."""
        both = np.concatenate([np.cross(self.vertices, forces), forces], axis=1)
        return np.stack([np.bincount(self.link, both[:, k], self.count) for k in range(6)], axis=1)
