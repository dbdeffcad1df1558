"""A stroke on a body: joint coordinates, velocities and accelerations at any phase, on the joints' own manifold.

A ball joint turns by R = E_1 E_2 E_3, E_k = exp([a_k] q_k(x)), with q_k closed splines of the phase x. Its body angular
velocity and acceleration follow by differentiating the product, adding one factor after the other:

    w  <- E^T w + a q',      w' <- E^T w' - a q' x E^T w + a q''

so that quaternion, v and a belong together exactly; nothing is interpolated between quaternions. The pelvis lies as the
stroke's posture says, and turns by the stroke's pelvis angles when it is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.anatomy.body import JOINT_WORDS
from vitruvian.control.rhythm.axes import axes_of
from vitruvian.control.rhythm.limits import Beyond, beyond_range, instants, refuse_or_warn
from vitruvian.control.rhythm.stroke import Stroke
from vitruvian.errors import InputError, unknown_name
from vitruvian.skeleton.joints import Ball, CurveSpline, Free, Revolute, Universal
from vitruvian.spatial import exp_so3, quaternion_from_rotation, quaternion_product

Array = np.ndarray
# Turns of the pelvis from upright, after which the head points along -y (forward): face down, face up.
_LYING = {"prone": ((np.pi / 2, 0.0, 0.0),), "supine": ((0.0, 0.0, np.pi), (-np.pi / 2, 0.0, 0.0))}


class StrokeMotion:
    """A `Motion`: the stroke at `rate` cycles a second, beginning at `phase`."""

    def __init__(self, body: Body, stroke: Stroke, rate: float = 0.75, phase: float = 0.0):
        if not (np.isfinite(rate) and rate >= 0):
            raise InputError(f"stroke rate must be zero or more cycles a second, got {rate:g}")
        self.body, self.stroke, self.rate, self.phase = body, stroke, float(rate), float(phase)
        self._rest = body.default_q.copy()
        if body.free_root:
            self._rest[3:7] = quaternion_product(posture_quaternion(stroke.posture), self._rest[3:7])
        self._hinges, self._balls = _lay(body, stroke)
        refuse_or_warn(stroke, self.beyond_range())

    def beyond_range(self) -> list[Beyond]:
        """Where the stroke asks more of a joint than its range, the furthest first."""
        poses = np.array([self.at(x)[0] for x in instants(self.stroke)])
        senses = dict(zip(self._hinges.at_v.tolist(), self._hinges.sense.tolist()))
        return beyond_range(self.body, self.stroke, columns_of(self.body, self.stroke), senses, poses)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        """q (n_q,), v (n_v,) [1/s], acceleration (n_v,) [1/s^2] at `time` [s]."""
        q, v, a = self.at(self.phase + self.rate * time)
        return q, v * self.rate, a * self.rate**2

    def at(self, phase: float) -> tuple[Array, Array, Array]:
        """q (n_q,), dq/dphase (n_v,) and its derivative (n_v,) in the joints' velocity coordinates; period 1."""
        n_v, hinges, balls = self.body.skeleton.n_v, self._hinges, self._balls
        angles = np.stack([self.stroke.spline(phase, k) for k in range(3)])
        q, v, a = self._rest.copy(), np.zeros(n_v), np.zeros(n_v)
        turned = hinges.sense * angles[:, hinges.column]
        q[hinges.at_q], v[hinges.at_v], a[hinges.at_v] = turned
        _turn(balls.at_q, balls.at_v, balls.start, balls.column, balls.axes, angles, q, v, a)
        return q, v, a


def posture_quaternion(posture: str) -> Array:
    """Turn of the pelvis from upright to lying with the head along -y, (w, x, y, z); upright stays."""
    turn = np.eye(3)
    for vector in _LYING.get(posture, ()):
        turn = turn @ exp_so3(np.array(vector))
    return quaternion_from_rotation(turn)


@dataclass(frozen=True)
class _Hinges:
    """Single angles: where they go, which column of the spline they read, with which sign."""

    at_q: Array
    at_v: Array
    column: Array
    sense: Array  # +-1


@dataclass(frozen=True)
class _Balls:
    """Ball joints: quaternion at at_q, velocity at at_v; factors start[i]:start[i+1] with their columns and axes."""

    at_q: Array
    at_v: Array
    start: Array
    column: Array
    axes: Array  # shape (factors, 3)


def _lay(body: Body, stroke: Stroke) -> tuple[_Hinges, _Balls]:
    """Find the joints that the stroke's words mean; every angle must land on a coordinate that exists and moves."""
    what = f"stroke '{stroke.name}'"
    s = body.skeleton
    hinges: list[tuple[int, int, int, float]] = []
    balls: list[tuple[int, int]] = []
    start, columns, factors = [0], [], []
    for bone, given in columns_of(body, stroke).items():
        names, axes = axes_of(bone)
        joint = s.joints[s.index(bone)]
        q0, v0 = s.q_slice(bone).start, s.v_slice(bone).start
        if isinstance(joint, (Ball, Free)):
            balls.append((q0 + (3 if isinstance(joint, Free) else 0), v0))
            for name, axis in zip(names, axes):
                if name in given:
                    columns.append(given[name])
                    factors.append(axis)
            start.append(len(columns))
            continue
        if isinstance(joint, Revolute):
            own = [joint.axis]
        elif isinstance(joint, Universal):
            own = [joint.axis1, joint.axis2]
        elif isinstance(joint, CurveSpline) and len(names) == 1:
            own = list(axes)  # a knee on a curve: its coordinate is the flexion angle
        else:
            raise InputError(f"{what}: joint '{bone}' is a {type(joint).__name__} here, which strokes cannot move")
        for k, (name, axis) in enumerate(zip(names, axes)):
            if name in given:
                hinges.append((q0 + k, v0 + k, given[name], float(np.sign(np.dot(own[k], axis)))))
    rows = np.array(hinges, dtype=float).reshape(-1, 4).T
    whole = rows[:3].astype(np.int64)
    where = np.array(balls, dtype=np.int64).reshape(-1, 2).T.copy()
    return _Hinges(whole[0], whole[1], whole[2], rows[3]), _Balls(
        where[0],
        where[1],
        np.array(start, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.array(factors, dtype=float).reshape(-1, 3),
    )


def columns_of(body: Body, stroke: Stroke) -> dict[str, dict[str, int]]:
    """Bone -> coordinate -> column of the spline."""
    what = f"stroke '{stroke.name}'"
    s = body.skeleton
    out: dict[str, dict[str, int]] = {}
    for k, (word, coordinate) in enumerate(stroke.keys):
        root = word in ("pelvis", s.names[0])
        try:
            bones = (s.names[0],) if root else body.bones_named(word)
        except InputError as error:
            base = word.removeprefix("left ").removeprefix("right ")
            absent = base in JOINT_WORDS or len(axes_of(word)[0]) > 0  # a joint of the human, not of this part of it
            reason = f"this body has no joint '{word}'" if absent else str(error)
            raise InputError(f"{what}: {reason}") from None
        for bone in bones:
            known, _ = axes_of(bone)
            if coordinate not in known and known:
                raise InputError(f"{what}: {unknown_name(f'coordinate of {word}', coordinate, known)}")
            if root and not body.free_root:
                continue
            if not known or not s.joints[s.index(bone)].n_v:
                raise InputError(f"{what}: joint '{word}' does not move in a stroke of this body")
            if coordinate in out.setdefault(bone, {}):
                raise InputError(f"{what}: '{word} {coordinate}' is given twice")
            out[bone][coordinate] = k
    return out


@nb.njit(cache=True)
def _turn(
    at_q: Array,
    at_v: Array,
    start: Array,
    column: Array,
    axes: Array,
    angles: Array,  # angle, rate and bend of each column, shape (3, k)
    q: Array,  # holds the quaternions from which the joints turn
    v: Array,
    a: Array,
) -> None:
    for j in range(len(at_q)):
        Q, w, dw = q[at_q[j] : at_q[j] + 4], v[at_v[j] : at_v[j] + 3], a[at_v[j] : at_v[j] + 3]
        for k in range(start[j], start[j + 1]):
            x, y, z = axes[k, 0], axes[k, 1], axes[k, 2]
            angle, rate, bend = angles[0, column[k]], angles[1, column[k]], angles[2, column[k]]
            c, h = np.cos(0.5 * angle), np.sin(0.5 * angle)
            q0, q1, q2, q3 = Q[0], Q[1], Q[2], Q[3]
            Q[0] = q0 * c - h * (q1 * x + q2 * y + q3 * z)
            Q[1] = q1 * c + h * (q0 * x + q2 * z - q3 * y)
            Q[2] = q2 * c + h * (q0 * y + q3 * x - q1 * z)
            Q[3] = q3 * c + h * (q0 * z + q1 * y - q2 * x)
            _unturn(x, y, z, angle, w)
            _unturn(x, y, z, angle, dw)
            dw[0] += bend * x - rate * (y * w[2] - z * w[1])
            dw[1] += bend * y - rate * (z * w[0] - x * w[2])
            dw[2] += bend * z - rate * (x * w[1] - y * w[0])
            w[0] += rate * x
            w[1] += rate * y
            w[2] += rate * z


@nb.njit(cache=True, inline="always")
def _unturn(x: float, y: float, z: float, angle: float, w: Array) -> None:
    """w <- exp([a] angle)^T w, a = (x, y, z) of unit length."""
    s, h = np.sin(angle), np.sin(0.5 * angle)
    c = 2.0 * h * h
    along = x * w[0] + y * w[1] + z * w[2]
    p, q, r = w[0], w[1], w[2]
    w[0] = p - s * (y * r - z * q) + c * (along * x - p)
    w[1] = q - s * (z * p - x * r) + c * (along * y - q)
    w[2] = r - s * (x * q - y * p) + c * (along * z - r)
