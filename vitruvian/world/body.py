"""A body as a simulation: bones and muscles stepped together, things held, pushes, ground contact; muscles drawn as
lines.

Every step is the linear-implicit one of `muscle.implicit`. Controls are `MuscleControls` (excitations, and a wrench
on the pelvis if it is driven) or None for a body that is let go. Without activation dynamics, activation is the
excitation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.fingers import gripping
from vitruvian.anatomy.state import BodyState
from vitruvian.anatomy.surfaces import bone_surfaces
from vitruvian.control.computed_muscle import MuscleControls
from vitruvian.errors import Diverged, InputError
from vitruvian.muscle import ActivationDynamics, path_points
from vitruvian.muscle.implicit import BodyStepper, Contacts
from vitruvian.skeleton import Inertia, bone_poses
from vitruvian.world.stage import Camera, Frame, Lines, LinesFrame, Mesh, Signal, Stage

Array = np.ndarray
CAMERAS = (
    Camera("front", (0.66, -4.31, 1.3), (0.0, 0.0, 0.95)),
    Camera("side", (4.31, -0.66, 1.3), (0.0, 0.0, 0.95)),
    Camera("back", (-0.66, 4.31, 1.39), (0.0, 0.0, 0.95)),
    Camera("chest", (0.7, -1.7, 1.55), (0.0, 0.0, 1.40)),
)


@dataclass(frozen=True)
class Held:
    """A thing welded to a bone from `start` to `end` [s]."""

    bone: str
    inertia: Inertia  # in the bone's frame
    start: float = -np.inf
    end: float = np.inf


@dataclass(frozen=True)
class Push:
    """A force [N] in world axes on a point [m] of a bone, from `start` for `duration` [s]."""

    bone: str
    force: tuple[float, float, float]
    start: float
    duration: float
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class BodyNow:
    """An instant, as given to measures."""

    body: Body
    state: BodyState
    controls: MuscleControls | None
    time: float

    @cached_property
    def poses(self) -> Array:
        """Bone to world transforms, shape (n_bones, 4, 4)."""
        return bone_poses(self.body.skeleton, self.state.q)

    def point(self, bone: str, local: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        """World position [m] of a point of a bone, shape (3,)."""
        T = self.poses[self.body.skeleton.index(bone)]
        return T[:3, :3] @ np.asarray(local) + T[:3, 3]

    def angle(self, bone: str, axis: int = 0) -> float:
        """A coordinate of a hinge or universal joint [rad]."""
        return float(self.state.q[self.body.skeleton.q_slice(bone)][axis])


@dataclass(frozen=True)
class BodyMeasure:
    """A signal and how it is read off."""

    signal: Signal
    value: Callable[[BodyNow], Any]


class BodySimulation:
    """See `world.simulation.Simulation`; the state is a `BodyState`."""

    def __init__(
        self,
        body: Body,
        q: Array | None = None,
        *,
        pelvis: str = "fixed",
        held: Sequence[Held] = (),
        pushes: Sequence[Push] = (),
        contacts: Contacts | None = None,
        dynamics: ActivationDynamics | None = None,
        measures: Sequence[BodyMeasure] = (),
        meshes: Sequence[Mesh] = (),
        cameras: Sequence[Camera] = CAMERAS,
        ground: float | None = 0.0,
        grips: Sequence[str] = (),
        drawn: bool = True,
        still: Array | None = None,
    ):
        """pelvis: "fixed" holds it, "free" lets it move. still: further joint coordinates that are held, bool, shape
        (n_v,). grips: hands ("l", "r") whose fingers are shown closed round a
        bar. drawn False leaves out the bones' surfaces."""
        if pelvis not in ("fixed", "free"):
            raise InputError(f"pelvis must be fixed or free, got '{pelvis}'")
        self.body = body
        self.q0 = body.default_q if q is None else q
        self.held, self.pushes = tuple(held), tuple(pushes)
        self.dynamics = dynamics
        self.measures, self.meshes = tuple(measures), tuple(meshes)
        self.cameras, self.ground, self.drawn = tuple(cameras), ground, drawn
        self._fists = [(body.skeleton.index(f"Ha_{side}"), gripping(body, side)) for side in grips]
        fixed = np.zeros(body.skeleton.n_v, dtype=bool)
        fixed[: body.skeleton.joints[0].n_v] = pelvis == "fixed"
        if still is not None:
            fixed |= still
        self.stepper = BodyStepper(body.skeleton, body.muscles, held=fixed, contacts=contacts)
        for bone in [h.bone for h in self.held] + [p.bone for p in self.pushes]:
            body.skeleton.index(bone)

    def new_stepper(self) -> BodyStepper:
        """Another stepper of the same body, for a controller to think with."""
        return BodyStepper(
            self.body.skeleton, self.body.muscles, held=self.stepper.held, contacts=self.stepper.contacts
        )

    def start(self, rng: np.random.Generator) -> BodyState:
        state = BodyState.at_rest(self.body, self.q0)
        self._surroundings(state, 0.0)
        return state

    def step(self, state: BodyState, controls: MuscleControls | None, time: float, dt: float) -> None:
        torque = None
        if controls is not None:
            if self.dynamics is None:
                state.activation = controls.excitation.copy()
            else:
                state.activation = self.dynamics.step(state.activation, controls.excitation, dt)
            if self.body.free_root and controls.root.any():
                torque = np.zeros(self.body.skeleton.n_v)
                torque[:6] = controls.root
        self.advance(state, time, dt, torque)
        if not np.isfinite(state.v).all() or np.abs(state.v).max() > 1e4:
            worst = int(np.argmax(~np.isfinite(state.v) | (np.abs(state.v) > 1e4)))
            raise Diverged(self.body.coordinate_names[worst], "moves faster than 10 000 rad/s")
        self._surroundings(state, time + dt)

    def advance(self, state: BodyState, time: float, dt: float, torque: Array | None) -> None:
        """Bones one step on; a body in its flesh does it otherwise."""
        wrench = state.wrench if state.wrench.any() else None
        state.q, state.v = self.stepper.step(
            state.q, state.v, state.activation, dt, load=state.load, wrench=wrench, torque=torque
        )

    def stage(self) -> Stage:
        meshes = list(self.meshes)
        if self.drawn:
            for bone, (vertices, faces) in bone_surfaces(self.body, fallback=True).items():
                meshes.append(Mesh(bone, bone, vertices, faces))
        m = self.body.muscles
        signals = (
            Signal("activation", "1", "muscle activation", ("mean", "largest")),
            Signal("muscle_power", "W", "power that muscles deliver"),
            Signal("missing_torque", "N m", "largest joint torque that muscles cannot give"),
            Signal("missing_at", "1", "bone at whose joint it lacks, as numbered in the recording; -1 for none"),
            Signal("tone_share", "1", "share of the coactivation asked for that fits below full activation"),
        )
        return Stage(
            bodies=self.body.skeleton.names,
            meshes=tuple(meshes),
            lines=(
                Lines(
                    "muscles", m.offsets, muscle_radii(self.body), m.names, value="activation", value_range=(0.0, 1.0)
                ),
            ),
            signals=(*signals, *(x.signal for x in self.measures)),
            cameras=self.cameras,
            ground=self.ground,
        )

    def observe(self, state: BodyState, controls: MuscleControls | None, time: float) -> Frame:
        now = BodyNow(self.body, state, controls, time)
        work = self.stepper.assemble(state.q, state.v, state.activation, 1e-6, load=state.load)
        poses = np.empty((self.body.n_bones, 7))
        placed = now.poses
        if self._fists:
            placed = placed.copy()
            for hand, fingers in self._fists:
                for bone, local in fingers.items():
                    placed[bone] = placed[hand] @ local
        poses[:, :3] = placed[:, :3, 3]
        poses[:, 3:] = Rotation.from_matrix(placed[:, :3, :3]).as_quat()[:, [3, 0, 1, 2]]
        a = state.activation
        signals: dict[str, Any] = {
            "activation": np.array([a.mean(), a.max(initial=0.0)]),
            "muscle_power": -float(work.tension[0] @ work.rate),
            "missing_torque": 0.0 if controls is None else controls.missing,
            "missing_at": -1.0 if controls is None else self._bone_of(controls.missing_at),
            "tone_share": 1.0 if controls is None else controls.share,
        }
        for x in self.measures:
            value = np.asarray(x.value(now), dtype=float)
            signals[x.signal.name] = value.copy() if x.signal.components else float(value)
        points = path_points(self.body.muscles, now.poses)
        return Frame(poses=poses, signals=signals, lines={"muscles": LinesFrame(points, a.copy())})

    def _bone_of(self, coordinate: int) -> float:
        """The bone whose joint has a coordinate, -1 for none."""
        return float(np.searchsorted(self.body.skeleton.v_start, coordinate, "right") - 1) if coordinate >= 0 else -1.0

    def _surroundings(self, state: BodyState, time: float) -> None:
        """What is held and pushed at `time`, into the state."""
        s = self.body.skeleton
        state.load[:] = 0.0
        state.wrench[:] = 0.0
        for thing in self.held:
            if thing.start <= time + 1e-9 and time + 1e-9 < thing.end:
                state.load[s.index(thing.bone)] += thing.inertia.flat()
        active = [p for p in self.pushes if p.start <= time + 1e-9 < p.start + p.duration]
        if active:
            poses = bone_poses(s, state.q)
            for p in active:
                i = s.index(p.bone)
                force = poses[i, :3, :3].T @ np.array(p.force)
                state.wrench[i] += np.concatenate([np.cross(p.point, force), force])


def muscle_radii(body: Body) -> Array:
    """Radius [m] to draw each muscle with, shape (n_muscles,): half that of its cross-section, 0.7 to 7 mm."""
    return np.clip(0.5 * np.sqrt(body.muscles.pcsa / np.pi), 0.0007, 0.007)
