"""Rotations: exponential and logarithm on SO(3), unit quaternions.

exp([w]) = I + sin θ/θ [w] + (1 - cos θ)/θ² [w]²,  θ = |w|        (Rodrigues; Murray, Li, Sastry 1994, section 2.2)

Quaternions are (w, x, y, z) and unit; a rotation matrix maps body coordinates to parent coordinates.
"""

from __future__ import annotations

from math import acos, atan2, cos, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray


def skew(w: ArrayLike) -> Array:
    """The matrix [w] with [w] x = w × x. w: shape (3,). Returns shape (3, 3)."""
    x, y, z = np.asarray(w, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def exp_so3(w: ArrayLike) -> Array:
    """Rotation by the angle |w| [rad] about w. w: shape (3,). Returns shape (3, 3)."""
    x, y, z = (float(c) for c in np.asarray(w, dtype=float))
    angle2 = x * x + y * y + z * z
    angle = sqrt(angle2)
    if angle < 1e-4:
        s, c = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0
    else:
        half = sin(0.5 * angle)
        s, c = sin(angle) / angle, 2.0 * half * half / angle2
    return np.array(
        [
            [1.0 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y],
            [c * x * y + s * z, 1.0 - c * (x * x + z * z), c * y * z - s * x],
            [c * x * z - s * y, c * y * z + s * x, 1.0 - c * (x * x + y * y)],
        ]
    )


def log_so3(rotation: ArrayLike) -> Array:
    """The rotation vector of least angle [rad] whose exponential is `rotation` (3, 3). Returns shape (3,)."""
    return rotation_vector(quaternion_from_rotation(rotation))


def rotation_vector(quaternion: ArrayLike) -> Array:
    """Rotation vector [rad], angle at most π, of a unit quaternion (4,). Returns shape (3,)."""
    w, x, y, z = (float(c) for c in np.asarray(quaternion, dtype=float))
    if w < 0.0:  # q and -q are the same rotation; this one has the smaller angle
        w, x, y, z = -w, -x, -y, -z
    half_sine = sqrt(x * x + y * y + z * z)
    scale = 2.0 / w if half_sine < 1e-12 else 2.0 * atan2(half_sine, w) / half_sine
    return np.array([scale * x, scale * y, scale * z])


def quaternion_from_vector(w: ArrayLike) -> Array:
    """Unit quaternion (4,) of the rotation vector w [rad] (3,)."""
    x, y, z = (float(c) for c in np.asarray(w, dtype=float))
    angle = sqrt(x * x + y * y + z * z)
    scale = 0.5 - angle * angle / 48.0 if angle < 1e-4 else sin(0.5 * angle) / angle
    return np.array([cos(0.5 * angle), scale * x, scale * y, scale * z])


def rotation_from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a quaternion (4,), which need not be of unit length."""
    w, x, y, z = (float(c) for c in np.asarray(quaternion, dtype=float))
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(rotation: ArrayLike) -> Array:
    """Unit quaternion (4,), w >= 0, of a rotation matrix (3, 3); well conditioned at every angle (Shepperd 1978)."""
    R = np.asarray(rotation, dtype=float)
    squares = (R[0, 0] + R[1, 1] + R[2, 2], R[0, 0], R[1, 1], R[2, 2])
    largest = int(np.argmax(squares))
    if largest == 0:
        q = np.array([1.0 + squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i = largest - 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q = np.empty(4)
        q[0] = R[k, j] - R[j, k]
        q[1 + i] = 1.0 + R[i, i] - R[j, j] - R[k, k]
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + k] = R[k, i] + R[i, k]
    q /= np.sqrt(q @ q)
    return -q if q[0] < 0.0 else q


def quaternion_product(a: ArrayLike, b: ArrayLike) -> Array:
    """The quaternion (4,) of the rotation b followed by a, i.e. of the matrix product A B."""
    aw, ax, ay, az = np.asarray(a, dtype=float)
    bw, bx, by, bz = np.asarray(b, dtype=float)
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """Rotation (3, 3) by `angle` [rad] about `axis` (3,), which need not be of unit length."""
    a = np.asarray(axis, dtype=float)
    return exp_so3(a * (angle / np.sqrt(a @ a)))


def rotation_between(a: ArrayLike, b: ArrayLike) -> Array:
    """The smallest rotation (3, 3) that turns the direction a (3,) into the direction b (3,)."""
    u = np.asarray(a, dtype=float) / np.linalg.norm(a)
    v = np.asarray(b, dtype=float) / np.linalg.norm(b)
    normal = np.cross(u, v)
    sine, cosine = float(np.linalg.norm(normal)), float(u @ v)
    if sine < 1e-12:
        if cosine > 0.0:
            return np.eye(3)
        normal = np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))])  # any axis across u serves a half turn
        return rotation_about(normal, acos(-1.0))
    return exp_so3(normal * (atan2(sine, cosine) / sine))
