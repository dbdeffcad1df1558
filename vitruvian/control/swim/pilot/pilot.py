"""The pilot: feels the course (`control.senses`), answers (`reflexes`), and changes rhythm or posture accordingly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import Rhythm, StrokeMotion, load_stroke
from vitruvian.control.senses import FeltCourse, Senses
from vitruvian.control.senses.course import empty_trail, wrapped
from vitruvian.control.swim.pilot.arms import ARMS, SLIDE, StraightArm
from vitruvian.control.swim.pilot.follow import Pool, SwimTarget, heading_to
from vitruvian.control.swim.pilot.posture import POSTURE_PARTS, Postures
from vitruvian.control.swim.pilot.reflexes import Reflexes, arch_for, arms_for, bank_wanted, pace_for
from vitruvian.errors import unknown_name

Array = np.ndarray
SLOWEST = 0.2  # [1/s] stroke rate below which means are taken as at it


@dataclass
class PilotState:
    """What the pilot remembers."""

    wanted_heading: float = 0.0  # [rad]
    wanted_height: float = np.nan  # [m] of the chest, nan: any
    wanted_speed: float = np.nan  # [m/s], nan: any
    trail: Array = field(default_factory=empty_trail)
    drift: float = 0.0  # bank that has built up against a steady error [rad]
    bank: float = 0.0  # wanted [rad]
    holding: str = ""  # the arm held in a sharp turn
    held: Array = field(default_factory=lambda: np.zeros(2))  # how far torques hold left and right arm, 0..1
    amount: Array = field(default_factory=lambda: np.zeros(len(POSTURE_PARTS)))  # of each posture [rad]


class Pilot:
    """Steers a swimmer."""

    def __init__(
        self,
        body: Body,
        stroke: str = "crawl",
        *,
        heading: float = 0.0,
        depth: float | None = None,
        speed: float | None = None,
        target: SwimTarget | None = None,
        pool: Pool | None = None,
        reflexes: Reflexes | None = None,
        sharp_turns: bool = False,
        arm: str = "ahead",
    ):
        """heading [rad] from -y, positive to the left; depth [m] of the chest (T6) below the surface at z = 0; speed
        [m/s] to keep by the stroke rate; target: a place to follow, within `pool`. sharp_turns: with a straight arm,
        held as `arm` says."""
        if arm not in ARMS:
            raise unknown_name("arm", arm, ARMS)
        self.body, self.reflexes, self.pool = body, reflexes or Reflexes(), pool or Pool()
        self.heading, self.depth, self.speed, self.target = heading, depth, speed, target
        if target is not None:
            self.pool.check(target(0.0))
        motion = StrokeMotion(body, load_stroke(stroke))
        self.stroke = motion.stroke.name
        self._known = {self.stroke: (Senses(body, motion), Postures(body, motion), motion.stroke.posture == "supine")}
        self.arm = StraightArm(body, motion, arm) if sharp_turns else None

    def start(self) -> PilotState:
        return PilotState(
            wanted_heading=self.heading,
            wanted_height=np.nan if self.depth is None else -self.depth,
            wanted_speed=np.nan if self.speed is None else self.speed,
        )

    def of(self, stroke: str) -> tuple[Senses, Postures, bool]:
        """Senses and postures in a stroke, and whether it lies on its back; learned when first asked for."""
        if stroke not in self._known:
            motion = StrokeMotion(self.body, load_stroke(stroke))
            supine = motion.stroke.posture == "supine"
            self._known[stroke] = Senses(self.body, motion), Postures(self.body, motion), supine
        return self._known[stroke]

    def feel(
        self, own: PilotState, now: Any, time: float, dt: float, clock: tuple[float, float], stroke: str = ""
    ) -> FeltCourse:
        """Bring `own` up to date from the pose now.q; clock: phase (0..1) and rate [1/s] of the stroke."""
        g, (phase, rate) = self.reflexes, clock
        senses, _, supine = self.of(stroke or self.stroke)
        course, own.trail = senses.feel(own.trail, now.q, time, 1.0 / max(rate, SLOWEST), phase)
        if self.target is not None:
            own.wanted_heading = heading_to(self.pool.check(self.target(time)), course.place)
        own.bank, own.drift = bank_wanted(g, course, own.wanted_heading, own.drift, dt)
        arms = arms_for(g, course, own.bank)
        bend = (g.sharp_bend if own.holding else g.bend) * own.bank
        arch = arch_for(g, course, own.wanted_height)
        inner = float(own.holding == "left arm") - float(own.holding == "right arm")  # 1: the left one
        side = -1.0 if supine else 1.0
        amount = [bend, 0.0, arch, arms * (inner <= 0.0), arms * (inner >= 0.0)]
        own.amount = min(1.0, 3.0 * course.known) * side * np.array(amount)  # fades in over half a stroke
        return course

    def lengths(self, rhythm: Any, wave: Any, own: PilotState, now: Any, time: float, dt: float) -> None:
        """Steer a rhythm: shift its baselines, hold and release arms, change its rate."""
        turn = 2.0 * np.pi
        phase, rate = float(wave.phase[0] / turn) % 1.0, float(wave.frequency[0] / turn)
        stroke = rhythm.names[wave.stroke[0]] if isinstance(rhythm, Rhythm) else self.stroke
        course = self.feel(own, now, time, dt, (phase, rate), stroke)
        wave.offset[:] = self.of(stroke)[1].lengthened(own.amount, phase)
        if np.isfinite(own.wanted_speed) and course.known > 1.0 - 1e-6:
            asked = float(wave.wanted_frequency[0] / turn)
            wave.wanted_frequency[:] = turn * pace_for(self.reflexes, course, own.wanted_speed, asked, dt)
        if self.arm is not None and isinstance(rhythm, Rhythm):
            before, own.holding = own.holding, self._choose(own, course, phase)
            self.arm.hold(rhythm, wave, before, own.holding)

    def joints(
        self,
        own: PilotState,
        now: Any,
        time: float,
        dt: float,
        clock: tuple[float, float],
        asked: tuple[Array, ...],
    ) -> None:
        """Steer torques; clock: phase (0..1) and rate [1/s]; asked: error [rad], velocity and acceleration of each
        joint, shape (n_v,) each, changed in place."""
        course = self.feel(own, now, time, dt, clock)
        error, v, a = asked
        error += self.of(self.stroke)[1].turned(own.amount, clock[0])
        if self.arm is not None:
            own.holding = self._choose(own, course, clock[0])
            wanted = np.array([own.holding == "left arm", own.holding == "right arm"], dtype=float)
            own.held = own.held + (1.0 - np.exp(-dt / SLIDE)) * (wanted - own.held)
            self.arm.blend(own.held, now.q, error, v, a)

    def _choose(self, own: PilotState, course: FeltCourse, phase: float) -> str:
        assert self.arm is not None
        off = wrapped(own.wanted_heading - course.heading)
        return self.arm.choose(own.holding, off, course.roll, phase, self.reflexes)
