"""A face as it is seen: skin, lips, brows and lashes that move, eyes, teeth and hair that ride; and a face by itself.

`face_layers` puts a face on any neck, once for each head. `FaceSystem` is a head held upright, whose controller tells
it action units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vitruvian.anatomy.face import CHAIN, Face, jaw_pose
from vitruvian.anatomy.face.drawn import above_throat
from vitruvian.anatomy.face.look import Riders, eye_meshes
from vitruvian.control import Controls, honoured
from vitruvian.control.face import FaceDriver, FaceState
from vitruvian.spatial import exp_so3, transform
from vitruvian.systems.layers import BodiesLayer, Drawn, Layer, as_poses
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Camera, Frame, Mesh, Signal, Stage, Surface, SurfaceFrame

Array = np.ndarray
COLOURS: dict[str, tuple[float, float, float]] = {
    "skin": (0.87, 0.68, 0.58),
    "lips": (0.77, 0.48, 0.44),
    "mouth": (0.46, 0.18, 0.17),
    "shirt": (0.33, 0.40, 0.47),
    "brows": (0.22, 0.15, 0.11),
    "lashes": (0.10, 0.07, 0.055),
    "hair": (0.24, 0.16, 0.105),
    "hair_dark": (0.16, 0.105, 0.07),
    "hair_light": (0.33, 0.22, 0.14),
    "teeth": (1.0, 0.94, 0.83),  # in the shade of the lips the sky would make them blue
    "gums": (0.78, 0.42, 0.40),
    "tongue": (0.68, 0.33, 0.32),
    "white": (0.96, 0.95, 0.93),
    "limbus_outer": (0.58, 0.59, 0.60),
    "limbus": (0.16, 0.18, 0.20),
    "iris": (0.17, 0.27, 0.32),
    "iris_middle": (0.27, 0.39, 0.42),
    "iris_inner": (0.42, 0.36, 0.22),
    "iris_fibres": (0.42, 0.54, 0.54),
    "pupil": (0.01, 0.01, 0.01),
    "glint": (1.0, 1.0, 1.0),
}
LAYERS = {"shirt": "clothes", "lips": "lips", "brows": "hair", "lashes": "hair"}
FACE_CAMERAS = (
    Camera("front", (0.0, -0.74, 1.83), (0.0, -0.05, 1.805)),
    Camera("three-quarter", (0.42, -0.60, 1.84), (0.0, -0.05, 1.805)),
    Camera("side", (0.76, -0.08, 1.83), (0.0, -0.03, 1.805)),
)

Poses = Mapping[str, Array]
COMPLEXION = "complexion"  # has a colour map of its own


def face_layers(
    face: Face,
    *,
    state: Callable[[Now], FaceState | None] | None = None,
    poses: Callable[[Now], Poses] | None = None,
    prefix: str = "",
    bust: bool = True,
) -> list[Layer]:
    """A face on a neck. state(now): as it is, by default what the controller told ("face"), at rest before that;
    poses(now): of the bones of `CHAIN` in the world, by default the system's own; prefix: of all names; bust: with
    neck, shoulders and shirt, else down to the throat, for a body that has a skin below."""
    return [
        FaceLayer(face, state or told_face, poses or _own_poses, prefix, bust),
        *_rigid(face, state or told_face, poses or _own_poses, prefix),
    ]


def told_face(now: Now) -> FaceState | None:
    """What the latest controls tell of the face; None before there are any."""
    return None if now.controls is None else now.controls.told.get("face")


def _own_poses(now: Now) -> Poses:
    return {name: now.pose(name) for name in CHAIN}


def _at_rest(face: Face) -> FaceState:
    return FaceDriver(face).start()


@dataclass(frozen=True)
class FaceLayer:
    """What bends: skin, lips, mouth, shirt, brows, lashes."""

    face: Face
    state: Callable[[Now], FaceState | None]
    poses: Callable[[Now], Poses]
    prefix: str
    bust: bool = True

    @cached_property
    def parts(self) -> dict[str, Array]:
        """Triangles of the fine skin that are drawn, by what they are."""
        if self.bust:
            return self.face.parts
        at = self.face.fine_rest
        return {n: f[above_throat(self.face.head, at[f].mean(axis=1))] for n, f in self.face.parts.items()}

    @cached_property
    def riders(self) -> dict[str, Riders]:
        """What rides on it, by name."""
        return {name: riders for name, riders in self.face.riders.items() if self.bust or name != "shirt"}

    @cached_property
    def used(self) -> dict[str, Array]:
        """Vertices of the fine skin that each part of it has."""
        return {name: np.unique(faces) for name, faces in self.parts.items()}

    def stage(self) -> Stage:
        out = []
        for name, faces in self.parts.items():
            local = np.searchsorted(self.used[name], faces)
            value = COMPLEXION if name == "skin" else ""
            out.append(Surface(self.prefix + name, local, layer="skin", colour=COLOURS[name], value=value))
        for name, riders in self.riders.items():
            out.append(Surface(self.prefix + name, riders.faces, layer=LAYERS[name], colour=COLOURS[name]))
        return Stage(surfaces=tuple(out))

    def frame(self, now: Now) -> Frame:
        own = self.state(now) or _at_rest(self.face)
        skin = self.face.posed(own.q, own.jaw, own.lid_positions, self.poses(now)).astype(np.float32)  # as it is kept
        found = {
            self.prefix + n: SurfaceFrame(skin[used], values=self.face.complexion[used] if n == "skin" else None)
            for n, used in self.used.items()
        }
        found |= {self.prefix + n: SurfaceFrame(r.at(skin)) for n, r in self.riders.items()}
        return Frame(surfaces=found)


def _rigid(
    face: Face, state: Callable[[Now], FaceState | None], poses: Callable[[Now], Poses], prefix: str
) -> list[Layer]:
    """Hair and upper teeth on the skull, lower teeth and tongue on the jaw, eyes in their sockets."""
    skull = face.rest_poses["Sku"]
    names = tuple(f"{prefix}face {part}" for part in ("skull", "jaw", "eye_l", "eye_r"))

    def meshes() -> list[Mesh]:
        out = []
        for name, body, (v, f), kind in (
            *((shade.replace("_", " "), names[0], shape, shade) for shade, shape in face.hair.items()),
            ("upper teeth", names[0], face.teeth["upper"], "teeth"),
            ("lower teeth", names[1], face.teeth["lower"], "teeth"),
            ("upper gum", names[0], face.gums["upper"], "gums"),
            ("lower gum", names[1], face.gums["lower"], "gums"),
            ("tongue", names[1], face.tongue, "tongue"),
        ):
            layer = "hair" if kind in face.hair else "mouth"
            out.append(Mesh(prefix + name, body, v - skull[:3, 3], f, layer=layer, colour=COLOURS[kind]))
        for side, body in zip("lr", names[2:]):
            for part, (v, f) in eye_meshes(face.head.globe).items():
                out.append(Mesh(f"{prefix}{part}_{side}", body, v, f, layer="eyes", colour=COLOURS[part]))
        return out

    def places(now: Now) -> Array:
        own = state(now) or _at_rest(face)
        head = poses(now)["Sku"]
        back = np.linalg.inv(skull)
        jaw = head @ back @ jaw_pose(own.jaw) @ skull
        out = [head, jaw]
        for centre, (yaw, pitch) in zip(face.head.eyes, own.gaze):
            turn = exp_so3(np.array([0.0, 0.0, yaw])) @ exp_so3(np.array([-pitch, 0.0, 0.0]))
            out.append(head @ back @ transform(turn, centre))
        return as_poses(np.array(out))

    return [BodiesLayer(names, meshes, places)]


@dataclass(frozen=True)
class Acting:
    """What a face does at an instant."""

    units: Mapping[str, float]  # action units, 0 to 1
    gaze: Array  # yaw and pitch of the left and right eye [rad], (2, 2)
    shut: float = 0.0  # lids, by a blink, 0 to 1


class FaceSystem(Drawn):
    """A head held upright; the state is a `FaceState`. act(time): what it does."""

    honours: tuple[str, ...] = ()

    def __init__(
        self,
        face: Face,
        act: Callable[[float], Acting],
        *,
        measures: Sequence[Measure] = (),
        layers: Sequence[Layer] = (),
        cameras: Sequence[Camera] = FACE_CAMERAS,
    ) -> None:
        self.face, self.act, self.driver = face, act, FaceDriver(face)
        own = face_layers(face, state=lambda now: now.state, poses=lambda now: face.rest_poses)
        self.layers, self.measures, self.cameras, self.ground = [*own, *layers], (*MEASURES, *measures), cameras, None

    def start(self, rng: np.random.Generator) -> FaceState:
        return self.driver.start()

    def step(self, state: FaceState, controls: Controls | None, time: float, dt: float) -> None:
        honoured(controls, self.honours, "this face")
        now = self.act(time + dt)
        self.driver.step(state, now.units, dt, gaze=now.gaze, shut=now.shut)


def volume_change(face: Face, state: FaceState) -> float:
    """Of the tissue, relative to rest."""
    return face.tissue_volume(face.nodes(state.q, state.jaw)) / face.rest_volume - 1.0


MEASURES = (
    Measure(Signal("jaw", "rad", "opening of the jaw"), lambda now: now.state.jaw),
    Measure(Signal("effort", "", "mean activation of the muscles"), lambda now: float(now.state.activation.mean())),
    Measure(
        Signal("volume", "", "change of the tissue's volume"), lambda now: volume_change(now.system.face, now.state)
    ),
)
