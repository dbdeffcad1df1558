"""A skeleton alone as a simulation: joints, gravity, springs, given forces, driven joints, moving spline surfaces.

What it books beside the motion is the work W [J] that changes the mechanical energy E: of drives, given forces, dampers and
moving surfaces, dW/dt = τ_drive · v + τ_given · v + τ_damping · v + Σ f · s_t, with f the wrench that a moving joint
transmits and s_t its drift. E − W is the signal `balance`, and it must not change: every scene of bones can check that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from vitruvian.skeleton import (
    Skeleton,
    bone_poses,
)
from vitruvian.world.stage import Signal

Array = np.ndarray
Drive = Callable[[float], tuple[float, float, float]]  # time [s] -> coordinate, velocity, acceleration
INTEGRATORS = ("rk4", "semi-implicit", "euler")


@dataclass
class BonesState:
    """Coordinates (n_q,), velocities (n_v,), and the work booked so far [J]."""

    q: Array
    v: Array
    work: Array = field(default_factory=lambda: np.zeros(1))


@dataclass(frozen=True)
class Now:
    """An instant, as given to measures, forces and followers."""

    skeleton: Skeleton
    q: Array
    v: Array
    time: float

    @cached_property
    def poses(self) -> Array:
        """Bone to world transforms, shape (n_bones, 4, 4)."""
        return bone_poses(self.skeleton, self.q)

    def pose(self, bone: str) -> Array:
        """One of them."""
        return self.poses[self.skeleton.index(bone)]


@dataclass(frozen=True)
class Measure:
    """A signal and how it is read off."""

    signal: Signal
    value: Callable[[Now], Any]
