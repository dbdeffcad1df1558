"""What a swimmer feels of his own course: heading, pitch, roll, depth and speed, freed of the sway of his stroke.

Within a stroke everything sways: the heading of a crawler by 10 degrees, his roll by 20 and more. A mean over exactly
one period T has none of that, but is old. What has changed since the same phase of the last stroke is not:

    now(t) = mean of x over t - 3T/2 .. t - T/2  +  x(t) - x(t - T)         rate(t) = (x(t) - x(t - T)) / T

Before a period and a half are over, the mean is over what there was, rates are not known, and roll is taken against
what the stroke means it to be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import StrokeMotion
from vitruvian.skeleton import bone_poses

Array = np.ndarray
FELT = ("heading", "pitch", "roll", "height", "x", "y")
PHASES = 24
TRUST = 0.5  # in the stroke's own roll, which a real body does not quite follow
LONGEST = 8.0  # [s] of trail


@dataclass(frozen=True)
class FeltCourse:
    """The course now."""

    heading: float  # [rad] of the line from pelvis to neck, from -y, positive to the left
    turning: float  # [rad/s] over the last stroke
    roll: float  # [rad] of the chest, left side down
    pitch: float  # [rad] of the line from pelvis to neck, head up; mean over the last stroke
    height: float  # [m] of the chest, likewise
    rising: float  # [m/s]
    speed: float  # [m/s] over ground
    place: Array  # [m] of the pelvis now, (x, y)
    known: float = 1.0  # part of a period and a half felt so far, 0..1


def empty_trail() -> Array:
    """Rows of time, what was felt, and the integrals of that, shape (n, 1 + 2 * 6)."""
    return np.zeros((0, 1 + 2 * len(FELT)))


class Senses:
    """Reads a body's course off its bones."""

    def __init__(self, body: Body, motion: StrokeMotion):
        self.body = body
        self._chest, self._neck = body.skeleton.index("T6"), body.skeleton.index("T1")
        meant = [rolled(bone_poses(body.skeleton, motion.at(x)[0])[self._chest]) for x in np.arange(PHASES) / PHASES]
        self._meant = np.array([*meant, meant[0]]) - np.mean(meant)  # [rad]

    def feel(self, trail: Array, q: Array, time: float, period: float, phase: float) -> tuple[FeltCourse, Array]:
        """The course, and the trail one row longer; period [s] and phase (0..1) of the stroke."""
        x, n = self._read(q), len(FELT)
        total = np.zeros(n)
        if len(trail):
            last = trail[-1]
            x[0] = last[1] + wrapped(x[0] - last[1])  # counted on beyond half a turn
            total = last[1 + n :] + 0.5 * (time - last[0]) * (x + last[1 : 1 + n])
        trail = np.vstack([trail, np.concatenate([[time], x, total])])
        trail = trail[trail[:, 0] >= time - LONGEST]
        span = time - trail[0, 0]
        known = span / (1.5 * period)
        if known < 1.0 - 1e-6:
            mean = _mean_so_far(x, total, trail[0, 1 + n :], span)
            meant = float(np.interp(phase * PHASES, np.arange(PHASES + 1), self._meant))
            roll = TRUST * (x[2] - meant)
            return FeltCourse(mean[0], 0.0, roll, mean[1], mean[3], 0.0, 0.0, x[4:], known), trail
        begin, before, end = (_at(trail, time - k * period) for k in (1.5, 1.0, 0.5))
        rate, mean = (x - before[:n]) / period, (total - before[n:]) / period
        now = (end[n:] - begin[n:]) / period + period * rate
        speed = float(np.hypot(rate[4], rate[5]))
        return FeltCourse(now[0], rate[0], now[2], mean[1], mean[3], rate[3], speed, x[4:]), trail

    def _read(self, q: Array) -> Array:
        poses = bone_poses(self.body.skeleton, q)
        ahead = poses[self._neck, :3, 3] - poses[0, :3, 3]
        return np.array([
            np.arctan2(ahead[0], -ahead[1]),
            np.arctan2(ahead[2], np.hypot(ahead[0], ahead[1])),
            rolled(poses[self._chest]),
            poses[self._chest, 2, 3],
            poses[0, 0, 3],
            poses[0, 1, 3],
        ])  # fmt: skip


def _mean_so_far(x: Array, total: Array, first: Array, span: float) -> Array:
    """Mean since the start; x at the start itself."""
    return (total - first) / span if span > 1e-9 else x


def _at(trail: Array, time: float) -> Array:
    """What was felt and its integrals at a time [s], shape (2 * 6,)."""
    k = int(np.searchsorted(trail[:, 0], time, side="right"))
    k = min(max(k, 1), len(trail) - 1)
    a, b = trail[k - 1], trail[k]
    part = (time - a[0]) / (b[0] - a[0])
    return np.asarray((1.0 - part) * a[1:] + part * b[1:])


def rolled(pose: Array) -> float:
    """How far the left side of a bone of the trunk (4, 4) points down [rad]."""
    return float(np.arcsin(np.clip(-pose[2, 0], -1.0, 1.0)))


def wrapped(angle: float) -> float:
    """Into -pi..pi [rad]."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
