"""What the water scenes share: a tank as a simulation, with its surface, its spray and the bodies in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.spatial import pose_from_transform, transform
from vitruvian.water import (
    BodyState,
    RigidBodies,
    RigidBody,
    Tank,
    WaterState,
    check_inside,
    fill,
    spray_surface,
    spray_total,
    step,
    surface_mesh,
    water_volume,
)
from vitruvian.world.recording import Recording
from vitruvian.world.stage import (  # fmt: skip
    WATER,
    WIRE,
    Camera,
    Frame,
    Lines,
    LinesFrame,
    Mesh,
    Points,
    Signal,
    Stage,
    Surface,
    SurfaceFrame,
)

Array = np.ndarray
DRY = (0.86, 0.53, 0.24)


@dataclass
class TankState:
    """Water, bodies, and the mean force of the water on each body in the latest step."""

    water: WaterState
    bodies: BodyState
    force: Array  # (moment [N m], force [N]) about each centre of mass, world axes, shape (bodies, 6)


@dataclass(frozen=True)
class Reading:
    """A number that a scene plots: its signal, and how to take it from (tank, state)."""

    signal: Signal
    take: Callable[[Tank, TankState], float | Array]


@dataclass
class TankSimulation:
    """Physics of a tank with rigid bodies."""

    tank: Tank
    phi: Array | None = None  # level set of the water at time 0 [m]; None for calm water at the rest level
    bodies: Sequence[RigidBody] = ()
    forces: str = "pressure"
    readings: Sequence[Reading] = ()
    cameras: Sequence[Camera] = ()
    colours: Sequence[tuple[float, float, float]] = ()
    closed: bool = True  # draw the sides of the water as well
    mechanism: RigidBodies | None = field(init=False)

    def __post_init__(self) -> None:
        # a cell's width of water always stays between a body and a wall
        low = np.asarray(self.tank.origin) + self.tank.cell
        walls = (low, low + np.asarray(self.tank.size) - 2.0 * self.tank.cell) if self.tank.closed else None
        self.mechanism = RigidBodies(self.bodies, self.tank.gravity, walls=walls) if self.bodies else None

    def start(self, rng: np.random.Generator) -> TankState:
        none = BodyState(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)))
        bodies = self.mechanism.start() if self.mechanism else none
        self._check_inside(bodies, np.asarray(self.tank.origin), range(len(self.bodies)))
        seed = int(rng.integers(2**31))
        water = fill(self.tank, self.phi, seed=seed, mechanism=self.mechanism, body=bodies)
        return TankState(water, bodies, np.zeros((len(self.bodies), 6)))

    def step(self, state: TankState, controls: Any, time: float, dt: float) -> None:
        done = step(self.tank, state.water, dt, mechanism=self.mechanism, body=state.bodies, forces=self.forces)
        if len(self.bodies):
            state.force = done.impulses / dt
            # walls of a closed tank hold free bodies back; driven ones and those in a window may reach its edge
            held = [n for n, b in enumerate(self.bodies) if b.course is not None or not self.tank.closed]
            self._check_inside(state.bodies, state.water.origin, held)

    def _check_inside(self, bodies: BodyState, origin: Array, numbers: Iterable[int]) -> None:
        if self.mechanism is not None:
            skins = self.mechanism.skins(bodies)
            for n in numbers:
                check_inside(self.tank, origin, self.bodies[n].name, skins[n].vertices)

    def stage(self) -> Stage:
        colours = [*self.colours, *([DRY] * len(self.bodies))]
        meshes = [
            Mesh(b.name, b.name, b.vertices, b.faces, layer="skin", colour=colours[n])
            for n, b in enumerate(self.bodies)
        ]
        signals = [
            Signal("volume", "m^3", "water in the tank, spray included"),
            Signal("volume_error", "", "volume lost or gained, relative"),
            Signal("mended", "", "volume put right so far where markers saw it vanish or appear, relative"),
            Signal("shifted", "", "volume that the uniform shift has put back so far, relative"),
            Signal("put_right", "", "sizes of all corrections of the volume so far, whatever their sign, relative"),
            Signal("spray", "m^3", "water in flight"),
            Signal("speed", "m/s", "fastest water"),
            *(r.signal for r in self.readings),
        ]
        return Stage(
            bodies=tuple(b.name for b in self.bodies),
            meshes=tuple(meshes),
            surfaces=(
                Surface("water", None, layer="water", colour=WATER, opacity=0.55),
                Surface("spray surface", None, layer="water", colour=(0.75, 0.87, 0.95), opacity=0.8),
            ),
            lines=(_frame_lines(self.tank),),
            points=(Points("spray", radius=0.12 * self.tank.cell),),
            signals=tuple(signals),
            cameras=tuple(self.cameras) or _cameras(self.tank),
            ground=None,
        )

    def observe(self, state: TankState, controls: Any, time: float) -> Frame:
        water = state.water
        poses = np.array(
            [
                pose_from_transform(transform(self.mechanism.rotation(state.bodies, n), state.bodies.position[n]))
                for n in range(len(self.bodies))
            ]
            if self.mechanism
            else []
        ).reshape(-1, 7)
        vertices, faces = surface_mesh(self.tank, water, closed=self.closed)
        spray = spray_surface(water.spray, water.spray_volume, 2.0 * self.tank.cell, finest=0.2 * self.tank.cell)
        held = spray_total(water) + water_volume(self.tank, water.phi, self._opened(state))
        signals: dict[str, float | Array] = {
            "volume": held,
            "volume_error": held / water.volume - 1.0,
            "mended": water.mended_net / water.volume,
            "shifted": water.shifted_net / water.volume,
            "put_right": (water.mended_volume + water.shifted_volume) / water.volume,
            "spray": spray_total(water),
            "speed": max(float(np.abs(f).max()) for f in (water.u, water.v, water.w)),
        }
        signals.update({r.signal.name: r.take(self.tank, state) for r in self.readings})
        return Frame(
            poses=poses,
            signals=signals,
            surfaces={"water": SurfaceFrame(vertices, faces), "spray surface": SurfaceFrame(*spray)},
            lines={"tank": LinesFrame(_corners(self.tank, water.origin))},
            points={"spray": water.spray.copy()},
        )

    def _opened(self, state: TankState) -> Array:
        if self.mechanism is None:
            return np.ones(self.tank.shape)
        from vitruvian.water import rasterise

        skins, links = self.mechanism.skins(state.bodies), self.mechanism.links(state.bodies)
        return rasterise(self.tank, state.water, skins, links.origins).volume


def volume_metrics(recording: Recording) -> dict[str, float]:
    """Worst relative error of the volume, and what was put back to keep it, relative to the tank's volume."""
    return {
        "volume_error": float(np.abs(recording.signals["volume_error"]).max()),
        "mended_volume": float(recording.signals["mended"][-1]),
        "shifted_volume": float(recording.signals["shifted"][-1]),
        "sum_of_sizes_put_right": float(recording.signals["put_right"][-1]),
    }


def body_readings(name: str, n: int = 0) -> list[Reading]:
    """Height, speed and water force of body n."""
    return [
        Reading(Signal("height", "m", f"height of the {name}'s centre"), lambda t, s: float(s.bodies.position[n, 2])),
        Reading(Signal("rise", "m/s", f"vertical speed of the {name}"), lambda t, s: float(s.bodies.velocity[n, 2])),
        Reading(
            Signal("force", "N", f"force of the water on the {name}", components=("x", "y", "z")),
            lambda t, s: s.force[n, 3:].copy(),
        ),
    ]


_EDGES = np.array([0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7])


def _corners(tank: Tank, origin: Array) -> Array:
    size = np.asarray(tank.size)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) * size + origin
    return corners[_EDGES]


def _frame_lines(tank: Tank) -> Lines:
    return Lines(
        "tank",
        offsets=np.arange(0, len(_EDGES) + 1, 2),
        radius=np.full(len(_EDGES) // 2, 0.002 * float(np.linalg.norm(tank.size))),
        layer="tank",
        colour=WIRE,
    )


def _cameras(tank: Tank) -> tuple[Camera, ...]:
    size = np.asarray(tank.size)
    middle = np.asarray(tank.origin) + 0.5 * size
    far = 1.5 * float(np.linalg.norm(size))
    low = middle - np.array([0.0, 0.0, 0.12 * size[2]])

    def view(name: str, direction: tuple[float, float, float]) -> Camera:
        d = np.asarray(direction) / np.linalg.norm(direction)
        eye = low + far * d
        return Camera(name, (eye[0], eye[1], eye[2]), (low[0], low[1], low[2]))

    return view("corner", (0.55, -1.0, 0.45)), view("front", (0.0, -1.0, 0.15)), view("above", (0.1, -0.5, 1.0))
