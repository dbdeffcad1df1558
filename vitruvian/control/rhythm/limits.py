"""Whether a body's joints can do what a stroke asks of them.

Angles are compared with the joints' ranges in the body's tables, at the key poses and between them, since a spline may
overshoot its poses. A hinge is compared by its angle; a ball joint by the rotation vector from its neutral pose, as its
stops are, told about the coordinate's axis and counted from the body's default pose as in the file. Stops are springs
and people differ, so a little too far is let pass (`TOLERANCE`: swimmers' ankles point further than the tables' man's),
more than that is a warning, and what no joint survives (`IMPOSSIBLE`) is an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import Body
from vitruvian.control.rhythm.axes import axes_of
from vitruvian.control.rhythm.stroke import Stroke
from vitruvian.errors import InputError
from vitruvian.skeleton.joints import Ball, Free

Array = np.ndarray
TOLERANCE = np.radians(12.0)  # beyond a joint's range without a word, but no more than half of that range
IMPOSSIBLE = np.radians(30.0)  # beyond a joint's range: an error
BETWEEN = 4  # instants from one key pose to the next


class StrokeWarning(UserWarning):
    """A stroke asks for more than a joint's range."""


@dataclass(frozen=True)
class Beyond:
    """The instant at which a joint coordinate is furthest out of its range."""

    joint: str  # as the file calls it
    coordinate: str
    pose: int  # key pose at or before it, counted from 1
    following: int  # the next one if it lies between two, 0 if it is at `pose`
    phase: float
    angle: float  # [rad], in the file's sense
    low: float
    high: float

    @property
    def excess(self) -> float:
        """How far [rad] beyond its range."""
        return max(self.low - self.angle, self.angle - self.high)

    @property
    def told(self) -> bool:
        """Whether it is worth a word."""
        return self.excess > min(TOLERANCE, 0.5 * (self.high - self.low))

    def __str__(self) -> str:
        angle, low, high = (_degrees(x) for x in (self.angle, self.low, self.high))
        where = f"between poses {self.pose} and {self.following}" if self.following else f"at pose {self.pose}"
        where += f" (phase {self.phase:.2f})"
        return f"'{self.joint} {self.coordinate}' is {angle} degrees {where}; the joint's range is {low} to {high}"


def beyond_range(
    body: Body, stroke: Stroke, columns: Mapping[str, Mapping[str, int]], senses: Mapping[int, float], poses: Array
) -> list[Beyond]:
    """Every coordinate that leaves its range, the furthest first. columns: bone -> coordinate -> column of the stroke;
    senses: +-1 for each hinge, by its place in v; poses: q at `instants(stroke)`, shape (n, n_q)."""
    s = body.skeleton
    phase = instants(stroke)
    angles = stroke.spline(phase)
    found: dict[tuple[str, str], Beyond] = {}
    for bone, given in columns.items():
        i = s.index(bone)
        if isinstance(s.joints[i], Free):
            continue
        names, axes = axes_of(bone)
        first, where, ball = s.v_slice(bone).start, s.q_slice(bone), isinstance(s.joints[i], Ball)
        if ball:
            rest, *turned = _turned(s.neutral[where], np.vstack([body.default_q[where], poses[:, where]]))
        for k, (name, axis) in enumerate(zip(names, axes)):
            if name not in given:
                continue
            if ball:
                about = int(np.abs(axis).argmax())
                at, sense, zero = first + about, float(np.sign(axis[about])), float(rest[about])
                angle = sense * (np.array(turned)[:, about] - zero)
            else:
                at, zero = first + k, 0.0
                angle, sense = angles[:, given[name]], senses[at]
            ends = sorted(sense * (end - zero) for end in (s.forces.low[at], s.forces.high[at]))
            n = int(np.maximum(ends[0] - angle, angle - ends[1]).argmax())
            joint = stroke.keys[given[name]][0]
            pose, later = divmod(n, BETWEEN)  # as `instants` has them
            following = (pose + 1) % len(stroke.phase) + 1 if later else 0
            worst = Beyond(
                joint, name, pose + 1, following, float(phase[n]), float(angle[n]), float(ends[0]), float(ends[1])
            )
            known = found.get((joint, name))  # of the other side
            if worst.excess > 1e-9 and (known is None or worst.excess > known.excess):
                found[joint, name] = worst
    return sorted(found.values(), key=lambda b: -b.excess)


def instants(stroke: Stroke) -> Array:
    """Phases at which a stroke is looked at: its key poses and some between."""
    ends = np.append(stroke.phase, stroke.phase[0] + 1.0)
    steps = np.arange(BETWEEN) / BETWEEN
    return np.asarray((ends[:-1, None] + np.diff(ends)[:, None] * steps).ravel() % 1.0)


def refuse_or_warn(stroke: Stroke, found: list[Beyond]) -> None:
    """An error for the impossible, one warning for what is merely too far."""
    what = f"stroke '{stroke.name}'"
    if found and found[0].excess > IMPOSSIBLE:
        raise InputError(f"{what}: {found[0]}, {_degrees(found[0].excess)} degrees beyond what it can do")
    told = [b for b in found if b.told]
    if told:
        more = f" ({len(told) - 1} more like it)" if len(told) > 1 else ""
        warnings.warn(f"{what}: {told[0]}; muscles will not take it there{more}", StrokeWarning, stacklevel=3)


def _turned(neutral: Array, quaternions: Array) -> Array:
    """Rotation vectors [rad] from the neutral pose, shape (n, 3), which a ball joint's limits apply to."""
    start = Rotation.from_quat(neutral, scalar_first=True)
    return np.asarray((start.inv() * Rotation.from_quat(quaternions, scalar_first=True)).as_rotvec())


def _degrees(x: float) -> str:
    return f"{np.degrees(x):.0f}"
