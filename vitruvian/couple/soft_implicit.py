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
    spread,
    turn_root,
)
from vitruvian.couple.soft_explicit import subtract_product
from vitruvian.flesh.posed.forces import elastic_forces
from vitruvian.flesh.posed.ground import add_point, move_anchor, point_force, skin_point, under_ground
from vitruvian.flesh.posed.skinning import (
    add_pose_damping,
    carried,
    carried_velocities,
    damped_product,
    frame_rates,
    place_fixed,
    velocity_at,
)
from vitruvian.flesh.posed.stiffness import add_elastic
from vitruvian.flesh.posed.touching import add_touching, touching_product
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky
from vitruvian.skeleton.coordinates import move
from vitruvian.skeleton.evaluate import NV, PARENT, V0


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
        _add_contact(flesh, ground, x, u, anchor, room.near[:touching], h, force, matrix)
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
    _gather_fixed(flesh, x, force, room.wrench)
    project(bones, room.wrench, right)
    right *= h
    force *= h
    iterations = _solve(
        flesh, bones, touch, mass, matrix, damping.pose * h, x, room, meet, force, right, du, dv, tolerance, most
    )
    if iterations < 0:
        return iterations
    # the new state
    v += dv
    moved = np.empty(len(q))
    move(bones.topology, q, v, h, moved)
    q[:] = moved
    _fix(flesh, bones, dv, x, du)
    if ground.present:
        _contact_impulse(flesh, ground, x, u, du, anchor, room.near[:touching], h, gained, room.total)
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
        _move_anchors(flesh, ground, x, u, anchor, room.near, room.total)
    return iterations


@njit(cache=True)
def about_centre(wrench, centre, sign):
    """Add `sign` times centre × force to the moment of a wrench or momentum (6,)."""
    wrench[0] += sign * (centre[1] * wrench[5] - centre[2] * wrench[4])
    wrench[1] += sign * (centre[2] * wrench[3] - centre[0] * wrench[5])
    wrench[2] += sign * (centre[0] * wrench[4] - centre[1] * wrench[3])


@njit(cache=True)
def settle_fixed(flesh, bones, q, v, x, u):
    """Nodes fixed in bones at (q, v): where those are, and as fast."""
    locate(bones, q, v)
    place_fixed(flesh, bones.poses, bones.moving, x, u)


@njit(cache=True)
def carry_velocities(flesh, bones, q, v, u):
    """All nodes as fast as the pose carries them."""
    locate(bones, q, v)
    rates = np.empty_like(bones.poses)
    frame_rates(bones.poses, bones.moving, rates)
    carried_velocities(flesh, rates, u)


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


@njit(cache=True)
def _meets_ground(flesh, ground, s, x, u, anchor, y, w, found):
    """Whether the ground pushes skin point s: its place y, velocity w and the force `found` (4,)."""
    skin_point(flesh, s, x, y)
    skin_point(flesh, s, u, w)
    return point_force(ground, flesh.skin_area[s], y, w, anchor[s], found) > 0.0


@njit(cache=True)
def _add_contact(flesh, ground, x, u, anchor, near, h, force, matrix):
    """Ground forces at the prediction and their slopes in the matrix: springs h², dampers h, sliding its secant."""
    y, w, found, away = np.empty(3), np.empty(3), np.empty(4), np.zeros(8)
    for s in near:
        if not _meets_ground(flesh, ground, s, x, u, anchor, y, w, found):
            continue
        area = flesh.skin_area[s]
        add_point(flesh, s, y, found, force, away)
        normal, across = contact_slopes(ground, area, w, found, h)
        for i in range(4):
            for j in range(4):
                weight = flesh.skin_weights[s, i] * flesh.skin_weights[s, j]
                m = matrix[flesh.skin_place[s, i, j]]
                m[0, 0] += weight * across
                m[1, 1] += weight * across
                m[2, 2] += weight * normal


@njit(cache=True)
def contact_slopes(ground, area, w, found, h):
    """Normal and tangential -h ∂f/∂u of a contact [kg], springs through h u."""
    normal = area * h * (ground.stiffness * h + ground.damping)
    if found[3] == 0.0:
        return normal, normal
    speed = np.sqrt(w[0] * w[0] + w[1] * w[1])
    return normal, min(normal, h * ground.friction * found[2] / max(speed, 1e-9))


@njit(cache=True)
def _contact_impulse(flesh, ground, x, u, du, anchor, near, h, gained, total):
    """What the ground really did in the step, its slopes included, into `gained` and the wrench `total` [N]."""
    y, w, dw, found = np.empty(3), np.empty(3), np.empty(3), np.empty(4)
    for s in near:
        if not _meets_ground(flesh, ground, s, x, u, anchor, y, w, found):
            continue
        area = flesh.skin_area[s]
        normal, across = contact_slopes(ground, area, w, found, h)
        skin_point(flesh, s, du, dw)
        fx, fy, fz = found[0] - across * dw[0] / h, found[1] - across * dw[1] / h, found[2] - normal * dw[2] / h
        for out in (gained, total):
            out[0] += y[1] * fz - y[2] * fy
            out[1] += y[2] * fx - y[0] * fz
            out[2] += y[0] * fy - y[1] * fx
            out[3] += fx
            out[4] += fy
            out[5] += fz


@njit(cache=True)
def _move_anchors(flesh, ground, x, u, anchor, near, total):
    y, w, found = np.empty(3), np.empty(3), np.empty(4)
    for n in range(under_ground(flesh, ground.height, x, anchor, True, near)):
        s = near[n]
        skin_point(flesh, s, x, y)
        skin_point(flesh, s, u, w)
        normal = point_force(ground, flesh.skin_area[s], y, w, anchor[s], found)
        total[6] += normal * move_anchor(ground, flesh.skin_area[s], y, found, anchor[s])
        total[7] += normal


@njit(cache=True)
def _gather_fixed(flesh, x, force, wrench):
    """Forces on fixed nodes as wrenches on their bones."""
    for i in range(len(x)):
        b = flesh.bone[i]
        if b >= 0:
            f, o = force[i], wrench[b]
            o[0] += x[i, 1] * f[2] - x[i, 2] * f[1]
            o[1] += x[i, 2] * f[0] - x[i, 0] * f[2]
            o[2] += x[i, 0] * f[1] - x[i, 1] * f[0]
            o[3] += f[0]
            o[4] += f[1]
            o[5] += f[2]


@njit(cache=True)
def _fix(flesh, bones, v, x, out):
    """Velocities of fixed nodes that joint velocities v bring; twists of the bones stay in bones.sums' place."""
    twists = np.empty((len(bones.topology), 6))
    spread(bones, v, twists)
    for i in range(len(x)):
        if flesh.bone[i] >= 0:
            velocity_at(twists[flesh.bone[i]], x[i], 1.0, out[i])
    return twists


@njit(cache=True)
def _apply(flesh, bones, touch, mass, matrix, damp, x, direction, pair, grip, p, pv, out, outv, wrench):
    """(out, outv) = A (p, pv); p's fixed rows are filled in here."""
    twists = _fix(flesh, bones, pv, x, p)
    wrench[:] = 0.0
    for i in range(len(x)):
        a = b = c = 0.0
        for e in range(flesh.row[i], flesh.row[i + 1]):
            m, w = matrix[e], p[flesh.column[e]]
            a += m[0, 0] * w[0] + m[0, 1] * w[1] + m[0, 2] * w[2]
            b += m[1, 0] * w[0] + m[1, 1] * w[1] + m[1, 2] * w[2]
            c += m[2, 0] * w[0] + m[2, 1] * w[1] + m[2, 2] * w[2]
        out[i, 0], out[i, 1], out[i, 2] = a, b, c
    if damp > 0.0:
        damped_product(flesh, bones.poses, twists, damp, direction, p, out, wrench)
    touching_product(flesh, touch, pair, grip, p, out)
    _gather_fixed(flesh, x, out, wrench)
    outv[:] = mass @ pv
    project(bones, wrench, outv)


@njit(cache=True)
def _joint_block(flesh, bones, mass, matrix, x):
    """Factor of the joints' matrix with the nodes fixed in their bones: mass + Jᵀ A J over fixed nodes."""
    n = len(bones.topology)
    pairs = np.zeros((n, n, 6, 6))
    left = np.zeros((6, 3))
    for i in range(len(x)):
        bi = flesh.bone[i]
        if bi < 0:
            continue
        for e in range(flesh.row[i], flesh.row[i + 1]):
            j = flesh.column[e]
            bj = flesh.bone[j]
            if bj < 0:
                continue
            m, block = matrix[e], pairs[bi, bj]
            for b in range(3):
                left[0, b] = x[i, 1] * m[2, b] - x[i, 2] * m[1, b]
                left[1, b] = x[i, 2] * m[0, b] - x[i, 0] * m[2, b]
                left[2, b] = x[i, 0] * m[1, b] - x[i, 1] * m[0, b]
                left[3, b], left[4, b], left[5, b] = m[0, b], m[1, b], m[2, b]
            for a in range(6):
                block[a, 0] += left[a, 2] * x[j, 1] - left[a, 1] * x[j, 2]
                block[a, 1] += left[a, 0] * x[j, 2] - left[a, 2] * x[j, 0]
                block[a, 2] += left[a, 1] * x[j, 0] - left[a, 0] * x[j, 1]
                for b in range(3):
                    block[a, 3 + b] += left[a, b]
    out = mass.copy()
    topology = bones.topology
    carry = np.zeros((n, 6))
    for j in range(n - 1, -1, -1):  # sum columns towards the root, then use them for the joint's velocities
        for b in range(topology[j, V0], topology[j, V0] + topology[j, NV]):
            s = bones.screws[b]
            for i in range(n):
                for a in range(6):
                    total = 0.0
                    for c in range(6):
                        total += pairs[i, j, a, c] * s[c]
                    carry[i, a] = total
            for i in range(n - 1, -1, -1):
                for a in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
                    total = 0.0
                    for c in range(6):
                        total += bones.screws[a, c] * carry[i, c]
                    out[a, b] += total
                p = topology[i, PARENT]
                if p >= 0:
                    for c in range(6):
                        carry[p, c] += carry[i, c]
        p = topology[j, PARENT]
        if p >= 0:
            pairs[:, p] += pairs[:, j]
    bad = cholesky(out)
    return bad, out


@njit(cache=True)
def _solve(flesh, bones, touch, mass, matrix, damp, x, room, meet, right, rightv, du, dv, tolerance, most):
    """Preconditioned conjugate gradients for (du, dv), from what they hold. Returns iterations; -1: not definite."""
    n = len(x)
    direction, pair, grip = room.direction, room.pair[:meet], room.grip[:meet]
    bad, joints = _joint_block(flesh, bones, mass, matrix, x)
    if bad >= 0:
        return -1
    blocks = np.zeros((n, 3, 3))
    for i in range(n):
        if flesh.bone[i] < 0:
            e = direction[i]
            D = matrix[flesh.diagonal[i]].copy()
            for a in range(3):
                for b in range(3):
                    D[a, b] += damp * flesh.mass[i] * e[a] * e[b]
            invert(D, blocks[i])
    r, z, p, s = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    rv, zv, pv, sv = np.zeros(len(dv)), np.zeros(len(dv)), np.zeros(len(dv)), np.zeros(len(dv))
    wrench = np.zeros((len(bones.topology), 6))
    size = _precondition(flesh, blocks, joints, right, rightv, z, zv)
    if size == 0.0:
        du[:] = 0.0
        dv[:] = 0.0
        return 0
    _apply(flesh, bones, touch, mass, matrix, damp, x, direction, pair, grip, du, dv, s, sv, wrench)
    r[:] = right - s
    rv[:] = rightv - sv
    rho = _precondition(flesh, blocks, joints, r, rv, z, zv)
    if rho > size:  # the last change is a worse guess than none
        du[:] = 0.0
        dv[:] = 0.0
        r[:] = right
        rv[:] = rightv
        rho = _precondition(flesh, blocks, joints, r, rv, z, zv)
    p[:] = z
    pv[:] = zv
    for turn in range(most):
        if rho <= tolerance * tolerance * size:
            return turn
        _apply(flesh, bones, touch, mass, matrix, damp, x, direction, pair, grip, p, pv, s, sv, wrench)
        curve = 0.0
        for i in range(n):
            if flesh.bone[i] < 0:
                curve += p[i, 0] * s[i, 0] + p[i, 1] * s[i, 1] + p[i, 2] * s[i, 2]
        for i in range(len(pv)):
            curve += pv[i] * sv[i]
        if not curve > 0.0:
            return -1
        step = rho / curve
        for i in range(n):
            for a in range(3):
                du[i, a] += step * p[i, a]
                r[i, a] -= step * s[i, a]
        for i in range(len(pv)):
            dv[i] += step * pv[i]
            rv[i] -= step * sv[i]
        new = _precondition(flesh, blocks, joints, r, rv, z, zv)
        ratio = new / rho
        rho = new
        for i in range(n):
            for a in range(3):
                p[i, a] = z[i, a] + ratio * p[i, a]
        for i in range(len(pv)):
            pv[i] = zv[i] + ratio * pv[i]
    return -2


@njit(cache=True)
def _precondition(flesh, blocks, joints, r, rv, z, zv):
    """z = P r; returns r·z over the unknowns."""
    total = 0.0
    for i in range(len(r)):
        if flesh.bone[i] < 0:
            B, t = blocks[i], r[i]
            for a in range(3):
                z[i, a] = B[a, 0] * t[0] + B[a, 1] * t[1] + B[a, 2] * t[2]
                total += z[i, a] * t[a]
    zv[:] = rv
    solve_cholesky(joints, zv)
    for i in range(len(rv)):
        total += zv[i] * rv[i]
    return total


@njit(cache=True)
def invert(m, out):
    """out = m⁻¹ of a symmetric 3×3 matrix."""
    c00, c01 = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1], m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
    c02 = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    scale = 1.0 / (m[0, 0] * c00 + m[0, 1] * c01 + m[0, 2] * c02)
    out[0, 0], out[1, 0], out[2, 0] = scale * c00, scale * c01, scale * c02
    out[0, 1] = scale * (m[0, 2] * m[2, 1] - m[0, 1] * m[2, 2])
    out[1, 1] = scale * (m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0])
    out[2, 1] = scale * (m[0, 1] * m[2, 0] - m[0, 0] * m[2, 1])
    out[0, 2] = scale * (m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1])
    out[1, 2] = scale * (m[0, 2] * m[1, 0] - m[0, 0] * m[1, 2])
    out[2, 2] = scale * (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
