"""Bones of a soft body: where they are, how they answer, and their momentum kept to rounding.

    (M + h D + h² K) Δv = h (τ - b + Σ Jᵀ w),      τ = k (q̃ - q) + d (ṽ - v) per joint, implicit (Liu & al. 2013, 4-5)

A step in joint coordinates keeps momentum to first order only. So the root's twist is corrected after the step, such
that bones carry what they carried plus what acted on them: a rigid motion added, found from a 3×3 system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky
from vitruvian.skeleton.evaluate import NV, PARENT, V0
from vitruvian.skeleton.passive import joint_forces
from vitruvian.skeleton.world_tree import MOVING_WIDTH, backward, forward, mass_matrix

Array = np.ndarray


class Bones(NamedTuple):
    """A skeleton as kernels want it, with room to work in; made by `bones_of`. Its root must be a free joint."""

    topology: Array
    bodies: Array
    params: Array
    custom: Array
    inertia: Array  # (n_bones, 10)
    gravity: Array
    zeros: Array  # (n_v,)
    endless: Array  # (n_v,)
    place: Array  # 0..n_v-1
    rows: Array
    dofs: Array
    hessians: Array
    scratch: Array
    poses: Array  # (n_bones, 4, 4)
    screws: Array  # (n_v, 6)
    moving: Array  # (n_bones, MOVING_WIDTH): twists first
    composite: Array  # (n_bones, 10)
    bias: Array  # (n_v,)
    matrix: Array  # (n_v, n_v)
    right: Array  # (n_v,)
    slope: Array  # (2, n_v, n_v): dτ/dq, dτ/dv
    sums: Array  # (n_bones, 6)


def bones_of(skeleton: Skeleton) -> Bones:
    """Arrays of a skeleton and room of its own."""
    n, m = skeleton.n_bones, skeleton.n_v
    work = skeleton.new_workspace()
    return Bones(
        skeleton.topology, skeleton.bodies, skeleton.params, skeleton.custom_rows(skeleton.neutral),
        np.ascontiguousarray(skeleton.bodies[:, 12:22]), skeleton.gravity.copy(), np.zeros(m), np.full(m, np.inf),
        np.arange(m), work.rows, work.dofs, work.hessians, work.scratch,
        np.zeros((n, 4, 4)), np.zeros((m, 6)), np.zeros((n, MOVING_WIDTH)), np.zeros((n, 10)), np.zeros(m),
        np.zeros((m, m)), np.zeros(m), np.zeros((2, m, m)), np.zeros((n, 6)),
    )  # fmt: skip


@njit(cache=True)
def locate(bones, q, v):
    """Poses, screws, twists, inertial forces at (q, v)."""
    forward(
        bones.topology, bones.bodies, bones.params, bones.custom, bones.inertia, bones.gravity, q, v, bones.rows,
        bones.dofs, bones.hessians, bones.scratch, bones.poses, bones.screws, bones.moving, bones.composite,
    )  # fmt: skip


@njit(cache=True)
def bone_momentum(bones, out, inertia):
    """Momentum of all bones (angular about the origin, linear) into out (6,), their inertia there into (10,).

    Right after `locate`, before inertias are summed towards the root."""
    out[:6] = 0.0
    inertia[:] = 0.0
    for i in range(len(bones.composite)):
        add_momentum(bones.composite[i], bones.moving[i], out)
        inertia += bones.composite[i]


@njit(cache=True, inline="always")
def add_momentum(I, s, out):
    m, hx, hy, hz = I[0], I[1], I[2], I[3]
    a, b, c, d, e, f = s[0], s[1], s[2], s[3], s[4], s[5]
    out[0] += I[4] * a + I[5] * b + I[6] * c + hy * f - hz * e
    out[1] += I[5] * a + I[7] * b + I[8] * c + hz * d - hx * f
    out[2] += I[6] * a + I[8] * b + I[9] * c + hx * e - hy * d
    out[3] += m * d + b * hz - c * hy
    out[4] += m * e + c * hx - a * hz
    out[5] += m * f + a * hy - b * hx


@njit(cache=True)
def servo(bones, q, v, target, rate, k, d):
    """Torques of the joints' servos into bones.right, their slopes into bones.slope."""
    bones.right[:] = d * rate
    bones.slope[:] = 0.0
    joint_forces(
        bones.topology, q, v, target, k, d, -bones.endless, bones.endless, bones.zeros, bones.zeros, bones.right,
        bones.slope[0], bones.slope[1],
    )  # fmt: skip


@njit(cache=True)
def project(bones, wrenches, out):
    """Add Σ Jᵀ w of wrenches (n_bones, 6) at the world's origin to out (n_v,)."""
    sums, topology = bones.sums, bones.topology
    sums[:] = wrenches
    for i in range(len(topology) - 1, -1, -1):
        for j in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            s = bones.screws[j]
            for c in range(6):
                out[j] += s[c] * sums[i, c]
        if topology[i, PARENT] >= 0:
            for c in range(6):
                sums[topology[i, PARENT], c] += sums[i, c]


@njit(cache=True)
def spread(bones, v, twists):
    """Twists (n_bones, 6) at the world's origin that joint velocities v bring."""
    topology = bones.topology
    for i in range(len(topology)):
        p = topology[i, PARENT]
        for c in range(6):
            twists[i, c] = twists[p, c] if p >= 0 else 0.0
        for j in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            for c in range(6):
                twists[i, c] += bones.screws[j, c] * v[j]


@njit(cache=True)
def inertia_and_bias(bones):
    """M into bones.matrix (both triangles), the bias force into bones.bias; after `locate`."""
    backward(bones.topology, bones.screws, bones.moving, bones.composite, bones.bias)
    bones.matrix[:] = 0.0
    mass_matrix(bones.topology, bones.screws, bones.composite, bones.place, bones.matrix)
    n = len(bones.bias)
    for i in range(n):
        for j in range(i):
            bones.matrix[j, i] = bones.matrix[i, j]


@njit(cache=True)
def gravity_wrench(gravity, inertia, out):
    """Add the weight of an inertia (10,) at the world's origin to out (6,)."""
    hx, hy, hz = inertia[1], inertia[2], inertia[3]
    out[0] += hy * gravity[2] - hz * gravity[1]
    out[1] += hz * gravity[0] - hx * gravity[2]
    out[2] += hx * gravity[1] - hy * gravity[0]
    for a in range(3):
        out[3 + a] += inertia[0] * gravity[a]


@njit(cache=True)
def rigid_correction(inertia, missing, out):
    """The twist at the origin, out (6,), that gives an inertia (10,) the momentum `missing` (6,)."""
    m = inertia[0]
    c = inertia[1:4]
    J = np.empty((3, 3))
    J[0, 0], J[0, 1], J[0, 2] = inertia[4], inertia[5], inertia[6]
    J[1, 0], J[1, 1], J[1, 2] = inertia[5], inertia[7], inertia[8]
    J[2, 0], J[2, 1], J[2, 2] = inertia[6], inertia[8], inertia[9]
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    for a in range(3):
        for b in range(3):
            J[a, b] += c[a] * c[b] / m
        J[a, a] -= square / m
    w = np.empty(3)
    w[0] = missing[0] - (c[1] * missing[5] - c[2] * missing[4]) / m
    w[1] = missing[1] - (c[2] * missing[3] - c[0] * missing[5]) / m
    w[2] = missing[2] - (c[0] * missing[4] - c[1] * missing[3]) / m
    if cholesky(J) >= 0:
        out[:] = 0.0
        return
    solve_cholesky(J, w)
    out[0], out[1], out[2] = w[0], w[1], w[2]
    out[3] = (missing[3] - (w[1] * c[2] - w[2] * c[1])) / m
    out[4] = (missing[4] - (w[2] * c[0] - w[0] * c[2])) / m
    out[5] = (missing[5] - (w[0] * c[1] - w[1] * c[0])) / m


@njit(cache=True)
def turn_root(bones, twist, v):
    """Add a twist at the world's origin to the root's velocities v[0:6] (its own frame); after `locate`."""
    T = bones.poses[0]
    x, y, z = T[0, 3], T[1, 3], T[2, 3]
    lx = twist[3] + twist[1] * z - twist[2] * y
    ly = twist[4] + twist[2] * x - twist[0] * z
    lz = twist[5] + twist[0] * y - twist[1] * x
    for a in range(3):
        v[a] += T[0, a] * twist[0] + T[1, a] * twist[1] + T[2, a] * twist[2]
        v[3 + a] += T[0, a] * lx + T[1, a] * ly + T[2, a] * lz
