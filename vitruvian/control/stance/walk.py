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
from scipy.optimize import nnls
from scipy.signal import butter, filtfilt

from vitruvian.anatomy import Body
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Instant, Sensed, Swing, Wish
from vitruvian.control.stance.plans import CARRIES, NEAR, SIDE
from vitruvian.control.stance.soles import FEET, soles, soles_of
from vitruvian.couple import BodyState
from vitruvian.skeleton import bone_poses, centre_of_mass

Array = np.ndarray
STEP = 8e-3  # [s] over which the motion is differenced
RATE = 240.0  # [1/s] at which the motion is looked at for its stances
SPARSE, SMOOTH = 4, 6.0  # every which instant the spin is taken at, [Hz] of its low-pass filter
BRIEF = 0.2  # [s] that a foot stands at least
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
    wider: float = 0.0  # of each foot's place aside [m]
    apart: float = 0.06  # least distance of the feet's middles aside [m]
    early: float = 0.12  # [s] before its time at which a foot that touches stands
    waits: float = 0.02  # [s] after its time within which a foot that does not touch stops the clock
    answer: float = 4.0  # [1/s] at which the capture point is led back while the soles allow it
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
    bears: float = 0.004  # gap of a ball [m] up to which it is counted on
    spins: float = 1.0
    heels: bool = True
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
                    continue  # toes that brush the ground in mid-swing
                place = np.median(mine[first:end, :, :2].mean(axis=1), axis=0)
                place[0] += SIDE[foot] * self.wider
                found.append(Stance(float(times[first]), float(times[end - 1]), place))
            self.stances[foot] = found
        object.__setattr__(self, "centres", self._carried(times))

    def _carried(self, times: Array) -> Array:
        """The way of the centre of mass [m] (n, 3) that the motion's feet carry, from and to the motion's own."""
        s, h = self.body.skeleton, 1.0 / RATE
        out = np.array([centre_of_mass(s, self.motion.sample(float(t))[0]) for t in times])
        rise = np.gradient(np.gradient(out[:, 2], h), h)
        stiff = (float(np.linalg.norm(s.gravity)) + rise) / out[:, 2]
        object.__setattr__(self, "turns", self.spins * self._turned(times, out[:, 2]))
        bands, right = np.zeros((3, len(times))), self.turns - stiff[:, None] * self._pressure(times)
        bands[0, 2:] = bands[2, :-2] = 1.0 / h**2
        bands[1] = -2.0 / h**2 - stiff
        bands[1, [0, -1]], right[[0, -1]] = 1.0, out[[0, -1], :2]
        out[:, :2] = solve_banded((1, 1), bands, right)
        return out

    def _turned(self, times: Array, height: Array) -> Array:
        """(-L'_y, L'_x) / (m z) [m/s²], (n, 2): what the motion's changing spin adds to c''."""
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

    def _centre(self, time: float) -> Array:
        """Where the centre of mass should be [m], (3,), before the motion is set down elsewhere."""
        at = time * RATE
        k = int(np.clip(np.floor(at), 0, len(self.centres) - 2))
        return np.asarray(self.centres[k] + (at - k) * (self.centres[k + 1] - self.centres[k])) - (0.0, 0.0, self.low)

    def first_velocity(self, q: Array, v: Array) -> Array:
        """v (n_v,) with the pelvis' changed so that the capture point is where it is led at time 0: the captured one
        is up to 8 cm beside that, which no foot could catch."""
        now = Instant.of(self.body, q, v)
        shift = np.mean(self._off(now.points, 0.0), axis=0)
        led = (self._centre(STEP) - self._centre(0.0)) / STEP
        omega = np.sqrt(float(np.linalg.norm(self.body.skeleton.gravity)) / now.centre[2])
        change = (led - now.centre_rate)[:2] - omega * (now.centre - self._centre(0.0))[:2] + omega * shift
        out, turn = v.copy(), bone_poses(self.body.skeleton, q)[0, :3, :3]
        out[3:6] += turn.T @ np.array([*change, 0.0])
        return out

    def _off(self, points: Array, time: float) -> list[Array]:
        """How far soles that stand in the motion are from their places there [m], (2,) each."""
        feet = soles_of(self.body)
        stances = {foot: self._stance(foot, time)[0] for foot in FEET}
        return [points[feet.foot[f], :2].mean(axis=0) - now.place for f, now in stances.items() if now] or [np.zeros(2)]

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        feet = soles_of(self.body)
        pace = self._clock(sensed, time, memory)
        time = time + memory["ahead"]
        shift = np.array([memory.get("shift x", 0.0), memory.get("shift y", 0.0), 0.0])
        times = [time + pace * x for x in (-STEP, 0.0, STEP)]
        samples = [self.motion.sample(t) for t in times]
        centres = np.array([self._centre(t) for t in times]) + shift
        points = np.array([soles(self.body, q) for q, _, _ in samples]) + shift
        centre, centre_v, centre_a = _differenced(centres)
        standing, carrying = np.zeros(feet.n, dtype=bool), np.zeros(feet.n, dtype=bool)
        led, rolling = np.zeros(feet.n, dtype=bool), np.zeros(feet.n, dtype=bool)
        for foot in FEET:
            mine = feet.foot[foot]
            now, soon = self._stance(foot, time)
            if memory[f"{foot} stands"] > 0.0:
                memory.pop(f"{foot} lifts", None)
                standing[mine] = points[1, mine, 2] < self.height + CARRIES
                if now is not None and time - now.down > self.rolls * (now.up - now.down):
                    rolling |= mine & ~feet.front
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
                for k, t in enumerate(times):
                    w = float(np.clip((t - began) / max(aim.down - began, 1e-6), 0.0, 1.0))
                    points[k, mine, :2] += _eased(w / self.there) * beside
                    since = (t - lifts) / max(aim.down - lifts, 1e-6)
                    points[k, mine, :2] += (1.0 - _eased(since / self.there)) * stood_off
                    points[k, mine, 2] += self.lift * (1.0 - (2.0 * w - 1.0) ** 4)
                    if now is not None:  # late: down
                        points[k, mine, 2] = np.minimum(points[k, mine, 2], 0.0)
        place, rate, bend = _differenced(points)
        turn = self.turns[int(np.clip(round(time * RATE), 0, len(self.turns) - 1))]
        wanted = self._answer(sensed, centre, centre_v, centre_a, turn)
        front = standing & ~rolling
        if not self.heels or (front.any() and wanted[1] < sensed.points[front, 1].max()):
            standing = front
        carrying = standing & (sensed.gap < self.bears)
        if self.answer > 0.0 and carrying.any():
            pressure, fall = _inside(sensed.points[carrying, :2], wanted), self._fall(centre_a)
            centre[:2], centre_v[:2] = sensed.centre[:2], sensed.velocity[:2]
            centre_a[:2] = fall / sensed.centre[2] * (sensed.centre[:2] - pressure) + turn
        q, v, a = samples[1]
        q = q.copy()
        q[:2] += shift[:2]
        swing = Swing(led, place, rate, bend) if led.any() else None
        return Wish(
            q, pace * v, pace * pace * a, self.weight, carrying, standing, centre, centre_v, centre_a,
            spin_weight=self.spin_weight, swing=swing, centre_weight=np.full(3, self.centre_weight),
        )  # fmt: skip

    def _clock(self, sensed: Sensed, time: float, memory: dict[str, float]) -> float:
        """Set the motion's clock, `ahead` [s] of the time, by what touches; returns how fast it goes.

        A foot that comes down before its time sets the clock to when it should have, and one that is late stops it."""
        feet, pace = soles_of(self.body), 1.0
        since = time - memory.get("decided", time)
        memory["decided"] = time
        if "ahead" not in memory:
            x, y = np.mean(self._off(sensed.points, time), axis=0)
            memory |= {"ahead": 0.0, "shift x": float(x), "shift y": float(y)}
        if memory.get("pace", 1.0) < 1.0:
            memory["ahead"] -= (1.0 - memory["pace"]) * since
        for foot in FEET:
            mine, key, at = feet.foot[foot], f"{foot} stands", time + memory["ahead"]
            now, soon = self._stance(foot, at)
            gap = float(sensed.gap[mine].min())
            stood = memory.get(key, 0.0) > 0.0
            if now is None and not stood and soon is not None and soon.down - at < self.early and gap < NEAR:
                memory["ahead"] += soon.down - at + 1e-6
                now = soon
            stands = now is not None and gap < (CARRIES if stood else NEAR)
            if now is not None and stands and not stood and since > 0.0:
                middle = sensed.points[mine, :2].mean(axis=0)
                memory["shift x"], memory["shift y"] = (float(x) for x in middle - now.place)
            if now is not None and not stands and at - now.down < self.waits:
                pace = 0.0
            memory[key] = 1.0 if stands else 0.0
        memory["pace"] = pace
        return pace

    def _stance(self, foot: str, time: float) -> tuple[Stance | None, Stance | None]:
        """The foot's stance in the motion at `time`, and the next one."""
        now = [x for x in self.stances[foot] if x.down <= time <= x.up]
        soon = [x for x in self.stances[foot] if x.down > time]
        return (now[0] if now else None), (soon[0] if soon else None)

    def _left_ground(self, foot: str, time: float) -> float:
        """When the foot last left the ground in the motion [s]."""
        return max((x.up for x in self.stances[foot] if x.up < time), default=0.0)

    def _fall(self, centre_a: Array) -> float:
        return max(1.0, float(np.linalg.norm(self.body.skeleton.gravity)) + float(centre_a[2]))

    def _answer(self, sensed: Sensed, centre: Array, velocity: Array, bend: Array, turn: Array) -> Array:
        """Centre of pressure [m] (2,) that leads the capture point back."""
        omega = np.sqrt(self._fall(bend) / max(0.3, float(sensed.centre[2])))
        led = centre[:2] - (bend[:2] - turn) * centre[2] / self._fall(bend)
        error = (sensed.centre - centre + (sensed.velocity - velocity) / omega)[:2]
        return np.asarray(led + (1.0 + self.answer / omega) * error)

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
        side = SIDE[foot]
        away = side * (aim.place[0] + shift[0] + out[0] - stands)
        out[0] += side * max(0.0, self.apart - away)
        return np.asarray(out)


def _inside(points: Array, wanted: Array) -> Array:
    """The point of the convex hull of points (n, 2) that is nearest to `wanted` (2,)."""
    much = 1e3  # of the shares' sum being 1
    share, _ = nnls(np.vstack([(points - wanted).T, np.full(len(points), much)]), np.array([0.0, 0.0, much]))
    return np.asarray(share @ points / share.sum())


def _eased(u: float) -> float:
    """From 0 to 1 by the smoothest polynomial."""
    u = min(max(u, 0.0), 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


def _differenced(three: Array) -> tuple[Array, Array, Array]:
    """Value, first and second derivative amid three samples, STEP apart."""
    before, now, after = three
    return now.copy(), (after - before) / (2.0 * STEP), (after - 2.0 * now + before) / STEP**2
