"""Prismatic joint: translation by q along a fixed axis a. G = exp((0, a) q), S = (0, a), ∂S/∂q = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.skeleton.joints.base import SCREW, Array, Joint, check_axis


@dataclass(frozen=True)
class Prismatic(Joint):
    """Translation along the unit vector `axis`; q in m."""

    axis: tuple[float, float, float] | Array

    code = SCREW
    n_v = 1

    def check(self, bone: str) -> None:
        check_axis(self.axis, f"bone '{bone}': joint axis")

    def parameters(self, placement: Array) -> Array:
        return np.concatenate([np.zeros(3), check_axis(self.axis, "axis")])

    def constant_jacobian(self) -> Array:
        return self.parameters(np.eye(4))[None]
