"""Rigid motions: SE(3), twists, adjoints (Lee 2008, section 6.1).

A transform is a homogeneous matrix T = (R, p), shape (4, 4), that maps body to parent coordinates. A twist is
(ω, v), shape (6,), in the body frame: T⁻¹ Ṫ. A wrench is (moment, force), shape (6,), dual to it.

Ad_T = [[R, 0], [[p]R, R]],   ad_g = [[[ω], 0], [[v], [ω]]]                                          (6.2), (6.4)
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.spatial.rotation import (
    exp_so3,
    log_so3,
    quaternion_from_rotation,
    rotation_from_quaternion,
    skew,
)

Array = np.ndarray


def transform(rotation: ArrayLike | None = None, position: ArrayLike | None = None) -> Array:
    """The homogeneous matrix (4, 4) of a rotation (3, 3) and a position [m] (3,)."""
    T = np.eye(4)
    if rotation is not None:
        T[:3, :3] = rotation
    if position is not None:
        T[:3, 3] = position
    return T


def inverse(T: ArrayLike) -> Array:
    """T⁻¹ of a rigid motion (4, 4), by transposing its rotation."""
    T = np.asarray(T, dtype=float)
    result = np.eye(4)
    result[:3, :3] = T[:3, :3].T
    result[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return result


def exp_se3(twist: ArrayLike) -> Array:
    """The motion (4, 4) of a body that moves with the constant twist (6,) for unit time."""
    twist = np.asarray(twist, dtype=float)
    w, v = twist[:3], twist[3:]
    _, b, c = _rodrigues(float(w @ w))
    wv = np.cross(w, v)
    return transform(exp_so3(w), v + b * wv + c * np.cross(w, wv))


def log_se3(T: ArrayLike) -> Array:
    """The twist (6,) of least angle whose exponential is T (4, 4)."""
    T = np.asarray(T, dtype=float)
    w = log_so3(T[:3, :3])
    p = T[:3, 3]
    k = inverse_jacobian_coefficient(float(w @ w))
    wp = np.cross(w, p)
    return np.concatenate([w, p - 0.5 * wp + k * np.cross(w, wp)])


def adjoint(T: ArrayLike) -> Array:
    """Ad_T (6, 6): twists of the body frame of T, as seen in its parent's coordinates (6.2)."""
    T = np.asarray(T, dtype=float)
    Ad = np.zeros((6, 6))
    Ad[:3, :3] = Ad[3:, 3:] = T[:3, :3]
    Ad[3:, :3] = skew(T[:3, 3]) @ T[:3, :3]
    return Ad


def bracket(g: ArrayLike) -> Array:
    """ad_g (6, 6), the Lie bracket with the twist g (6,) (6.4)."""
    g = np.asarray(g, dtype=float)
    ad = np.zeros((6, 6))
    ad[:3, :3] = ad[3:, 3:] = skew(g[:3])
    ad[3:, :3] = skew(g[3:])
    return ad


def pose_from_transform(T: ArrayLike) -> Array:
    """(x, y, z, qw, qx, qy, qz), shape (7,), of a transform (4, 4)."""
    T = np.asarray(T, dtype=float)
    return np.concatenate([T[:3, 3], quaternion_from_rotation(T[:3, :3])])


def transform_from_pose(pose: ArrayLike) -> Array:
    """The transform (4, 4) of a pose (7,)."""
    pose = np.asarray(pose, dtype=float)
    return transform(rotation_from_quaternion(pose[3:]), pose[:3])


def right_jacobian_se3(twist: ArrayLike) -> Array:
    """(6, 6): exp(-g) d exp(g) = J_r(g) dg, the series Σ (-ad_g)ⁿ/(n+1)!, summed to rounding."""
    ad = -bracket(twist)
    term, total = np.eye(6), np.eye(6)
    for n in range(2, 80):
        term = term @ ad / n
        total += term
        if np.abs(term).max() < 1e-17 * np.abs(total).max():
            break
    return total


def inverse_jacobian_coefficient(angle2: float) -> float:
    """k(θ) = 1/θ² - (1 + cos θ)/(2 θ sin θ), with which J⁻¹(w) = I ± ½[w] + k [w]²; angle2 is θ²."""
    if angle2 < 1e-4:
        return 1.0 / 12.0 + angle2 / 720.0 + angle2 * angle2 / 30240.0
    angle = sqrt(angle2)
    half = 0.5 * angle
    return (1.0 - half * cos(half) / sin(half)) / angle2


def _rodrigues(angle2: float) -> tuple[float, float, float]:
    """sin θ/θ, (1 - cos θ)/θ², (θ - sin θ)/θ³ without loss at small θ."""
    if angle2 < 1e-4:
        return (
            1.0 - angle2 / 6.0 + angle2 * angle2 / 120.0,
            0.5 - angle2 / 24.0 + angle2 * angle2 / 720.0,
            1.0 / 6.0 - angle2 / 120.0 + angle2 * angle2 / 5040.0,
        )
    angle = sqrt(angle2)
    half = sin(0.5 * angle)
    return sin(angle) / angle, 2.0 * half * half / angle2, (angle - sin(angle)) / (angle2 * angle)
