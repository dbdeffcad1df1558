"""A swimmer's muscles: rhythm -> wanted lengths -> activations (Si 2013, sections 4.2 and 4.3).

Where the lengths come from: "cpg", oscillators that can be steered, or "spline", closed curves.
How they become activations:

    "balanced"  what all lengths together ask of limbs, spine and head, given by all muscles together (`rhythm.balance`)
    "length"    eq. 4.9 for every muscle alone, as Si has it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.controls import Beat, Controls, Effort
from vitruvian.control.rhythm import (
    LengthGains,
    MuscleKinematics,
    Rhythm,
    Stroke,
    StrokeMotion,
    activation,
    load_stroke,
)
from vitruvian.control.rhythm.balance import BalanceGains, BodyBalance
from vitruvian.control.rhythm.control import LONGEST
from vitruvian.control.rhythm.decode import LengthReader
from vitruvian.control.senses import Felt, Sensed
from vitruvian.control.swim.jump import Jump
from vitruvian.control.swim.pilot import Command, Pilot, PilotState, checked_plan, give_commands
from vitruvian.control.swim.splines import SplineRhythm
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
CONTROLS = ("cpg", "spline")
FEEDBACK = ("balanced", "length")
TURN = 2.0 * np.pi


@dataclass
class MuscleOwn:
    """What the actuation remembers."""

    rhythm: Any  # RhythmState or SplineState
    felt: Felt  # the water's push on each bone, shape (n_bones, 6)
    pose: Array  # that the lengths were last found to mean, shape (n_q,)
    pilot: PilotState | None = None
    next_command: int = 0
    jump: Jump = field(default_factory=Jump)


@dataclass(frozen=True)
class MuscleSettings:
    """Numbers of the actuation."""

    length: LengthGains = field(default_factory=LengthGains)  # eq. 4.9
    balance: BalanceGains = field(default_factory=BalanceGains)
    water_lag: float | None = 0.0  # [s] with which the water is felt; None: not at all


class MuscleActuation:
    """A `Controller`: see the head of this file."""

    def __init__(
        self,
        body: Body,
        stroke: str | Stroke = "crawl",
        rate: float = 0.75,
        *,
        phase: float = 0.0,
        control: str = "cpg",
        feedback: str = "balanced",
        settings: MuscleSettings | None = None,
        strokes: Sequence[str | Stroke] = (),
        rhythm: Rhythm | SplineRhythm | None = None,
        pilot: Pilot | None = None,
        plan: Sequence[tuple[float, Command]] = (),
    ):
        """strokes: further ones to learn, for switches. rhythm: one that has learned already. plan: commands at their
        times [s], see `pilot`."""
        if control not in CONTROLS:
            raise unknown_name("control", control, CONTROLS)
        if feedback not in FEEDBACK:
            raise unknown_name("feedback", feedback, FEEDBACK)
        if control == "spline" and strokes:
            raise InputError("control=spline knows one stroke; use control=cpg to switch strokes")
        self.body, self.feedback, self.settings = body, feedback, settings or MuscleSettings()
        stroke = load_stroke(stroke) if isinstance(stroke, str) else stroke
        if rhythm is None:
            rhythm = SplineRhythm(body, stroke) if control == "spline" else Rhythm.learn(body, [stroke, *strokes])
        self.rhythm, self.pilot, self.plan = rhythm, pilot, checked_plan(plan)
        self._begin = (stroke.name, rate, phase)
        self._kinematics = MuscleKinematics(body)
        self._still = np.zeros(body.skeleton.n_v)
        self.balance = BodyBalance(body, self.settings.balance) if feedback == "balanced" else None
        self._reader = LengthReader(body)
        self._pose = StrokeMotion(body, stroke).at(phase)[0]
        rhythm.start(*self._begin)  # a wrong stroke or rate is told here

    def start(self, rng: np.random.Generator) -> MuscleOwn:
        felt = Felt(np.zeros((self.body.n_bones, 6)))
        pilot = self.pilot.start() if self.pilot else None
        return MuscleOwn(self.rhythm.start(*self._begin), felt, self._pose.copy(), pilot)

    def act(self, own: MuscleOwn, state: Sensed, time: float, dt: float) -> Controls:
        now, wave = state, own.rhythm
        before = wave.length.copy(), self.rhythm.rates(wave)
        give_commands(self, own, time)
        if self.pilot is not None and own.pilot is not None:
            self.pilot.lengths(self.rhythm, own.rhythm, own.pilot, now, time, dt)
        own.jump.see(before, (wave.length, self.rhythm.rates(wave)))
        beat = Beat(time, float(wave.phase[0]) / TURN, float(wave.frequency[0]) / TURN, own.jump.largest.copy())
        wrench = own.felt.feel(now.wrench, self.settings.water_lag, dt)
        excitation, missing, at = self._excite(own, now, wrench, dt)
        pieces = max(1, int(np.ceil(dt / LONGEST - 1e-9)))
        for _ in range(pieces):
            self.rhythm.step(own.rhythm, dt / pieces)
        return Controls(excitation=excitation, effort=Effort(missing, at), beat=beat)

    def _excite(self, own: MuscleOwn, now: Any, wrench: Array, dt: float) -> tuple[Array, float, int]:
        """Excitations (n_muscles,), the largest torque that is lacking [N m], and its coordinate."""
        wanted, rates = own.rhythm.length, self.rhythm.rates(own.rhythm)
        if self.balance is None:
            length, rate, _ = self._kinematics(now.q, now.v, self._still)
            rest = self.body.muscles.rest_length
            return activation(length, rate, wanted, rates, rest, self.settings.length), 0.0, -1
        k, rows = self.balance.gains, self.balance.rows
        meant = self._reader.read(own.pose, wanted, rates, self.rhythm.accelerations(own.rhythm))
        own.pose = meant.q
        error = np.empty_like(now.v)
        tracking_error(self.body.skeleton.topology, now.q, meant.q, error)
        a_star = meant.a + k.stiffness * error + k.damping * (meant.v - now.v)
        a, lack = self.balance.activations(now.q, now.v, now.activation, a_star[rows], dt, load=now.load, wrench=wrench)
        worst = int(np.argmax(np.abs(lack)))
        return a, float(np.abs(lack[worst])), int(rows[worst])
