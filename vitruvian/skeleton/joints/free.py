"""Free joint: six degrees of freedom. q = (position, unit quaternion), v = twist (ω, v) in the child's frame, S = I."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.skeleton.joints.base import FREE, Array, Joint


@dataclass(frozen=True)
class Free(Joint):
    """Any rigid motion. q: position [m] (3,) and unit quaternion (4,); v: body twist (6,), angular first."""

    code = FREE
    n_v = 6

    @property
    def n_q(self) -> int:
        return 7

    def zero(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def constant_jacobian(self) -> Array:
        return np.eye(6)
