"""Plans of a body on its feet: stand or follow a motion on both feet, jump."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Sensed, Swing, Wish
from vitruvian.control.stance.soles import soles, soles_of
from vitruvian.couple import BodyState
from vitruvian.skeleton import centre_of_mass

Array = np.ndarray
LEGS = ("Fe", "Tfp", "Fo")
NEAR = 0.005  # gap under a sole [m] at which its foot is taken to stand
CARRIES = 0.012  # gap [m] up to which a ball of a foot that stands is counted on


def posture_weights(
    body: Body, *, root: float = 1.0, legs: float = 0.1, trunk: float = 1.0, arms: float = 0.3, spine: float = 1.0
) -> Array:
    """Weights of a posture's accelerations by part, shape (n_v,). spine: of vertebrae and skull, times `trunk`; a bend
    that n joints share costs an n-th of what it costs at one joint, so that with 1 a spine is what gives way first."""
    out = np.full(body.skeleton.n_v, trunk)
    out[:3], out[3:6] = root, 1e-3  # the centre of mass has goals of its own
    for i, bone in enumerate(body.skeleton.names):
        at = slice(body.skeleton.v_start[i], body.skeleton.v_start[i + 1])
        base = bone.removesuffix("_l").removesuffix("_r")
        if base in LEGS:
            out[at] = legs
        elif base in ("Hu", "Ul", "Rad", "Ha"):
            out[at] = arms
        elif base == "Sku" or (base[:1] in "CTL" and base[1:].isdigit()):
            out[at] = spine * trunk
    return out


class OnFeet(Protocol):
    """What a plan on both feet says of itself."""

    @property
    def body(self) -> Body: ...
    @property
    def motion(self) -> Motion: ...
    @property
    def weight(self) -> Array: ...
    @property
    def back(self) -> float: ...
    @property
    def spin_weight(self) -> float: ...


@dataclass(frozen=True)
class Follow:
    """Follow a motion on both feet (a still one: stand): the centre of mass is led as high as the motion's and stays
    over the soles."""

    body: Body
    motion: Motion
    weight: Array
    back: float = 0.035  # of the centre of mass behind the middle of the soles [m]
    spin_weight: float = 0.1

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        return on_feet(self, time, state, sensed)


@dataclass(frozen=True)
class Jump:
    """Follow a motion that jumps. From `pushes` [s] on it pushes off with a given acceleration, until the centre of
    mass is at `height` or the soles leave the ground. From there on nothing carries: joints are led, and the soles
    under the capture point, which is all that a body in flight can do. While it crouches its centre of mass goes ahead,
    towards the front of the soles: that alone carries in the end, and a force from there through a centre of mass that
    stays over the heels throws the body backwards, at take-off and again at landing. The time of flight is what it is:
    joints are led so as to be at the motion's pose of `lands` [s] when the soles meet the ground, and go on from
    there."""

    body: Body
    motion: Motion
    weight: Array
    leaves: float
    lands: float
    pushes: float  # [s] from which it pushes off
    push: float = 7.0  # [m/s²] upwards
    heels: float = 1.08  # height of the centre of mass [m] from which only the front of the soles carries
    height: float = 1.16  # at which the soles let go
    back: float = 0.035
    ahead: float = 0.03  # of the centre of mass before the middle of the soles when it pushes off [m]
    spin_weight: float = 10.0  # a push from the front of the soles alone would set the body spinning

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        touching = bool((sensed.gap < NEAR).any())
        if "left" not in memory and time > self.pushes and (not touching or sensed.centre[2] > self.height):
            memory["left"] = time
        if "left" in memory and "landed" not in memory and touching and sensed.velocity[2] < -0.3:
            memory["landed"] = time
        if "landed" in memory:
            wish = on_feet(self, self.lands + time - memory["landed"], state, sensed)
            return replace(wish, spin_weight=0.1 * self.spin_weight)
        if "left" not in memory:
            wish = on_feet(self, time, state, sensed)
            assert wish.centre is not None
            lean = (self.back + self.ahead) * min(1.0, time / self.pushes)
            wish = replace(wish, centre=wish.centre - np.array([0.0, lean, 0.0]))
            assert wish.centre is not None
            if time < self.pushes:
                return wish
            goal = np.array([*wish.centre[:2], sensed.centre[2]])
            velocity = np.array([0.0, 0.0, sensed.velocity[2]])
            if sensed.centre[2] > self.heels:
                front = soles_of(self.body).front
                wish = replace(wish, carrying=wish.carrying & front, planted=wish.planted & front)
            return replace(wish, centre=goal, centre_v=velocity, centre_a=np.array([0.0, 0.0, self.push]))
        s = self.body.skeleton
        fall = float(np.linalg.norm(s.gravity))
        above = sensed.centre[2] - centre_of_mass(s, self.motion.sample(self.lands)[0])[2]
        rise = float(sensed.velocity[2])
        left = (rise + np.sqrt(max(0.0, rise * rise + 2.0 * fall * above))) / fall  # [s] until it lands
        q, v, a = self.motion.sample(min(max(self.leaves, self.lands - left), self.lands))
        weight = np.maximum(self.weight, 1.0)
        weight[:6] = 1e-4
        nothing = np.zeros(len(sensed.gap), dtype=bool)
        return Wish(q, v, a, weight, nothing, nothing, swing=self._soles_in_flight(sensed, above))

    def _soles_in_flight(self, sensed: Sensed, above: float) -> Swing:
        """Soles led to where they can stop the body, as far below its centre of mass c as they land.

        The fall of `above` [m] is braked by forces from the balls that touch first, p, through the centre of mass:
        they also change its velocity, c' → c' + w (c - p) / h, with w the speed of the fall at touch-down and h the
        height of c. What is then left, c + c'/ω, should be over the soles' middle."""
        s, n = self.body.skeleton, len(sensed.gap)
        landing = self.motion.sample(self.lands)[0]
        centre, points = centre_of_mass(s, landing), soles(self.body, landing)
        fall, height = float(np.linalg.norm(s.gravity)), centre[2]
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0)) + np.array([0.0, self.back, 0.0])
        first = points[points[:, 2] < points[:, 2].min() + CARRIES].mean(axis=0) - middle
        omega = np.sqrt(fall / height)
        speed = np.sqrt(max(0.0, sensed.velocity[2] ** 2 + 2.0 * fall * above))
        brake = speed / (omega * height)
        ahead = (sensed.velocity[:2] / omega - brake * first[:2]) / (1.0 + brake)
        place = points - np.array([*middle[:2], height]) + sensed.centre
        place[:, :2] += ahead
        return Swing(np.ones(n, dtype=bool), place, np.tile(sensed.velocity, (n, 1)), np.tile(s.gravity, (n, 1)))


def on_feet(plan: OnFeet, time: float, state: BodyState, sensed: Sensed) -> Wish:
    s, h = plan.body.skeleton, 2e-3
    q, v, a = plan.motion.sample(time)
    before, now, after = (centre_of_mass(s, plan.motion.sample(time + x)[0])[2] for x in (-h, 0.0, h))
    points, feet = sensed.points, soles_of(plan.body)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    goal = np.array([middle[0], middle[1] + plan.back, now])
    rise, bend = (after - before) / (2.0 * h), (after - 2.0 * now + before) / h**2
    carrying = sensed.gap < CARRIES
    standing = np.zeros(feet.n, dtype=bool)
    for mine in feet.foot.values():
        standing |= mine & bool((sensed.gap[mine] < NEAR).any())
    up = np.array([0.0, 0.0, 1.0])
    return Wish(
        q, v, a, plan.weight, carrying & standing, standing, goal, rise * up, bend * up, spin_weight=plan.spin_weight
    )
