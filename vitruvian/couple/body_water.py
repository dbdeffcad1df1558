"""A whole body in water: bones, muscles or torques, and a skin that follows the bones, as one mechanism.

Each sub-step moves the bones with their present velocities, then meets every force there implicitly,

    A dv = h (f - h K v) + p,      A = M + h D + h^2 K
with K and D of joints, muscles and torques (`muscle.implicit`) and p the water's impulse. Simulated water asks for the
links' mobility S = J A^-1 J^T, so that pressure and stiff muscles are solved together (Si 2013, section 3.4 exchanges
forces explicitly; that grows by 1.2 times a step). Still water puts its own damping into A. The skin's motion relative
to its links is prescribed within a sub-step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numba import njit

from vitruvian.couple.actuation import Actuation, JointCourse, JointTorques, torques_now
from vitruvian.couple.step_system import StepSystem
from vitruvian.couple.still_water import StillWater
from vitruvian.couple.swimmer_state import SwimmerState
from vitruvian.errors import Diverged, InputError
from vitruvian.muscle.implicit import BodyStepper
from vitruvian.muscle.kernels import add_torques, rates
from vitruvian.skeleton import bone_poses, difference, integrate
from vitruvian.water.solids import Links, Skin, SkinShape

Array = np.ndarray
FASTEST = 1e3  # [rad/s, m/s] a body that moves faster has diverged


class Placed(Protocol):
    """A skin in one pose: see `anatomy.skinning.SkinPlace`."""

    @property
    def vertices(self) -> Array: ...
    def velocities(self, twists: Array) -> Array: ...
    def wrenches(self, forces: Array) -> Array: ...


class MovingSkin(Protocol):
    """A closed surface that bones move: see `anatomy.skinning.BoundSkin`."""

    @property
    def faces(self) -> Array: ...
    @property
    def bones(self) -> Array: ...
    @property
    def face_bone(self) -> Array: ...
    def place(self, poses: Array) -> Any: ...


class BodyInWater:
    """A `water.bodies.Mechanism`; its state is a `SwimmerState`. Holds scratch, and nothing that outlives a step."""

    def __init__(self, stepper: BodyStepper, skin: MovingSkin):
        if stepper.held.any():
            raise InputError("a body in water needs a free pelvis")
        self.stepper, self.skin = stepper, skin
        self.skeleton = stepper.skeleton
        self.link_bones = np.asarray(skin.bones)
        self.shape = SkinShape.build("skin", skin.faces, int(skin.faces.max()) + 1, skin.face_bone)
        self._moves = np.ascontiguousarray(self.skeleton.supports[self.link_bones])
        self._weight = float(self.skeleton.bodies[:, 12].sum()) * self.skeleton.gravity
        self._actuation: Actuation = None
        self._begin: tuple[Array, Array] = (np.zeros(0), np.zeros(0))
        self._now: _Pose | None = None
        self._met: StepSystem | None = None

    # --- a step --------------------------------------------------------------------------------------------------

    def begin(self, state: SwimmerState, actuation: Actuation) -> None:
        """Before every step: what drives the joints during it."""
        self._actuation, self._begin = actuation, (state.q.copy(), state.v.copy())
        self._now, self._met = None, None
        state.water_force = np.zeros_like(state.v)
        state.link_force = np.zeros((len(self.link_bones), 6))
        state.drive = np.zeros_like(state.v)

    def end(self, state: SwimmerState, dt: float) -> None:
        """After every step of dt [s]: impulses become mean forces."""
        self._settle(state)
        state.water_force /= dt
        state.link_force /= dt
        state.drive /= dt
        turns = bone_poses(self.skeleton, state.q)[self.link_bones, :3, :3]
        state.wrench = state.push.copy()
        state.wrench[self.link_bones, :3] += np.einsum("nji,nj->ni", turns, state.link_force[:, :3])
        state.wrench[self.link_bones, 3:] += np.einsum("nji,nj->ni", turns, state.link_force[:, 3:])
        if not np.isfinite(state.v).all() or np.abs(state.v).max() > FASTEST:
            worst = int(np.argmax(~np.isfinite(state.v) | (np.abs(state.v) > FASTEST)))
            name = self.skeleton.names[self.skeleton.dof_bone[worst]]
            raise Diverged(name, f"moves faster than {FASTEST:.0f} rad/s")

    def step_still(self, state: SwimmerState, water: StillWater, time: float, dt: float) -> None:
        """Advance by dt [s] in still water."""
        count = max(1, int(np.ceil(dt / water.longest - 1e-9)))
        for n in range(count):
            self._settle(state)
            self._move(state, time + n * dt / count, dt / count, water)

    # --- Mechanism -----------------------------------------------------------------------------------------------

    def advance(self, state: SwimmerState, time: float, dt: float) -> None:
        self._settle(state)
        self._move(state, time, dt, None)

    def links(self, state: SwimmerState) -> Links:
        pose = self._pose(state)
        mobility = None if self._met is None else self._met.mobility(pose.jacobian)
        return Links(pose.origins, (pose.jacobian @ state.v).reshape(-1, 6), mobility)

    def skins(self, state: SwimmerState) -> list[Skin]:
        pose = self._pose(state)
        twists = self._twists(pose, state.v)
        velocity = pose.place.velocities(twists)
        corners = pose.place.vertices[self.skin.faces]
        t = twists[self.shape.links][:, None, :]
        rigid = t[..., 3:] + np.cross(np.broadcast_to(t[..., :3], corners.shape), corners)
        return [Skin(self.shape, pose.place.vertices, velocity[self.skin.faces] - rigid)]

    def receive(self, state: SwimmerState, impulses: Array) -> None:
        pose, met = self._pose(state), self._met
        if met is None:
            raise InputError("a body in water must advance before it receives impulses")
        p = pose.jacobian.T @ impulses.ravel()
        state.v = state.v + met.response(p)
        self._account(state, pose, impulses, p)
        met.impulse += p
        met.water += p

    # --- parts ---------------------------------------------------------------------------------------------------

    def placed(self, state: SwimmerState) -> Placed:
        """The skin in the present pose."""
        return self._pose(state).place

    def velocity(self, state: SwimmerState) -> Array:
        """Velocity of each skin vertex [m/s], shape (n, 3)."""
        pose = self._pose(state)
        return np.asarray(pose.place.velocities(self._twists(pose, state.v)))

    def forget(self) -> None:
        """Drop what is remembered of the last pose (after a state was changed from outside)."""
        self._now, self._met = None, None

    def _twists(self, pose: _Pose, v: Array) -> Array:
        """World twists of the links about the world's origin, shape (links, 6)."""
        twists = (pose.jacobian @ v).reshape(-1, 6)
        twists[:, 3:] -= np.cross(twists[:, :3], pose.origins)
        return twists

    def _pose(self, state: SwimmerState) -> _Pose:
        if self._now is None or self._now.q is not state.q:
            work = self.stepper.assemble(state.q, state.v, state.activation, 1e-3, load=state.load)
            self._now, self._met = self._seen(state, work.poses, work.screws), None
        return self._now

    def _seen(self, state: SwimmerState, poses: Array, screws: Array) -> _Pose:
        origins = poses[self.link_bones, :3, 3].copy()
        jacobian = np.empty((6 * len(origins), self.skeleton.n_v))
        _jacobian(screws, self._moves, origins, jacobian)
        return _Pose(state.q, self.skin.place(poses), origins, jacobian)

    def _move(self, state: SwimmerState, time: float, dt: float, water: StillWater | None) -> None:
        """Positions with the present velocities; then all forces but the simulated water's on the velocities."""
        s, stepper = self.skeleton, self.stepper
        state.q = integrate(s, state.q, state.v, dt)
        work = stepper.assemble(state.q, state.v, state.activation, dt, load=state.load)
        pose = self._now = self._seen(state, work.poses, work.screws)
        force, matrix = work.force.copy(), work.matrix.copy()
        drive, soft = np.zeros(s.n_v), np.zeros(s.n_v)
        if isinstance(self._actuation, JointTorques):
            given = self._actuation
            moved = difference(s, self._begin[0], state.q)
            drive = torques_now(given, moved, state.v - self._begin[1]) - dt * np.asarray(given.stiffness) * state.v
            force += drive
            soft += dt * np.asarray(given.damping) + dt * dt * np.asarray(given.stiffness)
            matrix[stepper.place, stepper.place] += soft
        push = stepper.wrench_forces(state.push) if state.push.any() else np.zeros(s.n_v)
        force += push
        impulses = np.zeros((len(pose.origins), 6))
        p = np.zeros(s.n_v)
        if water is not None:
            twists = self._twists(pose, state.v)
            skin = water.forces(
                pose.place.vertices, pose.place.velocities(twists), self.skin.faces, self.shape.links, len(pose.origins)
            )
            wrenches = pose.place.wrenches(skin.drag) + skin.lift
            wrenches[:, :3] -= np.cross(pose.origins, wrenches[:, 3:])
            impulses = dt * wrenches
            p = pose.jacobian.T @ impulses.ravel()
            _add_damping(pose.jacobian, pose.origins, skin.damping, dt, stepper.place, matrix)
        fixed = None
        if isinstance(self._actuation, JointCourse):
            ahead = np.asarray(self._actuation.sample(time + 2.0 * dt))
            fixed = difference(s, state.q, ahead) / dt - state.v
            fixed[:6] = 0.0
        met = self._met = StepSystem(matrix, stepper.place, dt * force, drive * dt, soft, dt, fixed, state.v, work)
        before = state.v
        met.impulse += p
        state.v = before + met.step(p)
        middle = 0.5 * (before + state.v)
        if water is not None:
            # the drag that the implicit step really applied: with its damping of the velocity gained
            soften = _damped(pose.jacobian, pose.origins, skin.damping, state.v - before)
            impulses -= dt * soften
            change = -dt * pose.jacobian.T @ soften.ravel()
            self._account(state, pose, impulses, p + change)
            met.water += p + change
        state.book.impulse_weight = state.book.impulse_weight + dt * self._weight
        if push.any():
            state.book.work_push += float(dt * push @ middle)
            for b in np.flatnonzero(state.push.any(axis=1)):
                turned = work.poses[b, :3, :3] @ state.push[b, 3:]
                state.book.impulse_push = state.book.impulse_push + dt * turned

    def _account(self, state: SwimmerState, pose: _Pose, impulses: Array, p: Array) -> None:
        state.water_force = state.water_force + p
        state.link_force = state.link_force + impulses
        book = state.book
        book.impulse_water = book.impulse_water + impulses[:, 3:].sum(axis=0)
        moments = impulses[:, :3] + np.cross(pose.origins, impulses[:, 3:])
        book.spin_water = book.spin_water + moments.sum(axis=0)

    def _settle(self, state: SwimmerState) -> None:
        """Book the work of muscles, torques and water in the sub-step that is over.

        All impulses of a sub-step work along the mean of its first and last velocity, whatever their order in it."""
        met = self._met
        if met is None:
            return
        self._met = None
        gained = state.v - met.before
        middle = 0.5 * (met.before + state.v)
        if met.fixed is not None:
            needed = met.product(gained) - met.push - met.impulse
            needed[:6] = 0.0
            met.drive = needed
        else:  # the torque that the implicit step really applied: less for the velocity gained
            met.drive = met.drive - met.soft * gained
        work = met.work
        drive = met.drive
        if met.fixed is None and len(work.pull):
            # likewise the tension: more for a muscle that the step lengthened
            paths, pulled, stretched = self.stepper.paths, np.zeros(len(work.pull)), np.zeros(len(work.pull))
            rates(paths.row_start, paths.column, work.arms, middle, pulled)
            rates(paths.row_start, paths.column, work.arms, gained, stretched)
            impulse = met.dt * work.pull + work.weight * stretched
            state.book.work_drive -= float(impulse @ pulled)
            torque = np.zeros(self.skeleton.n_v)
            add_torques(paths.row_start, paths.column, work.arms, impulse, torque)
            drive = drive + torque
        if met.fixed is None:
            state.book.work_joints -= float(met.dt * (work.damping * state.v) @ middle)
        state.book.work_drive += float(met.drive @ middle)
        state.book.work_water += float(met.water @ middle)
        state.drive = state.drive + drive


@dataclass
class _Pose:
    """Bones and skin in one pose."""

    q: Array  # the very array of the state: a moved state has another
    place: Any
    origins: Array  # of the links [m], shape (links, 3)
    jacobian: Array  # link twists about their origins, world axes, per velocity, shape (6 links, n_v)


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _jacobian(screws, moves, origins, out):
    for n in range(len(origins)):
        x, y, z = origins[n, 0], origins[n, 1], origins[n, 2]
        for c in range(screws.shape[0]):
            if moves[n, c]:
                s = screws[c]
                out[6 * n, c], out[6 * n + 1, c], out[6 * n + 2, c] = s[0], s[1], s[2]
                out[6 * n + 3, c] = s[3] + s[1] * z - s[2] * y
                out[6 * n + 4, c] = s[4] + s[2] * x - s[0] * z
                out[6 * n + 5, c] = s[5] + s[0] * y - s[1] * x
            else:
                for k in range(6):
                    out[6 * n + k, c] = 0.0


@njit(cache=True)
def _about(D, o):
    """A damping about the world's origin, about the point o instead: shift^T D shift."""
    shift = np.eye(6)
    # a twist (w, u) about o has velocity u - w x o at the world's origin
    shift[3, 1], shift[3, 2] = -o[2], o[1]
    shift[4, 0], shift[4, 2] = o[2], -o[0]
    shift[5, 0], shift[5, 1] = -o[1], o[0]
    return shift.T @ D @ shift


@njit(cache=True)
def _add_damping(jacobian, origins, damping, h, place, matrix):
    """Lower triangle of matrix += h J^T D J."""
    n = jacobian.shape[1]
    for l in range(len(origins)):
        D = _about(damping[l], origins[l])
        if D[3, 3] + D[4, 4] + D[5, 5] == 0.0:
            continue
        J = jacobian[6 * l : 6 * l + 6]
        DJ = D @ J
        for a in range(n):
            moved = False
            for k in range(6):
                moved = moved or J[k, a] != 0.0
            if not moved:
                continue
            for b in range(n):
                if place[b] <= place[a]:
                    s = 0.0
                    for k in range(6):
                        s += J[k, a] * DJ[k, b]
                    matrix[place[a], place[b]] += h * s


@njit(cache=True)
def _damped(jacobian, origins, damping, gained):
    out = np.zeros((len(origins), 6))
    for l in range(len(origins)):
        out[l] = _about(damping[l], origins[l]) @ (jacobian[6 * l : 6 * l + 6] @ gained)
    return out
