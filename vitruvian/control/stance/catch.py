"""Standing, and a step where standing is not enough.

With the capture point ξ = c + c'/ω, ω = sqrt(g / height), a body at rest on its soles can be stopped by the ground's
forces while ξ is over them (Hof 2008, Hum. Mov. Sci. 27:112). When ξ leaves them ahead one foot is lifted, and comes
down where ξ will be then: with the centre of pressure p as near to ξ as the other sole allows,

    ξ(t) = p + (ξ - p) exp(ω t).

Of the two feet that one goes whose reach comes nearer to ξ(t); at a draw the one that is farther from it. Feet do not
cross. If ξ leaves the soles again, there is another step. To the back and the sides it does not step: there its steps
were no better than none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import ConvexHull

from vitruvian.anatomy import Body
from vitruvian.control.motion import Motion
from vitruvian.control.stance.control import Sensed, Swing, Wish
from vitruvian.control.stance.plans import NEAR, on_feet
from vitruvian.control.stance.soles import FEET, SIDE, soles, soles_of
from vitruvian.couple import BodyState

Array = np.ndarray
FRONT = 0.7  # least share of a side's normal that points ahead (-y)


@dataclass(frozen=True)
class Catch:
    """Follow a motion on both feet (a still one: stand); step where the capture point leaves the soles ahead."""

    body: Body
    motion: Motion
    weight: Array
    back: float = 0.035  # of the centre of mass behind the middle of the soles [m]
    spin_weight: float = 0.1
    edge: float = 0.0  # of the capture point inside the soles' edge at which a step begins [m]
    swing: float = 0.3  # [s] of a step
    lift: float = 0.05  # of the swinging foot [m]
    reach: float = 0.7  # longest step, between the middles of both soles [m]
    apart: float = 0.14  # least distance of the feet aside [m]
    beyond: float = 0.04  # of the foot's middle beyond the capture point [m]
    rest: float = 0.12  # [s] on both feet before the next step

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish:
        feet = soles_of(self.body)
        fall = float(np.linalg.norm(self.body.skeleton.gravity))
        omega = float(np.sqrt(fall / max(0.3, float(sensed.centre[2]))))
        capture = (sensed.centre + sensed.velocity / omega)[:2]
        if "foot" not in memory and time > memory.get("down", -1.0) + self.rest:
            stands = np.zeros(feet.n, dtype=bool)
            for mine in feet.foot.values():
                stands |= mine & bool((sensed.gap[mine] < NEAR).any())
            if stands.any() and _ahead(capture, sensed.points[stands, :2]) > -self.edge:
                self._lift_off(sensed, capture, omega, time, memory)
        wish = on_feet(self, time, state, sensed)
        assert wish.centre is not None
        if "foot" not in memory:
            return replace(wish, centre=self._lower(sensed, wish.centre))
        foot = FEET[int(memory["foot"])]
        mine, u = feet.foot[foot], (time - memory["up"]) / self.swing
        if u > 0.6 and float(sensed.gap[mine].min()) < NEAR:
            del memory["foot"]
            memory["down"] = time
            return replace(wish, centre=self._lower(sensed, wish.centre))
        if u < 0.8:
            goal = self._target(foot, sensed, capture, omega, (1.0 - u) * self.swing)
            memory["to x"], memory["to y"] = float(goal[0]), float(goal[1])
        start, end = (np.array([memory[f"{word} x"], memory[f"{word} y"]]) for word in ("from", "to"))
        other = sensed.points[feet.foot[FEET[1 - FEET.index(foot)]], :2].mean(axis=0)
        middle = 0.5 * (end + other) + (0.0, self.back)
        centre = np.array([*middle, wish.centre[2] - self._sink(float(np.linalg.norm(end - other)))])
        standing = wish.planted & ~mine
        return replace(
            wish, planted=standing, carrying=wish.carrying & standing, centre=centre,
            swing=self._led(mine, start, end, min(u, 1.2)),
        )  # fmt: skip

    def _lift_off(self, sensed: Sensed, capture: Array, omega: float, time: float, memory: dict[str, float]) -> None:
        """Choose the foot that steps."""
        feet, best = soles_of(self.body), []
        for k, foot in enumerate(FEET):
            goal = self._target(foot, sensed, capture, omega, self.swing)
            there = self._later(foot, sensed, capture, omega, self.swing)
            middle = sensed.points[feet.foot[foot], :2].mean(axis=0)
            best.append((round(float(np.linalg.norm(goal - there)), 2), -float(np.linalg.norm(middle - there)), k))
        k = min(best)[2]
        x, y = sensed.points[feet.foot[FEET[k]], :2].mean(axis=0)
        memory |= {"foot": float(k), "up": time, "from x": float(x), "from y": float(y)}
        memory["steps"] = memory.get("steps", 0.0) + 1.0

    def _later(self, foot: str, sensed: Sensed, capture: Array, omega: float, left: float) -> Array:
        """Where the capture point will be in `left` seconds on the other foot [m], (2,)."""
        other = sensed.points[soles_of(self.body).foot[FEET[1 - FEET.index(foot)]], :2]
        pressure = np.clip(capture, other.min(axis=0), other.max(axis=0))
        return np.asarray(pressure + (capture - pressure) * np.exp(omega * max(left, 0.0)))

    def _target(self, foot: str, sensed: Sensed, capture: Array, omega: float, left: float) -> Array:
        """Where the middle of the foot should come down [m], (2,)."""
        there = self._later(foot, sensed, capture, omega, left)
        other = sensed.points[soles_of(self.body).foot[FEET[1 - FEET.index(foot)]], :2].mean(axis=0)
        ahead = there - other
        far = float(np.linalg.norm(ahead))
        out = ahead * (1.0 + self.beyond / max(far, 1e-6)) - (0.0, self.back)
        out[0] = SIDE[foot] * max(SIDE[foot] * out[0], self.apart * self.body.scale)
        return np.asarray(other + out * min(1.0, self.reach * self.body.scale / float(np.linalg.norm(out))))

    def _led(self, mine: Array, start: Array, end: Array, u: float) -> Swing:
        """The foot's way: flat, by the smoothest polynomial, lifted between."""
        flat = soles(self.body, self.motion.sample(0.0)[0])
        shape = flat - np.array([*flat[mine, :2].mean(axis=0), flat[mine, 2].min()])
        T, w = self.swing, min(u, 1.0)
        s, ds, dds = (
            w**3 * (10.0 - 15.0 * w + 6.0 * w * w),
            30.0 * w**2 * (1.0 - w) ** 2,
            60.0 * w * (1.0 - w) * (1.0 - 2.0 * w),
        )
        way = end - start
        place, rate, bend = shape.copy(), np.zeros_like(shape), np.zeros_like(shape)
        place[:, :2] += start + s * way
        rate[:, :2], bend[:, :2] = ds / T * way, dds / T**2 * way
        place[:, 2] += self.lift * 16.0 * w**2 * (1.0 - w) ** 2 - 0.1 * max(u - 0.95, 0.0)
        rate[:, 2] = self.lift * 32.0 * w * (1.0 - w) * (1.0 - 2.0 * w) / T
        bend[:, 2] = self.lift * 32.0 * (1.0 - 6.0 * w + 6.0 * w * w) / T**2
        return Swing(mine, place, rate, bend)

    def _lower(self, sensed: Sensed, centre: Array) -> Array:
        """A goal of the centre of mass [m], (3,), as much lower as the feet stand apart."""
        feet = soles_of(self.body)
        left, right = (sensed.points[feet.foot[foot], :2].mean(axis=0) for foot in FEET)
        lower = self._sink(float(np.linalg.norm(left - right)))
        return centre - np.array([0.0, 0.0, lower])

    def _usual(self) -> float:
        """How far apart the feet stand in the motion [m]."""
        flat, feet = soles(self.body, self.motion.sample(0.0)[0]), soles_of(self.body)
        left, right = (flat[feet.foot[foot], :2].mean(axis=0) for foot in FEET)
        return float(np.linalg.norm(left - right))

    def _sink(self, far: float) -> float:
        """How much lower the centre of mass is with the feet so far apart [m]."""
        leg = 0.9 * self.body.scale
        more = max(far**2 - self._usual() ** 2, 0.0)
        return float(leg - np.sqrt(max(leg * leg - 0.25 * more, 0.25 * leg * leg)))


def _ahead(point: Array, of: Array) -> float:
    """How far [m] a point (2,) is before the front of the hull of points (n, 2); negative behind it."""
    sides = ConvexHull(of).equations
    front = sides[sides[:, 1] < -FRONT]
    return float((front[:, :2] @ point + front[:, 2]).max(initial=-np.inf))
