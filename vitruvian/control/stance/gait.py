"""The steps of a motion that walks: when and where each foot stands, and the way of the centre of mass that they carry.

A captured centre of mass need not be one that its feet can carry, and a body that follows it falls behind and aside.
So it is led along the way that the motion's own feet and its own turning carry (L is the angular momentum about it),

    c'' = (g + z'') / z (c - p) + (-L'_y, L'_x) / (m z)     aside and ahead,

with the motion's height z and the centre of pressure p going from heel to toe of each foot that stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_banded
from scipy.signal import butter, filtfilt

from vitruvian.anatomy import Body
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Instant
from vitruvian.control.stance.soles import FEET, SIDE, soles, soles_of
from vitruvian.skeleton import centre_of_mass

Array = np.ndarray
RATE = 240.0  # [1/s] at which the motion is looked at
SPARSE, SMOOTH = 4, 6.0  # every which instant the spin is taken at, [Hz] of its low-pass filter
BRIEF = 0.2  # [s] that a foot stands at least: toes that brush the ground in mid-swing do not stand
SHIFT = 0.1  # [s] in which a foot takes over the load, or gives it away


class Stance(NamedTuple):
    """One foot on the ground, in the motion."""

    down: float  # [s]
    up: float  # [s]
    place: Array  # middle of the sole [m], (2,)


@dataclass(frozen=True)
class Gait:
    """The steps of a motion in its first `seconds`."""

    body: Body
    motion: Motion
    seconds: float
    height: float = 0.007  # of a sole in the motion [m] below which its foot stands
    wider: float = 0.02  # that feet stand beside where the motion has them [m]: captured ones may swing through
    heel: float = 0.06  # of the centre of pressure behind the middle of the sole when the foot comes down [m]
    toe: float = 0.09  # and before it when it leaves
    stances: dict[str, list[Stance]] = field(init=False, default_factory=dict)
    centres: Array = field(init=False)  # of mass [m], RATE a second, (n, 3)
    turns: Array = field(init=False)  # what the changing spin adds to their acceleration [m/s²], (n, 2)

    def __post_init__(self) -> None:
        feet = soles_of(self.body)
        times = np.arange(0.0, self.seconds + 2.0, 1.0 / RATE)
        points = np.array([soles(self.body, self.motion.sample(float(t))[0]) for t in times])
        for foot in FEET:
            mine = points[:, feet.foot[foot]]
            on = mine[..., 2].min(axis=1) < self.height
            edges = np.flatnonzero(np.diff(np.r_[False, on, False].astype(int)))
            found = []
            for first, end in zip(edges[::2], edges[1::2]):
                if end - first < BRIEF * RATE and first > 0 and end < len(times):
                    continue
                place = np.median(mine[first:end, :, :2].mean(axis=1), axis=0)
                place[0] += SIDE[foot] * self.wider
                found.append(Stance(float(times[first]), float(times[end - 1]), place))
            self.stances[foot] = found
        self._carry(times)

    def stance(self, foot: str, time: float) -> tuple[Stance | None, Stance | None]:
        """The foot's stance in the motion at `time`, and the next one."""
        now = [x for x in self.stances[foot] if x.down <= time <= x.up]
        soon = [x for x in self.stances[foot] if x.down > time]
        return (now[0] if now else None), (soon[0] if soon else None)

    def left_ground(self, foot: str, time: float) -> float:
        """When the foot last left the ground in the motion [s]."""
        return max((x.up for x in self.stances[foot] if x.up < time), default=0.0)

    def off(self, points: Array, time: float) -> Array:
        """How far soles (n, 3) of feet that stand in the motion are from their places there [m], mean, (2,)."""
        feet = soles_of(self.body)
        now = {foot: self.stance(foot, time)[0] for foot in FEET}
        off = [points[feet.foot[foot], :2].mean(axis=0) - x.place for foot, x in now.items() if x is not None]
        return np.asarray(np.mean(off, axis=0)) if off else np.zeros(2)

    def centre(self, time: float) -> Array:
        """Where the centre of mass is carried [m], (3,)."""
        at = time * RATE
        k = int(np.clip(np.floor(at), 0, len(self.centres) - 2))
        return np.asarray(self.centres[k] + (at - k) * (self.centres[k + 1] - self.centres[k]))

    def turn(self, time: float) -> Array:
        """What the motion's changing spin adds to the acceleration of the centre of mass [m/s²], (2,)."""
        return np.asarray(self.turns[int(np.clip(round(time * RATE), 0, len(self.turns) - 1))])

    def _carry(self, times: Array) -> None:
        """The way of the centre of mass that the motion's feet carry, from and to the motion's own."""
        s, h = self.body.skeleton, 1.0 / RATE
        out = np.array([centre_of_mass(s, self.motion.sample(float(t))[0]) for t in times])
        rise = np.gradient(np.gradient(out[:, 2], h), h)
        stiff = (float(np.linalg.norm(s.gravity)) + rise) / out[:, 2]
        turns = self._turned(times, out[:, 2])
        bands, right = np.zeros((3, len(times))), turns - stiff[:, None] * self._pressure(times)
        bands[0, 2:] = bands[2, :-2] = 1.0 / h**2
        bands[1] = -2.0 / h**2 - stiff
        bands[1, [0, -1]], right[[0, -1]] = 1.0, out[[0, -1], :2]
        out[:, :2] = solve_banded((1, 1), bands, right)
        object.__setattr__(self, "centres", out)
        object.__setattr__(self, "turns", turns)

    def _turned(self, times: Array, height: Array) -> Array:
        """(-L'_y, L'_x) / (m z) [m/s²], (n, 2)."""
        s, few = self.body.skeleton, times[::SPARSE]
        spin = np.empty((len(few), 3))
        for k, t in enumerate(few):
            q, v, _ = self.motion.sample(float(t))
            spin[k] = Instant.of(self.body, q, v).spin @ v
        rate = np.gradient(filtfilt(*butter(2, SMOOTH / (0.5 * RATE / SPARSE)), spin, axis=0), few, axis=0)
        full = np.column_stack([np.interp(times, few, rate[:, k]) for k in (0, 1)])
        return np.column_stack([-full[:, 1], full[:, 0]]) / (s.mass * height[:, None])

    def _pressure(self, times: Array) -> Array:
        """Centre of pressure [m] (n, 2): under each foot from heel to toe, from foot to foot while both stand."""
        load, where = np.zeros((len(times), 1)), np.zeros((len(times), 2))
        for foot in FEET:
            for down, up, place in self.stances[foot]:
                on = (times >= down) & (times <= up)
                mine = np.minimum(1.0, np.minimum(times[on] - down, up - times[on]) / SHIFT + 1e-3)[:, None]
                along = (times[on] - down) / max(up - down, 1.0 / RATE)
                load[on] += mine
                where[on] += mine * place
                where[on, 1] += mine[:, 0] * (self.heel - (self.heel + self.toe) * along)
        stands = load[:, 0] > 0.0
        return np.column_stack(
            [np.interp(times, times[stands], (where / np.maximum(load, 1e-9))[stands, k]) for k in (0, 1)]
        )
