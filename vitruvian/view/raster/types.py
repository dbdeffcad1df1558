"""Plain records that kernels share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
BAND = 16  # rows of pixels that one thread draws at a time


class View(NamedTuple):
    """A camera: a pixel (x, y) sees eye + z (axes[0] (x - cx) / focal + axes[1] (y - cy) / focal + axes[2])."""

    eye: Array
    axes: Array  # rows right, down, forward
    focal: float
    cx: float
    cy: float


class Soup(NamedTuple):
    """Triangles in the world; see `view.drawing.Triangles`."""

    vertices: Array
    faces: Array
    normals: Array
    colours: Array
    finish: Array


class Balls(NamedTuple):
    """Spheres in the world; see `view.drawing.Spheres`."""

    centres: Array
    radius: Array
    colours: Array


class Bins(NamedTuple):
    """Things on the screen, sorted into bands of rows: band b holds items[start[b]:start[b + 1]]."""

    corners: Array  # triangles: x, y, nearness of three corners (k, 9); balls: x0, x1, y0, y1 and centre, radius (k, 8)
    ids: Array  # index of the triangle or ball in the world, (k,)
    start: Array
    items: Array


class Light(NamedTuple):
    """The key light: parallel rays from `axes[2]`, and the map of the nearest thing along each of them."""

    axes: Array  # rows: across, up, towards the light
    corner: Array  # light-space position of the map's first texel [m], (2,)
    texel: float  # [m]
    nearest: Array  # height towards the light of the first thing met [m], (n, n) float32
    covered: Array  # part of the light that does not reach the ground there, (n, n) float32
    wide: Array  # the same, blurred, (n / k, n / k) float32
    blur: Array  # how far towards `wide` the shade is blurred, 0..1, (n / k, n / k) float32


class Floor(NamedTuple):
    """The ground plane."""

    height: float  # [m]
    shown: bool
    centre: Array  # where it fades from [m], (2,)
    radius: float  # size of what stands on it [m]
    spacing: float  # of the grid [m]
