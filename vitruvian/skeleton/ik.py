"""Inverse kinematics: joint coordinates that bring points and frames of bones to where they should be.

min_q ½ ‖W e(q)‖²,  e = (x* - x(q), log(R(q)ᵀ R*)),  low <= q <= high

by projected Levenberg-Marquardt steps (JᵀWᵀW J + λ I) Δv = JᵀWᵀW e: damped least squares (Wampler 1986) whose damping λ
follows from success. Joints that stand at a limit and are pushed against it leave the system. Since it uses only
Jacobians, it works through every joint, spline joints included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.skeleton.coordinates import difference, integrate
from vitruvian.skeleton.joints import Ball, Free
from vitruvian.skeleton.kinematics import world_twists
from vitruvian.skeleton.model import Skeleton
from vitruvian.spatial import log_so3

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Target:
    """Where a bone should be. position: of `point` [m in the bone's frame], in the world [m], (3,); orientation: of
    the bone's axes, (3, 3). Give either or both. Weights are per metre and per radian."""

    bone: str | int
    position: ArrayLike | None = None
    orientation: ArrayLike | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
    weight: float = 1.0
    orientation_weight: float = 1.0


@dataclass(frozen=True)
class IkResult:
    """q: the pose found, (n_q,); position_error [m] and orientation_error [rad]: the largest of all targets."""

    q: Array
    converged: bool  # whether both errors are below the tolerance
    position_error: float
    orientation_error: float
    iterations: int


def solve_ik(
    skeleton: Skeleton,
    q: ArrayLike,
    targets: Sequence[Target],
    *,
    limits: tuple[ArrayLike, ArrayLike] | None = None,
    fixed: ArrayLike | None = None,
    tolerance: float = 1e-6,
    iterations: int = 200,
) -> IkResult:
    """Move q (n_q,) until every target is met or no step helps.

    limits: (low, high), each (n_v,), of coordinates (ball and free: of the rotation vector and displacement from
    neutral); the skeleton's own if None. fixed: bool (n_v,), velocities that must not move."""
    goals = [_checked(skeleton, t) for t in targets]
    low, high = (skeleton.forces.low, skeleton.forces.high) if limits is None else map(_array, limits)
    still = np.zeros(skeleton.n_v, dtype=bool) if fixed is None else np.asarray(fixed, dtype=bool)
    x = _project(skeleton, np.array(q, dtype=float), low, high)
    error, jacobian, size = _residual(skeleton, x, goals)
    damping, taken = 1e-3, 0
    for taken in range(1, iterations + 1):  # noqa: B007
        if max(size) <= tolerance:
            break
        y = _limited(skeleton, x)
        gradient = jacobian.T @ error
        free = ~still & ~((y <= low) & (gradient < 0.0)) & ~((y >= high) & (gradient > 0.0))
        if not free.any():
            break
        J = jacobian[:, free]
        normal = J.T @ J
        better = False
        for _ in range(12):
            step = np.zeros(skeleton.n_v)
            step[free] = np.linalg.solve(normal + damping * np.eye(len(normal)), gradient[free])
            trial = _project(skeleton, integrate(skeleton, x, step), low, high)
            new_error, new_jacobian, new_size = _residual(skeleton, trial, goals)
            if new_error @ new_error < error @ error:
                better = True
                break
            damping *= 4.0
        if not better:
            break
        gain = 1.0 - (new_error @ new_error) / (error @ error)
        x, error, jacobian, size = trial, new_error, new_jacobian, new_size
        damping = max(damping / 5.0, 1e-14)
        if gain < 1e-12:
            break
    return IkResult(x, bool(max(size) <= tolerance), size[0], size[1], taken)


def _checked(skeleton: Skeleton, target: Target) -> tuple[int, Array, Array | None, Array | None, float, float]:
    bone = skeleton.index(target.bone) if isinstance(target.bone, str) else int(target.bone)
    parts = [None if p is None else np.asarray(p, dtype=float) for p in (target.position, target.orientation)]
    if parts[0] is None and parts[1] is None:
        raise InputError(f"target of bone '{skeleton.names[bone]}': neither position nor orientation is given")
    for part, shape in zip(parts, ((3,), (3, 3))):
        if part is not None and (part.shape != shape or not np.isfinite(part).all()):
            raise InputError(f"target of bone '{skeleton.names[bone]}': needs finite numbers of the shape {shape}")
    return bone, np.asarray(target.point, dtype=float), parts[0], parts[1], target.weight, target.orientation_weight


def _residual(skeleton: Skeleton, q: Array, goals: list) -> tuple[Array, Array, tuple[float, float]]:
    """Weighted errors (m,), their Jacobian (m, n_v), and the largest unweighted ones."""
    poses, twists = world_twists(skeleton, q)
    errors, rows = [], []
    far = turned = 0.0
    for bone, point, position, orientation, weight, orientation_weight in goals:
        R = poses[bone, :3, :3]
        moved = twists * skeleton.supports[bone][:, None]
        if position is not None:
            x = R @ point + poses[bone, :3, 3]
            e = position - x
            far = max(far, float(np.linalg.norm(e)))
            errors.append(weight * e)
            rows.append(weight * (np.cross(moved[:, :3], x) + moved[:, 3:]).T)
        if orientation is not None:
            e = log_so3(R.T @ orientation)
            turned = max(turned, float(np.linalg.norm(e)))
            errors.append(orientation_weight * e)
            rows.append(orientation_weight * (moved[:, :3] @ R).T)
    return np.concatenate(errors), np.concatenate(rows), (far, turned)


def _array(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=float)


def _limited(skeleton: Skeleton, q: Array) -> Array:
    """What limits apply to, (n_v,): coordinates, or for ball and free joints the motion from neutral."""
    y = difference(skeleton, skeleton.neutral, q)
    for i, joint in enumerate(skeleton.joints):
        a, b = skeleton.v_start[i], skeleton.v_start[i + 1]
        s = skeleton.q_start[i]
        if isinstance(joint, Free):
            y[a + 3 : b] = q[s : s + 3] - skeleton.neutral[s : s + 3]
        elif not isinstance(joint, Ball):
            y[a:b] = q[s : s + b - a]
    return y


def _project(skeleton: Skeleton, q: Array, low: Array, high: Array) -> Array:
    """q with every coordinate brought back within its limits."""
    y = _limited(skeleton, q)
    inside = np.clip(y, low, high)
    if (inside == y).all():
        return q
    out = q.copy()
    for i, joint in enumerate(skeleton.joints):
        a, b = skeleton.v_start[i], skeleton.v_start[i + 1]
        s, e = skeleton.q_start[i], skeleton.q_start[i + 1]
        if (inside[a:b] == y[a:b]).all():
            continue
        if isinstance(joint, (Ball, Free)):
            turn = np.zeros(skeleton.n_v)
            turn[a : a + 3] = inside[a : a + 3]
            out[e - 4 : e] = integrate(skeleton, skeleton.neutral, turn)[e - 4 : e]
            if isinstance(joint, Free):
                out[s : s + 3] = skeleton.neutral[s : s + 3] + inside[a + 3 : b]
        else:
            out[s:e] = inside[a:b]
    return out
