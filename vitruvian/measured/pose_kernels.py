"""Kernels of inverse kinematics: normal equations of points, orientations, posture and joint limits, in one pass.

Cost of a pose q, with x the places of points and R the orientations of bones:

    ½ Σ w |x* - x(q)|² + ½ Σ w_r |log(R(q)ᵀ R*)|² + ½ Σ p (y - y₀)² + ½ Σ s (y beyond its limits)²

y are the coordinates that limits apply to (rotation vectors from neutral for ball joints, whose right Jacobian
dy = J_r⁻¹(y) δ is used). H and g are those of a Gauss-Newton step H δ = g on the free coordinates.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.skeleton.cholesky import cholesky, solve_cholesky
from vitruvian.skeleton.evaluate import CODE, NV, Q0, V0
from vitruvian.skeleton.joints.base import BALL, FREE
from vitruvian.skeleton.passive import rotation_vector_between

Array = np.ndarray


@nb.njit(cache=True)
def pose_equations(
    topology, q, neutral, poses, twists, columns, column_start, slot,
    point_bone, point_local, point_goal, point_weight, turn_bone, turn_goal, turn_weight,
    reference, posture, low, high, stop, H, g,
):  # fmt: skip
    """Fill H (n, n), lower triangle, and g (n,) over the free coordinates; returns the cost.

    columns[column_start[b]:column_start[b+1]] are the free coordinates that move bone b; slot: coordinate -> row."""
    H[:] = 0.0
    g[:] = 0.0
    cost = 0.0
    longest = 0
    for b in range(len(column_start) - 1):
        longest = max(longest, column_start[b + 1] - column_start[b])
    J = np.empty((longest, 3))
    x, e = np.empty(3), np.empty(3)
    for m in range(len(point_bone)):
        if np.isnan(point_goal[m, 0]) or point_weight[m] == 0.0:
            continue
        b, T = point_bone[m], poses[point_bone[m]]
        for k in range(3):
            x[k] = T[k, 3]
            for j in range(3):
                x[k] += T[k, j] * point_local[m, j]
            e[k] = point_goal[m, k] - x[k]
        first, end = column_start[b], column_start[b + 1]
        for c in range(first, end):
            t = twists[columns[c]]
            J[c - first, 0] = t[3] + t[1] * x[2] - t[2] * x[1]
            J[c - first, 1] = t[4] + t[2] * x[0] - t[0] * x[2]
            J[c - first, 2] = t[5] + t[0] * x[1] - t[1] * x[0]
        cost += _add(J, e, point_weight[m], columns, slot, first, end, H, g)
    D = np.empty((3, 3))
    for m in range(len(turn_bone)):
        if np.isnan(turn_goal[m, 0, 0]) or turn_weight[m] == 0.0:
            continue
        b, T = turn_bone[m], poses[turn_bone[m]]
        for i in range(3):  # in world axes: e = log(R* R^T)
            for j in range(3):
                D[i, j] = 0.0
                for k in range(3):
                    D[i, j] += turn_goal[m, i, k] * T[j, k]
        _rotation_log(D, e)
        first, end = column_start[b], column_start[b + 1]
        for c in range(first, end):
            for k in range(3):
                J[c - first, k] = twists[columns[c], k]
        cost += _add(J, e, turn_weight[m], columns, slot, first, end, H, g)
    return cost + _posture(topology, q, neutral, slot, reference, posture, low, high, stop, H, g)


@nb.njit(cache=True)
def _add(J, e, weight, columns, slot, first, end, H, g):
    for c in range(end - first):
        row = slot[columns[first + c]]
        a0, a1, a2 = weight * J[c, 0], weight * J[c, 1], weight * J[c, 2]
        g[row] += a0 * e[0] + a1 * e[1] + a2 * e[2]
        for d in range(c + 1):  # columns ascend, so rows do
            H[row, slot[columns[first + d]]] += a0 * J[d, 0] + a1 * J[d, 1] + a2 * J[d, 2]
    return 0.5 * weight * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2])


@nb.njit(cache=True)
def _posture(topology, q, neutral, slot, reference, posture, low, high, stop, H, g):
    cost = 0.0
    y, pull, slope = np.empty(3), np.empty(3), np.empty(3)
    K = np.empty((3, 3))
    for i in range(topology.shape[0]):
        code, q0, v0, n = topology[i, CODE], topology[i, Q0], topology[i, V0], topology[i, NV]
        if code == FREE or n == 0 or slot[v0] < 0:
            continue
        if code == BALL:
            rotation_vector_between(neutral, q, q0, y)
            for k in range(3):
                cost += _spring(y[k], v0 + k, k, reference, posture, low, high, stop, pull, slope)
            _inverse_right_jacobian(y, K)
            for a in range(3):
                for k in range(3):
                    g[slot[v0 + a]] += K[k, a] * pull[k]
                for b in range(a + 1):
                    for k in range(3):
                        H[slot[v0 + a], slot[v0 + b]] += K[k, a] * slope[k] * K[k, b]
            continue
        for k in range(n):
            cost += _spring(q[q0 + k], v0 + k, 0, reference, posture, low, high, stop, pull, slope)
            g[slot[v0 + k]] += pull[0]
            H[slot[v0 + k], slot[v0 + k]] += slope[0]
    return cost


@nb.njit(cache=True)
def _spring(y, d, k, reference, posture, low, high, stop, pull, slope):
    """Cost, pull -dc/dy and slope d²c/dy² of one coordinate's posture and limits."""
    off = y - reference[d]
    pull[k], slope[k] = -posture[d] * off, posture[d]
    cost = 0.5 * posture[d] * off * off
    beyond = y - high[d] if y > high[d] else (y - low[d] if y < low[d] else 0.0)
    if beyond != 0.0:
        pull[k] -= stop * beyond
        slope[k] += stop
        cost += 0.5 * stop * beyond * beyond
    return cost


@nb.njit(cache=True)
def _inverse_right_jacobian(y, K):
    """K = J_r⁻¹(y) = I + ½[y] + κ [y]²."""
    t2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
    if t2 < 1e-3:
        kappa = 1.0 / 12.0 + t2 / 720.0
    else:
        t = np.sqrt(t2)
        kappa = (1.0 - 0.5 * t * np.cos(0.5 * t) / np.sin(0.5 * t)) / t2
    for a in range(3):
        for b in range(3):
            K[a, b] = kappa * y[a] * y[b]
        K[a, a] += 1.0 - kappa * t2
    K[0, 1] -= 0.5 * y[2]
    K[0, 2] += 0.5 * y[1]
    K[1, 0] += 0.5 * y[2]
    K[1, 2] -= 0.5 * y[0]
    K[2, 0] -= 0.5 * y[1]
    K[2, 1] += 0.5 * y[0]


@nb.njit(cache=True)
def _rotation_log(D, e):
    """e = log of the rotation D (3, 3), through its quaternion."""
    trace = D[0, 0] + D[1, 1] + D[2, 2]
    x, y, z = D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]
    s = 0.5 * np.sqrt(x * x + y * y + z * z)
    angle = np.arctan2(s, 0.5 * (trace - 1.0))
    scale = 0.5 if s < 1e-9 else 0.5 * angle / s
    if s < 1e-9 and trace < 0.0:  # half a turn has no one axis; any step leads out of it
        e[0], e[1], e[2] = np.pi, 0.0, 0.0
        return
    e[0], e[1], e[2] = scale * x, scale * y, scale * z


@nb.njit(cache=True)
def damped_step(H, g, damping, slot, L, step):
    """step (n_v,) of (H + damping I) step = g on the free coordinates; False if H is not positive."""
    n = len(g)
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = H[i, j]
        L[i, i] += damping
    if cholesky(L) >= 0:
        return False
    x = g.copy()
    solve_cholesky(L, x)
    for k in range(len(slot)):
        step[k] = x[slot[k]] if slot[k] >= 0 else 0.0
    return True
