"""Polylines as closed tubes, such as muscles: rings of vertices swept along many lines at once.

A ring stands at each of `rings` places, evenly spaced in arc length, and keeps its orientation from ring to ring by
parallel transport (the part of it across the new tangent), so tubes do not twist. Muscles taper: their radius follows
`spindle_profile`, thin at the tendons and full at the belly. Only points change from frame to frame, so triangles are
made once. A single curve, or one that closes on itself, is `mesh.shapes.tube`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

Array = np.ndarray

TENDON = 0.32  # radius at a muscle's ends, as a part of the belly's
CAP = 0.4  # how far the middle of an end stands out, as a part of the radius there


class Tubes:
    """Tubes along the polylines points[offsets[i]:offsets[i + 1]], all with the same number of rings and sides."""

    def __init__(self, offsets: Array, radius: Array, *, rings: int, sides: int, tapered: bool) -> None:
        """offsets (lines + 1,), radius [m] (lines,); `tapered` for muscles, else the radius is the same all along."""
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.radius = np.ascontiguousarray(radius, dtype=np.float64)
        self.profile = spindle_profile(rings) if tapered else np.ones(rings)
        self.sides = sides
        self.per_line = rings * sides + 2  # vertices of one tube: its rings, then the middles of its ends
        self.faces = _faces(len(self.radius), rings, sides)  # outwards, (m, 3) int32

    def at(self, points: Array) -> tuple[Array, Array]:
        """Vertices [m] and unit normals, each of shape (lines * per_line, 3), for `points` [m], shape (n, 3)."""
        vertices = np.empty((len(self.radius) * self.per_line, 3))
        normals = np.empty_like(vertices)
        points = np.ascontiguousarray(points, dtype=np.float64)
        _sweep(points, self.offsets, self.radius, self.profile, self.sides, vertices, normals)
        return vertices, normals


def spindle_profile(rings: int) -> Array:
    """Radius along a muscle as a part of the belly's radius, shape (rings,)."""
    place = np.linspace(0.0, 1.0, rings)
    belly = np.sin(np.pi * np.clip((place - 0.08) / 0.84, 0.0, 1.0)) ** 1.3
    return TENDON + (1.0 - TENDON) * belly


def _faces(n_lines: int, rings: int, sides: int) -> Array:
    ring, side = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a = (ring * sides + side).ravel()
    b = (ring * sides + (side + 1) % sides).ravel()
    wall = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    first, last = rings * sides, rings * sides + 1
    around = np.arange(sides)
    start = np.stack([np.full(sides, first), (around + 1) % sides, around], 1)
    tail = (rings - 1) * sides
    end = np.stack([np.full(sides, last), tail + around, tail + (around + 1) % sides], 1)
    one = np.concatenate([wall, start, end])
    count = rings * sides + 2
    return (one[None] + (np.arange(n_lines) * count)[:, None, None]).reshape(-1, 3).astype(np.int32)


@njit(cache=True, nogil=True)
def _sweep(points, offsets, radius, profile, sides, vertices, normals):
    """Fill `vertices` and unit `normals`, shape (n_lines * (rings * sides + 2), 3)."""
    rings = profile.shape[0]
    per_line = rings * sides + 2
    centre = np.empty((rings, 3))
    tangent = np.empty((rings, 3))
    for line in range(offsets.shape[0] - 1):
        first, last = offsets[line], offsets[line + 1]
        base = line * per_line
        _resample(points, first, last, centre)
        for r in range(rings):
            before, after = max(r - 1, 0), min(r + 1, rings - 1)
            length = 0.0
            for k in range(3):
                tangent[r, k] = centre[after, k] - centre[before, k]
                length += tangent[r, k] ** 2
            length = np.sqrt(length)
            for k in range(3):
                tangent[r, k] = tangent[r, k] / length if length > 0.0 else (1.0 if k == 2 else 0.0)
        # Any vector across the first tangent starts the frame.
        u = np.zeros(3)
        thin = 0
        for k in range(1, 3):
            if abs(tangent[0, k]) < abs(tangent[0, thin]):
                thin = k
        u[thin] = 1.0
        v = np.empty(3)
        for r in range(rings):
            along = u[0] * tangent[r, 0] + u[1] * tangent[r, 1] + u[2] * tangent[r, 2]
            length = 0.0
            for k in range(3):
                u[k] -= along * tangent[r, k]
                length += u[k] ** 2
            length = np.sqrt(length)
            if length < 1e-9:
                for k in range(3):
                    u[k] = tangent[r, (k + 1) % 3]
                length = 1.0
            for k in range(3):
                u[k] /= length
            v[0] = tangent[r, 1] * u[2] - tangent[r, 2] * u[1]
            v[1] = tangent[r, 2] * u[0] - tangent[r, 0] * u[2]
            v[2] = tangent[r, 0] * u[1] - tangent[r, 1] * u[0]
            here = radius[line] * profile[r]
            for s in range(sides):
                c, d = np.cos(2.0 * np.pi * s / sides), np.sin(2.0 * np.pi * s / sides)
                at = base + r * sides + s
                for k in range(3):
                    n = c * u[k] + d * v[k]
                    normals[at, k] = n
                    vertices[at, k] = centre[r, k] + here * n
        for k in range(3):
            vertices[base + rings * sides, k] = centre[0, k] - CAP * radius[line] * profile[0] * tangent[0, k]
            normals[base + rings * sides, k] = -tangent[0, k]
            vertices[base + rings * sides + 1, k] = (
                centre[rings - 1, k] + CAP * radius[line] * profile[rings - 1] * tangent[rings - 1, k]
            )
            normals[base + rings * sides + 1, k] = tangent[rings - 1, k]


@njit(cache=True, nogil=True)
def _resample(points, first, last, centre):
    """Places evenly spaced in arc length along the polyline points[first:last]."""
    rings = centre.shape[0]
    if last <= first:
        centre[:] = np.nan
        return
    total = 0.0
    for i in range(first, last - 1):
        total += _distance(points, i)
    i, done = first, 0.0
    for r in range(rings):
        want = total * r / (rings - 1)
        while i < last - 2 and done + _distance(points, i) < want:
            done += _distance(points, i)
            i += 1
        step = _distance(points, i) if i + 1 < last else 0.0
        part = min((want - done) / step, 1.0) if step > 0.0 else 0.0
        for k in range(3):
            ahead = points[i + 1, k] if i + 1 < last else points[i, k]
            centre[r, k] = points[i, k] + part * (ahead - points[i, k])


@njit(cache=True, nogil=True)
def _distance(points, i):
    dx = points[i + 1, 0] - points[i, 0]
    dy = points[i + 1, 1] - points[i, 1]
    dz = points[i + 1, 2] - points[i, 2]
    return np.sqrt(dx * dx + dy * dy + dz * dz)
