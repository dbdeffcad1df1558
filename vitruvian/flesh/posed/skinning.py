"""The reference shape that follows the pose, and dampers between it and the flesh.

    x̄_i = Σ_j w_ij T_j X_ij,      x̄'_i = Σ_j w_ij (ω_j × T_j X_ij + v_j)                        (Liu & al. 2013, 12-13)
    f_i = c m_i (δ'·δ) δ / (δ·δ),  δ = x̄_i - x_i;      on the bones: -J_Γᵀ f_i                                  (17-18)

The damper acts along the line between a node and where it is carried, and its reaction goes to the bones that carry it:
neither linear nor angular momentum is lost. Twists of bones are (angular, linear at the world's origin), wrenches
(moment about the origin, force).
"""

from __future__ import annotations

import numpy as np
from numba import njit

NEAR = 1e-12  # [m²] squared distance under which a damper has no direction


@njit(cache=True)
def place_fixed(flesh, poses, twists, x, u):
    """Nodes fixed in bones: where those are, and as fast."""
    for i in range(len(x)):
        b = flesh.bone[i]
        if b >= 0:
            for a in range(3):
                x[i, a] = poses[b, a, 3] + (
                    poses[b, a, 0] * flesh.local[i, 0]
                    + poses[b, a, 1] * flesh.local[i, 1]
                    + poses[b, a, 2] * flesh.local[i, 2]
                )
            velocity_at(twists[b], x[i], 1.0, u[i])


@njit(cache=True, inline="always")
def velocity_at(twist, x, w, out):
    """out = ω × x + w v."""
    out[0] = twist[1] * x[2] - twist[2] * x[1] + w * twist[3]
    out[1] = twist[2] * x[0] - twist[0] * x[2] + w * twist[4]
    out[2] = twist[0] * x[1] - twist[1] * x[0] + w * twist[5]


@njit(cache=True)
def carried(flesh, poses, pose):
    """Fill the reference shape x̄ (n_nodes, 3) [m]."""
    carriers, carrier, bound = flesh.carriers, flesh.carrier, flesh.bound
    for i in range(len(pose)):
        pose[i, 0], pose[i, 1], pose[i, 2] = _carry(carriers, carrier, bound, poses, i)


@njit(cache=True, fastmath={"contract"})
def _carry(carriers, carrier, bound, frames, i):
    """Σ_j w_ij T_j X_ij, T_j any matrices with four columns. No views of rows: counting who holds them costs more."""
    a = b = c = 0.0
    for k in range(carriers[i]):
        j = np.uint32(carrier[i, k])
        x, y, z, w = bound[i, k, 0], bound[i, k, 1], bound[i, k, 2], bound[i, k, 3]
        a += frames[j, 0, 0] * x + frames[j, 0, 1] * y + frames[j, 0, 2] * z + frames[j, 0, 3] * w
        b += frames[j, 1, 0] * x + frames[j, 1, 1] * y + frames[j, 1, 2] * z + frames[j, 1, 3] * w
        c += frames[j, 2, 0] * x + frames[j, 2, 1] * y + frames[j, 2, 2] * z + frames[j, 2, 3] * w
    return a, b, c


@njit(cache=True)
def frame_rates(poses, twists, out):
    """out (n_bones, 4, 4) = the rates of the bones' frames: with them in place of the frames, x̄' is made as x̄ is."""
    for j in range(len(poses)):
        T, t, o = poses[j], twists[j], out[j]
        for c in range(4):
            w = 1.0 if c == 3 else 0.0
            o[0, c] = t[1] * T[2, c] - t[2] * T[1, c] + w * t[3]
            o[1, c] = t[2] * T[0, c] - t[0] * T[2, c] + w * t[4]
            o[2, c] = t[0] * T[1, c] - t[1] * T[0, c] + w * t[5]


@njit(cache=True)
def carried_velocities(flesh, rates, speed):
    """Fill x̄' (n_nodes, 3) [m/s] by `frame_rates`."""
    carriers, carrier, bound = flesh.carriers, flesh.carrier, flesh.bound
    for i in range(len(speed)):
        speed[i, 0], speed[i, 1], speed[i, 2] = _carry(carriers, carrier, bound, rates, i)


@njit(cache=True, fastmath={"contract"})
def _load(carriers, carrier, bound, i, fx, fy, fz, loads):
    """Add a force [N] on x̄_i to the loads (n_bones, 4, 4): rows of the force times columns of X."""
    for k in range(carriers[i]):
        j = np.uint32(carrier[i, k])
        for c in range(4):
            p = bound[i, k, c]
            loads[j, 0, c] += fx * p
            loads[j, 1, c] += fy * p
            loads[j, 2, c] += fz * p


@njit(cache=True)
def add_loads(poses, loads, wrenches):
    """Add J_Γᵀ f of the forces in loads (n_bones, 4, 4) to the wrenches (n_bones, 6)."""
    for j in range(len(poses)):
        T, m, o = poses[j], loads[j], wrenches[j]
        for c in range(4):
            o[0] += T[1, c] * m[2, c] - T[2, c] * m[1, c]
            o[1] += T[2, c] * m[0, c] - T[0, c] * m[2, c]
            o[2] += T[0, c] * m[1, c] - T[1, c] * m[0, c]
        for a in range(3):
            o[3 + a] += m[a, 3]


@njit(cache=True)
def add_pose_damping(flesh, poses, twists, rate, x, u, pose, force, wrenches, direction):
    """Add pose-based damping at `rate` c [1/s]; `direction` (n_nodes, 3) keeps the dampers' directions, else zeros."""
    direction[:] = 0.0
    if rate == 0.0:
        return
    rates, loads = np.empty_like(poses), np.zeros_like(poses)
    frame_rates(poses, twists, rates)
    carried_by = flesh.bone, flesh.mass, flesh.carriers, flesh.carrier, flesh.bound
    damp_nodes(carried_by, rates, rate, x, u, pose, 0, len(x), force, loads, direction)
    add_loads(poses, loads, wrenches)


@njit(cache=True, error_model="numpy")
def damp_nodes(carried_by, rates, rate, x, u, pose, first, last, force, loads, direction):
    """The dampers of nodes `first` to `last`; their reactions go to the loads (n_bones, 4, 4).

    carried_by: bone, mass, carriers, carrier and bound of the flesh; rates: of its bones' frames."""
    bone, mass, carriers, carrier, bound = carried_by
    for i in range(first, last):
        dx, dy, dz = pose[i, 0] - x[i, 0], pose[i, 1] - x[i, 1], pose[i, 2] - x[i, 2]
        far = dx * dx + dy * dy + dz * dz
        if bone[i] < 0 and far >= NEAR:
            scale = 1.0 / np.sqrt(far)
            dx, dy, dz = dx * scale, dy * scale, dz * scale
            direction[i, 0], direction[i, 1], direction[i, 2] = dx, dy, dz
            a, b, c = _carry(carriers, carrier, bound, rates, i)
            f = rate * mass[i] * ((a - u[i, 0]) * dx + (b - u[i, 1]) * dy + (c - u[i, 2]) * dz)
            force[i, 0] += f * dx
            force[i, 1] += f * dy
            force[i, 2] += f * dz
            _load(carriers, carrier, bound, i, -f * dx, -f * dy, -f * dz, loads)


@njit(cache=True)
def damped_product(flesh, poses, twists, damp, direction, p, out, wrenches):
    """Add what the dampers' slopes make of velocities p (n_nodes, 3) and twists to out and, as reactions, wrenches.

    damp: rate times the step."""
    rates, loads = np.empty_like(poses), np.zeros_like(poses)
    frame_rates(poses, twists, rates)
    carriers, carrier, bound = flesh.carriers, flesh.carrier, flesh.bound
    for i in range(len(p)):
        dx, dy, dz = direction[i, 0], direction[i, 1], direction[i, 2]
        if dx != 0.0 or dy != 0.0 or dz != 0.0:
            a, b, c = _carry(carriers, carrier, bound, rates, i)
            f = damp * flesh.mass[i] * ((p[i, 0] - a) * dx + (p[i, 1] - b) * dy + (p[i, 2] - c) * dz)
            out[i, 0] += f * dx
            out[i, 1] += f * dy
            out[i, 2] += f * dz
            _load(carriers, carrier, bound, i, -f * dx, -f * dy, -f * dz, loads)
    add_loads(poses, loads, wrenches)
