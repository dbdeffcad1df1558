"""Tasks for how a body moves whatever else it wants: along with a stroke, steadily, its long axis along a direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.rhythm import StrokeMotion
from vitruvian.control.tasks.gather import Gathered
from vitruvian.control.tasks.now import Now
from vitruvian.control.tasks.tasks import fading

Array = np.ndarray
BEAT = 1.0 / 48.0  # [s] between decisions at which a weight counts as it is given


@dataclass
class Smooth:
    """Wishes change little: weight x (a joint's velocity less what the last decision wanted of it)².

    Without it a wish that is linear in the velocities (`Rotate`) asks for the greatest acceleration one way or the
    other, and changes its mind at every decision. It is a lag of the wish, not of the joint: rows with a large weight
    hardly feel it, and it cannot swing, as keeping the accelerations would (their lag beside T makes an oscillator)."""

    weight: float = 0.4
    name: str = "smooth"

    def start(self) -> dict[str, Array]:
        return {"time": np.zeros(0)}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        before = memory["time"]
        memory["time"] = np.array([now.time])
        if len(before) and len(gathered.asked):
            beat = BEAT / max(now.time - float(before[0]), 1e-6)
            gathered.prefer(gathered.asked, self.weight * beat)


@dataclass
class Align:
    """The long axis of bones, towards the head, along a direction (3,) of the world; they may spin about it."""

    direction: Array
    weight: float = 3.0
    gain: float = 3.0  # [1/s] of the angle that is left
    fastest: float = 2.5  # [rad/s]
    push: float = 0.0  # weight of the water's moment that way, fading out
    near: float = np.radians(30.0)
    bones: tuple[str, ...] = ("T6", "Pel")
    name: str = "align"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        wanted = np.asarray(self.direction, float) / np.linalg.norm(self.direction)
        for k, bone in enumerate(self.bones):
            b = now.skeleton.index(bone)
            axis, angle = turn_between(now.poses[b], wanted)
            long, J = now.poses[b, :3, 2], now.turning(b)
            rate = min(self.gain * angle, self.fastest) * axis
            gathered.want(J - np.outer(long, long @ J), rate, self.weight)
            share = fading(angle, self.near)
            if k == 0 and self.push and share:
                gathered.push(-axis @ now.water.damped(now.centre)[:3], self.push * share)


def turn_between(pose: Array, wanted: Array) -> tuple[Array, float]:
    """Axis (3,) and angle [rad] of the least turn of a bone's long axis into `wanted` (3,); half a turn goes about the
    bone's own axis from side to side."""
    long = pose[:3, 2]
    axis = np.cross(long, wanted)
    size = float(np.linalg.norm(axis))
    angle = float(np.arctan2(size, long @ wanted))
    return (axis / size if size > 0.02 else pose[:3, 0]), angle


@dataclass
class Balance:
    """The whole body turns until a bone's long axis lies along a direction (3,) of the world, and stays so: its angular
    momentum is asked for, and the water's moment. Against a moment that does not end, such as the buoyancy of lungs in
    front of an upright body (10 N m), `Align` lets arms and legs swing until they stand at the ends of their ranges;
    what holds for longer comes from the water alone. Whoever asks for it holds his spine by another task."""

    direction: Array
    weight: float = 30.0
    gain: float = 3.0  # [1/s] of the angle that is left
    fastest: float = 1.0  # [rad/s]
    push: float = 0.02  # weight of the water's moment that way
    near: float = np.radians(10.0)  # angle below which it fades
    kept: float = 0.5  # [s] for which joints may go on one way: what the lift gains counts with what the flow gives
    lead: float = 0.6  # [s] for which the body's turning is foreseen in that angle
    lean: float = 0.0  # [rad] off the direction, to the front of the bone, wherever that is
    bone: str = "T6"
    name: str = "balance"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        pose = now.poses[now.skeleton.index(self.bone)]
        wanted = leaning(pose, self.direction, self.lean)
        axis, angle = turn_between(pose, wanted)
        rows = np.array([now.whirling(one) for one in np.eye(3)])
        across = np.eye(3) - np.outer(wanted, wanted)  # it may spin about the direction
        gathered.want(across @ rows, across @ axis * min(self.gain * angle, self.fastest), self.weight)
        left = across @ (axis * angle - self.lead * rows @ now.v)
        size = float(np.linalg.norm(left))
        if size > 1e-6:
            moment = left / size @ now.lasting_moment(self.kept)
            gathered.push(moment, self.push * min(size / self.near, 1.0))


def leaning(pose: Array, direction: Array, lean: float) -> Array:
    """A direction (3,), turned by `lean` [rad] towards the front (-y) of a bone."""
    wanted = np.asarray(direction, float) / np.linalg.norm(direction)
    front = -pose[:3, 1] + (pose[:3, 1] @ wanted) * wanted
    size = float(np.linalg.norm(front))
    return np.asarray(wanted if size < 0.02 else np.cos(lean) * wanted + np.sin(lean) * front / size)


@dataclass
class Follow:
    """Joints go along with a stroke: its velocities a time T ahead, and gain x what is missing of its pose. bones: only
    those that begin so. The stroke begins when the task is first asked."""

    motion: StrokeMotion
    weight: float = 1.0
    gain: float = 8.0  # [1/s]
    fastest: float = 8.0  # [rad/s]
    bones: tuple[str, ...] = ()
    name: str = "follow"

    def start(self) -> dict[str, Array]:
        return {"begun": np.zeros(0)}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        if not len(memory["begun"]):
            memory["begun"] = np.array([now.time])
        begun = float(memory["begun"][0])
        q, _, _ = self.motion.sample(now.time - begun)
        _, v, _ = self.motion.sample(now.time - begun + now.ahead)
        error = np.empty(len(now.v))
        tracking_error(now.skeleton.topology, now.q, q, error)
        wanted = np.clip(v + self.gain * error, -self.fastest, self.fastest)[now.joints]
        gathered.prefer(wanted, self.weight * now.of_bones(self.bones))
