"""From wanted lengths to activations: a spring and a damper on each muscle's length error (Si 2013, eq. 4.9).

    a = K_s (l - l_d) + K_d (l' - l_d'),   0 <= a <= 1,     K_s = 5 / l_0,  K_d = 0.005 s / l_0

`RhythmControl` is a `Controller`: it senses lengths and rates, steps the rhythm and writes excitations.
Commands are given at their times by a plan: [(2.0, lambda rhythm, state: rhythm.set_rate(state, 1.0)), ...].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.rhythm.generator import Rhythm, RhythmState
from vitruvian.control.rhythm.lengths import MuscleKinematics
from vitruvian.couple import BodyState
from vitruvian.errors import InputError

Array = np.ndarray
RhythmCommand = Callable[[Rhythm, RhythmState], None]
LONGEST = 1.0 / 96.0  # [s] step of the oscillators; longer control steps are cut


@dataclass(frozen=True)
class LengthGains:
    """Si 2013, section 4.3."""

    stiffness: float = 5.0  # K_s l_0
    damping: float = 0.005  # K_d l_0 [s]


@dataclass
class RhythmControlState:
    """The rhythm's state and how far the plan has come."""

    rhythm: RhythmState
    next_command: int = 0


class RhythmControl:
    """See the head of this file."""

    def __init__(
        self,
        rhythm: Rhythm,
        stroke: str,
        rate: float = 0.75,
        *,
        phase: float = 0.0,
        lengths: Array | None = None,
        plan: Sequence[tuple[float, RhythmCommand]] = (),
        gains: LengthGains | None = None,
    ):
        """lengths: wanted lengths [m] to start from, shape (n_muscles,) or one number; by default those of the
        stroke."""
        times = [t for t, _ in plan]
        if times != sorted(times):
            raise InputError(f"times of a plan must ascend, got {times}")
        self.rhythm, self.gains, self.plan = rhythm, gains or LengthGains(), tuple(plan)
        self._begin = (stroke, rate, phase, lengths)
        self._sense = MuscleKinematics(rhythm.body)
        rhythm.start(*self._begin)  # a wrong stroke or rate is told here

    def start(self, rng: np.random.Generator) -> RhythmControlState:
        return RhythmControlState(self.rhythm.start(*self._begin))

    def act(self, own: RhythmControlState, state: BodyState, time: float, dt: float) -> Controls:
        while own.next_command < len(self.plan) and self.plan[own.next_command][0] <= time + 1e-9:
            self.plan[own.next_command][1](self.rhythm, own.rhythm)
            own.next_command += 1
        length, rate, _ = self._sense(state.q, state.v, np.zeros_like(state.v))
        excitation = activation(
            length,
            rate,
            own.rhythm.length,
            self.rhythm.rates(own.rhythm),
            self.rhythm.body.muscles.rest_length,
            self.gains,
        )
        pieces = max(1, int(np.ceil(dt / LONGEST - 1e-9)))
        for _ in range(pieces):
            self.rhythm.step(own.rhythm, dt / pieces)
        return Controls(excitation=excitation)


def activation(
    length: Array, rate: Array, wanted: Array, wanted_rate: Array, rest: Array, gains: LengthGains | None = None
) -> Array:
    """Eq. 4.9 for all muscles, shape (n,); lengths [m], rates [m/s], rest lengths [m]."""
    k = gains or LengthGains()
    pull = (k.stiffness * (length - wanted) + k.damping * (rate - wanted_rate)) / rest
    return np.clip(pull, 0.0, 1.0)
