"""The pose that wanted muscle lengths mean: inverse kinematics with muscles as rulers.

All 846 lengths together tell where each joint should be, how fast it should turn and how that should change:

    q^ <- q^ (+) N^-1 P^T (l_d - l(q^)),    N = P^T P + e^2                  P = dl/dq at q^, shape (n_muscles, n_v)
    v^ = N^-1 P^T l_d',      a^ = N^-1 P^T (l_d'' - l''(q^, v^, 0))

Lengths move by a degree or two of joint angle in a step, so one Gauss-Newton step a call keeps up. It matters that P
belongs to the wanted pose and not to the present one: linearised where the body is, an arm that lags by 30 degrees is
asked for the wrong thing. Coordinates that hardly change any length (e: metres per radian) stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm.lengths import MuscleKinematics
from vitruvian.errors import Diverged
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import integrate, world_twists
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
BLUR = 1e-3  # e [m/rad]


@dataclass(frozen=True)
class WantedMotion:
    """What lengths ask of the joints."""

    q: Array  # shape (n_q,)
    v: Array  # [rad/s], shape (n_v,)
    a: Array  # [rad/s^2], shape (n_v,)


class LengthReader:
    """Reads joint motion off muscle lengths, for one body; holds scratch memory, no state."""

    def __init__(self, body: Body):
        self.body = body
        self._kinematics = MuscleKinematics(body)

    def read(self, q: Array, length: Array, rate: Array, acceleration: Array) -> WantedMotion:
        """From the last answer q (n_q,) and lengths [m], rates [m/s], accelerations [m/s^2], shape (n_muscles,)."""
        s, still = self.body.skeleton, np.zeros(self.body.skeleton.n_v)
        now, found = moment_arms(self.body.muscles, *world_twists(s, q))
        arms = found.data
        m = self.body.muscles
        N = np.zeros((s.n_v, s.n_v))
        _normal(m.row_start, m.column, arms, BLUR**2, N)
        if cholesky(N) >= 0:
            raise Diverged("wanted lengths", "mean no pose")
        dq, v, a = np.zeros((3, s.n_v))
        _gather(m.row_start, m.column, arms, length - now, dq)
        solve_cholesky(N, dq)
        _gather(m.row_start, m.column, arms, rate, v)
        solve_cholesky(N, v)
        bend = self._kinematics(q, v, still)[2]
        _gather(m.row_start, m.column, arms, acceleration - bend, a)
        solve_cholesky(N, a)
        return WantedMotion(integrate(s, q, dq, 1.0), v, a)


@nb.njit(cache=True)
def _normal(row_start: Array, column: Array, arms: Array, ridge: float, N: Array) -> None:
    """Lower triangle of N += P^T P + ridge."""
    for m in range(len(row_start) - 1):
        for i in range(row_start[m], row_start[m + 1]):
            for j in range(row_start[m], i + 1):
                N[column[i], column[j]] += arms[i] * arms[j]
    for i in range(len(N)):
        N[i, i] += ridge


@nb.njit(cache=True)
def _gather(row_start: Array, column: Array, arms: Array, values: Array, out: Array) -> None:
    """out += P^T values."""
    for m in range(len(values)):
        for i in range(row_start[m], row_start[m + 1]):
            out[column[i]] += arms[i] * values[m]
