"""Bones in the world frame: poses, screws, mass matrix and bias force of a skeleton in three loops over its tree.

Everything is expressed at the world's origin, so that nothing needs transforming on the way back to the root: composite
inertias and forces are plain sums, M_ij = s_i . (I_j^c s_j) for i above j (Featherstone 2008, ch. 6, in world axes),
and bias = s_i . sum over the subtree of (I a + V x* I V) with the accelerations that velocity, gravity and nothing
else bring. Whatever acts on points of bones (muscles, contacts, skin) needs the world screws anyway.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.skeleton.evaluate import NV, PARENT, V0, C, P, R, S, U, evaluate_joints

Array = np.ndarray
# Columns of `moving`, one row per bone, all (angular, linear) at the world's origin.
VELOCITY, BIAS, FORCE = 0, 6, 12
MOVING_WIDTH = 18


@nb.njit(cache=True)
def forward(
    topology: Array,
    bodies: Array,
    params: Array,
    custom: Array,
    inertia: Array,  # mass, m com, moments about the bone's origin (n_bones, 10): the bone's own and what it holds
    gravity: Array,
    q: Array,
    v: Array,
    rows: Array,
    dofs: Array,
    hessians: Array,
    scratch: Array,
    poses: Array,  # (n_bones, 4, 4)
    screws: Array,  # (n_v, 6)
    moving: Array,  # (n_bones, MOVING_WIDTH)
    composite: Array,  # (n_bones, 10): mass, m com, moments about the world's origin
) -> None:
    """Fill poses, screws, velocities, bias accelerations, inertial forces and inertias of all bones."""
    evaluate_joints(topology, bodies, params, custom, q, v, rows, dofs, hessians, scratch)
    for i in range(topology.shape[0]):
        p = topology[i, PARENT]
        T, row, m = poses[i], rows[i], moving[i]
        if p < 0:
            for a in range(3):
                for b in range(3):
                    T[a, b] = row[R + 3 * a + b]
                T[a, 3] = row[P + a]
                T[3, a] = 0.0
            for k in range(6):
                m[VELOCITY + k] = 0.0
                m[BIAS + k] = -gravity[k - 3] if k > 2 else 0.0
        else:
            Q = poses[p]
            for a in range(3):
                for b in range(3):
                    T[a, b] = Q[a, 0] * row[R + b] + Q[a, 1] * row[R + 3 + b] + Q[a, 2] * row[R + 6 + b]
                T[a, 3] = Q[a, 0] * row[P] + Q[a, 1] * row[P + 1] + Q[a, 2] * row[P + 2] + Q[a, 3]
                T[3, a] = 0.0
            for k in range(12):
                m[k] = moving[p, k]
        T[3, 3] = 1.0
        v0 = topology[i, V0]
        for j in range(v0, v0 + topology[i, NV]):
            _to_world(T, dofs[j], S, screws[j])
        u = m[FORCE:]  # free until the inertial force is written
        c = composite[i]
        _to_world(T, row, U, u)
        for k in range(6):
            m[VELOCITY + k] += u[k]
        _add_cross(m, u)
        _to_world(T, row, C, c)
        for k in range(6):
            m[BIAS + k] += c[k]
        _world_inertia(T, inertia[i], c)
        _inertial_force(c, m)


@nb.njit(cache=True)
def backward(topology: Array, screws: Array, moving: Array, composite: Array, bias: Array) -> None:
    """Sum inertias and forces towards the root; bias (n_v,) is the force that holds the acceleration at zero."""
    for i in range(topology.shape[0] - 1, -1, -1):
        v0 = topology[i, V0]
        for j in range(v0, v0 + topology[i, NV]):
            total = 0.0
            for k in range(6):
                total += screws[j, k] * moving[i, FORCE + k]
            bias[j] = total
        p = topology[i, PARENT]
        if p >= 0:
            for k in range(6):
                moving[p, FORCE + k] += moving[i, FORCE + k]
            for k in range(10):
                composite[p, k] += composite[i, k]


@nb.njit(cache=True)
def mass_matrix(topology: Array, screws: Array, composite: Array, place: Array, out: Array) -> None:
    """Add M to the lower triangle of out, coordinate c at row place[c]; coordinates with place < 0 are left out."""
    f = np.empty(6)
    for i in range(topology.shape[0]):
        v0 = topology[i, V0]
        for j in range(v0, v0 + topology[i, NV]):
            if place[j] < 0:
                continue
            _momentum(composite[i], screws[j], f)
            b, end = i, j + 1
            while b >= 0:
                w0 = topology[b, V0]
                for k in range(w0, min(w0 + topology[b, NV], end)):
                    if place[k] >= 0:
                        s = screws[k]
                        value = s[0] * f[0] + s[1] * f[1] + s[2] * f[2] + s[3] * f[3] + s[4] * f[4] + s[5] * f[5]
                        if place[j] >= place[k]:
                            out[place[j], place[k]] += value
                        else:
                            out[place[k], place[j]] += value
                b = topology[b, PARENT]


@nb.njit(cache=True, inline="always")
def _to_world(T: Array, source: Array, at: int, out: Array) -> None:
    """out (6,) = the twist source[at:at+6] of the body frame T, in world axes at the origin."""
    a, b, c = source[at], source[at + 1], source[at + 2]
    d, e, f = source[at + 3], source[at + 4], source[at + 5]
    wx = T[0, 0] * a + T[0, 1] * b + T[0, 2] * c
    wy = T[1, 0] * a + T[1, 1] * b + T[1, 2] * c
    wz = T[2, 0] * a + T[2, 1] * b + T[2, 2] * c
    x, y, z = T[0, 3], T[1, 3], T[2, 3]
    out[0], out[1], out[2] = wx, wy, wz
    out[3] = T[0, 0] * d + T[0, 1] * e + T[0, 2] * f + y * wz - z * wy
    out[4] = T[1, 0] * d + T[1, 1] * e + T[1, 2] * f + z * wx - x * wz
    out[5] = T[2, 0] * d + T[2, 1] * e + T[2, 2] * f + x * wy - y * wx


@nb.njit(cache=True, inline="always")
def _add_cross(m: Array, u: Array) -> None:
    """m[BIAS] += m[VELOCITY] x u (motion cross product)."""
    a, b, c, d, e, f = m[0], m[1], m[2], m[3], m[4], m[5]
    m[6] += b * u[2] - c * u[1]
    m[7] += c * u[0] - a * u[2]
    m[8] += a * u[1] - b * u[0]
    m[9] += b * u[5] - c * u[4] + e * u[2] - f * u[1]
    m[10] += c * u[3] - a * u[5] + f * u[0] - d * u[2]
    m[11] += a * u[4] - b * u[3] + d * u[1] - e * u[0]


@nb.njit(cache=True, inline="always")
def _world_inertia(T: Array, own: Array, out: Array) -> None:
    """Inertia at the world's origin from that at the bone's: I_O = R I R^T + terms of m com and of the bone's place."""
    m = own[0]
    hx = T[0, 0] * own[1] + T[0, 1] * own[2] + T[0, 2] * own[3]  # m com from the bone's origin, world axes
    hy = T[1, 0] * own[1] + T[1, 1] * own[2] + T[1, 2] * own[3]
    hz = T[2, 0] * own[1] + T[2, 1] * own[2] + T[2, 2] * own[3]
    x, y, z = T[0, 3], T[1, 3], T[2, 3]
    xx, xy, xz, yy, yz, zz = own[4], own[5], own[6], own[7], own[8], own[9]
    out[0] = m
    out[1], out[2], out[3] = hx + m * x, hy + m * y, hz + m * z
    k = 4
    for a in range(3):
        ra, rb, rc = T[a, 0], T[a, 1], T[a, 2]
        ta, tb, tc = ra * xx + rb * xy + rc * xz, ra * xy + rb * yy + rc * yz, ra * xz + rb * yz + rc * zz
        for b in range(a, 3):
            out[k] = ta * T[b, 0] + tb * T[b, 1] + tc * T[b, 2]
            k += 1
    out[4] += 2.0 * (y * hy + z * hz) + m * (y * y + z * z)
    out[5] -= x * hy + y * hx + m * x * y
    out[6] -= x * hz + z * hx + m * x * z
    out[7] += 2.0 * (x * hx + z * hz) + m * (x * x + z * z)
    out[8] -= y * hz + z * hy + m * y * z
    out[9] += 2.0 * (x * hx + y * hy) + m * (x * x + y * y)


@nb.njit(cache=True, inline="always")
def _momentum(I: Array, s: Array, out: Array) -> None:
    """out = I s: angular then linear momentum at the origin of the motion s."""
    m, hx, hy, hz = I[0], I[1], I[2], I[3]
    a, b, c, d, e, f = s[0], s[1], s[2], s[3], s[4], s[5]
    out[0] = I[4] * a + I[5] * b + I[6] * c + hy * f - hz * e
    out[1] = I[5] * a + I[7] * b + I[8] * c + hz * d - hx * f
    out[2] = I[6] * a + I[8] * b + I[9] * c + hx * e - hy * d
    out[3] = m * d + b * hz - c * hy
    out[4] = m * e + c * hx - a * hz
    out[5] = m * f + a * hy - b * hx


@nb.njit(cache=True, inline="always")
def _inertial_force(I: Array, m: Array) -> None:
    """m[FORCE] = I m[BIAS] + m[VELOCITY] x* (I m[VELOCITY])."""
    _momentum(I, m[BIAS:], m[FORCE:])
    h = np.empty(6)
    _momentum(I, m, h)
    a, b, c, d, e, f = m[0], m[1], m[2], m[3], m[4], m[5]
    m[12] += b * h[2] - c * h[1] + e * h[5] - f * h[4]
    m[13] += c * h[0] - a * h[2] + f * h[3] - d * h[5]
    m[14] += a * h[1] - b * h[0] + d * h[4] - e * h[3]
    m[15] += b * h[5] - c * h[4]
    m[16] += c * h[3] - a * h[5]
    m[17] += a * h[4] - b * h[3]
