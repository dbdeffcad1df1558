"""How deep a closed surface lies in itself: an arm in the trunk, thigh in thigh, the walls of a fold.

Rays along z count signed crossings on a grid; where the winding number is two or more, two parts fill the same place.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt, label

Array = np.ndarray


def overlap_parts(vertices: Array, faces: Array, spacing: float = 0.004) -> list[tuple[Array, float, float]]:
    """Each separate place that is filled twice: (middle [m], volume [m³], thickness [m]), the largest first."""
    twice = winding_numbers(vertices, faces, spacing) >= 2
    parts, count = label(twice)
    low = np.asarray(vertices, float).min(axis=0) - spacing
    out = []
    for k in range(1, count + 1):
        at = np.argwhere(parts == k)
        depth = distance_transform_edt(np.pad(parts[tuple(slice(a, b + 1) for a, b in _box(at))] == k, 1))
        thickness = float((2.0 * depth.max() - 1.0) * spacing)
        out.append((low + spacing * at.mean(axis=0), len(at) * spacing**3, thickness))
    return sorted(out, key=lambda part: -part[1])


def winding_numbers(vertices: Array, faces: Array, spacing: float) -> Array:
    """Winding number on grid nodes around the surface, x, y, z from its lowest corner less one spacing, int16."""
    vertices = np.asarray(vertices, float)
    low = vertices.min(axis=0) - spacing
    shape = np.ceil((vertices.max(axis=0) - low) / spacing).astype(int) + 2
    corners = (vertices[faces] - low) / spacing - [1.2345e-7, 2.3456e-7, 0.0]  # off the grid: no ray along an edge
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    first = np.ceil(corners[:, :, :2].min(axis=1)).astype(int)
    last = np.floor(corners[:, :, :2].max(axis=1)).astype(int)
    width = np.maximum(last - first + 1, 0)
    steps = np.zeros(shape, np.int16)
    for i in range(int(width[:, 0].max(initial=0))):
        for j in range(int(width[:, 1].max(initial=0))):
            f = np.flatnonzero((width[:, 0] > i) & (width[:, 1] > j) & (area != 0.0))
            x, y = first[f, 0] + i, first[f, 1] + j
            s = ((x - a[f, 0]) * (c[f, 1] - a[f, 1]) - (y - a[f, 1]) * (c[f, 0] - a[f, 0])) / area[f]
            r = ((b[f, 0] - a[f, 0]) * (y - a[f, 1]) - (b[f, 1] - a[f, 1]) * (x - a[f, 0])) / area[f]
            hit = (s >= 0.0) & (r >= 0.0) & (s + r <= 1.0)
            f, x, y = f[hit], x[hit], y[hit]
            z = a[f, 2] + s[hit] * (b[f, 2] - a[f, 2]) + r[hit] * (c[f, 2] - a[f, 2])
            # upward through a face that looks down: in
            np.add.at(steps, (x, y, np.ceil(z).astype(int)), np.where(area[f] < 0.0, 1, -1).astype(np.int16))
    return np.cumsum(steps, axis=2, dtype=np.int16)


def _box(at: Array) -> Array:
    return np.stack([at.min(axis=0), at.max(axis=0)], axis=1)
