"""Muscles and ground together: activations and contact forces that come closest to wanted accelerations.

    min  ½ Σ w_i² x_i² + ½ δᵀ W δ    subject to   R x = τ + Â δ,   0 ≤ x ≤ upper

x: activations, and the ground's forces along the edges of friction cones. Â (a* + δ) - f is what joints and root need
at the accelerations a* + δ; no muscle pulls on the root, so what the ground cannot give there is not had, and δ says
where the motion yields, W what that costs. `control.dual` solves it in as many unknowns y as rows:

    δ = -W⁻¹ Âᵀ y,   R x(y) + S y = τ,   S = Â W⁻¹ Âᵀ

With W = D + Jᵀ C J (a few tasks J beside the joints' own weights D), S is made from W's Cholesky factor, so that it is
never negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.control.dual import newton
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky, solve_lower

Array = np.ndarray
WARM, MOST = 15, 60  # Newton steps from a former multiplier, and from a softer motion's
SOFTER = tuple(10.0 ** (0.5 * k) for k in range(8, -1, -1))  # times S; by whole tens a fifth of hard ones did not end
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
    y, x, none = start.copy(), np.empty(len(columns.inverse)), np.zeros(len(torque))
    goal = TOLERANCE * max(1.0, float(np.abs(torque).max(initial=0.0)))
    given = (columns.start, columns.row, columns.value, columns.inverse, columns.upper, torque, none)
    total, converged = newton(*given, soft, y, x, WARM, goal)
    if not converged:  # begin anew with a motion that yields readily, and make it stiffer by and by
        y[:] = 0.0
        for factor in SOFTER:
            steps, converged = newton(*given, factor * soft, y, x, MOST, goal)
            total += steps
    return Shares(x, y, -np.einsum("ij,j->i", soft, y), total, converged)


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
    X = A.copy()  # row i: L⁻¹ times column i of Âᵀ
    for i in range(n):
        solve_lower(W, X[i])
    _products(X, out)


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def _products(X, out):
    """X Xᵀ."""
    n = len(X)
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += X[i, k] * X[j, k]
            out[i, j] = total
            out[j, i] = total


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
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


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
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
