"""The linear system of an implicit step: conjugate gradients over flesh nodes and joints.

Their preconditioner has 3×3 blocks of the nodes and the dense matrix of the joints, nodes fixed in them included, so
light bones in heavy flesh are no trouble.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.couple.soft_bones import project
from vitruvian.couple.soft_fixed import fixed_velocities, gather_fixed
from vitruvian.flesh.posed.skinning import damped_product
from vitruvian.flesh.posed.touching import touching_product
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky
from vitruvian.skeleton.evaluate import NV, PARENT, V0


@njit(cache=True)
def solve_step(flesh, bones, touch, mass, matrix, damp, x, room, meet, right, rightv, du, dv, tolerance, most):
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
def _apply(flesh, bones, touch, mass, matrix, damp, x, direction, pair, grip, p, pv, out, outv, wrench):
    """(out, outv) = A (p, pv); p's fixed rows are filled in here."""
    twists = fixed_velocities(flesh, bones, pv, x, p)
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
    gather_fixed(flesh, x, out, wrench)
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
