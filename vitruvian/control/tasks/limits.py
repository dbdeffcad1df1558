"""Bounds of the joint velocities: speed, acceleration, and the ends of each joint's range (Si 2013, 5.5).

    e = max(-speed, (low - y) / τ),  E = min(speed, (high - y) / τ)
    max(e, min(v, E) - T a)  ≤  x  ≤  min(E, max(v, e) + T a)

y: the coordinate in which the joint's stops are given (of a ball, its rotation vector from neutral). A joint outside
its range comes back in τ. One that is faster than e or E may brake as hard as it can: a forearm of 1 g m² that strong
muscles throw has to be caught with ten times the acceleration that it may have on its way.
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


# A swimmer's hand moves at 2 to 2.5 m/s through the water, so arms turn at up to 4 rad/s. A straight leg has 3.3 kg m²
# about the hip: 20 rad/s² take 66 of its 120 N m, and leave the rest for water and weight. Legs that start faster than
# they can be stopped run into each other.
PACES = {
    "spine": Pace(1.0, 10.0, 60.0), "clavicle": Pace(2.0, 40.0, 45.0), "shoulder": Pace(4.0, 40.0, 45.0),
    "elbow": Pace(4.0, 40.0, 40.0), "wrist": Pace(3.0, 30.0, 8.0), "hip": Pace(3.0, 20.0, 120.0),
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
        slow = np.clip((low - y) / SETTLE, -self.speed, self.speed)
        fast = np.clip((high - y) / SETTLE, -self.speed, self.speed)
        least = np.maximum(slow, np.minimum(v, fast) - step)
        most = np.minimum(fast, np.maximum(v, slow) + step)
        narrow = np.maximum(NARROWEST - 0.5 * (most - least), 0.0)  # a program wants room between its bounds
        return least - narrow, most + narrow
