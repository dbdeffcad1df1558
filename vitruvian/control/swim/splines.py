"""Periodic splines in the oscillators' place: wanted lengths read off closed curves (Si 2013, section 7.1).

A `SplineRhythm` answers to the same calls as a `Rhythm` as far as curves can: the rate slides, a reflex shifts the
lengths; strokes cannot be switched smoothly and limbs cannot be held, and asking for it is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import GROUPS, PeriodicSpline, Stroke, StrokeMotion, length_cycle, load_stroke
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
SETTLING = 0.5  # [s] of the rate, as the oscillators'


@dataclass
class SplineState:
    """Where on its curves the swimmer is."""

    length: Array  # wanted [m], shape (n,)
    phase: Array  # [rad], shape (1,)
    frequency: Array  # [rad/s], shape (1,)
    wanted_frequency: Array  # [rad/s], shape (1,)
    offset: Array  # [m], shape (n,): what a reflex adds


class SplineRhythm:
    """Wanted lengths of a body's muscles as closed cubic B-splines of the phase."""

    def __init__(self, body: Body, stroke: str | Stroke, *, controls: int = 48, samples: int = 192):
        self.body = body
        loaded = load_stroke(stroke) if isinstance(stroke, str) else stroke
        cycle = length_cycle(StrokeMotion(body, loaded), samples)
        self.names = (loaded.name,)
        self._spline = PeriodicSpline.fit(cycle.phase, cycle.length, controls)

    def start(self, stroke: str, rate: float, phase: float = 0.0, lengths: Array | None = None) -> SplineState:
        if stroke not in self.names:
            raise unknown_name("stroke", stroke, self.names)
        W = np.array([2.0 * np.pi * _checked(rate)])
        state = SplineState(
            np.zeros(self.body.muscles.n_muscles),
            np.array([2.0 * np.pi * phase]),
            W,
            W.copy(),
            np.zeros(self.body.muscles.n_muscles),
        )
        state.length = self._read(state, 0) + state.offset
        return state

    def step(self, state: SplineState, dt: float) -> None:
        fade = np.exp(-dt / SETTLING)
        gap = state.frequency - state.wanted_frequency
        state.phase = state.phase + state.wanted_frequency * dt + gap * SETTLING * (1.0 - fade)
        state.frequency = state.wanted_frequency + gap * fade
        state.length = self._read(state, 0) + state.offset

    def rates(self, state: SplineState) -> Array:
        """[m/s], shape (n,)."""
        return self._read(state, 1) * state.frequency / (2.0 * np.pi)

    def accelerations(self, state: SplineState) -> Array:
        """[m/s^2], shape (n,)."""
        turn = 2.0 * np.pi
        slide = (state.wanted_frequency - state.frequency) / SETTLING
        return self._read(state, 2) * (state.frequency / turn) ** 2 + self._read(state, 1) * slide / turn

    def set_rate(self, state: SplineState, rate: float, groups: Iterable[str] = GROUPS) -> None:
        """Slide to `rate` cycles a second; all muscles share one phase here."""
        if tuple(groups) != GROUPS:
            raise InputError("splines: all muscle groups share one rate; use control=cpg for rates by group")
        state.wanted_frequency[:] = 2.0 * np.pi * _checked(rate)

    def _read(self, state: SplineState, order: int) -> Array:
        return self._spline(float(state.phase[0]) / (2.0 * np.pi), order)


def _checked(rate: float) -> float:
    if not (np.isfinite(rate) and rate >= 0):
        raise InputError(f"stroke rate must be zero or more cycles a second, got {rate:g}")
    return float(rate)
