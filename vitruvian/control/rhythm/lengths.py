"""Muscle lengths over a cycle with exact first and second derivatives.

A segment between path points a and b has, with d = b - a and u = d / |d|,

    |d|' = u . d',     |d|'' = u . d'' + (d' . d' - (u . d')^2) / |d|.

A point x of a bone whose world motion at the origin is V = (w, v), with spatial acceleration A = (w', a), moves by

    x' = v + w x x,    x'' = a + w' x x + w x x'.

V and A come from one pass over the skeleton's tree, A = A_bias(q, v) + sum of screws times joint accelerations. The
first derivative so found is dl/dq v, moment arms times velocity. Paths that bend round cylinders or ride on carriers
(`muscle.wrapping`) take that, and its central difference over time for the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm.motion import StrokeMotion
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import integrate, world_twists
from vitruvian.skeleton.evaluate import NV, PARENT, V0
from vitruvian.skeleton.world_tree import BIAS, MOVING_WIDTH, VELOCITY, forward

Array = np.ndarray
TIME = 1e-5  # [s] of the difference


@dataclass(frozen=True)
class LengthCycle:
    """Lengths [m] of all muscles at evenly spaced phases of a cycle, and d/dphase; the phase has period 1."""

    phase: Array  # shape (n,)
    length: Array  # [m], shape (n, n_muscles)
    slope: Array  # dl/dphase [m]
    curvature: Array  # d^2 l/dphase^2 [m]

    @property
    def middle(self) -> Array:
        """Halfway between shortest and longest [m], shape (n_muscles,)."""
        return 0.5 * (self.length.max(axis=0) + self.length.min(axis=0))

    @property
    def range(self) -> Array:
        """Longest less shortest [m], shape (n_muscles,)."""
        return np.ptp(self.length, axis=0)


def length_cycle(motion: StrokeMotion, samples: int = 192) -> LengthCycle:
    """Sample a stroke's muscle lengths at `samples` phases."""
    measure = MuscleKinematics(motion.body)
    phase = np.arange(samples) / samples
    out = np.empty((3, samples, motion.body.muscles.n_muscles))
    for i, x in enumerate(phase):
        out[:, i] = measure(*motion.at(x))
    return LengthCycle(phase, *out)


class MuscleKinematics:
    """Lengths, rates and accelerations of all muscles of a body; holds the scratch memory that this needs."""

    def __init__(self, body: Body):
        s = body.skeleton
        self._skeleton, self._muscles = s, body.muscles
        m = body.muscles
        self._bent = np.zeros(m.n_muscles, bool)
        self._bent[m.wraps.muscle] = True
        self._bent[np.searchsorted(m.offsets, m.carriers.point, side="right") - 1] = True
        self._inertia, self._no_gravity = np.zeros((s.n_bones, 10)), np.zeros(3)
        self._poses, self._screws = np.empty((s.n_bones, 4, 4)), np.empty((s.n_v, 6))
        self._moving, self._composite = np.empty((s.n_bones, MOVING_WIDTH)), np.empty((s.n_bones, 10))

    def __call__(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """l [m], l' [m/s], l'' [m/s^2], shape (n_muscles,) each, at q (n_q,), v (n_v,), a (n_v,)."""
        s, m, work = self._skeleton, self._muscles, self._skeleton.workspace
        q, v, a = (np.ascontiguousarray(x, dtype=np.float64) for x in (q, v, a))
        forward(
            s.topology,
            s.bodies,
            s.params,
            s.custom_rows(q),
            self._inertia,
            self._no_gravity,
            q,
            v,
            work.rows,
            work.dofs,
            work.hessians,
            work.scratch,
            self._poses,
            self._screws,
            self._moving,
            self._composite,
        )
        _add_accelerations(s.topology, self._screws, a, self._composite, self._moving)
        out = np.empty((3, m.n_muscles))
        _differentiate(m.offsets, m.bone, m.local, self._poses, self._moving, out)
        if self._bent.any():
            self._bend(q, v, a, out)
        return out[0], out[1], out[2]

    def _bend(self, q: Array, v: Array, a: Array, out: Array) -> None:
        """Muscles with cylinders or on carriers: l' = P v by moment arms, l'' by its difference over a short time."""
        s, m, bent = self._skeleton, self._muscles, self._bent
        length, arms = moment_arms(m, self._poses, self._screws)
        ends = []
        for t in (-TIME, TIME):
            then = integrate(s, q, t * v + 0.5 * t * t * a)
            ends.append(moment_arms(m, *world_twists(s, then))[1].rates(v + t * a)[bent])
        out[0, bent], out[1, bent] = length[bent], arms.rates(v)[bent]
        out[2, bent] = (ends[1] - ends[0]) / (2.0 * TIME)


@nb.njit(cache=True)
def _add_accelerations(topology: Array, screws: Array, a: Array, sums: Array, moving: Array) -> None:
    """moving[:, BIAS:] += what joint accelerations add to each bone; sums (n_bones, >= 6) is scratch."""
    for i in range(topology.shape[0]):
        p, v0 = topology[i, PARENT], topology[i, V0]
        for k in range(6):
            total = sums[p, k] if p >= 0 else 0.0
            for j in range(v0, v0 + topology[i, NV]):
                total += screws[j, k] * a[j]
            sums[i, k] = total
    for i in range(topology.shape[0]):
        for k in range(6):
            moving[i, BIAS + k] += sums[i, k]


@nb.njit(cache=True)
def _differentiate(offsets: Array, bone: Array, local: Array, poses: Array, moving: Array, out: Array) -> None:
    """out (3, n_muscles): length, rate and acceleration of each muscle."""
    near, far = np.empty((3, 3)), np.empty((3, 3))
    for m in range(len(offsets) - 1):
        out[0, m] = out[1, m] = out[2, m] = 0.0
        _point(poses[bone[offsets[m]]], moving[bone[offsets[m]]], local[offsets[m]], near)
        for p in range(offsets[m] + 1, offsets[m + 1]):
            _point(poses[bone[p]], moving[bone[p]], local[p], far)
            square, along, across, speed2 = 0.0, 0.0, 0.0, 0.0
            for k in range(3):
                d, rate, bend = far[0, k] - near[0, k], far[1, k] - near[1, k], far[2, k] - near[2, k]
                square += d * d
                along += d * rate
                across += d * bend
                speed2 += rate * rate
            length = np.sqrt(square)
            rate = along / length
            out[0, m] += length
            out[1, m] += rate
            out[2, m] += (across + speed2 - rate * rate) / length
            near[:] = far


@nb.njit(cache=True, inline="always")
def _point(T: Array, moving: Array, local: Array, out: Array) -> None:
    """Position, velocity and acceleration of a point of a bone, into the rows of out (3, 3)."""
    for k in range(3):
        out[0, k] = T[k, 0] * local[0] + T[k, 1] * local[1] + T[k, 2] * local[2] + T[k, 3]
    V, A = moving[VELOCITY:BIAS], moving[BIAS : BIAS + 6]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        out[1, k] = V[3 + k] + V[i] * out[0, j] - V[j] * out[0, i]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        out[2, k] = A[3 + k] + A[i] * out[0, j] - A[j] * out[0, i] + V[i] * out[1, j] - V[j] * out[1, i]
