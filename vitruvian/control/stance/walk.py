"""Walking after a motion, with feet placed where they catch the body.

The motion says when which foot stands, and leads posture and centre of mass (`gait`). Where a foot comes down in truth,
there the motion is set down as well: its world is moved with the foot that stands, and one that comes down early sets
the motion's clock on to its time. What leads is the capture point ξ = c + c'/ω, ω = sqrt(g / height) (Pratt et al.
2006; Hof 2008, Hum. Mov. Sci. 27:112). With the centre of pressure p it goes as ξ' = ω (ξ - p), so that

    p = p* + (1 + k/ω) (ξ - ξ*),   inside the balls of the soles that are on the ground,

leads it back, and no more is asked of the ground than it can give: c'' = ω² (c - p) and what the motion's spin adds. A
wish for more is paid by the trunk. The rest is caught by the next foot: an error e of ξ grows as exp(ω t), so a foot
that comes down in t seconds is led beside its place in the motion by e exp(ω t), by and by during its swing.

Late in a stance the heel may leave the ground unless p should be there. A foot in the air is led to where the motion
has it while it stands, from where it stood: a way that begins elsewhere may lead it against the other foot.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import nnls

from vitruvian.anatomy import Body
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Instant, Sensed, Swing, Wish
from vitruvian.control.stance.gait import Gait, Stance
from vitruvian.control.stance.plans import CARRIES, NEAR
from vitruvian.control.stance.soles import FEET, SIDE, soles, soles_of
from vitruvian.couple import BodyState
from vitruvian.skeleton import bone_poses

Array = np.ndarray
STEP = 8e-3  # [s] over which the motion is differenced
BEARS = 0.008  # gap of a ball [m] up to which it is counted on: feet roll onto it


@dataclass(frozen=True)
class Walk:
    """Follow a motion that walks for `seconds`."""

    body: Body
    motion: Motion
    weight: Array
    seconds: float
    reach: tuple[float, float] = (0.3, 0.25)  # most that a foot is placed aside and ahead of its place in the motion
    apart: float = 0.06  # least distance of the feet's middles aside [m]
    early: float = 0.12  # [s] before its time at which a foot that touches stands
    answer: float = 4.0  # k [1/s] at which the capture point is led back while the soles allow it
    gain: float = 1.0  # of placing the feet; 0: where the motion has them
    centre_weight: float = 4.0  # of the centre of mass, beside a posture's 1
    low: float = 0.02  # of the centre of mass below the motion's [m], so that knees need not be straight
    lift: float = 0.04  # of a foot in the air above the motion's [m]
    there: float = 0.85  # share of a swing after which the foot is over its place
    rolls: float = 0.6  # share of a stance after which the heel may leave the ground
    gait: Gait = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gait", Gait(self.body, self.motion, self.seconds))

    def first_velocity(self, q: Array, v: Array) -> Array:
        """v (n_v,) with the pelvis' changed so that the capture point is where it is led at time 0: the captured one
        is up to 8 cm beside that, which no foot could catch."""
        now = Instant.of(self.body, q, v)
        led = self._centre(0.0)
        rate = (self._centre(STEP) - led) / STEP
        omega = np.sqrt(float(np.linalg.norm(self.body.skeleton.gravity)) / now.centre[2])
        off = (now.centre - led)[:2] - self.gait.off(now.points, 0.0)
        out, turn = v.copy(), bone_poses(self.body.skeleton, q)[0, :3, :3]
        out[3:6] += turn.T @ np.array([*((rate - now.centre_rate)[:2] - omega * off), 0.0])
        return out

    def _centre(self, time: float) -> Array:
        """Where the centre of mass should be [m], (3,), before the motion is set down elsewhere."""
        return self.gait.centre(time) - (0.0, 0.0, self.low)

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        feet = soles_of(self.body)
        self._set_down(sensed, time, memory)
        time += memory["ahead"]
        shift = np.array([memory["shift x"], memory["shift y"], 0.0])
        times = [time + x for x in (-STEP, 0.0, STEP)]
        samples = [self.motion.sample(t) for t in times]
        centres = np.array([self._centre(t) for t in times]) + shift
        points = np.array([soles(self.body, q) for q, _, _ in samples]) + shift
        centre, centre_v, centre_a = _differenced(centres)
        standing, carrying = np.zeros(feet.n, dtype=bool), np.zeros(feet.n, dtype=bool)
        led, rolling = np.zeros(feet.n, dtype=bool), np.zeros(feet.n, dtype=bool)
        for foot in FEET:
            mine = feet.foot[foot]
            now, soon = self.gait.stance(foot, time)
            if memory[f"{foot} stands"] > 0.0:
                memory.pop(f"{foot} lifts", None)
                standing[mine] = points[1, mine, 2] < self.gait.height + CARRIES
                if now is not None and time - now.down > self.rolls * (now.up - now.down):
                    rolling |= mine & ~feet.front
            elif now is not None or soon is not None:
                led |= mine
                aim = now if now is not None else soon
                assert aim is not None
                left = max(0.0, aim.down - time)
                beside = self._beside(foot, sensed, centre, centre_v, left, shift, aim)
                began = self.gait.left_ground(foot, time)
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
        turn = self.gait.turn(time)
        wanted = self._answer(sensed, centre, centre_v, centre_a, turn)
        front = standing & ~rolling
        if front.any() and wanted[1] < sensed.points[front, 1].max():
            standing = front
        carrying = standing & (sensed.gap < BEARS)
        if carrying.any():
            pressure = _inside(sensed.points[carrying, :2], wanted)
            centre[:2], centre_v[:2] = sensed.centre[:2], sensed.velocity[:2]
            centre_a[:2] = self._fall(centre_a) / sensed.centre[2] * (sensed.centre[:2] - pressure) + turn
        q, v, a = samples[1]
        q = q.copy()
        q[:2] += shift[:2]
        swing = Swing(led, place, rate, bend) if led.any() else None
        return Wish(
            q, v, a, self.weight, carrying, standing, centre, centre_v, centre_a, spin_weight=0.0, swing=swing,
            centre_weight=np.full(3, self.centre_weight),
        )  # fmt: skip

    def _set_down(self, sensed: Sensed, time: float, memory: dict[str, float]) -> None:
        """Which feet stand; where one comes down, the motion's place (`shift`) and clock (`ahead` [s]) are set."""
        feet, first = soles_of(self.body), "ahead" not in memory
        if first:
            x, y = self.gait.off(sensed.points, time)
            memory |= {"ahead": 0.0, "shift x": float(x), "shift y": float(y)}
        for foot in FEET:
            mine, key, at = feet.foot[foot], f"{foot} stands", time + memory["ahead"]
            now, soon = self.gait.stance(foot, at)
            gap, stood = float(sensed.gap[mine].min()), memory.get(key, 0.0) > 0.0
            if now is None and not stood and soon is not None and soon.down - at < self.early and gap < NEAR:
                memory["ahead"] += soon.down - at + 1e-6
                now = soon
            stands = now is not None and gap < (CARRIES if stood else NEAR)
            if now is not None and stands and not stood and not first:
                memory["shift x"], memory["shift y"] = (
                    float(x) for x in sensed.points[mine, :2].mean(axis=0) - now.place
                )
            memory[key] = 1.0 if stands else 0.0

    def _fall(self, centre_a: Array) -> float:
        """What the ground holds up, per mass [m/s²]."""
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
