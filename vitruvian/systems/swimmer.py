"""A human in water: simulated or still, skin by skinning or flesh, driven by muscles, torques or a course of joints.

    SwimmerSystem(human(), skin, water=StillWater())              # no flow: Si 2013, eq. 3.12
    SwimmerSystem(human(), skin, water=pool(cell=0.055))          # a window of real water that follows

Honours the controls `excitation`, `torque` and `course`; without controls he lets go. The state (`SwimState`) is that
of any body; `wrench` (what water and pushes did to each bone in the latest step, in its frame) and `water_force` (the
same on the joints) are there for a controller to sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, BodyFlesh
from vitruvian.control import Controls, honoured
from vitruvian.control.rhythm import muscle_groups
from vitruvian.couple import (
    BodyInWater,
    BodyStepper,
    Drive,
    FleshMotion,
    FleshSkin,
    JointCourse,
    StillWater,
    SwimmerState,
    Wading,
    limb_patches,
)
from vitruvian.errors import InputError
from vitruvian.muscle import ActivationDynamics, MuscleBuilder
from vitruvian.skeleton import bone_poses, centre_of_mass
from vitruvian.skin import BoundSkin
from vitruvian.systems.breathing import Breathing
from vitruvian.systems.colours import WATER
from vitruvian.systems.layers import Drawn, Layer, PointsLayer, SurfaceLayer, body_layers, muscle_pull, water_layers
from vitruvian.systems.measures import Measure, Now
from vitruvian.systems.person import head_meshes, skin_layer
from vitruvian.systems.surroundings import Push, add_pushes
from vitruvian.systems.swimmer_room import check_room
from vitruvian.systems.swimmer_signals import Calm, flow_bones_of, parts_of, swim_measures
from vitruvian.water import FORCES, Tank, WaterState, fill, follow, start_patches
from vitruvian.water import step as step_water
from vitruvian.world import Camera, Mesh, Points, Surface, SurfaceFrame

Array = np.ndarray
POOL = (2.2, 3.4, 1.35)  # size of the window [m]: arms out to the sides, arms stretched ahead
DEEP = 0.95  # of it below the surface [m]; the floor is a wall
HALF_A_HAND = 0.015  # [m]; bodies are seen at nodes no further apart
SWIM_CAMERAS = (
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


@dataclass(kw_only=True)
class SwimState(SwimmerState):
    """A swimmer, the water if it is simulated, the flesh if it is there."""

    water: WaterState | None = None
    flesh: FleshMotion | None = None
    breath: Array | None = None  # where in a recorded breath he is [s], and how fast that goes, (2,)


class SwimmerSystem(Drawn):
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
        patches: str = "none",
        muscles: bool = True,
        dynamics: ActivationDynamics | None = None,
        pushes: Sequence[Push] = (),
        measures: Sequence[Measure] = (),
        cameras: Sequence[Camera] = SWIM_CAMERAS,
        meshes: Sequence[Mesh] = (),
        marks: Callable[[float], Array] | None = None,
        drawn: bool = True,
        breathing: Breathing | None = None,
    ):
        """flesh: finite elements under the skin, None for skinning alone. breathing: a recorded breath that lungs,
        skin and ribs go along with. forces: "pressure" solves bones and water together, "velocity" is the documents'
        interleaved scheme. patches: limbs with refined water about them, "none", "hands" or "hands and feet". muscles
        False takes the muscles away (torques then do all the work). q, v: start. marks: points [m] (n, 3) to show at a
        time, such as a ball to follow."""
        if not body.free_root:
            raise InputError("a swimmer needs a free pelvis")
        if forces not in FORCES:
            raise InputError(f"swim: unknown force model '{forces}'; known: {', '.join(FORCES)}")
        s = body.skeleton
        self.body, self.skeleton, self.skin, self.water, self.forces = body, s, skin, water, forces
        self.q0 = body.default_q.copy() if q is None else np.array(q, float)
        self.v0 = np.zeros(s.n_v) if v is None else np.array(v, float)
        self.dynamics, self.pushes, self.marks = dynamics, tuple(pushes), marks
        self.honours: tuple[str, ...] = (*(("excitation",) if muscles else ()), "torque", "course")
        self.stepper = BodyStepper(s, body.muscles if muscles else MuscleBuilder(s).build())
        self.breathing = breathing
        self.breath = None if breathing is None else breathing.field(skin)
        self.fleshed = (
            None
            if flesh is None
            else FleshSkin(s, body.default_q, skin, flesh.model, body.muscles.names if muscles else ())
        )
        self.in_water = BodyInWater(self.stepper, skin)
        self.patches = None
        if patches != "none":
            if not isinstance(water, Tank) or forces != "pressure":
                raise InputError("swim: patches refine simulated water with pressure forces")
            self.patches = limb_patches(self.in_water, self.in_water.start(self.q0, self.v0), water, patches)
        self.groups, self.parts = muscle_groups(body), parts_of(skin.names)
        self.flow_bones = flow_bones_of(skin.names)
        self.layers = self._layers(meshes, drawn)
        self.measures = (*swim_measures(), *(breathing.measures if breathing else ()), *measures)
        self.cameras = tuple(cameras)

    # --- Simulation ----------------------------------------------------------------------------------------------

    def start(self, rng: np.random.Generator) -> SwimState:
        plain = self.in_water.start(self.q0, self.v0)
        state = SwimState(**{f.name: getattr(plain, f.name) for f in fields(plain)})
        if self.breathing is not None:
            state.breath = self.breathing.clock(0.0)
        if self.fleshed is not None:
            state.flesh = self.fleshed.start(self.q0)
        if isinstance(self.water, Tank):
            wading = self._begin(state)
            state.water = fill(self.water, seed=int(rng.integers(2**31)), mechanism=wading, body=state)
            if self.patches is not None:
                state.water.patches = start_patches(self.patches)
            self._follow(state, wading, 0.0)
        self._push(state, 0.0)
        return state

    def step(self, state: SwimState, controls: Controls | None, time: float, dt: float) -> None:
        drive = self._drive(state, controls, dt)
        if self.breathing is not None:
            state.breath = self.breathing.clock(time, None if controls is None else controls.beat)
            if not isinstance(drive, JointCourse):
                ribs = self.breathing.ribs(self.q0, state.q, state.v, float(state.breath[0]))
                drive = ribs if drive is None else drive + ribs
        wading = self._begin(state, drive)
        if isinstance(self.water, Tank):
            assert state.water is not None
            # whether he still has room is asked below, in his own words
            step_water(
                self.water, state.water, dt, mechanism=wading, body=state, forces=self.forces, beyond_walls=True,
                patches=self.patches,
            )  # fmt: skip
            self._follow(state, wading, time + dt)
        else:
            wading.still(self.water, time, dt)
        wading.end(dt)
        if self.fleshed is not None and state.flesh is not None:
            self.fleshed.follow(state.flesh, bone_poses(self.skeleton, state.q), dt, state.activation)
        if self.breathing is not None:
            state.breath = self.breathing.clock(time + dt, None if controls is None else controls.beat)
        self._push(state, time + dt)

    # --- parts ---------------------------------------------------------------------------------------------------

    def moving_skin(self, state: SwimState) -> Any:
        """The skin as flesh and breath, if there are any, move it: see `couple.skin_links.MovingSkin`."""
        moved = None if self.fleshed is None or state.flesh is None else self.fleshed.at(state.flesh)
        if self.breath is None or state.breath is None:
            return self.skin if moved is None else moved
        return self.breath.on(moved, state.breath)

    def _begin(self, state: SwimState, drive: Drive = None) -> Wading:
        return self.in_water.begin(state, drive, skin=self.moving_skin(state))

    def _drive(self, state: SwimState, controls: Controls | None, dt: float) -> Drive:
        """What the controls mean: activations go into the state, torques and courses are handed on."""
        given = honoured(
            controls, self.honours, "a swimmer", n_muscles=self.body.muscles.n_muscles, n_v=self.skeleton.n_v
        )
        if given.torque is not None and given.course is not None:
            raise InputError("a swimmer's joints follow torques or a course, not both")
        if given.excitation is not None:
            if self.dynamics is None:
                state.activation = np.array(given.excitation, float)
            else:
                state.activation = self.dynamics.step(state.activation, given.excitation, dt)
        return given.torque if given.course is None else given.course

    @property
    def level(self) -> float:
        """Height of the calm surface [m]."""
        return self.water.rest_level if isinstance(self.water, Tank) else self.water.level

    def _follow(self, state: SwimState, wading: Wading, time: float) -> None:
        """Move the window after the body; a tank with walls stays where it is."""
        assert state.water is not None
        assert isinstance(self.water, Tank)
        vertices = wading.pose().place.vertices
        if not self.water.closed:
            # the middle of the body's extent along the water
            follow(self.water, state.water, 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)), axes=(0, 1))
        check_room(self.water, state.water.origin, self.skin, vertices, time)

    def _push(self, state: SwimState, time: float) -> None:
        state.push[:] = 0.0
        add_pushes(self.skeleton, self.pushes, state.q, time, state.push)

    # --- looks ---------------------------------------------------------------------------------------------------

    def vertices(self, now: Now) -> Array:
        """Of the skin now [m], shape (n, 3)."""
        return np.asarray(self.moving_skin(now.state).place(now.poses).vertices)

    def calm(self, now: Now) -> Calm:
        """What calm water would do to each link, to tell flow from weight."""
        w = self.water
        density, gravity = (w.density, float(-w.gravity[2])) if isinstance(w, Tank) else (w.density, w.gravity)
        still = StillWater(self.level, density, gravity)
        vertices = now.once(self.vertices)
        links, count = self.in_water.shape.links, len(self.skin.names)
        lift = still.forces(vertices, np.zeros_like(vertices), self.skin.faces, links, count).lift[:, 3:]
        return Calm(lift, float(lift[:, 2].sum() / (density * gravity)), still.level, self.parts, self.flow_bones)

    def _layers(self, meshes: Sequence[Mesh], drawn: bool) -> list[Layer]:
        def activation(now: Now) -> Array:
            there = self.stepper.muscles.n_muscles
            return np.asarray(now.state.activation) if there else np.zeros(self.body.muscles.n_muscles)

        def force(now: Now) -> Array:
            found = now.once(muscle_pull)[0]
            return found if len(found) else np.zeros(self.body.muscles.n_muscles)

        dressed = [*meshes, *(head_meshes(self.body) if drawn else ())]
        layers = body_layers(self.body, meshes=dressed, drawn=drawn, activation=activation, force=force)
        layers.append(skin_layer(self.skin, lambda now: now.once(self.vertices)))
        if isinstance(self.water, Tank):
            layers += water_layers(self.water)
        else:
            sheet = Surface("water", None, layer="water", colour=WATER, opacity=0.45)
            layers.append(
                SurfaceLayer(sheet, lambda now: SurfaceFrame(*_sheet(centre_of_mass(now.skeleton, now.q), self.level)))
            )
        marks = self.marks
        if marks is not None:
            points = Points("marks", radius=0.1, layer="marks", colour=(0.9, 0.3, 0.1))
            layers.append(PointsLayer(points, lambda now: marks(now.time)))
        return layers


class SwimmerPreview(SwimmerSystem):
    """The same swimmer led through a motion, pelvis and all, without any physics: `sample(time)` gives q and v."""

    def __init__(self, *arguments: Any, sample: Callable[[float], tuple[Array, Array]], **options: Any):
        super().__init__(*arguments, **options)
        self.sample, self.honours = sample, ()

    def step(self, state: SwimState, controls: Controls | None, time: float, dt: float) -> None:
        honoured(controls, self.honours, "a preview")
        state.q, state.v = self.sample(time + dt)


def _sheet(centre: Array, level: float) -> tuple[Array, Array]:
    """A piece of still surface about a point, its corners on whole metres so that it does not slide along."""
    x, y = np.round(centre[0]), np.round(centre[1])
    a, b = 0.5 * POOL[0], 3.0
    corners = np.array([[x - a, y - b, level], [x + a, y - b, level], [x + a, y + b, level], [x - a, y + b, level]])
    return corners, np.array([[0, 1, 2], [0, 2, 3]])
