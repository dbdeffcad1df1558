"""Muscle activations that give wanted joint torques (Lee 2008, 5.3.4), by a dual semismooth Newton method.

    min 1/2 sum (w_i a_i)^2   subject to   R a = torque,  0 <= a <= upper            (5.5)

with R the torque of each muscle at full activation. The Lagrangian gives a(y) = clip(R^T y / w^2, 0, upper), so there
are as many unknowns y as joint coordinates, not muscles: R a(y) = torque is solved by Newton steps with H = R
diag(1/w^2, free a) R^T. A proximal term (e/2)|y - y_k|^2 keeps H regular, and drops out after one or two outer
rounds. If the muscles cannot give the torque, the same problem with y_k = 0 (and e lowered step by step) is the
least-squares answer, and the coordinate that is short is named. Warm-started with the last y.

With a `slack` s on every row the problem is soft everywhere: min 1/2 |w a|^2 + 1/2 sum (R a - torque)^2 / s. Its answer
changes continuously with the torque, within or beyond what the muscles can give, and Newton needs few steps.
Controllers take s in proportion to each coordinate's inertia (Gauss: the least deviation in acceleration), so that a
lack of strength shows where it moves little, and activations do not chatter between two problems at the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numba as nb
import numpy as np

from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

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
        _add_torques(self.row_start, self.column, self.value, activation, out)
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
        args = (R.row_start, R.column, R.value, inverse, upper, torque, slack)
        total, exact = 0, False
        if len(slack) and slack.min() > 0.0:
            return self._soft(R, args, y, a, goal)
        if limited and start is not None:
            total, converged = self._least_squares(args, y, a, goal)
            if converged and np.abs(R.torques(a) + slack * y - torque).max(initial=0.0) > REACHABLE:
                return Activations(a, y, R.torques(a) - torque, total, False)
        last = np.inf
        for _ in range(self._rounds):
            steps, converged = _newton(*args, y.copy(), self.proximal, y, a, self.max_newton, 0.1 * goal)
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
            for soft in self.proximal * 10.0 ** np.arange(8.0, 0.0, -1.0):
                total += _newton(*args, np.zeros(R.n_rows), soft, y, a, self.max_newton, 0.1 * goal)[0]
            total += self._least_squares(args, y, a, goal)[0]
        return Activations(a, y, R.torques(a) - torque, total, exact)

    def _soft(self, R: TorqueMap, args: tuple[Array, ...], y: Array, a: Array, goal: float) -> Activations:
        """With slack on every row; from a start that does not lead there, by way of softer problems."""
        start, column, value, inverse, upper, torque, slack = args
        zero, most = np.zeros_like(y), self.max_newton

        def newton(slack: Array) -> tuple[int, bool]:
            return _newton(start, column, value, inverse, upper, torque, slack, zero, 0.0, y, a, most, goal)

        total, converged = newton(slack)
        if not converged:
            y[:] = 0.0
            for softer in 10.0 ** np.arange(6.0, -1.0, -1.0):
                steps, converged = newton(softer * slack)
                total += steps
        return Activations(a, y, R.torques(a) - torque, total, converged)

    def _least_squares(self, args: tuple[Array, ...], y: Array, a: Array, goal: float) -> tuple[int, bool]:
        row_start, column, value, inverse, upper, torque, slack = args
        zero, e = np.zeros_like(y), self.proximal
        return _newton(
            row_start, column, value, inverse, upper, torque, slack, zero, e, y, a, self.max_newton, 0.1 * goal
        )


@nb.njit(cache=True)
def _add_torques(row_start: Array, column: Array, value: Array, a: Array, out: Array) -> None:
    for m in range(len(a)):
        if a[m] != 0.0:
            for k in range(row_start[m], row_start[m + 1]):
                out[column[k]] += value[k] * a[m]


@nb.njit(cache=True)
def _newton(
    row_start: Array,
    column: Array,
    value: Array,
    inverse: Array,  # 1/w^2
    upper: Array,
    torque: Array,
    slack: Array,
    centre: Array,
    proximal: float,
    y: Array,
    a: Array,
    max_steps: int,
    goal: float,
) -> tuple[int, bool]:
    """Minimise the dual sum h(R^T y) - torque.y + slack y^2/2 + proximal |y - centre|^2/2 over y; fills y and a."""
    n, m = len(y), len(a)
    z, dz = np.empty(m), np.empty(m)
    r, d = np.empty(n), np.empty(n)
    H = np.empty((n, n))
    steps = 0
    while True:
        for i in range(n):
            r[i] = slack[i] * y[i] + proximal * (y[i] - centre[i]) - torque[i]
        for i in range(m):
            total = 0.0
            for k in range(row_start[i], row_start[i + 1]):
                total += value[k] * y[column[k]]
            z[i] = total * inverse[i]
            a[i] = min(max(z[i], 0.0), upper[i])
        _add_torques(row_start, column, value, a, r)
        worst = 0.0
        for i in range(n):
            worst = max(worst, abs(r[i]))
        if worst <= goal:
            return steps, True
        if steps == max_steps:
            return steps, False
        H[:] = 0.0
        for i in range(n):
            H[i, i] = slack[i] + proximal
        for i in range(m):
            if z[i] > 0.0 and z[i] < upper[i]:
                _add_outer(row_start[i], row_start[i + 1], column, value, inverse[i], H)
        if cholesky(H) >= 0:
            return steps, False
        for i in range(n):
            d[i] = -r[i]
        solve_cholesky(H, d)
        t = _line_search(row_start, column, value, inverse, upper, slack, proximal, z, dz, r, d)
        for i in range(n):
            y[i] += t * d[i]
        steps += 1


@nb.njit(cache=True)
def _add_outer(first: int, end: int, column: Array, value: Array, weight: float, H: Array) -> None:
    """Lower triangle of H += weight v v^T; columns ascend."""
    for i in range(first, end):
        wi = weight * value[i]
        if wi != 0.0:
            row = H[column[i]]
            for j in range(first, i + 1):
                row[column[j]] += wi * value[j]


@nb.njit(cache=True)
def _line_search(
    row_start: Array,
    column: Array,
    value: Array,
    inverse: Array,
    upper: Array,
    slack: Array,
    proximal: float,
    z: Array,
    dz: Array,
    r: Array,
    d: Array,
) -> float:
    """Step along d at which the convex dual stops falling: a root of its slope, by bisection between good bounds."""
    slope, bend = 0.0, 0.0
    for i in range(len(d)):
        slope += r[i] * d[i]
        bend += (slack[i] + proximal) * d[i] * d[i]
    for i in range(len(z)):
        total = 0.0
        for k in range(row_start[i], row_start[i + 1]):
            total += value[k] * d[column[k]]
        dz[i] = total * inverse[i]
    low, high, t = 0.0, -1.0, 1.0
    for _ in range(30):
        now = slope + t * bend
        for i in range(len(z)):
            if dz[i] != 0.0:
                before = min(max(z[i], 0.0), upper[i])
                after = min(max(z[i] + t * dz[i], 0.0), upper[i])
                now += (after - before) * dz[i] / inverse[i]
        if abs(now) <= 0.3 * abs(slope):
            return t
        if now > 0.0:
            high = t
        else:
            low = t
        t = 2.0 * t if high < 0.0 else 0.5 * (low + high)
    return t
