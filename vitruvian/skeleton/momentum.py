"""Momentum and energy of a whole skeleton.

h = Σ Ad⁻ᵀ J_i v_i about the common centre of mass, in world axes; h = A_G(q) v with the centroidal momentum matrix A_G
(Orin, Goswami, Lee 2013). E = ½ Σ v_iᵀ J_i v_i - Σ m g·x + springs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.skeleton.kinematics import bone_poses, bone_velocities, world_twists
from vitruvian.skeleton.model import Skeleton
from vitruvian.skeleton.passive import passive_energy

Array = np.ndarray


class Energy(NamedTuple):
    """Joules."""

    kinetic: float
    gravity: float  # potential; zero at the world's origin
    springs: float

    @property
    def total(self) -> float:
        return self.kinetic + self.gravity + self.springs


def centre_of_mass(skeleton: Skeleton, q: ArrayLike) -> Array:
    """Common centre of mass [m] in the world, (3,)."""
    return _centre(skeleton, bone_poses(skeleton, q))


def centroidal_momentum(skeleton: Skeleton, q: ArrayLike, v: ArrayLike) -> Array:
    """(angular about the centre of mass [kg m²/s], linear [kg m/s]) in world axes, (6,)."""
    velocities = bone_velocities(skeleton, q, v)
    poses = bone_poses(skeleton, q)
    spin, push = _momenta(skeleton.bodies[:, 12:22], velocities)
    spin = np.einsum("nij,nj->ni", poses[:, :3, :3], spin)
    push = np.einsum("nij,nj->ni", poses[:, :3, :3], push)
    arm = poses[:, :3, 3] - _centre(skeleton, poses)
    return np.concatenate([(spin + np.cross(arm, push)).sum(axis=0), push.sum(axis=0)])


def centroidal_momentum_matrix(skeleton: Skeleton, q: ArrayLike) -> Array:
    """A_G (6, n_v): `centroidal_momentum` = A_G v (apart from the drift of moving surfaces)."""
    poses, twists = world_twists(skeleton, q)
    b = skeleton.bodies
    R = poses[:, :3, :3]
    m, I = b[:, 12], np.empty((skeleton.n_bones, 3, 3))
    I[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]] = b[:, 16:22]
    I[:, [1, 2, 2], [0, 0, 1]] = b[:, [17, 18, 20]]
    # everything about the common centre of mass, in world axes
    c = _centre(skeleton, poses)
    r = np.einsum("nij,nj->ni", R, skeleton.coms) + poses[:, :3, 3] - c
    own = I - m[:, None, None] * _spread(skeleton.coms)
    world = R @ own @ R.transpose(0, 2, 1) + m[:, None, None] * _spread(r)
    first = m[:, None] * r
    # sums over the subtree that each velocity moves
    moved = skeleton.supports.T.astype(float)
    inertia, static, mass = np.tensordot(moved, world, 1), moved @ first, moved @ m
    w, linear = twists[:, :3], twists[:, 3:] + np.cross(twists[:, :3], c)
    spin = np.einsum("kij,kj->ki", inertia, w) + np.cross(static, linear)
    push = mass[:, None] * linear + np.cross(w, static)
    return np.concatenate([spin.T, push.T])


def energy(skeleton: Skeleton, q: ArrayLike, v: ArrayLike, *, load: Array | None = None) -> Energy:
    """Kinetic energy, potential in gravity, and energy in joint springs, limits and springs between bones.

    load: inertia that each bone holds beside its own, as `Inertia.flat` has it, (n_bones, 10)."""
    velocities, poses = bone_velocities(skeleton, q, v), bone_poses(skeleton, q)
    inertia = skeleton.bodies[:, 12:22] if load is None else skeleton.bodies[:, 12:22] + load
    spin, push = _momenta(inertia, velocities)
    kinetic = 0.5 * float((spin * velocities[:, :3]).sum() + (push * velocities[:, 3:]).sum())
    moment = np.einsum("nij,nj->ni", poses[:, :3, :3], inertia[:, 1:4]) + inertia[:, :1] * poses[:, :3, 3]
    return Energy(kinetic, -float(skeleton.gravity @ moment.sum(axis=0)), passive_energy(skeleton, q))


def _momenta(inertia: Array, velocities: Array) -> tuple[Array, Array]:
    """J v of each bone in its own frame: angular and linear part, (n_bones, 3) each; inertia (n_bones, 10)."""
    w, v, h = velocities[:, :3], velocities[:, 3:], inertia[:, 1:4]
    xx, xy, xz, yy, yz, zz = inertia[:, 4:].T
    I = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    return np.einsum("nij,nj->ni", I, w) + np.cross(h, v), inertia[:, :1] * v - np.cross(h, w)


def _centre(skeleton: Skeleton, poses: Array) -> Array:
    m = skeleton.bodies[:, 12]
    moment = np.einsum("nij,nj->ni", poses[:, :3, :3], skeleton.bodies[:, 13:16]) + m[:, None] * poses[:, :3, 3]
    return moment.sum(axis=0) / m.sum()


def _spread(r: Array) -> Array:
    """|r|² I - r rᵀ, (n, 3, 3): inertia of a unit mass at r (n, 3)."""
    return (r * r).sum(axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
