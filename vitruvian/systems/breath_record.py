"""A breath of the trunk model, recorded once, for bodies that do something else meanwhile.

The trunk (`TorsoSystem`) plays a behaviour by itself, upright; kept are the lungs' volume, the belly's pressure, how
far each rib has turned on its vertebra, and the lining of chest and belly (`breath_field`) as a few modes:

    d(t) = Σ_k c_k(t) m_k           as many as leave no point more than 0.1 mm off

A behaviour that never ends is periodic: its second period is kept and goes round; what it does not close by (under
1 % of it) is spread over the period, and it begins within the first second. One that ends is kept whole, and rests
afterwards. Found once and kept in the user's cache; 10 to 30 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline

from vitruvian.anatomy import bound_skin
from vitruvian.anatomy.trunk import Trunk, breathing_human
from vitruvian.array_cache import cached_arrays
from vitruvian.control.behaviour import Behave, Behaviour, load_behaviour, write_behaviour
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import log_so3
from vitruvian.systems.breath_field import Lining
from vitruvian.systems.torso import TorsoSystem
from vitruvian.world import World

Array = np.ndarray
RATE = 50.0  # frames a second
CALM, BURST = 4, 10  # steps a frame
AFTER = 1.0  # [s] that are kept of a behaviour's end
LONGEST = 60.0  # [s]
EASE = 1.0  # [s] in which a periodic breath begins
OFF = 1e-4  # [m] that modes may leave out
RIBS = ("Rb1", *(f"Rb{k}_{side}" for k in range(2, 11) for side in "lr"))


@dataclass(frozen=True, eq=False)
class BreathRecord:
    """What a trunk does in a behaviour, from its rest on."""

    name: str
    period: float  # [s]; infinite for a behaviour that ends
    origins: Array  # of the ribs in the default pose [m], (ribs, 3)
    points: Array  # of the lining in the default pose [m], (p, 3)
    modes: Array  # (modes, p, 3) [m]
    table: Array  # frames x (volume [m³], belly's pressure [Pa], coefficients, rib turns (ribs x 3) [rad])
    time: Array  # of the frames [s]; of one period, first and last alike, if it is periodic

    def __post_init__(self) -> None:
        ends = "periodic" if np.isfinite(self.period) else "clamped"
        object.__setattr__(self, "_curve", CubicSpline(self.time, self.table, bc_type=ends))

    def when(self, clock: float) -> float:
        """Where in the record [s]: a period goes round, an end stays."""
        return clock % self.period if np.isfinite(self.period) else min(max(clock, 0.0), float(self.time[-1]))

    def over(self, clock: float) -> bool:
        """Whether nothing more happens."""
        return not np.isfinite(self.period) and clock >= self.time[-1]

    def at(self, clock: float, slope: int = 0) -> Array:
        """A row of the table at `clock` [s], or its derivative, (columns,)."""
        value = np.asarray(self._curve(self.when(clock), slope))  # type: ignore[attr-defined]
        if slope and self.over(clock):
            return np.zeros_like(value)
        share, rate = self.begun(clock)
        if slope and rate:
            return np.asarray(share * value + rate * self._curve(self.when(clock)))  # type: ignore[attr-defined]
        return np.asarray(share * value)

    def begun(self, clock: float) -> tuple[float, float]:
        """How far a periodic breath has come from rest, 0 to 1, and its rate [1/s]: bodies start at rest."""
        if not np.isfinite(self.period):
            return 1.0, 0.0
        u = min(max(clock / EASE, 0.0), 1.0)
        return u * u * (3.0 - 2.0 * u), 6.0 * u * (1.0 - u) / EASE

    @property
    def coefficients(self) -> slice:
        return slice(2, 2 + len(self.modes))

    @property
    def ribs(self) -> slice:
        return slice(2 + len(self.modes), None)

    @property
    def fullest(self) -> float:
        """When in the period the lungs are fullest, as a part of it; 0 for a behaviour that ends."""
        if not np.isfinite(self.period):
            return 0.0
        return float(self.time[np.argmax(self.table[:, 0])] / self.period)


def full_clock(record: BreathRecord) -> float:
    """A clock [s] at which the lungs are fullest."""
    at = float(record.time[np.argmax(record.table[:, 0])])
    return at + record.period * np.ceil(EASE / record.period) if np.isfinite(record.period) else at


def breath_record(source: str | Behaviour) -> BreathRecord:
    """Of a behaviour, a file of one, or one by name."""
    behaviour = source if isinstance(source, Behaviour) else load_behaviour(source)
    return _record(write_behaviour(behaviour.check(LONGEST)), behaviour)


def behaviour_period(behaviour: Behaviour) -> float:
    """[s], infinite if it ends."""
    if np.isfinite(behaviour.seconds):
        if behaviour.seconds > LONGEST:
            raise InputError(f"behaviour '{behaviour.name}' lasts longer than {LONGEST:g} s: too long to be recorded")
        return float("inf")
    periods = [c.period for c in behaviour.curves if not np.isfinite(c.stop) and c.shape != "keys"]
    longest = max(periods, default=1.0)
    for p in periods:
        if abs(longest / p - round(longest / p)) > 1e-6:
            raise InputError(f"behaviour '{behaviour.name}': periods of {p:g} and {longest:g} s do not fit together")
    return longest


_kept: dict[str, BreathRecord] = {}


def _record(text: str, behaviour: Behaviour) -> BreathRecord:
    if text not in _kept:
        period = behaviour_period(behaviour)
        found = cached_arrays("breath-record", __name__, (text, RATE, CALM, BURST), lambda: _make(behaviour, period))
        _kept[text] = BreathRecord(
            behaviour.name, period, found["origins"], found["points"], found["modes"], found["table"], found["time"]
        )
    return _kept[text]


@lru_cache(maxsize=1)
def _trunk() -> tuple[Trunk, TorsoSystem]:
    trunk = breathing_human()
    return trunk, TorsoSystem(trunk, skin=False, drawn=False, layers=())


def _make(behaviour: Behaviour, period: float) -> dict[str, Array]:
    trunk, torso = _trunk()
    s, periodic = trunk.body.skeleton, np.isfinite(period)
    steps = CALM if periodic else BURST
    frames = round(RATE * period) if periodic else 0
    rate = frames / period if periodic else RATE
    count = 2 * frames if periodic else int(np.ceil(RATE * (behaviour.seconds + AFTER)))
    lining = Lining(trunk, bound_skin(trunk.body))
    ribs = [(s.index(r), s.parent[s.index(r)]) for r in RIBS]
    world = World(torso, Behave(trunk, behaviour), frame_rate=rate, substeps=steps)
    world.start()

    def seen() -> tuple[Array, Array, Array]:
        state = world.state
        poses = bone_poses(s, state.q)
        turns = np.array([poses[p, :3, :3].T @ poses[i, :3, :3] for i, p in ribs])
        return lining.beyond(poses, state.breath.x), turns, np.array([state.breath.volume, state.breath.belly[0]])

    kept = [seen()]
    for _ in range(count):
        for _ in range(steps):
            world.step()
        kept.append(seen())
    d = np.array([k[0] for k in kept]) - kept[0][0]
    turns = np.array([[log_so3(now @ first.T) for now, first in zip(k[1], kept[0][1])] for k in kept])
    plain = np.array([k[2] for k in kept]) - kept[0][2]
    if periodic:
        d, turns, plain = (_closed(a[frames:]) for a in (d, turns, plain))
    u, size, v = np.linalg.svd(d.reshape(len(d), -1), full_matrices=False)
    for count in range(1, len(size) + 1):
        left = d.reshape(len(d), -1) - (u[:, :count] * size[:count]) @ v[:count]
        if np.abs(left).max() < OFF:
            break
    table = np.concatenate([plain, u[:, :count] * size[:count], turns.reshape(len(d), -1)], axis=1)
    return {
        "origins": bone_poses(s, trunk.body.default_q)[[i for i, _ in ribs], :3, 3],
        "points": lining.rest,
        "modes": v[:count].reshape(count, -1, 3),
        "table": table,
        "time": np.arange(len(d)) / rate,
    }


def _closed(values: Array) -> Array:
    """A period whose end is its beginning."""
    part = np.linspace(0.0, 1.0, len(values)).reshape(-1, *[1] * (values.ndim - 1))
    out = values - part * (values[-1] - values[0])
    out[-1] = out[0]
    return np.asarray(out)
