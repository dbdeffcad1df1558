"""Bones in water: a tree of bones offers its links to the pressure solve, so that both find their velocities together.

The water knows a mechanism by its links: their twists J v and their mobility S = J M^-1 J^T, with J the links'
Jacobians along world axes and M the articulated inertia. Joint springs and damping act implicitly, M -> M - dt d
tau/dv - dt^2 d tau/dq, so that a stiff joint is as stable as a free one. Explicit exchange of forces with such a
chain grows by 1.2 to 3.8 times a step whatever the step is; this does not (Si 2013, section 3.4 has the explicit
way).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import (
    Skeleton,
    SkeletonState,
    bone_poses,
    integrate,
    inverse_dynamics,
    mass_matrix,
    passive_derivatives,
    world_twists,
)
from vitruvian.water.solids import Links, Skin, SkinShape

Array = np.ndarray
Derivatives = Callable[[Array, Array, float], tuple[ArrayLike, ArrayLike, ArrayLike]]


@dataclass(frozen=True)
class BonePart:
    """A closed surface that rides on a bone."""

    bone: str
    vertices: Array  # [m] in the bone's frame, shape (n, 3)
    faces: Array  # shape (m, 3), facing outwards


@dataclass
class ChainState:
    """Coordinates and velocities of the bones, and the inertia that the present step meets."""

    q: Array  # shape (n_q,)
    v: Array  # shape (n_v,)
    inertia: Array  # M - dt d tau/dv - dt^2 d tau/dq, shape (n_v, n_v)


@dataclass(frozen=True)
class _Pose:
    """What one pose and inertia give, kept as long as both last: the water asks for it several times a sub-step."""

    q: Array
    inertia: Array
    origins: Array  # of the bones [m], shape (n_bones, 3)
    jacobian: Array  # twists of all bones, world axes at their origins, per velocity, shape (6 n_bones, n_v)
    factor: tuple[Array, bool]  # Cholesky factor of the inertia
    mobility: Array  # J M^-1 J^T, shape (6 n_bones, 6 n_bones)


class BonesInWater:
    """A `Mechanism`: a skeleton with rigid surface parts, or with any surface that `skins` returns for a state."""

    def __init__(
        self,
        skeleton: Skeleton,
        parts: Sequence[BonePart] = (),
        *,
        forces: Derivatives | None = None,
        skins: Callable[[ChainState], Sequence[Skin]] | None = None,
    ) -> None:
        """forces: (q, v, time) -> generalized forces and their derivatives by q and v, beside gravity and joint
        springs.
        """
        if not parts and skins is None:
            raise InputError("bones in water need surface parts or a skin")
        self.skeleton = skeleton
        self.parts = tuple(parts)
        self.forces = forces
        self._skins = skins
        self._pose: _Pose | None = None
        self._shapes = [
            SkinShape.build(f"part on {p.bone}", p.faces, len(p.vertices), skeleton.index(p.bone)) for p in self.parts
        ]

    @property
    def gravity(self) -> Array:
        """[m/s^2], shape (3,); the water compares it with its own."""
        return self.skeleton.gravity

    def start(self, state: SkeletonState | None = None) -> ChainState:
        s = SkeletonState.at_rest(self.skeleton) if state is None else state.copy()
        return ChainState(s.q, s.v, mass_matrix(self.skeleton, s.q))

    def advance(self, state: ChainState, time: float, dt: float) -> None:
        state.q = integrate(self.skeleton, state.q, state.v, dt)
        q, v = state.q, state.v
        tau, dq, dv = passive_derivatives(self.skeleton, q, v)
        if self.forces is not None:
            more, more_dq, more_dv = self.forces(q, v, time + dt)
            tau, dq, dv = tau + more, dq + more_dq, dv + more_dv
        state.inertia = mass_matrix(self.skeleton, q) - dt * dv - dt * dt * dq
        push = tau - inverse_dynamics(self.skeleton, q, v, np.zeros(self.skeleton.n_v)) + dt * (dq @ v)
        state.v = v + self._yield(state, dt * push)

    def links(self, state: ChainState) -> Links:
        pose = self._at(state)
        return Links(pose.origins.copy(), (pose.jacobian @ state.v).reshape(-1, 6), pose.mobility)

    def skins(self, state: ChainState) -> list[Skin]:
        if self._skins is not None:
            return list(self._skins(state))
        poses = bone_poses(self.skeleton, state.q)
        out = []
        for part, shape in zip(self.parts, self._shapes):
            pose = poses[self.skeleton.index(part.bone)]
            out.append(Skin(shape, part.vertices @ pose[:3, :3].T + pose[:3, 3]))
        return out

    def receive(self, state: ChainState, impulses: Array) -> None:
        pose = self._at(state)
        state.v = state.v + cho_solve(pose.factor, pose.jacobian.T @ impulses.ravel())

    def _at(self, state: ChainState) -> _Pose:
        kept = self._pose
        if kept is None or not (np.array_equal(kept.q, state.q) and np.array_equal(kept.inertia, state.inertia)):
            origins, jacobian = link_jacobians(self.skeleton, state.q)
            factor = _factor(state.inertia)
            # S = F^T F with L F = J^T: symmetric to the last bit, at half the work of J (M^-1 J^T)
            half = solve_triangular(factor[0], jacobian.T, lower=True)
            kept = _Pose(state.q.copy(), state.inertia.copy(), origins, jacobian, factor, half.T @ half)
            self._pose = kept
        return kept

    def _yield(self, state: ChainState, impulse: Array) -> Array:
        """Velocity change of generalized impulses under the step's inertia."""
        return cho_solve(_factor(state.inertia), impulse)


def link_jacobians(skeleton: Skeleton, q: Array) -> tuple[Array, Array]:
    """Origins [m] of all bones (n_bones, 3), and their twists along world axes there per velocity, (6 n_bones, n_v)."""
    poses, twists = world_twists(skeleton, q)
    origins = poses[:, :3, 3].copy()
    moved = skeleton.supports[:, None, :]
    angular = twists[None, :, :3].transpose(0, 2, 1)
    linear = twists[:, 3:].T[None] + np.cross(twists[None, :, :3], origins[:, None, :]).transpose(0, 2, 1)
    return origins, np.concatenate([angular * moved, linear * moved], axis=1).reshape(-1, len(twists))


def _factor(inertia: Array) -> tuple[Array, bool]:
    try:
        return cho_factor(inertia, lower=True)
    except np.linalg.LinAlgError as error:
        raise Diverged(
            "bones in water", "the inertia with joint springs is not positive; take a smaller step"
        ) from error
