"""Cylindrical joint: turn by q_0 about, and slide by q_1 along, one axis a. S = [(a, 0), (0, a)], ∂S/∂q = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.skeleton.joints.base import CYLINDRICAL, Array, Joint, check_axis
from vitruvian.skeleton.joints.helical import turn


@dataclass(frozen=True)
class Cylindrical(Joint):
    """q = (angle [rad], displacement [m]) about and along the unit vector `axis`."""

    axis: tuple[float, float, float] | Array

    code = CYLINDRICAL
    n_v = 2

    def check(self, bone: str) -> None:
        check_axis(self.axis, f"bone '{bone}': joint axis")

    def parameters(self, placement: Array) -> Array:
        return check_axis(self.axis, "axis")

    def constant_jacobian(self) -> Array:
        a, o = check_axis(self.axis, "axis"), np.zeros(3)
        return np.array([np.concatenate([a, o]), np.concatenate([o, a])])


@njit(cache=True)
def cylindrical(params, p, angle, slide, G):
    turn(params, p, angle, G)
    for k in range(3):
        G[9 + k] = params[p + k] * slide
