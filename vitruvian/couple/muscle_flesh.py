"""Bones under muscles and wrapped in flesh, in one linear-implicit step.

The flesh's pull on the joints joins the step of `couple.step` with its derivative D = ∂pull/∂q (Si 2013, appendix
B), found while the flesh keeps its balance:

    (M + h D_b + h² K_b − h² D) dv = h (f − h K_b v + pull(q) + h D v)        quasi-static flesh
    (M + h D_b + h² K_b − h² D) dv = h (f − h K_b v + pull(q + h v))          flesh with inertia

Flesh with inertia is first tried around bones that keep their velocity; what their change of velocity adds is D's,
and −h² D is then the mass that the bones drag along. D is kept until the pose or the activations have moved on, as a
Newton matrix is. Between two balances the quasi-static flesh is the spring that D says. Active fibres in the flesh pull
beside the line muscles: Si 2013, chapter 7, keeps both and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vitruvian.couple.bone_flesh import BoneFlesh, BoneFleshState, Inertial
from vitruvian.couple.books import Book
from vitruvian.couple.step import Contributor, System
from vitruvian.couple.stepper import BodyStepper
from vitruvian.couple.stretch_reflex import NO_REFLEX, StretchReflex
from vitruvian.couple.torques import JointTorques
from vitruvian.couple.wrenches import joint_forces_of
from vitruvian.flesh import FleshModel, FleshState, Loads, Settings, SolveReport, rest_state
from vitruvian.flesh.potential import StepMotion
from vitruvian.skeleton import SkeletonState, bone_poses, difference, integrate

Array = np.ndarray
TURNED, SWUNG = 0.12, 0.4  # [rad] of any joint after which D is found anew, without and with inertia
ROUSED = 0.3  # change of any activation, likewise
FOLDING = 1.0 / 30.0  # [s] of a part of the way to the first pose where skin may touch skin
OLDEST = 90  # steps, likewise: contacts come and go
BARE = 0.14  # least part of a segment's inertia that stays with the bone: skeletons are a seventh of a body (ICRP 2002)


@dataclass
class WrapState:
    """Flesh around the bones, and what the bones know of it."""

    pair: BoneFleshState  # the flesh, and the bones as they were when it was last moved
    pull: Array  # of the flesh on the joints then [N m, N], shape (n_v,)
    stiffness: Array  # D, shape (n_v, n_v)
    found: Array  # joint coordinates at which D was found, shape (n_q,)
    roused: Array  # activations of the flesh's muscles at which D was found
    span: float  # step [s] for which it was found, 0 before the first
    age: int  # steps since then
    count: int  # steps in all
    newton: int  # Newton steps of the latest balance
    ease: Array  # wrench on each bone that is left out, in its frame, shape (n_bones, 6)

    @property
    def flesh(self) -> FleshState:
        return self.pair.flesh

    @property
    def poses(self) -> Array:
        """Of the bones when the flesh was last moved, shape (n_bones, 4, 4)."""
        return self.pair.poses


@dataclass(frozen=True, eq=False)
class FleshPull:
    """A contributor: what the flesh pulls on the joints, and how that changes with them."""

    wrap: WrapState
    ahead: bool  # whether the pull is already that at the end of the step (flesh with inertia)
    at_ease: bool  # leave out what it pulled in the first pose
    account: str = "flesh"

    def add(self, system: System) -> None:
        system.force[:] += self.wrap.pull
        if self.at_ease:
            system.force[:] -= joint_forces_of(system, self.wrap.ease)
        if not self.ahead:
            system.force[:] += np.einsum("ij,j->i", self.wrap.stiffness, self._way(system))
        system.add_matrix(-(system.dt * system.dt * self.wrap.stiffness))

    def work(self, system: System, gained: Array, middle: Array) -> float:
        pull = self.wrap.pull - (joint_forces_of(system, self.wrap.ease) if self.at_ease else 0.0)
        way = system.dt * gained if self.ahead else self._way(system) + system.dt * gained
        return float(system.dt * (pull + self.wrap.stiffness @ way) @ middle)

    def _way(self, system: System) -> Array:
        """How far the joints have gone since the last balance, and will go in this step at their present velocity."""
        return difference(system.step.skeleton, self.wrap.pair.bones.q, system.q) + system.dt * system.v


class MuscleFlesh:
    """A body's stepper with flesh around its bones; holds buffers, never state."""

    def __init__(
        self,
        stepper: BodyStepper,
        model: FleshModel,
        *,
        settings: Settings | None = None,
        inertial: Inertial | None = None,
        every: int = 1,
        two_way: bool = True,
        at_ease: bool = False,
    ) -> None:
        """every: steps of the bones from one balance of quasi-static flesh to the next. two_way False: the bones do not
        feel the flesh. at_ease: in the first pose they feel nothing of it yet, and later what it pulls more than
        there: the passive tension of a body at ease is in the joints' and muscles' own tables already, and flesh that
        was made with the arms spread would count it again."""
        self.stepper, self.model = stepper, model
        self.pair = BoneFlesh(stepper.skeleton, model, settings)
        self.at_ease = at_ease
        self.inertial, self.every, self.two_way = inertial, (1 if inertial else max(1, every)), two_way
        self.spared = np.zeros((stepper.skeleton.n_bones, 10))
        if inertial is not None and two_way:
            own = stepper.bones.own_inertia
            share = self.pair.inertia_shares() / np.maximum(own[:, 0], 1e-9)
            self.spared = -np.minimum(share, 1.0 - BARE)[:, None] * own

    def start(self, rest_q: Array, q: Array, loads: Loads) -> WrapState:
        """Flesh made in the pose `rest_q`, balanced around the pose q under `loads`."""
        skeleton = self.stepper.skeleton
        pair = BoneFleshState(
            SkeletonState(np.array(q, float), np.zeros(skeleton.n_v)),
            rest_state(self.model),
            bone_poses(skeleton, rest_q),
        )
        report = self._approach(pair, rest_q, loads)
        n = skeleton.n_v
        state = WrapState(
            pair,
            np.zeros(n),
            np.zeros((n, n)),
            q.copy(),
            np.zeros(len(self.model.muscles.names)),
            0.0,
            0,
            0,
            report.newton,
            np.zeros((skeleton.n_bones, 6)),
        )
        if self.at_ease:
            state.ease = self.model.attachments.bone_wrenches(state.flesh.x, state.poses)
        if self.two_way:
            state.pull = self.pair.pull(state.flesh, q)
        return state

    def step(
        self,
        state: WrapState,
        q: Array,
        v: Array,
        activation: Array,
        dt: float,
        loads: Loads,
        others: Sequence[Contributor] = (),
        *,
        load: Array | None = None,
        wrench: Array | None = None,
        torque: Array | JointTorques | None = None,
        book: Book | None = None,
        fibre: Array | None = None,
        reflex: StretchReflex = NO_REFLEX,
    ) -> tuple[Array, Array]:
        """(q, v) of the bones after dt [s] with the flesh moved along; arguments as in `BodyStepper.step`.

        loads: on the flesh, with the activations of its own muscles, at the end of the step.
        """
        more = list(others)
        if self.two_way:
            self._renew(state, q, loads, dt)
            if self.inertial is not None:
                load = self.spared if load is None else load + self.spared
                self._try(state, integrate(self.stepper.skeleton, q, v, dt), loads, dt)
            more.append(FleshPull(state, ahead=self.inertial is not None, at_ease=self.at_ease))
        q_new, v_new = self.stepper.step(
            q, v, activation, dt, more, load=load, wrench=wrench, torque=torque, book=book, fibre=fibre, reflex=reflex
        )
        state.count += 1
        if state.count % self.every == 0:
            self._follow(state, q_new, v_new, loads, dt)
        return q_new, v_new

    def _try(self, state: WrapState, q: Array, loads: Loads, dt: float) -> None:
        """The pull at the end of a step in which the bones go to q."""
        begin = state.flesh.copy()
        self._move(state.flesh, bone_poses(self.stepper.skeleton, q), loads, dt)
        state.pull = self.pair.pull(state.flesh, q)
        state.flesh.become(begin)

    def _move(self, flesh: FleshState, poses: Array, loads: Loads, dt: float) -> SolveReport:
        """Flesh with inertia one step on around bones at `poses`."""
        assert self.inertial is not None
        held = replace(loads, targets=self.model.attachments.targets(poses))
        rayleigh = self.inertial
        return self.pair.solver.step(
            flesh, held, dt, mass_damping=rayleigh.mass_damping, stiffness_damping=rayleigh.stiffness_damping
        )

    def _follow(self, state: WrapState, q: Array, v: Array, loads: Loads, dt: float) -> None:
        """The flesh to where the bones are now."""
        state.pair.bones.q[:], state.pair.bones.v[:] = q, v
        if self.inertial is None:
            report = self.pair.settle(state.pair, loads, self.every * dt)
        else:
            goal = bone_poses(self.stepper.skeleton, q)
            report = self._move(state.flesh, goal, loads, dt)
            state.pair.poses[:] = goal
        state.newton = report.newton
        if self.two_way:
            state.pull = self.pair.pull(state.flesh, q)

    def _renew(self, state: WrapState, q: Array, loads: Loads, dt: float) -> None:
        turned = np.abs(difference(self.stepper.skeleton, state.found, q)).max(initial=0.0)
        level = np.zeros_like(state.roused) if loads.activation is None else loads.activation
        roused = np.abs(level - state.roused).max(initial=0.0)
        state.age += 1
        other = state.span == 0.0 or (self.inertial is not None and abs(dt / state.span - 1.0) > 1e-6)
        far = turned > (TURNED if self.inertial is None else SWUNG)
        if other or far or roused > ROUSED or state.age > OLDEST:
            self._stiffen(state, q, loads, dt)

    def _stiffen(self, state: WrapState, q: Array, loads: Loads, dt: float) -> None:
        """Find D here, and keep the part that holds back: symmetric and without positive eigenvalues.

        What is left out (tissue about to snap in a crease, the pull's own turning) acts explicitly, at every balance.
        """
        motion = None
        if self.inertial is not None:
            ahead = state.flesh.x + dt * state.flesh.v
            motion = StepMotion(dt, state.flesh.x.copy(), ahead, self.inertial.mass_damping, None)
        found = self.pair.pull_derivative(
            state.flesh, q, loads, motion, tolerance=3e-2, coordinates=np.flatnonzero(~self.stepper.held)
        )
        values, vectors = np.linalg.eigh(0.5 * (found + found.T))
        state.stiffness = np.einsum("ik,k,jk->ij", vectors, np.minimum(values, 0.0), vectors)
        state.found, state.span, state.age = q.copy(), dt, 0
        if loads.activation is not None:
            state.roused = np.array(loads.activation, float)

    def _approach(self, pair: BoneFleshState, rest_q: Array, loads: Loads) -> SolveReport:
        """From the pose in which the flesh was made to another, in turns of a quarter radian at most, or half of that
        where skin may touch skin: it must not pass through itself on the way."""
        skeleton, goal = self.stepper.skeleton, pair.bones.q.copy()
        way = difference(skeleton, rest_q, goal)
        # viscous where it folds onto itself: the way there is then one without jumps
        most, dt = (0.25, np.inf) if loads.self_contact is None else (0.125, FOLDING)
        parts = max(1, int(np.ceil(np.abs(way).max(initial=0.0) / most)))
        for part in range(1, parts):
            pair.bones.q[:] = integrate(skeleton, rest_q, way, part / parts)
            self.pair.settle(pair, Loads(self_contact=loads.self_contact), dt)
        pair.bones.q[:] = goal
        return self.pair.settle(pair, loads, dt)
