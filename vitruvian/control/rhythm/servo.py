"""Length control that is stable at any gain: eq. 4.9 of Si 2013 at the end of the step instead of at its beginning.

    a = a_f + K_s (l+ - l_d+) + K_d (l'+ - l_d'+),   0 <= a <= 1,    l'+ = P^T (v + dv),  l+ = l + h l'+
    A dv = h (f - P diag(c) a)                          A, f, c: matrix, force and capacity of the implicit step
Read off at the beginning, the loop is a spring that is pulled too late: with h = 1/192 s a thigh's long axis (0.1 kg
m^2) shakes from some 60 N m/rad on, which is about what Si's gains give. Here a and dv are found together: muscles
between 0 and 1 add h c (K_s h + K_d) p p^T to A, those at a bound a constant pull, and who is where settles in a few
rounds (an active set; the last one is kept if it does not). What the servo predicts is what the step does.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.errors import Diverged
from vitruvian.muscle.implicit import BodyStepper
from vitruvian.muscle.implicit_kernels import add_products
from vitruvian.muscle.kernels import add_torques
from vitruvian.muscle.linear import cholesky, solve_cholesky

Array = np.ndarray
ROUNDS = 6  # of the active set


class LengthServo:
    """Activations of all muscles of a body; holds the scratch memory of its own stepper."""

    def __init__(self, body: Body, *, held: Array | None = None):
        """held: joint coordinates that stand still, as for `BodyStepper`."""
        self.body = body
        self.stepper = BodyStepper(body.skeleton, body.muscles, held=held)
        self.rounds = 0  # of the last call

    def activations(
        self,
        q: Array,
        v: Array,
        activation: Array,
        wanted: Array,
        wanted_rate: Array,
        stiffness: Array,
        damping: Array,
        forward: Array,
        dt: float,
        wrench: Array | None = None,
    ) -> Array:
        """a, shape (n_muscles,), for the step of dt [s] from q (n_q,), v (n_v,).

        activation: the last ones; wanted [m] and wanted_rate [m/s] at the step's end; stiffness K_s [1/m], damping K_d
        [s/m]; forward a_f; each shape (n_muscles,). wrench: on bones, as sensed, shape (n_bones, 6)."""
        s = self.stepper
        work = s.assemble(q, v, activation, dt)
        force = work.force.copy()
        if wrench is not None:
            force += s.wrench_forces(wrench)
        out = np.empty(len(wanted))
        self.rounds = _solve(
            s.paths.row_start,
            s.paths.column,
            s.paths.row,
            s.place,
            work.arms,
            work.tension[2],
            work.length,
            work.rate,
            work.matrix,
            force,
            activation,
            wanted,
            wanted_rate,
            stiffness,
            damping,
            forward,
            dt,
            out,
        )
        if self.rounds < 0:
            raise Diverged("length servo", "its matrix is not positive definite")
        return out


@nb.njit(cache=True)
def _solve(
    row_start: Array,
    column: Array,
    row: Array,
    place: Array,
    arms: Array,
    capacity: Array,
    length: Array,
    rate: Array,
    matrix: Array,
    force: Array,  # with the active force of `last`, which is taken out here
    last: Array,
    wanted: Array,
    wanted_rate: Array,
    stiffness: Array,
    damping: Array,
    forward: Array,
    h: float,
    a: Array,
) -> int:
    """Fills a; returns the rounds used, or -1."""
    n = len(a)
    pull = np.empty(n)
    for m in range(n):
        pull[m] = -last[m] * capacity[m]
    add_torques(row_start, column, arms, pull, force)
    base, slope = np.empty(n), np.empty(n)
    for m in range(n):
        base[m] = (
            forward[m] + stiffness[m] * (length[m] + h * rate[m] - wanted[m]) + damping[m] * (rate[m] - wanted_rate[m])
        )
        slope[m] = stiffness[m] * h + damping[m]
        a[m] = min(max(base[m], 0.0), 1.0)
    where = np.full(n, 9)  # -1 below, 0 between, 1 above
    weight, total = np.empty(n), np.empty(len(force))
    A, right = np.empty_like(matrix), np.empty(matrix.shape[0])
    for m in range(n):
        where[m] = -1 if base[m] <= 0.0 else (1 if base[m] >= 1.0 else 0)
    rounds = 0
    while rounds < ROUNDS:
        rounds += 1
        A[:] = matrix
        total[:] = force
        for m in range(n):
            weight[m], pull[m] = 0.0, 0.0
            if where[m] == 0:
                weight[m] = h * capacity[m] * slope[m]
                pull[m] = capacity[m] * base[m]
            elif where[m] == 1:
                pull[m] = capacity[m]
        add_products(row_start, row, arms, weight, A)
        add_torques(row_start, column, arms, pull, total)
        for c in range(len(total)):
            if place[c] >= 0:
                right[place[c]] = h * total[c]
        if cholesky(A) >= 0:
            return -1
        solve_cholesky(A, right)
        changed = 0
        for m in range(n):
            dl = 0.0
            for k in range(row_start[m], row_start[m + 1]):
                if row[k] >= 0:
                    dl += arms[k] * right[row[k]]
            x = base[m] + slope[m] * dl
            a[m] = min(max(x, 0.0), 1.0)
            now = -1 if x <= 0.0 else (1 if x >= 1.0 else 0)
            if now != where[m]:
                where[m] = now
                changed += 1
        if changed == 0:
            break
    return rounds
