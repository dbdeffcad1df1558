"""Joint angles of the neck for a wanted orientation of the head (Lee 2008, eq. 4.4).

    q_d = argmin |V^-1 q|²   subject to   h_d = g(q),

q: rotation vectors of the neck's ball joints against the default pose, V: the range of each coordinate, g: the head's
orientation in the base. With J = dg/dq (angular velocity of the head in the base's axes) one Newton step is

    q <- V² Jᵀ (J V² Jᵀ)^-1 (log(h_d g(q)^-1) + J q),

three or four of which are enough. A coordinate that would leave its range stays at its end and the others go on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.errors import InputError
from vitruvian.skeleton.joints import Ball
from vitruvian.spatial import rotation_vector

Array = np.ndarray
ROUNDS = 12
GOAL = 1e-9  # [rad]


@dataclass(frozen=True, eq=False)
class NeckChain:
    """The ball joints between a base and the head."""

    body: Body
    bones: tuple[str, ...]  # from below; the last is the head
    base: int  # the bone that carries the first
    q_at: Array  # first coordinate of each joint, shape (n_joints,)
    v_at: Array  # coordinates of v that they have, shape (3 n_joints,)
    reach: Array  # half of the range of each coordinate [rad], shape (3 n_joints,)
    low: Array  # [rad] from the default pose, shape (3 n_joints,)
    high: Array

    @classmethod
    def of(cls, body: Body, head: str = "Sku", first: str = "C7") -> NeckChain:
        """The joints from `first` up to `head`."""
        s = body.skeleton
        bones = [head]
        while bones[-1] != first:
            parent = s.parent[s.index(bones[-1])]
            if parent < 0:
                raise InputError(f"no way down from bone '{head}' to bone '{first}'")
            bones.append(s.names[parent])
        bones.reverse()
        index = [s.index(b) for b in bones]
        if not all(isinstance(s.joints[i], Ball) for i in index):
            raise InputError("the neck's joints must be balls that can move; is this body's neck held still?")
        v_at = np.concatenate([np.arange(s.v_start[i], s.v_start[i + 1]) for i in index])
        rest = np.concatenate([rotation_vector(s.neutral[s.q_start[i] : s.q_start[i] + 4]) for i in index])
        low, high = s.forces.low[v_at] + rest, s.forces.high[v_at] + rest  # ball joints count from neutral
        low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
        q_at = np.array([s.q_start[i] for i in index])
        return cls(body, tuple(bones), int(s.parent[index[0]]), q_at, v_at, 0.5 * (high - low), low, high)

    def angles(self, q: Array) -> Array:
        """Rotation vectors of the joints [rad], shape (3 n_joints,), at coordinates q (n_q,)."""
        return np.concatenate([rotation_vector(q[a : a + 4]) for a in self.q_at])

    def placed(self, q: Array, angles: Array) -> Array:
        """Coordinates (n_q,) with the neck's joints at `angles` (3 n_joints,)."""
        out = q.copy()
        _place(self.q_at, angles, out)
        return out

    def orientation(self, angles: Array) -> Array:
        """The head in the base, shape (3, 3); the identity in the default pose."""
        return _orientation(angles)

    def solve(self, wanted: Array, start: Array | None = None) -> tuple[Array, float]:
        """Angles (3 n_joints,) for the orientation `wanted` (3, 3), and how far they miss it [rad]: beyond the range of
        the neck it cannot be reached. start: angles to begin with."""
        y = np.zeros(len(self.reach)) if start is None else start.copy()
        off = _solve(np.ascontiguousarray(wanted), self.reach**2, self.low, self.high, y, ROUNDS, GOAL)
        return y, off


@nb.njit(cache=True)
def turn_between(a, b):
    """Angle [rad] between two rotations (3, 3)."""
    work, w = np.empty((3, 3)), np.empty(3)
    _times(a, b.T, work)
    _log(work, w)
    return np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)


@nb.njit(cache=True)
def _place(q_at, y, q):
    """Quaternions of the rotation vectors y (3 n,) into q."""
    for j in range(len(q_at)):
        a, w = q_at[j], y[3 * j : 3 * j + 3]
        angle = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        scale = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
        q[a] = np.cos(0.5 * angle)
        for k in range(3):
            q[a + 1 + k] = scale * w[k]


@nb.njit(cache=True)
def _rotation(w, R):
    """exp of the rotation vector w (3,) into R (3, 3)."""
    t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    if t2 < 1e-12:
        a, b = 1.0 - t2 / 6.0, 0.5 - t2 / 24.0
    else:
        t = np.sqrt(t2)
        a, b = np.sin(t) / t, (1.0 - np.cos(t)) / t2
    c = 1.0 - b * t2
    R[0, 0], R[1, 1], R[2, 2] = c + b * w[0] * w[0], c + b * w[1] * w[1], c + b * w[2] * w[2]
    R[0, 1], R[1, 0] = b * w[0] * w[1] - a * w[2], b * w[0] * w[1] + a * w[2]
    R[0, 2], R[2, 0] = b * w[0] * w[2] + a * w[1], b * w[0] * w[2] - a * w[1]
    R[1, 2], R[2, 1] = b * w[1] * w[2] - a * w[0], b * w[1] * w[2] + a * w[0]


@nb.njit(cache=True)
def _left_jacobian(w, J):
    """Angular velocity per rate of the rotation vector w, both in the axes before the turn, into J (3, 3)."""
    t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    if t2 < 1e-8:
        b, c = 0.5 - t2 / 24.0, 1.0 / 6.0 - t2 / 120.0
    else:
        t = np.sqrt(t2)
        b, c = (1.0 - np.cos(t)) / t2, (t - np.sin(t)) / (t2 * t)
    for i in range(3):
        for j in range(3):
            J[i, j] = c * w[i] * w[j]
        J[i, i] += 1.0 - c * t2
    J[0, 1] -= b * w[2]
    J[1, 0] += b * w[2]
    J[0, 2] += b * w[1]
    J[2, 0] -= b * w[1]
    J[1, 2] -= b * w[0]
    J[2, 1] += b * w[0]


@nb.njit(cache=True)
def _log(R, w):
    """Rotation vector of R (3, 3) into w (3,); turns below a half circle."""
    c = min(max(0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0), -1.0), 1.0)
    w[0], w[1], w[2] = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    s = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    t = np.arctan2(s, c)
    if s > 1e-9:
        for i in range(3):
            w[i] *= t / s


@nb.njit(cache=True)
def _times(A, B, out):
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@nb.njit(cache=True)
def _orientation(y):
    R, turn, next_R = np.eye(3), np.empty((3, 3)), np.empty((3, 3))
    for j in range(len(y) // 3):
        _rotation(y[3 * j : 3 * j + 3], turn)
        _times(R, turn, next_R)
        R[:] = next_R
    return R


@nb.njit(cache=True)
def _solve(wanted, weight, low, high, y, rounds, goal):
    """Newton steps of the file's head on y (n,), in place; returns the error that is left [rad]."""
    n = len(y)
    J, R, turn, work, own = np.empty((3, n)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    error, left = np.empty(3), 0.0
    for _ in range(rounds):
        R[:] = np.eye(3)
        for j in range(n // 3):
            w = y[3 * j : 3 * j + 3]
            _left_jacobian(w, own)
            _times(R, own, work)
            J[:, 3 * j : 3 * j + 3] = work
            _rotation(w, turn)
            _times(R, turn, work)
            R[:] = work
        _times(wanted, R.T, work)
        _log(work, error)
        left = np.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
        moved = _step(J, weight, low, high, error, y)
        if left < goal and moved < 1e-6:
            break
    return left


@nb.njit(cache=True)
def _step(J, weight, low, high, error, y):
    """y <- the least |V^-1 y| with J (y - y_old) = error within low..high, in place; returns its largest change."""
    n = len(y)
    free = np.ones(n, dtype=np.bool_)
    new = y.copy()
    for _ in range(n):
        right, A = error.copy(), np.zeros((3, 3))
        for k in range(n):
            if free[k]:
                for i in range(3):
                    right[i] += J[i, k] * y[k]
                    for j in range(3):
                        A[i, j] += weight[k] * J[i, k] * J[j, k]
            else:
                for i in range(3):
                    right[i] -= J[i, k] * (new[k] - y[k])
        for i in range(3):
            A[i, i] += 1e-12
        p = np.linalg.solve(A, right)
        worst, at = 0.0, -1
        for k in range(n):
            if free[k]:
                new[k] = weight[k] * (J[0, k] * p[0] + J[1, k] * p[1] + J[2, k] * p[2])
                over = max(new[k] - high[k], low[k] - new[k])
                if over > worst:
                    worst, at = over, k
        if at < 0:
            break
        new[at] = min(max(new[at], low[at]), high[at])
        free[at] = False
        count = 0
        for k in range(n):
            count += free[k]
        if count <= 3:
            break
    change = 0.0
    for k in range(n):
        value = min(max(new[k], low[k]), high[k])
        change = max(change, abs(value - y[k]))
        y[k] = value
    return change
