"""What calm water does to what is seen through it: where things appear to be, and their mirror image from below.

A ray from the eye at the height h over the surface to a point at the depth d below it, a horizontal distance D away,
crosses the surface at the distance x where Snell's law holds,

    n1 x / sqrt(x² + h²) = n2 (D − x) / sqrt((D − x)² + d²),

and the point appears in the direction of the crossing. It is put there as far away as the ray is long, so that what
is behind stays behind and light fades as over the true way. From below, directions farther than 48.6° from the
vertical see no air: the surface mirrors there. Waves are not in this.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
INDEX = 1.33  # of refraction
STEPS = 6  # of Newton's method, from the straight line; x is then right to 1e-6 of D


def apparent(points: Array, eye: Array, level: float) -> Array:
    """Where points [m] (n, 3) appear from `eye` [m]; those on the eye's side of the surface are as they are."""
    h = float(eye[2] - level)
    below = h > 0.0  # what is below is seen bent
    far = (points[:, 2] < level) if below else (points[:, 2] > level)
    if not far.any() or h == 0.0:
        return points
    p = points[far]
    here, there = (1.0, INDEX) if below else (INDEX, 1.0)
    h, d = abs(h), np.abs(p[:, 2] - level)
    away = p[:, :2] - eye[:2]
    distance = np.maximum(np.hypot(away[:, 0], away[:, 1]), 1e-12)
    x = distance * h / (h + d)
    low, high = np.zeros_like(x), distance.copy()
    for _ in range(STEPS):
        rest = distance - x
        one, two = np.sqrt(x * x + h * h), np.sqrt(rest * rest + d * d) + 1e-300
        wrong = here * x / one - there * rest / two
        low, high = np.where(wrong < 0.0, x, low), np.where(wrong > 0.0, x, high)
        slope = here * h * h / one**3 + there * d * d / two**3
        x = x - wrong / slope
        x = np.where((x >= low) & (x <= high), x, 0.5 * (low + high))
    first = np.sqrt(x * x + h * h)
    whole = first + np.sqrt((distance - x) ** 2 + d * d)
    out = np.array(points)
    scale = whole / first
    out[far, :2] = eye[:2] + away * (x / distance * scale)[:, None]
    out[far, 2] = eye[2] + (-h if below else h) * scale
    return out


def mirrored(points: Array, faces: Array, eye: Array, level: float) -> tuple[Array, Array, Array]:
    """Points and triangles of the image in the surface, seen from `eye` below it where nothing of the air is seen, and
    which of `faces` they are."""
    image = points * (1.0, 1.0, -1.0) + (0.0, 0.0, 2.0 * level)
    away = np.hypot(*(image[:, :2] - eye[:2]).T)
    window = away < (image[:, 2] - eye[2]) / np.sqrt(INDEX**2 - 1.0)
    kept = (points[:, 2] < level) & ~window
    whole = np.flatnonzero(kept[faces].all(axis=1))
    return image, np.ascontiguousarray(faces[whole][:, [0, 2, 1]]), whole
