"""One Newton method for least activations: the dual of a bounded, softly constrained least-squares problem.

    min  ½ Σ (w_i x_i)² + ½ sᵀ S⁻¹ s    subject to   R x = τ + s,   0 ≤ x ≤ upper

The Lagrangian gives x(y) = clip(Rᵀ y / w², 0, upper) and s = -S y, so there are as many unknowns y as rows of R, not
as columns: r(y) = R x(y) + S y - τ = 0 is the gradient of a convex function of y. Newton steps d with
H = S + R diag(1/w², free x) Rᵀ, each as long as the slope along it dies down. S = diag(slack) + soft.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.skeleton.cholesky import add_outer, cholesky, solve_cholesky

Array = np.ndarray
DIED = 0.3  # share of the slope at which a line search ends
NONE = np.zeros((0, 0))  # soft: S is diagonal


@nb.njit(cache=True)
def newton(
    start: Array,  # (m + 1,): column i of R holds value[k] at row[k], ascending, k from start[i] to start[i + 1]
    row: Array,
    value: Array,
    inverse: Array,  # 1/w², (m,)
    upper: Array,  # (m,)
    torque: Array,  # τ, (n,)
    slack: Array,  # (n,)
    soft: Array,  # (n, n), or (0, 0)
    y: Array,  # (n,): where to begin; the answer
    x: Array,  # (m,): the answer
    most: int,
    goal: float,
) -> tuple[int, bool]:
    """Steps taken, and whether no |r| is above `goal`; fills y and x."""
    n, m = len(y), len(x)
    low = np.zeros(m)
    z, dz, r, d = np.empty(m), np.empty(m), np.empty(n), np.empty(n)
    H, part, at = np.empty((n, n)), np.empty(n), np.empty(n, np.uint32)
    steps = 0
    while True:
        bend_times(slack, soft, y, r)
        for i in range(n):
            r[i] -= torque[i]
        columns_times(start, row, value, y, z)
        for i in range(m):
            z[i] *= inverse[i]
            x[i] = min(max(z[i], 0.0), upper[i])
        add_rows(start, row, value, x, r)
        worst = 0.0
        for i in range(n):
            worst = max(worst, abs(r[i]))
        if worst <= goal:
            return steps, True
        if steps == most:
            return steps, False
        for i in range(n):
            for j in range(i):
                H[i, j] = soft[i, j] if len(soft) else 0.0
            H[i, i] = slack[i] + (soft[i, i] * (1.0 + 1e-12) if len(soft) else 0.0)
        for i in range(m):
            if z[i] > 0.0 and z[i] < upper[i]:
                count = 0
                for k in range(start[i + 1] - 1, start[i] - 1, -1):
                    if value[k] != 0.0:
                        part[count], at[count] = value[k], row[k]
                        count += 1
                add_outer(inverse[i], part, at, count, H)
        if cholesky(H) >= 0:
            return steps, False
        for i in range(n):
            d[i] = -r[i]
        solve_cholesky(H, d)
        bend_times(slack, soft, d, part)
        slope, bend = 0.0, 0.0
        for i in range(n):
            slope += r[i] * d[i]
            bend += part[i] * d[i]
        columns_times(start, row, value, d, dz)
        t = step_length(inverse, low, upper, z, dz, slope, bend)
        for i in range(n):
            y[i] += t * d[i]
        steps += 1


@nb.njit(cache=True)
def add_rows(start: Array, row: Array, value: Array, x: Array, out: Array) -> None:
    """out += R x."""
    for i in range(len(x)):
        if x[i] != 0.0:
            for k in range(start[i], start[i + 1]):
                out[row[k]] += value[k] * x[i]


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def columns_times(start: Array, row: Array, value: Array, y: Array, out: Array) -> None:
    """out = Rᵀ y."""
    for i in range(len(out)):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += value[k] * y[row[k]]
        out[i] = total


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def bend_times(slack: Array, soft: Array, y: Array, out: Array) -> None:
    """out = S y."""
    for i in range(len(y)):
        total = slack[i] * y[i]
        if len(soft):
            for j in range(len(y)):
                total += soft[i, j] * y[j]
        out[i] = total


@nb.njit(cache=True)
def step_length(inverse: Array, low: Array, high: Array, z: Array, dz: Array, slope: float, bend: float) -> float:
    """Length of the step at which the dual's slope, `slope` at its beginning, has died down: by bisection between good
    bounds; z: x before it is clipped to low and high, dz: Rᵀ d."""
    least, most, t = 0.0, -1.0, 1.0
    for _ in range(40):
        now = slope + t * bend
        for i in range(len(z)):
            if dz[i] != 0.0:
                before = min(max(z[i], low[i]), high[i])
                after = min(max(z[i] + t * inverse[i] * dz[i], low[i]), high[i])
                now += (after - before) * dz[i]
        if abs(now) <= DIED * abs(slope):
            return t
        if now > 0.0:
            most = t
        else:
            least = t
        t = 2.0 * t if most < 0.0 else 0.5 * (least + most)
    return t
