"""Tasks: what a swimmer may want, each a few rows (Si 2013, 5.2). Weights are in SI units.

`Orient`     he turns face up or face down, level, wherever he heads    `Untwist`  the pelvis turns with the chest
`Rotate`     the water's moment about that axis, flow and lift, as large as may be (5.12)
`Hold`       a pose of the joints                                       `Effort`   as little torque as may be
`Rest`       a pose to float in, once he lies as he should
`Rise`       the centre of mass at a height                             `MouthOut` lips above the water
`Reach`      a hand or foot to a point                                  `Gaze`     the face towards a point
`Travel`     the centre of mass to a point, and the water's force that way
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.tasks.gather import Gathered
from vitruvian.control.tasks.limits import Limits
from vitruvian.control.tasks.now import Now

Array = np.ndarray
UP = np.array([0.0, 0.0, 1.0])
BEGINS, LIES = np.radians(45.0), np.radians(20.0)  # off face up or down: he begins to rest, he rests
SIDE = np.radians(120.0)  # of a turn beyond which the side once chosen is kept
TRUNK = ("L", *(f"T{i}" for i in range(1, 10)))  # the spine below the neck, T10 to T12 too
STRETCHED = ("Fe", "Tfp", "L", "T", "C", "Sku")  # bones of legs, spine, and the head
LIPS = np.array([0.0, -0.10, -0.03])  # [m] in the jaw's frame, on the skin


@dataclass(frozen=True)
class Turn:
    """How far a bone is from lying as it should."""

    long: Array  # its long axis, towards the head, (3,)
    roll: float  # [rad] to turn about `long`
    across: Array  # level axis across it, (3,)
    pitch: float  # [rad] to turn about `across`


def turn_needed(pose: Array, face_up: bool) -> Turn:
    """From a bone's pose to face up or down, level."""
    long, back = pose[:3, 2], pose[:3, 1]
    wanted = -UP if face_up else UP
    level = wanted - (wanted @ long) * long
    size = np.linalg.norm(level)
    roll = 0.0
    if size > 0.05:  # an upright body has no roll
        roll = angle_about(long, back, level)
    flat = long - (long @ UP) * UP
    if np.linalg.norm(flat) < 0.05:  # he falls so that his back comes to the side that is wanted
        flat = -np.sign(long[2] * wanted[2]) * (back - (back @ UP) * UP)
    flat = flat / np.linalg.norm(flat)
    across = np.cross(flat, UP)  # a turn about it lifts the head
    return Turn(long, roll, across, -float(np.arctan2(long @ UP, long @ flat)))


def lying(now: Now, face_up: bool) -> float:
    """1 where the chest's back is less than `LIES` off straight down or up, 0 from `BEGINS` on."""
    side = -1.0 if face_up else 1.0
    off = float(np.arccos(np.clip(side * now.poses[now.skeleton.index("T6"), 2, 1], -1.0, 1.0)))
    return float(np.clip((BEGINS - off) / (BEGINS - LIES), 0.0, 1.0))


@dataclass
class Orient:
    """The whole body rolls until the chest faces up or down, and pitches until it is level; the pelvis pitches as the
    chest does; the heading is free.

    It is the whole body's angular momentum that is asked for. Asked for the turning of chest and pelvis themselves,
    arms and legs swing against them until they stand at the ends of their ranges: an arm up in the air and a leg deep
    in the water, where buoyancy holds the trunk 40° off with 10 to 20 N m."""

    face_up: bool
    weight: float = 12.0  # of the roll
    gain: float = 3.0  # [1/s] of the turn that is left
    fastest: float = 2.5  # [rad/s]
    moment: float = 100.0  # [N m] that is asked of the water beyond what it gives
    pitch_weight: float = 12.0
    straight: float = 3.0  # weight of a pelvis that pitches with the chest
    eased: float = 1.0  # share of the weights that is left once he lies
    name: str = "orient"

    def start(self) -> dict[str, Array]:
        return {"T6": np.zeros(1)}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        share = 1.0 - (1.0 - self.eased) * lying(now, self.face_up)
        chest, pelvis = now.skeleton.index("T6"), 0
        turn = turn_needed(now.poses[chest], self.face_up)
        rate = np.clip(self.gain * kept_side(turn.roll, memory), -self.fastest, self.fastest)
        gathered.want(*now.turned_soon(turn.long, rate, self.moment), self.weight * share)
        rate = np.clip(self.gain * turn.pitch, -0.5 * self.fastest, 0.5 * self.fastest)
        gathered.want(*now.turned_soon(turn.across, rate, self.moment), self.pitch_weight * share)
        bend = angle_about(turn.across, now.poses[pelvis, :3, 2], turn.long)
        rate = np.clip(self.gain * bend, -0.5 * self.fastest, 0.5 * self.fastest)
        J = now.turning(pelvis) - now.turning(chest)
        gathered.want(turn.across @ J, np.array([rate]), self.straight * share)


def angle_about(axis: Array, one: Array, other: Array) -> float:
    """[rad] to turn a direction (3,) about an axis (3,) until it lies with the other, both seen along the axis. Unlike
    a difference of heights above level, it goes on through upright."""
    a, b = one - (one @ axis) * axis, other - (other @ axis) * axis
    return float(np.arctan2(axis @ np.cross(a, b), a @ b))


def kept_side(turn: float, memory: dict[str, Array], word: str = "T6") -> float:
    """A turn of nearly half a circle keeps to the side once chosen, remembered under `word`."""
    before = float(memory[word][0])
    if abs(turn) > SIDE and abs(before) > np.radians(60.0) and turn * before < 0.0:
        turn += 2.0 * np.pi if before > 0.0 else -2.0 * np.pi
    memory[word] = np.array([turn])
    return turn


def fading(left: float, near: float) -> float:
    """Share, with the sign of what is left, of a push that fades out below `near` and ends at half of it."""
    return float(np.clip(abs(left) / near - 0.5, 0.0, 1.0) * np.sign(left))


@dataclass
class Untwist:
    """The pelvis turns as the chest does, and the twist between them dies away."""

    weight: float = 3.0
    gain: float = 3.0  # [1/s]
    name: str = "untwist"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        s = now.skeleton
        chest, pelvis = s.index("T6"), 0
        long = now.poses[chest, :3, 2]
        twist = angle_about(long, now.poses[pelvis, :3, 1], now.poses[chest, :3, 1])
        J = now.turning(pelvis) - now.turning(chest)
        gathered.want(long @ J, np.array([self.gain * twist]), self.weight)


@dataclass
class Rotate:
    """The water's moment about the axes of roll and pitch that are left, as large as may be: -w ω·τ (5.12), fading out.

    Joint velocities x kept for a time H bring the angular momentum ω·(-H D x + ½ H² K x): of the flow, which ends with
    the motion, and of the lift, which stays as long as the pose (an arm held out of the water weighs 35 N)."""

    face_up: bool
    weight: float = 0.02
    near: float = np.radians(30.0)  # of the turn, below which it fades
    kept: float = 0.5  # H [s]: as long as a limb may go on one way
    name: str = "rotate"

    def start(self) -> dict[str, Array]:
        return {"T6": np.zeros(1)}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        turn = turn_needed(now.poses[now.skeleton.index("T6")], self.face_up)
        roll, pitch = fading(kept_side(turn.roll, memory), self.near), fading(turn.pitch, self.near)
        if roll != 0.0 or pitch != 0.0:
            axis = roll * turn.long + pitch * turn.across
            gathered.push(axis @ now.lasting_moment(self.kept), self.weight)


@dataclass
class Hold:
    """A pose of the driven joints: q (n_q,); velocity gain x what is missing. bones: only those that begin so."""

    q: Array
    weight: float = 0.02
    gain: float = 1.0  # [1/s]
    fastest: float = 2.0  # [rad/s]
    bones: tuple[str, ...] = ()
    name: str = "hold"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        gathered.prefer(self.missing(now), self.weight * now.of_bones(self.bones))

    def missing(self, now: Now) -> Array:
        """Velocity [rad/s] that it would have of each driven joint, (n,)."""
        error = np.empty(len(now.v))
        tracking_error(now.skeleton.topology, now.q, self.q, error)
        return np.clip(self.gain * error[now.joints], -self.fastest, self.fastest)


@dataclass
class Rest:
    """A pose to float in, q (n_q,): wanted the more, the nearer the chest lies face up or down.

    On the way over, arms do whatever turns him, and legs are stretched, for bent ones sink. Once he lies, a pose that
    water bears keeps him there; limbs that went on working would stand at the ends of their ranges, and nothing would
    be left to keep him."""

    q: Array
    face_up: bool
    far: float = 0.02  # weight on the way over
    near: float = 2.0  # weight once he lies
    stretched: float = 0.1  # weight of legs and spine, however far
    gain: float = 2.0  # [1/s]
    name: str = "rest"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        share = lying(now, self.face_up)
        least = self.far + (self.stretched - self.far) * now.of_bones(STRETCHED)
        gathered.prefer(Hold(self.q, gain=self.gain).missing(now), least + (self.near - least) * share)


@dataclass
class Effort:
    """Little torque: weight x (inertia x change of velocity / T / strength)², and a little for every velocity."""

    limits: Limits
    weight: float = 0.01
    motion: float = 0.01
    name: str = "effort"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        inertia = np.diag(now.mass)[now.joints]
        share = self.weight * (inertia / (now.ahead * self.limits.torque)) ** 2
        gathered.prefer(now.v[now.joints], share)
        gathered.prefer(np.zeros(len(now.joints)), self.motion)


def lift_axis(now: Now) -> Array:
    """Velocity of the centre of mass per joint velocity, (3, n_v)."""
    return now.momentum[3:] / now.skeleton.mass


@dataclass
class Rise:
    """The centre of mass at a height [m]."""

    height: float
    weight: float = 10.0
    gain: float = 1.5  # [1/s]
    fastest: float = 0.5  # [m/s]
    push: float = 0.0  # weight of the water's force upward
    name: str = "rise"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        missing = now.level + self.height - now.centre[2]
        rate = np.clip(self.gain * missing, -self.fastest, self.fastest)
        gathered.want(lift_axis(now)[2], np.array([rate]), self.weight)
        if self.push:
            side = np.clip(missing / 0.1, -1.0, 1.0)
            gathered.push(-now.water.damped(now.centre)[5], self.push * side)


@dataclass
class MouthOut:
    """Lips no lower than `clear` [m] above the calm water."""

    clear: float = 0.05
    weight: float = 3.0
    gain: float = 3.0  # [1/s]
    fastest: float = 0.6  # [m/s]
    name: str = "mouth"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        jaw = now.skeleton.index("Man")
        lips = now.poses[jaw, :3, :3] @ LIPS + now.poses[jaw, :3, 3]
        rate = np.clip(self.gain * (now.level + self.clear - lips[2]), -self.fastest, self.fastest)
        gathered.want(now.moving(jaw, lips)[2], np.array([rate]), self.weight, at_least=True)


@dataclass
class Reach:
    """A point of a bone [m], in its frame, to a place [m] in the world."""

    bone: str
    point: Array
    place: Array
    weight: float = 10.0
    gain: float = 4.0  # [1/s]
    fastest: float = 1.5  # [m/s]
    name: str = "reach"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        b = now.skeleton.index(self.bone)
        here = now.poses[b, :3, :3] @ self.point + now.poses[b, :3, 3]
        rate = self.gain * (self.place - here)
        rate *= min(1.0, self.fastest / max(float(np.linalg.norm(rate)), 1e-9))
        gathered.want(now.moving(b, here), rate, self.weight)


@dataclass
class Gaze:
    """The face (-y of the skull) towards a place [m] in the world, or along a direction."""

    direction: Array
    weight: float = 0.5
    gain: float = 3.0  # [1/s]
    fastest: float = 1.5  # [rad/s]
    name: str = "gaze"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        b = now.skeleton.index("Sku")
        face = -now.poses[b, :3, 1]
        axis = np.cross(face, self.direction / np.linalg.norm(self.direction))
        rate = self.gain * axis
        rate *= min(1.0, self.fastest / max(float(np.linalg.norm(rate)), 1e-9))
        J = now.turning(b)
        gathered.want(J - np.outer(face, face @ J), rate, self.weight)
