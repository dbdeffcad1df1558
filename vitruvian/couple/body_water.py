"""A whole body in water: bones, whatever drives them, and a skin that follows the bones, as one mechanism.

Each sub-step moves the bones with their present velocities, then meets every force there with the one step of
`couple.step`,

    A dv = h (f - h K v) + p

with p the water's impulse. Simulated water asks for the links' mobility S = J A⁻¹ Jᵀ, so that pressure and stiff
muscles are solved together (Si 2013, section 3.4 exchanges forces explicitly; that grows by 1.2 to 3.8 times a step).
Still water is a contributor. The skin's motion relative to its links is prescribed within a sub-step.

    body = BodyInWater(stepper, skin)
    wading = body.begin(state, torques)                                     # one step
    water.step(tank, water, dt, mechanism=wading, body=state)               # or wading.still(StillWater(), time, dt)
    wading.end(dt)
"""

from __future__ import annotations

import numpy as np

from vitruvian.couple.muscle_pull import resting_fibres
from vitruvian.couple.response import StepResponse
from vitruvian.couple.skin_links import MovingSkin, SkinPose
from vitruvian.couple.state import SwimmerState, water_book
from vitruvian.couple.step import Contributor
from vitruvian.couple.stepper import BodyStepper
from vitruvian.couple.still_water import StillWater, StillWaterPush
from vitruvian.couple.torques import AppliedTorques, JointCourse, JointTorques
from vitruvian.couple.wrenches import Wrenches
from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import bone_poses, difference, integrate
from vitruvian.skeleton.joints import Free
from vitruvian.water import Links, WetShape, WetSurface

Array = np.ndarray
Drive = JointTorques | JointCourse | None
FASTEST = 1e3  # [rad/s, m/s] a body that moves faster has diverged


class BodyInWater:
    """A body's stepper and its skin; holds scratch memory, no state."""

    def __init__(self, stepper: BodyStepper, skin: MovingSkin):
        if stepper.held.any():
            raise InputError("a body in water needs a free pelvis")
        if stepper.contact.contacts.shapes:
            raise InputError("a body in water touches nothing: contacts are for bodies on land")
        self.stepper, self.skin, self.skeleton = stepper, skin, stepper.skeleton
        self.link_bones = np.asarray(skin.bones)
        names = [self.skeleton.names[b] for b in self.link_bones]
        self.shape = WetShape.build("skin", skin.faces, int(skin.faces.max()) + 1, skin.face_bone, names)
        self.weight = float(self.skeleton.bodies[:, 12].sum()) * self.skeleton.gravity  # [N], shape (3,)

    def start(self, q: Array, v: Array | None = None) -> SwimmerState:
        """A state at q, at rest if no velocities are given, muscles off."""
        s = self.skeleton
        return SwimmerState(
            q=np.array(q, float),
            v=np.zeros(s.n_v) if v is None else np.array(v, float),
            activation=np.zeros(self.stepper.muscles.n_muscles),
            fibre=resting_fibres(s, self.stepper.muscles, np.asarray(q, float)),
            load=np.zeros((s.n_bones, 10)),
            push=np.zeros((s.n_bones, 6)),
            wrench=np.zeros((s.n_bones, 6)),
            water_force=np.zeros(s.n_v),
            link_force=np.zeros((len(self.link_bones), 6)),
            link_work=np.zeros(len(self.link_bones)),
            book=water_book(),
        )

    def begin(self, state: SwimmerState, drive: Drive = None, *, skin: MovingSkin | None = None) -> Wading:
        """One step of this body: what drives its joints, and how its skin moves if flesh moves it too."""
        if isinstance(drive, JointCourse) and not isinstance(self.skeleton.joints[0], Free):
            raise InputError("a course leads all joints but the root, which must be free in the water")
        return Wading(self, state, drive, skin or self.skin)


class Wading:
    """A body during one step in water, and nothing beyond it: a `water.bodies.Mechanism`."""

    def __init__(self, body: BodyInWater, state: SwimmerState, drive: Drive, skin: MovingSkin):
        self.body, self.state, self.drive, self.skin = body, state, drive, skin
        self._start = (state.q.copy(), state.v.copy())
        self._water_force = np.zeros_like(state.v)  # impulses until the step ends
        self._link_force = np.zeros((len(body.link_bones), 6))
        self._received = np.zeros_like(self._link_force)  # impulses of this sub-step
        self._pose: SkinPose | None = None
        self._met: StepResponse | None = None
        self._still: StillWaterPush | None = None

    @property
    def gravity(self) -> Array:
        """[m/s^2], shape (3,); the water compares it with its own."""
        return self.body.skeleton.gravity

    def still(self, water: StillWater, time: float, dt: float) -> None:
        """Advance by dt [s] in still water."""
        count = max(1, int(np.ceil(dt / water.longest - 1e-9)))
        for n in range(count):
            self._settle()
            self._move(time + n * dt / count, dt / count, water)

    def end(self, dt: float) -> None:
        """After the step of dt [s]: impulses become the mean forces that the state tells."""
        self._settle()
        state = self.state
        state.water_force = self._water_force / dt
        state.link_force = self._link_force / dt
        bones = self.body.link_bones
        turns = bone_poses(self.body.skeleton, state.q)[bones, :3, :3]
        state.wrench = state.push.copy()
        state.wrench[bones, :3] += np.einsum("nji,nj->ni", turns, state.link_force[:, :3])
        state.wrench[bones, 3:] += np.einsum("nji,nj->ni", turns, state.link_force[:, 3:])
        if not np.isfinite(state.v).all() or np.abs(state.v).max() > FASTEST:
            worst = int(np.argmax(~np.isfinite(state.v) | (np.abs(state.v) > FASTEST)))
            name = self.body.skeleton.names[self.body.skeleton.dof_bone[worst]]
            raise Diverged(name, f"moves faster than {FASTEST:.0f} rad/s")

    # --- Mechanism -----------------------------------------------------------------------------------------------

    def advance(self, state: SwimmerState, time: float, dt: float) -> None:
        self._settle()
        self._move(time, dt, None)

    def links(self, state: SwimmerState) -> Links:
        pose = self.pose()
        mobility = None if self._met is None else self._met.mobility(pose.jacobian)
        return Links(pose.origins, pose.twists(state.v), mobility, pose.rotations)

    def skins(self, state: SwimmerState) -> list[WetSurface]:
        pose, shape, faces = self.pose(), self.body.shape, self.skin.faces
        twists = pose.world_twists(state.v)
        velocity = pose.place.velocities(twists)
        corners = pose.place.vertices[faces]
        t = twists[shape.links][:, None, :]
        rigid = t[..., 3:] + np.cross(np.broadcast_to(t[..., :3], corners.shape), corners)
        return [WetSurface(shape, pose.place.vertices, velocity[faces] - rigid)]

    def receive(self, state: SwimmerState, impulses: Array) -> None:
        pose, met = self.pose(), self._met
        if met is None:
            raise InputError("a body in water must advance before it receives impulses")
        p = pose.jacobian.T @ impulses.ravel()
        state.v = state.v + met.response(p)
        self._account(pose, impulses, p)
        self._received += impulses
        met.impulse += p

    # --- parts ---------------------------------------------------------------------------------------------------

    def pose(self) -> SkinPose:
        """Bones and skin where they are now."""
        state = self.state
        if self._pose is None or self._pose.q is not state.q:
            system = self.body.stepper.bones.assemble(state.q, state.v, 1e-3, load=state.load)
            self._pose, self._met = SkinPose.seen(system, self.skin), None
        return self._pose

    def _move(self, time: float, dt: float, water: StillWater | None) -> None:
        """Positions with the present velocities; then all forces but the simulated water's on the velocities."""
        body, state, drive = self.body, self.state, self.drive
        state.q = integrate(body.skeleton, state.q, state.v, dt)
        others: list[Contributor] = []
        if isinstance(drive, JointTorques):
            others.append(AppliedTorques(drive, self._start))
        if state.push.any():
            others.append(Wrenches(state.push))
        self._still = None if water is None else StillWaterPush(water, self.skin)
        if self._still is not None:
            others.append(self._still)
        system = body.stepper.assemble(
            state.q, state.v, state.activation, dt, others, load=state.load, fibre=state.fibre
        )
        self._pose = SkinPose.seen(system, self.skin) if self._still is None else self._still.pose
        fixed = None
        if isinstance(drive, JointCourse):
            ahead = np.asarray(drive.sample(time + 2.0 * dt))
            fixed = difference(body.skeleton, state.q, ahead) / dt - state.v
            fixed[:6] = 0.0
        self._met = StepResponse(system, fixed)
        state.v = state.v + self._met.step()

    def _settle(self) -> None:
        """Book the work and the impulses of the sub-step that is over."""
        met, state = self._met, self.state
        if met is None:
            return
        self._met = None
        system, book = met.system, state.book
        system.settle(state.v, book)
        met.book_work(book, state.v)
        middle, given = 0.5 * (system.v + state.v), self._received
        if self._still is None:
            book.add_work("water", float(met.impulse @ middle))
        else:
            given, joints = self._still.applied(system, state.v - system.v)
            self._account(self._still.pose, given, joints)
        state.link_work = state.link_work + (self.pose().twists(middle) * given).sum(axis=1)
        self._received = np.zeros_like(given)
        book.add_impulse("weight", system.dt * self.body.weight)
        for b in np.flatnonzero(state.push.any(axis=1)):
            book.add_impulse("push", system.dt * (system.poses[b, :3, :3] @ state.push[b, 3:]))

    def _account(self, pose: SkinPose, impulses: Array, p: Array) -> None:
        """Impulses of the water on the links (links, 6) and on the joints (n_v,)."""
        self._water_force = self._water_force + p
        self._link_force = self._link_force + impulses
        moments = impulses[:, :3] + np.cross(pose.origins, impulses[:, 3:])
        self.state.book.add_impulse("water", impulses[:, 3:].sum(axis=0), moments.sum(axis=0))
