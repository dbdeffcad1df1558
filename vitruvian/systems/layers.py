"""What can be seen of a system, drawn once for all: bones, muscles, skin, tissue, water.

A layer declares its part of the stage and draws its part of a frame. A system is a list of layers and measures; `Drawn`
puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import Body
from vitruvian.anatomy.surfaces import shown_surfaces
from vitruvian.control import Controls
from vitruvian.errors import InputError
from vitruvian.flesh import FleshModel, FleshState, cell_strain, node_values
from vitruvian.muscle import carrier_poses, path_curves
from vitruvian.skeleton import Skeleton, bone_poses
from vitruvian.systems.colours import WATER
from vitruvian.systems.measures import Measure, Now, read
from vitruvian.water import Tank, spray_surface, surface_mesh
from vitruvian.world import Camera, Frame, Joint, Lines, LinesFrame, Mesh, Points, Stage, Surface, SurfaceFrame

Array = np.ndarray
SPRAY = (0.75, 0.87, 0.95)
IN_THE_HEAD = 0.005  # [m] greatest radius of a muscle between skull and jaw


class Layer(Protocol):
    """A part of what can be seen."""

    def stage(self) -> Stage:
        """What it declares; only its own fields are filled."""
        ...

    def frame(self, now: Now) -> Frame:
        """What it looks like now."""
        ...


class Drawn:
    """A system's `stage` and `observe`, from its layers and measures."""

    layers: Sequence[Layer] = ()
    measures: Sequence[Measure] = ()
    cameras: Sequence[Camera] = ()
    ground: float | None = None  # height [m] at which a ground plane is drawn, None for none

    def stage(self) -> Stage:
        """What can be seen and plotted."""
        parts = [layer.stage() for layer in self.layers]
        return Stage(
            bodies=tuple(x for p in parts for x in p.bodies),
            joints=tuple(x for p in parts for x in p.joints),
            meshes=tuple(x for p in parts for x in p.meshes),
            surfaces=tuple(x for p in parts for x in p.surfaces),
            lines=tuple(x for p in parts for x in p.lines),
            points=tuple(x for p in parts for x in p.points),
            signals=tuple(m.signal for m in self.measures),
            cameras=tuple(self.cameras),
            ground=self.ground,
        )

    def observe(self, state: Any, controls: Any, time: float) -> Frame:
        """What is to be seen and plotted at `time` [s]."""
        if controls is not None and not isinstance(controls, Controls):
            raise InputError(f"a controller must return Controls (vitruvian.control), not {type(controls).__name__}")
        now = Now(self, state, controls, time)
        parts = [layer.frame(now) for layer in self.layers]
        return Frame(
            poses=np.concatenate([np.zeros((0, 7)), *(p.poses for p in parts)]),
            signals=read(self.measures, now),
            surfaces={k: v for p in parts for k, v in p.surfaces.items()},
            lines={k: v for p in parts for k, v in p.lines.items()},
            points={k: v for p in parts for k, v in p.points.items()},
        )


@dataclass(frozen=True)
class BodiesLayer:
    """Rigid bodies: their meshes, and poses(now) -> (x, y, z, qw, qx, qy, qz) of each, shape (n, 7)."""

    names: Sequence[str]
    meshes: Callable[[], Sequence[Mesh]]  # asked for when the stage is set
    poses: Callable[[Now], Array]
    joints: Sequence[Joint] = ()

    def stage(self) -> Stage:
        return Stage(bodies=tuple(self.names), meshes=tuple(self.meshes()), joints=tuple(self.joints))

    def frame(self, now: Now) -> Frame:
        return Frame(poses=np.asarray(self.poses(now), float).reshape(-1, 7))


@dataclass(frozen=True)
class SurfaceLayer:
    """A surface that moves."""

    surface: Surface
    at: Callable[[Now], SurfaceFrame]

    def stage(self) -> Stage:
        return Stage(surfaces=(self.surface,))

    def frame(self, now: Now) -> Frame:
        return Frame(surfaces={self.surface.name: self.at(now)})


@dataclass(frozen=True)
class LinesLayer:
    """Lines that move."""

    lines: Lines
    at: Callable[[Now], LinesFrame]

    def stage(self) -> Stage:
        return Stage(lines=(self.lines,))

    def frame(self, now: Now) -> Frame:
        return Frame(lines={self.lines.name: self.at(now)})


@dataclass(frozen=True)
class PointsLayer:
    """Points whose number may change."""

    points: Points
    at: Callable[[Now], Array]

    def stage(self) -> Stage:
        return Stage(points=(self.points,))

    def frame(self, now: Now) -> Frame:
        return Frame(points={self.points.name: np.asarray(self.at(now), float)})


# --- bones and muscles ---------------------------------------------------------------------------------------------


def body_layers(
    body: Body,
    *,
    meshes: Sequence[Mesh] = (),
    drawn: bool = True,
    hidden: Collection[str] = (),
    poses: Callable[[Now], Array] = lambda now: now.poses,
    activation: Callable[[Now], Array] = lambda now: now.state.activation,
    value: str = "activation",
    force: Callable[[Now], Array] | None = None,
) -> list[Layer]:
    """Bones (with those that ride on others, such as the patella) and muscle lines.

    drawn False leaves out the bones' surfaces, hidden those of some; poses(now): as the bones are
    shown, (n_bones, 4, 4); activation(now): what colours the muscles, called `value`, (n_muscles,);
    force(now): with what each pulls [N], (n_muscles,)."""

    def shown() -> list[Mesh]:
        surfaces = shown_surfaces(body, fallback=True).items() if drawn else ()
        seen = (Mesh(bone, bone, v, f, layer="bones") for bone, (v, f) in surfaces if bone not in hidden)
        return [*meshes, *seen]

    m = body.muscles
    lines = Lines(
        "muscles", m.curve_offsets, muscle_radii(body), m.names, "muscles", value=value, pulls=force is not None
    )

    def placed(now: Now) -> Array:
        bones = poses(now)
        return as_poses(np.concatenate([bones, carrier_poses(m, bones)]))

    def drawn_lines(now: Now) -> LinesFrame:
        pull = None if force is None else force(now).copy()
        return LinesFrame(path_curves(m, now.poses), activation(now).copy(), pull)

    riders = tuple(Joint(c.name, c.base) for c in m.frames)
    return [
        BodiesLayer(
            (*body.skeleton.names, *(c.name for c in m.frames)),
            shown,
            placed,
            (*joints_of(body.skeleton, body.full_names), *riders),
        ),
        LinesLayer(lines, drawn_lines),
    ]


def muscle_pull(now: Now) -> tuple[Array, Array]:
    """Force [N] and rate of lengthening [m/s] of every muscle of a system with a stepper, each shape (n_muscles,)."""
    state, stepper = now.state, now.system.stepper
    stepper.assemble(state.q, state.v, state.activation, 1e-6, load=state.load, fibre=state.fibre)
    return stepper.found.tension[0].copy(), stepper.found.rate.copy()


def joints_of(skeleton: Skeleton, words: Mapping[str, str] | None = None) -> tuple[Joint, ...]:
    """What each bone hangs on; words: the bones' names in words."""
    poses = bone_poses(skeleton, skeleton.neutral_q())
    out = []
    for i, name in enumerate(skeleton.names):
        k = int(skeleton.parent[i])
        turn = poses[i, :3, :3] if k < 0 else poses[k, :3, :3].T @ poses[i, :3, :3]
        rest = Rotation.from_matrix(turn).as_quat(scalar_first=True)
        parent = skeleton.names[k] if k >= 0 else ""
        out.append(Joint(name, parent, tuple(rest.tolist()), (words or {}).get(name, "")))
    return tuple(out)


def as_poses(transforms: Array) -> Array:
    """Transforms (n, 4, 4) as (x, y, z, qw, qx, qy, qz), shape (n, 7)."""
    turns = Rotation.from_matrix(transforms[:, :3, :3]).as_quat(scalar_first=True)
    return np.concatenate([transforms[:, :3, 3], turns], axis=1)


def muscle_radii(body: Body) -> Array:
    """Radius [m] to draw each muscle's belly with, shape (n_muscles,): that of its cross-section, 0.7 to 12 mm.

    Between skull and jaw up to IN_THE_HEAD: a rounder masseter comes out of the cheek."""
    m, head = body.muscles, [i for i, name in enumerate(body.skeleton.names) if name in ("Sku", "Man")]
    inside = np.logical_and.reduceat(np.isin(m.bone, head), m.offsets[:-1])
    return np.clip(np.sqrt(m.pcsa / np.pi), 0.0007, np.where(inside, IN_THE_HEAD, 0.012))


# --- tissue --------------------------------------------------------------------------------------------------------


# of tissue: what its values mean, their unit, and the end of their scale
COLOURS: dict[str, tuple[str, str, float]] = {
    "none": ("", "", 0.0),
    "strain": ("strain", "", 0.5),
    "pressure": ("pressure", "kPa", 100.0),
    "activation": ("activation", "", 1.0),
}


def tissue_surface(surface: Surface, colour: str, limit: float | None = None) -> Surface:
    """A surface whose values are a tissue's `colour`, a key of COLOURS; limit: the end of its scale."""
    value, unit, usual = COLOURS[colour]
    end = usual if limit is None else limit
    span = (-end, end) if colour == "pressure" else (0.0, max(end, 1e-9))
    return replace(surface, value=value, unit=unit, value_range=span)


def tissue_values(model: FleshModel, flesh: FleshState, colour: str, activation: Array | None) -> Array | None:
    """What colours the tissue, at its nodes (n_nodes,), None for nothing; activation: of its muscles."""
    if colour == "none":
        return None
    if colour == "strain":
        of_cell = cell_strain(model.elements, flesh.x)
    elif colour == "pressure":
        of_cell = -1e-3 * (flesh.pressure + model.moduli[:, 4])
    else:
        of_cell = model.muscles.cell_activation(
            np.zeros(len(model.muscles.names)) if activation is None else activation
        )
    return node_values(model.elements, of_cell)


# --- water ---------------------------------------------------------------------------------------------------------


def water_layers(tank: Tank, *, closed: bool = False, opacity: float = 0.45) -> list[Layer]:
    """Surface and spray of simulated water, which the state holds as `water`; closed: draw its sides as well."""

    def spray(now: Now) -> SurfaceFrame:
        water = now.state.water
        return SurfaceFrame(*spray_surface(water.spray, water.spray_volume, 2.0 * tank.cell, finest=0.2 * tank.cell))

    return [
        SurfaceLayer(
            Surface("water", None, layer="water", colour=WATER, opacity=opacity),
            lambda now: SurfaceFrame(*surface_mesh(tank, now.state.water, closed=closed)),
        ),
        SurfaceLayer(Surface("spray surface", None, layer="water", colour=SPRAY, opacity=0.8), spray),
        PointsLayer(Points("spray", radius=0.12 * tank.cell), lambda now: now.state.water.spray.copy()),
    ]
