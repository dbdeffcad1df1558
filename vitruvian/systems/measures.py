"""What is measured of a system at each instant: one kind of measure for all of them.

Measure(Signal("height", "m", "height of the hand"), lambda now: now.point("Ha_l")[2])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from vitruvian.errors import InputError
from vitruvian.skeleton import Skeleton, bone_poses, centre_of_mass, centroidal_momentum
from vitruvian.world import Signal

Array = np.ndarray
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Now:
    """An instant of a system, as given to measures, layers and forces. Systems without bones have no poses."""

    system: Any  # or anything with a skeleton
    state: Any
    controls: Any = None  # `Controls` of the latest step, or None
    time: float = 0.0  # [s]
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def skeleton(self) -> Skeleton:
        """The bones, with moving joint surfaces as they are now."""
        at = getattr(self.system, "skeleton_at", None)
        found = self.system.skeleton if at is None else at(self.time)
        assert isinstance(found, Skeleton)
        return found

    @property
    def q(self) -> Array:
        """Joint coordinates, shape (n_q,)."""
        return np.asarray(self.state.q)

    @property
    def v(self) -> Array:
        """Joint velocities, shape (n_v,)."""
        return np.asarray(self.state.v)

    @cached_property
    def poses(self) -> Array:
        """Bone to world transforms, shape (n_bones, 4, 4)."""
        return bone_poses(self.skeleton, self.q)

    def pose(self, bone: str) -> Array:
        """One of them."""
        return np.asarray(self.poses[self.skeleton.index(bone)])

    def point(self, bone: str, local: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        """World position [m] of a point of a bone, shape (3,)."""
        T = self.pose(bone)
        return np.asarray(T[:3, :3] @ np.asarray(local) + T[:3, 3])

    def angle(self, bone: str, axis: int = 0) -> float:
        """A coordinate of a bone's joint [rad or m]."""
        return float(self.q[self.skeleton.q_slice(bone)][axis])

    def angular_momentum(self) -> Array:
        """About the world's origin [kg m²/s], shape (3,)."""
        about_centre = centroidal_momentum(self.skeleton, self.q, self.v)
        return np.asarray(about_centre[:3] + np.cross(centre_of_mass(self.skeleton, self.q), about_centre[3:]))

    def once(self, find: Callable[[Now], Found]) -> Found:
        """find(now), found once for all measures and layers that ask for it at this instant.

        find: a function or method that is the same object each time, not a fresh lambda; nobody may change what it
        returns."""
        if find not in self._kept:
            self._kept[find] = find(self)
        found: Found = self._kept[find]
        return found


@dataclass(frozen=True)
class Measure:
    """A signal and how it is read off; a vector signal names its components."""

    signal: Signal
    of: Callable[[Now], Any]


def read(measures: Iterable[Measure], now: Now) -> dict[str, float | Array]:
    """All of them now, by the signal's name."""
    out: dict[str, float | Array] = {}
    for one in measures:
        value = np.asarray(one.of(now), dtype=float)
        wanted = (len(one.signal.components),) if one.signal.components else ()
        if value.shape != wanted:
            what = f"{wanted[0]} components" if wanted else "a number"
            raise InputError(f"measure '{one.signal.name}': its signal has {what}, the value shape {value.shape}")
        out[one.signal.name] = value.copy() if one.signal.components else float(value)
    return out
