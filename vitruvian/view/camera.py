"""Where pictures are taken from: a pinhole that looks along a line, and the line that shows a whole run.

A pixel (x, y), y down, sees the points  eye + z (right (x - cx) / f + down (y - cy) / f + forward),  z > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import unknown_name
from vitruvian.world.stage import Frame, Stage

Array = np.ndarray

FIELD_OF_VIEW = np.deg2rad(28.0)  # across the picture's height: a short telephoto, as in portraits
ROOM = 1.13  # free space around what is shown when the camera is found by itself
FROM = np.array([0.50, -0.80, 0.33])  # direction from a body's middle to the camera: its front, its left, above


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

    @property
    def centre(self) -> Array:
        return 0.5 * (self.low + self.high)

    @property
    def radius(self) -> float:
        """Radius of the ball around the box [m]."""
        return float(0.5 * np.linalg.norm(self.high - self.low))


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


def bounds_of(clouds: Sequence[Array]) -> Bounds:
    """The box around several clouds of points, one per instant, each of shape (n, 3)."""
    clouds = [c for c in clouds if len(c)]
    if not clouds:
        return Bounds(np.array([-0.5, -0.5, 0.0]), np.array([0.5, 0.5, 1.0]), 0.5)
    lows, highs = np.array([c.min(axis=0) for c in clouds]), np.array([c.max(axis=0) for c in clouds])
    reach = 0.5 * float(np.linalg.norm(highs - lows, axis=1).max())
    return Bounds(lows.min(axis=0), highs.max(axis=0), max(reach, 1e-3))


def auto_view(bounds: Bounds, size: tuple[int, int]) -> tuple[Array, Array]:
    """Eye and target [m] from which the whole box is seen, as near as the picture's edges allow."""
    direction = FROM / np.linalg.norm(FROM)
    target = bounds.centre
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (bounds.high - bounds.low)
    corners = corners + bounds.low - target
    axes = pinhole(target + direction, target, size).axes
    tan_y = np.tan(0.5 * FIELD_OF_VIEW)
    tan_x = tan_y * size[0] / size[1]
    across, down, ahead = (corners @ axes.T).T
    need = np.maximum(np.abs(across) / tan_x, np.abs(down) / tan_y) * ROOM - ahead
    distance = max(float(need.max()), 1e-2)
    return target + distance * direction, target


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
    """How far [m] the followed body has moved since the first frame, (3,); none when nothing is followed."""
    if not follow or follow not in stage.bodies:
        return np.zeros(3)
    i = stage.bodies.index(follow)
    shift = np.asarray(now.poses[i][:3], dtype=float) - np.asarray(first.poses[i][:3], dtype=float)
    return shift if np.isfinite(shift).all() else np.zeros(3)
