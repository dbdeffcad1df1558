"""The central pattern generator of a whole body: 846 oscillators in ten groups, and what a swimmer can ask of them.

`Rhythm` holds what never changes (learned strokes, groups, constants), `RhythmState` what does, as arrays. Commands
change the state's few parameters; lengths and their rates stay continuous through every one of them, because y and z
are never touched and the frequency only slides (Si 2013, sections 4.4 and 6.2):

    set_rate      cycles a second of all groups, or of some
    set_stroke    other weights w, amplitudes r and baselines g
    set_turn      g of the sides of trunk and neck moves apart, r of trunk and neck falls
    hold          r = 0 and g = given lengths, or those of the moment, for some groups while the rest goes on
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm.groups import AXIAL, GROUPS, LEFT, RIGHT, muscle_groups
from vitruvian.control.rhythm.learning import Learning, Pattern, learn_pattern
from vitruvian.control.rhythm.lengths import length_cycle
from vitruvian.control.rhythm.motion import StrokeMotion
from vitruvian.control.rhythm.oscillator import Oscillator, advance
from vitruvian.control.rhythm.stroke import Stroke, load_stroke, stroke_names
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
TURN_SHIFT = 0.05  # of the rest length, by which a full turn shortens one side and lengthens the other
TURN_FADE = 0.5  # of the amplitude of trunk and neck, lost in a full turn


@dataclass
class RhythmState:
    """What the generator remembers; ten groups, n muscles."""

    length: Array  # y, wanted length [m], shape (n,)
    z: Array  # dy/dphase [m/rad], shape (n,)
    phase: Array  # P [rad], counted up, shape (10,)
    frequency: Array  # W [rad/s], shape (10,)
    wanted_frequency: Array  # [rad/s], shape (10,)
    stroke: Array  # index of the learned stroke, shape (10,)
    gain: Array  # factor on the amplitude r, shape (10,)
    shift: Array  # of the baseline g, in rest lengths, shape (10,)
    held: Array  # bool, shape (10,)
    held_length: Array  # [m], shape (n,)
    offset: Array  # of the baseline g [m], shape (n,): what a reflex adds


@dataclass(frozen=True)
class Rhythm:
    """A body's learned strokes."""

    body: Body
    oscillator: Oscillator
    names: tuple[str, ...]  # of the strokes
    groups: Array  # of each muscle, index into GROUPS, shape (n,)
    weights: Array  # w, shape (n_strokes, n, N)
    amplitude: Array  # r [m], shape (n_strokes, n)
    baseline: Array  # g [m], shape (n_strokes, n)

    @classmethod
    def learn(
        cls,
        body: Body,
        strokes: Sequence[str | Stroke] | None = None,
        *,
        oscillator: Oscillator | None = None,
        how: Learning | None = None,
        samples: int = 192,
    ) -> Rhythm:
        """Teach a body strokes, by name or as loaded; all those of the package by default."""
        oscillator = oscillator or Oscillator()
        loaded = [load_stroke(s) if isinstance(s, str) else s for s in (strokes or stroke_names())]
        cycles = [length_cycle(StrokeMotion(body, s), samples) for s in loaded]
        return cls.of(body, [learn_pattern(s.name, c, oscillator, how) for s, c in zip(loaded, cycles)], oscillator)

    @classmethod
    def of(cls, body: Body, patterns: Sequence[Pattern], oscillator: Oscillator) -> Rhythm:
        """From patterns learned with `oscillator`."""
        if len({p.name for p in patterns}) != len(patterns) or not patterns:
            raise InputError(f"a rhythm needs strokes of different names, got {[p.name for p in patterns]}")
        return cls(
            body,
            oscillator,
            tuple(p.name for p in patterns),
            muscle_groups(body),
            np.stack([p.weights for p in patterns]),
            np.stack([p.amplitude for p in patterns]),
            np.stack([p.baseline for p in patterns]),
        )

    # --- running ---------------------------------------------------------------------------------------------------

    def start(self, stroke: str, rate: float, phase: float = 0.0, lengths: Array | None = None) -> RhythmState:
        """In the midst of a stroke at `phase` (0..1) and `rate` [1/s]; or with all wanted lengths [m] at `lengths`."""
        k, n = len(GROUPS), len(self.groups)
        W = np.full(k, self._frequency(rate))
        state = RhythmState(
            length=np.zeros(n),
            z=np.zeros(n),
            phase=np.full(k, 2.0 * np.pi * phase),
            frequency=W,
            wanted_frequency=W.copy(),
            stroke=np.full(k, self._stroke(stroke), dtype=np.int64),
            gain=np.ones(k),
            shift=np.zeros(k),
            held=np.zeros(k, dtype=bool),
            held_length=np.zeros(n),
            offset=np.zeros(n),
        )
        if lengths is None:
            state.length, state.z = self.cycle(stroke, phase)
        else:
            state.length[:] = lengths
        return state

    def step(self, state: RhythmState, dt: float) -> None:
        """Advance the wanted lengths by dt [s]."""
        o = self.oscillator
        times = np.array([0.0, 0.5 * dt, dt])[:, None]
        fade = np.exp(-times / o.settling)
        gap = state.frequency - state.wanted_frequency
        frequency = state.wanted_frequency + gap * fade
        phase = state.phase + state.wanted_frequency * times + gap * o.settling * (1.0 - fade)
        r, g = self.drive(state)
        which = state.stroke[self.groups]
        advance(
            o.alpha,
            o.beta,
            o.mixture(phase),
            frequency,
            self.groups,
            which,
            self.weights,
            r,
            g,
            float(dt),
            state.length,
            state.z,
        )
        state.frequency, state.phase = frequency[2].copy(), phase[2].copy()

    def rates(self, state: RhythmState) -> Array:
        """Rates of the wanted lengths, W z [m/s], shape (n,)."""
        return state.frequency[self.groups] * state.z

    def accelerations(self, state: RhythmState) -> Array:
        """Second derivatives of the wanted lengths [m/s^2], shape (n,)."""
        o, W = self.oscillator, state.frequency[self.groups]
        r, g = self.drive(state)
        mix = o.mixture(state.phase)[self.groups]
        push = np.einsum("mi,mi->m", mix, self.weights[state.stroke[self.groups], np.arange(len(self.groups))])
        slide = ((state.wanted_frequency - state.frequency) / o.settling)[self.groups]
        return W**2 * (o.alpha * (o.beta * (g - state.length) - state.z) + r * push) + slide * state.z

    def drive(self, state: RhythmState) -> tuple[Array, Array]:
        """Amplitudes r and baselines g [m] of all muscles as commanded, shape (n,) each."""
        group, every = self.groups, np.arange(len(self.groups))
        which, held = state.stroke[group], state.held[group]
        rest = self.body.muscles.rest_length
        r = np.where(held, 0.0, self.amplitude[which, every] * state.gain[group])
        g = np.where(held, state.held_length, self.baseline[which, every] + state.shift[group] * rest)
        return r, g + state.offset

    def cycle(self, stroke: str, phase: float | Array) -> tuple[Array, Array]:
        """Where the oscillators settle: y [m] and z [m/rad] at phases (0..1), shape (*phase, n) each.

        The oscillator is linear in y and z, so each harmonic of its drive gives one of its answer."""
        i, o = self._stroke(stroke), self.oscillator
        turn = 2.0 * np.pi
        count = 16 * o.kernels
        drive = o.mixture(turn * np.arange(count) / count) @ (self.weights[i] * self.amplitude[i][:, None]).T
        k = np.arange(count // 2)
        answer = np.fft.rfft(drive, axis=0)[: len(k)] / count
        answer[1:] *= 2.0
        answer /= ((1j * k) ** 2 + o.alpha * (1j * k) + o.alpha * o.beta)[:, None]
        waves = np.exp(1j * turn * np.asarray(phase, dtype=float)[..., None] * k)
        return self.baseline[i] + (waves @ answer).real, ((waves * 1j * k) @ answer).real

    # --- commands --------------------------------------------------------------------------------------------------

    def set_rate(self, state: RhythmState, rate: float, groups: Iterable[str] = GROUPS) -> None:
        """Slide to `rate` cycles a second (Oscillator.settling is the time constant)."""
        state.wanted_frequency[self._groups(groups)] = self._frequency(rate)

    def set_stroke(self, state: RhythmState, stroke: str, groups: Iterable[str] = GROUPS) -> None:
        """Go over to another stroke at once; lengths follow within half a cycle."""
        state.stroke[self._groups(groups)] = self._stroke(stroke)

    def set_turn(self, state: RhythmState, amount: float) -> None:
        """Bend to the left (+1 a full turn) or right (-1), 0 straight on."""
        if not -1.0 <= amount <= 1.0:
            raise InputError(f"a turn must lie between -1 (right) and 1 (left), got {amount:g}")
        state.shift[:] = 0.0
        state.shift[list(LEFT)] = -TURN_SHIFT * amount
        state.shift[list(RIGHT)] = TURN_SHIFT * amount
        state.gain[list(AXIAL)] = 1.0 - TURN_FADE * abs(amount)

    def set_gain(self, state: RhythmState, gain: float, groups: Iterable[str] = GROUPS) -> None:
        """Factor on the amplitude of some groups."""
        if not (np.isfinite(gain) and gain >= 0):
            raise InputError(f"a gain must be zero or more, got {gain:g}")
        state.gain[self._groups(groups)] = gain

    def hold(self, state: RhythmState, groups: Iterable[str], lengths: Array | None = None) -> None:
        """Hold groups at `lengths` [m] (n,), or where they are; their phase runs on, so that they can fall in again."""
        which = self._groups(groups)
        mine = np.isin(self.groups, which)
        state.held[which] = True
        state.held_length[mine] = (state.length if lengths is None else np.asarray(lengths, dtype=float))[mine]

    def release(self, state: RhythmState, groups: Iterable[str] = GROUPS) -> None:
        """Let held groups swim again."""
        state.held[self._groups(groups)] = False

    def _groups(self, names: Iterable[str]) -> list[int]:
        asked = [names] if isinstance(names, str) else list(names)
        for name in asked:
            if name not in GROUPS:
                raise unknown_name("muscle group", name, GROUPS)
        return [GROUPS.index(name) for name in asked]

    def _stroke(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name("stroke", name, self.names)
        return self.names.index(name)

    @staticmethod
    def _frequency(rate: float) -> float:
        if not (np.isfinite(rate) and rate >= 0):
            raise InputError(f"stroke rate must be zero or more cycles a second, got {rate:g}")
        return 2.0 * np.pi * rate
