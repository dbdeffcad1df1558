"""Tasks bring rows, preferences and bounds; gathered, they are one program (`program`).

A task is a small object with a method `add(now, gathered, memory)`. It may ask for

    rows      velocities of anything that moves with the joints: J x = target, or J x ≥ target
    prefer    a joint's own velocity, with a weight
    push      whatever grows along a direction of joint velocities (a linear objective)

in velocities of all coordinates; the pelvis is put in terms of the joints here. `memory` is a dictionary of arrays
which is the task's own from step to step, and part of the controller's state: a task that remembers has a method
`start()` that gives it, with all its names from the beginning, so that a saved run finds them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from vitruvian.control.tasks.now import Now
from vitruvian.control.tasks.program import Program

Array = np.ndarray


class Task(Protocol):
    """Something wanted."""

    @property
    def name(self) -> str: ...

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None: ...


def memories(tasks: Sequence[Task]) -> dict[str, dict[str, Array]]:
    """What each task remembers at the beginning, by the task's name; tasks of one name share it."""
    found: dict[str, dict[str, Array]] = {}
    for task in tasks:
        start = getattr(task, "start", dict)
        found.setdefault(task.name, {}).update(start())
    return found


@dataclass
class Gathered:
    """What all tasks of a step ask for, in the velocities of the n driven joints."""

    now: Now
    low: Array  # (n,)
    high: Array  # (n,)
    weight: Array  # (n,)
    pull: Array  # Σ weight x wanted velocity, (n,)
    asked: Array  # velocities that the last decision wanted, (n,); empty before the first
    rows: list[Array] = field(default_factory=list)
    targets: list[Array] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)
    one_sided: list[Array] = field(default_factory=list)

    def want(self, rows: Array, target: Array, weight: float | Array, *, at_least: bool = False) -> None:
        """Rows (k, n_v) of all velocities that should make `target` (k,), or no less than it."""
        R, t = self.now.reduced(np.atleast_2d(rows), np.atleast_1d(target))
        self.rows.append(R)
        self.targets.append(t)
        self.weights.append(np.zeros(len(t)) + weight)
        self.one_sided.append(np.full(len(t), at_least))

    def prefer(self, velocity: Array, weight: Array | float) -> None:
        """Each driven joint near its velocity (n,), as strongly as `weight` (n,)."""
        self.weight += weight
        self.pull += weight * velocity

    def push(self, direction: Array, weight: float) -> None:
        """Let direction · x grow, direction (n_v,) over all velocities."""
        self.pull += weight * (direction[self.now.joints] + direction[:6] @ self.now.pelvis[0])

    def program(self) -> Program:
        n = len(self.weight)
        none = not self.rows
        return Program(
            self.weight,
            self.pull / self.weight,
            self.low,
            self.high,
            np.zeros((0, n)) if none else np.concatenate(self.rows),
            np.zeros(0) if none else np.concatenate(self.targets),
            np.zeros(0) if none else np.concatenate(self.weights),
            np.zeros(0, bool) if none else np.concatenate(self.one_sided),
        )
