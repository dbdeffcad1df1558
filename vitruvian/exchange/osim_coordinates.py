"""Coordinates of a skeleton as OpenSim counts them: three angles for a ball, names, values, rates.

A ball joint turns by R = R_1(a) R_2(b) R_3(c) about its own axes, singular at b = ±90°. The middle axis is the one of
the smallest range: x, y, z for most joints; z, x, y for the shoulder, whose arm then hangs without a singularity.
"""

from __future__ import annotations

import numpy as np

from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.joints import Ball, Cylindrical, Fixed, Free, Planar, Prismatic, Revolute, Universal
from vitruvian.spatial import rotation_from_quaternion

Array = np.ndarray
X, Y, Z = np.eye(3)

# A joint as OpenSim sees it: (coordinate suffix, turning or sliding, axis, factor).
Axis = tuple[str, str, Array, float]


def coordinate_names(skeleton: Skeleton) -> list[str]:
    """OpenSim's name of each coordinate, one per velocity of ours; joints that are held have none."""
    return [f"{name}_{axis[0]}" for i, name in enumerate(skeleton.names) for axis in joint_axes(skeleton, i) or ()]


def coordinate_values(skeleton: Skeleton, q: Array) -> Array:
    """OpenSim's coordinates [rad or m] for ours, `q` (n_q,), in the order of `coordinate_names`."""
    values: list[float] = []
    for i, joint in enumerate(skeleton.joints):
        part = np.asarray(q[skeleton.q_start[i] : skeleton.q_start[i + 1]], dtype=float)
        if isinstance(joint, (Ball, Free)):
            R = rotation_from_quaternion(part[-4:])
            values += angles(R, turning_order(skeleton, i)).tolist() + part[:-4].tolist()
        elif joint_axes(skeleton, i) is not None:
            values += part[: joint.n_v].tolist()
    return np.array(values)


def moment_arm_map(skeleton: Skeleton, q: Array) -> Array:
    """E with v = E · (rates of OpenSim's coordinates) at `q`, shape (n_v, n coordinates): dl/dx = Eᵀ dl/dq."""
    E = np.zeros((skeleton.n_v, len(coordinate_names(skeleton))))
    column = 0
    for i, joint in enumerate(skeleton.joints):
        axes = joint_axes(skeleton, i)
        if axes is None:
            continue
        n, row = len({axis[0] for axis in axes}), int(skeleton.v_start[i])
        block = np.eye(n)
        if isinstance(joint, (Ball, Free)):
            R = rotation_from_quaternion(q[skeleton.q_start[i + 1] - 4 : skeleton.q_start[i + 1]])
            first, second, third = np.eye(3)[list(order := turning_order(skeleton, i))]
            _, b, c = angles(R, order)
            turned = _turn(third, c).T
            block[:3, :3] = np.stack([turned @ _turn(second, b).T @ first, turned @ second, third], axis=1)
            if isinstance(joint, Free):
                block[3:, 3:] = R.T
        E[row : row + n, column : column + n] = block
        column += n
    return E


def turning_order(skeleton: Skeleton, i: int) -> tuple[int, int, int]:
    """About which of its axes a ball joint turns first, second and third: the second has the smallest range."""
    at = int(skeleton.v_start[i])
    low, high = skeleton.forces.low[at : at + 3], skeleton.forces.high[at : at + 3]
    reach = np.maximum(np.abs(low), np.abs(high))
    if isinstance(skeleton.joints[i], Free) or reach[1] <= np.pi / 3 or not np.isfinite(reach).all():
        return (0, 1, 2)
    return ((2, 0, 1), (0, 1, 2), (0, 2, 1))[int(np.argmin(reach))]


def joint_axes(skeleton: Skeleton, i: int) -> list[Axis] | None:
    """Axes of the joint of bone i; None if it cannot be written."""
    joint = skeleton.joints[i]
    turns = []
    if isinstance(joint, (Ball, Free)):
        turns = [(f"r{'xyz'[k]}", "rotation", np.eye(3)[k], 1.0) for k in turning_order(skeleton, i)]
    slides = [(f"t{k}", "translation", axis, 1.0) for k, axis in zip("xyz", (X, Y, Z))]
    if isinstance(joint, Fixed):
        return []
    if isinstance(joint, Ball):
        return turns
    if isinstance(joint, Free):
        return turns + slides
    if isinstance(joint, Revolute):
        return [("angle", "rotation", np.asarray(joint.axis), 1.0)]
    if isinstance(joint, Prismatic):
        return [("slide", "translation", np.asarray(joint.axis), 1.0)]
    if isinstance(joint, Universal):
        return [
            ("angle1", "rotation", np.asarray(joint.axis1), 1.0),
            ("angle2", "rotation", np.asarray(joint.axis2), 1.0),
        ]
    if isinstance(joint, Cylindrical):
        axis = np.asarray(joint.axis)
        return [("angle", "rotation", axis, 1.0), ("slide", "translation", axis, 1.0)]
    if isinstance(joint, Planar):
        normal, first, second = joint.parameters(np.eye(4))[:9].reshape(3, 3)
        return [
            ("slide1", "translation", first, 1.0),
            ("slide2", "translation", second, 1.0),
            ("angle", "rotation", normal, 1.0),
        ]
    return None


def velocity_index(skeleton: Skeleton, i: int, k: int) -> int:
    """Which velocity of ours belongs to the k-th coordinate of bone i's joint, exactly or (a ball) nearly."""
    if isinstance(skeleton.joints[i], (Ball, Free)) and k < 3:
        k = turning_order(skeleton, i)[k]
    return int(skeleton.v_start[i]) + k


def angles(R: Array, order: tuple[int, int, int] = (0, 1, 2)) -> Array:
    """Angles about the axes i, j, k = `order` (body-fixed) of a rotation, R = R_i(a) R_j(b) R_k(c), shape (3,)."""
    i, j, k = order
    sign = 1.0 if (j - i) % 3 == 1 else -1.0  # of the axes' handedness
    b = np.arctan2(sign * R[i, k], np.hypot(R[i, i], R[i, j]))
    return np.array([np.arctan2(-sign * R[j, k], R[k, k]), b, np.arctan2(-sign * R[i, j], R[i, i])])


def _turn(axis: Array, angle: float) -> Array:
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
