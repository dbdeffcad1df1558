"""Curve spline joint: one degree of freedom along any twice differentiable curve on SE(3) (Lee 2008, section 6.3.1).

The mathematics is `spatial.se3_spline`; here it becomes a joint, whose Jacobian must not vanish (section 6.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.skeleton.joints.base import CURVE, Array, Joint
from vitruvian.skeleton.joints.regularity import SINGULAR, samples, weakest_point
from vitruvian.spatial import Se3Spline

PER_SPAN = 8  # samples of the Jacobian in each span


class CurveSpline(Joint):
    """A joint that moves along an `Se3Spline`, given as such or by its control frames (see there for the arguments)."""

    code = CURVE
    n_v = 1

    def __init__(
        self,
        frames: Se3Spline | ArrayLike,
        breaks: ArrayLike | None = None,
        *,
        order: int = 4,
        periodic: bool = False,
    ) -> None:
        if isinstance(frames, Se3Spline):
            self.spline = frames
        else:
            self.spline = Se3Spline(frames, breaks, order=order, periodic=periodic, what="curve spline joint")

    @property
    def domain(self) -> tuple[tuple[float, float], ...] | None:
        return None if self.spline.periodic else (self.spline.domain,)

    def check(self, bone: str) -> None:
        at, sigma = weakest_point(self._jacobian, [samples(self.spline.breaks, PER_SPAN)], [self.spline.periodic])
        if not sigma > SINGULAR:
            raise InputError(
                f"bone '{bone}': the Jacobian of the curve spline joint vanishes at q = {at[0]:.6g}; "
                "neighbouring control frames must differ and the motion must not turn back"
            )

    def _jacobian(self, q: Array) -> tuple[Array, Array]:
        _, s, slope = self.spline.evaluate(q[0])
        return s[None], slope[None, None]

    def zero(self) -> Array:
        low, high = self.spline.domain
        return np.array([0.0 if low <= 0.0 <= high else low])

    def parameters(self, placement: Array) -> Array:
        return self.spline.placed_params(placement)
