"""Planar joint: slide by (q_0, q_1) in a plane, then turn by q_2 about its normal n.

G = (exp([n] q_2), q_0 e_0 + q_1 e_1);  S = [(0, Rᵀe_0), (0, Rᵀe_1), (n, 0)];  ∂S_i/∂q_2 = (0, Rᵀe_i × n)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.skeleton.joints.base import PLANAR, Array, Joint, check_axis
from vitruvian.skeleton.joints.helical import turn


@dataclass(frozen=True)
class Planar(Joint):
    """q = (x [m], y [m], angle [rad]); for normal z the axes of the plane are x and y."""

    normal: tuple[float, float, float] | Array = (0.0, 0.0, 1.0)

    code = PLANAR
    n_v = 3

    def check(self, bone: str) -> None:
        check_axis(self.normal, f"bone '{bone}': joint normal")

    def parameters(self, placement: Array) -> Array:
        n = check_axis(self.normal, "normal")
        # The axis of the frame that follows the normal in the cyclic order x, y, z starts the plane: z -> x, x -> y.
        start = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
        e0 = start - n * (n @ start)
        e0 /= np.linalg.norm(e0)
        return np.concatenate([n, e0, np.cross(n, e0)])


@njit(cache=True)
def planar(params, p, q, i, G, jacobian, hessian):
    turn(params, p, q[i + 2], G)
    for a in range(3):
        for b in range(3):
            for c in range(6):
                hessian[a, b, c] = 0.0
        for c in range(6):
            jacobian[a, c] = 0.0
    n0, n1, n2 = params[p], params[p + 1], params[p + 2]
    jacobian[2, 0], jacobian[2, 1], jacobian[2, 2] = n0, n1, n2
    for a in range(2):
        e0, e1, e2 = params[p + 3 + 3 * a], params[p + 4 + 3 * a], params[p + 5 + 3 * a]
        G[9] += q[i + a] * e0
        G[10] += q[i + a] * e1
        G[11] += q[i + a] * e2
        x = G[0] * e0 + G[3] * e1 + G[6] * e2
        y = G[1] * e0 + G[4] * e1 + G[7] * e2
        z = G[2] * e0 + G[5] * e1 + G[8] * e2
        jacobian[a, 3], jacobian[a, 4], jacobian[a, 5] = x, y, z
        hessian[a, 2, 3], hessian[a, 2, 4], hessian[a, 2, 5] = y * n2 - z * n1, z * n0 - x * n2, x * n1 - y * n0
