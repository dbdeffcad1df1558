"""Loops of the implicit step; see `implicit` for the equation and the arrays."""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.muscle import kernels, tree
from vitruvian.muscle.elements import tension_kernel
from vitruvian.muscle.linear import cholesky, solve_cholesky
from vitruvian.skeleton.coordinates import move
from vitruvian.skeleton.evaluate import CODE, NV, PARENT, Q0, V0
from vitruvian.skeleton.joints.base import BALL, FREE
from vitruvian.skeleton.passive import joint_forces, rotation_vector_between


@nb.njit(cache=True)
def assemble(skeleton, paths, links, work, custom, inertia, q, v, activation, h, active):
    """Fill work.matrix (lower triangle of M + h D + h² K) and work.force (f - h K v)."""
    s, w = skeleton, work
    tree.forward(
        s.topology,
        s.bodies,
        s.params,
        custom,
        inertia,
        s.gravity,
        q,
        v,
        w.rows,
        w.dofs,
        w.hessians,
        w.scratch,
        w.poses,
        w.screws,
        w.moving,
        w.composite,
    )
    tree.backward(s.topology, w.screws, w.moving, w.composite, w.bias)
    w.matrix[:] = 0.0
    tree.mass_matrix(s.topology, w.screws, w.composite, s.place, w.matrix)
    for c in range(len(v)):
        w.force[c] = -w.bias[c]
    joint_terms(s, q, v, h, w.force, w.matrix, w.damping)
    muscle_forces(s, paths, w, v, activation, h, active)
    link_forces(s, links, w, v, h)


@nb.njit(cache=True)
def muscle_forces(s, p, w, v, activation, h, active):
    kernels.world_points(p.bone, p.local, w.poses, w.points)
    kernels.lines(p.offsets, w.points, w.lines, w.length)
    w.arms[:] = 0.0
    kernels.moment_arms(p.segment_start, p.segment_entry, p.segment_sign, p.column, w.lines, w.screws, w.arms)
    kernels.rates(p.row_start, p.column, w.arms, v, w.rate)
    tension_kernel(p.kind, p.table, activation, w.length, w.rate, w.tension)
    t = w.tension
    for m in range(len(activation)):
        k = max(t[3, m], 0.0)
        w.pull[m] = (t[0, m] if active else t[1, m]) + h * k * w.rate[m]
        w.weight[m] = h * max(t[4, m], 0.0) + h * h * k
    kernels.add_torques(p.row_start, p.column, w.arms, w.pull, w.force)
    add_products(p.row_start, p.row, w.arms, w.weight, w.matrix)


@nb.njit(cache=True)
def add_products(row_start, row, arms, weight, out):
    """Lower triangle of out += P diag(weight) Pᵀ.

    Rows descend within a muscle (leaves come first), so that the first of a pair names the row and the second runs
    along it.
    """
    for m in range(len(weight)):
        w = weight[m]
        if w == 0.0:
            continue
        end = row_start[m + 1]
        for i in range(row_start[m], end):
            wi = w * arms[i]
            if row[i] < 0 or wi == 0.0:
                continue
            line = out[row[i]]
            for j in range(i, end):
                if row[j] >= 0:
                    line[row[j]] += wi * arms[j]


@nb.njit(cache=True)
def joint_terms(s, q, v, h, force, matrix, damping):
    """Springs, dampers and stops of the joints: force += τ - h k v, diagonal += h d + h² k; damping: d, stops' too."""
    none = np.zeros((0, 0))
    joint_forces(
        s.topology,
        q,
        v,
        s.neutral,
        s.stiffness,
        s.damping,
        s.low,
        s.high,
        s.limit_stiffness,
        s.limit_damping,
        force,
        none,
        none,
    )
    damping[:] = 0.0
    y = np.empty(3)
    for i in range(s.topology.shape[0]):
        code, q0, v0 = s.topology[i, CODE], s.topology[i, Q0], s.topology[i, V0]
        if code == FREE:
            continue  # the root floats: no springs there
        if code == BALL:
            rotation_vector_between(s.neutral, q, q0, y)
        for c in range(s.topology[i, NV]):
            j = v0 + c
            at = y[c] if code == BALL else q[q0 + c]
            k, d = s.stiffness[j], s.damping[j]
            if at > s.high[j] or at < s.low[j]:
                k += s.limit_stiffness[j]
                d += s.limit_damping[j]
            force[j] -= h * k * v[j]
            damping[j] = d
            if s.place[j] >= 0:
                matrix[s.place[j], s.place[j]] += h * d + h * h * k


@nb.njit(cache=True)
def link_forces(s, links, w, v, h):
    """Springs between bones, and contacts with the ground: force and matrix through the points' Jacobians."""
    a, b, u, rate, f, g = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    K, D = np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(links.bones)):
        _point(w.poses, links.bones[n, 0], links.points[n, 0], a)
        _point(w.poses, links.bones[n, 1], links.points[n, 1], b)
        first, end = links.start[n], links.start[n + 1]
        rate[:] = 0.0
        for e in range(first, end):
            c = links.column[e]
            x = b if links.sign[e] > 0.0 else a
            row, t = w.link_rows[e - first], w.screws[c]
            row[0] = links.sign[e] * (t[3] + t[1] * x[2] - t[2] * x[1])
            row[1] = links.sign[e] * (t[4] + t[2] * x[0] - t[0] * x[2])
            row[2] = links.sign[e] * (t[5] + t[0] * x[1] - t[1] * x[0])
            for k in range(3):
                rate[k] += row[k] * v[c]
        f[:], K[:], D[:] = 0.0, 0.0, 0.0
        if n < links.n_springs:
            for k in range(3):
                u[k] = b[k] - a[k]
            _spring(links.numbers[n], u, rate, f, K, D)
        else:
            _contact(links.numbers[n], links.friction, links.grip, b[2], rate, f, K, D)
        for k in range(3):
            w.link_force[n, k] = f[k]
            g[k] = f[k] - h * (K[k, 0] * rate[0] + K[k, 1] * rate[1] + K[k, 2] * rate[2])
        for e in range(first, end):
            c = links.column[e]
            row = w.link_rows[e - first]
            w.force[c] += row[0] * g[0] + row[1] * g[1] + row[2] * g[2]
            rc = s.place[c]
            if rc < 0:
                continue
            for k in range(3):
                u[k] = 0.0
                for j in range(3):
                    u[k] += h * (D[k, j] + h * K[k, j]) * row[j]
            for k in range(first, e + 1):
                rk = s.place[links.column[k]]
                if rk >= 0:
                    other = w.link_rows[k - first]
                    value = u[0] * other[0] + u[1] * other[1] + u[2] * other[2]
                    if rc >= rk:
                        w.matrix[rc, rk] += value
                    else:
                        w.matrix[rk, rc] += value


@nb.njit(cache=True)
def _spring(numbers, gap, rate, f, K, D):
    """A spring with rest length pulls and damps along its line; one without (cartilage) in every direction alike."""
    k, d, rest = numbers[0], numbers[1], numbers[2]
    if rest == 0.0:
        for i in range(3):
            f[i] = -k * gap[i] - d * rate[i]
            K[i, i], D[i, i] = k, d
        return
    length = np.sqrt(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2])
    if length == 0.0:
        return  # no direction to push in
    along = (gap[0] * rate[0] + gap[1] * rate[1] + gap[2] * rate[2]) / length
    pull = k * (length - rest) + d * along
    across = max(0.0, k * (1.0 - rest / length))
    for i in range(3):
        f[i] = -pull * gap[i] / length
        K[i, i] = across
        for j in range(3):
            uu = gap[i] * gap[j] / (length * length)
            K[i, j] += (k - across) * uu
            D[i, j] = d * uu


@nb.njit(cache=True)
def _contact(numbers, friction, grip, z, rate, f, K, D):
    """The ground pushes a point below it up, never down, and drags it sideways up to friction times that."""
    depth = numbers[2] - z
    if depth <= 0.0:
        return
    push = numbers[0] * depth - numbers[1] * rate[2]
    if push <= 0.0:
        return
    slip = np.sqrt(rate[0] * rate[0] + rate[1] * rate[1])
    drag = grip
    if grip * slip > friction * push:
        drag = friction * push / slip
    f[0], f[1], f[2] = -drag * rate[0], -drag * rate[1], push
    D[0, 0], D[1, 1] = drag, drag
    K[2, 2], D[2, 2] = numbers[0], numbers[1]


@nb.njit(cache=True)
def _point(poses, bone, local, out):
    if bone < 0:
        out[0], out[1], out[2] = local[0], local[1], local[2]
        return
    T = poses[bone]
    for k in range(3):
        out[k] = T[k, 0] * local[0] + T[k, 1] * local[1] + T[k, 2] * local[2] + T[k, 3]


@nb.njit(cache=True)
def wrench_forces(topology, poses, screws, wrench, out):
    """out += J^T wrench for wrenches (moment, force) on bones in their own frames."""
    n = topology.shape[0]
    total = np.zeros((n, 6))
    for i in range(n - 1, -1, -1):
        t, T = total[i], poses[i]
        f0 = T[0, 0] * wrench[i, 3] + T[0, 1] * wrench[i, 4] + T[0, 2] * wrench[i, 5]
        f1 = T[1, 0] * wrench[i, 3] + T[1, 1] * wrench[i, 4] + T[1, 2] * wrench[i, 5]
        f2 = T[2, 0] * wrench[i, 3] + T[2, 1] * wrench[i, 4] + T[2, 2] * wrench[i, 5]
        x, y, z = T[0, 3], T[1, 3], T[2, 3]
        t[0] += T[0, 0] * wrench[i, 0] + T[0, 1] * wrench[i, 1] + T[0, 2] * wrench[i, 2] + y * f2 - z * f1
        t[1] += T[1, 0] * wrench[i, 0] + T[1, 1] * wrench[i, 1] + T[1, 2] * wrench[i, 2] + z * f0 - x * f2
        t[2] += T[2, 0] * wrench[i, 0] + T[2, 1] * wrench[i, 1] + T[2, 2] * wrench[i, 2] + x * f1 - y * f0
        t[3] += f0
        t[4] += f1
        t[5] += f2
        v0 = topology[i, V0]
        for j in range(v0, v0 + topology[i, NV]):
            for k in range(6):
                out[j] += screws[j, k] * t[k]
        if topology[i, PARENT] >= 0:
            for k in range(6):
                total[topology[i, PARENT], k] += t[k]


@nb.njit(cache=True)
def solve(s, w, q, v, h, q_new, v_new):
    """Factor the matrix, take the step; returns -1, or the first row that is not positive."""
    for c in range(len(v)):
        if s.place[c] >= 0:
            w.right[s.place[c]] = h * w.force[c]
    bad = cholesky(w.matrix)
    if bad >= 0:
        return bad
    solve_cholesky(w.matrix, w.right)
    for c in range(len(v)):
        v_new[c] = v[c] + (w.right[s.place[c]] if s.place[c] >= 0 else 0.0)
    move(s.topology, q, v_new, h, q_new)
    return -1
