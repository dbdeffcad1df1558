"""A human in water as a simulation: simulated or still water, skin by skinning, muscles, torques or a course of joints.

    simulation = SwimSimulation(human(), skin, water=StillWater())              # no flow: Si 2013, eq. 3.12
    simulation = SwimSimulation(human(), skin, water=pool(cell=0.055))          # a window of real water that follows
Controls decide what drives the joints: anything with `excitation` (n_muscles,) or `torque` (n_v,) such as
`MuscleControls`, `couple.actuation.JointTorques` or `JointCourse`, or None for a body that lets go. The state
(`SwimState`) has q, v, activation and load like that of any body; `wrench` (what water and pushes did to each bone in
the latest step, in its frame) and `water_force` (the same on the joints) are there for a controller to sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin_flesh import BodyFlesh
from vitruvian.anatomy.skinning import BoundSkin
from vitruvian.anatomy.surfaces import bone_surfaces
from vitruvian.control.rhythm import muscle_groups
from vitruvian.couple.actuation import Actuation, JointCourse, JointTorques
from vitruvian.couple.body_water import BodyInWater
from vitruvian.couple.still_water import StillWater
from vitruvian.couple.swimmer_state import Book, SwimmerState
from vitruvian.errors import InputError
from vitruvian.muscle import ActivationDynamics, MuscleBuilder, MuscleModel, path_points
from vitruvian.muscle.implicit import BodyStepper
from vitruvian.skeleton import bone_poses, centre_of_mass
from vitruvian.water import Tank, WaterState, fill, follow, spray_surface, surface_mesh
from vitruvian.water import step as step_water
from vitruvian.water.forces import FORCES
from vitruvian.world.body import Push, muscle_radii
from vitruvian.world.stage import SKIN, WATER, Camera, Frame, Lines, LinesFrame, Mesh, Points, Signal, Stage, Surface
from vitruvian.world.stage import SurfaceFrame as Patch
from vitruvian.world.swim_flesh import FleshMotion, FleshSkin
from vitruvian.world.swim_room import check_room
from vitruvian.world.swim_signals import SIGNALS, Calm, parts_of, swim_signals

Array = np.ndarray
POOL = (2.2, 3.4, 1.35)  # size of the window [m]: arms out to the sides, arms stretched ahead
DEEP = 0.95  # of it below the surface [m]; the floor is a wall
HALF_A_HAND = 0.015  # [m]; bodies are seen at nodes no further apart
SKIN_OPACITY = 0.45  # a person, and bones and muscles within
CAMERAS = (
    Camera("side", (-4.1, -0.2, 0.15), (0.0, -0.2, -0.1), follow="Pel"),
    Camera("top", (0.45, -0.2, 4.1), (0.0, -0.2, 0.0), follow="Pel"),
    Camera("under", (2.4, -1.6, -1.5), (0.0, -0.2, -0.12), follow="Pel"),
    Camera("front", (-1.6, -3.2, 0.7), (0.0, -0.3, -0.1), follow="Pel"),
)


def pool(cell: float = 0.055, size: tuple[float, float, float] = POOL, *, deep: float = DEEP, **options: Any) -> Tank:
    """A window of open water around a swimmer, its surface at height 0, `deep` [m] of it below."""
    settings: dict[str, Any] = {
        "boundaries": dict.fromkeys(("x-", "x+", "y-", "y+"), "open"),
        "sponge": 0.12 * size[0],
        "largest_substep": 1.0 / 96.0,
        "courant": 1.5,
        "particles": 8,
        "body_detail": max(2, math.ceil(cell / HALF_A_HAND - 1e-9)),
        "tolerance": 1e-4,
        **options,
    }
    return Tank.of_size(size, cell, origin=(-0.5 * size[0], -0.5 * size[1], -deep), rest_level=0.0, **settings)


@dataclass
class SwimState(SwimmerState):
    """A swimmer, the water if it is simulated, the flesh if it is there."""

    water: WaterState | None = None
    flesh: FleshMotion | None = None


@dataclass(frozen=True)
class SwimNow:
    """An instant, as given to measures."""

    body: Body
    state: SwimState
    controls: Any
    time: float

    @cached_property
    def poses(self) -> Array:
        """Bone to world transforms, shape (n_bones, 4, 4)."""
        return bone_poses(self.body.skeleton, self.state.q)


@dataclass(frozen=True)
class SwimMeasure:
    """A further signal and how it is read off."""

    signal: Signal
    value: Callable[[SwimNow], Any]


class SwimSimulation:
    """See `world.simulation.Simulation`; the state is a `SwimState`."""

    def __init__(
        self,
        body: Body,
        skin: BoundSkin,
        *,
        water: StillWater | Tank,
        flesh: BodyFlesh | None = None,
        q: Array | None = None,
        v: Array | None = None,
        forces: str = "pressure",
        muscles: bool = True,
        dynamics: ActivationDynamics | None = None,
        pushes: Sequence[Push] = (),
        measures: Sequence[SwimMeasure] = (),
        cameras: Sequence[Camera] = CAMERAS,
        meshes: Sequence[Mesh] = (),
        marks: Callable[[float], Array] | None = None,
        drawn: bool = True,
    ):
        """flesh: finite elements under the skin, None for skinning alone. forces: "pressure" solves bones and water
        together, "velocity" is the documents' interleaved scheme. muscles False takes the muscles away (torques then do
        all the work). q, v: start. marks: points [m] (n, 3) to show at a time, such as a ball to follow."""
        if not body.free_root:
            raise InputError("a swimmer needs a free pelvis")
        if forces not in FORCES:
            raise InputError(f"swim: unknown force model '{forces}'; known: {', '.join(FORCES)}")
        self.body, self.skin, self.water, self.forces = body, skin, water, forces
        s = body.skeleton
        self.q0 = body.default_q.copy() if q is None else np.array(q, float)
        self.v0 = np.zeros(s.n_v) if v is None else np.array(v, float)
        self.dynamics, self.pushes, self.measures = dynamics, tuple(pushes), tuple(measures)
        self.cameras, self.meshes, self.drawn, self.marks = tuple(cameras), tuple(meshes), drawn, marks
        self.muscles: MuscleModel = body.muscles if muscles else MuscleBuilder(s).build()
        self.stepper = BodyStepper(s, self.muscles)
        self.fleshed = None if flesh is None else FleshSkin(body, skin, flesh)
        self.mechanism = BodyInWater(self.stepper, self.fleshed or skin)
        self.groups, self.parts = muscle_groups(body), parts_of(skin.names)

    def new_stepper(self) -> BodyStepper:
        """Another stepper of the same body, for a controller to think with."""
        return BodyStepper(self.body.skeleton, self.muscles)

    # --- Simulation ----------------------------------------------------------------------------------------------

    def start(self, rng: np.random.Generator) -> SwimState:
        s = self.body.skeleton
        state = SwimState(
            q=self.q0.copy(),
            v=self.v0.copy(),
            activation=np.zeros(self.muscles.n_muscles),
            load=np.zeros((s.n_bones, 10)),
            push=np.zeros((s.n_bones, 6)),
            wrench=np.zeros((s.n_bones, 6)),
            water_force=np.zeros(s.n_v),
            link_force=np.zeros((len(self.skin.names), 6)),
            drive=np.zeros(s.n_v),
            book=Book(),
            flesh=None if self.fleshed is None else self.fleshed.start(self.q0),
        )
        if isinstance(self.water, Tank):
            self.mechanism.forget()
            state.water = fill(self.water, seed=int(rng.integers(2**31)), mechanism=self.mechanism, body=state)
            self._follow(state, 0.0)
        self._push(state, 0.0)
        return state

    def step(self, state: SwimState, controls: Any, time: float, dt: float) -> None:
        actuation = self._actuation(state, controls, dt)
        if self.fleshed is not None and state.flesh is not None:
            self.fleshed.recall(state.flesh)
        self.mechanism.begin(state, actuation)
        if isinstance(self.water, Tank):
            assert state.water is not None
            # whether he still has room is asked below, in his own words
            step_water(
                self.water, state.water, dt, mechanism=self.mechanism, body=state, forces=self.forces, beyond_walls=True
            )
            self._follow(state, time + dt)
        else:
            self.mechanism.step_still(state, self.water, time, dt)
        self.mechanism.end(state, dt)
        if self.fleshed is not None and state.flesh is not None:
            self.fleshed.follow(state.flesh, bone_poses(self.body.skeleton, state.q), dt)
            self.mechanism.forget()
        self._push(state, time + dt)

    def stage(self) -> Stage:
        meshes = list(self.meshes)
        if self.drawn:
            for bone, (vertices, faces) in bone_surfaces(self.body, fallback=True).items():
                meshes.append(Mesh(bone, bone, vertices, faces))
        m = self.body.muscles
        surfaces = [
            Surface("skin", self.skin.faces, colour=SKIN, opacity=SKIN_OPACITY),
            Surface("water", None, layer="water", colour=WATER, opacity=0.45),
        ]
        points: tuple[Points, ...] = ()
        if isinstance(self.water, Tank):
            surfaces.append(Surface("spray surface", None, layer="water", colour=(0.75, 0.87, 0.95), opacity=0.8))
            points = (Points("spray", radius=0.12 * self.water.cell),)
        if self.marks is not None:
            points = (*points, Points("marks", radius=0.1, layer="marks", colour=(0.9, 0.3, 0.1)))
        muscles = Lines(
            "muscles", m.offsets, muscle_radii(self.body), m.names, value="activation", value_range=(0.0, 1.0)
        )
        return Stage(
            bodies=self.body.skeleton.names,
            meshes=tuple(meshes),
            surfaces=tuple(surfaces),
            lines=(muscles,),
            points=points,
            signals=(*SIGNALS, *(x.signal for x in self.measures)),
            cameras=self.cameras,
            ground=None,
        )

    def observe(self, state: SwimState, controls: Any, time: float) -> Frame:
        now = SwimNow(self.body, state, controls, time)
        placed = now.poses
        poses = np.concatenate(
            [placed[:, :3, 3], Rotation.from_matrix(placed[:, :3, :3]).as_quat(scalar_first=True)], axis=1
        )
        if self.fleshed is not None and state.flesh is not None:
            self.fleshed.recall(state.flesh)
        skin = (self.fleshed or self.skin).place(placed)
        signals = swim_signals(self.body, state, placed, self._calm(skin.vertices), self.groups)
        for x in self.measures:
            value = np.asarray(x.value(now), dtype=float)
            signals[x.signal.name] = value.copy() if x.signal.components else float(value)
        surfaces = {"skin": Patch(skin.vertices)}
        points = {}
        if state.water is not None and isinstance(self.water, Tank):
            surfaces["water"] = Patch(*surface_mesh(self.water, state.water, closed=False))
            cell = self.water.cell
            spray = state.water.spray
            surfaces["spray surface"] = Patch(
                *spray_surface(spray, state.water.spray_volume, 2.0 * cell, finest=0.2 * cell)
            )
            points["spray"] = spray.copy()
        else:
            surfaces["water"] = Patch(*_sheet(centre_of_mass(self.body.skeleton, state.q), self._level()))
        if self.marks is not None:
            points["marks"] = np.asarray(self.marks(time), float)
        a = state.activation if self.muscles.n_muscles else np.zeros(self.body.muscles.n_muscles)
        lines = {"muscles": LinesFrame(path_points(self.body.muscles, placed), a.copy())}
        return Frame(poses=poses, signals=signals, surfaces=surfaces, lines=lines, points=points)

    # --- parts ---------------------------------------------------------------------------------------------------

    def _actuation(self, state: SwimState, controls: Any, dt: float) -> Actuation:
        """What the controls mean: activations go into the state, torques and courses are handed on."""
        if controls is None or isinstance(controls, JointTorques | JointCourse):
            return controls
        excitation = getattr(controls, "excitation", None)
        torque = getattr(controls, "torque", None)
        if excitation is None and torque is None:
            raise InputError(f"swim: {type(controls).__name__} does not drive a swimmer")
        if excitation is not None and self.muscles.n_muscles:
            if self.dynamics is None:
                state.activation = np.array(excitation, float)
            else:
                state.activation = self.dynamics.step(state.activation, excitation, dt)
        if torque is None or not np.any(torque):
            return None
        return JointTorques(torque, getattr(controls, "stiffness", 0.0), getattr(controls, "damping", 0.0))

    def _level(self) -> float:
        return self.water.rest_level if isinstance(self.water, Tank) else self.water.level

    def _follow(self, state: SwimState, time: float) -> None:
        """Move the window after the body; a tank with walls stays where it is."""
        assert state.water is not None
        assert isinstance(self.water, Tank)
        if not self.water.closed:
            follow(self.water, state.water, self._middle(state), axes=(0, 1))
        check_room(self.water, state.water.origin, self.skin, self.mechanism.placed(state).vertices, time)

    def _middle(self, state: SwimState) -> Array:
        """Middle of the body's extent along the water, where the window should be."""
        vertices = self.mechanism.placed(state).vertices
        return np.asarray(0.5 * (vertices.min(axis=0) + vertices.max(axis=0)))

    def _push(self, state: SwimState, time: float) -> None:
        state.push[:] = 0.0
        for p in self.pushes:
            if p.start <= time + 1e-9 < p.start + p.duration:
                b = self.body.skeleton.index(p.bone)
                pose = bone_poses(self.body.skeleton, state.q)[b]
                force = pose[:3, :3].T @ np.array(p.force)
                state.push[b] += np.concatenate([np.cross(p.point, force), force])

    def _calm(self, vertices: Array) -> Calm:
        """What calm water would do to each link, to tell flow from weight."""
        w = self.water
        density, gravity = (w.density, float(-w.gravity[2])) if isinstance(w, Tank) else (w.density, w.gravity)
        still = StillWater(self._level(), density, gravity)
        links = self.mechanism.shape.links
        lift = still.forces(vertices, np.zeros_like(vertices), self.skin.faces, links, len(self.skin.names)).lift[:, 3:]
        return Calm(lift, float(lift[:, 2].sum() / (density * gravity)), still.level, self.parts)


class SwimPreview(SwimSimulation):
    """The same swimmer led through a motion, pelvis and all, without any physics: `sample(time)` gives q and v."""

    def __init__(self, *arguments: Any, sample: Callable[[float], tuple[Array, Array]], **options: Any):
        super().__init__(*arguments, **options)
        self.sample = sample

    def step(self, state: SwimState, controls: Any, time: float, dt: float) -> None:
        state.q, state.v = self.sample(time + dt)


def _sheet(centre: Array, level: float) -> tuple[Array, Array]:
    """A piece of still surface about a point, its corners on whole metres so that it does not slide along."""
    x, y = np.round(centre[0]), np.round(centre[1])
    a, b = 0.5 * POOL[0], 3.0
    corners = np.array([[x - a, y - b, level], [x + a, y - b, level], [x + a, y + b, level], [x - a, y + b, level]])
    return corners, np.array([[0, 1, 2], [0, 2, 3]])
