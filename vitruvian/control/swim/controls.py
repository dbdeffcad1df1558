"""What a swimmer's actuation decides: activations, joint torques, or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Array = np.ndarray


@dataclass
class SwimControls:
    """For one step."""

    excitation: Array  # shape (n_muscles,)
    torque: Array  # on the joint coordinates [N m], none on the pelvis, shape (n_v,)
    root: Array  # wrench on the pelvis: none, water is all that a swimmer has, shape (6,)
    missing: float = 0.0  # largest torque that muscles or limits could not give [N m]
    missing_at: int = -1  # its coordinate, as in `Body.coordinate_names`
    share: float = 1.0
    stiffness: Array | float = 0.0  # -d torque/dq [N m/rad], for the step to take implicitly, shape (n_v,)
    damping: Array | float = 0.0  # -d torque/dv [N m s/rad]
    beat: Beat | None = None  # of the stroke that is followed


@dataclass
class Beat:
    """Where in his rhythm a swimmer is."""

    time: float  # [s] to which phase and rate belong
    phase: float  # cycles, counted up
    rate: float  # in force [1/s]
    jump: Array = field(default_factory=lambda: np.zeros(2))  # see `Jump`

    def phase_at(self, time: float) -> float:
        """Phase a little later, within a step."""
        return self.phase + self.rate * (time - self.time)


@dataclass
class Jump:
    """What commands and reflexes did at once to the wanted muscle lengths: nothing, if these are smooth (C1)."""

    largest: Array = field(default_factory=lambda: np.zeros(2))  # so far, of any length [m] and any rate [m/s]

    def see(self, before: tuple[Array, Array], after: tuple[Array, Array]) -> None:
        """Lengths and rates, shape (n_muscles,) each, on both sides of the instant at which commands are given."""
        leaps = [float(np.abs(b - a).max(initial=0.0)) for a, b in zip(before, after)]
        self.largest = np.maximum(self.largest, leaps)


class Sensed(Protocol):
    """What an actuation reads of a simulation's state; `BodyState` has it."""

    q: Array
    v: Array
    activation: Array
    load: Array
    wrench: Array  # what pushed each bone in the last step, in its frame (moment, force), shape (n_bones, 6)


Sense = Callable[[Any], Sensed]


def as_it_is(state: Any) -> Any:
    """For simulations whose state is the body's."""
    return state


@dataclass
class WaterSense:
    """The water's push as felt: it follows the real one with a lag, and is nothing without any sense of it."""

    wrench: Array  # shape (n_bones, 6)
    fresh: bool = True

    def feel(self, wrench: Array, lag: float | None, dt: float) -> Array:
        """The felt push [N m, N] after dt [s]; lag [s], None for a swimmer who does not feel the water."""
        if lag is not None:
            share = 1.0 if lag == 0 or self.fresh else 1.0 - np.exp(-dt / lag)
            self.wrench += share * (wrench - self.wrench)
            self.fresh = False
        return self.wrench
