"""Where bones are and how they move: poses, velocities, Jacobians.

T_i = T_parent G_i,   v_i = Ad⁻¹ v_parent + S_i q̇_i                                    (Lee 2008, eqs. 6.9-6.12)

The world twist of velocity k, about the world's origin, is ξ_k = Ad_{T_i} s_k: every Jacobian is made of these.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.evaluate import NV, PARENT, V0, P, S, V, prepare
from vitruvian.skeleton.model import Skeleton, Workspace
from vitruvian.skeleton.recursion import spread_velocities

Array = np.ndarray


def bone_poses(skeleton: Skeleton, q: ArrayLike, *, workspace: Workspace | None = None) -> Array:
    """Bone to world transforms, (n_bones, 4, 4). q: (n_q,)."""
    return _locate(skeleton, q, None, workspace)[0]


def world_twists(skeleton: Skeleton, q: ArrayLike, *, workspace: Workspace | None = None) -> tuple[Array, Array]:
    """Poses (n_bones, 4, 4) and, per velocity, the twist (ω, v at the world's origin) it gives its subtree, (n_v, 6).

    A point x of a bone that velocity k moves (`skeleton.supports[bone, k]`) goes with ω × x + v."""
    return _locate(skeleton, q, None, workspace)


def bone_velocities(skeleton: Skeleton, q: ArrayLike, v: ArrayLike, *, workspace: Workspace | None = None) -> Array:
    """Body twist of each bone in its own frame, (n_bones, 6) [rad/s, m/s]."""
    work = prepare(skeleton, q, v, workspace)
    spread_velocities(skeleton.topology, skeleton.bodies, work.rows)
    return work.rows[:, V : V + 6].copy()


def point_jacobian(skeleton: Skeleton, q: ArrayLike, bone: int | str, point: ArrayLike) -> Array:
    """J (3, n_v) with world velocity of `point` = J v; point: [m] in the bone's frame, (3,)."""
    b = skeleton.index(bone) if isinstance(bone, str) else bone
    poses, twists = world_twists(skeleton, q)
    x = poses[b, :3, :3] @ np.asarray(point, dtype=float) + poses[b, :3, 3]
    return ((np.cross(twists[:, :3], x) + twists[:, 3:]) * skeleton.supports[b][:, None]).T


def frame_jacobian(skeleton: Skeleton, q: ArrayLike, bone: int | str, *, world: bool = False) -> Array:
    """J (6, n_v) of a bone's twist (angular, linear): in its own frame, or along world axes at its origin."""
    b = skeleton.index(bone) if isinstance(bone, str) else bone
    poses, twists = world_twists(skeleton, q)
    R, x = poses[b, :3, :3], poses[b, :3, 3]
    moved = twists * skeleton.supports[b][:, None]
    angular, linear = moved[:, :3], moved[:, 3:] + np.cross(moved[:, :3], x)
    if not world:
        angular, linear = angular @ R, linear @ R
    return np.concatenate([angular.T, linear.T])


def joint_transforms(skeleton: Skeleton, q: ArrayLike) -> Array:
    """Each bone relative to its parent, placement included, (n_bones, 4, 4)."""
    rows = prepare(skeleton, q, None, None).rows
    out = np.zeros((skeleton.n_bones, 4, 4))
    out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = rows[:, :9].reshape(-1, 3, 3), rows[:, P : P + 3], 1.0
    return out


def _locate(skeleton: Skeleton, q: ArrayLike, v: ArrayLike | None, workspace: Workspace | None) -> tuple[Array, Array]:
    work = prepare(skeleton, q, v, workspace)
    poses, twists = np.empty((skeleton.n_bones, 4, 4)), np.empty((skeleton.n_v, 6))
    locate(skeleton.topology, work.rows, work.dofs, poses, twists)
    return poses, twists


@njit(cache=True)
def locate(topology, rows, dofs, poses, twists):
    """Fill poses (n, 4, 4) and world twists (n_v, 6) from evaluated joints."""
    for i in range(topology.shape[0]):
        row, T = rows[i], poses[i]
        parent = topology[i, PARENT]
        T[3, 0], T[3, 1], T[3, 2], T[3, 3] = 0.0, 0.0, 0.0, 1.0
        if parent < 0:
            for a in range(3):
                for b in range(3):
                    T[a, b] = row[3 * a + b]
                T[a, 3] = row[P + a]
        else:
            O = poses[parent]
            for a in range(3):
                for b in range(3):
                    T[a, b] = O[a, 0] * row[b] + O[a, 1] * row[3 + b] + O[a, 2] * row[6 + b]
                T[a, 3] = O[a, 0] * row[P] + O[a, 1] * row[P + 1] + O[a, 2] * row[P + 2] + O[a, 3]
        for d in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            w0 = T[0, 0] * dofs[d, S] + T[0, 1] * dofs[d, S + 1] + T[0, 2] * dofs[d, S + 2]
            w1 = T[1, 0] * dofs[d, S] + T[1, 1] * dofs[d, S + 1] + T[1, 2] * dofs[d, S + 2]
            w2 = T[2, 0] * dofs[d, S] + T[2, 1] * dofs[d, S + 1] + T[2, 2] * dofs[d, S + 2]
            x, y, z = T[0, 3], T[1, 3], T[2, 3]
            twists[d, 0], twists[d, 1], twists[d, 2] = w0, w1, w2
            twists[d, 3] = T[0, 0] * dofs[d, S + 3] + T[0, 1] * dofs[d, S + 4] + T[0, 2] * dofs[d, S + 5]
            twists[d, 4] = T[1, 0] * dofs[d, S + 3] + T[1, 1] * dofs[d, S + 4] + T[1, 2] * dofs[d, S + 5]
            twists[d, 5] = T[2, 0] * dofs[d, S + 3] + T[2, 1] * dofs[d, S + 4] + T[2, 2] * dofs[d, S + 5]
            twists[d, 3] += y * w2 - z * w1
            twists[d, 4] += z * w0 - x * w2
            twists[d, 5] += x * w1 - y * w0
