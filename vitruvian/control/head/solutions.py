"""Which activations hold the head in a pose, and which stiffen the neck without moving it (Lee 2008, 4.3.1).

Pose (eq. 4.2): the least weighted forces that balance gravity, joint springs and passive muscle at q_d,

    a_p = argmin |W^-1 f_C|²   subject to   P f_C = c(q_d) + K_s q_d - P f_P,   0 <= a <= 1.

Tone: Lee maximises |W^-1 f_C|² subject to P f_C = 0. That problem has many local answers, corners of its polytope, and
they jump from pose to pose. Ours asks instead for the activation nearest to all muscles fully on,

    a_t = argmin |W^-1 (f_C(1) - f_C(a))|²   subject to   P f_C(a) = 0,   0 <= a <= 1,

which is convex, so its answer is unique and changes continuously with the pose. Both are the problem of
`control.activation`: the second for b = 1 - a.

Gravity is a vector in the base's axes, in parts of 9.81 m/s²: a head that lies down is held, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import lsq_linear

from vitruvian.anatomy import Body
from vitruvian.control.activation import ActivationSolver, TorqueMap
from vitruvian.control.head.setpoint import NeckChain
from vitruvian.control.inverse import InverseDynamics
from vitruvian.couple import BodyStepper
from vitruvian.skeleton import bone_poses, inverse_dynamics

Array = np.ndarray
GRAVITY = 9.81  # [m/s²]
SLACK = 1e-6  # [N² m²] per row: so little that torques are met to 1e-3 N m, and poses out of reach have an answer
TORQUE = 1e-8  # that tone may make, relative to the strongest muscle
ROOM = 1e-3  # a muscle this far from 0 and 1 can take a small correction
DT = 1e-3  # [s] of the step whose forces are balanced; at rest it has no effect


@dataclass(frozen=True)
class Balance:
    """The problem at one pose."""

    torque: Array  # that muscles have to give on the neck's coordinates [N m], shape (n_rows,)
    map: TorqueMap  # what each muscle gives there at full activation
    weight: Array  # of each activation: its force over its strength, shape (n_muscles,)


class HeadStatics:
    """Pose and tone activations of the muscles that cross a body's neck."""

    def __init__(self, body: Body, chain: NeckChain | None = None):
        self.body = body
        self.chain = NeckChain.of(body) if chain is None else chain
        s = body.skeleton
        above = s.supports[:, self.chain.v_at[0]]  # bones that the neck's lowest joint carries
        self.rows = np.flatnonzero(body.driven & above[s.dof_bone])
        driven = np.zeros(s.n_v, dtype=bool)
        driven[self.rows] = True
        still = ~driven
        weightless = replace(s, gravity=np.zeros(3))
        self._stepper = BodyStepper(weightless, body.muscles, held=still)
        self._inverse = InverseDynamics(body, self._stepper, driven=driven)
        self._pulled = [replace(s, gravity=GRAVITY * axis) for axis in np.eye(3)]
        m = body.muscles
        crosses = np.zeros(m.n_muscles, dtype=bool)
        owner = np.repeat(np.arange(m.n_muscles), np.diff(m.row_start))
        crosses[owner[np.isin(m.column, self.rows)]] = True
        self.muscles = np.flatnonzero(crosses)  # those that the head's control moves
        self.solver = ActivationSolver(slack=np.full(len(self.rows), SLACK))

    def balance(self, q: Array, gravity: Array) -> Balance:
        """At coordinates q (n_q,) and gravity (3,) in the base's axes, in parts of 9.81 m/s²."""
        state = self.body.at_rest(q)
        found = self._inverse.demand(state, np.zeros(self.body.skeleton.n_v), DT)
        base = bone_poses(self.body.skeleton, q)[self.chain.base, :3, :3]
        along = base @ np.asarray(gravity, dtype=float)
        torque = found.torque.copy()
        still = np.zeros(self.body.skeleton.n_v)
        for share, skeleton in zip(along, self._pulled):
            if share != 0.0:
                torque += share * inverse_dynamics(skeleton, q, still, still)[self.rows]
        capacity = self._stepper.found.tension[2]
        return Balance(torque, found.map, np.maximum(capacity / self.body.muscles.f_max, 1e-3))

    def pose(self, at: Balance) -> tuple[Array, float]:
        """a_p (n_muscles,), and the largest torque that it misses [N m]."""
        found = self.solver.solve(at.map, at.torque, at.weight)
        return found.activation, float(np.abs(found.residual).max())

    def tone(self, at: Balance) -> Array:
        """a_t (n_muscles,) of the muscles that cross the neck, 0 for others; it makes no torque."""
        mine = np.zeros(self.body.muscles.n_muscles)
        mine[self.muscles] = 1.0
        found = ActivationSolver().solve(at.map, at.map.torques(mine), at.weight)
        tone = np.clip(mine - found.activation, 0.0, 1.0)
        dense = at.map.dense()
        for _ in range(3):  # take back what the solve left, from muscles that have room for it
            inside = np.flatnonzero((tone > ROOM) & (tone < 1.0 - ROOM))
            tone[inside] -= np.linalg.lstsq(dense[:, inside], dense @ tone, rcond=None)[0]
            np.clip(tone, 0.0, 1.0, out=tone)
        left = dense @ tone
        if np.abs(left).max() > TORQUE * np.abs(at.map.value).max():  # a joint whose muscles are all off or on
            room = (-tone[self.muscles] - 1e-12, 1.0 - tone[self.muscles] + 1e-12)
            tone[self.muscles] += lsq_linear(dense[:, self.muscles], -left, bounds=room, tol=1e-14).x
            np.clip(tone, 0.0, 1.0, out=tone)
        return tone

    def gravity_in(self, base: Array) -> Array:
        """Gravity (3,) in the axes of the base, whose pose is (4, 4), in parts of 9.81 m/s²."""
        return base[:3, :3].T @ self.body.skeleton.gravity / GRAVITY
