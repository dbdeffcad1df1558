"""One explicit step of flesh and bones (Liu & al. 2013, section 4.4), half a millisecond or so.

Bones set the nodes fixed in them and the reference shape; elastic forces, damping and ground act on the nodes; those on
fixed nodes, and the dampers' reactions, go to the bones. Both sides then step by the symplectic Euler method, the
servos of the joints implicitly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from vitruvian.couple.soft_bones import (
    bone_momentum,
    gravity_wrench,
    inertia_and_bias,
    locate,
    project,
    rigid_correction,
    servo,
    turn_root,
)
from vitruvian.couple.soft_fixed import gather_fixed
from vitruvian.flesh.posed.forces import damped_forces
from vitruvian.flesh.posed.ground import add_ground
from vitruvian.flesh.posed.skinning import add_pose_damping, carried, place_fixed
from vitruvian.flesh.posed.stiffness import add_elastic
from vitruvian.flesh.posed.touching import add_touching
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky
from vitruvian.skeleton.coordinates import move

Array = np.ndarray


class Damping(NamedTuple):
    """How flesh is damped: by the pose (17-18), against the world (Kim and Pollard 2011), or Rayleigh's α M + β K."""

    pose: float = 0.0  # c [1/s]
    node: float = 0.0  # c [1/s]
    mass: float = 0.0  # α [1/s]
    stiffness: float = 0.0  # β [s]


class Room(NamedTuple):
    """Arrays to work in; nothing in them outlives a step."""

    force: Array  # (n_nodes, 3)
    pose: Array  # (n_nodes, 3)
    direction: Array  # (n_nodes, 3)
    wrench: Array  # (n_bones, 6)
    total: Array  # wrench of the ground on all (6), slip times load, load
    matrix: Array  # (n_places, 3, 3)
    near: Array  # points of the skin that touch the ground (n_skin,)
    pair: Array  # points of the skin and elements that meet (n_skin, 2)
    grip: Array  # and how (n_skin, 8)


@njit(cache=True)
def explicit_step(flesh, bones, ground, touch, damping, room, q, v, x, u, anchor, target, rate, k, d, push, h):
    """Advance q, v, x, u, anchor by h [s]. target, rate: of the servos; push: wrenches (n_bones, 6) at the origin.

    Returns -1, or the coordinate at which the bones' matrix lost its definiteness."""
    locate(bones, q, v)
    before, inertia = np.zeros(6), np.zeros(10)
    bone_momentum(bones, before, inertia)
    gained = np.zeros(6)
    gravity_wrench(bones.gravity, inertia, gained)
    place_fixed(flesh, bones.poses, bones.moving, x, u)
    carried(flesh, bones.poses, room.pose)
    room.force[:] = 0.0
    room.wrench[:] = push
    room.total[:] = 0.0
    if damping.stiffness > 0.0:
        room.matrix[:] = 0.0
        add_elastic(flesh, x, room.pose, damping.stiffness, room.force, room.matrix)
        subtract_product(flesh, room.matrix, u, room.force)
        add_pose_damping(
            flesh, bones.poses, bones.moving, damping.pose, x, u, room.pose, room.force, room.wrench, room.direction
        )
    else:
        damped_forces(
            flesh, bones.poses, bones.moving, damping.pose, x, u, room.pose, room.force, room.wrench, room.direction
        )
    if ground.present:
        add_ground(flesh, ground, x, u, anchor, room.near, room.force, room.total)
    if touch.present:
        add_touching(flesh, touch, x, u, h, room.pair, room.grip, room.force)
    gather_fixed(flesh, x, room.force, room.wrench)
    scale = 1.0 / (1.0 + h * (damping.node + damping.mass))  # drag at the end of the step: it cannot overshoot
    for i in range(len(x)):
        if flesh.bone[i] < 0:
            for a in range(3):
                u[i, a] = (u[i, a] + h * (room.force[i, a] / flesh.mass[i] + bones.gravity[a])) * scale
                x[i, a] += h * u[i, a]
    for i in range(len(room.wrench)):
        gained += room.wrench[i]
    bad = bone_step(bones, room.wrench, q, v, target, rate, k, d, h)
    if bad >= 0:
        return bad
    keep_momentum(bones, q, v, before + h * gained)
    place_fixed(flesh, bones.poses, bones.moving, x, u)
    return -1


@njit(cache=True)
def bone_step(bones, wrench, q, v, target, rate, k, d, h):
    """Bones alone under wrenches and servos; after `locate` at (q, v)."""
    bone_system(bones, wrench, q, v, target, rate, k, d, h)
    return solve_bones(bones, q, v, h)


@njit(cache=True)
def bone_system(bones, wrench, q, v, target, rate, k, d, h):
    """Matrix and right side of a step of the bones under wrenches and servos, in `bones`; after `locate` at (q, v)."""
    inertia_and_bias(bones)
    servo(bones, q, v, target, rate, k, d)
    project(bones, wrench, bones.right)
    right, matrix = bones.right, bones.matrix
    right -= bones.bias
    right += h * (bones.slope[0] @ v)
    right *= h
    matrix -= h * bones.slope[1] + h * h * 0.5 * (bones.slope[0] + bones.slope[0].T)


@njit(cache=True)
def solve_bones(bones, q, v, h):
    """Take that step, in place; -1, or the first row of the matrix that is not positive."""
    bad = cholesky(bones.matrix)
    if bad >= 0:
        return bad
    solve_cholesky(bones.matrix, bones.right)
    v += bones.right
    moved = np.empty(len(q))
    move(bones.topology, q, v, h, moved)
    q[:] = moved
    return -1


@njit(cache=True)
def keep_momentum(bones, q, v, wanted):
    """Correct the root's twist so that the bones' momentum at (q, v) is `wanted` (6,); `bones` is there after it."""
    found, inertia, twist = np.zeros(6), np.zeros(10), np.zeros(6)
    locate(bones, q, v)
    bone_momentum(bones, found, inertia)
    rigid_correction(inertia, wanted - found, twist)
    turn_root(bones, twist, v)
    for i in range(len(bones.moving)):
        for c in range(6):
            bones.moving[i, c] += twist[c]


@njit(cache=True)
def subtract_product(flesh, matrix, u, out):
    """out -= matrix u over nodes."""
    for i in range(len(u)):
        a = b = c = 0.0
        for p in range(flesh.row[i], flesh.row[i + 1]):
            m, w = matrix[p], u[flesh.column[p]]
            a += m[0, 0] * w[0] + m[0, 1] * w[1] + m[0, 2] * w[2]
            b += m[1, 0] * w[0] + m[1, 1] * w[1] + m[1, 2] * w[2]
            c += m[2, 0] * w[0] + m[2, 1] * w[1] + m[2, 2] * w[2]
        out[i, 0] -= a
        out[i, 1] -= b
        out[i, 2] -= c
