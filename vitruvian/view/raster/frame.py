"""The story of one picture, from a drawing and a camera to pixels."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import get_num_threads
from scipy.ndimage import maximum_filter

from vitruvian.view.camera import Pinhole, grid_spacing
from vitruvian.view.drawing import Drawing, Triangles, join
from vitruvian.view.raster import cover, occlusion, project, shade, shadow
from vitruvian.view.raster.types import AIR, BAND, Balls, Bins, Floor, Medium, Soup, View

Array = np.ndarray

FOUR = np.array([(0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875)])
EIGHT = np.array([(9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)]) / 16.0
SAMPLES = {4: FOUR, 8: EIGHT}
NEAR = 1e-3  # near plane, as a part of the distance to what is looked at
OCCLUSION_REACH = 0.16  # as a part of the scene's radius


@dataclass(frozen=True)
class Setting:
    """What stays the same from picture to picture of one film."""

    centre: Array  # middle of what is shown [m], (3,)
    reach: float  # radius of what is seen at one instant [m]
    ground: float | None  # height [m] of the ground plane, None for none
    samples: int = 4  # per pixel: 4 or 8
    threads: int = 0  # 0: as many as Numba uses


class Room:
    """Arrays to draw in, kept from picture to picture."""

    def __init__(self) -> None:
        self._own = threading.local()

    def maps(self, height: int, width: int, samples: int) -> tuple[Array, Array]:
        """Nearness and owner of every sample."""
        near, owner = self._kept("maps", (height, width, samples), np.float32, np.int32)
        return near, owner

    def layers(self, width: int, samples: int) -> tuple[Array, Array, Array]:
        """Nearness, owner and number of the layers of a band."""
        shape = (BAND, width, samples)
        near, owner = self._kept("layers", (shade.LAYERS, *shape), np.float32, np.int32)
        return near, owner, self._kept("count", shape, np.int32)[0]

    def _kept(self, name: str, shape: tuple[int, ...], *types: type) -> tuple[Array, ...]:
        found = getattr(self._own, name, ())
        if not found or found[0].shape != shape:
            found = tuple(np.empty(shape, kind) for kind in types)
            setattr(self._own, name, found)
        return found


def draw(drawing: Drawing, camera: Pinhole, setting: Setting, medium: Medium = AIR, room: Room | None = None) -> Array:
    """The picture, sRGB bytes of shape (height, width, 3); medium: what the camera is in; room: kept between calls."""
    room = room or Room()
    width, height = camera.width, camera.height
    samples = SAMPLES[setting.samples]
    view = View(*[*camera.eye.tolist(), *camera.axes.ravel().tolist(), camera.focal, 0.5 * width, 0.5 * height])
    near = NEAR * max(float(np.linalg.norm(setting.centre - camera.eye)), 1e-3)
    solid = _soup(drawing.solid if drawing.image is None else join([drawing.solid, drawing.image]))
    clear = _soup(drawing.clear)
    balls = Balls(drawing.spheres.centres, drawing.spheres.radius, drawing.spheres.colours)
    floor = _floor(setting)
    with ThreadPoolExecutor(max_workers=setting.threads or get_num_threads()) as pool:

        def each(function: Callable[[int], None], n: int) -> None:
            for _ in pool.map(function, range(n)):
                pass

        light, shadows = shadow.cast(
            drawing, shadow.light_axes(camera.axes[2]), setting.centre, 1.15 * setting.reach, floor, each
        )
        bins, clear_bins = (
            project.triangles_to_screen(s.vertices, s.faces, s.closed, view, near, width, height, len(samples))
            for s in (solid, clear)
        )
        round_bins: Bins = project.balls_to_screen(balls.centres, balls.radius, view, near, width, height)
        nearness, owner = room.maps(height, width, len(samples))

        def see(band: int) -> None:
            cover.clear_band(band, view, floor, samples, nearness, owner)
            cover.cover_triangles(band, bins, samples, nearness, owner)
            cover.cover_balls(band, round_bins, view, False, len(solid.faces), samples, nearness, owner)

        bands = -(-height // BAND)
        each(see, bands)

        place, open_sky = _open_sky(view, solid, balls, samples, nearness, owner, OCCLUSION_REACH * setting.reach, each)
        picture = np.empty((height, width, 3), dtype=np.uint8)

        def colour(band: int) -> None:
            things = (solid, clear, clear_bins, balls)
            seen = (samples, nearness, owner, open_sky, place)
            own = room.layers(width, len(samples))
            shade.shade_band(band, view, light, shadows, floor, medium, *things, *seen, *own, picture)

        each(colour, bands)
    return picture


def _open_sky(
    view: View,
    solid: Soup,
    balls: Balls,
    samples: Array,
    nearness: Array,
    owner: Array,
    reach: float,
    each: Callable[[Callable[[int], None], int], None],
) -> tuple[Array, Array]:
    """Half-size maps of places (camera axes [m]) and of the unhidden part of the sky there."""
    height, width = -(-nearness.shape[0] // 2), -(-nearness.shape[1] // 2)
    place = np.zeros((height, width, 3), dtype=np.float32)
    normal = np.zeros((height, width, 3), dtype=np.float32)
    rough = np.ones((height, width), dtype=np.float32)
    out = np.ones((height, width), dtype=np.float32)
    tile = occlusion.TILE
    here = np.zeros((-(-height // tile), -(-width // tile)), dtype=np.bool_)
    strips = -(-height // tile)

    def rows(strip: int) -> tuple[int, int]:
        return strip * tile, min(strip * tile + tile, height)

    each(
        lambda s: occlusion.places(*rows(s), view, solid, balls, samples, nearness, owner, place, normal, here), strips
    )
    nearest = float(nearness.max(initial=0.0))
    away = int(min(0.5 * reach * view.focal * nearest, occlusion.MOST_PIXELS)) // tile + 1
    near_solid = maximum_filter(here, size=2 * away + 1, mode="constant")
    each(lambda s: occlusion.openness(*rows(s), reach, view.focal, place, normal, near_solid, rough), strips)
    each(lambda s: occlusion.smooth(*rows(s), reach, place, rough, out), strips)
    return place, out


def _soup(triangles: Triangles) -> Soup:
    faces = np.ascontiguousarray(triangles.faces, dtype=np.int32)
    colours = np.ascontiguousarray(triangles.colours, dtype=np.float32)
    finish = np.ascontiguousarray(triangles.finish, dtype=np.float32)
    return Soup(
        np.ascontiguousarray(triangles.vertices, dtype=np.float64),
        faces,
        np.ascontiguousarray(triangles.normals, dtype=np.float32),
        colours,
        finish,
        np.ascontiguousarray(triangles.closed, dtype=np.bool_),
        project.makes(faces, colours, finish),
    )


def _floor(setting: Setting) -> Floor:
    shown = setting.ground is not None
    spacing = grid_spacing(setting.reach)
    height = float(setting.ground) if setting.ground is not None else 0.0
    return Floor(height, shown, float(setting.centre[0]), float(setting.centre[1]), float(setting.reach), spacing)
