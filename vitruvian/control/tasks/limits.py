"""Bounds of the joint velocities: speed, acceleration, and the ends of each joint's range (Si 2013, 5.5).

    max(-speed, v - T a, (low - y) / τ)  ≤  x  ≤  min(speed, v + T a, (high - y) / τ)

y: the coordinate in which the joint's stops are given (of a ball, its rotation vector from neutral). Where a joint is
outside its range, or faster than its speed, the bounds are widened to the nearest velocity that it can have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.tasks.now import Now

Array = np.ndarray
SETTLE = 0.08  # τ [s] in which a range may be used up
NARROWEST = 1e-4  # [rad/s] between bounds


@dataclass(frozen=True)
class Pace:
    """How fast a kind of joint may turn, and how fast that may change; how strong it is."""

    speed: float  # [rad/s]
    acceleration: float  # [rad/s^2]
    torque: float  # [N m]


PACES = {
    "spine": Pace(1.0, 10.0, 60.0), "clavicle": Pace(2.0, 40.0, 45.0), "shoulder": Pace(6.0, 60.0, 45.0),
    "elbow": Pace(6.0, 60.0, 40.0), "wrist": Pace(3.0, 30.0, 8.0), "hip": Pace(5.0, 60.0, 120.0),
    "knee": Pace(6.0, 60.0, 120.0), "ankle": Pace(5.0, 60.0, 60.0),
}  # fmt: skip
KINDS = {
    "Cla": "clavicle", "Hu": "shoulder", "Ul": "elbow", "Rad": "elbow", "Ha": "wrist", "Fe": "hip", "Tfp": "knee",
    "Fo": "ankle",
}  # fmt: skip


class Limits:
    """Bounds for the driven joints of one body."""

    def __init__(self, body: Body, joints: Array):
        s = self.skeleton = body.skeleton
        self.joints = joints
        kinds = [PACES[KINDS.get(s.names[b].split("_")[0], "spine")] for b in s.dof_bone[joints]]
        self.speed = np.array([k.speed for k in kinds])
        self.acceleration = np.array([k.acceleration for k in kinds])
        self.torque = np.array([k.torque for k in kinds])
        f = s.forces
        self.range = f.low[joints], f.high[joints]

    def place(self, q: Array) -> Array:
        """y of the driven joints, (n,)."""
        out = np.empty(self.skeleton.n_v)
        tracking_error(self.skeleton.topology, self.skeleton.neutral_q(), q, out)
        y = out[self.joints]
        return np.asarray(y + self._offset)

    @property
    def _offset(self) -> Array:
        """Coordinates of plain joints at neutral, which count from zero; balls count from neutral."""
        s = self.skeleton
        plain = np.zeros(s.n_v)
        neutral = s.neutral_q()
        for i in range(s.n_bones):
            a, b = s.v_start[i], s.v_start[i + 1]
            if s.q_start[i + 1] - s.q_start[i] == b - a:
                plain[a:b] = neutral[s.q_start[i] : s.q_start[i + 1]]
        return plain[self.joints]

    def bounds(self, now: Now) -> tuple[Array, Array]:
        """Least and greatest velocity of each driven joint, (n,) each."""
        v, y = now.v[self.joints], self.place(now.q)
        low, high = self.range
        step = now.ahead * self.acceleration
        ends = (
            np.clip((low - y) / SETTLE, -self.speed, self.speed),
            np.clip((high - y) / SETTLE, -self.speed, self.speed),
        )
        least, most = np.maximum(ends[0], v - step), np.minimum(ends[1], v + step)
        crossed = least > most - NARROWEST
        nearest = np.clip(v, ends[0], ends[1])
        nearest = np.clip(nearest, v - step, v + step)
        least = np.where(crossed, nearest - NARROWEST, least)
        most = np.where(crossed, nearest + NARROWEST, most)
        return least, most
