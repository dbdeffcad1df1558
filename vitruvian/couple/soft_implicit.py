"""One implicit step of flesh and bones in one linear system, 4 to 8 milliseconds.

    Bᵀ (m + h² K + h C) B Δ = h Bᵀ f(x + h u, q ⊕ h v),      B: fixed nodes move as their bones do

Forces, rotations, reference shape and contact are those of the prediction; linearised at the old place instead, spin is
lost within a second. Unknowns are the changes of velocity of flesh nodes and of joints. Conjugate gradients, started
from the last step's change, with 3×3 blocks of the nodes and the dense matrix of the joints, nodes fixed in them
included, as preconditioner; so light bones in heavy flesh are no trouble. What is left of the error in momentum (first
order in h) is a rigid motion, and is taken out.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.couple.soft_bones import (
    add_momentum,
    bone_momentum,
    inertia_and_bias,
    locate,
    project,
    rigid_correction,
    servo,
    turn_root,
)
from vitruvian.couple.soft_contact import add_contact, contact_impulse, move_anchors
from vitruvian.couple.soft_explicit import subtract_product
from vitruvian.couple.soft_fixed import fixed_velocities, gather_fixed
from vitruvian.couple.soft_solve import solve_step
from vitruvian.flesh.posed.forces import elastic_forces
from vitruvian.flesh.posed.ground import under_ground
from vitruvian.flesh.posed.skinning import add_pose_damping, carried, place_fixed, velocity_at
from vitruvian.flesh.posed.stiffness import add_elastic
from vitruvian.flesh.posed.touching import add_touching
from vitruvian.skeleton.coordinates import move


@njit(cache=True)
def implicit_step(
    flesh, bones, ground, touch, damping, room, q, v, x, u, anchor, du, dv, target, rate, k, d, push, h, tolerance, most
):
    """Advance q, v, x, u, anchor by h [s]; du, dv: the last step's change of velocities in, this one's out.

    Returns the number of iterations, negative when the bones' matrix lost its definiteness or they ran out."""
    n = len(x)
    before, inertia = np.zeros(6), np.zeros(10)
    locate(bones, q, v)
    bone_momentum(bones, before, inertia)
    add_flesh_momentum(flesh, x, u, before, inertia)
    gained, centre = np.zeros(6), inertia[1:4] / inertia[0]
    about_centre(before, centre, -1.0)
    inertia_and_bias(bones)
    bias, mass = bones.bias.copy(), bones.matrix.copy()
    # the prediction
    ahead = np.empty(len(q))
    move(bones.topology, q, v, h, ahead)
    locate(bones, ahead, v)
    for i in range(n):
        if flesh.bone[i] < 0:
            for a in range(3):
                x[i, a] += h * u[i, a]
    place_fixed(flesh, bones.poses, bones.moving, x, u)
    carried(flesh, bones.poses, room.pose)
    # forces and matrix there
    room.force[:] = 0.0
    room.wrench[:] = push
    for b in range(len(push)):
        gained += push[b]
    room.total[:] = 0.0
    room.matrix[:] = 0.0
    matrix, force = room.matrix, room.force
    if damping.stiffness > 0.0:
        add_elastic(flesh, x, room.pose, damping.stiffness, force, matrix)
        force[:] = 0.0
        subtract_product(flesh, matrix, u, force)
        matrix *= h / damping.stiffness * (h + damping.stiffness)
        elastic_forces(flesh, x, room.pose, force)
    else:
        add_elastic(flesh, x, room.pose, h * h, force, matrix)
    add_pose_damping(
        flesh, bones.poses, bones.moving, damping.pose, x, u, room.pose, force, room.wrench, room.direction
    )
    touching = 0
    if ground.present:
        touching = under_ground(flesh, ground.height, x, anchor, False, room.near)
        add_contact(flesh, ground, x, u, anchor, room.near[:touching], h, force, matrix)
    meet = add_touching(flesh, touch, x, u, h, room.pair, room.grip, force) if touch.present else 0
    drag = damping.node + damping.mass
    for i in range(n):
        if flesh.bone[i] < 0:
            m = flesh.mass[i]
            for a in range(3):
                force[i, a] += m * (bones.gravity[a] - drag * u[i, a])
                matrix[flesh.diagonal[i], a, a] += m * (1.0 + h * drag)
    servo(bones, ahead, v, target, rate, k, d)
    mass -= h * bones.slope[1] + h * h * 0.5 * (bones.slope[0] + bones.slope[0].T)
    right = bones.right - bias
    gather_fixed(flesh, x, force, room.wrench)
    project(bones, room.wrench, right)
    right *= h
    force *= h
    iterations = solve_step(
        flesh, bones, touch, mass, matrix, damping.pose * h, x, room, meet, force, right, du, dv, tolerance, most
    )
    if iterations < 0:
        return iterations
    # the new state
    v += dv
    moved = np.empty(len(q))
    move(bones.topology, q, v, h, moved)
    q[:] = moved
    fixed_velocities(flesh, bones, dv, x, du)
    if ground.present:
        contact_impulse(flesh, ground, x, u, du, anchor, room.near[:touching], h, gained, room.total)
    for i in range(n):
        if flesh.bone[i] < 0:
            for a in range(3):
                u[i, a] += du[i, a]
                x[i, a] += h * du[i, a]
            if drag > 0.0:
                f = -drag * flesh.mass[i]
                gained[0] += f * (x[i, 1] * u[i, 2] - x[i, 2] * u[i, 1])
                gained[1] += f * (x[i, 2] * u[i, 0] - x[i, 0] * u[i, 2])
                gained[2] += f * (x[i, 0] * u[i, 1] - x[i, 1] * u[i, 0])
                for a in range(3):
                    gained[3 + a] += f * u[i, a]
    # momentum about the centre of mass: what it was, and what the world did
    about_centre(gained, centre + h * before[3:] / inertia[0], -1.0)
    gained[3:] += inertia[0] * bones.gravity
    found, twist = np.zeros(6), np.zeros(6)
    locate(bones, q, v)
    bone_momentum(bones, found, inertia)
    add_flesh_momentum(flesh, x, u, found, inertia)
    wanted = before + h * gained
    about_centre(wanted, inertia[1:4] / inertia[0], 1.0)
    rigid_correction(inertia, wanted - found, twist)
    turn_root(bones, twist, v)
    change = np.empty(3)
    for i in range(n):
        if flesh.bone[i] < 0:
            velocity_at(twist, x[i], 1.0, change)
            u[i] += change
    if ground.present:
        move_anchors(flesh, ground, x, u, anchor, room.near, room.total)
    return iterations


@njit(cache=True)
def about_centre(wrench, centre, sign):
    """Add `sign` times centre × force to the moment of a wrench or momentum (6,)."""
    wrench[0] += sign * (centre[1] * wrench[5] - centre[2] * wrench[4])
    wrench[1] += sign * (centre[2] * wrench[3] - centre[0] * wrench[5])
    wrench[2] += sign * (centre[0] * wrench[4] - centre[1] * wrench[3])


@njit(cache=True)
def add_flesh_momentum(flesh, x, u, out, inertia):
    """Add momentum (angular, linear) and inertia about the origin of the nodes that are flesh."""
    own, twist = np.zeros(10), np.zeros(6)
    for i in range(len(x)):
        if flesh.bone[i] >= 0:
            continue
        m, a, b, c = flesh.mass[i], x[i, 0], x[i, 1], x[i, 2]
        own[0], own[1], own[2], own[3] = m, m * a, m * b, m * c
        own[4], own[5], own[6] = m * (b * b + c * c), -m * a * b, -m * a * c
        own[7], own[8], own[9] = m * (a * a + c * c), -m * b * c, m * (a * a + b * b)
        twist[3], twist[4], twist[5] = u[i, 0], u[i, 1], u[i, 2]
        add_momentum(own, twist, out)
        inertia += own
