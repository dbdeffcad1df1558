"""A character with its flesh rigid on its bones: a hundred times as fast as the soft one, for first searches.

Bones carry all of the mass by weights. Points of the skin, each on the bone that holds it most, meet the same ground as
the soft skin; springs and dampers of the ground enter the matrix of the step, as the servos do:

    (M + h D + h² K + Σ Xᵀ (h² k + h c) X) Δv = h (τ - b + Σ Xᵀ f(y + h ẏ))
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from vitruvian.couple.soft_bones import locate
from vitruvian.couple.soft_contact import contact_slopes
from vitruvian.couple.soft_explicit import bone_system, solve_bones
from vitruvian.flesh.posed.ground import TOUCHING, move_anchor, point_force
from vitruvian.flesh.posed.skinning import velocity_at
from vitruvian.skeleton.evaluate import NV, PARENT, V0

Array = np.ndarray


class Soles(NamedTuple):
    """Points that may touch the ground."""

    bone: Array  # shape (n,)
    at: Array  # in the bone's frame [m], shape (n, 3)
    area: Array  # [m²], shape (n,)


@njit(cache=True)
def rigid_step(bones, soles, ground, q, v, anchor, target, rate, k, d, push, wrench, blocks, slid, h):
    """Advance q, v, anchor by h [s]; wrench (n_bones, 6), blocks (n_bones, 6, 6): room. Returns -1 or a bad row.

    slid (2,): how far points slid times their load [N m], and their load [N]."""
    locate(bones, q, v)
    wrench[:] = push
    blocks[:] = 0.0
    slid[:] = 0.0
    y, w, found = np.empty(3), np.empty(3), np.empty(4)
    touched = False
    for s in range(len(soles.bone)):
        b = soles.bone[s]
        T, p = bones.poses[b], soles.at[s]
        for a in range(3):
            y[a] = T[a, 0] * p[0] + T[a, 1] * p[1] + T[a, 2] * p[2] + T[a, 3]
        if y[2] > ground.height + 0.1:
            anchor[s, TOUCHING] = 0.0
            continue
        velocity_at(bones.moving[b], y, 1.0, w)
        for a in range(3):
            y[a] += h * w[a]
        point_force(ground, soles.area[s], y, w, anchor[s], found)
        slid[0] += found[2] * move_anchor(ground, soles.area[s], y, found, anchor[s])
        slid[1] += found[2]
        if found[2] <= 0.0:
            continue
        touched = True
        normal, across = contact_slopes(ground, soles.area[s], w, found, h)
        _add_contact(wrench[b], blocks[b], y, found, normal, across)
    bone_system(bones, wrench, q, v, target, rate, k, d, h)
    if touched:
        _add_blocks(bones, blocks, bones.matrix)
    return solve_bones(bones, q, v, h)


@njit(cache=True)
def _add_contact(wrench, block, y, f, normal, across):
    """A force at y to a wrench at the origin, and Xᵀ diag(across, across, normal) X to the bone's 6×6 block."""
    wrench[0] += y[1] * f[2] - y[2] * f[1]
    wrench[1] += y[2] * f[0] - y[0] * f[2]
    wrench[2] += y[0] * f[1] - y[1] * f[0]
    for a in range(3):
        wrench[3 + a] += f[a]
    X = np.zeros((3, 6))
    X[0, 1], X[0, 2], X[0, 3] = y[2], -y[1], 1.0
    X[1, 0], X[1, 2], X[1, 4] = -y[2], y[0], 1.0
    X[2, 0], X[2, 1], X[2, 5] = y[1], -y[0], 1.0
    for r in range(3):
        m = normal if r == 2 else across
        for a in range(6):
            for b in range(6):
                block[a, b] += m * X[r, a] * X[r, b]


@njit(cache=True)
def _add_blocks(bones, blocks, matrix):
    """Add blocks of bones to the matrix of joints, summed towards the root as inertias are."""
    topology, f = bones.topology, np.empty(6)
    for i in range(len(topology) - 1, -1, -1):
        for j in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            for a in range(6):
                total = 0.0
                for b in range(6):
                    total += blocks[i, a, b] * bones.screws[j, b]
                f[a] = total
            b, end = i, j + 1
            while b >= 0:
                for c in range(topology[b, V0], min(topology[b, V0] + topology[b, NV], end)):
                    value = 0.0
                    for a in range(6):
                        value += bones.screws[c, a] * f[a]
                    matrix[j, c] += value
                    if c != j:
                        matrix[c, j] += value
                b = topology[b, PARENT]
        p = topology[i, PARENT]
        if p >= 0:
            blocks[p] += blocks[i]
