"""Geometry of muscle lines: points, lengths, rates, moment arms, and forces on the joints (Lee 2008, 3.1.1.1).

A segment with unit direction u through the point p is the line wrench w = (p x u, u). A joint coordinate with the world
screw s (the motion of everything beyond it per unit of speed) changes the segment's length by +s.w if it carries only
the far end, -s.w if only the near end, 0 if both. Summed over a muscle's segments this is P^T = dl/dq, so

    l' = P^T v,   torque = -P f.

A segment with a cylinder adds two such lines, its straight parts, and a carrier adds the torque between the bones
that place it (`wrapping`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.muscle import kernels
from vitruvian.muscle.model import MuscleModel
from vitruvian.muscle.wrapping import arcs, carried_points

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
    return _lines(model, poses)[0]


def path_curves(model: MuscleModel, poses: Array) -> Array:
    """World positions [m] along all paths as they run round their cylinders; muscle m has those from
    model.curve_offsets[m] to model.curve_offsets[m+1]."""
    points = path_points(model, poses)
    out = np.empty((int(model.curve_offsets[-1]), 3))
    arcs(model.wraps, poses, points, model.offsets, model.curve_offsets, out)
    return out


def carrier_poses(model: MuscleModel, poses: Array) -> Array:
    """World poses (c, 4, 4) of the model's carriers (patellas, scapulas)."""
    c = len(model.frames)
    out = np.empty((c, 4, 4))
    carried_points(model.carriers, poses, np.empty_like(model.local), out, np.empty((c, 6)), np.empty((c, 3)))
    return out


def lengths(model: MuscleModel, poses: Array) -> Array:
    """Lengths [m], shape (n_muscles,)."""
    return _lines(model, poses)[2]


def moment_arms(model: MuscleModel, poses: Array, screws: Array) -> tuple[Array, MomentArms]:
    """Lengths [m] (n_muscles,) and dl/dq. `screws`: world motion per unit joint speed, (angular, linear at the
    origin), shape (n_v, 6)."""
    _, lines, length = _lines(model, poses)
    data = np.zeros(len(model.column))
    kernels.moment_arms(model.segment_start, model.segment_entry, model.segment_sign, model.column, lines, screws, data)
    return length, MomentArms(model, data)


def _lines(model: MuscleModel, poses: Array) -> tuple[Array, Array, Array]:
    points, length = np.empty_like(model.local), np.empty(model.n_muscles)
    lines = np.empty((len(model.segment_start) - 1, 6))
    kernels.path_lines(
        model.offsets, model.bone, model.local, model.wraps, model.carriers, poses, points, lines, length
    )
    return points, lines, length
