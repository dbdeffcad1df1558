"""What touches: rounded cones on bones, and planes, boxes, balls and rounded cones of the world.

A rounded cone is the hull of two balls: a ball if both ends coincide, a capsule if both radii are equal. Against
another it touches at one point, where

    |p(s) - q(t)| - r(s) - r(t),    s, t in [0, 1]                                        (convex in (s, t))

is least; against a plane or a box at its two ends (all that a hull of two balls needs on a plane), against a box also
at the point of its axis that lies deepest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.errors import InputError
from vitruvian.skeleton import Skeleton, bone_poses

Array = np.ndarray
PLANE, BOX, CONE = 0, 1, 2


@dataclass(frozen=True)
class RoundCone:
    """The hull of two balls, in the frame of a bone or, without one, fixed in the world [m]."""

    bone: str | None
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: tuple[float, float]

    def __post_init__(self) -> None:
        who = f"contact shape on '{self.bone}'" if self.bone else "contact shape of the world"
        a, b, r = np.asarray(self.start, float), np.asarray(self.end, float), np.asarray(self.radius, float)
        if a.shape != (3,) or b.shape != (3,) or r.shape != (2,) or not np.isfinite([*a, *b, *r]).all():
            raise InputError(f"{who}: needs two ends of three finite numbers and two radii")
        if r.min() < 0.0 or r.max() <= 0.0:
            raise InputError(f"{who}: radii must not be negative, nor both zero, got {self.radius}")


def ball(bone: str | None, centre: Sequence[float], radius: float) -> RoundCone:
    """A ball; radius and centre in metres."""
    x, y, z = (float(c) for c in centre)
    return RoundCone(bone, (x, y, z), (x, y, z), (radius, radius))


@dataclass(frozen=True)
class GroundPlane:
    """All below it is solid; by default the ground."""

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not (np.isfinite([*self.point, *self.normal]).all() and np.linalg.norm(self.normal) > 0.0):
            raise InputError(f"contact plane: needs a finite point and a normal that is not zero, got {self}")


@dataclass(frozen=True)
class SolidBox:
    """A solid box along the world's axes, turned about the vertical."""

    centre: tuple[float, float, float]  # [m]
    half: tuple[float, float, float]  # half of its edges [m]
    turn: float = 0.0  # [rad]

    def __post_init__(self) -> None:
        if not (np.isfinite([*self.centre, *self.half, self.turn]).all() and min(self.half) > 0.0):
            raise InputError(f"contact box: needs a finite centre and positive half edges, got {self}")


@dataclass(frozen=True, eq=False)
class Contacts:
    """Who may touch whom, and what the touch is like; see `couple.contact` for the law."""

    shapes: tuple[RoundCone, ...] = ()
    planes: tuple[GroundPlane, ...] = (GroundPlane(),)
    boxes: tuple[SolidBox, ...] = ()
    pairs: Array = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # shapes that meet each other, (m, 2)
    stiffness: float = 3e5  # [N/m] of a touch
    dissipation: float = 20.0  # [s/m] of Hunt and Crossley
    friction: float = 0.8
    creep: float = 1e-3  # [m/s] below which friction holds rather than slides

    def __post_init__(self) -> None:
        for name in ("stiffness", "dissipation", "friction", "creep"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise InputError(f"contacts: {name} must be finite and not negative, got {value}")
        if not self.creep > 0.0:
            raise InputError("contacts: creep must be positive")
        pairs = np.asarray(self.pairs)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and not 0 <= pairs.min() <= pairs.max() < self.n):
            raise InputError(f"contacts: pairs must name two of {self.n} shapes each, shape (m, 2), not {pairs.shape}")

    @property
    def n(self) -> int:
        """Number of shapes."""
        return len(self.shapes)


def pairs_apart(skeleton: Skeleton, shapes: Iterable[RoundCone], q: Array) -> Array:
    """Pairs of shapes (m, 2) that may touch: on different bones, not on two that share a joint, apart in the pose q.

    What overlaps in q is one piece of flesh; world shapes meet all others."""
    known = list(shapes)
    arrays = shape_arrays(skeleton, known)
    poses = bone_poses(skeleton, q)
    found = []
    p, r = np.zeros((2, 2, 3)), np.zeros((2, 2))
    for i in range(len(known)):
        for j in range(i):
            a, b = arrays.bone[i], arrays.bone[j]
            if a == b or (a >= 0 and b >= 0 and (skeleton.parent[a] == b or skeleton.parent[b] == a)):
                continue
            for k, n in enumerate((i, j)):
                place_cone(poses, arrays, n, p[k])
                r[k] = arrays.radius[n]
            s, t, _ = between(p[0], p[1])
            s, t = nearest(p[0], r[0], p[1], r[1], s, t)
            x, y = p[0, 0] + s * (p[0, 1] - p[0, 0]), p[1, 0] + t * (p[1, 1] - p[1, 0])
            gap = np.linalg.norm(x - y) - r[0, 0] - s * (r[0, 1] - r[0, 0]) - r[1, 0] - t * (r[1, 1] - r[1, 0])
            if gap > 0.0 or a < 0 or b < 0:
                found.append((j, i))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


class PairArrays(NamedTuple):
    """Pairs of shapes, those of the same two bones together; a bone's flesh lies in one ball."""

    shapes: Array  # (m, 2)
    bones: Array  # of each group, (g, 2), -1 the world
    start: Array  # of each group in `shapes`, (g + 1,)
    centre: Array  # of a bone's ball in its frame [m], (n_bones, 3)
    radius: Array  # [m], (n_bones,)


def pair_arrays(shapes: ShapeArrays, pairs: Array, n_bones: int) -> PairArrays:
    """Pairs in groups."""
    bones = shapes.bone[pairs] if len(pairs) else np.zeros((0, 2), np.int64)
    order = np.lexsort((bones[:, 1], bones[:, 0]))
    pairs, bones = np.asarray(pairs)[order], bones[order]
    change = np.flatnonzero(np.any(np.diff(bones, axis=0), axis=1)) + 1 if len(bones) else np.zeros(0, int)
    first = np.concatenate([[0], change]) if len(bones) else np.zeros(0, int)
    centre, radius = np.zeros((n_bones, 3)), np.zeros(n_bones)
    for b in np.unique(shapes.bone[shapes.bone >= 0]):
        ends, r = shapes.ends[shapes.bone == b].reshape(-1, 3), shapes.radius[shapes.bone == b].ravel()
        centre[b] = 0.5 * ((ends - r[:, None]).min(axis=0) + (ends + r[:, None]).max(axis=0))
        radius[b] = (np.linalg.norm(ends - centre[b], axis=1) + r).max()
    return PairArrays(
        np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2),
        np.ascontiguousarray(bones[first], dtype=np.int64).reshape(-1, 2),
        np.concatenate([first, [len(pairs)]]).astype(np.int64),
        centre,
        radius,
    )


class ShapeArrays(NamedTuple):
    """Shapes as kernels see them; bone -1 is the world."""

    bone: Array  # (n,)
    ends: Array  # [m] in the bone's frame, (n, 2, 3)
    radius: Array  # [m], (n, 2)
    ball_shape: Array  # balls at the ends, each once: the shape
    ball_end: Array  # and which end of it
    reach: Array  # radius of a ball about the middle that holds the shape [m], (n,)


def shape_arrays(skeleton: Skeleton, shapes: Sequence[RoundCone]) -> ShapeArrays:
    """The arrays of some shapes."""
    n = len(shapes)
    bone = np.array([-1 if c.bone is None else skeleton.index(c.bone) for c in shapes], dtype=np.int64).reshape(n)
    ends = np.array([(c.start, c.end) for c in shapes], dtype=float).reshape(n, 2, 3)
    radius = np.array([c.radius for c in shapes], dtype=float).reshape(n, 2)
    seen: set[tuple[float, ...]] = set()
    balls = []
    for i in range(n):
        for e in range(2):
            name = (float(bone[i]), *ends[i, e], radius[i, e])
            if bone[i] >= 0 and name not in seen:
                seen.add(name)
                balls.append((i, e))
    at = np.array(balls, dtype=np.int64).reshape(-1, 2)
    reach = 0.5 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) + radius.max(axis=1, initial=0.0)
    return ShapeArrays(bone, ends, radius, at[:, 0].copy(), at[:, 1].copy(), reach)


def plane_arrays(planes: Sequence[GroundPlane]) -> Array:
    """Point and unit normal of each plane, shape (n, 6)."""
    out = np.zeros((len(planes), 6))
    for row, one in zip(out, planes):
        row[:3], row[3:] = one.point, np.asarray(one.normal) / np.linalg.norm(one.normal)
    return out


def box_arrays(boxes: Sequence[SolidBox]) -> Array:
    """Centre, half edges, cosine and sine of the turn of each box, shape (n, 8)."""
    return np.array([(*b.centre, *b.half, np.cos(b.turn), np.sin(b.turn)) for b in boxes]).reshape(-1, 8)


# --- kernels -------------------------------------------------------------------------------------------------------


@nb.njit(cache=True)
def place_cone(poses, shapes, i, out):
    """Ends of shape i in the world, out (2, 3)."""
    bone = shapes.bone[i]
    for e in range(2):
        x = shapes.ends[i, e]
        for k in range(3):
            if bone < 0:
                out[e, k] = x[k]
            else:
                T = poses[bone]
                out[e, k] = T[k, 0] * x[0] + T[k, 1] * x[1] + T[k, 2] * x[2] + T[k, 3]


@nb.njit(cache=True)
def between(p, q):
    """(s, t, distance) at which two segments come closest, in closed form (Ericson 2005, 5.1.9)."""
    a, b, c, d, e = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        x, y, r = p[1, k] - p[0, k], q[1, k] - q[0, k], p[0, k] - q[0, k]
        a += x * x
        b += x * y
        c += x * r
        d += y * y
        e += y * r
    s, t = 0.0, 0.0
    if a > 1e-12 and d > 1e-12:
        whole = a * d - b * b
        s = min(1.0, max(0.0, (b * e - c * d) / whole)) if whole > 1e-12 * a * d else 0.5
        t = (b * s + e) / d
        if t < 0.0 or t > 1.0:
            t = min(1.0, max(0.0, t))
            s = min(1.0, max(0.0, (b * t - c) / a))
    elif d > 1e-12:
        t = min(1.0, max(0.0, e / d))
    elif a > 1e-12:
        s = min(1.0, max(0.0, -c / a))
    far = 0.0
    for k in range(3):
        far += (p[0, k] + s * (p[1, k] - p[0, k]) - q[0, k] - t * (q[1, k] - q[0, k])) ** 2
    return s, t, np.sqrt(far)


@nb.njit(cache=True)
def nearest(p, rp, q, rq, s, t):
    """(s, t) at which two rounded cones come closest, from a guess: exact in each in turn; the function is convex."""
    for _ in range(20):
        t = _along(q, rq, p, s)
        before = s
        s = _along(p, rp, q, t)
        if abs(s - before) < 1e-5:
            break
    return s, t


@nb.njit(cache=True)
def _along(q, rq, p, s):
    """t in [0, 1] of the cone q that comes closest to the point p(s)."""
    length2, ahead, far2 = 0.0, 0.0, 0.0
    for k in range(3):
        d = q[1, k] - q[0, k]
        x = p[0, k] + s * (p[1, k] - p[0, k]) - q[0, k]
        length2 += d * d
        ahead += d * x
        far2 += x * x
    if length2 < 1e-12:
        return 0.0
    length = np.sqrt(length2)
    slope = (rq[1] - rq[0]) / length
    if slope >= 1.0:
        return 1.0
    if slope <= -1.0:
        return 0.0
    across = np.sqrt(max(0.0, far2 - ahead * ahead / length2))
    t = ahead / length2 + across * slope / (length * np.sqrt(1.0 - slope * slope))
    return min(1.0, max(0.0, t))


@nb.njit(cache=True)
def box_distance(box, x, normal):
    """Signed distance of a point to a box [m]; fills its outward normal (3,)."""
    c, s = box[6], box[7]
    dx, dy = x[0] - box[0], x[1] - box[1]
    y0, y1, y2 = c * dx + s * dy, -s * dx + c * dy, x[2] - box[2]
    e0, e1, e2 = abs(y0) - box[3], abs(y1) - box[4], abs(y2) - box[5]
    o0, o1, o2 = max(e0, 0.0), max(e1, 0.0), max(e2, 0.0)
    outside = np.sqrt(o0 * o0 + o1 * o1 + o2 * o2)
    if outside > 0.0:
        n0, n1, n2 = np.sign(y0) * o0 / outside, np.sign(y1) * o1 / outside, np.sign(y2) * o2 / outside
        gap = outside
    else:
        gap = max(e0, max(e1, e2))
        n0 = np.sign(y0) if e0 == gap else 0.0
        n1 = np.sign(y1) if e1 == gap and n0 == 0.0 else 0.0
        n2 = np.sign(y2) if n0 == 0.0 and n1 == 0.0 else 0.0
    normal[0], normal[1], normal[2] = c * n0 - s * n1, s * n0 + c * n1, n2
    return gap
