"""Servos that follow a motion, or hold a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.search.reference import Reference
from vitruvian.couple import PostureTarget

Array = np.ndarray


@dataclass
class Nothing:
    """A controller without a state of its own."""


@dataclass(frozen=True)
class Following:
    """Targets along a reference motion. See `world.simulation.Controller`."""

    reference: Reference

    def start(self, rng: np.random.Generator) -> Nothing:
        return Nothing()

    def act(self, own: Any, state: Any, time: float, dt: float) -> Controls:
        return Controls(posture=PostureTarget(*self.reference.sample(time + dt)))


@dataclass(frozen=True)
class Holding:
    """From one pose to another, smoothly, in `seconds`."""

    reference: Reference
    seconds: float

    def start(self, rng: np.random.Generator) -> Nothing:
        return Nothing()

    def act(self, own: Any, state: Any, time: float, dt: float) -> Controls:
        share = min((time + dt) / self.seconds, 1.0)
        eased = share * share * (3.0 - 2.0 * share)
        q, rate = self.reference.sample(eased * self.reference.seconds)
        ease = 6.0 * share * (1.0 - share) / self.seconds * self.reference.seconds
        return Controls(posture=PostureTarget(q, rate * ease))
