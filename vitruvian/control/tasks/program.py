"""One small convex program a step: bounded velocities that meet weighted rows best, some rows from one side only.

    min  ½ Σ w_i (x_i - c_i)² + ½ Σ_r W_r (R_r x - t_r)² + ½ Σ_s W_s max(0, t_s - R_s x)²      low ≤ x ≤ high

Tasks bring few rows for many joints, so it is solved by its dual (as `control.dual` does for muscles), with as many
unknowns y = W (t - R x) as rows: x(y) = clip(c + Rᵀ y / w), and Newton steps on the piecewise linear

    R x(y) + y / W - t = 0,       H = 1/W + R diag(free / w) Rᵀ

end exactly. A row from one side counts while its y is positive: such rows come in and go out between solves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.control.dual import step_length
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
MOST = 60  # Newton steps of one solve
ROUNDS = 12  # solves with other one-sided rows
GOAL = 1e-11  # of the largest residual, in parts of the largest row target and 1


@dataclass(frozen=True)
class Solution:
    """What was found."""

    x: Array  # (n,)
    multiplier: Array  # y, (rows,)
    steps: int
    converged: bool


@dataclass(frozen=True)
class Program:
    """The numbers of one program; `Gathered` makes it from tasks."""

    weight: Array  # w > 0, (n,)
    centre: Array  # c, (n,)
    low: Array  # (n,)
    high: Array  # (n,)
    rows: Array  # R, (m, n)
    target: Array  # t, (m,)
    row_weight: Array  # W > 0, (m,)
    one_sided: Array  # bool, (m,)

    def solve(self) -> Solution:
        x, y = np.empty(len(self.weight)), np.zeros(len(self.target))
        steps, good = _solve(
            self.weight, self.centre, self.low, self.high, np.ascontiguousarray(self.rows), self.target,
            self.row_weight, self.one_sided, x, y,
        )  # fmt: skip
        return Solution(x, y, int(steps), bool(good))

    def optimality(self, x: Array) -> float:
        """Largest violation of the optimality conditions at x, in parts of the largest term of the gradient and 1."""
        left = self.rows @ x - self.target
        left = np.where(self.one_sided, np.minimum(left, 0.0), left)
        gradient = self.weight * (x - self.centre) + self.rows.T @ (self.row_weight * left)
        scale = max(1.0, float(np.abs(self.rows.T * (self.row_weight * left)).max(initial=0.0)))
        projected = x - np.clip(x - gradient / self.weight, self.low, self.high)
        outside = np.maximum(np.maximum(self.low - x, x - self.high), 0.0)
        return float(max(np.abs(self.weight * projected).max() / scale, outside.max()))


@nb.njit(cache=True)
def _solve(w, c, low, high, R, t, W, one_sided, x, y):
    m, n = R.shape
    on = np.ones(m, np.bool_)
    total, good = 0, False
    for _ in range(ROUNDS):
        steps, good = _newton(w, c, low, high, R, t, W, on, x, y)
        total += steps
        changed = False
        for r in range(m):
            if not one_sided[r]:
                continue
            if on[r]:
                if y[r] < 0.0:
                    on[r], y[r], changed = False, 0.0, True
            else:
                s = -t[r]
                for i in range(n):
                    s += R[r, i] * x[i]
                if s < 0.0:
                    on[r], changed = True, True
        if not changed:
            return total, good
    return total, False


@nb.njit(cache=True)
def _newton(w, c, low, high, R, t, W, on, x, y):
    """Solve with the rows that are `on`; y begins where it is."""
    m, n = R.shape
    at = np.empty(m, np.int64)
    k = 0
    goal = 1.0
    for r in range(m):
        if on[r]:
            at[k] = r
            k += 1
            goal = max(goal, abs(t[r]))
    goal *= GOAL
    z, dz, res, d = np.empty(n), np.empty(n), np.empty(k), np.empty(k)
    H = np.empty((k, k))
    inverse = 1.0 / w
    steps = 0
    while True:
        for i in range(n):
            z[i] = c[i]
        for a in range(k):
            f = y[at[a]]
            if f != 0.0:
                row = R[at[a]]
                for i in range(n):
                    z[i] += row[i] * f / w[i]
        for i in range(n):
            x[i] = min(max(z[i], low[i]), high[i])
        worst = 0.0
        for a in range(k):
            row = R[at[a]]
            s = y[at[a]] / W[at[a]] - t[at[a]]
            for i in range(n):
                s += row[i] * x[i]
            res[a] = s
            worst = max(worst, abs(s))
        if worst <= goal:
            return steps, True
        if steps == MOST:
            return steps, False
        for a in range(k):
            for b in range(a + 1):
                s = 0.0
                p, q = R[at[a]], R[at[b]]
                for i in range(n):
                    if z[i] > low[i] and z[i] < high[i]:
                        s += p[i] * q[i] / w[i]
                H[a, b] = s
            H[a, a] += 1.0 / W[at[a]]
        if cholesky(H) >= 0:
            return steps, False
        for a in range(k):
            d[a] = -res[a]
        solve_cholesky(H, d)
        slope, bend = 0.0, 0.0
        for a in range(k):
            slope += res[a] * d[a]
            bend += d[a] * d[a] / W[at[a]]
        dz[:] = 0.0
        for a in range(k):
            row = R[at[a]]
            for i in range(n):
                dz[i] += row[i] * d[a]
        length = step_length(inverse, low, high, z, dz, slope, bend)
        for a in range(k):
            y[at[a]] += length * d[a]
        steps += 1
