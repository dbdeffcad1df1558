"""Geometry of muscle lines: points, lengths, rates, moment arms, and forces on the joints (Lee 2008, 3.1.1.1).

A segment with unit direction u through the point p is the line wrench w = (p x u, u). A joint coordinate with the world
screw s (the motion of everything beyond it per unit of speed) changes the segment's length by +s.w if it carries only
the far end, -s.w if only the near end, 0 if both. Summed over a muscle's segments this is P^T = dl/dq, so

    l' = P^T v,   torque = -P f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.muscle import kernels
from vitruvian.muscle.model import MuscleModel

Array = np.ndarray


@dataclass(frozen=True)
class MomentArms:
    """dl/dq [m/rad or 1] as sparse rows, one per muscle."""

    model: MuscleModel
    data: Array  # shape (z,)

    def dense(self) -> Array:
        """dl/dq, shape (n_muscles, n_v)."""
        out = np.zeros((self.model.n_muscles, self.model.n_v))
        rows = np.repeat(np.arange(self.model.n_muscles), np.diff(self.model.row_start))
        out[rows, self.model.column] = self.data
        return out

    def rates(self, v: Array) -> Array:
        """Rate of lengthening [m/s], shape (n_muscles,), at joint velocities v, shape (n_v,)."""
        out = np.empty(self.model.n_muscles)
        kernels.rates(self.model.row_start, self.model.column, self.data, v, out)
        return out

    def torques(self, force: Array) -> Array:
        """Generalised forces of tensions [N] (n_muscles,) on the joints, shape (n_v,)."""
        out = np.zeros(self.model.n_v)
        kernels.add_torques(self.model.row_start, self.model.column, self.data, force, out)
        return out


def path_points(model: MuscleModel, poses: Array) -> Array:
    """World positions [m] of all path points, shape (p, 3); poses are the bones' (n_bones, 4, 4)."""
    points = np.empty_like(model.local)
    kernels.world_points(model.bone, model.local, poses, points)
    return points


def lengths(model: MuscleModel, poses: Array) -> Array:
    """Lengths [m], shape (n_muscles,)."""
    points = path_points(model, poses)
    lines, out = np.empty((len(model.segment_start) - 1, 6)), np.empty(model.n_muscles)
    kernels.lines(model.offsets, points, lines, out)
    return out


def moment_arms(model: MuscleModel, poses: Array, screws: Array) -> tuple[Array, MomentArms]:
    """Lengths [m] (n_muscles,) and dl/dq. `screws`: world motion per unit joint speed, (angular, linear at the
    origin), shape (n_v, 6)."""
    points = path_points(model, poses)
    lines, length = np.empty((len(model.segment_start) - 1, 6)), np.empty(model.n_muscles)
    kernels.lines(model.offsets, points, lines, length)
    data = np.zeros(len(model.column))
    kernels.moment_arms(model.segment_start, model.segment_entry, model.segment_sign, model.column, lines, screws, data)
    return length, MomentArms(model, data)
