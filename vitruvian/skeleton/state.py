"""What changes about a skeleton: coordinates and velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.skeleton.model import Skeleton

Array = np.ndarray


@dataclass
class SkeletonState:
    """q: joint coordinates [rad, m or quaternion], (n_q,); v: joint velocities [rad/s or m/s], (n_v,)."""

    q: Array
    v: Array

    @staticmethod
    def at_rest(skeleton: Skeleton) -> SkeletonState:
        """The neutral pose, standing still."""
        return SkeletonState(skeleton.neutral_q(), np.zeros(skeleton.n_v))

    def copy(self) -> SkeletonState:
        return SkeletonState(self.q.copy(), self.v.copy())
