"""From wanted lengths to activations that act together: limbs by the torques that their lengths ask for.

Eq. 4.9 of Si 2013 lets every muscle pull alone. On a real body that is loose where muscles of unlike strength share a
joint: the hip has 170 N m of outward and 16 N m of inward rotators, so whoever extends it also turns it out, and no
gain heals that. Here the lengths say which pose is wanted and how it moves (`decode`), and each limb's muscles are then
chosen together to get there:
    a* = a^ + k_p (q^ (-) q) + k_v (v^ - v)
    A dv = h (f - P c a),  dv = h a* in the limbs                             the implicit step, everything else free
    min (R a - t)^T S^-1 (R a - t) + e |a|^2,   0 <= a <= 1                    t: torque on the limbs, R: per activation
S is the inertia that the limbs' joints meet with the rest free (Gauss's principle of least constraint: where strength
is lacking, the heavy parts lag and the light ones are still led).
Pelvis, spine, ribs and neck are not asked for anything here: they move as they do, which is what a limb must push off
from (R and t are those of the step with them eliminated, as `control.inverse` does for ribs and sternum). Their own
muscles follow eq. 4.9. Lee 2008, 5.3, is the model for the middle line, Si for the front.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.control.activation import TorqueMap, dual_newton
from vitruvian.errors import Diverged
from vitruvian.muscle.implicit import BodyStepper
from vitruvian.muscle.linear import cholesky, solve_cholesky

Array = np.ndarray
LIMBS = tuple(
    tuple(f"{bone}_{side}" for bone in bones)
    for bones in (("Cla", "Hu", "Ul", "Rad", "Ha"), ("Fe", "Tfp", "Fo"))
    for side in "lr"
)


@dataclass(frozen=True)
class BalanceGains:
    """Of the limbs."""

    stiffness: float = 400.0  # k_p [1/s^2]
    damping: float = 40.0  # k_v [1/s]
    softness: float = 1.0  # e [N m rad/s^2]: effort that is given up to spare activation


class LimbBalance:
    """Activations of the limbs' muscles of one body; holds scratch memory and, as `multiplier`, a start for the next
    solve."""

    def __init__(self, body: Body, gains: BalanceGains | None = None, *, held: Array | None = None):
        """held: joint coordinates that stand still, as for `BodyStepper`."""
        self.body, self.gains = body, gains or BalanceGains()
        s, m = body.skeleton, body.muscles
        self.stepper = BodyStepper(s, m, held=held)
        free = ~self.stepper.held
        self.limb_rows = [
            np.concatenate([np.arange(s.n_v)[s.v_slice(b)] for b in bones if b in s.names])
            for bones in LIMBS
            if bones[-1] in s.names
        ]
        self.rows = np.concatenate(self.limb_rows)
        self.others = np.flatnonzero(free & ~np.isin(np.arange(s.n_v), self.rows))
        self._muscle = np.repeat(np.arange(m.n_muscles), np.diff(m.row_start))
        self.limb_muscles = [np.unique(self._muscle[np.isin(m.column, rows)]) for rows in self.limb_rows]
        self.muscles = np.unique(np.concatenate(self.limb_muscles))
        self.mine = np.zeros(m.n_muscles, dtype=bool)
        self.mine[self.muscles] = True
        self.names = tuple(body.coordinate_names[i] for i in self.rows)

    def activations(
        self,
        q: Array,
        v: Array,
        activation: Array,
        acceleration: Array,
        dt: float,
        multiplier: Array,
        *,
        load: Array | None = None,
        wrench: Array | None = None,
    ) -> tuple[Array, Array]:
        """Activations (n_muscles,), and the torque [N m] (n_rows,) that the limbs lack.

        activation: those of the others are kept. acceleration: a* of the limbs [rad/s^2] (n_rows,). multiplier
        (n_rows,) is brought up to date."""
        s = self.stepper
        others = np.where(self.mine, 0.0, activation)
        work = s.assemble(q, v, others, dt, load=load)
        force = work.force + (0.0 if wrench is None else s.wrench_forces(wrench))
        m = self.body.muscles
        arms = np.zeros((m.n_muscles, s.skeleton.n_v))
        arms[self._muscle, m.column] = work.arms
        A = s.full_matrix()
        k = len(self.rows)
        R, torque, L = np.empty((k, len(self.muscles))), np.empty(k), np.empty((k, k))
        ok = _condense(
            A, force, arms, work.tension[2], self.rows, self.others, self.muscles, acceleration, R, torque, L
        )
        if not ok:
            raise Diverged("limb control", "the step's matrix is not positive definite")
        M = TorqueMap.from_dense(R)
        found = np.empty(len(self.muscles))
        dual_newton(M, torque, self.gains.softness, multiplier, found)
        out = others
        out[self.muscles] = found
        return out, np.einsum("ij,j->i", np.tril(L), M.torques(found) - torque)


@nb.njit(cache=True)
def _condense(
    A: Array,
    force: Array,
    arms: Array,
    capacity: Array,
    rows: Array,
    others: Array,
    muscles: Array,
    a: Array,
    R: Array,
    torque: Array,
    S: Array,
) -> bool:
    """Fill R (n_rows, n) and torque (n_rows,) of the step with `others` eliminated, both times L^-1, and S with its
    factor L."""
    n, k = len(others), len(rows)
    App, C = np.empty((n, n)), np.empty((n, k))
    for i in range(n):
        for j in range(n):
            App[i, j] = A[others[i], others[j]]
        for j in range(k):
            C[i, j] = A[others[i], rows[j]]
    if cholesky(App) >= 0:
        return False
    x = np.empty(n)
    X = np.empty((n, k))  # App^-1 Apm
    for j in range(k):
        x[:] = C[:, j]
        solve_cholesky(App, x)
        X[:, j] = x
    for i in range(k):
        total = -force[rows[i]]
        for j in range(n):
            total += X[j, i] * force[others[j]]
        for j in range(k):
            schur = A[rows[i], rows[j]]
            for l in range(n):
                schur -= C[l, i] * X[l, j]
            S[i, j] = schur
            total += schur * a[j]
        torque[i] = total
    for m in range(len(muscles)):
        P, c = arms[muscles[m]], capacity[muscles[m]]
        for i in range(k):
            total = -P[rows[i]]
            for j in range(n):
                if P[others[j]] != 0.0:
                    total += X[j, i] * P[others[j]]
            R[i, m] = c * total
    if cholesky(S) >= 0:
        return False
    for i in range(k):
        for j in range(i):
            torque[i] -= S[i, j] * torque[j]
            for m in range(len(muscles)):
                R[i, m] -= S[i, j] * R[j, m]
        torque[i] /= S[i, i]
        for m in range(len(muscles)):
            R[i, m] /= S[i, i]
    return True
