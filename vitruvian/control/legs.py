"""Leg angles that keep the feet where they stand while the pelvis moves.

Hip, knee and ankle have five coordinates, a foot's place and direction six numbers: damped Gauss-Newton steps meet
the ankle's place and the sole's slope exactly and leave the least turn about the vertical.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses, integrate, world_twists
from vitruvian.spatial import log_so3

Array = np.ndarray
LEG = ("Fe", "Tfp", "Fo")


def plant_feet(body: Body, q: Array, lift: float = 0.0, rounds: int = 60) -> Array:
    """q with new angles of both legs: feet as in the default pose, `lift` [m] higher."""
    s = body.skeleton
    default = bone_poses(s, body.default_q)
    for side in "lr":
        if f"Fo_{side}" not in s.names:
            raise InputError("this body has no feet to plant")
        foot = s.index(f"Fo_{side}")
        goal = default[foot].copy()
        goal[2, 3] += lift
        mine = np.concatenate([np.arange(s.v_slice(f"{b}_{side}").start, s.v_slice(f"{b}_{side}").stop) for b in LEG])
        knee = s.v_slice(f"Tfp_{side}").start
        if abs(q[s.q_slice(f"Tfp_{side}")][0]) < 0.1:
            q = q.copy()
            q[s.q_slice(f"Tfp_{side}")] = 0.2  # a straight knee has no way down
        for _ in range(rounds):
            poses, screws = world_twists(s, q)
            place = goal[:3, 3] - poses[foot, :3, 3]
            turn = log_so3(goal[:3, :3] @ poses[foot, :3, :3].T)
            error = np.concatenate([place, 0.2 * turn * (1.0, 0.3, 0.1)])
            J = np.zeros((6, s.n_v))
            J[:3, mine] = (np.cross(screws[mine, :3], poses[foot, :3, 3]) + screws[mine, 3:]).T
            J[3:, mine] = (0.2 * np.array([1.0, 0.3, 0.1]) * screws[mine, :3]).T
            A = J[:, mine]
            change = np.zeros(s.n_v)
            change[mine] = A.T @ np.linalg.solve(A @ A.T + 1e-8 * np.eye(6), error)
            change *= min(1.0, 0.3 / max(np.abs(change).max(), 1e-12))
            q = integrate(s, q, change)
            q[s.q_start[s.dof_bone[knee]]] = max(q[s.q_start[s.dof_bone[knee]]], 0.0)
            if np.abs(change).max() < 1e-10:
                break
        if np.abs(place).max() > 2e-3:
            raise InputError(f"the {'left' if side == 'l' else 'right'} foot cannot be planted (off by {place} m)")
    return q
