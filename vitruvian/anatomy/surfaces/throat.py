"""Hyoid bone and thyroid cartilage, built about their muscle attachments; no template has them.

The hyoid is a horseshoe with two lesser horns; the thyroid cartilage two plates that meet in front at a right angle
(Standring, Gray's Anatomy, 41st ed., ch. 35), with a notch above and horns behind. World frame of the default pose [m].
"""

# ruff: noqa: RUF005 -- here `array + [x, y, z]` adds vectors
from __future__ import annotations

import numpy as np

from vitruvian.anatomy.surfaces.landmarks import Landmarks
from vitruvian.anatomy.surfaces.shaping import Shape, joined, mirrored, swept
from vitruvian.anatomy.surfaces.thorax import _constant, _curve

Array = np.ndarray


def hyoid(marks: Landmarks) -> Shape:
    """The hyoid bone."""
    front = marks.named("Hyo", "geniohyoid", "mylohyoid", "sternohyoid").mean(axis=0)
    side = marks.named("Hyo", "thyrohyoid", "omohyoid").mean(axis=0)
    horn = [side + [0.006, 0.014, 0.002], side + [0.009, 0.030, 0.006]]
    left = [front + [-0.005, -0.001, 0.0], side, *horn]
    nodes = (
        [p * [-1.0, 1.0, 1.0] for p in reversed(left[1:])] + [front * [0.0, 1.0, 1.0] + [0.0, -0.001, 0.0]] + left[1:]
    )
    path = _curve(nodes, 60)
    share = np.abs(np.linspace(-1.0, 1.0, 60))
    height = np.interp(share, [0.0, 0.3, 0.45, 0.9, 1.0], [0.0105, 0.0095, 0.0062, 0.0048, 0.0058])
    thick = np.interp(share, [0.0, 0.3, 0.45, 1.0], [0.0055, 0.0050, 0.0040, 0.0040])
    arch = swept(path, _constant([0.0, -0.25, 1.0], 60), height, thick)
    top = marks.named("Hyo", "stylohyoid")[0]
    spike = _curve([side + [0.0, 0.0, 0.001], 0.5 * (side + top), top + [0.0005, 0.002, 0.002]], 10)
    small = swept(
        spike, _constant([1.0, 0.0, 0.0], 10), np.linspace(0.005, 0.0025, 10), np.linspace(0.004, 0.002, 10), sides=10
    )
    return joined([arch, small, mirrored(small)])


def thyroid(marks: Landmarks) -> Shape:
    """The thyroid cartilage."""
    on_plate = marks.attachments["Thy"].mean(axis=0)
    low, high, wall = on_plate[2] - 0.019, on_plate[2] + 0.014, 0.0028
    front = on_plate[1] - 1.08 * on_plate[0]
    across = np.linspace(-1.0, 1.0, 45)
    x = 0.0240 * across * (1.0 - 0.12 * across**2)
    y = front + 1.08 * (np.sqrt((0.0240 * across) ** 2 + 0.0015**2) - 0.0015) + 0.010 * across**4
    notch = np.exp(-((across / 0.18) ** 2))
    upper = high - 0.011 * notch + 0.003 * np.abs(across)
    lower = low + 0.002 * notch - 0.002 * np.abs(across)
    lean = np.linspace(0.003, -0.003, 17)  # the prominence juts out above
    share = np.linspace(0.0, 1.0, 17)
    outer = np.empty((17, 45, 3))
    outer[..., 0] = x * (0.86 + 0.14 * share[:, None])
    outer[..., 1] = y + lean[:, None] * (0.4 + 0.6 * notch)
    outer[..., 2] = lower + share[:, None] * (upper - lower)
    inward = np.stack([-np.gradient(y), np.gradient(x)], axis=1)
    inward /= np.linalg.norm(inward, axis=1, keepdims=True)
    inner = outer.copy()
    inner[..., :2] += wall * inward
    plate = _slab(outer, inner)
    horns = []
    edge = outer[:, -1]
    for start, way, length in ((edge[-2], 1.0, 0.017), (edge[1], -1.0, 0.010)):
        nodes = [
            start - [0.001, 0.001, way * 0.004],
            start + [-0.001, 0.001, way * 0.4 * length],
            start + [-0.002, 0.003, way * length],
        ]
        path = _curve(nodes, 12)
        size = np.linspace(0.0048, 0.0032, 12)
        horns.append(swept(path, _constant([0.0, 1.0, 0.0], 12), size, 0.8 * size, sides=10))
    left = joined(horns)
    return joined([plate, left, mirrored(left)])


def _slab(outer: Array, inner: Array) -> Shape:
    """A closed plate between two grids of points, shape (rows, columns, 3)."""
    rows, columns = outer.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1].ravel(), index[:-1, 1:].ravel(), index[1:, 1:].ravel(), index[1:, :-1].ravel()
    face = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    rim = np.concatenate([index[0], index[1:, -1], index[-1, -2::-1], index[-2:0:-1, 0]])
    after, shift = np.roll(rim, -1), rows * columns
    side = np.concatenate([np.stack([rim, rim + shift, after + shift], 1), np.stack([rim, after + shift, after], 1)])
    return np.concatenate([outer.reshape(-1, 3), inner.reshape(-1, 3)]), np.concatenate(
        [face, face[:, ::-1] + shift, side]
    )
