"""Controllers one after another: rhythm and tasks hand over to each other without a jump.

A stage ends when its time is up, or when it is `done`; the next one that is not `needless` then starts, and its
excitations come in over `BLEND` while the last ones of the stage before go out. All stages drive muscles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.errors import InputError

Array = np.ndarray
BLEND = 0.3  # [s]


@dataclass(frozen=True)
class Stage:
    """One part of a sequence."""

    name: str
    controller: Any
    seconds: float  # at most
    done: Callable[[Any], bool] | None = None  # of the body's state: ends it before its time
    least: float = 0.0  # [s] before it may be done
    needless: Callable[[Any], bool] | None = None  # of the body's state: it is left out; not asked of the last stage


@dataclass
class SequenceState:
    """What the sequence remembers."""

    stage: int
    begun: float  # [s] when the stage began
    own: list[Any]  # of the stages' controllers
    last: Array  # excitations given in the step before, (n_muscles,)
    leaving: Array  # those of the stage before, at its end
    jump: float = 0.0  # largest change of an excitation in the first step of a stage
    v: Array = field(default_factory=lambda: np.zeros(0))  # velocities a step ago
    lurch: Array = field(default_factory=lambda: np.zeros(2))  # largest change of a joint's in a step: at changes, else


class InTurn:
    """A `Controller`: see the head of this file."""

    def __init__(self, stages: Sequence[Stage]):
        if not stages:
            raise InputError("a sequence needs a stage")
        self.stages = tuple(stages)

    def start(self, rng: np.random.Generator) -> SequenceState:
        none = np.zeros(0)
        own = [s.controller.start(rng if k == 0 else np.random.default_rng(k)) for k, s in enumerate(self.stages)]
        return SequenceState(0, 0.0, own, none, none.copy())

    def act(self, own: SequenceState, state: Any, time: float, dt: float) -> Controls:
        stage, spent = self.stages[own.stage], time - own.begun
        over = spent >= stage.seconds - 1e-9
        over = over or (stage.done is not None and spent >= stage.least and stage.done(state))
        if over and own.stage + 1 < len(self.stages):
            own.stage, own.begun, own.leaving = self._next(own.stage + 1, state), time, own.last.copy()
            stage, spent = self.stages[own.stage], 0.0
        controls = stage.controller.act(own.own[own.stage], state, time, dt)
        if controls.excitation is None or controls.torque is not None:
            raise InputError(f"stage '{stage.name}' does not drive muscles")
        share = min(1.0, (spent + dt) / BLEND)
        given = controls.excitation
        if len(own.leaving) and share < 1.0:
            given = share * given + (1.0 - share) * own.leaving
        if own.stage and time == own.begun:
            own.jump = max(own.jump, float(np.abs(given - own.last).max()))
        own.last = given.copy()
        self._watch(own, state, spent)
        controls.excitation = given
        controls.told = {"stage": own.stage, "jump": own.jump, "lurch": own.lurch.copy()}
        return controls

    def _next(self, stage: int, state: Any) -> int:
        """The first from `stage` on that is not needless, else the last."""
        for k in range(stage, len(self.stages) - 1):
            needless = self.stages[k].needless
            if needless is None or not needless(state):
                return k
        return len(self.stages) - 1

    def _watch(self, own: SequenceState, state: Any, spent: float) -> None:
        """Keep the largest change of a joint's velocity in one step: while stages hand over, and at other times."""
        v = np.asarray(getattr(state, "v", own.v), float)[6:]
        if len(own.v) == len(v) and len(v):
            kind = 0 if own.stage and spent <= BLEND else 1
            own.lurch[kind] = max(own.lurch[kind], float(np.abs(v - own.v).max()))
        own.v = v.copy()
