"""The reference shape that follows the pose, and dampers between it and the flesh.

    x̄_i = Σ_j w_ij T_j X_ij,      x̄'_i = Σ_j w_ij (ω_j × T_j X_ij + v_j)                        (Liu & al. 2013, 12-13)
    f_i = c m_i (δ'·δ) δ / (δ·δ),  δ = x̄_i - x_i;      on the bones: -J_Γᵀ f_i                                  (17-18)

The damper acts along the line between a node and where it is carried, and its reaction goes to the bones that carry it:
neither linear nor angular momentum is lost. Twists of bones are (angular, linear at the world's origin), wrenches
(moment about the origin, force).
"""

from __future__ import annotations

from numba import njit

from vitruvian.flesh.posed.model import INFLUENCES

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
    for i in range(len(pose)):
        a = b = c = 0.0
        for k in range(INFLUENCES):
            w = flesh.weight[i, k]
            if w == 0.0:
                break
            T, p = poses[flesh.carrier[i, k]], flesh.bound[i, k]
            a += T[0, 0] * p[0] + T[0, 1] * p[1] + T[0, 2] * p[2] + w * T[0, 3]
            b += T[1, 0] * p[0] + T[1, 1] * p[1] + T[1, 2] * p[2] + w * T[1, 3]
            c += T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2] + w * T[2, 3]
        pose[i, 0], pose[i, 1], pose[i, 2] = a, b, c


@njit(cache=True)
def carried_velocity(flesh, poses, twists, i, out):
    """out = x̄'_i [m/s]."""
    a = b = c = 0.0
    for k in range(INFLUENCES):
        w = flesh.weight[i, k]
        if w == 0.0:
            break
        j = flesh.carrier[i, k]
        T, p, t = poses[j], flesh.bound[i, k], twists[j]
        x = T[0, 0] * p[0] + T[0, 1] * p[1] + T[0, 2] * p[2] + w * T[0, 3]
        y = T[1, 0] * p[0] + T[1, 1] * p[1] + T[1, 2] * p[2] + w * T[1, 3]
        z = T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2] + w * T[2, 3]
        a += t[1] * z - t[2] * y + w * t[3]
        b += t[2] * x - t[0] * z + w * t[4]
        c += t[0] * y - t[1] * x + w * t[5]
    out[0], out[1], out[2] = a, b, c


@njit(cache=True)
def add_carried_force(flesh, poses, i, fx, fy, fz, wrenches):
    """Add J_Γᵀ f of a force [N] on x̄_i to the wrenches (n_bones, 6)."""
    for k in range(INFLUENCES):
        w = flesh.weight[i, k]
        if w == 0.0:
            break
        j = flesh.carrier[i, k]
        T, p = poses[j], flesh.bound[i, k]
        x = T[0, 0] * p[0] + T[0, 1] * p[1] + T[0, 2] * p[2] + w * T[0, 3]
        y = T[1, 0] * p[0] + T[1, 1] * p[1] + T[1, 2] * p[2] + w * T[1, 3]
        z = T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2] + w * T[2, 3]
        o = wrenches[j]
        o[0] += y * fz - z * fy
        o[1] += z * fx - x * fz
        o[2] += x * fy - y * fx
        o[3] += w * fx
        o[4] += w * fy
        o[5] += w * fz


@njit(cache=True)
def add_pose_damping(flesh, poses, twists, rate, x, u, pose, force, wrenches, direction):
    """Add pose-based damping at `rate` c [1/s]; `direction` (n_nodes, 3) keeps the dampers' directions, else zeros."""
    for i in range(len(x)):
        d = direction[i]
        d[0] = d[1] = d[2] = 0.0
        if flesh.bone[i] >= 0 or rate == 0.0:
            continue
        dx, dy, dz = pose[i, 0] - x[i, 0], pose[i, 1] - x[i, 1], pose[i, 2] - x[i, 2]
        far = dx * dx + dy * dy + dz * dz
        if far < NEAR:
            continue
        scale = 1.0 / far**0.5
        d[0], d[1], d[2] = dx * scale, dy * scale, dz * scale
        speed = force[i]  # scratch for the moment: put back below
        fx, fy, fz = speed[0], speed[1], speed[2]
        carried_velocity(flesh, poses, twists, i, speed)
        along = (speed[0] - u[i, 0]) * d[0] + (speed[1] - u[i, 1]) * d[1] + (speed[2] - u[i, 2]) * d[2]
        f = rate * flesh.mass[i] * along
        force[i, 0], force[i, 1], force[i, 2] = fx + f * d[0], fy + f * d[1], fz + f * d[2]
        add_carried_force(flesh, poses, i, -f * d[0], -f * d[1], -f * d[2], wrenches)
