"""A soft body in simulated water, both moving each other: a `water.bodies.Mechanism`.

The fine skin, as nodes and velocities carry it, is what the water meets. Its impulses come per bone (the links), and
are answered as if flesh were rigid on the bones for that instant,

    A dv = Jᵀ p,      A = M + h D + h² K,      du_i = Σ_j w_ij (dω_j × T_j X_ij + dv_j)

with M the mass of bones and flesh by skinning weights and D, K the servos. That is what the pressure is solved with
(mobility J A⁻¹ Jᵀ), so the exchange is stable for a body lighter than water, and no linear momentum is lost: nodes get
theirs by the transpose of the map that carries them. How pressure dents flesh within a limb is not resolved; flesh
wobbles on bones that the water stops and lifts.
"""

from __future__ import annotations

import numpy as np

from vitruvian.couple.soft_body import SoftBody, SoftState
from vitruvian.couple.soft_bones import bones_of, locate, spread
from vitruvian.couple.soft_explicit import bone_system
from vitruvian.flesh import Embedding
from vitruvian.flesh.posed.skinning import carried_velocities, frame_rates
from vitruvian.skeleton import Skeleton
from vitruvian.water import Links, WetShape, WetSurface

Array = np.ndarray


class SoftInWater:
    """Holds buffers, never state."""

    def __init__(self, body: SoftBody, rigid: Skeleton, skin: Embedding, faces: Array, face_bone: Array) -> None:
        """rigid: the same skeleton with all of the flesh's mass; faces: of the closed skin, each with its bone."""
        self.body, self.skin, self.faces = body, skin, np.ascontiguousarray(faces)
        self.bones = bones_of(rigid)
        self.bones.gravity[:] = body.bones.gravity
        count = int(faces.max()) + 1
        self.shape = WetShape.build("skin", self.faces, count, face_bone, rigid.names)
        self.count, self.still = count, np.zeros((rigid.n_bones, 6))

    def step(self, target: Array, rate: Array, push: Array | None = None) -> Wading:
        """What the body does in one step, for `water.step`."""
        return Wading(self, target, rate, push)


class Wading:
    """A soft body during one step in water, and nothing beyond it."""

    def __init__(self, wet: SoftInWater, target: Array, rate: Array, push: Array | None) -> None:
        self.wet, self.target, self.rate, self.push = wet, target, rate, push
        self.dt = 1e-3  # [s] of the latest sub-step

    @property
    def gravity(self) -> Array:
        """[m/s²], shape (3,); the water compares it with its own."""
        return np.asarray(self.wet.body.bones.gravity)

    def advance(self, state: SoftState, time: float, dt: float) -> None:
        self.dt = dt
        self.wet.body.step(state, self.target, self.rate, dt, implicit=True, push=self.push)

    def links(self, state: SoftState) -> Links:
        origins, jacobian, matrix = self._yielding(state)
        mobility = jacobian @ np.linalg.solve(matrix, jacobian.T)
        twists = (jacobian @ state.v).reshape(-1, 6)
        return Links(origins, twists, 0.5 * (mobility + mobility.T), self.wet.bones.poses[:, :3, :3].copy())

    def skins(self, state: SoftState) -> list[WetSurface]:
        wet, bones = self.wet, self.wet.bones
        vertices, velocity = (wet.skin.positions(a)[: wet.count] for a in (state.x, state.u))
        locate(bones, state.q, state.v)
        corners, t = vertices[wet.faces], bones.moving[wet.shape.links, :6][:, None, :]
        rigid = t[..., 3:] + np.cross(np.broadcast_to(t[..., :3], corners.shape), corners)
        return [WetSurface(wet.shape, vertices, velocity[wet.faces] - rigid)]

    def receive(self, state: SoftState, impulses: Array) -> None:
        wet, bones = self.wet, self.wet.bones
        _, jacobian, matrix = self._yielding(state)
        dv = np.linalg.solve(matrix, jacobian.T @ impulses.ravel())
        twists, rates, change = np.zeros((len(impulses), 6)), np.empty_like(bones.poses), np.empty_like(state.u)
        spread(bones, dv, twists)
        frame_rates(bones.poses, twists, rates)
        carried_velocities(wet.body.flesh, rates, change)
        state.v += dv
        state.u += change

    def _yielding(self, state: SoftState) -> tuple[Array, Array, Array]:
        """Origins of the links (n, 3), their Jacobian (6 n, n_v) about these, and A (n_v, n_v)."""
        body, bones = self.wet.body, self.wet.bones
        locate(bones, state.q, state.v)
        bone_system(
            bones, self.wet.still, state.q, state.v, self.target, self.rate, body.stiffness, body.damping, self.dt
        )
        origins, n = bones.poses[:, :3, 3].copy(), len(state.v)
        jacobian, twists = np.empty((6 * len(origins), n)), np.zeros((len(origins), 6))
        for c in range(n):
            spread(bones, np.eye(n)[c], twists)
            twists[:, 3:] += np.cross(twists[:, :3], origins)
            jacobian[:, c] = twists.ravel()
        return origins, jacobian, bones.matrix.copy()
