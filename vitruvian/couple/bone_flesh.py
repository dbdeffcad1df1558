"""Bones and flesh, both ways: bones carry the flesh by its attachments, and feel what pulls and pushes on it.

One step follows Si 2013, section 3.5: forces on the skin bring the flesh to balance, the attachment springs hand them
to the bones, the bones move, the flesh follows. The bones' step is implicit in the flesh's pull, with the Jacobian of
Si's appendix B,

    ∂f_c/∂q = k W A⁻¹ Wᵀ k ∂x_c/∂q − k ∂x_c/∂q,      A = ∂²E/∂x²  (flesh with its springs, volume condensed in),

so that stiff springs between light bones and heavy flesh do not force tiny steps: A of `couple.step`, less h² of this.
The balance itself is that of the bones' momentum, solved by Newton steps with this matrix, so that what bones and flesh
exchange is neither lost nor made. Flesh may be quasi-static or have inertia.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.couple.flesh_follower import Follower
from vitruvian.couple.flesh_predictor import Trend
from vitruvian.couple.links import BoneLinks
from vitruvian.couple.step import BoneStep
from vitruvian.errors import Diverged, InputError
from vitruvian.flesh import FleshModel, FleshState, Loads, Potential, Settings, SolveReport, rest_state
from vitruvian.flesh.potential import StepMotion
from vitruvian.skeleton import (
    Skeleton,
    SkeletonState,
    bone_poses,
    bone_velocities,
    generalized_forces,
    geometric_stiffness,
    integrate,
    mass_matrix,
    world_twists,
)

Array = np.ndarray


@dataclass(frozen=True)
class Inertial:
    """Flesh with inertia and Rayleigh damping α M + β K."""

    mass_damping: float = 0.0  # α [1/s]
    stiffness_damping: float = 0.0  # β [s]


@dataclass
class BoneFleshState:
    bones: SkeletonState
    flesh: FleshState
    poses: Array  # of the bones when the flesh was last balanced, shape (n_bones, 4, 4)
    trend: Trend = field(default_factory=Trend.unknown)  # what the last balance added to skinning


class BoneFlesh:
    """A skeleton wrapped in flesh; holds buffers, never state."""

    def __init__(self, skeleton: Skeleton, model: FleshModel, settings: Settings | None = None) -> None:
        tied = model.attachments
        if len(tied.bone) == 0:
            raise InputError("bone-flesh: the flesh is attached to no bone")
        if tied.n_bones != skeleton.n_bones:
            raise InputError(f"bone-flesh: flesh for {tied.n_bones} bones, a skeleton of {skeleton.n_bones}")
        self.skeleton, self.model = skeleton, model
        self.bones = BoneStep(skeleton)
        self.links = BoneLinks(self.bones)
        self.follower = Follower(model, settings)
        self.solver = self.follower.solver

    def start(self, rest_q: Array, q: Array | None = None, v: Array | None = None) -> BoneFleshState:
        """Undeformed flesh on bones in the pose `rest_q` in which it was attached, then brought to q at velocity v."""
        bones = SkeletonState(
            np.array(rest_q if q is None else q, float),
            np.zeros(self.skeleton.n_v) if v is None else np.array(v, float),
        )
        state = BoneFleshState(bones, rest_state(self.model), bone_poses(self.skeleton, rest_q))
        if q is not None:
            self.settle(state, Loads())
        return state

    def settle(self, state: BoneFleshState, loads: Loads, dt: float = np.inf) -> SolveReport:
        """Bring the flesh to balance around the bones where they are now; a motion too large is taken in parts.

        dt: the time [s] that it takes, against the tissue's viscosity; without it the flesh comes to rest.
        """
        goal = bone_poses(self.skeleton, state.bones.q)
        return self.follower.settle(state, goal, loads, dt)

    def pull(self, flesh: FleshState, q: Array) -> Array:
        """Generalized force of the attachments on the bones [N m, N], shape (n_v,)."""
        tied = self.model.attachments
        force = tied.forces(flesh.x, tied.targets(bone_poses(self.skeleton, q)))
        return generalized_forces(self.skeleton, q, tied.bone, tied.point, force)

    def pull_derivative(
        self,
        flesh: FleshState,
        q: Array,
        loads: Loads,
        motion: StepMotion | None = None,
        tolerance: float = 1e-4,
        coordinates: Array | None = None,
    ) -> Array:
        """d pull/dq while the flesh keeps its balance (Si 2013, eq. B.9), shape (n_v, n_v).

        Coordinates of bones that carry no flesh have zero rows and columns. One linear solve per coordinate, or per
        one of `coordinates` if they are given; the others count as held.
        """
        skeleton, tied = self.skeleton, self.model.attachments
        poses, twists = world_twists(skeleton, q)
        targets = tied.targets(poses)
        moving = np.flatnonzero(skeleton.supports[np.unique(tied.bone)].any(axis=0))
        if coordinates is not None:
            moving = np.intersect1d(moving, coordinates)
        rates = np.stack(
            [
                (np.cross(twists[k, :3], targets) + twists[k, 3:]) * skeleton.supports[tied.bone, k][:, None]
                for k in moving
            ]
        )
        stiff = tied.stiffness[:, None]
        potential = Potential(self.model, replace(loads, targets=targets), motion)
        right = np.stack([tied.embedding.nodal_forces(stiff * rate) for rate in rates])
        follow = self.solver.newton.responses(potential, flesh.x, flesh.pressure, right, tolerance)
        change = np.stack([stiff * (tied.embedding.positions(f) - rate) for f, rate in zip(follow, rates, strict=True)])
        out = geometric_stiffness(skeleton, q, tied.bone, tied.point, tied.forces(flesh.x, targets))
        # the part of Jᵀ δf: velocities of the points against the changes of their forces
        out[np.ix_(moving, moving)] += np.einsum("ani,bni->ab", rates, change)
        return out

    def step(
        self,
        state: BoneFleshState,
        dt: float,
        loads: Loads,
        *,
        torque: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        inertial: Inertial | None = None,
        integrator: str = "backward-euler",
        iterations: int = 1,
        tolerance: float = 1e-9,
    ) -> SolveReport:
        """Bones and flesh `dt` [s] on. loads act on the flesh; torque (n_v,) and wrenches (n_bones, 6) on the bones.

        Each iteration solves the flesh around the bones' guess and corrects the bones with the pull's derivative;
        further ones until bones and flesh agree on the force between them to `tolerance` (relative) make the exchange
        exact.

        integrator: as in `FleshSolver.step`. Backward Euler keeps linear momentum and damps spin. "energy-momentum":
        forces between bones and flesh act halfway, where velocities are the mean of old and new; flesh with inertia
        then keeps linear and angular momentum, as its springs pull bones and flesh along one line.
        """
        halfway = integrator == "energy-momentum"
        if halfway and inertial is None:
            raise InputError("bone-flesh: an energy-momentum step needs flesh with inertia")
        skeleton, bones = self.skeleton, state.bones
        q0, v0 = bones.q.copy(), bones.v.copy()
        begin = state.flesh.copy()
        before = world_momenta(skeleton, q0, v0)
        v1, q1 = v0.copy(), q0
        part = 0.5 if halfway else 1.0  # of the step at which forces act
        # M + h D + h² K of the bones, and f - h K v of their joints and cartilages, for a step to where forces act
        system = self.bones.assemble(q0, v0, part * dt, (self.links,))
        matrix, mass = system.full_matrix(), mass_matrix(skeleton, q0)
        given = system.force + system.bias
        if torque is not None:
            given = given + np.asarray(torque, float)
        report = None
        for turn in range(iterations + 1):
            middle = (1.0 - part) * v0 + part * v1
            bones.q[:] = integrate(skeleton, q0, middle, part * dt)
            q1 = integrate(skeleton, q0, middle, dt)
            report, motion = self._flesh_step(state, begin, loads, dt, inertial, integrator, fresh=turn > 0)
            flesh = state.flesh
            if halfway:
                flesh = FleshState(0.5 * (begin.x + flesh.x), flesh.v, flesh.pressure)
            pulled = self.pull(flesh, bones.q)
            resisted = (matrix - mass) @ (middle - v0) / (part * dt)
            force = given - resisted + pulled + self._outside(bones.q, wrenches)
            # balance of momentum at the new pose: what bones and flesh exchange is neither lost nor made
            gained = project_wrenches(skeleton, bones.q, world_momenta(skeleton, q1, v1) - before)
            miss = gained - dt * force
            size = float(np.linalg.norm(dt * force)) + float(np.linalg.norm(mass @ v0)) + 1e-300
            if turn == iterations or float(np.linalg.norm(miss)) <= tolerance * size:
                break
            derivative = self.pull_derivative(flesh, bones.q, loads, motion)
            v1 = v1 - np.linalg.solve(matrix - (part * dt) ** 2 * derivative, miss)
        if not np.isfinite(v1).all():
            raise Diverged("bones and flesh", "a velocity is no longer a number")
        bones.q[:], bones.v[:] = q1, v1
        if halfway:
            state.poses[:] = bone_poses(skeleton, q1)
        assert report is not None
        return report

    def _outside(self, q: Array, wrenches: ArrayLike | None) -> Array:
        """Generalized force of gravity and of wrenches in the bones' frames."""
        skeleton = self.skeleton
        poses = bone_poses(skeleton, q)
        turn, at = poses[:, :3, :3], poses[:, :3, 3]
        force = skeleton.masses[:, None] * skeleton.gravity
        moment = np.cross(np.einsum("nij,nj->ni", turn, skeleton.coms) + at, force)
        if wrenches is not None:
            given = np.asarray(wrenches, float)
            push = np.einsum("nij,nj->ni", turn, given[:, 3:])
            force = force + push
            moment = moment + np.einsum("nij,nj->ni", turn, given[:, :3]) + np.cross(at, push)
        return project_wrenches(skeleton, q, np.concatenate([moment, force], axis=1))

    def inertia_shares(self) -> Array:
        """Tissue mass that each bone carries [kg], shape (n_bones,): each node's mass goes to its nearest bone."""
        return np.bincount(self.follower.predictor.nearest_bone, self.model.node_mass, self.skeleton.n_bones)

    def _flesh_step(
        self,
        state: BoneFleshState,
        begin: FleshState,
        loads: Loads,
        dt: float,
        inertial: Inertial | None,
        integrator: str,
        fresh: bool,
    ) -> tuple[SolveReport, StepMotion | None]:
        """Flesh from the start of the step to its end around the bones' present guess."""
        goal = bone_poses(self.skeleton, state.bones.q)
        if inertial is None:
            return self.follower.settle(state, goal, loads), None
        if fresh:  # start again from the beginning of the step
            state.flesh.become(begin)
        held = replace(loads, targets=self.model.attachments.targets(goal))
        report = self.solver.step(
            state.flesh,
            held,
            dt,
            mass_damping=inertial.mass_damping,
            stiffness_damping=inertial.stiffness_damping,
            integrator=integrator,
        )
        state.poses[:] = goal
        span = 0.5 * dt if integrator == "energy-momentum" else dt
        motion = StepMotion(span, begin.x, begin.x + span * begin.v, inertial.mass_damping, None)
        return report, motion


def world_momenta(skeleton: Skeleton, q: Array, v: Array) -> Array:
    """(angular about the world's origin, linear) momentum of each bone in world axes, shape (n_bones, 6)."""
    poses = bone_poses(skeleton, q)
    twist = bone_velocities(skeleton, q, v)
    rows = skeleton.bodies
    inertia = np.empty((skeleton.n_bones, 3, 3))  # about the bone's origin, in its frame
    inertia[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]] = rows[:, 16:22]
    inertia[:, [1, 2, 2], [0, 0, 1]] = rows[:, [17, 18, 20]]
    first = rows[:, 13:16]  # mass times centre of mass
    push = rows[:, 12:13] * twist[:, 3:] + np.cross(twist[:, :3], first)
    spin = np.einsum("nij,nj->ni", inertia, twist[:, :3]) + np.cross(first, twist[:, 3:])
    push = np.einsum("nij,nj->ni", poses[:, :3, :3], push)
    spin = np.einsum("nij,nj->ni", poses[:, :3, :3], spin) + np.cross(poses[:, :3, 3], push)
    return np.concatenate([spin, push], axis=1)


def project_wrenches(skeleton: Skeleton, q: Array, wrenches: Array) -> Array:
    """Σ Jᵀ w, shape (n_v,), of wrenches (moment about the world's origin, force) in world axes, shape (n_bones, 6)."""
    _, twists = world_twists(skeleton, q)
    carried = skeleton.supports.T.astype(float) @ wrenches  # everything that each velocity moves
    return np.sum(twists * carried, axis=1)
