"""What steers a swimmer: reflexes for heading, depth and roll on top of the rhythm, and commands at their times.

No stroke swims straight by itself: the crawl's heading is only weakly stable. The pilot feels where the trunk points,
how deep the chest lies and how far it rolls, and answers by bending, twisting and arching spine and neck:
    turn  = k_h off + k_i integral(off) - k_r mean(turning),  -1..1,      off = mean(heading* - heading)
    bend  = its share of the turn + k_t mean(roll*(phase) - roll) where a bend rolls the swimmer
    twist = its share of the turn,      arch = k_z mean(z* - z) - k_d mean(z') - k_p mean(pitch)
All are means over a stroke or so: within it everything sways.
Which way a bent spine turns the swimmer depends on the stroke. On the breast with both arms alike it steers as a bow
does. In crawl and backstroke it shifts the roll, one arm then pulls deeper than the other, and the swimmer turns to the
outer side, all the more with the chest twisted along: `STEERING` has the signs, found by trial in still water.
Oscillators get it as a shift of their baselines g, by what the posture changes each muscle's length (Si 2013, section
6.2, moves g of the sides of neck and trunk, with sizes left open); torques get it as another posture to hold. With
`sharp_turns` a heading far off makes the pilot hold the arm on the inner side straight, as Si does for his right angle,
and release it when the turn is nearly done: ahead, or with `arm="aside"` stretched out to the side, where it brakes
that side (the spine is then left straight: with one arm alone a bend rolls him the wrong way). A speed to keep changes
the stroke rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.rhythm import GROUPS, MuscleKinematics, Rhythm, StrokeMotion, load_stroke
from vitruvian.errors import InputError, unknown_name
from vitruvian.skeleton import bone_poses, integrate

Array = np.ndarray
Command = Callable[[Any, Any], None]  # of (actuation, own)
Target = Callable[[float], Sequence[float]]  # place [m] (x, y) at a time [s]
POSTURES = ("bend", "twist", "arch")  # to the left; chest to the left against the pelvis; backwards
_AXIS = {"bend": (1, 1.0), "twist": (2, 1.0), "arch": (0, -1.0)}
SPINE = (*(f"L{i}" for i in range(5, 0, -1)), *(f"T{i}" for i in range(12, 0, -1)))
STEERING = {"crawl": (-1.0, -1.0), "backstroke": (-1.0, -1.0)}  # bend and twist per turn to the left; else (1, 0)
ROLLED = ("crawl", "backstroke", "butterfly")  # arms out of the water: a bend to the left rolls the right side down
ARM = ("Cla", "Hu", "Ul", "Rad", "Ha")
ARMS = ("ahead", "aside")  # where a straight arm is held
SLIDE = 0.15  # [s] in which torques take an arm out of its stroke
NECK = (*(f"C{i}" for i in range(7, 0, -1)), "Sku")


@dataclass(frozen=True)
class Pool:
    """Where a target may be [m]."""

    low: tuple[float, float] = (-25.0, -25.0)
    high: tuple[float, float] = (25.0, 25.0)

    def check(self, place: Sequence[float], what: str = "the target") -> Array:
        x = np.asarray(place, dtype=float)[:2]
        if not (np.isfinite(x).all() and (x >= self.low).all() and (x <= self.high).all()):
            raise InputError(
                f"{what} at ({x[0]:g}, {x[1]:g}) m lies outside the pool, which reaches from "
                f"({self.low[0]:g}, {self.low[1]:g}) to ({self.high[0]:g}, {self.high[1]:g}) m"
            )
        return x


@dataclass(frozen=True)
class Reflexes:
    """Gains and bounds of the pilot."""

    heading: float = 1.5  # k_h [1/rad]
    drift: float = 0.2  # k_i [1/rad/s]: against what stays off, up to half a turn
    turning: float = 1.0  # k_r [s/rad]
    depth: float = 1.0  # k_z [rad/m]
    sinking: float = 0.5  # [rad s/m] on the vertical speed
    pitch: float = 2.0  # k_p [rad/rad]
    level: float = 0.05  # [rad] head up, the pitch to keep
    roll: float = 0.5  # k_t [rad/rad]
    share: tuple[float, float] = (0.4, 0.3)  # [rad] bend and twist of a full turn, held against the roll by k_t
    largest: tuple[float, float, float] = (0.5, 0.3, 0.6)  # [rad] bend, twist, arch
    sharp: float = 0.6  # [rad] heading error from which the inner arm is held
    done: float = 0.25  # [rad] at which it is released
    speed: float = 0.5  # stroke rate per speed missing [1/s per m/s], each second
    memory: float = 1.0  # [s] of the means


@dataclass
class PilotState:
    """What the pilot remembers."""

    heading: float = 0.0  # mean [rad]
    turning: float = 0.0  # [rad/s]
    drift: float = 0.0  # turn that has built up against a steady error
    roll: float = 0.0  # mean of roll* - roll [rad]
    height: float = 0.0  # of the chest [m]
    rising: float = 0.0  # [m/s]
    pitch: float = 0.0  # [rad]
    speed: float = 0.0  # [m/s]
    wanted_heading: float = 0.0  # [rad]
    wanted_depth: float = np.nan  # [m] of the chest, nan: none
    wanted_speed: float = np.nan  # [m/s], nan: none
    last: Array = field(default_factory=lambda: np.zeros(4))  # heading, height, x, y of the last step
    holding: str = ""  # the arm held in a sharp turn
    held: Array = field(default_factory=lambda: np.zeros(2))  # how far left and right arm are held by torques, 0..1
    amount: Array = field(default_factory=lambda: np.zeros(3))  # of each posture [rad]
    fresh: bool = True


class Pilot:
    """See the head of this file."""

    def __init__(
        self,
        body: Body,
        stroke: str = "crawl",
        *,
        heading: float = 0.0,
        depth: float | None = None,
        speed: float | None = None,
        target: Target | None = None,
        pool: Pool | None = None,
        reflexes: Reflexes | None = None,
        sharp_turns: bool = False,
        arm: str = "ahead",
        reach: float = 0.12,
    ):
        """heading [rad] from -y, positive to the left; depth [m] of the chest (T6) below the surface at z = 0; target:
        a place to follow, within `pool`. reach: phase of the stroke at which the left arm lies straight ahead."""
        self.body, self.reflexes, self.pool = body, reflexes or Reflexes(), pool or Pool()
        self.heading, self.depth, self.speed, self.target = heading, depth, speed, target
        if arm not in ARMS:
            raise unknown_name("arm", arm, ARMS)
        self.sharp_turns, self.arm, self.reach, self.stroke = sharp_turns, arm, reach, stroke
        if target is not None:
            self.pool.check(target(0.0))
        self.postures = _postures(body)
        motion = StrokeMotion(body, load_stroke(stroke))
        self.supine = motion.stroke.posture == "supine"
        self._shifts = _length_shifts(body, motion, self.postures)
        s = body.skeleton
        self._arms = [np.concatenate([np.r_[s.v_slice(b + side)] for b in ARM]) for side in ("_l", "_r")]
        self._aside = _lengths_aside(body, motion, ARM)
        self._chest, self._shoulders = s.index("T6"), s.index("T1")
        self._roll = [_roll_wanted(motion, x) for x in np.arange(48) / 48]

    def start(self) -> PilotState:
        return PilotState(
            wanted_heading=self.heading,
            wanted_depth=np.nan if self.depth is None else -self.depth,
            wanted_speed=np.nan if self.speed is None else self.speed,
        )

    def feel(self, own: PilotState, now: Any, time: float, dt: float, phase: float) -> Array:
        """Amounts of `POSTURES` [rad], shape (3,), from what is felt; phase 0..1."""
        s, g = self.body.skeleton, self.reflexes
        poses = bone_poses(s, now.q)
        pelvis, chest = poses[0], poses[self._chest]
        ahead = poses[self._shoulders, :3, 3] - pelvis[:3, 3]
        heading = float(np.arctan2(ahead[0], -ahead[1]))
        pitch = float(np.arctan2(ahead[2], np.hypot(ahead[0], ahead[1])))
        here = np.array([heading, chest[2, 3], pelvis[0, 3], pelvis[1, 3]])
        if own.fresh:
            own.heading, own.height, own.pitch, own.fresh = heading, here[1], pitch, False
            own.last = here
        step = here - own.last
        step[0] = _wrapped(step[0])
        share = 1.0 - np.exp(-dt / g.memory)
        own.heading += share * _wrapped(heading - own.heading)
        own.turning += share * (step[0] / dt - own.turning)
        own.height += share * (here[1] - own.height)
        own.rising += share * (step[1] / dt - own.rising)
        own.pitch += share * (pitch - own.pitch)
        own.speed += share * (float(np.hypot(step[2], step[3])) / dt - own.speed)
        own.last = here
        if self.target is not None:
            place = self.pool.check(self.target(time))
            way = place - here[2:]
            own.wanted_heading = float(np.arctan2(way[0], -way[1]))
        off = _wrapped(own.wanted_heading - own.heading)
        side, along = STEERING.get(self.stroke, (1.0, 0.0))
        if abs(off) < g.sharp:  # a turn asked for is no drift
            own.drift = float(np.clip(own.drift + g.drift * off * dt, -0.5, 0.5))
        braking = self.sharp_turns and self.arm == "aside"
        turn = float(np.clip(g.heading * off + own.drift - g.turning * own.turning, -1.0, 1.0))
        arch = g.pitch * (g.level - own.pitch)
        if np.isfinite(own.wanted_depth):
            arch += g.depth * (own.wanted_depth - own.height) - g.sinking * own.rising
        roll = float(np.arcsin(np.clip(-pelvis[2, 0], -1.0, 1.0)))
        own.roll += share * (self._roll[int(phase * 48) % 48] - roll - own.roll)
        if braking and own.holding:
            side = along = 0.0
        bend = side * g.share[0] * turn + (-g.roll * own.roll if self.stroke in ROLLED else 0.0)
        twist = along * g.share[1] * turn
        most = np.array(g.largest)
        own.amount = np.clip(np.array([bend, twist, -arch if self.supine else arch]), -most, most)
        return own.amount

    def lengths(self, rhythm: Any, wave: Any, own: PilotState, now: Any, time: float, dt: float) -> None:
        """Steer a rhythm: shift its baselines, hold and release arms, change its rate."""
        phase = float(wave.phase[0] / (2.0 * np.pi)) % 1.0
        amount = self.feel(own, now, time, dt, phase)
        wave.offset[:] = np.einsum("k,km->m", amount, self._shifts)
        if np.isfinite(own.wanted_speed):
            change = self.reflexes.speed * (own.wanted_speed - own.speed) * dt / (2.0 * np.pi)
            wave.wanted_frequency[:] = np.clip(
                wave.wanted_frequency + (2.0 * np.pi) ** 2 * change, 0.3 * 2.0 * np.pi, 1.6 * 2.0 * np.pi
            )
        if self.sharp_turns and isinstance(rhythm, Rhythm):
            self._turn_sharply(rhythm, wave, own)

    def posture(self, own: PilotState, now: Any, time: float, dt: float, phase: float) -> Array:
        """Turn of each joint to add to the stroke [rad], shape (n_v,): for torques."""
        return np.einsum("k,kv->v", self.feel(own, now, time, dt, phase), self.postures)

    def hold_arm(
        self, own: PilotState, motion: StrokeMotion, now: Any, error: Array, v: Array, a: Array, dt: float
    ) -> None:
        """Torques' share of a sharp turn: the inner arm goes over from the stroke to a straight one.

        error, v, a: what the joints are asked for, shape (n_v,); changed in place on the rows of the arms."""
        if not self.sharp_turns:
            return
        self._choose_arm(own)
        share = 1.0 - np.exp(-dt / SLIDE)
        for k, side in enumerate(("left", "right")):
            own.held[k] += share * (float(own.holding == f"{side} arm") - own.held[k])
            if own.held[k] < 1e-3:
                continue
            rows, w, other = self._arms[k], own.held[k], np.empty_like(error)
            lag = _lag(self.stroke) if side == "right" else 0.0
            ahead = motion.at(self.reach + lag)[0]
            straight = self.body.skeleton.neutral_q() if self.arm == "aside" else ahead
            tracking_error(self.body.skeleton.topology, now.q, straight, other)
            error[rows] += w * (other - error)[rows]
            v[rows] *= 1.0 - w
            a[rows] *= 1.0 - w

    def _choose_arm(self, own: PilotState) -> None:
        """The arm to hold: the inner one while the heading is far off, then none."""
        off = _wrapped(own.wanted_heading - own.heading)
        if not own.holding and abs(off) > self.reflexes.sharp:
            own.holding = "left arm" if (off > 0) != self.supine else "right arm"
        elif own.holding and abs(off) < self.reflexes.done:
            own.holding = ""

    def _turn_sharply(self, rhythm: Rhythm, wave: Any, own: PilotState) -> None:
        before = own.holding
        self._choose_arm(own)
        if own.holding and not before:
            phase = self.reach if own.holding == "left arm" else self.reach + _lag(self.stroke)
            ahead = rhythm.cycle(self.stroke, phase)[0]
            rhythm.hold(wave, [own.holding], self._aside if self.arm == "aside" else ahead)
        elif before and not own.holding:
            rhythm.release(wave, [before])


# --- commands ------------------------------------------------------------------------------------------------------


def rate(cycles: float, groups: Sequence[str] = GROUPS) -> Command:
    """Stroke rate [1/s], slid to."""
    return lambda act, own: act.rhythm.set_rate(own.rhythm, cycles, groups)


def stroke(name: str) -> Command:
    """Another stroke, learned beforehand."""
    return lambda act, own: act.rhythm.set_stroke(own.rhythm, name)


def heading(angle: float) -> Command:
    """Another heading [rad], positive to the left."""

    def give(act: Any, own: Any) -> None:
        if own.pilot is None:
            raise InputError("a heading needs a pilot")
        own.pilot.wanted_heading = float(angle)

    return give


def hold(groups: Sequence[str], at: tuple[str, float] | None = None) -> Command:
    """Hold muscle groups as they are, or as at (stroke, phase)."""

    def give(act: Any, own: Any) -> None:
        act.rhythm.hold(own.rhythm, groups, None if at is None else act.rhythm.cycle(*at)[0])

    return give


def release(groups: Sequence[str] = GROUPS) -> Command:
    """Let held groups swim again."""
    return lambda act, own: act.rhythm.release(own.rhythm, groups)


def checked_plan(plan: Sequence[tuple[float, Command]]) -> tuple[tuple[float, Command], ...]:
    times = [t for t, _ in plan]
    if times != sorted(times):
        raise InputError(f"times of a plan must ascend, got {times}")
    return tuple(plan)


def give_commands(act: Any, own: Any, time: float) -> None:
    """All commands of the plan that are due."""
    while own.next_command < len(act.plan) and act.plan[own.next_command][0] <= time + 1e-9:
        act.plan[own.next_command][1](act, own)
        own.next_command += 1


# --- geometry ------------------------------------------------------------------------------------------------------


def _postures(body: Body) -> Array:
    """Joint turns (n_v,) per radian of each posture, shape (3, n_v), shared by the levels' ranges; half of the arch is
    the neck's, which else looks straight ahead."""
    s = body.skeleton
    out = np.zeros((len(POSTURES), s.n_v))
    for k, name in enumerate(POSTURES):
        axis, sign = _AXIS[name]
        for bones in (SPINE, NECK) if name == "arch" else (SPINE,):
            rows = np.array([s.v_slice(b).start + axis for b in bones])
            span = s.forces.high[rows] - s.forces.low[rows]
            out[k, rows] = sign * (0.5 if name == "arch" else 1.0) * span / span.sum()
    return out


def _length_shifts(body: Body, motion: StrokeMotion, postures: Array, poses: int = 12, by: float = 0.05) -> Array:
    """Change of every muscle's length [m] per radian of each posture, mean over the stroke, shape (3, n_muscles)."""
    measure = MuscleKinematics(body)
    still = np.zeros(body.skeleton.n_v)
    out = np.zeros((len(postures), body.muscles.n_muscles))
    for x in np.arange(poses) / poses:
        q = motion.at(x)[0]
        for k, turn in enumerate(postures):
            plus, minus = (
                measure(integrate(body.skeleton, q, sign * by * turn, 1.0), still, still)[0] for sign in (1, -1)
            )
            out[k] += (plus - minus) / (2.0 * by * poses)
    return out


def _lengths_aside(body: Body, motion: StrokeMotion, bones: Sequence[str]) -> Array:
    """Every muscle's length [m] with both arms straight out to the sides, shape (n_muscles,)."""
    s, still = body.skeleton, np.zeros(body.skeleton.n_v)
    q, neutral = motion.at(0.0)[0].copy(), body.skeleton.neutral_q()
    for bone in (b + side for b in bones for side in ("_l", "_r")):
        q[s.q_slice(bone)] = neutral[s.q_slice(bone)]
    return MuscleKinematics(body)(q, still, still)[0].copy()


def _roll_wanted(motion: StrokeMotion, phase: float) -> float:
    """How far the stroke means the pelvis to roll, left side down positive [rad]."""
    R = bone_poses(motion.body.skeleton, motion.at(phase)[0])[0]
    return float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))


def _lag(stroke: str) -> float:
    """Half a cycle for strokes whose arms alternate, none for the others."""
    return 0.5 if stroke in ("crawl", "backstroke") else 0.0


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
