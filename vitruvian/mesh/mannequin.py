"""A body-shaped mesh without any data package: capsules of a person's proportions, melted together and drawn as one
surface.

The person lies on the back along x, head towards -x, and is closed, so water can tell inside from outside.
"""

from __future__ import annotations

import numpy as np
from skimage.measure import marching_cubes

Array = np.ndarray

# (start, end, radius) in units of stature, x along the body (0 the crown), y to the left, z up
_PARTS = (
    ((0.060, 0.0, 0.0), (0.075, 0.0, 0.0), 0.055),  # head
    ((0.14, 0.0, 0.0), (0.17, 0.0, 0.0), 0.033),  # neck
    ((0.22, -0.065, 0.0), (0.22, 0.065, 0.0), 0.052),  # shoulders
    ((0.26, 0.0, 0.0), (0.42, 0.0, 0.0), 0.070),  # trunk
    ((0.47, -0.035, 0.0), (0.47, 0.035, 0.0), 0.062),  # hips
    *[((0.51, s * 0.050, 0.0), (0.72, s * 0.050, 0.0), 0.042) for s in (-1.0, 1.0)],  # thighs
    *[((0.74, s * 0.050, 0.0), (0.93, s * 0.050, 0.0), 0.029) for s in (-1.0, 1.0)],  # shanks
    *[((0.95, s * 0.050, 0.0), (0.96, s * 0.055, 0.055), 0.022) for s in (-1.0, 1.0)],  # feet
    *[((0.21, s * 0.125, 0.0), (0.37, s * 0.145, 0.0), 0.026) for s in (-1.0, 1.0)],  # upper arms
    *[((0.38, s * 0.147, 0.0), (0.51, s * 0.155, 0.0), 0.021) for s in (-1.0, 1.0)],  # forearms, hands
)


def mannequin(stature: float = 1.75, *, fineness: float = 0.012, melt: float = 0.012) -> tuple[Array, Array]:
    """Vertices [m] (n, 3) and outward faces (m, 3); `fineness` and `melt` in units of stature."""
    low, high = np.array([-0.02, -0.21, -0.11]), np.array([1.02, 0.21, 0.13])
    axes = [np.arange(a, b + fineness, fineness) for a, b in zip(low, high)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    total = np.zeros(x.shape[:3])
    for start, end, radius in _PARTS:
        a, b = np.asarray(start), np.asarray(end)
        t = np.clip(((x - a) @ (b - a)) / ((b - a) @ (b - a)), 0.0, 1.0)
        distance = np.linalg.norm(x - a - t[..., None] * (b - a), axis=-1) - radius
        total += np.exp(-distance / melt)
    field = -melt * np.log(np.maximum(total, 1e-30))
    vertices, faces, _, _ = marching_cubes(field.astype(np.float32), 0.0, allow_degenerate=False)
    return (vertices * fineness + low) * stature, np.ascontiguousarray(faces, dtype=np.int64)
