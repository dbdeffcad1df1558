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
from numba import njit

Array = np.ndarray
INDEX = 1.33  # of refraction
STEPS = 6  # of Newton's method at most, from the straight line or the window's edge; x is then right to 1e-6 of D
ENOUGH = 1e-5  # step, as a part of D, after which the next would be below rounding


def apparent(points: Array, eye: Array, level: float) -> Array:
    """Where points [m] (n, 3) appear from `eye` [m]; those on the eye's side of the surface are as they are."""
    h = float(eye[2] - level)
    below = h > 0.0  # what is below is seen bent
    if h == 0.0:
        return points
    here, there = (1.0, INDEX) if below else (INDEX, 1.0)
    out = np.array(points, dtype=np.float64)
    _bend(out, float(eye[0]), float(eye[1]), float(eye[2]), h, here, there)
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _bend(points, ex, ey, ez, height, here, there):
    """Points beyond the surface, `height` [m] under the eye, put where they appear."""
    h = abs(height)
    farthest = h * there / np.sqrt(here * here - there * there) if there < here else np.inf  # edge of the window to air
    for i in range(points.shape[0]):
        d = ez - height - points[i, 2] if height > 0.0 else points[i, 2] - (ez - height)
        if not d > 0.0:
            continue
        ax, ay = points[i, 0] - ex, points[i, 1] - ey
        distance = max(np.sqrt(ax * ax + ay * ay), 1e-12)
        x = min(distance * h / (h + d), farthest)
        low, high = 0.0, distance
        for _ in range(STEPS):
            rest = distance - x
            one, two = np.sqrt(x * x + h * h), np.sqrt(rest * rest + d * d) + 1e-300
            wrong = here * x / one - there * rest / two
            if wrong < 0.0:
                low = x
            elif wrong > 0.0:
                high = x
            slope = here * h * h / (one * one * one) + there * d * d / (two * two * two)
            step = wrong / slope
            x = x - step
            if not low <= x <= high:
                x = 0.5 * (low + high)
            elif abs(step) < ENOUGH * distance:
                break
        first = np.sqrt(x * x + h * h)
        scale = (first + np.sqrt((distance - x) ** 2 + d * d)) / first
        points[i, 0] = ex + ax * (x / distance * scale)
        points[i, 1] = ey + ay * (x / distance * scale)
        points[i, 2] = ez - height * scale


def mirrored(points: Array, level: float) -> Array:
    """Places [m] of the image of points in the surface."""
    return points * (1.0, 1.0, -1.0) + (0.0, 0.0, 2.0 * level)


def beyond_window(image: Array, eye: Array) -> Array:
    """How far [m] points above the surface are outside the cone in which `eye` below it sees the air."""
    return np.hypot(*(image[:, :2] - eye[:2]).T) - (image[:, 2] - eye[2]) / np.sqrt(INDEX**2 - 1.0)
