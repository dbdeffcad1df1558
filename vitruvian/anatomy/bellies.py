"""Muscle bellies: a closed spindle of flesh around each muscle's path, with the direction of its fibres.

A belly has the volume PCSA × length. It is fullest in its middle and tapers into tendon at both ends; where bone and
skin leave it little depth it is flattened, keeping its cross-section. Used to say which part of the flesh contracts
and which way (Lee 2008, section 5.2.3), and to be seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.body import Body
from vitruvian.errors import unknown_name
from vitruvian.mesh.levelset import LevelSet
from vitruvian.muscle.paths import path_points
from vitruvian.skeleton import bone_poses

Array = np.ndarray
RINGS, SIDES = 28, 16
TENDON = 0.12  # part of the path at each end that is mostly tendon
MARGIN = 0.003  # skin and fat over a belly [m]
FLATTEST = 0.35  # least short half-axis beside bone, as a part of the round radius
WIDEST = 2.5  # most long half-axis, likewise


@dataclass(frozen=True)
class Belly:
    """An elliptic spindle in the default pose."""

    name: str
    centre: Array  # centreline [m], shape (RINGS, 3)
    tangent: Array  # unit, shape (RINGS, 3)
    deep: Array  # unit, short axis of each ellipse, shape (RINGS, 3)
    short: Array  # half-axis [m], shape (RINGS,)
    long: Array  # half-axis [m], shape (RINGS,)

    @property
    def volume(self) -> float:
        """[m³]"""
        step = np.linalg.norm(np.diff(self.centre, axis=0), axis=1)
        area = np.pi * self.short * self.long
        return float(np.sum(0.5 * (area[1:] + area[:-1]) * step))

    def surface(self) -> tuple[Array, Array]:
        """Closed triangles [m], outward."""
        angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
        wide = np.cross(self.tangent, self.deep)
        rings = (
            self.centre[:, None]
            + (self.short[:, None] * np.cos(angle))[..., None] * self.deep[:, None]
            + (self.long[:, None] * np.sin(angle))[..., None] * wide[:, None]
        )
        vertices = np.vstack([rings.reshape(-1, 3), self.centre[:1], self.centre[-1:]])
        k, side = np.meshgrid(np.arange(len(rings) - 1), np.arange(SIDES), indexing="ij")
        a, b = k * SIDES + side, k * SIDES + (side + 1) % SIDES
        c, d = a + SIDES, b + SIDES
        around = np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])
        n, first = len(rings) * SIDES, np.arange(SIDES)
        last = (len(rings) - 1) * SIDES + first
        start = np.stack([np.full(SIDES, n), np.roll(first, -1), first], axis=1)
        end = np.stack([np.full(SIDES, n + 1), last, (len(rings) - 1) * SIDES + np.roll(first, -1)], axis=1)
        return vertices, np.concatenate([around, start, end])

    def region(self, points: Array) -> tuple[Array, Array]:
        """Which points [m] (n, 3) it covers (n,), and the fibre direction there (n, 3)."""
        covered = np.zeros(len(points), bool)
        direction = np.zeros((len(points), 3))
        reach = float(max(self.long.max(), self.short.max()))
        low, high = self.centre.min(axis=0) - reach, self.centre.max(axis=0) + reach
        near = np.flatnonzero(np.all((points > low) & (points < high), axis=1))
        if len(near):
            _, ring = cKDTree(self.centre).query(points[near])
            away = points[near] - self.centre[ring]
            wide = np.cross(self.tangent[ring], self.deep[ring])
            x = np.sum(away * self.deep[ring], axis=1) / self.short[ring]
            y = np.sum(away * wide, axis=1) / self.long[ring]
            step = float(np.linalg.norm(self.centre[1] - self.centre[0]))
            z = np.abs(np.sum(away * self.tangent[ring], axis=1)) / step
            covered[near] = (x * x + y * y < 1.0) & (z <= 1.0)
            direction[near] = self.tangent[ring]
        return covered, direction


def muscle_bellies(
    body: Body, names: Iterable[str] | None = None, *, skin: LevelSet | None = None, bones: LevelSet | None = None
) -> list[Belly]:
    """Bellies of muscles named exactly or by a beginning ("biceps_brachii"); of all when names is None.

    skin, bones: signed distances in the default pose; with them bellies stay under the skin and off the bones.
    """
    model = body.muscles
    if names is None:
        chosen = list(range(model.n_muscles))
    else:
        chosen = []
        for name in names:
            found = [i for i, n in enumerate(model.names) if n == name or n.startswith(name)]
            if not found:
                raise unknown_name("muscle", name, model.names)
            chosen += [i for i in found if i not in chosen]
    points = path_points(model, bone_poses(body.skeleton, body.default_q))
    return [
        _belly(model.names[i], points[model.offsets[i] : model.offsets[i + 1]], float(model.pcsa[i]), skin, bones)
        for i in chosen
    ]


def _belly(name: str, path: Array, pcsa: float, skin: LevelSet | None, bones: LevelSet | None) -> Belly:
    centre, length = _resampled(path, RINGS)
    along = np.linspace(0.0, 1.0, RINGS)
    inner = np.clip((along - TENDON) / (1.0 - 2.0 * TENDON), 0.0, 1.0)
    profile = np.maximum(np.sin(np.pi * inner), 0.12)  # tendon is a cord an eighth as thick as the belly
    step = length / (RINGS - 1)
    area = np.pi * profile**2
    radius = profile * np.sqrt(pcsa * length / np.sum(0.5 * (area[1:] + area[:-1]) * step))
    short = radius.copy()
    deep = _any_normal(_tangents(centre))
    if skin is not None:
        loose = np.clip(6.0 * along * (1.0 - along) * 2.0, 0.0, 1.0)  # the ends are on bone
        for _ in range(16):
            outward = skin.gradient(centre)
            outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-9)
            depth = -skin(centre) - MARGIN
            room = bones(centre) if bones is not None else np.full(RINGS, np.inf)
            inwards = np.maximum(0.8 * short - depth, 0.0)
            outwards = np.where(
                inwards > 0.0, 0.0, np.minimum(np.maximum(short - room, 0.0), np.maximum(depth - short, 0.0))
            )
            centre = centre + (0.7 * loose * (outwards - inwards))[:, None] * outward
            centre[1:-1] = 0.25 * centre[:-2] + 0.5 * centre[1:-1] + 0.25 * centre[2:]
        tangent = _tangents(centre)
        outward = skin.gradient(centre)
        across = outward - np.sum(outward * tangent, axis=1, keepdims=True) * tangent
        size = np.linalg.norm(across, axis=1, keepdims=True)
        deep = np.where(size > 0.1, across / np.maximum(size, 1e-9), deep)
        deep = _smoothed_directions(deep, tangent)
        wide = np.cross(tangent, deep)
        thick, broad = (_room(skin, centre, axis, WIDEST * radius) for axis in (deep, wide))
        if bones is not None:
            thick = np.minimum(thick, np.maximum(bones(centre), FLATTEST * radius))
        # flattened where depth is lacking, and rounder again where breadth is
        short = np.minimum(radius, thick)
        long = np.minimum(radius**2 / short, broad)
        short = np.minimum(np.maximum(short, radius**2 / long), thick)
        return Belly(name, centre, tangent, deep, short, long)
    return Belly(name, centre, _tangents(centre), deep, short, radius**2 / short)


def _room(skin: LevelSet, centre: Array, axis: Array, most: Array) -> Array:
    """How far one can go both ways along an axis and stay under the skin [m], shape (n,); at least a millimetre."""
    room = np.full(len(centre), 1e-3)
    open_still = np.ones(len(centre), bool)
    for part in np.linspace(0.05, 1.0, 20):
        far = (part * most)[:, None] * axis
        open_still &= np.maximum(skin(centre + far), skin(centre - far)) < -MARGIN
        room = np.where(open_still, np.maximum(part * most, 1e-3), room)
    return room


def _resampled(path: Array, count: int) -> tuple[Array, float]:
    """Points evenly along a polyline [m], its corners rounded, and its length."""
    keep = np.r_[True, np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-6]
    path = path[keep]
    reached = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
    at = np.linspace(0.0, reached[-1], count)
    out = np.stack([np.interp(at, reached, path[:, a]) for a in range(3)], axis=1)
    for _ in range(4):
        out[1:-1] = 0.25 * out[:-2] + 0.5 * out[1:-1] + 0.25 * out[2:]
    return out, float(reached[-1])


def _tangents(points: Array) -> Array:
    t = np.gradient(points, axis=0)
    return t / np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-12)


def _any_normal(tangent: Array) -> Array:
    """A normal carried along the curve without twist."""
    out = np.empty_like(tangent)
    guess = np.eye(3)[np.argmin(np.abs(tangent[0]))]
    for k, t in enumerate(tangent):
        guess = guess - (guess @ t) * t
        guess = guess / np.linalg.norm(guess)
        out[k] = guess
    return out


def _smoothed_directions(deep: Array, tangent: Array) -> Array:
    for _ in range(6):
        deep = np.vstack([deep[:1], 0.25 * deep[:-2] + 0.5 * deep[1:-1] + 0.25 * deep[2:], deep[-1:]])
        deep = deep - np.sum(deep * tangent, axis=1, keepdims=True) * tangent
        deep = deep / np.maximum(np.linalg.norm(deep, axis=1, keepdims=True), 1e-9)
    return deep
