"""A body in its flesh: bones under muscles and flesh both ways, skin, bellies and lattice to look at, forces to plot.

A `BodySystem` whose step goes through `couple.muscle_flesh`: what pushes on the skin reaches the bones through the
tissue, and the bones move. The flesh's own muscles take the activations of the line muscles they are named after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from vitruvian.anatomy import Belly, Body, BodyFlesh
from vitruvian.couple import BodyState, Contributor, Inertial, JointTorques, MuscleFlesh, StretchReflex, WrapState
from vitruvian.couple.stretch_reflex import NO_REFLEX
from vitruvian.flesh import Contact, Loads, SelfContact, Settings, tissue_volume
from vitruvian.skeleton import bone_poses
from vitruvian.systems.body import BodySystem
from vitruvian.systems.breath_flesh import FleshBreath
from vitruvian.systems.cover import Cover
from vitruvian.systems.fleshed_look import Look, flesh_layers
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Signal

Array = np.ndarray


@dataclass(frozen=True)
class Outside:
    """What acts on the body at one instant from outside."""

    contacts: Sequence[Contact] = ()
    lift: Array = field(default_factory=lambda: np.zeros(3))  # where the frame of the simulation is [m]
    weight: Array = field(default_factory=lambda: np.zeros(3))  # its apparent force per mass on top of gravity [m/s²]
    forces: Sequence[tuple[str, Array, Array]] = ()  # bone, point [m] in its frame, force [N] in world axes
    props: dict[str, Array] = field(default_factory=dict)  # positions [m] of things drawn, by name


@dataclass(kw_only=True)
class FleshedState(BodyState):
    """A body's state with its flesh."""

    wrap: WrapState
    push: Array  # wrench on each bone from outside the flesh, for the senses to add to, shape (n_bones, 6)


class FleshedBodySystem(BodySystem):
    """See `BodySystem`; the state is a `FleshedState`."""

    shows_breath = False  # its cover does
    lost = ()  # the step of bones and flesh together does not tell what it loses

    def __init__(
        self,
        body: Body,
        flesh: BodyFlesh,
        cover: Cover,
        q: Array | None = None,
        *,
        bellies: Sequence[Belly] = (),
        outside: Callable[[float], Outside] | None = None,
        settings: Settings | None = None,
        inertial: Inertial | None = None,
        every: int = 1,
        two_way: bool = True,
        at_ease: bool = False,
        touching: SelfContact | None = None,
        look: Look = Look(),  # noqa: B008 - frozen
        props: Sequence[tuple[str, tuple[Array, Array]]] = (),
        lungs: bool = False,
        **rest: Any,
    ) -> None:
        """cover: the skin to be drawn; bellies: likewise; touching: skin that may touch itself; at_ease: as for
        `MuscleFlesh`; props: meshes moved by `outside`; lungs: the flesh has them, and a breath fills them; rest: as
        for `BodySystem`."""
        super().__init__(body, q, **rest)
        self.flesh, self.outside, self.touching = flesh, outside or (lambda time: Outside()), touching
        self.wrap = MuscleFlesh(
            self.stepper,
            flesh.model,
            settings=settings,
            inertial=inertial,
            every=every,
            two_way=two_way,
            at_ease=at_ease,
        )
        number = {n: i for i, n in enumerate(body.muscles.names)}
        self.alive = np.array([number[n] for n in flesh.model.muscles.names], dtype=np.int64)
        self.near = np.unique(flesh.model.attachments.bone)  # bones that carry flesh
        self.cover, self.look = cover, look
        self.breath_skin = None if self.breathing is None else self.breathing.field(cover.bound)
        self.breath: FleshBreath | None = None
        if self.breathing is not None and lungs:
            self.breath = FleshBreath(self.breathing, flesh.model)
            self.breath.find(self.wrap, body.default_q, self.q0)
        self.layers = flesh_layers(self, bellies, props)
        lung = () if self.breath is None else (self._lung_pressure(self.breath),)
        self.measures = (*FLESH_MEASURES, *lung, *self.measures)

    def start(self, rng: np.random.Generator) -> FleshedState:
        plain = super().start(rng)
        wrap = self.wrap.start(self.body.default_q, plain.q, self._loads(plain, 0.0))
        state = FleshedState(
            **{f.name: getattr(plain, f.name) for f in fields(BodyState)}, wrap=wrap, push=plain.wrench.copy()
        )
        self._feel(state)
        return state

    def advance(
        self, state: BodyState, time: float, dt: float, torque: JointTorques | None, others: Sequence[Contributor],
        reflex: StretchReflex = NO_REFLEX,
    ) -> None:  # fmt: skip
        assert isinstance(state, FleshedState)
        state.q, state.v = self.wrap.step(
            state.wrap,
            state.q,
            state.v,
            state.activation,
            dt,
            self._loads(state, time + dt),
            others,
            load=state.load - self.wrap.spared,  # the step takes off by itself what the flesh brings
            wrench=state.push,
            torque=torque,
            book=state.book if self.books else None,
            fibre=state.fibre,
            reflex=reflex,
        )

    def surround(self, state: BodyState, time: float) -> None:
        super().surround(state, time)
        state.load += self.wrap.spared  # controllers must know what the bones weigh without their flesh
        now = self.outside(time)
        weight = now.weight
        turn = bone_poses(self.body.skeleton, state.q)[:, :3, :3]
        for bone, point, force in now.forces:
            i = self.body.skeleton.index(bone)
            local = turn[i].T @ force
            state.wrench[i] += np.concatenate([np.cross(point, local), local])
        if weight.any():
            inertia = self.stepper.bones.own_inertia + self.wrap.spared
            force = inertia[:, :1] * np.einsum("nji,j->ni", turn, weight)
            moment = np.cross(inertia[:, 1:4], np.einsum("nji,j->ni", turn, weight))
            state.wrench += np.concatenate([moment, force], axis=1)
        if isinstance(state, FleshedState):
            state.push = state.wrench.copy()
            self._feel(state)

    def _feel(self, state: FleshedState) -> None:
        """The flesh's pull is an outside wrench to the senses."""
        if self.wrap.two_way:
            wrap = state.wrap
            state.wrench += self.flesh.model.attachments.bone_wrenches(wrap.flesh.x, wrap.poses) - wrap.ease

    def _loads(self, state: BodyState, time: float) -> Loads:
        model, now = self.flesh.model, self.outside(time)
        activation = np.clip(state.activation[self.alive], 0.0, 1.0) if len(self.alive) else None
        force = None
        if self.wrap.inertial is not None:
            force = model.node_mass[:, None] * (self.body.skeleton.gravity + now.weight)
        loads = Loads(activation=activation, force=force, contacts=tuple(now.contacts), self_contact=self.touching)
        return loads if self.breath is None else self.breath.loads(loads, time, bone_poses(self.skeleton, state.q))

    @staticmethod
    def _lung_pressure(breath: FleshBreath) -> Measure:
        return Measure(
            Signal("lung_pressure", "Pa", "that fills the lungs in the flesh"), lambda now: breath.pressure(now.time)
        )

    def shown_poses(self, state: FleshedState) -> Array:
        """Bones as the flesh last saw them, with fingers closed round what is held, shape (n_bones, 4, 4)."""
        return self.with_fists(state.wrap.poses)

    def bone_forces(self, state: FleshedState) -> Array:
        """The flesh's force on each bone that carries some [N], world axes, shape (n, 3)."""
        wrap = state.wrap
        wrench = self.flesh.model.attachments.bone_wrenches(wrap.flesh.x, wrap.poses)
        return np.einsum("nij,nj->ni", wrap.poses[:, :3, :3], wrench[:, 3:])[self.near]


def _volume(now: Now) -> float:
    return float(tissue_volume(now.system.flesh.model.elements, now.state.wrap.flesh.x))


FLESH_MEASURES = (
    Measure(Signal("volume", "m³", "volume of the tissue"), _volume),
    Measure(Signal("newton", "", "Newton steps of the flesh"), lambda now: now.state.wrap.newton),
    Measure(
        Signal("bone_force", "N", "sum of the flesh's forces on bones", ("x", "y", "z")),
        lambda now: now.system.bone_forces(now.state).sum(axis=0),
    ),
)
