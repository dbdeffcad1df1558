"""Runs of the trunk for the chapter on breath: each is made once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vitruvian.anatomy.trunk import Trunk, breathing_human
from vitruvian.breath import ATMOSPHERE, vertices
from vitruvian.breath.surface import volume
from vitruvian.control import BreathDrive, Controls
from vitruvian.control.behaviour import Behave, load_behaviour
from vitruvian.skeleton import bone_poses
from vitruvian.systems import Now, TorsoSystem
from vitruvian.world import World

Array = np.ndarray
STEP, BURST = 5e-3, 2e-3  # [s] of calm breath and of bursts


class Run(NamedTuple):
    """At every step."""

    time: Array  # [s]
    volume: Array  # of the lungs [l]
    pressure: Array  # in them [Pa]
    flow: Array  # into them [l/min]
    belly: Array  # volume error of the belly, (n,)
    squeeze: Array  # pressure in the belly beyond that at rest [Pa]
    gas: Array  # gas not accounted for, of what there is, (n,)
    ribs: Array  # right ribs 2 to 10, front ends up [rad], (n, 9)
    energy: Array  # of bones and belly: kinetic, weight, springs [J], (n,)
    work: Array  # by account, (n, accounts)
    accounts: tuple[str, ...]


@lru_cache(maxsize=3)
def trunk(columns: int = 48) -> Trunk:
    return breathing_human(columns=columns)


@lru_cache(maxsize=4)
def system(books: bool = False, columns: int = 48) -> TorsoSystem:
    return TorsoSystem(trunk(columns), skin=False, drawn=False, layers=(), books=books)


@lru_cache(maxsize=32)
def play(name: str, seconds: float, step: float, books: bool = False, columns: int = 48) -> Run:
    """The behaviour `name` for `seconds`, in steps of `step` [s]."""
    torso = system(books, columns)
    cavities = torso.trunk.cavities
    world = World(torso, Behave(torso.trunk, load_behaviour(name)), frame_rate=1.0 / step)
    world.start()
    ribs = next(m for m in torso.measures if m.signal.name == "rib_turn")
    rows: list[tuple] = []
    turns, work = [], []
    first = world.state.breath.air.copy()
    for _ in range(round(seconds / step)):
        world.step()
        b = world.state.breath
        gas = (b.air[0] - first[0] - ATMOSPHERE * (b.air[3] - first[3])) / b.air[0]
        off = b.belly[1] / cavities.belly_volume - 1.0
        kinetic = 0.5 * float(cavities.mass @ (b.v**2).sum(axis=1))
        rows.append((world.time, 1e3 * b.volume, b.pressure, 6e4 * b.flow, off, b.belly[0], gas, kinetic))
        turns.append(_turns(torso, world.state, ribs))
        work.append([world.state.book.work[a] for a in torso.accounts] if books else [])
    table = np.array(rows)
    time, volume, pressure, flow, belly, squeeze, gas, kinetic = table.T
    return Run(
        time, volume, pressure, flow, belly, squeeze, gas, np.array(turns), kinetic, np.array(work),
        tuple(torso.accounts),
    )  # fmt: skip


def _turns(torso: TorsoSystem, state: object, ribs: object) -> Array:
    return np.asarray(ribs.of(Now(torso, state)))  # type: ignore[attr-defined]


class Inflated(NamedTuple):
    """A relaxed trunk, air held in its lungs."""

    litres: float  # more in the lungs
    wall: float  # that the belly's wall has gone out by [l]
    airway: float  # pressure [Pa]
    chest: float  # across ribs and belly together: in the pleura beyond that at rest [Pa]
    belly: float  # [Pa]


def inflated(litres: float, seconds: float = 4.0) -> Inflated:
    """`litres` of air more than at rest are blown in and held by the glottis, no muscle acts, for `seconds`."""
    torso = system()
    c, s, lungs = torso.trunk.cavities, torso.trunk.body.skeleton, torso.trunk.lungs
    state = torso.start(np.random.default_rng(0))
    before = vertices(c, state.breath.x, bone_poses(s, state.q))
    state.breath.air[0] += 1e-3 * litres * ATMOSPHERE
    shut = Controls(breath=BreathDrive(np.zeros(c.n_elements), 0.0))
    for n in range(round(seconds / STEP)):
        torso.step(state, shut, n * STEP, STEP)
    b, after = state.breath, vertices(c, state.breath.x, bone_poses(s, state.q))
    wall, out = np.unique(torso.trunk.shape.wall[1:-1]), before.copy()
    out[wall] = after[wall]
    recoil = lungs.transmural(b.volume) - lungs.transmural(lungs.rest_volume)
    return Inflated(
        1e3 * (b.volume - lungs.rest_volume), 1e3 * (volume(c.belly, out) - volume(c.belly, before)),
        b.pressure, b.pressure - recoil, float(b.belly[0]),
    )  # fmt: skip
