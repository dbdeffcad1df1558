"""Closed plane curves: resampling, smoothing, frames along them, and triangles inside them.

A loop is an array of points, shape (n, 2), without a repeated last point. Corners are rounded by a blur: the loop,
parameterised by arc length, is convolved with a Gaussian, which leaves straight runs straight and everything smooth.
"""

from __future__ import annotations

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray


def signed_area(loop: Array) -> float:
    """Area [m²] inside the loop; positive when it runs counter-clockwise."""
    x, y = np.asarray(loop, float).T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def resampled(loop: Array, count: int, start: float = 0.0) -> Array:
    """`count` points at even arc length along a closed loop in any dimension, the first at arc length `start` [m]."""
    loop = np.asarray(loop, float)
    closed = np.vstack([loop, loop[:1]])
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = (start + arc[-1] * np.arange(count) / count) % arc[-1]
    return np.column_stack([np.interp(at, arc, closed[:, k]) for k in range(loop.shape[1])])


def rounded(corners: Array, blur: float, count: int = 240) -> Array:
    """A polygon whose corners are rounded by a Gaussian of width `blur` [m] along its length, shape (count, 2).

    The blur is taken in four lighter passes with a fresh arc length for each: one pass leaves acute corners sharper."""
    fine = resampled(corners, 8 * count)
    for _ in range(4):
        wave = 2.0 * np.pi * np.fft.rfftfreq(len(fine), d=perimeter(fine) / len(fine))
        kernel = np.exp(-0.5 * (wave * 0.5 * blur) ** 2)[:, None]
        fine = resampled(np.fft.irfft(np.fft.rfft(fine, axis=0) * kernel, n=len(fine), axis=0), len(fine))
    return resampled(fine, count)


def perimeter(loop: Array) -> float:
    """Length [m] of a closed loop."""
    return float(np.sum(np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1)))


def tangents(loop: Array) -> Array:
    """Unit tangents along a closed loop of evenly spaced points, by central differences; shape of `loop`."""
    step = np.roll(loop, -1, axis=0) - np.roll(loop, 1, axis=0)
    return step / np.linalg.norm(step, axis=1, keepdims=True)


def area_properties(loop: Array, holes: tuple[Array, ...] = ()) -> tuple[float, Array, Array]:
    """Area [m²], centroid [m] (2,) and second moments [m⁴] (2, 2) about the centroid, ∫ r rᵀ dA (Green's theorem)."""
    area, first, second = 0.0, np.zeros(2), np.zeros((2, 2))
    for k, ring in enumerate((loop, *holes)):
        sign = (1.0 if k == 0 else -1.0) * np.sign(signed_area(ring))
        a, b = np.asarray(ring, float), np.roll(ring, -1, axis=0)
        cross = sign * (a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1])
        area += 0.5 * np.sum(cross)
        first += np.sum(cross[:, None] * (a + b), axis=0) / 6.0
        outer = 2.0 * (_outer(a, a) + _outer(b, b)) + _outer(a, b) + _outer(b, a)
        second += np.sum(cross[:, None, None] * outer, axis=0) / 24.0
    centroid = first / area
    return float(area), centroid, second - area * np.outer(centroid, centroid)


def triangulate(loop: Array, holes: tuple[Array, ...] = ()) -> Array:
    """Counter-clockwise triangles that fill a counter-clockwise `loop` less clockwise `holes`, by ear clipping.

    Indices count through the loop and then the holes in order; every boundary edge is an edge of exactly one triangle.
    """
    points = np.vstack([loop, *holes]) if holes else np.asarray(loop, float)
    ring = list(range(len(loop)))
    start = len(loop)
    for hole in sorted(_spans(start, holes), key=lambda span: -np.max(points[span[0] : span[1], 0])):
        ring = _bridged(points, ring, list(range(*hole)))
    return _clip_ears(points, ring)


def _outer(a: Array, b: Array) -> Array:
    return a[:, :, None] * b[:, None, :]


def _spans(start: int, holes: tuple[Array, ...]) -> list[tuple[int, int]]:
    spans = []
    for hole in holes:
        spans.append((start, start + len(hole)))
        start += len(hole)
    return spans


def _bridged(points: Array, ring: list[int], hole: list[int]) -> list[int]:
    """The ring with the hole joined to it by a double edge from the hole's rightmost point to one that it can see."""
    turn = int(np.argmax(points[hole, 0]))
    hole = hole[turn:] + hole[:turn]
    here = points[hole[0]]
    corners = points[ring]
    for k in np.argsort(np.linalg.norm(corners - here, axis=1)):
        there = corners[k]
        if there[0] >= here[0] and not _crosses(here, there, corners):
            return ring[: k + 1] + hole + [hole[0]] + ring[k:]
    raise InputError("triangulate: a hole lies outside the outline")


def _crosses(a: Array, b: Array, ring: Array) -> bool:
    """Whether the open segment a–b properly crosses an edge of the ring."""
    c, d = ring, np.roll(ring, -1, axis=0)
    one = _side(a, b, c) * _side(a, b, d)
    two = _side(c, d, a) * _side(c, d, b)
    return bool(np.any((one < 0.0) & (two < 0.0)))


def _side(a: Array, b: Array, p: Array) -> Array:
    return (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (p[..., 0] - a[..., 0])


def _clip_ears(points: Array, ring: list[int]) -> Array:
    ring = list(ring)
    triangles = []
    while len(ring) > 3:
        # The fattest ear first: slivers would show in shading.
        corner = points[ring]
        before, after = np.roll(corner, 1, axis=0), np.roll(corner, -1, axis=0)
        area = _side(before, corner, after)
        size = np.sum((after - before) ** 2, axis=1) + np.sum((corner - before) ** 2, axis=1)
        size += np.sum((after - corner) ** 2, axis=1)
        for k in np.argsort(-area / size):
            # Points of a straight run make flat ears; they come last, and must go too.
            if area[k] > -1e-12 * size[k] and not _contains_any(before[k], corner[k], after[k], corner):
                triangles.append((ring[k - 1], ring[k], ring[(k + 1) % len(ring)]))
                del ring[k]
                break
        else:
            raise InputError("triangulate: the outline crosses itself")
    triangles.append((ring[0], ring[1], ring[2]))
    return np.array(triangles)


def _contains_any(a: Array, b: Array, c: Array, points: Array) -> bool:
    """Whether any of the points lies inside the triangle, its own corners (and their doubles) apart."""
    edge = 1e-12 * (np.sum((b - a) ** 2) + np.sum((c - b) ** 2))
    inside = (_side(a, b, points) > edge) & (_side(b, c, points) > edge) & (_side(c, a, points) > edge)
    own = np.zeros(len(points), bool)
    for corner in (a, b, c):
        own |= np.all(points == corner, axis=1)
    return bool(np.any(inside & ~own))
