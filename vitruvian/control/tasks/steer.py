"""Tasks that lead somewhere: turn level towards a point, and go there by what the water gives (Si 2013, end of 5.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.control.tasks.gather import Gathered
from vitruvian.control.tasks.now import Now
from vitruvian.control.tasks.tasks import UP, lift_axis

Array = np.ndarray


def heading_off(now: Now, point: Array) -> float:
    """Turn [rad] about the vertical from where the trunk points to where the point lies."""
    s = now.skeleton
    ahead = now.poses[s.index("T1"), :3, 3] - now.poses[0, :3, 3]
    way = np.asarray(point)[:2] - now.centre[:2]
    return float(np.arctan2(ahead[0] * way[1] - ahead[1] * way[0], ahead[:2] @ way))


@dataclass
class Steer:
    """The trunk turns level until its head points at a place (x, y) [m]; the water's moment helps, fading out."""

    point: tuple[float, float]
    weight: float = 3.0
    gain: float = 2.0  # [1/s]
    fastest: float = 1.0  # [rad/s]
    push: float = 0.02
    near: float = np.radians(15.0)
    name: str = "steer"

    def start(self) -> dict[str, Array]:
        return {"off": np.zeros(1)}

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        off = heading_off(now, np.array(self.point))
        before = float(memory["off"][0])
        if abs(off) > np.radians(120.0) and abs(before) > np.radians(60.0) and off * before < 0.0:
            off += 2.0 * np.pi if before > 0.0 else -2.0 * np.pi
        memory["off"] = np.array([off])
        rate = np.array([np.clip(self.gain * off, -self.fastest, self.fastest)])
        for bone in ("T6", "Pel"):
            gathered.want(UP @ now.turning(now.skeleton.index(bone)), rate, self.weight)
        share = np.clip(abs(off) / self.near - 0.5, 0.0, 1.0) * np.sign(off)
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
        if self.push and far > 0.5 * self.near:
            share = min(far / self.near - 0.5, 1.0)
            gathered.push(-direction @ now.water.damped(now.centre)[3:], self.push * share)
