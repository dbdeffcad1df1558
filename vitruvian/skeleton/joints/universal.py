"""Universal joint: turn by q_0 about a_0, then by q_1 about a_1 (Lee 2008, section 6.2.1).

G = exp([a_0] q_0) exp([a_1] q_1);  S = [(s, 0), (a_1, 0)], s = exp(-[a_1] q_1) a_0;  ∂s/∂q_1 = s × a_1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.errors import InputError
from vitruvian.skeleton.joints.base import UNIVERSAL, Array, Joint, check_axis
from vitruvian.skeleton.joints.helical import turn


@dataclass(frozen=True)
class Universal(Joint):
    """q = angles [rad] about the unit vectors `axis1` (fixed in the parent) and `axis2` (fixed in the child)."""

    axis1: tuple[float, float, float] | Array
    axis2: tuple[float, float, float] | Array

    code = UNIVERSAL
    n_v = 2

    def check(self, bone: str) -> None:
        a = check_axis(self.axis1, f"bone '{bone}': joint axis1")
        b = check_axis(self.axis2, f"bone '{bone}': joint axis2")
        if np.linalg.norm(np.cross(a, b)) < 1e-6:
            raise InputError(f"bone '{bone}': the two joint axes are parallel, so the joint has one freedom, not two")

    def parameters(self, placement: Array) -> Array:
        return np.concatenate([check_axis(self.axis1, "axis1"), check_axis(self.axis2, "axis2")])


@njit(cache=True)
def universal(params, p, q0, q1, G, jacobian, hessian):
    turn(params, p + 3, q1, G)  # the second rotation first: its transpose turns a_0 into the child's frame
    x, y, z = params[p], params[p + 1], params[p + 2]
    s0 = G[0] * x + G[3] * y + G[6] * z
    s1 = G[1] * x + G[4] * y + G[7] * z
    s2 = G[2] * x + G[5] * y + G[8] * z
    # exp([a_0] q_0) E = E exp([s] q_0): the first rotation, seen from the child, multiplies on the right.
    sine, half = np.sin(q0), np.sin(0.5 * q0)
    c = 2.0 * half * half
    for row in range(3):
        g0, g1, g2 = G[3 * row], G[3 * row + 1], G[3 * row + 2]
        along = c * (g0 * s0 + g1 * s1 + g2 * s2)
        G[3 * row] = g0 * (1.0 - c) + along * s0 + sine * (g1 * s2 - g2 * s1)
        G[3 * row + 1] = g1 * (1.0 - c) + along * s1 + sine * (g2 * s0 - g0 * s2)
        G[3 * row + 2] = g2 * (1.0 - c) + along * s2 + sine * (g0 * s1 - g1 * s0)
    b0, b1, b2 = params[p + 3], params[p + 4], params[p + 5]
    for k in range(3):
        jacobian[0, 3 + k] = 0.0
        jacobian[1, 3 + k] = 0.0
    jacobian[0, 0], jacobian[0, 1], jacobian[0, 2] = s0, s1, s2
    jacobian[1, 0], jacobian[1, 1], jacobian[1, 2] = b0, b1, b2
    for i in range(2):
        for j in range(2):
            for k in range(6):
                hessian[i, j, k] = 0.0
    hessian[0, 1, 0], hessian[0, 1, 1], hessian[0, 1, 2] = s1 * b2 - s2 * b1, s2 * b0 - s0 * b2, s0 * b1 - s1 * b0
