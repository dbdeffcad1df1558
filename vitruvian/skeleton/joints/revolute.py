"""Revolute joint (hinge): rotation by q about a fixed axis a. G = exp([a] q), S = (a, 0), ∂S/∂q = 0.

With the placement's rotation P folded in, R(q) = P a aᵀ + sin q P[a] - cos q P[a]²: 18 multiplications per evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.skeleton.joints.base import REVOLUTE, Array, Joint, check_axis
from vitruvian.spatial import skew


@dataclass(frozen=True)
class Revolute(Joint):
    """Rotation about the unit vector `axis`; q in rad."""

    axis: tuple[float, float, float] | Array

    code = REVOLUTE
    n_v = 1

    def check(self, bone: str) -> None:
        check_axis(self.axis, f"bone '{bone}': joint axis")

    def parameters(self, placement: Array) -> Array:
        a = check_axis(self.axis, "axis")
        P = placement[:3, :3]
        return np.concatenate([(P @ M).ravel() for M in (np.outer(a, a), skew(a), -skew(a) @ skew(a))])

    def constant_jacobian(self) -> Array:
        return np.concatenate([check_axis(self.axis, "axis"), np.zeros(3)])[None]


@njit(cache=True)
def revolute(params, p, q, row):
    """Fill row[0:9] with the rotation, placement included."""
    s, c = np.sin(q), np.cos(q)
    for k in range(9):
        row[k] = params[p + k] + s * params[p + 9 + k] + c * params[p + 18 + k]
