"""Plans of a body on its feet: stand, follow a motion with planted feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body, sole_balls
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Sensed, Wish
from vitruvian.couple import BodyState
from vitruvian.skeleton import bone_poses, centre_of_mass, integrate

Array = np.ndarray
LEGS = ("Fe", "Tfp", "Fo")


def posture_weights(body: Body, *, root: float = 1.0, legs: float = 0.1, trunk: float = 1.0, arms: float = 0.3) -> Array:
    """Weights of a posture's accelerations by part, shape (n_v,)."""
    out = np.full(body.skeleton.n_v, trunk)
    out[:6] = root
    for i, bone in enumerate(body.skeleton.names):
        at = slice(body.skeleton.v_start[i], body.skeleton.v_start[i + 1])
        base = bone.removesuffix("_l").removesuffix("_r")
        if base in LEGS:
            out[at] = legs
        elif base in ("Hu", "Ul", "Rad", "Ha"):
            out[at] = arms
    return out


@dataclass(frozen=True)
class Follow:
    """Follow a motion on both feet (a still one: stand), the centre of mass over the middle of the soles and as high
    as in the motion."""

    body: Body
    motion: Motion
    weight: Array
    forward: float = 0.0  # of the centre of mass before the middle of the soles [m]

    def wish(self, state: BodyState, sensed: Sensed, time: float) -> Wish:
        q, v, a = self.motion.sample(time)
        s = self.body.skeleton
        poses = bone_poses(s, state.q)
        points = np.array([poses[s.index(b), :3, :3] @ c + poses[s.index(b), :3, 3] for b, c, _ in sole_balls(self.body)])
        h = 1e-3
        now = centre_of_mass(s, q)
        ahead, behind = (centre_of_mass(s, integrate(s, q, v, x * h)) for x in (1.0, -1.0))
        # the centre's acceleration needs the motion half a millisecond on and back
        q1, q0 = self.motion.sample(time + h)[0], self.motion.sample(time - h)[0]
        bend = (centre_of_mass(s, q1) - 2.0 * now + centre_of_mass(s, q0)) / h**2
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        middle[1] -= self.forward
        velocity = (ahead - behind) / (2.0 * h)
        goal = np.array([middle[0], middle[1], now[2]])
        return Wish(
            q, v, a, self.weight, np.ones(len(points), dtype=bool), goal,
            np.array([0.0, 0.0, velocity[2]]), np.array([0.0, 0.0, bend[2]]),
        )  # fmt: skip
