"""What the key light sees: a map of the nearest thing along each of its parallel rays, and the shade on the ground.

Shade on the ground is softened with the height of what casts it: near the foot it is sharp, far from it blurred, by
mixing a narrow and a wide mean of the map of covered rays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from scipy.ndimage import maximum_filter, uniform_filter

from vitruvian.view.drawing import Drawing
from vitruvian.view.raster import cover, project
from vitruvian.view.raster.types import BAND, BLOCK, Floor, Light, Shade, View

Array = np.ndarray
TEXELS = 1024
CLEAR_SHADE = 0.55  # how dark a light-passing surface's shade is, per opacity
WIDE = 7  # width of the blur [block]
CENTRE = np.array([[0.5, 0.5]])


def light_axes(forward: Array) -> Array:
    """Rows across, up, towards the key light: from over the camera's left shoulder, 48 degrees high."""
    heading = np.arctan2(-forward[1], -forward[0]) - np.deg2rad(42.0)
    high = np.deg2rad(48.0)
    towards = np.array([np.cos(high) * np.cos(heading), np.cos(high) * np.sin(heading), np.sin(high)])
    across = np.cross([0.0, 0.0, 1.0], towards)
    across /= np.linalg.norm(across)
    return np.stack([across, np.cross(towards, across), towards])


def cast(
    drawing: Drawing, axes: Array, centre: Array, radius: float, floor: Floor, each: Callable[..., None]
) -> tuple[Light, Shade]:
    """The light's map over a ball of `radius` [m] around `centre` [m]; `each(function, n)` runs bands side by side."""
    texel = 2.0 * radius / TEXELS
    middle = axes[:2] @ centre
    # Whole texels only, so that shadows do not shimmer when the map moves along with the scene.
    corner = np.floor((middle - radius) / texel) * texel
    light = Light(*[*axes.ravel().tolist(), *corner.tolist(), texel])
    solid, clear, balls = drawing.solid, drawing.clear, drawing.spheres
    casting = solid.faces[: len(solid.faces) - drawing.shadeless]
    nearest, _ = _map(solid.vertices, casting, axes, corner, texel, each, balls)
    blocks = TEXELS // BLOCK
    highest = maximum_filter(
        nearest.reshape(blocks, BLOCK, TEXELS).max(axis=1).reshape(blocks, blocks, BLOCK).max(axis=2), 3
    )
    if not floor.shown:
        nothing = np.zeros((2, 2), dtype=np.float32)
        return light, Shade(nearest, highest, nothing, nothing, nothing)
    through, owner = nearest, np.zeros((0, 0), dtype=np.int32)
    if len(clear.faces):
        through, owner = _map(clear.vertices, clear.faces, axes, corner, texel, each, None)
    finish = np.ascontiguousarray(clear.finish, dtype=np.float32)
    covered, wide, height = _over_ground(nearest, through, owner, finish, axes, corner, texel, floor.height)
    wide = _soften(wide)
    blur = np.clip(_soften(height) / np.maximum(wide, 1e-4) / (0.9 * radius), 0.0, 1.0)
    # The softened map has exact zeros where no shade is near, up to rounding of its running sums.
    wide[wide < 1e-5] = 0.0
    return light, Shade(nearest, highest, covered, wide, blur.astype(np.float32))


@njit(cache=True, nogil=True)
def _over_ground(nearest, through, owner, finish, axes, corner, texel, floor):
    """Covered part of each texel's ray where it meets the ground; per block the mean of that and of its height [m]."""
    n = nearest.shape[0]
    covered = np.zeros((n, n), np.float32)
    wide = np.zeros((n // BLOCK, n // BLOCK), np.float32)
    height = np.zeros((n // BLOCK, n // BLOCK), np.float32)
    for j in range(n):
        v = corner[1] + (j + 0.5) * texel
        for i in range(n):
            # A ground point has z = floor:  u axes[0,2] + v axes[1,2] + w axes[2,2] = floor.
            u = corner[0] + (i + 0.5) * texel
            under = (floor - u * axes[0, 2] - v * axes[1, 2]) / axes[2, 2]
            part, lift = 0.0, 0.0
            if nearest[j, i] > under:
                part, lift = 1.0, nearest[j, i] - under
            elif owner.shape[0] > 0 and through[j, i] > under:
                part, lift = CLEAR_SHADE * finish[owner[j, i], 0], through[j, i] - under
            covered[j, i] = part
            wide[j // BLOCK, i // BLOCK] += part / (BLOCK * BLOCK)
            height[j // BLOCK, i // BLOCK] += part * lift / (BLOCK * BLOCK)
    return covered, wide, height


def _soften(values: Array) -> Array:
    return uniform_filter(uniform_filter(values, WIDE, mode="constant"), WIDE, mode="constant")


def _map(vertices, faces, axes, corner, texel, each, balls):
    nearest = np.full((TEXELS, TEXELS, 1), -1e30, dtype=np.float32)
    owner = np.full((TEXELS, TEXELS, 1), -1, dtype=np.int32)
    bins = project.triangles_to_light(vertices, faces, axes, corner, texel, TEXELS)
    round_bins = None
    if balls is not None and len(balls.radius):
        round_bins = project.balls_to_light(balls.centres, balls.radius, axes, corner, texel, TEXELS)
    nowhere = View(*np.eye(5, 3).ravel().tolist())

    def one(band: int) -> None:
        cover.cover_triangles(band, bins, CENTRE, nearest, owner)
        if round_bins is not None:
            cover.cover_balls(band, round_bins, nowhere, True, 0, CENTRE, nearest, owner)

    each(one, TEXELS // BAND)
    return nearest[:, :, 0], owner[:, :, 0]
