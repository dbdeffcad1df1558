"""Ball joint without singularity: q is a unit quaternion (w, x, y, z), v the angular velocity ω in the child's frame.

G = R(q), S = (I, 0), ∂S/∂q = 0 along the motion: ω is a quasi-velocity, so n_q = 4 and n_v = 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.skeleton.joints.base import BALL, Array, Joint


@dataclass(frozen=True)
class Ball(Joint):
    """Any rotation. q: unit quaternion (w, x, y, z); v: angular velocity [rad/s] in the child's frame, shape (3,)."""

    code = BALL
    n_v = 3

    @property
    def n_q(self) -> int:
        return 4

    def zero(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def constant_jacobian(self) -> Array:
        return np.eye(3, 6)


@njit(cache=True)
def quaternion_rotation(q, i, G):
    """Fill G[0:9] with the rotation of the quaternion q[i:i+4]."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    s = 2.0 / (w * w + x * x + y * y + z * z)
    G[0], G[1], G[2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    G[3], G[4], G[5] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    G[6], G[7], G[8] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)
