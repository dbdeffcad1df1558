"""What can be seen and plotted of a simulation, apart from how it is computed.

A `Stage` is declared once per run: bodies that carry rigid meshes, surfaces and lines that move on their own,
points, signals with units, cameras. A `Frame` is what changes: it is filled once per recorded frame. Recording, viewer
and exporters know only these two, so that a recording can be shown without the scene's code.

Units are SI; a pose is (x, y, z, qw, qx, qy, qz): position [m] and unit quaternion, body to world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray
Colour = tuple[float, float, float]

IVORY: Colour = (0.89, 0.85, 0.76)  # what has no colour of its own: meshes,
SAND: Colour = (0.86, 0.66, 0.55)  # surfaces,
BRICK: Colour = (0.70, 0.20, 0.17)  # lines


@dataclass(frozen=True)
class Mesh:
    """A rigid triangle mesh that rides on a body."""

    name: str
    body: str  # name of the body it rides on; "" stands still in the world
    vertices: Array  # [m] in the body's frame, shape (n, 3)
    faces: Array  # vertex indices, shape (m, 3)
    layer: str = "bodies"
    colour: Colour = IVORY
    opacity: float = 1.0


@dataclass(frozen=True)
class Surface:
    """A triangle surface whose vertices move; with `faces` None its triangles change too (water)."""

    name: str
    faces: Array | None  # shape (m, 3), or None when each frame brings its own
    layer: str = "surfaces"
    colour: Colour = SAND
    opacity: float = 1.0
    value: str = ""  # what the per-vertex values mean, "" if there are none
    unit: str = ""
    value_range: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Lines:
    """Polylines drawn as tubes, coloured by one value per line."""

    name: str
    offsets: Array  # line i has points offsets[i]:offsets[i+1]; shape (n_lines + 1,)
    radius: Array  # tube radius [m], shape (n_lines,)
    names: tuple[str, ...] = ()  # one name per line, or none
    layer: str = "lines"
    colour: Colour = BRICK
    opacity: float = 1.0
    value: str = ""  # what the per-line values mean (activation, tension), "" if there are none
    unit: str = ""
    value_range: tuple[float, float] = (0.0, 1.0)
    pulls: bool = False  # whether each frame tells with what force every line pulls


@dataclass(frozen=True)
class Points:
    """A cloud of points whose number may change, such as spray."""

    name: str
    radius: float  # [m]
    layer: str = "spray"
    colour: Colour = (0.9, 0.95, 1.0)


@dataclass(frozen=True)
class Signal:
    """A quantity over time. With `components` it is a vector; else a number."""

    name: str
    unit: str
    title: str = ""  # a few words for the plot, defaults to the name
    components: tuple[str, ...] = ()


@dataclass(frozen=True)
class Joint:
    """What a body hangs on; how far the joint has turned is read off the poses."""

    body: str
    parent: str  # the body that it turns on; "" is the world
    rest: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # body to parent when nothing is turned, w x y z
    words: str = ""  # the body's name in words: "humerus, left"


@dataclass(frozen=True)
class Camera:
    """A view: eye and target [m] in the world frame, z up. `follow` names a body that both move along with."""

    name: str
    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    follow: str = ""


@dataclass(frozen=True)
class Stage:
    """Everything that never changes about what a run shows."""

    bodies: tuple[str, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    lines: tuple[Lines, ...] = ()
    points: tuple[Points, ...] = ()
    signals: tuple[Signal, ...] = ()
    cameras: tuple[Camera, ...] = ()
    ground: float | None = 0.0  # height [m] at which a ground plane is drawn, None for none
    joints: tuple[Joint, ...] = ()  # of those bodies that have one


@dataclass
class SurfaceFrame:
    """One frame of a `Surface`: vertices [m] (n, 3), faces (m, 3) if they change, values (n,) if declared."""

    vertices: Array
    faces: Array | None = None
    values: Array | None = None


@dataclass
class LinesFrame:
    """One frame of `Lines`: points [m], shape (offsets[-1], 3); values and force, shape (n_lines,), if declared."""

    points: Array
    values: Array | None = None
    force: Array | None = None  # [N]


@dataclass
class Frame:
    """What a run shows at one instant."""

    poses: Array = field(default_factory=lambda: np.zeros((0, 7)))  # shape (n_bodies, 7)
    signals: Mapping[str, float | Array] = field(default_factory=dict)
    surfaces: Mapping[str, SurfaceFrame] = field(default_factory=dict)
    lines: Mapping[str, LinesFrame] = field(default_factory=dict)
    points: Mapping[str, Array] = field(default_factory=dict)  # [m], shape (any, 3)
