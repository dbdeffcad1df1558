"""Walking after a motion, with feet placed where they catch the body.

The motion says when which foot stands, and leads posture and centre of mass. Where a foot comes down in truth, there
the motion is set down as well: its world is moved with the foot that stands. What the stance does not hold is caught by
the next foot. With the capture point ξ = c + c'/ω, ω = sqrt(g / height) (Pratt et al. 2006; Hof 2008, Hum. Mov. Sci.
27:112), an error e of ξ grows as exp(ω t) while nothing is done about it, so a foot that comes down in t seconds is led
beside its place in the motion by

    e exp(ω t),

by and by during its swing. With the next stance that error is gone.

A captured centre of mass need not be one that its feet can carry, and a body that follows it falls behind and aside.
So it is led along the way that the motion's own feet carry,

    c'' = (g + z'') / z (c - p)     ahead and aside,

with the motion's height z and the centre of pressure p going from heel to toe of each foot that stands. Late in a
stance the heel may leave the ground. A foot in the air is led to where the motion has it while it stands, from where it
stood: a way that begins elsewhere may lead it against the other foot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_banded

from vitruvian.anatomy import Body
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Sensed, Swing, Wish
from vitruvian.control.stance.plans import CARRIES, NEAR
from vitruvian.control.stance.soles import FEET, soles, soles_of
from vitruvian.couple import BodyState
from vitruvian.skeleton import centre_of_mass

Array = np.ndarray
STEP = 8e-3  # [s] over which the motion is differenced
RATE = 240.0  # [1/s] at which the motion is looked at for its stances
SHIFT = 0.1  # [s] in which a foot takes over the load, or gives it away


class Stance(NamedTuple):
    """One foot on the ground, in the motion."""

    down: float  # [s]
    up: float  # [s]
    place: Array  # middle of the sole [m], (2,)


@dataclass(frozen=True)
class Walk:
    """Follow a motion that walks for `seconds`."""

    body: Body
    motion: Motion
    weight: Array
    seconds: float
    height: float = 0.007  # of a sole in the motion [m] below which its foot stands
    reach: tuple[float, float] = (0.3, 0.25)  # most that a foot is placed aside and ahead of its place in the motion
    apart: float = 0.06  # least distance of the feet's middles aside [m]
    early: float = 0.06  # [s] before its time at which a foot that touches may stand
    gain: float = 1.0  # of placing the feet; 0: where the motion has them
    spin_weight: float = 0.1
    centre_weight: float = 2.0  # of the centre of mass, beside a posture's 1
    low: float = 0.02  # of the centre of mass below the motion's [m], so that knees need not be straight
    lift: float = 0.04  # of a foot in the air above the motion's [m]
    there: float = 0.85  # share of a swing after which the foot is over its place
    rolls: float = 0.6  # share of a stance after which the heel may leave the ground
    heel: float = 0.06  # of the centre of pressure behind the middle of the sole when the foot comes down [m]
    toe: float = 0.09  # and before it when it leaves
    stances: dict[str, list[Stance]] = field(init=False, default_factory=dict)
    centres: Array = field(init=False)  # of mass [m], RATE a second, (n, 3)

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
                place = np.median(mine[first:end, :, :2].mean(axis=1), axis=0)
                found.append(Stance(float(times[first]), float(times[end - 1]), place))
            self.stances[foot] = found
        object.__setattr__(self, "centres", self._carried(times))

    def _carried(self, times: Array) -> Array:
        """The way of the centre of mass [m] (n, 3) that the motion's feet carry, from and to the motion's own."""
        s, h = self.body.skeleton, 1.0 / RATE
        out = np.array([centre_of_mass(s, self.motion.sample(float(t))[0]) for t in times])
        rise = np.gradient(np.gradient(out[:, 2], h), h)
        stiff = (float(np.linalg.norm(s.gravity)) + rise) / out[:, 2]
        bands, right = np.zeros((3, len(times))), -stiff[:, None] * self._pressure(times)
        bands[0, 2:] = bands[2, :-2] = 1.0 / h**2
        bands[1] = -2.0 / h**2 - stiff
        bands[1, [0, -1]], right[[0, -1]] = 1.0, out[[0, -1], :2]
        out[:, :2] = solve_banded((1, 1), bands, right)
        return out

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

    def _centre(self, time: float) -> Array:
        """Where the centre of mass should be [m], (3,), before the motion is set down elsewhere."""
        at = time * RATE
        k = int(np.clip(np.floor(at), 0, len(self.centres) - 2))
        return np.asarray(self.centres[k] + (at - k) * (self.centres[k + 1] - self.centres[k])) - (0.0, 0.0, self.low)

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        feet = soles_of(self.body)
        shift = np.array([memory.get("shift x", 0.0), memory.get("shift y", 0.0), 0.0])
        samples = [self.motion.sample(time + x) for x in (-STEP, 0.0, STEP)]
        centres = np.array([self._centre(time + x) for x in (-STEP, 0.0, STEP)]) + shift
        points = np.array([soles(self.body, q) for q, _, _ in samples]) + shift
        centre, centre_v, centre_a = _differenced(centres)
        standing, carrying = np.zeros(feet.n, dtype=bool), np.zeros(feet.n, dtype=bool)
        led = np.zeros(feet.n, dtype=bool)
        for foot in FEET:
            mine, key = feet.foot[foot], f"{foot} stands"
            now, soon = self._stance(foot, time)
            gap = sensed.gap[mine].min()
            stood = memory.get(key, 0.0) > 0.0
            if now is not None:
                stands = gap < (CARRIES if stood else NEAR)
            else:
                stands = not stood and soon is not None and soon.down - time < self.early and gap < NEAR
                stands = stands or (stood and memory.get(f"{foot} early", 0.0) > time)
            if stands and not stood:
                stance = now if now is not None else soon
                assert stance is not None
                middle = sensed.points[mine, :2].mean(axis=0)
                if time > 0.0:
                    memory["shift x"], memory["shift y"] = (float(x) for x in middle - stance.place)
                memory[f"{foot} early"] = stance.down
            memory[key] = 1.0 if stands else 0.0
            if stands:
                memory.pop(f"{foot} lifts", None)
                front = points[1, mine, 2] < self.height + CARRIES
                standing[mine] = front if now is not None else True
                if now is not None and time - now.down > self.rolls * (now.up - now.down):
                    standing &= ~mine | feet.front
            elif now is not None or soon is not None:
                led |= mine
                aim = now if now is not None else soon
                assert aim is not None
                left = max(0.0, aim.down - time)
                beside = self._beside(foot, sensed, centre, centre_v, left, shift, aim)
                began = self._left_ground(foot, time)
                late = soles(self.body, self.motion.sample(aim.down)[0])[mine, :2].mean(axis=0)
                beside = beside + aim.place - late
                if f"{foot} lifts" not in memory:  # where it stood, beside where the motion has it
                    off = sensed.points[mine, :2].mean(axis=0) - points[1, mine, :2].mean(axis=0)
                    memory |= {f"{foot} lifts": time, f"{foot} off x": float(off[0]), f"{foot} off y": float(off[1])}
                lifts = memory[f"{foot} lifts"]
                stood_off = np.array([memory[f"{foot} off x"], memory[f"{foot} off y"]])
                for k, x in enumerate((-STEP, 0.0, STEP)):
                    w = float(np.clip((time + x - began) / max(aim.down - began, 1e-6), 0.0, 1.0))
                    points[k, mine, :2] += _eased(w / self.there) * beside
                    since = (time + x - lifts) / max(aim.down - lifts, 1e-6)
                    points[k, mine, :2] += (1.0 - _eased(since / self.there)) * stood_off
                    points[k, mine, 2] += self.lift * (1.0 - (2.0 * w - 1.0) ** 4)
                    if now is not None:  # late: down
                        points[k, mine, 2] = np.minimum(points[k, mine, 2], 0.0)
        place, rate, bend = _differenced(points)
        carrying = standing & (sensed.gap < CARRIES)
        q, v, a = samples[1]
        q = q.copy()
        q[:2] += shift[:2]
        swing = Swing(led, place, rate, bend) if led.any() else None
        return Wish(
            q, v, a, self.weight, carrying, standing, centre, centre_v, centre_a, spin_weight=self.spin_weight,
            swing=swing, centre_weight=np.full(3, self.centre_weight),
        )  # fmt: skip

    def _stance(self, foot: str, time: float) -> tuple[Stance | None, Stance | None]:
        """The foot's stance in the motion at `time`, and the next one."""
        now = [x for x in self.stances[foot] if x.down <= time <= x.up]
        soon = [x for x in self.stances[foot] if x.down > time]
        return (now[0] if now else None), (soon[0] if soon else None)

    def _left_ground(self, foot: str, time: float) -> float:
        """When the foot last left the ground in the motion [s]."""
        return max((x.up for x in self.stances[foot] if x.up < time), default=0.0)

    def _beside(
        self, foot: str, sensed: Sensed, centre: Array, velocity: Array, left: float, shift: Array, aim: Stance
    ) -> Array:
        """How far from its place in the motion the foot should come down [m], (2,)."""
        fall = float(np.linalg.norm(self.body.skeleton.gravity))
        omega = np.sqrt(fall / max(0.3, float(sensed.centre[2])))
        error = (sensed.centre - centre + (sensed.velocity - velocity) / omega)[:2]
        out = np.clip(self.gain * error * np.exp(omega * left), -np.array(self.reach), self.reach)
        other = soles_of(self.body).foot[FEET[1 - FEET.index(foot)]]
        stands = float(sensed.points[other, 0].mean())
        side = 1.0 if foot.endswith("_l") else -1.0  # +x is the body's left
        away = side * (aim.place[0] + shift[0] + out[0] - stands)
        out[0] += side * max(0.0, self.apart - away)
        return np.asarray(out)


def _eased(u: float) -> float:
    """From 0 to 1 by the smoothest polynomial."""
    u = min(max(u, 0.0), 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


def _differenced(three: Array) -> tuple[Array, Array, Array]:
    """Value, first and second derivative amid three samples, STEP apart."""
    before, now, after = three
    return now.copy(), (after - before) / (2.0 * STEP), (after - 2.0 * now + before) / STEP**2
