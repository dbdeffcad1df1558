"""Newton's method for the impulses of all touches together; see `couple.contact` for the law.

With friction's bounds held, R(dv) = A dv - b - Σ Jᵀ λ(u + J dv) is the gradient of a convex function, and

    (A + Σ Jᵀ H J) d = -R,   H = -∂λ/∂u ≥ 0

a direction in which that function falls; the step along it ends where its slope has died down. Bounds follow the
normal impulses for the first eight iterates and then stay, so that the method ends. It stops when the energy that a
step could still change, ½ Rᵀ L⁻ᵀ L⁻¹ R, is nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
MOST = 50  # Newton steps
NOTHING = 1e-16  # [J]
BOUNDED = 8  # Newton steps after which friction's bounds stay


class Law(NamedTuple):
    """Of one touch."""

    stiffness: float  # k [N/m]
    dissipation: float  # c [s/m]
    friction: float  # μ
    creep: float  # ε [m/s]


class Chains(NamedTuple):
    """Which coordinates move which bone."""

    parent: Array  # (n_bones,)
    first: Array  # first coordinate of each bone's joint, (n_bones + 1,)
    chain_start: Array  # (n_bones + 1,)
    chain: Array  # coordinates that move each bone
    place: Array  # row of each coordinate in the matrix, -1 if it is held
    screws: Array  # (n_v, 6), see `couple.step.System`


@nb.njit(cache=True)
def jacobians(touches, count, place, screws, v, chain_start, chain, supports, start, row, values, rate):
    """Rows of J of every touch, for coordinates that are free, and the velocity u [m/s] of the second bone against
    the first."""
    at = 0
    for n in range(count):
        start[n] = at
        x = touches.point[n]
        rate[n] = 0.0
        for side in range(2):
            bone, other = touches.bones[n, 1 - side], touches.bones[n, side]
            if bone < 0:
                continue
            sign = 1.0 - 2.0 * side
            for e in range(chain_start[bone], chain_start[bone + 1]):
                c = chain[e]
                if other >= 0 and supports[other, c]:
                    continue
                t = screws[c]
                j0 = sign * (t[3] + t[1] * x[2] - t[2] * x[1])
                j1 = sign * (t[4] + t[2] * x[0] - t[0] * x[2])
                j2 = sign * (t[5] + t[0] * x[1] - t[1] * x[0])
                rate[n, 0] += j0 * v[c]
                rate[n, 1] += j1 * v[c]
                rate[n, 2] += j2 * v[c]
                if place[c] >= 0:
                    row[at] = place[c]
                    values[at, 0], values[at, 1], values[at, 2] = j0, j1, j2
                    at += 1
    start[count] = at


@nb.njit(cache=True)
def normal_impulse(law, h, gap, speed):
    """λ_n [N s] and -∂λ_n/∂u_n [N s²/m] at the speed [m/s] of the step's end."""
    depth, brake = -(gap + h * speed), 1.0 - law.dissipation * speed
    if depth <= 0.0 or brake <= 0.0:
        return 0.0, 0.0
    return h * law.stiffness * depth * brake, h * law.stiffness * (h * brake + law.dissipation * depth)


@nb.njit(cache=True)
def _impulse(law, h, gap, normal, bound, u, out):
    """λ (3,) at velocity u with friction's bound [N s]; returns what its normal part is."""
    speed = u[0] * normal[0] + u[1] * normal[1] + u[2] * normal[2]
    push, _ = normal_impulse(law, h, gap, speed)
    t0, t1, t2 = u[0] - speed * normal[0], u[1] - speed * normal[1], u[2] - speed * normal[2]
    drag = bound / np.sqrt(t0 * t0 + t1 * t1 + t2 * t2 + law.creep * law.creep)
    out[0] = push * normal[0] - drag * t0
    out[1] = push * normal[1] - drag * t1
    out[2] = push * normal[2] - drag * t2
    return push


@nb.njit(cache=True)
def _slope(law, h, gap, normal, bound, u, H):
    """H = -∂λ/∂u (3, 3)."""
    n0, n1, n2 = normal[0], normal[1], normal[2]
    speed = u[0] * n0 + u[1] * n1 + u[2] * n2
    _, stiff = normal_impulse(law, h, gap, speed)
    t0, t1, t2 = u[0] - speed * n0, u[1] - speed * n1, u[2] - speed * n2
    size2 = t0 * t0 + t1 * t1 + t2 * t2 + law.creep * law.creep
    drag = bound / np.sqrt(size2)
    n, t = (n0, n1, n2), (t0, t1, t2)
    for i in range(3):
        for j in range(3):
            H[i, j] = (stiff - drag) * n[i] * n[j] - drag * t[i] * t[j] / size2
        H[i, i] += drag


@nb.njit(cache=True)
def solve_touches(law, h, touches, count, start, row, values, rate, tree, stiff, matrix, right, dv, impulse):
    """Solve for dv and the impulses of the touches; returns the number of Newton steps, negative if they ran out.

    stiff: scratch (n_bones, 6, 6)."""
    n = len(right)
    L, r, d = np.empty((n, n)), np.empty(n), np.empty(n)
    u, du = np.empty((count, 3)), np.empty((count, 3))
    bound, H = np.zeros(count), np.empty((3, 3))
    product = np.empty(n)
    steps = 0
    while True:
        for m in range(count):
            for k in range(3):
                u[m, k] = rate[m, k]
            for e in range(start[m], start[m + 1]):
                for k in range(3):
                    u[m, k] += values[e, k] * dv[row[e]]
            speed = u[m, 0] * touches.normal[m, 0] + u[m, 1] * touches.normal[m, 1] + u[m, 2] * touches.normal[m, 2]
            if steps < BOUNDED:
                bound[m] = law.friction * normal_impulse(law, h, touches.gap[m], speed)[0]
        _times(matrix, dv, r)
        for i in range(n):
            r[i] -= right[i]
        for m in range(count):
            _impulse(law, h, touches.gap[m], touches.normal[m], bound[m], u[m], impulse[m])
            for e in range(start[m], start[m + 1]):
                r[row[e]] -= values[e, 0] * impulse[m, 0] + values[e, 1] * impulse[m, 1] + values[e, 2] * impulse[m, 2]
        if steps > 0:  # what would another step still change? The former factor is good enough to tell
            for i in range(n):
                d[i] = r[i]
            solve_cholesky(L, d)
            left = 0.0
            for i in range(n):
                left += r[i] * d[i]
            if 0.5 * left < NOTHING:
                return steps
        if steps == MOST:
            return -steps
        for i in range(n):
            for j in range(i + 1):
                L[i, j] = matrix[i, j]
        _add_stiffness(law, h, touches, count, start, row, values, bound, u, tree, stiff, H, L)
        if cholesky(L) >= 0:
            return -steps - 1000
        for i in range(n):
            d[i] = -r[i]
        solve_cholesky(L, d)
        falls = 0.0
        for i in range(n):
            falls += r[i] * d[i]
        steps += 1
        for m in range(count):
            for k in range(3):
                du[m, k] = 0.0
            for e in range(start[m], start[m + 1]):
                for k in range(3):
                    du[m, k] += values[e, k] * d[row[e]]
        _times(matrix, d, product)
        bend = 0.0
        for i in range(n):
            bend += product[i] * d[i]
        t = _line(law, h, touches, count, bound, u, du, falls, bend)
        for i in range(n):
            dv[i] += t * d[i]


@nb.njit(cache=True)
def _add_stiffness(law, h, touches, count, start, row, values, bound, u, tree, stiff, H, L):
    """L += Σ Jᵀ H J, lower triangle.

    What the world stiffens is summed as 6×6 matrices from bone to parent, as inertia is for a mass matrix, so that its
    cost does not grow with the touches; what two bones stiffen between them goes pair by pair."""
    stiff[:] = 0.0
    Hj = np.empty(6)
    X = np.zeros((3, 6))
    X[0, 3], X[1, 4], X[2, 5] = 1.0, 1.0, 1.0
    for m in range(count):
        _slope(law, h, touches.gap[m], touches.normal[m], bound[m], u[m], H)
        if H[0, 0] + H[1, 1] + H[2, 2] == 0.0:
            continue
        a, b = touches.bones[m, 0], touches.bones[m, 1]
        if a < 0 or b < 0:
            x, S = touches.point[m], stiff[max(a, b)]
            X[0, 1], X[0, 2] = x[2], -x[1]
            X[1, 0], X[1, 2] = -x[2], x[0]
            X[2, 0], X[2, 1] = x[1], -x[0]
            for i in range(6):
                for k in range(3):
                    Hj[k] = H[k, 0] * X[0, i] + H[k, 1] * X[1, i] + H[k, 2] * X[2, i]
                for j in range(6):
                    S[i, j] += Hj[0] * X[0, j] + Hj[1] * X[1, j] + Hj[2] * X[2, j]
            continue
        for e in range(start[m], start[m + 1]):
            for k in range(3):
                Hj[k] = H[k, 0] * values[e, 0] + H[k, 1] * values[e, 1] + H[k, 2] * values[e, 2]
            i = row[e]
            for f in range(start[m], start[m + 1]):
                j = row[f]
                if j <= i:
                    L[i, j] += Hj[0] * values[f, 0] + Hj[1] * values[f, 1] + Hj[2] * values[f, 2]
    for b in range(len(stiff) - 1, -1, -1):
        S = stiff[b]
        if S[3, 3] + S[4, 4] + S[5, 5] == 0.0:
            continue
        if tree.parent[b] >= 0:
            stiff[tree.parent[b]] += S
        for c in range(tree.first[b], tree.first[b + 1]):
            i = tree.place[c]
            if i < 0:
                continue
            for k in range(6):
                Hj[k] = 0.0
                for j in range(6):
                    Hj[k] += S[k, j] * tree.screws[c, j]
            for e in range(tree.chain_start[b], tree.chain_start[b + 1]):
                o = tree.chain[e]
                j = tree.place[o]
                if o > c or j < 0:
                    continue
                value = 0.0
                for k in range(6):
                    value += Hj[k] * tree.screws[o, k]
                L[max(i, j), min(i, j)] += value


@nb.njit(cache=True)
def _line(law, h, touches, count, bound, u, du, falls, bend):
    """Length of the step along d at which the slope, `falls` at the start, has mostly died down."""
    now, out, before = np.empty(3), np.empty(3), 0.0
    for m in range(count):
        _impulse(law, h, touches.gap[m], touches.normal[m], bound[m], u[m], out)
        before += out[0] * du[m, 0] + out[1] * du[m, 1] + out[2] * du[m, 2]
    low, high, t = 0.0, -1.0, 1.0
    for _ in range(40):
        slope = falls + before + t * bend
        for m in range(count):
            for k in range(3):
                now[k] = u[m, k] + t * du[m, k]
            _impulse(law, h, touches.gap[m], touches.normal[m], bound[m], now, out)
            slope -= out[0] * du[m, 0] + out[1] * du[m, 1] + out[2] * du[m, 2]
        if abs(slope) <= 0.2 * abs(falls):
            return t
        if slope > 0.0:
            high = t
        else:
            low = t
        t = 2.0 * t if high < 0.0 else 0.5 * (low + high)
    return t


@nb.njit(cache=True)
def force_now(law, touches, count, rate, out):
    """Forces [N] (n, 3) on the second bones at this instant, without a step."""
    for m in range(count):
        n = touches.normal[m]
        speed = rate[m, 0] * n[0] + rate[m, 1] * n[1] + rate[m, 2] * n[2]
        push = law.stiffness * max(0.0, -touches.gap[m]) * max(0.0, 1.0 - law.dissipation * speed)
        size = law.creep * law.creep
        for k in range(3):
            size += (rate[m, k] - speed * n[k]) ** 2
        drag = law.friction * push / np.sqrt(size)
        for k in range(3):
            out[m, k] = push * n[k] - drag * (rate[m, k] - speed * n[k])


@nb.njit(cache=True)
def _times(matrix, x, out):
    """out = A x, A symmetric by its lower triangle."""
    n = len(x)
    for i in range(n):
        total = matrix[i, i] * x[i]
        for j in range(i):
            total += matrix[i, j] * x[j]
            out[j] += matrix[i, j] * x[i]
        out[i] = total
