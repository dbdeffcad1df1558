"""Gaze: eyes first, head after (Lee 2008, 4.4.4).

The eyes aim at the target at once (`eyes`). The head follows towards where the target is seen from the neck, but only
with what lies beyond `REACH`: small shifts are the eyes' alone, of large ones the head takes most, and the eyes come
back to the middle as it arrives. The head is steered (`goals.Steered`) and moved by its muscles (`controller`). Where
the base tilts or turns, the head stays upright in the world: the goal is taken in the axes that the base will have
LEAD later, exp(ω LEAD) R (the vestibulo-collic reflex).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.head.controller import HeadControl, HeadState
from vitruvian.control.head.eyes import BETWEEN, EyeState, look
from vitruvian.control.head.goals import Steered, between
from vitruvian.couple import BodyState
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses, bone_velocities
from vitruvian.spatial import exp_so3

Array = np.ndarray
REACH = np.radians(8.0)  # [rad] that the eyes take alone
SHARE = 0.85  # of the rest, the head's
MOST = np.radians([60.0, 35.0])  # yaw and pitch that the head is asked for at most
LEAD = 0.2  # [s] of the steering
LATE = 0.1  # [s] time constant with which the head's goal follows
INSIDE = 0.12  # [m] from the head's middle: nothing to look at there

Target = Callable[[float], Array]  # position [m] (3,) of what is looked at, at a time [s]


def ahead(time: float) -> Array:
    """Nothing to look at: far away, straight ahead."""
    return np.array([0.0, -100.0, 1.8])


@dataclass
class GazeState:
    """What the controller remembers."""

    head: HeadState
    eyes: EyeState
    goal: Array = field(default_factory=lambda: np.eye(3))  # the head's orientation asked for, in the world
    seed: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # blinks: counted up at each draw


class GazeControl:
    """A `Controller`: looks at a target that may move."""

    def __init__(self, control: HeadControl, target: Target = ahead):
        self.control, self.target = control, target
        self._goal = _Goal()
        control.goal = Steered(self._goal, lead=LEAD)
        self.skull = control.body.skeleton.index(control.chain.bones[-1])

    def start(self, rng: np.random.Generator) -> GazeState:
        return GazeState(self.control.start(rng), EyeState(), seed=np.array([int(rng.integers(1 << 30))]))

    def act(self, own: GazeState, state: BodyState, time: float, dt: float) -> Controls:
        return self.aim(own, state, time, dt, np.asarray(self.target(time), dtype=float))

    def aim(
        self, own: GazeState, state: BodyState, time: float, dt: float, target: Array, turn: Array | None = None,
        poses: Array | None = None,
    ) -> Controls:  # fmt: skip
        """Look at `target` [m] (3,); turn: rotation vector [rad] (3,) of the head on top of where it looks; poses: of
        the bones now, if they are known (n_bones, 4, 4)."""
        poses = bone_poses(self.control.body.skeleton, state.q) if poses is None else poses
        head, base = poses[self.skull], poses[self.control.chain.base]
        middle = head[:3, :3] @ BETWEEN + head[:3, 3]
        if np.linalg.norm(target - (head[:3, :3] @ (0.0, -0.01, 0.06) + head[:3, 3])) < INSIDE:
            raise InputError(f"what is looked at lies inside the head at {time:.2f} s, at {np.round(target, 3)} m")
        own.goal = between(own.goal, upright_towards(base[:3, :3], target - middle), min(dt / LATE, 1.0))
        goal = own.goal if turn is None else own.goal @ exp_so3(turn)
        self._goal.orientation = self._soon(base[:3, :3], state).T @ goal
        controls = self.control.act(own.head, state, time, dt)
        own.seed += 1
        look(own.eyes, head, target, time, dt, _Dice(own.seed))
        controls.told["eyes"] = own.eyes
        return controls

    def _soon(self, base: Array, state: BodyState) -> Array:
        """The base's orientation (3, 3) LEAD from now, as it turns now."""
        s, bone = self.control.body.skeleton, self.control.chain.base
        if not s.supports[bone].any():
            return base
        return np.asarray(base @ exp_so3(LEAD * bone_velocities(s, state.q, state.v)[bone, :3]))


@dataclass
class _Dice:
    """Random numbers from a seed, made only when one is drawn: eyes seldom draw."""

    seed: Array

    def random(self) -> float:
        return float(np.random.default_rng(self.seed).random())

    def exponential(self, scale: float) -> float:
        return float(np.random.default_rng(self.seed).exponential(scale))


@dataclass
class _Goal:
    orientation: Array = field(default_factory=lambda: np.eye(3))

    def wanted(self, time: float) -> Array:
        return self.orientation


def upright_towards(base: Array, direction: Array) -> Array:
    """The head's orientation (3, 3) in the world for a target in this direction (3,): upright, however the base (3, 3)
    is tilted, and turned no farther from where the base faces than a head goes."""
    faces = base[:, 1]  # the way of its back
    heading = exp_so3(np.array([0.0, 0.0, np.arctan2(-faces[0], faces[1])]))
    return np.asarray(heading @ head_towards(heading.T @ direction))


def head_towards(direction: Array) -> Array:
    """The head's orientation (3, 3) for a target in this direction (3,), in upright axes that face -y."""
    yaw = np.arctan2(direction[0], -direction[1])
    pitch = np.arctan2(direction[2], np.hypot(direction[0], direction[1]))
    both = np.array([yaw, pitch])
    size = float(np.linalg.norm(both))
    both = both * (SHARE * max(size - REACH, 0.0) / max(size, 1e-9))
    yaw, pitch = np.clip(both, -MOST, MOST)
    return np.asarray(exp_so3(np.array([0.0, 0.0, yaw])) @ exp_so3(np.array([-pitch, 0.0, 0.0])))
