"""Vertebral angles for wanted poses of head and chest (Lee 2008, 5.3.2).

    min sum (theta_i / range_i)^2   such that head and chest (bone T1) have the wanted orientations against the pelvis

Lee weighs all angles alike; weighed by its range of motion, each joint gives the same share of what it can, and C1-C2
does most of a head turn, as it should. Each round linearises the orientations, theta <- W J^T (J W J^T)^-1 (r + J
theta), W = range^2.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.errors import InputError
from vitruvian.skeleton import world_twists
from vitruvian.spatial import exp_so3, log_so3, quaternion_from_vector, rotation_vector

Array = np.ndarray
LUMBAR_THORACIC = ("L5", "L4", "L3", "L2", "L1", *(f"T{i}" for i in range(12, 0, -1)))
CERVICAL = ("C7", "C6", "C5", "C4", "C3", "C2", "C1", "Sku")


def bend_spine(
    body: Body, q: Array, *, chest: Array | None = None, head: Array | None = None, rounds: int = 30
) -> Array:
    """q with new angles of the vertebrae, so that chest and head turn by these rotation vectors [rad], shape (3,),
    against the pelvis. None for the head keeps it straight on the chest; for the chest, straight on the pelvis."""
    q = q.copy()
    chest_turn = np.zeros(3) if chest is None else np.asarray(chest, dtype=float)
    head_turn = chest_turn if head is None else np.asarray(head, dtype=float)
    goals = [(LUMBAR_THORACIC, "T1", exp_so3(chest_turn)), (CERVICAL, "Sku", exp_so3(head_turn))]
    for bones, end, goal in goals:
        _meet(body, q, bones, end, goal, rounds)
    return q


def _meet(body: Body, q: Array, bones: tuple[str, ...], end: str, goal: Array, rounds: int) -> None:
    s = body.skeleton
    if end not in s.names:
        return
    bones = tuple(b for b in bones if b in s.names and s.joints[s.index(b)].n_v == 3)
    if not bones:
        return
    velocity = np.concatenate([np.arange(s.v_slice(b).start, s.v_slice(b).stop) for b in bones])
    theta = np.concatenate([rotation_vector(q[s.q_slice(b)]) for b in bones])
    span = 0.5 * (s.forces.high - s.forces.low)[velocity]
    W = np.where(np.isfinite(span), span, 1.0) ** 2
    for _ in range(rounds):
        for i, b in enumerate(bones):
            q[s.q_slice(b)] = quaternion_from_vector(theta[3 * i : 3 * i + 3])
        poses, screws = world_twists(s, q)
        root = poses[0, :3, :3]
        error = log_so3(goal @ (root.T @ poses[s.index(end), :3, :3]).T)  # in the pelvis' axes
        J = root.T @ screws[velocity, :3].T
        step = W * (J.T @ np.linalg.solve((J * W) @ J.T, error + J @ theta)) - theta
        theta = theta + step
        if np.abs(step).max() < 1e-12:
            break
    for i, b in enumerate(bones):
        q[s.q_slice(b)] = quaternion_from_vector(theta[3 * i : 3 * i + 3])
    if np.abs(error).max() > 1e-6:
        raise InputError(f"the spine cannot bring '{end}' to the wanted orientation")
