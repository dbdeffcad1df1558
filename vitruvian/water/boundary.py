"""Bodies as the grid sees them: which part of each face they leave open, how they move there, and on which link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vitruvian.water.model import Tank

Array = np.ndarray


@dataclass
class Pieces:
    """Further pieces of split cells; each cell's largest piece is the cell's own unknown."""

    cells: Array  # cell of each further piece, shape (n, 3)
    faces: Array  # axis, i, j, k of the face of each pair of which at least one is a further piece, shape (m, 4)
    ends: Array  # low and high piece of each pair, -1 for the cell's own, shape (m, 2)
    opened: Array  # effective open part between them, shape (m,)
    lengths: Array  # of the water that moves with each pair's face, in cells, shape (m,)
    thin: Array  # cells that thin parts of bodies cut, and their neighbours, shape (k, 3)
    inside: Array = field(default_factory=lambda: np.zeros(0, bool))  # whether the centre of each lies in its own piece
    space: Array = field(
        default_factory=lambda: np.zeros(0)
    )  # open part of each of them, from its faces and walls, (k,)
    volume: Array = field(default_factory=lambda: np.zeros(0))  # of each further piece, in cells, shape (n,)

    def moved(self, by: Array) -> Pieces:
        faces = self.faces.copy()
        faces[:, 1:] += by
        return replace(self, cells=self.cells + by, faces=faces, thin=self.thin + by)


def no_pieces() -> Pieces:
    return Pieces(
        np.zeros((0, 3), np.int64),
        np.zeros((0, 4), np.int64),
        np.zeros((0, 2), np.int64),
        np.zeros(0),
        np.zeros(0),
        np.zeros((0, 3), np.int64),
    )


def _zeros6() -> Array:
    return np.zeros((0, 6))


@dataclass
class Boundary:
    """Bodies as the grid sees them. Without bodies everything is open and there are no links."""

    open_x: Array  # open part of each x-face, shape (nx + 1, ny, nz)
    open_y: Array
    open_z: Array
    volume: Array  # open part of each cell, shape (nx, ny, nz)
    body_x: Array  # velocity [m/s] of the body at each x-face, 0 where no body is near
    body_y: Array
    body_z: Array
    psi: Array | None = None  # nodal signed distance to the nearest body [m], negative inside; None without bodies
    cells: Array = field(default_factory=lambda: np.zeros((0, 3), np.int64))  # boundary cells, one row per (cell, link)
    cell_link: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Array = field(default_factory=_zeros6)  # g_c about the link's origin, (angular, linear), world axes
    row_piece: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # further piece of each row, -1: the cell's
    pieces: Pieces = field(default_factory=no_pieces)  # further pieces of cells that bodies split
    long_faces: Array = field(
        default_factory=lambda: np.zeros((0, 4), np.int64)
    )  # axis, i, j, k of faces with a length
    # other than 1 or with further pieces
    long_open: Array = field(default_factory=lambda: np.zeros(0))  # open part between the cells' own pieces there
    lengths: Array = field(default_factory=lambda: np.zeros(0))  # of the water that moves with them, in cells
    long_wet: Array = field(default_factory=lambda: np.zeros(0, bool))  # whether water is beside them, once projected
    pair_face: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # which of them each pair of pieces is on
    row_pressure: Array | None = None  # [Pa] of each row's piece, once projected
    link_x: Array | None = None  # link that each x-face belongs to, -1 for none; None without bodies
    link_y: Array | None = None
    link_z: Array | None = None
    triangle: Array | None = None  # nearest triangle of each node, counted over all skins, -1 beyond the band
    origins: Array = field(default_factory=lambda: np.zeros((0, 3)))  # reference point of each link [m]
    box: Array = field(default_factory=lambda: np.zeros((3, 2), np.int64))  # cells that bodies may touch, low and high
    boxes: Array = field(default_factory=lambda: np.zeros((0, 3, 2), np.int64))  # the same for each skin on the grid

    # what cells beside thin bodies see (`sides.Sides`); None where none is thin, or in a full tank
    sides: Any = None

    skins: Sequence[Any] = ()  # the skins that were made this boundary
    gathered: tuple[Array, Array, Array] | None = None  # link, corners and corner drift of all their triangles

    @property
    def links(self) -> int:
        return len(self.origins)


def face_masses(b: Boundary, phi: Array) -> tuple[Array, Array, Array]:
    """Water that moves with each face, in cells: its open part times a length, which is 1 unless a body is near."""
    masses = b.open_x.copy(), b.open_y.copy(), b.open_z.copy()
    faces, pairs = b.long_faces, b.pieces
    total = b.long_open * b.lengths
    np.add.at(total, b.pair_face, pairs.opened * pairs.lengths)
    low = faces[:, 1:] - np.eye(3, dtype=np.int64)[faces[:, 0]]
    inside = np.all((low >= 0) & (faces[:, 1:] < phi.shape), axis=1)
    for axis, mass in enumerate(masses):
        own = inside & (faces[:, 0] == axis)
        at = tuple(faces[own, 1:].T)
        wet = (phi[at] < 0.0) & (phi[tuple(low[own].T)] < 0.0)
        mass[at] = np.where(wet, total[own], mass[at])
    return masses


def open_boundary(tank: Tank) -> Boundary:
    """A tank without bodies."""
    nx, ny, nz = tank.shape
    sx, sy, sz = (nx + 1, ny, nz), (nx, ny + 1, nz), (nx, ny, nz + 1)
    return Boundary(
        np.ones(sx), np.ones(sy), np.ones(sz), np.ones(tank.shape), np.zeros(sx), np.zeros(sy), np.zeros(sz)
    )
