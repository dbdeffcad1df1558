"""Gaze: eyes first, head after (Lee 2008, 4.4.4).

The eyes aim at the target at once (`eyes`). The head follows towards where the target is seen from the neck, but only
with what lies beyond `REACH`: small shifts are the eyes' alone, of large ones the head takes most, and the eyes come
back to the middle as it arrives. The head is steered (`goals.Steered`) and moved by its muscles (`controller`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.head.controller import HeadControl, HeadState
from vitruvian.control.head.eyes import EYES, EyeState, look
from vitruvian.control.head.goals import Steered, between
from vitruvian.couple import BodyState
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import exp_so3

Array = np.ndarray
REACH = np.radians(8.0)  # [rad] that the eyes take alone
SHARE = 0.85  # of the rest, the head's
MOST = np.radians([60.0, 35.0])  # yaw and pitch that the head is asked for at most
LATE = 0.1  # [s] time constant with which the head's goal follows
INSIDE = 0.12  # [m] from the head's middle: nothing to look at there

Target = Callable[[float], Array]  # position [m] (3,) of what is looked at, at a time [s]


@dataclass
class GazeState:
    """What the controller remembers."""

    head: HeadState
    eyes: EyeState
    goal: Array = field(default_factory=lambda: np.eye(3))  # the head's orientation asked for
    seed: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # blinks: counted up at each draw


class GazeControl:
    """A `Controller`: looks at a target that may move."""

    def __init__(self, control: HeadControl, target: Target):
        self.control, self.target = control, target
        self._goal = _Goal()
        control.goal = Steered(self._goal, lead=0.2)
        self._skull = control.body.skeleton.index(control.chain.bones[-1])

    def start(self, rng: np.random.Generator) -> GazeState:
        return GazeState(self.control.start(rng), EyeState(), seed=np.array([int(rng.integers(1 << 30))]))

    def act(self, own: GazeState, state: BodyState, time: float, dt: float) -> Controls:
        poses = bone_poses(self.control.body.skeleton, state.q)
        head, base = poses[self._skull], poses[self.control.chain.base]
        target = np.asarray(self.target(time), dtype=float)
        middle = head[:3, :3] @ EYES.mean(axis=0) + head[:3, 3]
        if np.linalg.norm(target - (head[:3, :3] @ (0.0, -0.01, 0.06) + head[:3, 3])) < INSIDE:
            raise InputError(f"what is looked at lies inside the head at {time:.2f} s, at {np.round(target, 3)} m")
        own.goal = between(own.goal, head_towards(base[:3, :3].T @ (target - middle)), min(dt / LATE, 1.0))
        self._goal.orientation = own.goal
        controls = self.control.act(own.head, state, time, dt)
        own.seed += 1
        look(own.eyes, head, target, time, dt, np.random.default_rng(own.seed))
        controls.told["eyes"] = own.eyes
        return controls


@dataclass
class _Goal:
    orientation: Array = field(default_factory=lambda: np.eye(3))

    def wanted(self, time: float) -> Array:
        return self.orientation


def head_towards(direction: Array) -> Array:
    """The head's orientation (3, 3) in its base for a target in this direction (3,) of the base's axes."""
    yaw = np.arctan2(direction[0], -direction[1])
    pitch = np.arctan2(direction[2], np.hypot(direction[0], direction[1]))
    both = np.array([yaw, pitch])
    size = float(np.linalg.norm(both))
    both = both * (SHARE * max(size - REACH, 0.0) / max(size, 1e-9))
    yaw, pitch = np.clip(both, -MOST, MOST)
    return np.asarray(exp_so3(np.array([0.0, 0.0, yaw])) @ exp_so3(np.array([-pitch, 0.0, 0.0])))
