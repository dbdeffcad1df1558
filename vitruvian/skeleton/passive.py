"""Passive forces of a skeleton: joint springs and dampers, soft one-sided limits, springs between bones.

Joint:   V = ½ Σ k y² + ½ Σ k_l max(0, y - high, low - y)²,   τ = -∂V/∂y - d v - d_l v (d_l only beyond a limit)
Ball:    y = log(R_0ᵀ R), τ = -J_r(y)⁻ᵀ ∂V/∂y, the exact gradient on SO(3); J_r⁻ᵀ w = w - ½ y×w + κ (y (y·w) - |y|² w)
Free:    rotation as a ball; displacement y = p - p_0 with τ = -Rᵀ ∂V/∂y
Bones:   f = k (l - l_0) + d l̇ along the line between two points

`passive_derivatives` gives the exact dτ/dq and dτ/dv, in the tangent coordinates of v.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.arguments import vector
from vitruvian.skeleton.evaluate import CODE, NV, Q0, V0
from vitruvian.skeleton.joints.ball import quaternion_rotation
from vitruvian.skeleton.joints.base import BALL, FREE
from vitruvian.skeleton.kinematics import bone_velocities, world_twists
from vitruvian.skeleton.model import Skeleton
from vitruvian.skeleton.stiffness import derive, gather, project

Array = np.ndarray


def passive_forces(skeleton: Skeleton, q: ArrayLike, v: ArrayLike) -> Array:
    """Generalized forces [N m or N], (n_v,), of joint springs, dampers, limits and springs between bones."""
    q, v = vector(q, skeleton.n_q, "q"), vector(v, skeleton.n_v, "v")
    tau = np.zeros(skeleton.n_v)
    _joint_forces(skeleton, q, v, tau, _NONE, _NONE)
    if len(skeleton.springs):
        tau += _body_spring_forces(skeleton, q, v)
    return tau


def passive_derivatives(skeleton: Skeleton, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
    """τ (n_v,), dτ/dq and dτ/dv (n_v, n_v) of `passive_forces`, exact."""
    q, v = vector(q, skeleton.n_q, "q"), vector(v, skeleton.n_v, "v")
    tau = np.zeros(skeleton.n_v)
    dq, dv = np.zeros((skeleton.n_v, skeleton.n_v)), np.zeros((skeleton.n_v, skeleton.n_v))
    _joint_forces(skeleton, q, v, tau, dq, dv)
    if len(skeleton.springs):
        for s, column, force, J, geometry in _body_springs(skeleton, q, v):
            tau -= column * force
            k, d = skeleton.springs.stiffness[s], skeleton.springs.damping[s]
            # τ = -c f with c = Jᵀu: dc/dq = Jᵀ (I - uuᵀ)/l J + [u · dJ/dq], df/dq = k c + d vᵀ dc/dq
            change = J + geometry
            dq -= force * change + np.outer(column, k * column + d * (v @ change))
            dv -= d * np.outer(column, column)
    return tau, dq, dv


def passive_energy(skeleton: Skeleton, q: ArrayLike) -> float:
    """Energy [J] stored in joint springs, limits and springs between bones."""
    q, v = vector(q, skeleton.n_q, "q"), skeleton.still
    stored = _joint_forces(skeleton, q, v, np.zeros(skeleton.n_v), _NONE, _NONE)
    if len(skeleton.springs):
        lengths = spring_lengths(skeleton, q)
        stored += 0.5 * float(skeleton.springs.stiffness @ (lengths - skeleton.springs.rest_length) ** 2)
    return stored


def spring_lengths(skeleton: Skeleton, q: ArrayLike) -> Array:
    """Length [m] of each spring between bones, (n_springs,)."""
    poses, _ = world_twists(skeleton, q)
    a, b = (_ends(skeleton, poses, side) for side in (0, 1))
    return np.linalg.norm(b - a, axis=1)


def beyond_range(skeleton: Skeleton, q: ArrayLike) -> Array:
    """By how much each coordinate lies beyond its range [rad or m], shape (n_v,); the root has none."""
    q, s, y = vector(q, skeleton.n_q, "q"), skeleton, np.zeros(6)
    out = np.zeros(s.n_v)
    for i, joint in enumerate(s.joints):
        if joint.n_v in (0, 6):
            continue
        at = slice(int(s.v_start[i]), int(s.v_start[i + 1]))
        now = q[s.q_start[i] : s.q_start[i + 1]]
        if joint.n_q != joint.n_v:
            rotation_vector_between(s.neutral, q, s.q_start[i], y)
            now = y[:3]
        out[at] = np.maximum(0.0, np.maximum(now - s.forces.high[at], s.forces.low[at] - now))
    return out


_NONE = np.zeros((0, 0))


def _ends(skeleton: Skeleton, poses: Array, side: int) -> Array:
    framed = np.concatenate([poses, np.eye(4)[None]])  # the last one is the world, reached as -1
    T = framed[skeleton.springs.bones[:, side]]
    return np.einsum("nij,nj->ni", T[:, :3, :3], skeleton.springs.points[:, side]) + T[:, :3, 3]


def _body_spring_forces(skeleton: Skeleton, q: Array, v: Array) -> Array:
    """τ (n_v,) of all springs between bones at once."""
    springs = skeleton.springs
    twists = np.concatenate([bone_velocities(skeleton, q, v), np.zeros((1, 6))])[springs.bones]
    poses, screws = world_twists(skeleton, q)
    R = np.concatenate([poses[:, :3, :3], np.eye(3)[None]])[springs.bones]
    speeds = np.einsum("nsij,nsj->nsi", R, twists[..., 3:] + np.cross(twists[..., :3], springs.points))
    a, b = (_ends(skeleton, poses, side) for side in (0, 1))
    lengths, u = _directions(b - a)
    rates = ((speeds[:, 1] - speeds[:, 0]) * u).sum(axis=1)
    pull = (springs.stiffness * (lengths - springs.rest_length) + springs.damping * rates)[:, None] * u
    sums, tau = np.zeros((skeleton.n_bones, 12)), np.empty(skeleton.n_v)
    gather(poses, springs.bones.ravel(), springs.points.reshape(-1, 3), np.stack([pull, -pull], 1).reshape(-1, 3), sums)
    project(skeleton.topology, screws, sums, tau)
    return tau


def _directions(lines: Array) -> tuple[Array, Array]:
    """Lengths (n,) and unit directions (n, 3); a line without length takes the limit of one along x."""
    lengths = np.linalg.norm(lines, axis=1)
    flat = lengths < 1e-12
    lines = np.where(flat[:, None], (1e-12, 0.0, 0.0), lines)
    lengths = np.where(flat, 1e-12, lengths)
    return lengths, lines / lengths[:, None]


def _body_springs(skeleton: Skeleton, q: Array, v: Array) -> Iterator[tuple[int, Array, float, Array, Array]]:
    """Per spring: index, gradient of its length (n_v,), its force [N], and the two parts of the length's Hessian."""
    springs = skeleton.springs
    poses, twists = world_twists(skeleton, q)
    a, b = (_ends(skeleton, poses, side) for side in (0, 1))
    lengths, directions = _directions(b - a)
    moved = np.concatenate([skeleton.supports, np.zeros((1, skeleton.n_v), dtype=bool)])[springs.bones]
    rates = [np.cross(twists[None, :, :3], x[:, None, :]) + twists[:, 3:] for x in (a, b)]  # (n_springs, n_v, 3)
    jacobians = (rates[1] * moved[:, 1, :, None] - rates[0] * moved[:, 0, :, None]).transpose(0, 2, 1)
    for s in range(len(springs)):
        length, u, J = float(lengths[s]), directions[s], jacobians[s]
        column = J.T @ u
        force = springs.stiffness[s] * (length - springs.rest_length[s]) + springs.damping[s] * (column @ v)
        across = (J.T @ J - np.outer(column, column)) / length
        geometry = np.zeros((skeleton.n_v, skeleton.n_v))
        sums = np.zeros((skeleton.n_bones, 12))
        gather(poses, springs.bones[s], springs.points[s], np.array([-u, u]), sums)
        project(skeleton.topology, twists, sums, np.empty(skeleton.n_v))
        # `derive` differentiates Jᵀ(x) u with the points moving: that is [u · dJ/dq]
        derive(skeleton.topology, poses, twists, sums, skeleton.workspace.hessians, geometry)
        yield s, column, force, across, geometry


def _joint_forces(skeleton: Skeleton, q: Array, v: Array, tau: Array, dq: Array, dv: Array) -> float:
    f = skeleton.forces
    return joint_forces(
        skeleton.topology,
        q,
        v,
        skeleton.neutral,
        f.stiffness,
        f.damping,
        f.low,
        f.high,
        f.limit_stiffness,
        f.limit_damping,
        tau,
        dq,
        dv,
    )


@njit(cache=True)
def joint_forces(topology, q, v, neutral, k, d, low, high, kl, dl, tau, dq, dv):
    """Add joint forces to tau and, unless those are empty, their derivatives to dq, dv. Returns the stored energy."""
    energy = 0.0
    derivative = dq.shape[0] > 0
    force, slope, y, R = np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(9)
    for i in range(topology.shape[0]):
        code, q0, v0, nv = topology[i, CODE], topology[i, Q0], topology[i, V0], topology[i, NV]
        turning = code in (BALL, FREE)
        active = False
        for c in range(nv):
            if k[v0 + c] != 0.0 or d[v0 + c] != 0.0 or kl[v0 + c] != 0.0 or dl[v0 + c] != 0.0:
                active = True
        if not active:
            continue
        if turning:
            rotation_vector_between(neutral, q, q0 if code == BALL else q0 + 3, y)
            if code == FREE:
                for c in range(3):
                    y[3 + c] = q[q0 + c] - neutral[q0 + c]
        else:
            for c in range(nv):
                y[c] = q[q0 + c] - neutral[q0 + c]
        for c in range(nv):
            at = y[c] if turning else q[q0 + c]
            force[c] = k[v0 + c] * y[c]
            slope[c] = k[v0 + c]
            damping = d[v0 + c]
            energy += 0.5 * k[v0 + c] * y[c] * y[c]
            beyond = at - high[v0 + c] if at > high[v0 + c] else (at - low[v0 + c] if at < low[v0 + c] else 0.0)
            if beyond != 0.0:
                force[c] += kl[v0 + c] * beyond
                slope[c] += kl[v0 + c]
                damping += dl[v0 + c]
                energy += 0.5 * kl[v0 + c] * beyond * beyond
            tau[v0 + c] -= damping * v[v0 + c]
            if derivative:
                dv[v0 + c, v0 + c] -= damping
        if turning:
            _ball_force(y, force, slope, v0, tau, dq, derivative)
            if code == FREE:
                quaternion_rotation(q, q0 + 3, R)
                _displacement_force(R, force, slope, v0, tau, dq, derivative)
        else:
            for c in range(nv):
                tau[v0 + c] -= force[c]
                if derivative:
                    dq[v0 + c, v0 + c] -= slope[c]
    return energy


@njit(cache=True)
def rotation_vector_between(q0, q1, a, y):
    """y[0:3] = log of the rotation from the quaternion q0[a:a+4] to q1[a:a+4], in the body frame."""
    aw, ax, ay, az = q0[a], -q0[a + 1], -q0[a + 2], -q0[a + 3]
    bw, bx, by, bz = q1[a], q1[a + 1], q1[a + 2], q1[a + 3]
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y1 = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    sign = 1.0 if w >= 0.0 else -1.0
    w, x, y1, z = w * sign, x * sign, y1 * sign, z * sign
    s = np.sqrt(x * x + y1 * y1 + z * z)
    scale = 2.0 / w if s < 1e-12 else 2.0 * np.arctan2(s, w) / s
    y[0], y[1], y[2] = scale * x, scale * y1, scale * z


@njit(cache=True)
def _ball_force(e, w, K, v0, tau, dq, derivative):
    """τ -= J_r(e)⁻ᵀ w for w(e) with diagonal slope K, and its derivative along a body-frame rotation."""
    t2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    if t2 < 1e-3:
        kappa = 1.0 / 12.0 + t2 / 720.0 + t2 * t2 / 30240.0
        kappa_rate = 1.0 / 360.0 + t2 / 7560.0 + t2 * t2 / 201600.0  # κ'(θ)/θ
    else:
        t = np.sqrt(t2)
        half = 0.5 * t
        cot = np.cos(half) / np.sin(half)
        kappa = (1.0 - half * cot) / t2
        # d/dθ of 1 - (θ/2) cot(θ/2) is -cot/2 + (θ/4)(1 + cot²)
        kappa_rate = ((-0.5 * cot + 0.25 * t * (1.0 + cot * cot)) / t2 - 2.0 * kappa / t) / t
    ew = e[0] * w[0] + e[1] * w[1] + e[2] * w[2]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        tau[v0 + a] -= w[a] - 0.5 * (e[b] * w[c] - e[c] * w[b]) + kappa * (e[a] * ew - t2 * w[a])
    if not derivative:
        return
    D = np.zeros((3, 3))  # derivative in e
    for a in range(3):
        for b in range(3):
            D[a, b] += kappa_rate * (e[a] * ew - t2 * w[a]) * e[b]
            D[a, b] += kappa * (e[a] * (w[b] + K[b] * e[b]) - 2.0 * w[a] * e[b])
        D[a, a] += K[a] + kappa * (ew - t2 * K[a])
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        # -½ (de × w + e × K de)
        D[a, b] += -0.5 * (w[c] - e[c] * K[b])
        D[a, c] += -0.5 * (e[b] * K[c] - w[b])
    for b in range(3):
        # de = J_r⁻¹ dθ = dθ + ½ e×dθ + κ (e (e·dθ) - θ² dθ): its column b
        c, g = (b + 1) % 3, (b + 2) % 3
        for a in range(3):
            total = D[a, b] * (1.0 - kappa * t2) + 0.5 * (D[a, c] * e[g] - D[a, g] * e[c])
            for h in range(3):
                total += D[a, h] * kappa * e[h] * e[b]
            dq[v0 + a, v0 + b] -= total


@njit(cache=True)
def _displacement_force(R, w, K, v0, tau, dq, derivative):
    """τ_linear -= Rᵀ w[3:6]; moving along the body's axes changes y by R, turning the body turns Rᵀw."""
    f = np.zeros(3)
    for a in range(3):
        f[a] = R[a] * w[3] + R[3 + a] * w[4] + R[6 + a] * w[5]
        tau[v0 + 3 + a] -= f[a]
    if not derivative:
        return
    for a in range(3):
        for b in range(3):
            total = 0.0
            for c in range(3):
                total += R[3 * c + a] * K[3 + c] * R[3 * c + b]
            dq[v0 + 3 + a, v0 + 3 + b] -= total
        b, c = (a + 1) % 3, (a + 2) % 3
        # d(Rᵀw) = [Rᵀw] dθ
        dq[v0 + 3 + a, v0 + b] += f[c]
        dq[v0 + 3 + a, v0 + c] -= f[b]
