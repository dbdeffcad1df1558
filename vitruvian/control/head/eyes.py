"""Two eyes that look: saccades, pursuit, vergence, the vestibulo-ocular reflex, blinks.

An eye's direction in the head is (yaw, pitch) [rad], left and up positive, within RANGE. While it fixates, it turns
against the head (the reflex keeps gaze still in space) and along with the target (pursuit, at most PURSUIT), and what
is off is drawn in slowly. When the target is off by more than FOVEA, a saccade starts after LATENCY; it lasts

    T = 37 ms + 2.7 ms per degree          (the main sequence: Baloh et al. 1975, Neurology 25:1065)

with a bell-shaped rate, so that its peak is 2 A / T: 200 deg/s at 5 degrees, 440 deg/s at 20. Both eyes aim at the
target itself, so that near targets make them converge. A blink shuts the lids for 0.15 s, now and then and with large
saccades; in between the upper lid follows the gaze down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from vitruvian.control.head.goals import bell

Array = np.ndarray
EYES = np.array([[0.032, -0.083, 0.043], [-0.032, -0.083, 0.043]])  # left and right in the skull's frame [m]
BETWEEN = EYES.mean(axis=0)  # [m]
RANGE = np.radians([40.0, 30.0])  # of yaw and pitch
FOVEA = np.radians(1.0)  # [rad] an error beyond it starts a saccade
LATENCY, REST = 0.18, 0.05  # [s] from seeing to moving; between two saccades at least
PURSUIT = np.radians(60.0)  # [rad/s]
DRAWN_IN = 0.1  # [s] in which pursuit takes up what is off
BLINK, BLINKS = 0.15, 4.0  # [s] length, and mean time between two
BIG = np.radians(20.0)  # [rad] a saccade that often brings a blink


class Dice(Protocol):
    """What is random about eyes; a NumPy generator will do."""

    def random(self) -> float: ...

    def exponential(self, scale: float) -> float: ...


@dataclass
class EyeState:
    """What the eyes remember; rows are the left and the right eye."""

    angle: Array = field(default_factory=lambda: np.zeros((2, 2)))  # yaw, pitch in the head [rad]
    start: Array = field(default_factory=lambda: np.zeros((2, 2)))  # of the saccade in progress
    end: Array = field(default_factory=lambda: np.zeros((2, 2)))
    saccade: float = -np.inf  # [s] when it began
    lasts: float = 0.0  # [s]
    free: float = 0.0  # [s] when the next may begin
    seen: float = -np.inf  # [s] since when the target has been off; inf: it is not
    blink: float = -np.inf  # [s] when the last began
    next_blink: float = 2.0  # [s]
    peak: float = 0.0  # fastest rate of the latest saccade [rad/s]
    size: float = 0.0  # its size [rad]
    error: float = 0.0  # of gaze, mean of both eyes [rad]
    last: Array = field(default_factory=lambda: np.zeros((2, 2)))  # aim at the last step [rad]
    target: Array = field(default_factory=lambda: np.full(3, np.nan))  # and what it aimed at [m]


def aim(head: Array, target: Array) -> Array:
    """Yaw and pitch (2, 2) [rad] in the head, a pose (4, 4), at which each eye meets the target (3,) [m]."""
    local = head[:3, :3].T @ (target - head[:3, 3]) - EYES
    yaw = np.arctan2(local[:, 0], -local[:, 1])
    pitch = np.arctan2(local[:, 2], np.hypot(local[:, 0], local[:, 1]))
    return np.stack([yaw, pitch], axis=1)


def saccade_time(size: float) -> float:
    """How long a saccade of `size` [rad] lasts [s]."""
    return 0.037 + 0.0027 * float(np.degrees(size))


def look(own: EyeState, head: Array, target: Array, time: float, dt: float, rng: Dice) -> None:
    """Move the eyes on to time + dt, in place. head: the skull's pose (4, 4); target: [m] (3,), both at that time."""
    wanted = aim(head, target)
    inside = np.clip(wanted, -RANGE, RANGE)
    turned = followed = np.zeros((2, 2))  # by how much head and target have moved the aim since the last step
    if np.isfinite(own.target).all():
        kept = aim(head, own.target)
        turned, followed = kept - own.last, wanted - kept
    own.last, own.target = wanted, np.array(target)
    tracked = np.where(np.abs(followed) <= PURSUIT * dt, followed, 0.0)  # a leap is left to a saccade
    now = time + dt
    off = float(np.abs(inside - own.angle).max())
    if now < own.saccade + own.lasts:
        own.end = own.end + turned + tracked  # it lands on the target, wherever head and target have gone
        before, after = (bell(float(np.clip((t - own.saccade) / own.lasts, 0, 1))) for t in (time, now))
        left = max(1.0 - before, 1e-9)
        moved = turned + (own.end - own.angle - turned) * (after - before) / left
        own.peak = max(own.peak, float(np.linalg.norm(moved - turned, axis=1).max()) / dt)
        own.angle = own.angle + moved
    else:
        if own.lasts > 0.0:
            own.lasts, own.free = 0.0, now + REST
        own.angle = own.angle + turned + tracked
        if off < FOVEA:
            own.angle = own.angle + (inside - own.angle) * min(dt / DRAWN_IN, 1.0)
        if off < FOVEA:
            own.seen = np.inf
        elif not np.isfinite(own.seen):
            own.seen = now
        if off >= FOVEA and now - own.seen >= LATENCY and now >= own.free:
            own.start, own.end, own.saccade = own.angle.copy(), inside.copy(), now
            own.size = float(np.linalg.norm(inside - own.angle, axis=1).max())
            own.lasts, own.peak, own.seen = saccade_time(own.size), 0.0, np.inf
            if own.size > BIG and rng.random() < 0.7:
                own.next_blink = now
    own.angle = np.clip(own.angle, -RANGE, RANGE)
    if now >= own.next_blink:
        own.blink, own.next_blink = now, now + BLINK + float(rng.exponential(BLINKS))
    own.error = float(np.mean(np.linalg.norm(wanted - own.angle, axis=1)))


def lids(own: EyeState, time: float) -> float:
    """How far the lids are shut, 0 open to 1."""
    share = (time - own.blink) / BLINK
    shut = np.sin(np.pi * share) ** 0.5 if 0.0 < share < 1.0 else 0.0
    down = max(0.0, -float(own.angle[:, 1].mean())) / np.radians(60.0)
    return float(min(1.0, max(shut, down)))


def directions(own: EyeState, head: Array) -> Array:
    """Unit vectors (2, 3) along which the eyes look, in the world."""
    yaw, pitch = own.angle.T
    local = np.stack([np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), np.sin(pitch)], axis=1)
    return local @ head[:3, :3].T
