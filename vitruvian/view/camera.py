"""Where pictures are taken from: a pinhole that looks along a line, and the line that shows a whole run.

A pixel (x, y), y down, sees the points  eye + z (right (x - cx) / f + down (y - cy) / f + forward),  z > 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.world import Frame, Stage

Array = np.ndarray

FIELD_OF_VIEW = np.deg2rad(28.0)  # across the picture's height: a short telephoto, as in portraits
MARGIN = 0.08  # part of the picture's width or height left free when the camera is found by itself
FROM = np.array([0.50, -0.80, 0.33])  # direction from a body's middle to the camera: its front, its left, above
BOB = 0.3  # [m] up and down that a camera does not follow
SHAPES = (0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 1.78, 2.4)  # width over height of pictures that bounds are measured for


@dataclass(frozen=True)
class Pinhole:
    """A camera ready for a picture of a given size."""

    eye: Array  # [m] (3,)
    axes: Array  # rows: right, down, forward; (3, 3)
    focal: float  # [pixel]
    width: int
    height: int


@dataclass(frozen=True)
class Bounds:
    """What a run sweeps over."""

    low: Array  # corner of the box [m], (3,)
    high: Array
    reach: float  # greatest radius of what is seen at one instant [m]
    outermost: Array  # the points that edges of a picture taken by `auto_view` would cut first [m], (n, 3)

    @property
    def centre(self) -> Array:
        return 0.5 * (self.low + self.high)

    @property
    def radius(self) -> float:
        """Radius of the ball around the box [m]."""
        return float(0.5 * np.linalg.norm(self.high - self.low))


@dataclass(frozen=True)
class Place:
    """Where a picture is taken from instead of a stage's camera: an eye, a target [m], and turns about the target."""

    eye: tuple[float, float, float] | None = None
    target: tuple[float, float, float] | None = None
    orbit: float = 0.0  # turns about the upright through the target, over the whole recording

    def __post_init__(self) -> None:
        for name, at in (("from", self.eye), ("look", self.target)):
            if at is not None and (len(at) != 3 or not (np.abs(np.asarray(at, dtype=float)) <= 1e6).all()):
                raise InputError(f"'{name}' wants x, y, z in metres, not {at}")
        if not abs(self.orbit) <= 1000.0:
            raise InputError(f"'orbit' wants a number of turns, not {self.orbit:g}")
        if self.eye is not None and self.eye == self.target:
            raise InputError("'from' and 'look' are the same place")

    def instead_of(self, eye: Array, target: Array) -> tuple[Array, Array]:
        """Eye and target [m], each the own one where it is given; a target alone takes the eye along."""
        own = target if self.target is None else np.array(self.target, dtype=float)
        return (eye + own - target if self.eye is None else np.array(self.eye, dtype=float)), own

    def turned(self, eye: Array, target: Array, part: float) -> tuple[Array, Array]:
        """Eye and target after `part` (0..1) of the recording."""
        angle = 2.0 * np.pi * self.orbit * part
        c, s = np.cos(angle), np.sin(angle)
        away = eye - target
        return target + np.array([c * away[0] - s * away[1], s * away[0] + c * away[1], away[2]]), target


def pinhole(eye: Array, target: Array, size: tuple[int, int]) -> Pinhole:
    """A camera at `eye` that looks at `target` [m], z up."""
    eye, target = np.asarray(eye, dtype=float), np.asarray(target, dtype=float)
    forward = target - eye
    length = np.linalg.norm(forward)
    forward = forward / length if length > 0.0 else np.array([0.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    focal = 0.5 * size[1] / np.tan(0.5 * FIELD_OF_VIEW)
    return Pinhole(eye, np.stack([right, np.cross(forward, right), forward]), float(focal), size[0], size[1])


def bounds_of(clouds: Iterable[Array]) -> Bounds:
    """The box around several clouds of points, one per instant, each of shape (n, 3)."""
    edges = np.unique(np.concatenate([_edges(shape) for shape in SHAPES]), axis=0)
    lows, highs, outermost = [], [], []
    for cloud in clouds:
        if len(cloud):
            lows.append(cloud.min(axis=0))
            highs.append(cloud.max(axis=0))
            outermost.append(cloud[(edges @ cloud.T).argmax(axis=1)])
    if not lows:
        return bounds_of([np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])])
    reach = 0.5 * float(np.linalg.norm(np.array(highs) - np.array(lows), axis=1).max())
    outside = np.unique(np.concatenate(outermost), axis=0)
    return Bounds(np.min(lows, axis=0), np.max(highs, axis=0), max(reach, 1e-3), outside)


def auto_view(bounds: Bounds, size: tuple[int, int]) -> tuple[Array, Array]:
    """Eye and target [m] from which everything is seen, as near as the picture's edges allow.

    All points p lie within the edges of a picture taken from e when n.(p - e) <= 0 for the outward normals n of the
    four planes through e and the edges. The farthest points along n(left) and n(right) tell where e must be across
    and how far back, those along n(top) and n(bottom) how high and how far back; the farther back of the two holds.
    """
    axes = _auto_axes()
    tan_x, tan_y = _tangents(size[0] / size[1])
    left, right, top, bottom = (bounds.outermost @ _edges(size[0] / size[1]).T).max(axis=0)
    back = min(-(left + right) / (2.0 * tan_x), -(top + bottom) / (2.0 * tan_y))
    eye = axes.T @ np.array([0.5 * (right - left), 0.5 * (bottom - top), back])
    ahead = float((bounds.centre - eye) @ axes[2])
    if ahead < 1e-2:  # all points are one point, or nearly
        eye, ahead = eye + (ahead - 1e-2) * axes[2], 1e-2
    return eye, eye + ahead * axes[2]


def _auto_axes() -> Array:
    """Rows right, down, forward of the camera that is found by itself, (3, 3)."""
    return pinhole(FROM, np.zeros(3), (1, 1)).axes


def _tangents(shape: float) -> tuple[float, float]:
    """Half the width and height, seen from unit distance, that may be filled of a picture of this width over height."""
    tan_y = float((1.0 - MARGIN) * np.tan(0.5 * FIELD_OF_VIEW))
    return shape * tan_y, tan_y


def _edges(shape: float) -> Array:
    """Outward normals, of unit part across, of the planes through the eye and the left, right, top and bottom edge."""
    tan_x, tan_y = _tangents(shape)
    return np.array([[-1.0, 0.0, -tan_x], [1.0, 0.0, -tan_x], [0.0, -1.0, -tan_y], [0.0, 1.0, -tan_y]]) @ _auto_axes()


def grid_spacing(reach: float) -> float:
    """Distance [m] between the ground grid's lines: 1, 2 or 5 times a power of ten, about six across what is shown."""
    rough = reach / 3.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(np.log(rough / (m * power)))))


def view_of(stage: Stage, camera: str | None, bounds: Bounds, size: tuple[int, int]) -> tuple[Array, Array, str]:
    """Eye, target [m] and body to follow ("" for none): the named camera, else the stage's first, else `auto_view`."""
    if (camera is None and not stage.cameras) or camera == "auto":
        eye, target = auto_view(bounds, size)
        return eye, target, ""
    found = {c.name: c for c in stage.cameras}
    if camera is not None and camera not in found:
        raise unknown_name("camera", camera, [*found, "auto"])
    chosen = stage.cameras[0] if camera is None else found[camera]
    return np.array(chosen.eye, dtype=float), np.array(chosen.target, dtype=float), chosen.follow


def follow_shift(stage: Stage, follow: str, first: Frame, now: Frame) -> Array:
    """How far [m] a camera goes along with a body that has moved since the first frame, (3,); nowhere without one.

    It keeps its height while the body bobs by less than `BOB`, so that horizon and waterline stand still.
    """
    if not follow or follow not in stage.bodies:
        return np.zeros(3)
    i = stage.bodies.index(follow)
    shift = np.asarray(now.poses[i][:3], dtype=float) - np.asarray(first.poses[i][:3], dtype=float)
    if not np.isfinite(shift).all():
        return np.zeros(3)
    shift[2] -= np.clip(shift[2], -BOB, BOB)
    return shift
