"""Muscles and ground together: activations and contact forces that come closest to wanted accelerations.

    min  ½ Σ w_i² x_i² + ½ δᵀ W δ    subject to   R x = τ + Â δ,   0 ≤ x ≤ upper

x: activations, and the ground's forces along the edges of friction cones. Â (a* + δ) - f is what joints and root need
at the accelerations a* + δ; no muscle pulls on the root, so what the ground cannot give there is not had, and δ says
where the motion yields, W what that costs. As in `control.activation` the dual has as many unknowns y as rows:

    x(y) = clip(Rᵀ y / w², 0, upper),   δ = -W⁻¹ Âᵀ y,   R x(y) + S y = τ,   S = Â W⁻¹ Âᵀ

solved by Newton steps with H = S + R diag(1/w², free x) Rᵀ and a line search on the dual's slope. With W = D + Jᵀ C J
(a few tasks J beside the joints' own weights D), S is made from W's Cholesky factor, so that it is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
MOST = 40  # Newton steps
SOFTER = (1e4, 1e3, 100.0, 10.0, 1.0)  # times S
TOLERANCE = 1e-6  # of the largest torque wanted


@dataclass(frozen=True)
class Columns:
    """R as sparse columns: muscles first, then edges of friction cones."""

    start: Array  # (n + 1,)
    row: Array  # (z,)
    value: Array  # [N m or N per unit], (z,)
    inverse: Array  # 1/w², (n,)
    upper: Array  # (n,)


@dataclass(frozen=True)
class Shares:
    """What a solve found."""

    x: Array  # (n,)
    multiplier: Array  # y, (rows,)
    yielded: Array  # R x - τ, the force by which the motion yields [N m, N], (rows,)
    iterations: int
    converged: bool


def solve_shares(columns: Columns, torque: Array, soft: Array, start: Array) -> Shares:
    """soft: S (rows, rows); start: a former multiplier."""
    y, x = start.copy(), np.empty(len(columns.inverse))
    goal = TOLERANCE * max(1.0, float(np.abs(torque).max(initial=0.0)))
    given = (columns.start, columns.row, columns.value, columns.inverse, columns.upper, torque)
    total = steps = _newton(*given, soft, y, x, goal)
    if steps < 0:  # begin anew with a motion that yields readily, and make it stiffer by and by
        y[:] = 0.0
        for factor in SOFTER:
            steps = _newton(*given, factor * soft, y, x, goal)
            total = abs(total) + abs(steps)
    return Shares(x, y, -np.einsum("ij,j->i", soft, y), abs(total), steps >= 0)


@nb.njit(cache=True)
def softness(A, weight, J, cost, out):
    """S = Â W⁻¹ Âᵀ for W = diag(weight) + Jᵀ diag(cost) J = L Lᵀ, as (L⁻¹ Âᵀ)ᵀ (L⁻¹ Âᵀ).

    A (n, n), J (r, n), out (n, n)."""
    n, r = A.shape[0], J.shape[0]
    W = np.zeros((n, n))
    for i in range(n):
        W[i, i] = weight[i]
    for k in range(r):
        for i in range(n):
            w = cost[k] * J[k, i]
            if w != 0.0:
                for j in range(i + 1):
                    W[i, j] += w * J[k, j]
    cholesky(W)
    X = np.empty((n, n))  # row i: L⁻¹ times column i of Âᵀ
    for i in range(n):
        x = X[i]
        for j in range(n):
            x[j] = A[i, j]
        for j in range(n):
            total = x[j]
            for k in range(j):
                total -= W[j, k] * x[k]
            x[j] = total / W[j, j]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += X[i, k] * X[j, k]
            out[i, j] = total
            out[j, i] = total


@nb.njit(cache=True)
def compromise(weight, J, cost, wanted, goal, out):
    """a that minimises Σ weight (a - wanted)² + Σ cost (J a - goal)²: wanted (n,), goal (r,), out (n,)."""
    n, r = len(weight), len(cost)
    C, e = np.empty((r, r)), np.empty(r)
    for i in range(r):
        e[i] = goal[i]
        for k in range(n):
            e[i] -= J[i, k] * wanted[k]
        for j in range(r):
            total = 1.0 / cost[i] if i == j else 0.0
            for k in range(n):
                total += J[i, k] * J[j, k] / weight[k]
            C[i, j] = total
    if r:
        cholesky(C)
        solve_cholesky(C, e)
    for k in range(n):
        out[k] = wanted[k]
        for i in range(r):
            out[k] += J[i, k] * e[i] / weight[k]


@nb.njit(cache=True)
def condense(A, wanted, passive, out):
    """Â = A_mm - A_mp A_pp⁻¹ A_pm for the wanted coordinates m and the passive ones p."""
    n, p = len(wanted), len(passive)
    inner, column = np.empty((p, p)), np.empty(p)
    for i in range(p):
        for j in range(p):
            inner[i, j] = A[passive[i], passive[j]]
    if p:
        cholesky(inner)
    for j in range(n):
        for i in range(n):
            out[i, j] = A[wanted[i], wanted[j]]
        if p:
            used = False
            for i in range(p):
                column[i] = A[passive[i], wanted[j]]
                used = used or column[i] != 0.0
            if used:
                solve_cholesky(inner, column)
                for i in range(n):
                    total = 0.0
                    for k in range(p):
                        total += A[wanted[i], passive[k]] * column[k]
                    out[i, j] -= total


@nb.njit(cache=True)
def _newton(start, row, value, inverse, upper, torque, soft, y, x, goal):
    n, m = len(y), len(x)
    z, dz, r, d = np.empty(m), np.empty(m), np.empty(n), np.empty(n)
    H = np.empty((n, n))
    steps = 0
    while True:
        for i in range(n):
            total = -torque[i]
            for j in range(n):
                total += soft[i, j] * y[j]
            r[i] = total
        for i in range(m):
            total = 0.0
            for k in range(start[i], start[i + 1]):
                total += value[k] * y[row[k]]
            z[i] = total * inverse[i]
            x[i] = min(max(z[i], 0.0), upper[i])
            if x[i] != 0.0:
                for k in range(start[i], start[i + 1]):
                    r[row[k]] += value[k] * x[i]
        worst = 0.0
        for i in range(n):
            worst = max(worst, abs(r[i]))
        if worst <= goal:
            return steps
        if steps == MOST:
            return -steps
        for i in range(n):
            for j in range(i + 1):
                H[i, j] = soft[i, j]
            H[i, i] *= 1.0 + 1e-12
        for i in range(m):
            if z[i] > 0.0 and z[i] < upper[i]:
                for k in range(start[i], start[i + 1]):
                    w = inverse[i] * value[k]
                    for e in range(start[i], k + 1):
                        H[max(row[k], row[e]), min(row[k], row[e])] += w * value[e]
        if cholesky(H) >= 0:
            return -steps - 1
        for i in range(n):
            d[i] = -r[i]
        solve_cholesky(H, d)
        t = _line(start, row, value, inverse, upper, soft, z, dz, r, d)
        for i in range(n):
            y[i] += t * d[i]
        steps += 1


@nb.njit(cache=True)
def _line(start, row, value, inverse, upper, soft, z, dz, r, d):
    """Step along d at which the convex dual stops falling."""
    slope, bend = 0.0, 0.0
    for i in range(len(d)):
        slope += r[i] * d[i]
        total = 0.0
        for j in range(len(d)):
            total += soft[i, j] * d[j]
        bend += total * d[i]
    for i in range(len(z)):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += value[k] * d[row[k]]
        dz[i] = total * inverse[i]
    low, high, t = 0.0, -1.0, 1.0
    for _ in range(40):
        now = slope + t * bend
        for i in range(len(z)):
            if dz[i] != 0.0:
                before = min(max(z[i], 0.0), upper[i])
                after = min(max(z[i] + t * dz[i], 0.0), upper[i])
                now += (after - before) * dz[i] / inverse[i]
        if abs(now) <= 0.2 * abs(slope):
            return t
        if now > 0.0:
            high = t
        else:
            low = t
        t = 2.0 * t if high < 0.0 else 0.5 * (low + high)
    return t
