"""Where the head shall point: goals for the voluntary controller (Lee 2008, 4.3.3 and 4.4.3).

`Still`   one orientation.
`Turns`   orientations at times; between them slerp with a bell-shaped rate, r' = 1 - cos(2 π t).
`Sampled` orientations at even times, with slerp in between: a measured head.
`Steered` sensorimotor control after any goal: a wanted velocity towards where the goal will be d seconds later,
          x' = (x_d(t + d) - x(t))/d, from where the head really is.

All orientations are rotations (3, 3) of the head in its base against the default pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from vitruvian.errors import InputError
from vitruvian.spatial import exp_so3, log_so3

Array = np.ndarray


class HeadGoal(Protocol):
    """What the head is asked to do."""

    def wanted(self, time: float) -> Array:
        """Orientation (3, 3) at `time` [s]."""
        ...


@dataclass(frozen=True)
class Still:
    """One orientation, (3, 3)."""

    orientation: Array = field(default_factory=lambda: np.eye(3))

    def wanted(self, time: float) -> Array:
        return self.orientation


@dataclass(frozen=True)
class Turns:
    """Orientations (n, 3, 3) to be reached at times [s] (n,), each by a turn of `lasting` [s] that ends there."""

    times: Sequence[float]
    orientations: Sequence[Array]
    lasting: float = 0.6

    def __post_init__(self) -> None:
        if len(self.times) != len(self.orientations) or not len(self.times):
            raise InputError("turns of a head need as many times as orientations, at least one")
        if np.any(np.diff(self.times) < self.lasting):
            raise InputError(f"turns of a head overlap: times must be {self.lasting:g} s apart or more")

    def wanted(self, time: float) -> Array:
        k = int(np.searchsorted(self.times, time))
        if k == len(self.times):
            return np.asarray(self.orientations[-1])
        if k == 0:
            return np.asarray(self.orientations[0])
        share = np.clip(1.0 - (self.times[k] - time) / self.lasting, 0.0, 1.0)
        return between(self.orientations[k - 1], self.orientations[k], bell(float(share)))


@dataclass(frozen=True)
class Sampled:
    """Orientations (n, 3, 3), one every `period` [s]; before and after, the first and last."""

    orientations: Array
    period: float

    def wanted(self, time: float) -> Array:
        at = min(max(time / self.period, 0.0), len(self.orientations) - 1.0)
        k = min(int(at), len(self.orientations) - 2)
        return between(self.orientations[k], self.orientations[k + 1], at - k)


@dataclass(frozen=True)
class Steered:
    """A goal followed by steering; `lead`: d [s]."""

    goal: HeadGoal
    lead: float = 0.33

    def step(self, now: Array, time: float, ahead: float) -> Array:
        """Orientation (3, 3) to ask for `ahead` [s] later, from where the head is now (3, 3)."""
        turn = log_so3(self.goal.wanted(time + self.lead) @ now.T)
        return np.asarray(exp_so3(turn * (ahead / self.lead)) @ now)

    def wanted(self, time: float) -> Array:
        return self.goal.wanted(time)


def bell(share: float) -> float:
    """How far a movement is after a share 0 to 1 of its time; its rate is 1 - cos(2 π share)."""
    return share - float(np.sin(2.0 * np.pi * share)) / (2.0 * np.pi)


def between(start: Array, end: Array, share: float) -> Array:
    """Slerp of rotations (3, 3)."""
    return np.asarray(exp_so3(share * log_so3(np.asarray(end) @ np.asarray(start).T)) @ start)
