"""Coordinates as a manifold: moving q along a velocity, and the velocity between two q.

Ball and free joints hold a unit quaternion: q ⊕ v dt multiplies it by exp(ω dt); a free joint's position follows
the exact screw motion, T ← T exp(twist dt). All other coordinates just add.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.arguments import vector
from vitruvian.skeleton.evaluate import CODE, NV, Q0, V0
from vitruvian.skeleton.joints.base import BALL, FREE
from vitruvian.skeleton.model import Skeleton
from vitruvian.spatial import inverse, log_se3, transform_from_pose

Array = np.ndarray


def integrate(skeleton: Skeleton, q: ArrayLike, v: ArrayLike, dt: float = 1.0) -> Array:
    """q moved along the constant velocity v for dt [s]: (n_q,). The inverse of `difference`."""
    out = np.empty(skeleton.n_q)
    move(
        skeleton.topology,
        vector(q, skeleton.n_q, "q"),
        vector(v, skeleton.n_v, "v"),
        float(dt),
        out,
    )
    return out


def difference(skeleton: Skeleton, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The velocity (n_v,) that leads from q0 to q1 in unit time."""
    q0, q1 = vector(q0, skeleton.n_q, "q0"), vector(q1, skeleton.n_q, "q1")
    out = np.empty(skeleton.n_v)
    between(skeleton.topology, q0, q1, out)
    for i in np.flatnonzero(skeleton.topology[:, CODE] == FREE):
        a, b = skeleton.q_start[i], skeleton.q_start[i + 1]
        at = slice(skeleton.v_start[i], skeleton.v_start[i + 1])
        out[at] = log_se3(inverse(transform_from_pose(q0[a:b])) @ transform_from_pose(q1[a:b]))
    return out


def coordinate_rates(skeleton: Skeleton, q: ArrayLike, v: ArrayLike) -> Array:
    """q̇ (n_q,): v itself, except for quaternions (½ q ⊗ ω) and a free joint's position (R v)."""
    out = np.empty(skeleton.n_q)
    rates(
        skeleton.topology,
        vector(q, skeleton.n_q, "q"),
        vector(v, skeleton.n_v, "v"),
        out,
    )
    return out


def normalized(skeleton: Skeleton, q: Array) -> Array:
    """A copy of q with quaternions of unit length."""
    out = vector(q, skeleton.n_q, "q").copy()
    for i in np.flatnonzero(np.isin(skeleton.topology[:, CODE], (BALL, FREE))):
        end = skeleton.q_start[i + 1]
        out[end - 4 : end] /= np.linalg.norm(out[end - 4 : end])
    return out


@njit(cache=True)
def move(topology, q, v, dt, out):
    for i in range(topology.shape[0]):
        code, q0, v0 = topology[i, CODE], topology[i, Q0], topology[i, V0]
        if code == BALL:
            _turn(q, q0, v[v0] * dt, v[v0 + 1] * dt, v[v0 + 2] * dt, out)
        elif code == FREE:
            _screw(q, q0, v, v0, dt, out)
            _turn(q, q0 + 3, v[v0] * dt, v[v0 + 1] * dt, v[v0 + 2] * dt, out)
        else:
            for k in range(topology[i, NV]):
                out[q0 + k] = q[q0 + k] + dt * v[v0 + k]


@njit(cache=True)
def between(topology, q0, q1, out):
    """`difference` of all joints but free ones."""
    for i in range(topology.shape[0]):
        code, a, at = topology[i, CODE], topology[i, Q0], topology[i, V0]
        if code == BALL:
            w, x, y, z = q0[a], -q0[a + 1], -q0[a + 2], -q0[a + 3]
            p, r, s, t = q1[a], q1[a + 1], q1[a + 2], q1[a + 3]
            c = w * p - x * r - y * s - z * t
            d = w * r + x * p + y * t - z * s
            e = w * s - x * t + y * p + z * r
            f = w * t + x * s - y * r + z * p
            if c < 0.0:  # q and -q are the same rotation; this one has the smaller angle
                c, d, e, f = -c, -d, -e, -f
            half = np.sqrt(d * d + e * e + f * f)
            scale = 2.0 / c if half < 1e-12 else 2.0 * np.arctan2(half, c) / half
            out[at], out[at + 1], out[at + 2] = scale * d, scale * e, scale * f
        elif code != FREE:
            for k in range(topology[i, NV]):
                out[at + k] = q1[a + k] - q0[a + k]


@njit(cache=True)
def rates(topology, q, v, out):
    for i in range(topology.shape[0]):
        code, q0, v0 = topology[i, CODE], topology[i, Q0], topology[i, V0]
        if code in (BALL, FREE):
            a = q0
            if code == FREE:
                a = q0 + 3
                _rotate(q, a, v[v0 + 3], v[v0 + 4], v[v0 + 5], out, q0)
            w, x, y, z = q[a], q[a + 1], q[a + 2], q[a + 3]
            p, r, s = 0.5 * v[v0], 0.5 * v[v0 + 1], 0.5 * v[v0 + 2]
            out[a] = -x * p - y * r - z * s
            out[a + 1] = w * p + y * s - z * r
            out[a + 2] = w * r + z * p - x * s
            out[a + 3] = w * s + x * r - y * p
        else:
            for k in range(topology[i, NV]):
                out[q0 + k] = v[v0 + k]


@njit(cache=True)
def _turn(q, a, p, r, s, out):
    """out[a:a+4] = q[a:a+4] ⊗ exp(rotation vector), brought back to unit length."""
    angle2 = p * p + r * r + s * s
    angle = np.sqrt(angle2)
    scale = 0.5 - angle2 / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
    c = np.cos(0.5 * angle)
    p, r, s = scale * p, scale * r, scale * s
    w, x, y, z = q[a], q[a + 1], q[a + 2], q[a + 3]
    nw = w * c - x * p - y * r - z * s
    nx = w * p + x * c + y * s - z * r
    ny = w * r - x * s + y * c + z * p
    nz = w * s + x * r - y * p + z * c
    unit = 1.0 / np.sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
    out[a], out[a + 1], out[a + 2], out[a + 3] = nw * unit, nx * unit, ny * unit, nz * unit


@njit(cache=True)
def _screw(q, a, v, v0, dt, out):
    """out[a:a+3] = position after the screw motion of the body twist v[v0:v0+6] for dt."""
    w0, w1, w2 = v[v0] * dt, v[v0 + 1] * dt, v[v0 + 2] * dt
    l0, l1, l2 = v[v0 + 3] * dt, v[v0 + 4] * dt, v[v0 + 5] * dt
    angle2 = w0 * w0 + w1 * w1 + w2 * w2
    if angle2 < 1e-4:
        b = 0.5 - angle2 / 24.0 + angle2 * angle2 / 720.0
        c = 1.0 / 6.0 - angle2 / 120.0 + angle2 * angle2 / 5040.0
    else:
        angle = np.sqrt(angle2)
        half = np.sin(0.5 * angle)
        b = 2.0 * half * half / angle2
        c = (angle - np.sin(angle)) / (angle2 * angle)
    x0, x1, x2 = w1 * l2 - w2 * l1, w2 * l0 - w0 * l2, w0 * l1 - w1 * l0
    y0, y1, y2 = w1 * x2 - w2 * x1, w2 * x0 - w0 * x2, w0 * x1 - w1 * x0
    _rotate(q, a + 3, l0 + b * x0 + c * y0, l1 + b * x1 + c * y1, l2 + b * x2 + c * y2, out, a)
    for k in range(3):
        out[a + k] += q[a + k]


@njit(cache=True)
def _rotate(q, a, x, y, z, out, o):
    """out[o:o+3] = R(q[a:a+4]) (x, y, z)."""
    w, i, j, k = q[a], q[a + 1], q[a + 2], q[a + 3]
    t0, t1, t2 = 2.0 * (j * z - k * y), 2.0 * (k * x - i * z), 2.0 * (i * y - j * x)
    out[o] = x + w * t0 + j * t2 - k * t1
    out[o + 1] = y + w * t1 + k * t0 - i * t2
    out[o + 2] = z + w * t2 + i * t1 - j * t0
