"""Curve spline joint: one degree of freedom along any twice differentiable curve on SE(3) (Lee 2008, section 6.3.1).

The mathematics is `spatial.se3_spline`; here it becomes a joint, whose Jacobian must not vanish (section 6.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.skeleton.joints.base import CURVE, Array, Joint
from vitruvian.spatial import Se3Spline


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
        norms = jacobian_norms(self.spline)
        worst = int(np.argmin(norms[:, 1]))
        if norms[worst, 1] < 1e-6 * norms[:, 1].max() or not norms[:, 1].max() > 0.0:
            raise InputError(
                f"bone '{bone}': the Jacobian of the curve spline joint vanishes at q = {norms[worst, 0]:.6g}; "
                "neighbouring control frames must differ"
            )

    def zero(self) -> Array:
        low, high = self.spline.domain
        return np.array([0.0 if low <= 0.0 <= high else low])

    def parameters(self, placement: Array) -> Array:
        return self.spline.placed_params(placement)


def jacobian_norms(spline: Se3Spline, per_span: int = 16) -> Array:
    """(q, |s(q)|) at `per_span` points of every span, ends included, shape (n, 2)."""
    q = np.concatenate(
        [np.linspace(a, b, per_span, endpoint=False) for a, b in zip(spline.breaks[:-1], spline.breaks[1:])]
        + [spline.breaks[-1:]]
    )
    return np.array([(x, np.linalg.norm(spline.evaluate(x)[1])) for x in q])
