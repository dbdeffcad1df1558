"""A run that does not end: the control of one cycle repeated, with linear feedback (Liu & al. 2012, 2013).

At the beginning of each window the character is compared with the reference: lean and roll of the root and their rates,
velocity of the centre of mass, and where it is over the feet. Hips, ankles and chest are then turned by a linear
function of that,

    offset = offset_of_the_window + K e,

the same for the left and the right half of the cycle, mirrored. K is found by CMA-ES: of many policies the one that
stays up longest and nearest to the reference.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.control.search.actors import Actor, Stand
from vitruvian.control.search.reference import Reference
from vitruvian.control.search.samples import Control, stand_cost, wanted_stand
from vitruvian.errors import InputError, MissingExtra
from vitruvian.skeleton import Skeleton, difference
from vitruvian.swarm import map as spread_out

Array = np.ndarray
TURNED = (
    "thigh_A",
    "thigh_B",
    "foot_A",
    "foot_B",
    "chest",
)  # A: left in the first half of a cycle, right in the second
INPUTS = 4  # each about the axis across and the axis ahead
COUNT = len(TURNED) * INPUTS * 2 + 1  # gains of a policy; the last one turns the thighs against a wrong heading


@dataclass(frozen=True)
class Policy:
    """A cycle of offsets and the gains of the feedback; without gains (zeros) it is an open loop repeated."""

    control: Control  # one cycle
    gains: Array  # (COUNT,)
    start: float = 0.0  # of the cycle in the reference [s]
    told: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.gains.shape != (COUNT,):
            raise InputError(f"a policy has {COUNT} gains, not {self.gains.shape}")

    def offset(self, skeleton: Skeleton, window: int, now: Stand, wanted: Stand) -> Array:
        """Offset of the targets in a window (counted on and on) that begins as it stands now, (n_v,)."""
        n = len(self.control.offsets)
        second = window % n >= n // 2
        return self.control.offsets[window % n] + feedback(skeleton, self.gains, now, wanted, second)

    def write(self, path: str | Path) -> None:
        """As JSON."""
        rows = {"offsets": self.control.offsets.round(5).tolist(), "factors": self.control.factors.round(6).tolist()}
        table = {**self.told, "window": self.control.window, "start": self.start, "gains": self.gains.round(6).tolist()}
        Path(path).write_text(json.dumps({**table, **rows}, indent=0) + "\n")

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        try:
            table = json.loads(Path(path).read_text())
            offsets, factors = (np.array(table.pop(k), float) for k in ("offsets", "factors"))
            control = Control(float(table.pop("window")), offsets, factors, np.zeros(len(factors)))
            gains, start = np.array(table.pop("gains"), float), float(table.pop("start"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"'{path}' is not a policy: {error}") from None
        return cls(control, gains, start, table)


def feedback(skeleton: Skeleton, gains: Array, now: Stand, wanted: Stand, second: bool) -> Array:
    """What the feedback adds to the offset, (n_v,); second: the half of the cycle in which sides are swapped."""
    way, rate = difference(skeleton, wanted.q, now.q), now.v - wanted.v
    speed = now.velocity - wanted.velocity
    over = (now.centre - now.ends[2:4].mean(axis=0)) - (wanted.centre - wanted.ends[2:4].mean(axis=0))
    across = np.array([way[0], 0.1 * rate[0], -0.3 * speed[1], -3.0 * over[1]])
    ahead = np.array([way[1], 0.1 * rate[1], 0.3 * speed[0], 3.0 * over[0]])
    flip = -1.0 if second else 1.0
    table, out = gains[:-1].reshape(len(TURNED), 2, INPUTS), np.zeros(skeleton.n_v)
    for row, name in zip(table, TURNED):
        side = ("_r" if second else "_l") if name.endswith("_A") else ("_l" if second else "_r")
        bone = name.removesuffix("_A").removesuffix("_B") + ("" if name == "chest" else side)
        at = int(skeleton.v_start[skeleton.index(bone)])
        out[at] += row[0] @ across
        out[at + 1] += flip * (row[1] @ (flip * ahead))
    for side in ("_l", "_r"):
        out[int(skeleton.v_start[skeleton.index("thigh" + side)]) + 2] += gains[-1] * way[2]
    return out


def strides(
    actor: Actor, reference: Reference, policy: Policy, most: float, fallen: float = 18.0
) -> tuple[float, float]:
    """How long it stays up [s], at most `most`, and its mean cost on the way; one start, no noise."""
    q, v = reference.sample(policy.start)
    state, total, w = actor.begin(q, v), 0.0, 0
    control, at, time = policy.control, policy.start, 0.0
    while time < most:
        now = actor.stand(state)
        wanted = wanted_stand(actor, reference, at)
        offset = policy.offset(reference.skeleton, w, now, wanted)
        seconds = control.window * control.factors[w % len(control.factors)]
        state = actor.go(state, reference, at, control.window, seconds, offset)
        at, w = at + control.window, w + 1
        if not np.isfinite(state).all():
            break
        cost = stand_cost(actor.stand(state), wanted_stand(actor, reference, at), reference.skeleton)
        if cost > fallen:
            break
        time += seconds
        total += cost
    return time, total / max(w, 1)


@dataclass(frozen=True)
class _Judge:
    actor: Actor
    reference: Reference
    policy: Policy
    most: float

    def __call__(self, gains: Array) -> float:
        up, cost = strides(self.actor, self.reference, Policy(self.policy.control, gains, self.policy.start), self.most)
        return -up + 0.05 * cost


def learn(
    actor: Actor,
    reference: Reference,
    policy: Policy,
    *,
    most: float = 6.0,
    rounds: int = 40,
    population: int = 14,
    step: float = 0.15,
    seed: int = 1,
    processes: int | None = 1,
    scheduler: str | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Policy:
    """A better policy by CMA-ES, from the gains of the one given. Judged over `most` seconds."""
    try:
        import cma
    except ImportError:
        raise MissingExtra("cma", "pip install 'vitruvian[search]'") from None
    judge = _Judge(actor, reference, policy, most)
    strategy = cma.CMAEvolutionStrategy(
        policy.gains, step, {"seed": seed, "popsize": population, "verbose": -9, "maxiter": rounds}
    )
    best, least = policy.gains, judge(policy.gains)
    say(f"begins at {least:.2f}")
    for n in range(rounds):
        tried = [np.asarray(g) for g in strategy.ask()]
        found = spread_out(judge, tried, processes=processes, scheduler=scheduler)
        strategy.tell(tried, found)
        k = int(np.argmin(found))
        if found[k] < least:
            best, least = tried[k], float(found[k])
        say(f"round {n + 1} of {rounds}: {least:.2f}, median {np.median(found):.2f}")
    return Policy(policy.control, best, policy.start, {**policy.told, "judged": round(least, 3)})
