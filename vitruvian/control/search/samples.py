"""Sampling-based control (SAMCON; Liu & al. 2010, with the additions of Liu & al. 2013).

A motion is cut into windows of a tenth of a second or so. From each state kept at a window's beginning several targets
are tried: the reference turned by a constant offset, drawn evenly from a range for each joint, and reached in a sampled
time. Of all ends the better ones are kept, ever fewer towards the worse, and the next window goes on from those. The
control found is the chain that leads to the best end of the last window.

Sample i of window w draws from its own generator (seed, w, i), samples are sorted by (cost, i): the result does not
depend on where or in which order they were tried. Each finished window is stored; a search that was stopped goes on
from there and ends the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.control.search.actors import Actor, RigidActor, Stand
from vitruvian.control.search.mirror import even_turns
from vitruvian.control.search.reference import Reference
from vitruvian.errors import InputError
from vitruvian.given_file import read_arrays, read_json
from vitruvian.skeleton import Skeleton, difference
from vitruvian.swarm import map as spread_out
from vitruvian.swarm import workers

Array = np.ndarray
# half ranges of the offsets [rad], times `spread`: legs and trunk
RANGES = {"thigh": 0.35, "shank": 0.35, "foot": 0.35, "chest": 0.15, "spine": 0.15, "upper_arm": 0.15, "neck": 0.25}
BETTER = 0.6  # part of the samples from which some are kept
LOST = 1e6  # cost of a sample that diverged
BATCH = 25  # samples that a worker is given at most at once


@dataclass(frozen=True)
class Trying:
    """How a search goes about it."""

    window: float = 0.1  # of the reference [s]
    samples: int = 800
    kept: int = 100
    spread: float = 1.6
    time_scaling: float = 0.0  # half range of the factor on a window's time
    fallen: float = 25.0  # cost of the best sample at which it is given up
    even: bool = False  # both sides are turned alike, for motions that are the same on both
    seed: int = 0


@dataclass(frozen=True)
class Control:
    """An open-loop control: offsets of the targets and factors on the time, window by window."""

    window: float
    offsets: Array  # (n, n_v)
    factors: Array  # (n,)
    costs: Array  # of the windows' ends (n,)
    start: float = 0.0  # where in the reference it begins [s]
    told: dict[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it takes [s]."""
        return float(self.window * self.factors.sum())

    def write(self, path: str | Path) -> None:
        """As JSON: a list of windows."""
        rows = [
            {"factor": round(float(f), 6), "cost": round(float(c), 3), "offset": [round(float(x), 5) for x in o]}
            for o, f, c in zip(self.offsets, self.factors, self.costs)
        ]
        table = {**self.told, "start": self.start, "window": self.window}
        Path(path).write_text(json.dumps({**table, "windows": rows}, indent=0) + "\n")

    @classmethod
    def read(cls, path: str | Path) -> Control:
        try:
            table = read_json(Path(path), "control")
            rows = table.pop("windows")
            window, start = float(table.pop("window")), float(table.pop("start"))
            offsets, factors, costs = (np.array([r[k] for r in rows], float) for k in ("offset", "factor", "cost"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"'{path}' is not a control: {error}") from None
        return cls(window, offsets, factors, costs, start, table)


def search(
    actor: Actor,
    reference: Reference,
    seconds: float,
    trying: Trying,
    *,
    base: Array | None = None,
    factors: Array | None = None,
    start: float = 0.0,
    processes: int | None = 1,
    scheduler: str | None = None,
    keep: str | Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Control:
    """Find a control for `seconds` of the reference from `start` on. base, factors: offsets (n, n_v) and factors on the
    time (n,) to try around.

    processes, scheduler: as `vt.map`. keep: a folder in which finished windows are stored and from which a search that
    was stopped goes on."""
    count = round(seconds / trying.window)
    zero = np.zeros((count, reference.skeleton.n_v))
    around = zero if base is None else np.concatenate([base, zero])[:count]
    paces = np.concatenate([[] if factors is None else factors, np.ones(count)])[:count]
    job = _Job(actor, reference, trying, around, paces, offset_ranges(reference.skeleton) * trying.spread, start)
    q, v = reference.sample(start)
    states, history = actor.begin(q, v)[None], []
    with workers(processes, scheduler) as crew:
        for w in range(count):
            stored = _load(keep, w, job)
            if stored is None:
                batches = _batches(states, w, trying.samples)
                found = spread_out(job, batches, workers=crew)
                costs, ends = np.full(trying.samples, LOST), [None] * trying.samples
                for (_, _, numbers), results in zip(batches, found):
                    for i, (cost, end) in zip(numbers, results):
                        costs[i], ends[i] = cost, end
                order = np.lexsort((np.arange(len(costs)), costs))
                chosen = order[_ranks(trying)]
                chosen = chosen[costs[chosen] < LOST]
                if not len(chosen):
                    break
                stored = {
                    "states": np.array([ends[i] for i in chosen]),
                    "parents": chosen % len(states),
                    "numbers": chosen,
                    "costs": costs[chosen],
                }
                _save(keep, w, job, stored)
            states = stored["states"]
            history.append(stored)
            say(f"window {w + 1} of {count}: best cost {stored['costs'][0]:.2f}")
            if stored["costs"][0] > trying.fallen:
                break
    return _chain(job, history)


def _batches(states: Array, w: int, samples: int) -> list[tuple[Array, int, list[int]]]:
    """Sample i goes on from state i modulo their number; at most `BATCH` of one state together."""
    out = []
    for p, state in enumerate(states):
        numbers = list(range(p, samples, len(states)))
        out += [(state, w, numbers[at : at + BATCH]) for at in range(0, len(numbers), BATCH)]
    return out


@dataclass(frozen=True)
class _Job:
    """One batch: samples from one parent."""

    actor: Actor
    reference: Reference
    trying: Trying
    base: Array
    paces: Array
    ranges: Array
    start: float

    def draw(self, w: int, i: int) -> tuple[Array, float]:
        """Offset and time factor of a sample; those numbered first have none of their own."""
        rng = np.random.default_rng([self.trying.seed, w, i])
        offset, factor = self.ranges * rng.uniform(-1.0, 1.0, len(self.ranges)), rng.uniform(-1.0, 1.0)
        if i < self.trying.kept:
            return self.base[w], float(self.paces[w])
        if self.trying.even:
            offset = even_turns(self.reference.skeleton, offset)
        return self.base[w] + offset, float(self.paces[w]) * (1.0 + self.trying.time_scaling * factor)

    def __call__(self, batch: tuple[Array, int, list[int]]) -> list[tuple[float, Array]]:
        state, w, numbers = batch
        at = self.start + w * self.trying.window
        wanted = wanted_stand(self.actor, self.reference, at + self.trying.window)
        out, plain = [], None
        for i in numbers:
            offset, factor = self.draw(w, i)
            if i < self.trying.kept and plain is not None:
                out.append(plain)
                continue
            end = self.actor.go(state, self.reference, at, self.trying.window, factor * self.trying.window, offset)
            cost = (
                stand_cost(self.actor.stand(end), wanted, self.reference.skeleton) if np.isfinite(end).all() else LOST
            )
            out.append((cost, end))
            if i < self.trying.kept:
                plain = out[-1]
        return out

    def digest(self) -> str:
        """Names what the search depends on."""
        total = sha256(json.dumps(asdict(self.trying), sort_keys=True).encode())
        who = self.actor.who  # type: ignore[attr-defined]
        numbers = np.array([self.start, self.reference.period, who.mass, who.young, who.poisson])
        for a in (self.reference.q, self.base, self.paces, self.ranges, numbers, *who.gains):
            total.update(np.ascontiguousarray(a).tobytes())
        young = getattr(self.actor, "young", None)
        total.update(f"{type(self.actor).__name__}{'' if young is None else young}".encode())
        return total.hexdigest()[:16]


def offset_ranges(skeleton: Skeleton) -> Array:
    """Half ranges of the offsets [rad], (n_v,): none at the root."""
    out = np.zeros(skeleton.n_v)
    for k, name in enumerate(skeleton.names):
        kind = name[:-2] if name.endswith(("_l", "_r")) else name
        out[skeleton.v_start[k] : skeleton.v_start[k + 1]] = RANGES.get(kind, 0.0)
    return out


def wanted_stand(actor: Actor, reference: Reference, time: float) -> Stand:
    """How the reference stands, with the character's mass."""
    q, v = reference.sample(time)
    who = actor.who  # type: ignore[attr-defined]
    key = id(who)
    if key not in _RIGID:
        _RIGID.clear()
        _RIGID[key] = RigidActor(who)
    return _RIGID[key].stand(_RIGID[key].begin(q, v))


_RIGID: dict[int, RigidActor] = {}


def stand_cost(now: Stand, wanted: Stand, skeleton: Skeleton) -> float:
    """How far a character is from where it should be: pose, root, hands, feet and head, centre of mass.

    5 pose + 3 root + 15 heights of ends [m] + 10 centre over feet [m] + 1 its velocity [m/s] + 10 its height [m]."""
    way = difference(skeleton, wanted.q, now.q)
    joints = way[6:] + 0.1 * (now.v[6:] - wanted.v[6:])
    pose = np.sqrt(np.mean(joints**2))
    root = np.linalg.norm(way[:3] + 0.1 * (now.v[:3] - wanted.v[:3]))
    ends = np.abs(now.ends[:, 2] - wanted.ends[:, 2]).mean()
    arms = [(s.centre - s.ends[2:4])[:, :2] for s in (now, wanted)]
    feet = np.linalg.norm(arms[0] - arms[1], axis=1).mean()
    speed = np.linalg.norm(now.velocity - wanted.velocity)
    return float(
        5.0 * pose + 3.0 * root + 15.0 * ends + 10.0 * feet + speed + 10.0 * abs(now.centre[2] - wanted.centre[2])
    )


def _ranks(trying: Trying) -> Array:
    """Ranks that are kept: dense at the best, sparse towards the worst of the better part."""
    share = (np.arange(trying.kept) / trying.kept) ** 3
    return np.unique(np.maximum((BETTER * trying.samples * share).astype(int), np.arange(trying.kept) * 0 + 0))


def _chain(job: _Job, history: list[dict[str, Array]]) -> Control:
    if not history:
        raise InputError("the search found no sample that did not diverge in the first window")
    at, chain = 0, []
    for w in range(len(history) - 1, -1, -1):
        chain.append((w, int(history[w]["numbers"][at]), float(history[w]["costs"][at])))
        at = int(history[w]["parents"][at])
    drawn = [(*job.draw(w, i), cost) for w, i, cost in reversed(chain)]
    offsets, factors, costs = zip(*drawn)
    return Control(job.trying.window, np.array(offsets), np.array(factors), np.array(costs), job.start)


def _save(keep: str | Path | None, w: int, job: _Job, stored: dict[str, Array]) -> None:
    if keep is not None:
        folder = Path(keep)
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / "draft.npz"
        np.savez_compressed(draft, digest=job.digest(), **stored)  # type: ignore[arg-type]
        draft.replace(folder / f"window-{w}.npz")


def _load(keep: str | Path | None, w: int, job: _Job) -> dict[str, Array] | None:
    path = None if keep is None else Path(keep) / f"window-{w}.npz"
    if path is None or not path.is_file():
        return None
    with read_arrays(path) as table:
        if str(table["digest"]) != job.digest():
            raise InputError(f"'{keep}' holds another search; choose a new folder or empty it")
        return {k: table[k] for k in ("states", "parents", "numbers", "costs")}
