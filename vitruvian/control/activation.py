"""Muscle activations that give wanted joint torques (Lee 2008, 5.3.4), by a dual semismooth Newton method.

    min 1/2 sum (w_i a_i)^2   subject to   R a = torque,  0 <= a <= upper            (5.5)

with R the torque of each muscle at full activation, in as many unknowns y as joint coordinates (`control.dual`).
A proximal term (e/2)|y - y_k|^2 keeps Newton's matrix regular, and drops out after one or two outer rounds. If the
muscles cannot give the torque, the same problem with y_k = 0 (and e lowered step by step) is the least-squares answer,
and the coordinate that is short is named. Warm-started with the last y.

With a `slack` s on every row the problem is soft everywhere: min 1/2 |w a|^2 + 1/2 sum (R a - torque)^2 / s. Its answer
changes continuously with the torque, within or beyond what the muscles can give, and Newton needs few steps.
Controllers take s in proportion to each coordinate's inertia (Gauss: the least deviation in acceleration), so that a
lack of strength shows where it moves little, and activations do not chatter between two problems at the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vitruvian.control.dual import NONE, add_rows, newton

Array = np.ndarray
REACHABLE = 1e-2  # [N m]: a least-squares answer this close may have an exact one beside it


@dataclass(frozen=True)
class TorqueMap:
    """R as sparse rows, one per muscle: torque [N m] on coordinate `column` at full activation."""

    row_start: Array  # shape (n_muscles + 1,)
    column: Array  # shape (z,)
    value: Array  # shape (z,)
    n_rows: int  # joint coordinates

    @classmethod
    def from_dense(cls, matrix: Array) -> TorqueMap:
        """From R, shape (n_rows, n_muscles)."""
        columns = [np.flatnonzero(c) for c in matrix.T]
        start = np.cumsum([0, *(len(c) for c in columns)])
        value = np.concatenate([matrix[c, i] for i, c in enumerate(columns)])
        return cls(start.astype(np.int64), np.concatenate(columns).astype(np.int64), value.astype(float), len(matrix))

    def dense(self) -> Array:
        """R, shape (n_rows, n_muscles)."""
        out = np.zeros((self.n_rows, len(self.row_start) - 1))
        muscle = np.repeat(np.arange(out.shape[1]), np.diff(self.row_start))
        out[self.column, muscle] = self.value
        return out

    def torques(self, activation: Array) -> Array:
        """R a, shape (n_rows,)."""
        out = np.zeros(self.n_rows)
        add_rows(self.row_start, self.column, self.value, activation, out)
        return out


@dataclass(frozen=True)
class Activations:
    """What a solve found."""

    activation: Array  # shape (n_muscles,)
    multiplier: Array  # y [1/(N m)], shape (n_rows,); start of the next solve
    residual: Array  # R a - torque [N m], shape (n_rows,)
    iterations: int  # Newton steps
    exact: bool  # False: least squares, the muscles cannot give the torque

    def short(self, names: Sequence[str], least: float = 1e-3) -> list[tuple[str, float]]:
        """Coordinates whose torque is missed by more than `least` [N m], worst first: (name, missing N m)."""
        order = np.argsort(-np.abs(self.residual))
        return [(names[i], float(-self.residual[i])) for i in order if abs(self.residual[i]) > least]


@dataclass(frozen=True)
class ActivationSolver:
    """Settings of the solve; `upper` None leaves activation unbounded above, as Lee does."""

    upper: float | None = 1.0
    tolerance: float = 1e-9  # on R a - torque, relative to the largest torque or 1 N m
    proximal: float = 1e-4  # [N^2 m^2]
    slack: Array | None = None  # [N^2 m^2] per row, shape (n_rows,): softly tracked coordinates give by slack * y
    max_newton: int = 60
    _rounds: int = field(default=12, repr=False)

    def solve(
        self,
        R: TorqueMap,
        torque: Array,
        weight: Array | None = None,
        start: Array | None = None,
        *,
        limited: bool = False,
    ) -> Activations:
        """Activations for `torque` [N m], shape (n_rows,); weight w, shape (n_muscles,); start: a former multiplier.

        limited: the former answer was not exact, so try the least-squares one first."""
        n = len(R.row_start) - 1
        inverse = np.ones(n) if weight is None else 1.0 / np.asarray(weight, dtype=float) ** 2
        upper = np.full(n, np.inf if self.upper is None else self.upper)
        slack = np.zeros(R.n_rows) if self.slack is None else self.slack
        y = np.zeros(R.n_rows) if start is None else start.copy()
        a = np.empty(n)
        goal = self.tolerance * max(1.0, float(np.abs(torque).max(initial=0.0)))
        if len(slack) and slack.min() > 0.0:
            return self._soft(R, inverse, upper, torque, slack, y, a, goal)

        def solve(centre: Array | None, proximal: float) -> tuple[int, bool]:
            """With (proximal/2)|y - centre|^2; centre None: 0."""
            aim = torque if centre is None else torque + proximal * centre
            return newton(
                R.row_start, R.column, R.value, inverse, upper, aim, slack + proximal, NONE, y, a, self.max_newton,
                0.1 * goal,
            )  # fmt: skip

        total, exact = 0, False
        if limited and start is not None:
            total, converged = solve(None, self.proximal)
            if converged and np.abs(R.torques(a) + slack * y - torque).max(initial=0.0) > REACHABLE:
                return Activations(a, y, R.torques(a) - torque, total, False)
        last = np.inf
        for _ in range(self._rounds):
            steps, converged = solve(y.copy(), self.proximal)
            total += steps
            off = np.abs(R.torques(a) + slack * y - torque).max(initial=0.0)
            if off <= goal:
                exact = True
                break
            if not converged or off > 0.7 * last:  # the error shrinks from round to round when a solution exists
                break
            last = off
        if not exact:
            y[:] = 0.0
            for proximal in self.proximal * 10.0 ** np.arange(8.0, -1.0, -1.0):
                total += solve(None, proximal)[0]
        return Activations(a, y, R.torques(a) - torque, total, exact)

    def _soft(
        self, R: TorqueMap, inverse: Array, upper: Array, torque: Array, slack: Array, y: Array, a: Array, goal: float
    ) -> Activations:
        """With slack on every row; from a start that does not lead there, by way of softer problems."""

        def solve(slack: Array) -> tuple[int, bool]:
            return newton(
                R.row_start, R.column, R.value, inverse, upper, torque, slack, NONE, y, a, self.max_newton, goal
            )

        total, converged = solve(slack)
        if not converged:
            y[:] = 0.0
            for softer in 10.0 ** np.arange(6.0, -1.0, -1.0):
                steps, converged = solve(softer * slack)
                total += steps
        return Activations(a, y, R.torques(a) - torque, total, converged)
