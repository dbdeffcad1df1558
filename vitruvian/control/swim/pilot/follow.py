"""Where a swimmer is to go: a heading, or a target that moves within a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray
SwimTarget = Callable[[float], Sequence[float]]  # place [m] (x, y) at a time [s]


@dataclass(frozen=True)
class Pool:
    """Where a target may be [m]."""

    low: tuple[float, float] = (-25.0, -25.0)
    high: tuple[float, float] = (25.0, 25.0)

    def check(self, place: Sequence[float], what: str = "the target") -> Array:
        x = np.asarray(place, dtype=float)[:2]
        if not (np.isfinite(x).all() and (x >= self.low).all() and (x <= self.high).all()):
            raise InputError(
                f"{what} at ({x[0]:.9g}, {x[1]:.9g}) m lies outside the pool, which reaches from "
                f"({self.low[0]:g}, {self.low[1]:g}) to ({self.high[0]:g}, {self.high[1]:g}) m"
            )
        return x


def heading_to(place: Array, here: Array) -> float:
    """Heading [rad] from -y, positive to the left, from `here` to `place`, (x, y) [m] each."""
    way = place - here
    return float(np.arctan2(way[0], -way[1]))
