"""A character as it is drawn up: round parts that melt together, bones, and what they are made of.

Parts are ellipsoids; their signed distance is taken to first order, |p| (|p| - 1) / |∇|p|²/2| with p in units of the
semi-axes. They melt by a polynomial smooth minimum of width k (Quilez), and the soles are cut flat at z = 0: round feet
are rockers on which nothing can stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

Array = np.ndarray
Colour = tuple[float, float, float]
Point = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """An ellipsoid: centre and semi-axes [m], the third of them along `axis`."""

    centre: Point
    radii: Point
    colour: str
    axis: Point = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Bone:
    """A bone as it lies in the mesh: joint and far end [m], its turn away from the zero pose, gains of its servo.

    In the zero pose a character stands upright with legs together and arms hanging, which is the zero of captured
    clips; `bind` is the rotation vector [rad], in world axes, that takes the bone's frame from there to the mesh."""

    name: str
    parent: str | None
    joint: str  # "free", "ball" or "hinge"
    at: Point
    tip: Point
    bind: Point = (0.0, 0.0, 0.0)
    axis: Point = (
        -1.0,
        0.0,
        0.0,
    )  # of a hinge, in the bone's frame: knees bend with negative, elbows with positive angles
    stiffness: float = 0.0  # kp [N m/rad]
    damping: float = 0.0  # kd [N m s/rad]


@dataclass(frozen=True)
class Design:
    """All that a character is made from."""

    name: str
    parts: Sequence[Part]
    features: Sequence[Part]  # eyes, noses: bodies that ride in the skin and touch nothing
    bones: Sequence[Bone]
    colours: dict[str, Colour]
    mass: float  # [kg]
    young: float  # [Pa]
    poisson: float = 0.4
    melt: float = 0.018  # k [m]
    nodes: int = 1100
    vertices: int = 6000
    feet: Sequence[str] = field(default=("foot_l", "foot_r"))

    def distance(self, points: Array) -> Array:
        """Signed distance [m] at points (n, 3), negative inside; exact to first order near the surface."""
        total = np.full(len(points), 1.0)
        for part in self.parts:
            total = _smooth_minimum(total, part_distance(part, points), self.melt)
        return np.maximum(total, -np.asarray(points)[:, 2])

    def bounds(self) -> tuple[Array, Array]:
        """Corners of a box around all parts [m]."""
        centre = np.array([p.centre for p in self.parts])
        reach = np.array([max(p.radii) for p in self.parts])[:, None] + self.melt
        low, high = (centre - reach).min(axis=0), (centre + reach).max(axis=0)
        return np.array([low[0], low[1], 0.0]), high


def part_distance(part: Part, points: Array) -> Array:
    """Signed distance [m] of one ellipsoid, shape (n,)."""
    turn = Rotation.align_vectors([part.axis], [[0.0, 0.0, 1.0]])[0].as_matrix()
    own = (np.asarray(points) - part.centre) @ turn
    radii = np.asarray(part.radii)
    size = np.linalg.norm(own / radii, axis=1)
    slope = np.linalg.norm(own / radii**2, axis=1)
    return np.where(slope > 1e-9, size * (size - 1.0) / np.maximum(slope, 1e-9), -radii.min())


def _smooth_minimum(a: Array, b: Array, k: float) -> Array:
    h = np.maximum(k - np.abs(a - b), 0.0) / k
    return np.minimum(a, b) - 0.25 * k * h * h


def rings(start: Point, end: Point, radii: Sequence[float], colour: str, *, thick: float = 0.75) -> list[Part]:
    """A row of flattened balls from start to end; thick: half their height in units of their distance."""
    a, b = np.asarray(start), np.asarray(end)
    along = (b - a) / np.linalg.norm(b - a)
    gap = float(np.linalg.norm(b - a)) / max(len(radii) - 1, 1)
    return [
        Part(tuple(a + along * gap * k), (r, r, min(thick * gap, r)), colour, tuple(along)) for k, r in enumerate(radii)
    ]


def tube(start: Point, end: Point, r0: float, r1: float, colour: str, count: int = 6) -> list[Part]:
    """A smooth limb: balls from start to end whose radius goes from r0 to r1 [m]."""
    a, b = np.asarray(start), np.asarray(end)
    return [Part(tuple(a + (b - a) * t), (r0 + (r1 - r0) * t,) * 3, colour) for t in np.linspace(0.0, 1.0, count)]
