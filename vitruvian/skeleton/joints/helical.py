"""Helical joint (screw) of pitch h: G = exp((a, h a) q), S = (a, h a), ∂S/∂q = 0 (Lee 2008, section 6.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.skeleton.joints.base import SCREW, Array, Joint, check_axis, check_finite


@dataclass(frozen=True)
class Helical(Joint):
    """Rotation by q [rad] about the unit vector `axis` with an advance of `pitch` [m/rad] along it."""

    axis: tuple[float, float, float] | Array
    pitch: float

    code = SCREW
    n_v = 1

    def check(self, bone: str) -> None:
        check_axis(self.axis, f"bone '{bone}': joint axis")
        check_finite(self.pitch, f"bone '{bone}': joint pitch")

    def parameters(self, placement: Array) -> Array:
        a = check_axis(self.axis, "axis")
        return np.concatenate([a, self.pitch * a])

    def constant_jacobian(self) -> Array:
        return self.parameters(np.eye(4))[None]


@njit(cache=True)
def screw(params, p, q, G):
    """G (12,) of the screw (ω, v) = params[p:p+6] with ω of unit length or zero and v along ω when it turns."""
    turn(params, p, q, G)
    for k in range(3):
        G[9 + k] = params[p + 3 + k] * q


@njit(cache=True)
def turn(params, p, q, G):
    """Rotation by q about the unit axis params[p:p+3], or none if that is zero; no translation."""
    x, y, z = params[p], params[p + 1], params[p + 2]
    s, half = np.sin(q), np.sin(0.5 * q)
    c = 2.0 * half * half
    G[0], G[1], G[2] = 1.0 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y
    G[3], G[4], G[5] = c * x * y + s * z, 1.0 - c * (x * x + z * z), c * y * z - s * x
    G[6], G[7], G[8] = c * x * z - s * y, c * y * z + s * x, 1.0 - c * (x * x + y * y)
    G[9], G[10], G[11] = 0.0, 0.0, 0.0
