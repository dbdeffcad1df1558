"""Controls that were found, played on a soft character: open loops window by window, policies at every step."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy.characters import Character, soft_body
from vitruvian.control.controls import Controls
from vitruvian.control.search.actors import soft_feet
from vitruvian.control.search.cycle import (
    ERRORS,
    FELL,
    ROW_TABLE,
    Cycle,
    distance,
    errors,
    next_row,
    next_target,
)
from vitruvian.control.search.policy import Policy
from vitruvian.control.search.reference import Reference
from vitruvian.control.search.samples import Control
from vitruvian.couple import PostureTarget
from vitruvian.skeleton import bone_poses, difference, integrate

Array = np.ndarray
LET_GO = 0.3  # [s] in which the servos of one who fell go most of the way to rest


@dataclass
class Played:
    """Where an open loop is."""

    window: int
    begun: float  # [s] when this window began
    at: float  # [s] in the reference at which it began


class Playing:
    """An open loop; after its last window the servos follow the reference alone. See `Controller`."""

    def __init__(self, reference: Reference, control: Control) -> None:
        self.reference, self.control = reference, control

    def start(self, rng: np.random.Generator) -> Played:
        return Played(0, 0.0, self.control.start)

    def act(self, own: Played, state: Any, time: float, dt: float) -> Controls:
        control, n = self.control, len(self.control.offsets)
        while own.window < n and time + 1e-9 >= own.begun + control.window * control.factors[own.window]:
            own.begun, own.at = own.begun + control.window * control.factors[own.window], own.at + control.window
            own.window += 1
        over = own.window >= n
        factor = 1.0 if over else float(control.factors[own.window])
        q, v = self.reference.sample(own.at + (time + dt - own.begun) / factor)
        if not over:
            q = integrate(self.reference.skeleton, q, control.offsets[own.window])
        return Controls(posture=PostureTarget(q, v / factor), told={"window": own.window})


@dataclass
class Ran:
    """What a policy remembers: where in the cycle it is, and whether it has fallen."""

    row: int
    due: float  # [s] when the next row is
    fallen: bool
    target: Array  # of the servos, (n_q,)


class Running:
    """A policy on a soft character; once it has fallen it lets go and lies as it was drawn up. See `Controller`."""

    def __init__(self, who: Character, cycle: Cycle, policy: Policy) -> None:
        self.skeleton, self.cycle, self.gains, self.rest = who.skeleton, cycle, policy.gains, who.bind_q
        self.offsets = policy.whole(who.skeleton)
        mass = soft_body(who).flesh.mass
        self.share, self.feet = mass / mass.sum(), soft_feet(who)

    def start(self, rng: np.random.Generator) -> Ran:
        return Ran(0, self.cycle.step, False, self.cycle.targets[0].copy())

    def act(self, own: Ran, state: Any, time: float, dt: float) -> Controls:
        cycle, s = self.cycle, self.skeleton
        while time + 1e-6 * cycle.step >= own.due:
            own.row, own.due = int(next_row(cycle, own.row, self.feet, state.anchor)), own.due + cycle.step
        i, error = own.row, np.zeros(ERRORS)
        window = i * len(self.offsets) // len(cycle.targets)
        poses = bone_poses(s, state.q)
        errors(cycle, i, state.q, state.v, poses, self.share @ state.x, self.share @ state.u, error)
        own.fallen = own.fallen or distance(error) >= FELL
        if own.fallen:
            own.target = integrate(s, own.target, difference(s, own.target, self.rest), min(1.0, dt / LET_GO))
            return Controls(posture=PostureTarget(own.target, np.zeros(s.n_v)), told={"window": window})
        target = np.empty(s.n_q)
        next_target(s.topology, cycle, i, self.offsets, self.gains, ROW_TABLE, error, target)
        own.target = target
        return Controls(posture=PostureTarget(target, cycle.rates[i]), told={"window": window})


def found_file(name: str) -> Path:
    """A control that is shipped, by name."""
    return Path(str(files("vitruvian.control.search") / "found" / f"{name}.json"))
