"""Controls that were found, played on a character: open loops and policies, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy.characters import Character
from vitruvian.control.controls import Controls
from vitruvian.control.search.actors import SoftActor, Stand
from vitruvian.control.search.policy import Policy
from vitruvian.control.search.reference import Reference
from vitruvian.control.search.samples import wanted_stand
from vitruvian.couple import PostureTarget
from vitruvian.skeleton import integrate

Array = np.ndarray


@dataclass
class Played:
    """Where a control is."""

    window: int
    begun: float  # [s] when this window began
    at: float  # [s] in the reference at which it began
    offset: Array  # in force (n_v,)


class Playing:
    """A policy on a soft character. Its feedback is renewed at the beginning of each window. See `Controller`."""

    def __init__(self, who: Character, reference: Reference, policy: Policy, *, once: bool = False) -> None:
        """once: after the last window the reference goes on without offsets; else the cycle begins again."""
        self.actor, self.reference, self.policy, self.once = SoftActor(who), reference, policy, once

    def start(self, rng: np.random.Generator) -> Played:
        return Played(-1, 0.0, self.policy.start, np.zeros(self.reference.skeleton.n_v))

    def act(self, own: Played, state: Any, time: float, dt: float) -> Controls:
        control = self.policy.control
        n = len(control.offsets)
        long = control.window * control.factors[own.window % n] if own.window >= 0 else 0.0
        if own.window < 0 or time + 1e-9 >= own.begun + long:
            if own.window >= 0:
                own.begun, own.at = own.begun + long, own.at + control.window
            own.window += 1
            own.offset = self._offset(own, state)
        factor = float(control.factors[own.window % n])
        q, v = self.reference.sample(own.at + (time + dt - own.begun) / factor)
        q = integrate(self.reference.skeleton, q, own.offset)
        return Controls(posture=PostureTarget(q, v / factor), told={"window": own.window})

    def _offset(self, own: Played, state: Any) -> Array:
        n = len(self.policy.control.offsets)
        if self.once and own.window >= n:
            return np.zeros_like(own.offset)
        if not self.policy.gains.any():
            return np.array(self.policy.control.offsets[own.window % n])
        now = stand_of(self.actor, state)
        wanted = wanted_stand(self.actor, self.reference, own.at)
        return self.policy.offset(self.reference.skeleton, own.window, now, wanted)


def stand_of(actor: SoftActor, state: Any) -> Stand:
    """How a soft body's state stands."""
    m = actor.body.flesh.mass
    return Stand(state.q, state.v, m @ state.x / m.sum(), m @ state.u / m.sum(), actor.ends.at(state.q))


def found_file(name: str) -> Path:
    """A control that is shipped, by name."""
    return Path(str(files("vitruvian.control.search") / "found" / f"{name}.json"))
