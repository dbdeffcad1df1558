"""A tank: water with rigid bodies in it, its surface, its spray and its walls.

    ball = RigidBody.solid("ball", *sphere(0.1), 500.0, position=(0.5, 0.5, 0.8))
    TankSystem(Tank.of_size((1, 1, 1), 0.04), bodies=[ball])

Honours no controls: bodies float freely or follow their course.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vitruvian.control import Controls, honoured
from vitruvian.errors import InputError
from vitruvian.spatial import pose_from_transform, transform
from vitruvian.systems.colours import WIRE
from vitruvian.systems.layers import BodiesLayer, Drawn, LinesLayer, water_layers
from vitruvian.systems.measures import Measure, Now
from vitruvian.water import (
    Boundary,
    Patches,
    RigidBodies,
    RigidBody,
    RigidState,
    Tank,
    WaterState,
    check_inside,
    cover,
    cover_narrow,
    fill,
    rasterise,
    spray_total,
    start_patches,
    step,
    water_volume,
)
from vitruvian.world import Camera, Colour, Lines, LinesFrame, Mesh, Recording, Signal

Array = np.ndarray
DRY = (0.86, 0.53, 0.24)


@dataclass
class TankState:
    """Water, bodies, and the mean force of the water on each body in the latest step."""

    water: WaterState
    bodies: RigidState
    force: Array  # (moment [N m], force [N]) about each centre of mass, world axes, shape (bodies, 6)


class TankSystem(Drawn):
    """See `world.simulation.Simulation`; the state is a `TankState`."""

    def __init__(
        self,
        tank: Tank,
        phi: Array | None = None,
        bodies: Sequence[RigidBody] = (),
        *,
        forces: str = "pressure",
        patches: Sequence[str] | Literal["narrow"] = (),
        measures: Sequence[Measure] = (),
        cameras: Sequence[Camera] = (),
        colours: Sequence[Colour] = (),
        closed: bool = True,
    ):
        """phi: level set of the water at time 0 [m], None for calm water at the rest level; forces: as in
        `water.step`; patches: names of bodies with refined water about them, or "narrow" for those that the cells
        are too large for; colours: of the bodies; closed: draw the
        sides of the water as well."""
        self.tank, self.phi, self.bodies, self.forces = tank, phi, tuple(bodies), forces
        # a cell's width of water always stays between a body and a wall
        low = np.asarray(tank.origin) + tank.cell
        high = low + np.asarray(tank.size) - 2.0 * tank.cell
        low[list(tank.wrapped)], high[list(tank.wrapped)] = -np.inf, np.inf  # no wall there; `step` minds the seam
        walls = (low, high) if tank.closed else None
        self.mechanism = RigidBodies(self.bodies, tank.gravity, walls=walls) if self.bodies else None
        self.patches = self._cover(patches)
        shades = [*colours, *([DRY] * len(self.bodies))]
        meshes = [
            Mesh(b.name, b.name, b.vertices, b.faces, layer="skin", colour=shade)
            for b, shade in zip(self.bodies, shades)
        ]
        self.layers = (
            BodiesLayer([b.name for b in self.bodies], lambda: meshes, self._poses),
            *water_layers(tank, closed=closed, opacity=0.55),
            LinesLayer(_frame_lines(tank), lambda now: LinesFrame(_corners(tank, now.state.water.origin))),
        )
        self.measures = (*MEASURES, *measures)
        self.cameras = tuple(cameras) or _cameras(tank)

    def start(self, rng: np.random.Generator) -> TankState:
        none = RigidState(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)))
        bodies = self.mechanism.start() if self.mechanism else none
        self._check_inside(bodies, np.asarray(self.tank.origin), range(len(self.bodies)))
        seed = int(rng.integers(2**31))
        water = fill(self.tank, self.phi, seed=seed, mechanism=self.mechanism, body=bodies if self.mechanism else None)
        if self.patches is not None:
            water.patches = start_patches(self.patches)
        return TankState(water, bodies, np.zeros((len(self.bodies), 6)))

    def step(self, state: TankState, controls: Controls | None, time: float, dt: float) -> None:
        honoured(controls, (), "a tank")
        done = step(
            self.tank, state.water, dt, mechanism=self.mechanism, body=state.bodies if self.mechanism else None,
            forces=self.forces, patches=self.patches,
        )  # fmt: skip
        if len(self.bodies):
            state.force = done.impulses / dt
            # walls of a closed tank hold free bodies back; driven ones and those in a window may reach its edge
            held = [n for n, b in enumerate(self.bodies) if b.course is not None or not self.tank.closed]
            self._check_inside(state.bodies, state.water.origin, held)

    def _cover(self, names: Sequence[str] | Literal["narrow"]) -> Patches | None:
        if names == "narrow":
            return cover_narrow(self.tank, self.mechanism, self.mechanism.start()) if self.mechanism else None
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise InputError(f"tank: patches are a list of bodies' names, or 'narrow', not {names!r}")
        there = [b.name for b in self.bodies]
        if odd := [n for n in names if n not in there]:
            raise InputError(f"tank: patches for '{odd[0]}', which is none of its bodies ({', '.join(there)})")
        if not names or self.mechanism is None:
            return None
        return cover(self.tank, self.mechanism, self.mechanism.start(), [there.index(n) for n in names], names=names)

    def _check_inside(self, bodies: RigidState, origin: Array, numbers: Iterable[int]) -> None:
        if self.mechanism is not None:
            skins = self.mechanism.skins(bodies)
            for n in numbers:
                check_inside(self.tank, origin, self.bodies[n].name, skins[n].vertices)

    def _poses(self, now: Now) -> Array:
        bodies, mechanism = now.state.bodies, self.mechanism
        if mechanism is None:
            return np.zeros((0, 7))
        placed = [transform(mechanism.rotation(bodies, n), bodies.position[n]) for n in range(len(self.bodies))]
        return np.array([pose_from_transform(T) for T in placed])

    def held(self, now: Now) -> float:
        """Water in the tank, spray included [m³]."""
        water = now.state.water
        opened: Boundary | Array = np.ones(self.tank.shape)
        if self.mechanism is not None:
            skins, links = self.mechanism.skins(now.state.bodies), self.mechanism.links(now.state.bodies)
            opened = rasterise(self.tank, water, skins, links.origins)
        return float(spray_total(water) + water_volume(self.tank, water.phi, opened))


def _held(now: Now) -> float:
    return float(now.system.held(now))


def _share(volume: float, now: Now) -> float:
    return float(volume / now.state.water.volume)


def _put_right(now: Now) -> float:
    water = now.state.water
    return _share(water.shifted_volume + water.returned_volume, now)


MEASURES = (
    Measure(Signal("volume", "m^3", "water in the tank, spray included"), lambda now: now.once(_held)),
    Measure(
        Signal("volume_error", "", "volume lost or gained, relative"), lambda now: _share(now.once(_held), now) - 1.0
    ),
    Measure(
        Signal("shifted", "", "volume that the uniform shift has put back so far, relative"),
        lambda now: _share(now.state.water.shifted_net, now),
    ),
    Measure(
        Signal("returned", "", "volume that rough spots of the surface got back at their place so far, relative"),
        lambda now: _share(now.state.water.returned_net, now),
    ),
    Measure(
        Signal("put_right", "", "sizes of all corrections of the volume so far, whatever their sign, relative"),
        _put_right,
    ),
    Measure(Signal("spray", "m^3", "water in flight"), lambda now: spray_total(now.state.water)),
    Measure(
        Signal("speed", "m/s", "fastest water"),
        lambda now: max(float(np.abs(f).max()) for f in (now.state.water.u, now.state.water.v, now.state.water.w)),
    ),
)


def volume_metrics(recording: Recording) -> dict[str, float]:
    """Worst relative error of the volume, and what was put back to keep it, relative to the tank's volume."""
    return {
        "volume_error": float(np.abs(recording.signals["volume_error"]).max()),
        "shifted_volume": float(recording.signals["shifted"][-1]),
        "sum_of_sizes_put_right": float(recording.signals["put_right"][-1]),
    }


def body_measures(name: str, n: int = 0) -> list[Measure]:
    """Height, speed and water force of body n."""
    return [
        Measure(Signal("height", "m", f"height of the {name}'s centre"), lambda now: now.state.bodies.position[n, 2]),
        Measure(Signal("rise", "m/s", f"vertical speed of the {name}"), lambda now: now.state.bodies.velocity[n, 2]),
        Measure(
            Signal("force", "N", f"force of the water on the {name}", components=("x", "y", "z")),
            lambda now: now.state.force[n, 3:],
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
