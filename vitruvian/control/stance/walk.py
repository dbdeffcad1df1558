"""Walking after a motion, with feet placed where they catch the body.

The motion says when which foot stands, and leads posture and centre of mass. Where a foot comes down in truth, there
the motion is set down as well: its world is moved with the foot that stands. What the stance does not hold is caught by
the next foot. With the capture point ξ = c + c'/ω, ω = sqrt(g / height) (Pratt et al. 2006; Hof 2008, Hum. Mov. Sci.
27:112), an error e of ξ grows as exp(ω t) while nothing is done about it, so a foot that comes down in t seconds is led
beside its place in the motion by

    e exp(ω t),

by and by during its swing. With the next stance that error is gone.

A captured motion seldom sways as its own feet ask for. Horizontally the centre of mass is led on the one way that never
leaves the feet: with the centre of pressure p(t) of the motion's stances, c'' = ω² (c - p) is bounded for

    c(t) = ω/2 ∫ p(τ) exp(-ω |t - τ|) dτ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

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
AROUND = 1.5  # [s] before and after that are looked at too
AHEAD = 0.9  # share of a swing after which the foot is over its place
SHARED = 0.1  # [s] at either end of a stance in which a foot takes over


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
    reach: tuple[float, float] = (0.12, 0.25)  # most that a foot is placed aside and ahead of its place in the motion
    apart: float = 0.06  # least distance of the feet's middles aside [m]
    early: float = 0.06  # [s] before its time at which a foot that touches may stand
    lift: float = 0.03  # by which a foot is led higher than in the motion amid its swing [m]
    gain: float = 1.0  # of placing the feet; 0: where the motion has them
    touches: float = 0.003  # gap [m] below which a ball of a foot that stands is counted on
    wide: float = 0.0  # by which each foot is placed farther out than in the motion [m]
    centre_weight: float = 1.0  # of the horizontal goals of the centre of mass
    spin_weight: float = 0.1
    stances: dict[str, list[Stance]] = field(init=False, default_factory=dict)
    _times: Array = field(init=False, repr=False)
    _way: Array = field(init=False, repr=False)  # centre of mass, its velocity and acceleration, (n, 3, 2)

    def __post_init__(self) -> None:
        s, feet = self.body.skeleton, soles_of(self.body)
        times = np.arange(-AROUND, self.seconds + 2.0 * AROUND, 1.0 / RATE)
        points = np.array([soles(self.body, self.motion.sample(float(t))[0]) for t in times])
        weights, middles = [], []
        for foot in FEET:
            mine = points[:, feet.foot[foot]]
            mine[..., 0] += self.wide if foot.endswith("_l") else -self.wide  # +x is the body's left
            on = mine[..., 2].min(axis=1) < self.height
            edges = np.flatnonzero(np.diff(np.r_[False, on, False].astype(int)))
            found, weight = [], np.zeros(len(times))
            for first, end in zip(edges[::2], edges[1::2]):
                place = np.median(mine[first:end, :, :2].mean(axis=1), axis=0)
                found.append(Stance(float(times[first]), float(times[end - 1]), place))
                ends = np.minimum(times - times[first], times[end - 1] - times)
                weight = np.maximum(weight, np.clip(ends / SHARED, 1e-3, 1.0) * (ends >= 0.0))
            self.stances[foot] = found
            low = np.exp(-np.maximum(mine[..., 2], 0.0) / 0.01)[..., None]
            middles.append((mine[..., :2] * low).sum(axis=1) / low.sum(axis=1))
            weights.append(weight)
        share = np.array(weights)[..., None] + 1e-9
        pressure = (np.array(middles) * share).sum(axis=0) / share.sum(axis=0)
        height = np.mean([centre_of_mass(s, self.motion.sample(float(t))[0])[2] for t in np.arange(0.0, 1.0, 0.1)])
        omega = np.sqrt(np.linalg.norm(s.gravity) / height)
        kernel = np.exp(-omega * np.abs(times[:, None] - times[None]))
        kernel /= kernel.sum(axis=1, keepdims=True)
        centre = kernel @ pressure
        way = np.stack([centre, np.gradient(centre, 1.0 / RATE, axis=0), omega**2 * (centre - pressure)], axis=1)
        object.__setattr__(self, "_times", times)
        object.__setattr__(self, "_way", way)

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        s, feet = self.body.skeleton, soles_of(self.body)
        shift = np.array([memory.get("shift x", 0.0), memory.get("shift y", 0.0), 0.0])
        samples = [self.motion.sample(time + x) for x in (-STEP, 0.0, STEP)]
        centres = np.array([centre_of_mass(s, q) for q, _, _ in samples])
        points = np.array([soles(self.body, q) for q, _, _ in samples]) + shift
        centre, centre_v, centre_a = _differenced(centres)
        centre[:2], centre_v[:2], centre_a[:2] = self.led_centre(time)
        centre += shift
        place, rate, bend = _differenced(points)
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
                memory["shift x"], memory["shift y"] = (float(x) for x in middle - stance.place)
                memory[f"{foot} early"] = stance.down
            memory[key] = 1.0 if stands else 0.0
            if stands:
                front = place[mine, 2] < self.height + CARRIES
                standing[mine] = front if now is not None else True
            elif now is not None or soon is not None:
                led |= mine
                aim = now if now is not None else soon
                assert aim is not None
                if stood or f"{foot} left" not in memory:
                    memory[f"{foot} left"] = time
                    memory[f"{foot} x"], memory[f"{foot} y"] = (float(x) for x in sensed.points[mine, :2].mean(axis=0))
                left = np.array([memory[f"{foot} x"], memory[f"{foot} y"]])
                beside = self._beside(foot, sensed, centre, centre_v, max(0.0, aim.down - time), shift, aim)
                way = aim.place + shift[:2] + beside - left
                long = max(AHEAD * (aim.down - memory[f"{foot} left"]), 1e-3)
                u = min(1.0, (time - memory[f"{foot} left"]) / long)
                middle = place[mine, :2].mean(axis=0)
                place[mine, :2] += left + u**3 * (10.0 - 15.0 * u + 6.0 * u * u) * way - middle
                rate[mine, :2] += 30.0 * (u * (1.0 - u)) ** 2 / long * way - rate[mine, :2].mean(axis=0)
                bend[mine, :2] += 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / long**2 * way - bend[mine, :2].mean(axis=0)
                place[mine, 2] += 16.0 * self.lift * (u * (1.0 - u)) ** 2
                if now is not None:  # late: down
                    place[mine, 2] = np.minimum(place[mine, 2], 0.0)
        carrying = standing & (sensed.gap < self.touches)
        q, v, a = samples[1]
        q = q.copy()
        q[:2] += shift[:2]
        swing = Swing(led, place, rate, bend) if led.any() else None
        return Wish(
            q, v, a, self.weight, carrying, standing, centre, centre_v, centre_a, spin_weight=self.spin_weight,
            swing=swing, centre_weight=np.array([self.centre_weight, self.centre_weight, 1.0]),
        )  # fmt: skip

    def led_centre(self, time: float) -> tuple[Array, Array, Array]:
        """Where the centre of mass is led horizontally [m], its velocity and acceleration, (2,) each."""
        at = [[float(np.interp(time, self._times, self._way[:, d, k])) for k in range(2)] for d in range(3)]
        return np.array(at[0]), np.array(at[1]), np.array(at[2])

    def _stance(self, foot: str, time: float) -> tuple[Stance | None, Stance | None]:
        """The foot's stance in the motion at `time`, and the next one."""
        now = [x for x in self.stances[foot] if x.down <= time <= x.up]
        soon = [x for x in self.stances[foot] if x.down > time]
        return (now[0] if now else None), (soon[0] if soon else None)

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


def _differenced(three: Array) -> tuple[Array, Array, Array]:
    """Value, first and second derivative amid three samples, STEP apart."""
    before, now, after = three
    return now.copy(), (after - before) / (2.0 * STEP), (after - 2.0 * now + before) / STEP**2
