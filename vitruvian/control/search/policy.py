"""A run that does not end: feedback and offsets of a cycle, found by CMA-ES (Liu & al. 2012, 2013).

Of many policies that one is sought which stays up longest and nearest to the cycle, then under shoves too. It goes by
stages: when a stage is passed, the next one asks for more seconds, then for harder shoves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.control.search.actors import RigidActor, SoftActor
from vitruvian.control.search.cycle import (
    ASTRAY,
    COUNT,
    EFFORT,
    ERRORS,
    FELL,
    ROW_TABLE,
    ROWS,
    TURNED,
    WEIGHT,
    Cycle,
    astray,
    distance,
    errors,
    next_row,
    next_target,
    rigid_cycles,
    shove,
    whole_offsets,
)
from vitruvian.errors import Diverged, InputError, MissingExtra
from vitruvian.flesh.posed.ground import Ground
from vitruvian.given_file import read_arrays, read_json
from vitruvian.skeleton import Skeleton, bone_poses
from vitruvian.swarm import map as spread_out
from vitruvian.swarm import workers

Array = np.ndarray
WINDOWS = 5  # of half a cycle
SLIDING = 12.0  # [s/m] what the speed of soles that slide under a character's weight counts, in the end
STAGES = (  # [s], [N] of shoves, `SLIDING`: first to stay up, then not to slide
    (3.0, 0.0, 0.0),
    (6.0, 0.0, 4.0),
    (12.0, 0.0, SLIDING),
    *((6.0, 20.0 * k, SLIDING) for k in range(1, 9)),
)
SHOVED = 3  # rollouts under shoves
PADDED = Ground(stiffness=1e6, damping=2e4)  # for a rigid stand-in: what ground and soft soles are together, about
OTHERS = ((1.0, 1.0), (2.0, 0.75), (5.0, 1.2))  # factors on ground and servos there, so that none is leant on


@dataclass(frozen=True)
class Policy:
    """Offsets of half a cycle and gains of the feedback."""

    offsets: Array  # [rad] (n, 12): windows of the first half, over `TURNED`
    gains: Array  # (COUNT,), over `ROWS`
    told: dict[str, Any] = field(default_factory=dict)  # character, clip, slower, ...

    def __post_init__(self) -> None:
        if self.gains.shape != (COUNT,) or self.offsets.ndim != 2 or self.offsets.shape[1] != len(TURNED):
            raise InputError(
                f"a policy has {COUNT} gains and {len(TURNED)} offsets a window, "
                f"not {self.gains.shape} and {self.offsets.shape}"
            )
        if not np.isfinite(self.flat).all():
            raise InputError("a policy's numbers must be finite")

    @property
    def flat(self) -> Array:
        """All numbers that a search may change."""
        return np.concatenate([self.offsets.ravel(), self.gains])

    def at(self, flat: Array) -> Policy:
        """The same with other numbers."""
        n = self.offsets.size
        return replace(self, offsets=np.asarray(flat[:n]).reshape(self.offsets.shape), gains=np.asarray(flat[n:]))

    def whole(self, skeleton: Skeleton) -> Array:
        """Offsets of a whole cycle, (2 n, n_v)."""
        return whole_offsets(skeleton, self.offsets)

    def write(self, path: str | Path) -> None:
        """As JSON."""
        rows = {"offsets": self.offsets.round(5).tolist(), "gains": self.gains.round(5).tolist()}
        Path(path).write_text(json.dumps({**self.told, **rows}, indent=0) + "\n")

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        try:
            table = read_json(Path(path), "policy")
            offsets, gains = (np.array(table.pop(k), float) for k in ("offsets", "gains"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"'{path}' is not a policy: {error}") from None
        return cls(offsets, gains, table)


def first_policy(**told: Any) -> Policy:
    """A policy to begin with: no offsets; the swing leg is led against wrong speed and kept upright in the world, the
    stance leg holds the trunk, as a person would set them (Yin & al. 2007)."""
    gains: list[float] = []
    for limb, axis, e in ROWS:
        row = [0.0] * (e.stop - e.start)
        if len(row) == 4:
            row = {0: [0.5, 0.5, 0.0, 0.0], 1: [-1.0, -0.3, -1.0, -0.1], 2: [0.0, 0.0, 0.1, 0.1]}.get(limb, row)
        elif (limb, axis) == (0, 2):
            row = [0.5, 0.3]
        gains += row
    return Policy(np.zeros((WINDOWS, len(TURNED))), np.array(gains), told)


@dataclass(frozen=True)
class Shoves:
    """Forces on the chest for 0.18 s out of each 0.9 s or so, from all sides; wind from ahead; a start that is not
    quite right."""

    force: float  # [N]
    seed: int

    def table(self) -> Array:
        angle = np.random.default_rng([100, self.seed]).uniform(0.0, 2.0 * np.pi, 40)
        return self.force * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)

    def gap(self, step: float) -> int:
        """Steps from one to the next."""
        return round(0.9 / step) + 7 * self.seed

    def wind(self) -> Array:
        """[N] (3,): softer than the shoves, with some against the way it goes, as flesh that wobbles brakes too."""
        return np.array([0.0, 0.1 * self.seed * self.force, 0.0])

    def amiss(self) -> Array:
        """What is added to the root's velocity at the start, (6,)."""
        return np.random.default_rng([101, self.seed]).normal(0.0, [0.2] * 3 + [0.1] * 3)


def stays_up(
    actor: RigidActor | SoftActor,
    cycle: Cycle,
    policy: Policy,
    seconds: float,
    shoves: Shoves | None = None,
    sliding: float = SLIDING,
) -> tuple[float, float]:
    """How long it stays up [s] of `seconds`, and how far it is from the cycle on the way, what slides included."""
    q, v, steps = cycle.targets[0].copy(), cycle.rates[0].copy(), int(np.ceil(seconds / cycle.step))
    forces, gap, wind = np.zeros((0, 3)), 1, np.zeros(3)
    if shoves is not None:
        forces, gap, wind = shoves.table(), shoves.gap(cycle.step), shoves.wind()
        v[:6] += shoves.amiss()
    offsets = policy.whole(actor.who.skeleton)
    if isinstance(actor, SoftActor):
        up, far = _soft_cycles(actor, cycle, offsets, policy.gains, q, v, steps, forces, gap, wind, sliding)
    else:
        anchor = np.zeros((len(actor.soles.bone), 3))
        up, far = rigid_cycles(
            cycle, offsets, policy.gains, ROW_TABLE, actor.bones, actor.soles, actor.feet, actor.ground, q, v, anchor,
            *actor.gains, np.zeros((len(actor.who.bones), 6)), *actor.room, steps, forces, gap, wind, sliding,
        )  # fmt: skip
    return min(up * cycle.step, seconds), far


def _soft_cycles(
    actor: SoftActor,
    cycle: Cycle,
    offsets: Array,
    gains: Array,
    q: Array,
    v: Array,
    steps: int,
    forces: Array,
    gap: int,
    wind: Array,
    sliding: float,
) -> tuple[int, float]:
    """As `rigid_cycles`, for the soft body."""
    body, skeleton = actor.body, actor.who.skeleton
    state, error, total, i = body.start(q, v), np.zeros(ERRORS), 0.0, 0
    share = body.flesh.mass / body.flesh.mass.sum()
    for t in range(steps):
        poses = bone_poses(skeleton, state.q)
        errors(cycle, i, state.q, state.v, poses, share @ state.x, share @ state.u, error)
        far = distance(error)
        if not far < FELL:
            return t, total / max(t, 1)
        target = np.empty(skeleton.n_q)
        turn = next_target(skeleton.topology, cycle, i, offsets, gains, ROW_TABLE, error, target)
        total += far + EFFORT * turn + ASTRAY * astray(cycle, i, poses, share @ state.x)
        push, f = np.zeros((skeleton.n_bones, 6)), shove(t, forces, gap, wind)
        push[cycle.chest] = np.concatenate([np.cross(poses[cycle.chest, :3, 3], f), f])
        try:
            body.step(state, target, cycle.rates[i], cycle.step, implicit=True, push=push, tolerance=actor.tolerance)
        except Diverged:
            return t, total / max(t, 1)
        total += sliding * body.room.total[6] / (actor.who.mass * WEIGHT * cycle.step)
        i = next_row(cycle, i, actor.feet, state.anchor)
    return steps, total / steps


@dataclass(frozen=True)
class _Judge:
    actor: RigidActor | SoftActor
    cycle: Cycle
    policy: Policy
    seconds: float
    force: float
    sliding: float

    def __call__(self, flat: Array) -> tuple[float, bool]:
        """Seconds short of the stage, and a little for distance and large numbers; shoves only when it stays up.
        And whether it stayed up in all of it: then the stage is passed.

        A rigid stand-in is shoved with ground and servos of several strengths."""
        policy = self.policy.at(flat)
        up, far = stays_up(self.actor, self.cycle, policy, self.seconds, sliding=self.sliding)
        cost, held = self.seconds - up + 0.3 * far, up >= self.seconds - 1e-6
        if self.force > 0.0:
            if not held:
                cost += self.seconds
            else:
                for k in range(SHOVED):
                    actor = self.actor if isinstance(self.actor, SoftActor) else self.actor.other(*OTHERS[k])
                    up, far = stays_up(actor, self.cycle, policy, self.seconds, Shoves(self.force, k), self.sliding)
                    cost += (self.seconds - up + 0.3 * far) / SHOVED
                    held = held and up >= self.seconds - 1e-6
        cost += 0.02 * np.abs(policy.gains).mean() + 0.2 * np.abs(policy.offsets).mean()
        return float(cost), held


def learn(
    actor: RigidActor | SoftActor,
    cycle: Cycle,
    policy: Policy,
    *,
    rounds: int = 400,
    population: int = 24,
    step: float = 0.12,
    stage: int = 0,
    last: int = 6,
    seed: int = 1,
    keep: str | Path | None = None,
    processes: int | None = 1,
    scheduler: str | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Policy:
    """A better policy, from the one given; from `stage` of `STAGES` on to `last`, which is not left.

    keep: a file in which each round is stored and from which a search that was stopped goes on."""
    try:
        import cma
    except ImportError:
        raise MissingExtra("cma", "pip install 'vitruvian[search]'") from None
    strategy = cma.CMAEvolutionStrategy(policy.flat, step, {"seed": seed, "popsize": population, "verbose": -9})
    values: list[list[float]] = []
    if keep is not None and Path(keep).is_file():
        with read_arrays(Path(keep)) as table:
            values, stage = table["values"].tolist(), int(table["stage"])
            best, least, held = table["best"], float(table["least"]), bool(table["held"])
        for found in values[:rounds]:  # the same numbers are drawn again
            strategy.tell(strategy.ask(), found)
        judge = _Judge(actor, cycle, policy, *STAGES[stage])
    else:
        judge = _Judge(actor, cycle, policy, *STAGES[stage])
        best, (least, held) = policy.flat, judge(policy.flat)
        say(f"begins at {least:.2f}")
    with workers(processes, scheduler) as crew:
        for n in range(len(values), rounds):
            tried = [np.asarray(g) for g in strategy.ask()]
            judged = spread_out(judge, tried, workers=crew)
            found = [cost for cost, _ in judged]
            strategy.tell(tried, found)
            values.append(found)
            k = int(np.argmin(found))
            if found[k] < least:
                best, (least, held) = tried[k], judged[k]
            say(f"round {n + 1} of {rounds}, stage {stage}: {least:.2f}, median {np.median(found):.2f}")
            if held and stage < last:
                stage += 1
                judge = _Judge(actor, cycle, policy, *STAGES[stage])
                both = [best, np.asarray(strategy.mean)]
                worth = [judge(x) for x in both]
                better = int(worth[1] < worth[0])
                best, (least, held) = both[better], worth[better]
            if keep is not None:
                draft = Path(keep).with_suffix(".draft.npz")
                np.savez(draft, values=np.array(values), stage=stage, best=best, least=least, held=held)
                draft.replace(keep)
    return replace(policy.at(best), told={**policy.told, "stage": stage, "judged": round(least, 3)})
