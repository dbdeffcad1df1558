"""Muscle bellies: a closed spindle of flesh around each muscle's path, with the direction of its fibres.

A belly has the volume PCSA × length. It is fullest in its middle and tapers into tendon at both ends. Its centreline is
the path, brought under the skin and off the bones; every cross-section is a polygon around it whose corners reach as
far as volume asks and as skin and bone allow: where depth is lacking it spreads in breadth until its area is right.
Used to say which part of the flesh contracts and which way (Lee 2008, section 5.2.3), and to be seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import cKDTree

from vitruvian.anatomy.body import Body
from vitruvian.errors import unknown_name
from vitruvian.mesh import LevelSet
from vitruvian.muscle import path_curves
from vitruvian.skeleton import bone_poses

Array = np.ndarray
RINGS, SIDES = 28, 24
TENDON = 0.10  # part of the path at each end that is mostly tendon
CORD = 0.16  # thickness of a tendon, as a part of the belly's
MARGIN = 0.003  # skin and fat over a belly [m]
GAP = 0.001  # between belly and bone [m]
THINNEST = 0.0006  # half a belly's least thickness [m]
WIDEST = 3.0  # most reach of a corner, as a part of the round radius
MARCH = 24  # steps in which the room for a corner is found


@dataclass(frozen=True)
class Belly:
    """A spindle in the default pose: polygons around a centreline."""

    name: str
    centre: Array  # [m], shape (RINGS, 3)
    tangent: Array  # unit, shape (RINGS, 3)
    normal: Array  # unit, where each polygon's angle is zero, shape (RINGS, 3)
    radius: Array  # of the corners [m], shape (RINGS, SIDES)
    wanted: float  # PCSA × length [m³]

    @property
    def volume(self) -> float:
        """[m³]; less than wanted where skin and bone leave no room."""
        step = np.linalg.norm(np.diff(self.centre, axis=0), axis=1)
        area = _area(self.radius)
        return float(np.sum(0.5 * (area[1:] + area[:-1]) * step))

    def surface(self) -> tuple[Array, Array]:
        """Closed triangles [m], outward."""
        rings = self.centre[:, None] + self.radius[..., None] * _spokes(self.tangent, self.normal)
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
        reach = float(self.radius.max())
        low, high = self.centre.min(axis=0) - reach, self.centre.max(axis=0) + reach
        near = np.flatnonzero(np.all((points > low) & (points < high), axis=1))
        if len(near):
            _, ring = cKDTree(self.centre).query(points[near])
            away = points[near] - self.centre[ring]
            side = np.cross(self.tangent[ring], self.normal[ring])
            x, y = np.sum(away * self.normal[ring], axis=1), np.sum(away * side, axis=1)
            turn = np.arctan2(y, x) / (2.0 * np.pi) * SIDES
            low_side = np.floor(turn).astype(int)
            part = turn - low_side
            edge = (1.0 - part) * self.radius[ring, low_side % SIDES] + part * self.radius[ring, (low_side + 1) % SIDES]
            step = float(np.linalg.norm(self.centre[1] - self.centre[0]))
            z = np.abs(np.sum(away * self.tangent[ring], axis=1)) / step
            covered[near] = (np.hypot(x, y) < edge) & (z <= 1.0)
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
    points, offsets = path_curves(model, bone_poses(body.skeleton, body.default_q)), model.curve_offsets
    return [
        _belly(model.names[i], points[offsets[i] : offsets[i + 1]], float(model.pcsa[i]), skin, bones) for i in chosen
    ]


def belly_overlaps(bellies: Iterable[Belly], skin: LevelSet, bones: LevelSet) -> tuple[Array, Array]:
    """How far each belly's surface reaches out of the skin and into bone [m], shape (n,) each; negative is clear."""
    out, into = [], []
    for belly in bellies:
        vertices, _ = belly.surface()
        out.append(float(skin(vertices).max()))
        into.append(float(-bones(vertices).min()))
    return np.array(out), np.array(into)


def _belly(name: str, path: Array, pcsa: float, skin: LevelSet | None, bones: LevelSet | None) -> Belly:
    centre, length = _resampled(path, RINGS)
    along = np.linspace(0.0, 1.0, RINGS)
    inner = np.clip((along - TENDON) / (1.0 - 2.0 * TENDON), 0.0, 1.0)
    profile = CORD + (1.0 - CORD) * np.sin(np.pi * inner)
    share = np.sum(0.5 * (profile[1:] ** 2 + profile[:-1] ** 2)) / (RINGS - 1)
    round_radius = profile * np.sqrt(pcsa / (np.pi * share))
    if skin is None:
        tangent = _tangents(centre)
        radius = np.repeat(round_radius[:, None], SIDES, axis=1)
        return Belly(name, centre, tangent, _carried_normal(tangent), radius, pcsa * length)
    centre = _placed(centre, round_radius, skin, bones)
    tangent = _tangents(centre)
    normal = _carried_normal(tangent)
    room = _room(centre, _spokes(tangent, normal), WIDEST * round_radius, skin, bones)
    return Belly(name, centre, tangent, normal, _filled(round_radius, room), pcsa * length)


def _placed(centre: Array, radius: Array, skin: LevelSet, bones: LevelSet | None) -> Array:
    """The centreline brought under the skin and off the bones, by as little as its cross-section asks, and smooth."""
    for _ in range(24):
        push = np.zeros_like(centre)
        deep = -skin(centre) - MARGIN - np.minimum(0.8 * radius, 0.012)
        push -= np.maximum(-deep, 0.0)[:, None] * _unit(skin.gradient(centre))
        if bones is not None:
            near = np.maximum(GAP + np.minimum(0.6 * radius, 0.010) - bones(centre), 0.0)
            near = np.minimum(near, np.maximum(deep, 0.0) + GAP)  # no further out than there is depth
            push += near[:, None] * _unit(bones.gradient(centre))
        centre = centre + 0.6 * push
        centre[1:-1] = 0.25 * centre[:-2] + 0.5 * centre[1:-1] + 0.25 * centre[2:]
    for _ in range(8):  # the last word is the constraints'
        centre = centre - np.maximum(skin(centre) + MARGIN + 2.0 * THINNEST, 0.0)[:, None] * _unit(
            skin.gradient(centre)
        )
        if bones is not None:
            centre = centre + np.maximum(GAP + THINNEST - bones(centre), 0.0)[:, None] * _unit(bones.gradient(centre))
    return centre


def _room(centre: Array, spokes: Array, most: Array, skin: LevelSet, bones: LevelSet | None) -> Array:
    """How far one can go along each spoke and stay under the skin and off bone [m], shape (RINGS, SIDES)."""
    part = np.linspace(1.0 / MARCH, 1.0, MARCH)
    reach = part[None, None, :] * most[:, None, None]  # (rings, 1, steps)
    points = centre[:, None, None] + reach[..., None] * spokes[:, :, None]
    flat = points.reshape(-1, 3)
    clear = skin(flat) < -MARGIN
    if bones is not None:
        clear &= bones(flat) > GAP
    clear = np.logical_and.accumulate(clear.reshape(points.shape[:3]), axis=2)
    return np.maximum(clear.sum(axis=2) / MARCH * most[:, None], THINNEST)


def _filled(radius: Array, room: Array) -> Array:
    """Corner radii (RINGS, SIDES) of polygons within the room whose areas are those of the round sections."""
    wanted = np.pi * radius**2
    low, high = np.zeros(len(radius)), np.full(len(radius), WIDEST)
    smooth = np.minimum(room, _smooth(np.minimum(room, np.roll(room, 1, 1))))
    for _ in range(24):
        middle = 0.5 * (low + high)
        small = _area(np.minimum(middle[:, None] * radius[:, None], smooth)) < wanted
        low, high = np.where(small, middle, low), np.where(small, high, middle)
    found = np.minimum(high[:, None] * radius[:, None], smooth)
    return np.maximum(np.minimum(_smooth(found), room), THINNEST)


def _smooth(radius: Array) -> Array:
    """Blurred around and along, so that no belly has fins."""
    around = gaussian_filter1d(radius, 1.2, axis=1, mode="wrap")
    return gaussian_filter1d(around, 1.2, axis=0, mode="nearest")


def _area(radius: Array) -> Array:
    """Of polygons with corners at equal angles [m²], shape (n,)."""
    return 0.5 * np.sin(2.0 * np.pi / SIDES) * np.sum(radius * np.roll(radius, -1, axis=1), axis=1)


def _spokes(tangent: Array, normal: Array) -> Array:
    """Unit directions of the corners, shape (RINGS, SIDES, 3)."""
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    side = np.cross(tangent, normal)
    return np.cos(angle)[None, :, None] * normal[:, None] + np.sin(angle)[None, :, None] * side[:, None]


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
    return _unit(np.gradient(points, axis=0))


def _unit(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _carried_normal(tangent: Array) -> Array:
    """A normal carried along the curve without twist."""
    out = np.empty_like(tangent)
    guess = np.eye(3)[np.argmin(np.abs(tangent[0]))]
    for k, t in enumerate(tangent):
        guess = guess - (guess @ t) * t
        guess = guess / np.linalg.norm(guess)
        out[k] = guess
    return out
