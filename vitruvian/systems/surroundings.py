"""What people and things do to a body: weights held, pushes given, at known times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vitruvian.skeleton import Inertia, Skeleton, bone_poses

Array = np.ndarray


@dataclass(frozen=True)
class Held:
    """A thing welded to a bone from `start` to `end` [s]."""

    bone: str
    inertia: Inertia  # in the bone's frame
    start: float = -np.inf
    end: float = np.inf

    @cached_property
    def load(self) -> Array:
        """Its inertia as `Inertia.flat`, shape (10,)."""
        return self.inertia.flat()


@dataclass(frozen=True)
class Push:
    """A force [N] in world axes on a point [m] of a bone, from `start` for `duration` [s]."""

    bone: str
    force: tuple[float, float, float]
    start: float
    duration: float
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


def add_held(skeleton: Skeleton, things: Iterable[Held], time: float, load: Array) -> None:
    """Add the inertia of what is held at `time` [s] to each bone's load, shape (n_bones, 10)."""
    for thing in things:
        if thing.start <= time + 1e-9 and time + 1e-9 < thing.end:
            load[skeleton.index(thing.bone)] += thing.load


def add_pushes(skeleton: Skeleton, pushes: Iterable[Push], q: Array, time: float, wrench: Array) -> None:
    """Add what pushes at `time` [s] to the wrench on each bone in its frame (moment, force), shape (n_bones, 6)."""
    active = [p for p in pushes if p.start <= time + 1e-9 < p.start + p.duration]
    if active:
        poses = bone_poses(skeleton, q)
        for p in active:
            i = skeleton.index(p.bone)
            force = poses[i, :3, :3].T @ np.array(p.force)
            wrench[i] += np.concatenate([np.cross(p.point, force), force])
