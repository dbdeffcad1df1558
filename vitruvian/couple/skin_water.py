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
from scipy.linalg import cho_factor, cho_solve

from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import (
    Skeleton,
    SkeletonState,
    bone_poses,
    frame_jacobian,
    integrate,
    inverse_dynamics,
    mass_matrix,
    passive_derivatives,
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
        self._shapes = [
            SkinShape.build(f"part on {p.bone}", p.faces, len(p.vertices), skeleton.index(p.bone)) for p in self.parts
        ]

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
        jacobian = self._jacobian(state)
        mobility = jacobian @ self._yield(state, jacobian.T)
        poses = bone_poses(self.skeleton, state.q)
        return Links(poses[:, :3, 3].copy(), (jacobian @ state.v).reshape(-1, 6), 0.5 * (mobility + mobility.T))

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
        state.v = state.v + self._yield(state, self._jacobian(state).T @ impulses.ravel())

    def _jacobian(self, state: ChainState) -> Array:
        """Twists of all bones, along world axes at their origins, per velocity; shape (6 n_bones, n_v)."""
        return np.vstack(
            [frame_jacobian(self.skeleton, state.q, bone, world=True) for bone in range(self.skeleton.n_bones)]
        )

    def _yield(self, state: ChainState, impulse: Array) -> Array:
        """Velocity change of generalized impulses under the step's inertia."""
        try:
            return cho_solve(cho_factor(state.inertia), impulse)
        except np.linalg.LinAlgError as error:
            raise Diverged(
                "bones in water", "the inertia with joint springs is not positive; take a smaller step"
            ) from error
