"""A body whose trunk breathes: bones, muscles, diaphragm, belly, lungs; the pelvis stands still.

    world = World(TorsoSystem(breathing_human()), Behave(trunk, load_behaviour("calm")), frame_rate=50, substeps=4)

Every step is the one of `couple.step`, with `CavityPressure` among its contributors. Honours the controls `excitation`,
`torque` (on top of the posture's) and `breath`; without controls the trunk rests. Arms and legs ride along, the head
nods on its neck. With a face the controls may tell how it is (`told["face"]`).

The rest pose is a balance: the passive wall is stretched by the weight of the viscera behind it. The model has no
viscera; what they press with at rest is the force that holds every point of wall and diaphragm there, and stays as it
is, in size and direction (`viscera`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from vitruvian.anatomy.face import Face
from vitruvian.anatomy.trunk import Trunk
from vitruvian.breath import at_rest
from vitruvian.control import HANGING, Controls, Posture, honoured, pose, trunk_coordinates
from vitruvian.couple import Book, CavityPressure, CavityScratch, Contributor, JointTorques, TorsoState
from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import bone_poses
from vitruvian.systems.body import ACCOUNTS, BodySystem
from vitruvian.systems.face import face_layers
from vitruvian.systems.layers import Layer, body_layers, muscle_pull
from vitruvian.systems.measures import Measure
from vitruvian.systems.person import head_meshes
from vitruvian.systems.torso_look import TORSO_CAMERAS, torso_layers
from vitruvian.systems.torso_measures import torso_measures
from vitruvian.world import Camera

Array = np.ndarray
TORSO_ACCOUNTS: tuple[str, ...] = (*ACCOUNTS, "cavity", "elements", "belly", "lungs", "viscera")
SPEED = 200.0  # [m/s] no point of the belly moves faster


class TorsoSystem(BodySystem):
    """See `world.simulation.Simulation`; the state is a `TorsoState`."""

    def __init__(
        self,
        trunk: Trunk,
        *,
        measures: Sequence[Measure] = (),
        layers: Sequence[Layer] | None = None,
        cameras: Sequence[Camera] = TORSO_CAMERAS,
        skin: bool = True,
        face: Face | None = None,
        drawn: bool = True,
        books: bool = False,
        pose_q: Array | None = None,
        push: Array | None = None,
    ):
        """layers: what else is seen beside bones and muscles; by default belly, diaphragm and, with `skin`, the skin
        and a head that keeps still, or with `face` one that moves. pose_q: rest pose, by default upright with hanging
        arms; push: on the belly's points, the tendon last [N], (p + 1, 3), from time 0 on."""
        body = trunk.body
        still = ~trunk_coordinates(body)
        super().__init__(
            body, pose(body, HANGING) if pose_q is None else pose_q, still=still, drawn=drawn, books=books,
            cameras=cameras, measures=[*torso_measures(trunk), *measures],
            meshes=head_meshes(body) if skin and face is None and layers is None else (),
        )  # fmt: skip
        self.trunk, self.push = trunk, push
        poses = [bone_poses(body.skeleton, q)[0] for q in (body.default_q, self.q0)]
        self.carried = poses[1] @ np.linalg.inv(poses[0])  # of the pelvis, from the default pose
        self.honours = ("excitation", "torque", "breath")
        self.scratch = CavityScratch(self.stepper.bones, trunk.cavities, trunk.lungs)
        self.posture = Posture.of(body, self.q0, self._balance())
        if face is not None:
            bones = body_layers(
                body,
                drawn=drawn,
                hidden=("Sku", "Man"),  # they lie under the face
                force=lambda now: now.once(muscle_pull)[0],
            )
            self.layers = [*bones, *face_layers(face, prefix="head ", bust=False)]
        self.layers = [*self.layers, *(torso_layers(trunk, self, skin) if layers is None else layers)]

    def _work(self) -> Measure:
        self.accounts = TORSO_ACCOUNTS
        return super()._work()

    # --- state

    def start(self, rng: np.random.Generator) -> TorsoState:
        state = self._resting()
        if self.books:
            state.book = Book.open(self.accounts)
        return state

    def _resting(self) -> TorsoState:
        plain = self.body.at_rest(self.q0)
        values = {f.name: getattr(plain, f.name) for f in fields(plain)}
        return TorsoState(**values, breath=at_rest(self.trunk.cavities, self.trunk.lungs, self.carried))

    def _balance(self) -> Array:
        """Torques on coordinates that are free [N m], (n_v,), and `viscera`, which hold the rest pose."""
        state = self._resting()
        cavity = CavityPressure(self.scratch, state.breath)
        system = self.stepper.assemble(state.q, state.v, state.activation, 1e-4, (cavity,))
        system.resolver = None
        self.viscera = -cavity.on_points  # on the belly's points, the tendon last [N], (p + 1, 3)
        return np.where(self.stepper.held, 0.0, -system.force)

    # --- step

    def step(self, state: TorsoState, controls: Controls | None, time: float, dt: float) -> None:  # type: ignore[override]
        s, breath = self.body.skeleton, state.breath
        given = honoured(controls, self.honours, "this torso", n_muscles=len(state.activation), n_v=s.n_v)
        if given.excitation is not None:
            state.activation = given.excitation.copy()
        if given.breath is not None:
            if given.breath.elements.shape != breath.activation.shape:
                raise InputError(f"this torso has {len(breath.activation)} elements, not {len(given.breath.elements)}")
            breath.activation = given.breath.elements.copy()
            breath.glottis = np.array([float(given.breath.glottis)])
        bend = np.zeros(3) if given.breath is None else given.breath.bend
        torque = self.posture.torques(state.q, state.v, bend)
        if given.torque is not None:
            torque = torque + given.torque
        self.advance(state, time, dt, torque, ())
        if not np.isfinite(breath.v).all() or np.abs(breath.v).max() > SPEED:
            raise Diverged("belly", f"a point moves faster than {SPEED:g} m/s")

    def advance(  # type: ignore[override]
        self, state: TorsoState, time: float, dt: float, torque: JointTorques | None, others: Sequence[Contributor]
    ) -> None:
        torque = self.posture.torques(state.q, state.v, np.zeros(3)) if torque is None else torque
        cavity = CavityPressure(self.scratch, state.breath, load=self.viscera, push=self.push)
        state.q, state.v = self.stepper.step(
            state.q, state.v, state.activation, dt, (cavity, *others), torque=torque,
            book=state.book if self.books else None, fibre=state.fibre,
        )  # fmt: skip
