"""A body: bones and muscles stepped together, things held, pushes, ground contact; muscles drawn as lines.

    world = World(BodySystem(human()), controller, frame_rate=60, substeps=8)

Every step is the one of `couple.step`. Honours the controls `excitation`, `reflex`, `torque` and, with a free pelvis,
`root_force`; without controls the body is let go. Without activation dynamics, activation is the excitation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.anatomy.fingers import gripping
from vitruvian.control import Controls, honoured
from vitruvian.couple import (
    AppliedTorques,
    BodyState,
    BodyStepper,
    Book,
    Contacts,
    Contributor,
    JointTorques,
    StretchReflex,
)
from vitruvian.couple.stretch_reflex import NO_REFLEX
from vitruvian.errors import Diverged, InputError
from vitruvian.muscle import ActivationDynamics, lengths, stored_energy
from vitruvian.systems.layers import Drawn, Layer, body_layers, muscle_pull
from vitruvian.systems.measures import Measure, Now
from vitruvian.systems.person import head_meshes, worn_skin
from vitruvian.systems.surroundings import Held, Push, add_held, add_pushes
from vitruvian.world import Camera, Mesh, Signal

if TYPE_CHECKING:  # the recorded breath comes from a body of its own
    from vitruvian.systems.breathing import Breathing

Array = np.ndarray
BODY_CAMERAS = (
    Camera("front", (0.66, -4.31, 1.3), (0.0, 0.0, 0.95)),
    Camera("side", (4.31, -0.66, 1.3), (0.0, 0.0, 0.95)),
    Camera("back", (-0.66, 4.31, 1.39), (0.0, 0.0, 0.95)),
    Camera("chest", (0.7, -1.7, 1.55), (0.0, 0.0, 1.40)),
)
FASTEST = 1e4  # [rad/s, m/s] a body that moves faster has diverged
ACCOUNTS: tuple[str, ...] = ("drive", "push", "joints", "links", "contact", "flesh")
LOST = ("step",)  # by the implicit step itself


class BodySystem(Drawn):
    """See `world.simulation.Simulation`; the state is a `BodyState`."""

    lost: tuple[str, ...] = LOST
    shows_breath = True  # by a skin of its own

    def __init__(
        self,
        body: Body,
        q: Array | None = None,
        v: Array | None = None,
        *,
        pelvis: str = "fixed",
        held: Sequence[Held] = (),
        pushes: Sequence[Push] = (),
        contacts: Contacts | None = None,
        dynamics: ActivationDynamics | None = None,
        measures: Sequence[Measure] = (),
        meshes: Sequence[Mesh] = (),
        cameras: Sequence[Camera] = BODY_CAMERAS,
        ground: float | None = 0.0,
        grips: Sequence[str] = (),
        drawn: bool = True,
        still: Array | None = None,
        books: bool = False,
        contributors: Sequence[Contributor] = (),
        layers: Sequence[Layer] = (),
        breathing: Breathing | None = None,
        skin: bool = False,
    ):
        """q, v: joint coordinates and velocities to start with, by default the default pose at rest; what is held
        starts still. pelvis: "fixed" holds it, "free" lets it move. still: further joint coordinates that are held,
        bool, shape (n_v,). grips: hands ("l", "r") whose fingers are shown closed round a bar. drawn False leaves out
        the bones' surfaces. books: whether the work of everything that acts is booked and a signal. contributors: what
        else acts on the bones in every step; layers: what else is seen. breathing: a recorded breath that ribs and skin
        go along with; the skin is then drawn. skin: draw a skin without breath too."""
        if pelvis not in ("fixed", "free"):
            raise InputError(f"pelvis must be fixed or free, got '{pelvis}'")
        self.body, self.skeleton = body, body.skeleton
        self.q0 = body.default_q if q is None else q
        self.v0 = np.zeros(body.skeleton.n_v) if v is None else v
        self.held, self.pushes, self.dynamics, self.books = tuple(held), tuple(pushes), dynamics, books
        fixed = np.zeros(body.skeleton.n_v, dtype=bool)
        fixed[: body.skeleton.joints[0].n_v] = pelvis == "fixed"
        self.honours = ("excitation", "reflex", "torque") + (
            ("root_force",) if body.free_root and pelvis == "free" else ()
        )
        if still is not None:
            fixed |= still
        self.stepper = BodyStepper(body.skeleton, body.muscles, held=fixed, contacts=contacts)
        for bone in [h.bone for h in self.held] + [p.bone for p in self.pushes]:
            body.skeleton.index(bone)
        self._fists = [(body.skeleton.index(f"Ha_{side}"), gripping(body, side)) for side in grips]
        self.contributors, self.breathing = tuple(contributors), breathing
        elastic = ("contraction",) if body.muscles.elastic.any() else ()
        self.accounts = tuple(
            dict.fromkeys(
                (
                    *ACCOUNTS,
                    *self.lost,
                    *elastic,
                    *(("breath",) if breathing else ()),
                    *(c.account for c in contributors if c.account),
                )
            )
        )
        worn = breathing.layer() if breathing and self.shows_breath else worn_skin(body) if skin else None
        dressed = [*meshes, *(head_meshes(body) if worn is not None else ())]
        bones = body_layers(
            body,
            meshes=dressed,
            drawn=drawn,
            poses=lambda now: self.with_fists(now.poses),
            force=lambda now: now.once(muscle_pull)[0],
        )
        self.layers = [*bones, *((worn,) if worn is not None else ()), *layers]
        booked = (self._work(), *((STORED,) if elastic else ())) if books else ()
        self.measures = (*MEASURES, *booked, *(breathing.measures if breathing else ()), *measures)
        self.cameras, self.ground = tuple(cameras), ground

    def start(self, rng: np.random.Generator) -> BodyState:
        state = self.body.at_rest(self.q0)
        state.v[:] = np.where(self.stepper.held, 0.0, self.v0)
        if self.books:
            state.book = Book.open(self.accounts)
        self.surround(state, 0.0)
        return state

    def step(self, state: BodyState, controls: Controls | None, time: float, dt: float) -> None:
        s = self.body.skeleton
        given = honoured(controls, self.honours, "this body", n_muscles=len(state.activation), n_v=s.n_v)
        if given.excitation is not None:
            if self.dynamics is None:
                state.activation = given.excitation.copy()
            else:
                state.activation = self.dynamics.step(state.activation, given.excitation, dt)
        reflex = NO_REFLEX
        if given.reflex is not None:
            reflex = given.reflex
            state.activation = state.activation.copy()  # the step sets its muscles'
            if self.dynamics is not None:
                reflex = reflex._replace(on=self.dynamics.on, off=self.dynamics.off)
        if given.torque is not None and np.any(given.torque.torque[self.stepper.held]):
            at = int(np.flatnonzero(self.stepper.held & (given.torque.torque != 0.0))[0])
            raise InputError(f"this body: a torque on {self.body.coordinate_names[at]}, which is held still")
        others: list[Contributor] = list(self.contributors)
        if given.root_force is not None and given.root_force.any():
            root = np.zeros(s.n_v)
            root[:6] = given.root_force
            others.append(AppliedTorques(JointTorques(root), (state.q, state.v), account="push"))
        if self.breathing is not None:
            ribs = self.breathing.ribs(self.q0, state.q, state.v, time + dt)
            others.append(AppliedTorques(ribs, (state.q, state.v), account="breath"))
        self.advance(state, time, dt, given.torque, others, reflex)
        if not np.vdot(state.v, state.v) < FASTEST**2 and not np.abs(state.v).max() <= FASTEST:
            worst = int(np.argmax(~np.isfinite(state.v) | (np.abs(state.v) > FASTEST)))
            raise Diverged(self.body.coordinate_names[worst], "moves faster than 10 000 rad/s")
        self.surround(state, time + dt)

    def advance(
        self, state: BodyState, time: float, dt: float, torque: JointTorques | None, others: Sequence[Contributor],
        reflex: StretchReflex = NO_REFLEX,
    ) -> None:  # fmt: skip
        """Bones one step on; a body in its flesh does it otherwise."""
        state.q, state.v = self.stepper.step(
            state.q, state.v, state.activation, dt, others, load=state.load, torque=torque,
            wrench=state.wrench if state.wrench.any() else None, book=state.book if self.books else None,
            fibre=state.fibre, reflex=reflex,
        )  # fmt: skip

    def surround(self, state: BodyState, time: float) -> None:
        """What is held and pushed at `time` [s], into the state."""
        state.load[:] = 0.0
        state.wrench[:] = 0.0
        add_held(self.skeleton, self.held, time, state.load)
        add_pushes(self.skeleton, self.pushes, state.q, time, state.wrench)

    def _work(self) -> Measure:
        accounts = self.accounts
        return Measure(
            Signal("work", "J", "work so far: on the bones, and of contraction", accounts)
            if "contraction" in accounts
            else Signal("work", "J", "work on the bones so far", accounts),
            lambda now: [now.state.book.work[account] for account in accounts],
        )

    def with_fists(self, poses: Array) -> Array:
        """Bones (n_bones, 4, 4) with fingers closed round what is held."""
        if self._fists:
            poses = poses.copy()
            for hand, fingers in self._fists:
                for bone, local in fingers.items():
                    poses[bone] = poses[hand] @ local
        return poses


def _activation(now: Now) -> Array:
    a = now.state.activation
    return np.array([a.mean(), a.max()]) if len(a) else np.zeros(2)


def _power(now: Now) -> float:
    force, rate = now.once(muscle_pull)
    return -float(force @ rate)


def _stored(now: Now) -> Array:
    muscles = now.system.body.muscles
    return np.asarray(stored_energy(muscles, lengths(muscles, now.poses), now.state.fibre).sum(axis=1))


STORED = Measure(Signal("muscle_energy", "J", "energy in elastic muscles", ("tendons", "passive fibres")), _stored)


def _missing_at(now: Now) -> float:
    """The bone at whose joint most torque is missing, -1 for none."""
    coordinate = -1 if now.controls is None else now.controls.effort.missing_at
    return float(np.searchsorted(now.skeleton.v_start, coordinate, "right") - 1) if coordinate >= 0 else -1.0


MEASURES = (
    Measure(Signal("activation", "1", "muscle activation", ("mean", "largest")), _activation),
    Measure(Signal("muscle_power", "W", "power that muscles deliver"), _power),
    Measure(
        Signal("missing_torque", "N m", "largest joint torque that muscles cannot give"),
        lambda now: 0.0 if now.controls is None else now.controls.effort.missing,
    ),
    Measure(
        Signal("missing_at", "1", "bone at whose joint it lacks, as numbered in the recording; -1 for none"),
        _missing_at,
    ),
    Measure(
        Signal("tone_share", "1", "share of the coactivation asked for that fits below full activation"),
        lambda now: 1.0 if now.controls is None else now.controls.effort.share,
    ),
)
