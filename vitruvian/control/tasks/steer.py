"""Tasks that lead somewhere: turn level towards a point, and go there by what the water gives (Si 2013, end of 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.control.tasks.gather import Gathered
from vitruvian.control.tasks.now import Now
from vitruvian.control.tasks.tasks import UP, fading, kept_side, lift_axis
from vitruvian.skeleton import Skeleton

Array = np.ndarray


def heading_off(skeleton: Skeleton, poses: Array, start: Array, point: Sequence[float] | Array) -> float:
    """Turn [rad] about the vertical from where the trunk points to where a point (x, y) [m] lies, seen from `start`."""
    ahead = (poses[skeleton.index("T1"), :3, 3] - poses[0, :3, 3])[:2]
    way = np.asarray(point)[:2] - start[:2]
    return float(np.arctan2(ahead[0] * way[1] - ahead[1] * way[0], ahead @ way))


@dataclass
class Steer:
    """The whole body turns level until its head points at a place (x, y) [m]; the water's moment helps, fading out.

    It is the angular momentum that is asked for, and no more of it than hands and feet get from the water. Asked for
    the trunk's own turning, arms and legs would swing against it until they stand at the ends of their ranges (up to
    58 % of the joints at their bounds), and then nothing is left to keep chest and pelvis face down."""

    point: tuple[float, float]
    weight: float = 3.0
    gain: float = 2.0  # [1/s]
    fastest: float = 0.5  # [rad/s]
    push: float = 0.02
    near: float = np.radians(8.0)
    name: str = "steer"

    def start(self) -> dict[str, Array]:
        return {"off": np.zeros(1)}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        off = kept_side(heading_off(now.skeleton, now.poses, now.centre, self.point), memory, "off")
        rate = np.array([np.clip(self.gain * off, -self.fastest, self.fastest)])
        gathered.want(now.whirling(UP), rate, self.weight)
        share = fading(off, self.near)
        if share != 0.0:
            gathered.push(-now.water.damped(now.centre)[2], self.push * share)


@dataclass
class Travel:
    """The centre of mass to a place [m] (3,), and the water's force that way."""

    place: Array
    weight: float = 3.0
    gain: float = 1.0  # [1/s]
    fastest: float = 0.6  # [m/s]
    push: float = 0.02
    near: float = 0.2  # [m]
    name: str = "travel"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        way = np.asarray(self.place) - now.centre
        far = float(np.linalg.norm(way))
        direction = way / max(far, 1e-9)
        rate = min(self.gain * far, self.fastest)
        gathered.want(direction @ lift_axis(now), np.array([rate]), self.weight)
        share = fading(far, self.near)
        if self.push and share:
            gathered.push(-direction @ now.water.damped(now.centre)[3:], self.push * share)
