"""Plain records that kernels share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
BAND = 16  # rows of pixels that one thread draws at a time
BLOCK = 4  # texels along a side of a block of the light's coarse maps


class View(NamedTuple):
    """A camera at e: a pixel (x, y) sees e + z (r (x - cx) / focal + d (y - cy) / focal + f).

    Plain numbers rather than arrays: kernels read them for every sample, and numbers stay in registers.
    """

    ex: float
    ey: float
    ez: float
    rx: float  # right
    ry: float
    rz: float
    dx: float  # down
    dy: float
    dz: float
    fx: float  # forward
    fy: float
    fz: float
    focal: float  # [pixel]
    cx: float  # middle of the picture [pixel]
    cy: float


class Soup(NamedTuple):
    """Triangles in the world; see `view.drawing.Triangles`."""

    vertices: Array
    faces: Array
    normals: Array
    colours: Array
    finish: Array
    closed: Array
    make: Array  # (m,) int32: equal where neighbours in the list have one finish and one colour, as on one surface


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
    """The key light: parallel rays from l; texel (i, j) of its map lies au + i texel along a, bv + j texel along b."""

    ax: float  # across
    ay: float
    az: float
    bx: float  # up
    by: float
    bz: float
    lx: float  # towards the light
    ly: float
    lz: float
    au: float  # first texel [m]
    bv: float
    texel: float  # [m]


class Shade(NamedTuple):
    """What the key light's map holds."""

    nearest: Array  # height towards the light of the first thing met [m], (n, n) float32
    highest: Array  # the greatest of it in a block of texels and those around it, (n / k, n / k) float32
    covered: Array  # part of the light that does not reach the ground there, (n, n) float32
    wide: Array  # the same, blurred, (n / k, n / k) float32
    blur: Array  # how far towards `wide` the shade is blurred, 0..1, (n / k, n / k) float32


class Floor(NamedTuple):
    """The ground plane."""

    height: float  # [m]
    shown: bool
    cx: float  # where it fades from [m]
    cy: float
    radius: float  # size of what stands on it [m]
    spacing: float  # of the grid [m]


class Medium(NamedTuple):
    """Open water: whether there is some, whether the camera is in it, its own light in depth, fading [1/m]."""

    open: bool
    wet: bool
    r: float
    g: float
    b: float
    kr: float
    kg: float
    kb: float


AIR = Medium(False, False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
