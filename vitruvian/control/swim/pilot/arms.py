"""A straight arm for sharp turns: Si 2013, section 6.2, holds one arm in a static pose (r = 0) for his right angle.

The arm on the inner side is taken out of the stroke when it lies ahead anyway, and falls in again at the same phase:
an arm that had to come forward under water would roll the swimmer. It is held ahead, or stretched aside. One arm alone
cannot hold the roll for long, so the straight one swims again for a stroke when that side has rolled down too far.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.rhythm import MuscleKinematics, Rhythm, StrokeMotion, arms_together
from vitruvian.control.swim.pilot.reflexes import Reflexes

Array = np.ndarray
ARM = ("Cla", "Hu", "Ul", "Rad", "Ha")
ARMS = ("ahead", "aside")  # where a straight arm is held
SIDES = ("left", "right")
REACH = 0.12  # phase at which the left arm of our strokes lies straight ahead
NEAR = 0.1  # of that phase
SLIDE = 0.15  # [s] in which torques take an arm out of its stroke


class StraightArm:
    """Holds the arms of one body in one stroke."""

    def __init__(self, body: Body, motion: StrokeMotion, where: str):
        self.body, self.motion, self.where = body, motion, where
        self.supine = motion.stroke.posture == "supine"
        lag = 0.0 if arms_together(body, motion.stroke) else 0.5
        self.reach = (REACH, REACH + lag)
        s = body.skeleton
        self._rows = [np.concatenate([np.r_[s.v_slice(b + side)] for b in ARM]) for side in ("_l", "_r")]
        self._poses = [self._pose(phase) for phase in self.reach]
        still = np.zeros(s.n_v)
        self._lengths = [MuscleKinematics(body)(q, still, still)[0].copy() for q in self._poses]

    def choose(self, holding: str, off: float, roll: float, phase: float, g: Reflexes) -> str:
        """The arm to hold: the inner one while the heading is far `off` [rad] and the roll [rad] allows it."""
        inner = 0 if (off > 0) != self.supine else 1
        if not holding:
            steady = abs(roll) < g.steady
            return f"{SIDES[inner]} arm" if abs(off) > g.sharp and steady and self._ahead(inner, phase) else ""
        ends = abs(off) < g.done or abs(roll) > g.rolled
        return "" if ends and self._ahead(SIDES.index(holding.split()[0]), phase) else holding

    def hold(self, rhythm: Rhythm, wave: Any, before: str, now: str) -> None:
        """Oscillators: hold and release, where the choice has changed."""
        if before and before != now:
            rhythm.release(wave, [before])
        if now and before != now:
            rhythm.hold(wave, [now], self._lengths[0 if now.startswith("left") else 1])

    def blend(self, held: Array, q: Array, error: Array, v: Array, a: Array) -> None:
        """Torques: draw what the joints are asked for, shape (n_v,) each, to the straight arm by `held` (2,), 0..1."""
        for rows, pose, w in zip(self._rows, self._poses, held):
            if w < 1e-3:
                continue
            other = np.empty_like(error)
            tracking_error(self.body.skeleton.topology, q, pose, other)
            error[rows] += w * (other - error)[rows]
            v[rows] *= 1.0 - w
            a[rows] *= 1.0 - w

    def _ahead(self, arm: int, phase: float) -> bool:
        return abs((phase - self.reach[arm] + 0.5) % 1.0 - 0.5) < NEAR

    def _pose(self, phase: float) -> Array:
        q = self.motion.at(phase)[0].copy()
        if self.where == "aside":
            s, neutral = self.body.skeleton, self.body.skeleton.neutral_q()
            for bone in (b + side for b in ARM for side in ("_l", "_r")):
                q[s.q_slice(bone)] = neutral[s.q_slice(bone)]
        return q
