"""Ways in which a swimmer can change his posture while he swims on, as joint turns and as muscle lengths.

    bend    the spine to the left, the neck by half of it, and the legs trail to the left by as much
    twist   the chest against the pelvis, to the left
    arch    spine and neck backwards, half each, and the hips by 0.6 of it
    left arm, right arm    its whole path turned to the left about the chest's front-to-back axis

Torques get them as turns of the joints, oscillators as shifts of their baselines g: what the turn changes each muscle's
length, phase by phase (Si 2013, section 6.2, moves g of the sides of neck and trunk; he leaves the sizes open).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import MuscleKinematics, StrokeMotion
from vitruvian.control.rhythm.axes import axes_of
from vitruvian.skeleton import Skeleton, bone_poses, integrate

Array = np.ndarray
POSTURE_PARTS = ("bend", "twist", "arch", "left arm", "right arm")
LEGS = 1.0  # [rad] of swing to the side per radian of bend
NECKS = 0.5  # [rad] of bend of the neck per radian of the spine's
HIPS = 0.6  # [rad] of extension per radian of arch
SPINE = (*(f"L{i}" for i in range(5, 0, -1)), *(f"T{i}" for i in range(12, 0, -1)))
NECK = (*(f"C{i}" for i in range(7, 0, -1)), "Sku")
PHASES = 24  # of a stroke, between which is interpolated
BY = 0.2  # [rad] of the differences


class Postures:
    """The postures of one body in one stroke."""

    def __init__(self, body: Body, motion: StrokeMotion):
        s = body.skeleton
        measure, still = MuscleKinematics(body), np.zeros(s.n_v)
        self.turns = np.zeros((len(POSTURE_PARTS), PHASES, s.n_v))  # [rad/rad]
        self.shifts = np.zeros((len(POSTURE_PARTS), PHASES, body.muscles.n_muscles))  # [m/rad]
        for n in range(PHASES):
            q = motion.at(n / PHASES)[0]
            self.turns[:, n] = [_turn(s, q, name) for name in POSTURE_PARTS]
            for k, turn in enumerate(self.turns[:, n]):
                plus, minus = (measure(integrate(s, q, x * turn, 1.0), still, still)[0].copy() for x in (BY, -BY))
                self.shifts[k, n] = (plus - minus) / (2.0 * BY)

    def turned(self, amount: Array, phase: float) -> Array:
        """Turn of each joint [rad], shape (n_v,), by `amount` [rad] of each posture, at `phase` (0..1)."""
        return _mixed(self.turns, amount, phase)

    def lengthened(self, amount: Array, phase: float) -> Array:
        """Change of each muscle's length [m], shape (n_muscles,)."""
        return _mixed(self.shifts, amount, phase)


def _mixed(table: Array, amount: Array, phase: float) -> Array:
    """Rows of a table (k, PHASES, n) between two phases, weighted by amount (k,)."""
    x = (phase % 1.0) * PHASES
    n = int(x)
    part = x - n
    return np.asarray(amount @ ((1.0 - part) * table[:, n % PHASES] + part * table[:, (n + 1) % PHASES]))


def _turn(s: Skeleton, q: Array, posture: str) -> Array:
    """Joint turns (n_v,) per radian of a posture, from the pose q (n_q,)."""
    out = np.zeros(s.n_v)
    if posture in ("bend", "twist"):
        out += _along(s, SPINE, 1 if posture == "bend" else 2)
        if posture == "bend":
            out += NECKS * _along(s, NECK, 1)
            for bone in ("Fe_l", "Fe_r"):
                out[s.v_slice(bone).start + 1] = -LEGS
    elif posture == "arch":
        out -= 0.5 * (_along(s, SPINE, 0) + _along(s, NECK, 0))
        for bone in ("Fe_l", "Fe_r"):
            names, axes = axes_of(bone)
            out[s.v_slice(bone)] = -HIPS * np.asarray(axes[names.index("flexion")])
    else:
        poses, bone = bone_poses(s, q), "Hu_l" if posture == "left arm" else "Hu_r"
        out[s.v_slice(bone)] = poses[s.index(bone), :3, :3].T @ poses[s.index("T6"), :3, 1]
    return out


def _along(s: Skeleton, bones: Sequence[str], axis: int) -> Array:
    """One radian about an axis, shared by the levels as their ranges are, shape (n_v,)."""
    out = np.zeros(s.n_v)
    rows = np.array([s.v_slice(b).start + axis for b in bones])
    span = s.forces.high[rows] - s.forces.low[rows]
    out[rows] = span / span.sum()
    return out
