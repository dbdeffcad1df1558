"""Elliptic joint: the child slides along an ellipse, its x axis along the tangent (Lee 2008, eqs. 6.17-6.20).

G = (exp([k] φ), (a sin q, -b cos q, 0)),  φ = atan2(b sin q, a cos q),  k = z
φ' = a b / D,  φ'' = -2 a b (b² - a²) sin q cos q / D²,  D = a² cos² q + b² sin² q
S = (φ' k, exp(-[k] φ) (a cos q, b sin q, 0)) = (0, 0, φ', √D, 0, 0)

The last form follows because the x axis is the tangent; ∂S/∂q is its plain derivative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.errors import InputError
from vitruvian.skeleton.joints.base import ELLIPTIC, Array, Joint


@dataclass(frozen=True)
class Elliptic(Joint):
    """Sliding along an ellipse in the xy plane of the joint frame with semi-axes `a` (x) and `b` (y) [m]; q [rad]."""

    a: float
    b: float

    code = ELLIPTIC
    n_v = 1

    def check(self, bone: str) -> None:
        super().check(bone)
        if self.a <= 0.0 or self.b <= 0.0:
            raise InputError(f"bone '{bone}': semi-axes of the elliptic joint must be positive")

    def parameters(self, placement: Array) -> Array:
        return np.array([self.a, self.b], dtype=float)


@njit(cache=True)
def elliptic(params, p, q, G, jacobian, hessian):
    a, b = params[p], params[p + 1]
    s, c = np.sin(q), np.cos(q)
    D = a * a * c * c + b * b * s * s
    speed = np.sqrt(D)
    cosine, sine = a * c / speed, b * s / speed
    G[0], G[1], G[2] = cosine, -sine, 0.0
    G[3], G[4], G[5] = sine, cosine, 0.0
    G[6], G[7], G[8] = 0.0, 0.0, 1.0
    G[9], G[10], G[11] = a * s, -b * c, 0.0
    half_slope = (b * b - a * a) * s * c  # D'/2
    for k in range(6):
        jacobian[0, k] = 0.0
        hessian[0, 0, k] = 0.0
    jacobian[0, 2], jacobian[0, 3] = a * b / D, speed
    hessian[0, 0, 2], hessian[0, 0, 3] = -2.0 * a * b * half_slope / (D * D), half_slope / speed
