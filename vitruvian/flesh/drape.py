"""The skin as a thin plate on the flesh: it follows what the lattice says and does not fold more sharply than skin can.

Trilinear cells have kinks on their faces, and where tissue is squeezed hard (an armpit, the top of a lowered shoulder)
they show as ridges and spikes a cell long that mean nothing: no lattice knows what happens within a cell. Real skin has
a bending stiffness B and lies on tissue that gives by 1/k per pressure, and so takes the way d that makes

    ½ ∫ k |d − u|² + B |Δd|² dA     least:     (M + l⁴ K M⁻¹ K) d = M u,      l⁴ = B / k

with u the way that the lattice gives it beyond skinning, M the vertices' areas and K the surface's Laplacian
(cotangents) in the rest pose. A wave of length λ is passed on by 1 / (1 + (2πl/λ)⁴): a bulge of 15 cm whole with
l = 10 mm, a ridge of 4 cm by a seventh. Skin 3 mm thick of 1 MPa on soft tissue has l of 6 mm; `CELLS` of a cell stand
for the greater of that and what the lattice knows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from vitruvian.errors import InputError

Array = np.ndarray
CELLS = 0.5  # of a lattice cell that l is long


class Drape:
    """A plate over a surface in its rest pose; holds a factorised matrix."""

    def __init__(self, rest: ArrayLike, faces: ArrayLike, length: float, *, among: ArrayLike | None = None) -> None:
        """rest: vertices [m], shape (n, 3); length: l [m]; among: vertices that are the plate's, shape (n,), all if
        left out: the others stay as they are and hold its edge."""
        vertices, triangles = np.asarray(rest, float), np.asarray(faces, np.int64)
        if not length > 0.0:
            raise InputError(f"flesh drape: the length must be positive, got {length} m")
        free = np.ones(len(vertices), bool) if among is None else np.array(among, bool)
        if free.shape != (len(vertices),):
            raise InputError(f"flesh drape: among has shape {free.shape}, not one entry for each vertex")
        area = vertex_areas(vertices, triangles)
        free &= area > 0.0  # vertices of no triangle
        laplacian = cotangents(vertices, triangles)
        plate = diags(area) + length**4 * laplacian @ diags(1.0 / np.where(area > 0.0, area, 1.0)) @ laplacian
        self.free, self.area = np.flatnonzero(free), area
        rows = plate.tocsr()[self.free]
        self._edge = rows[:, np.flatnonzero(~free)]
        self._held = np.flatnonzero(~free)
        self._solve = (
            splu(
                rows[:, self.free].tocsc(),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            ).solve
            if len(self.free)
            else None
        )

    def __call__(self, way: Array) -> Array:
        """d of u [m], shape (n, 3)."""
        out = np.array(way, float)
        if self._solve is not None:
            right = self.area[self.free, None] * out[self.free] - self._edge @ out[self._held]
            out[self.free] = self._solve(right)
        return out


def cotangents(vertices: Array, faces: Array) -> csr_matrix:
    """The surface's Laplacian [1], positive semi-definite, shape (n, n); obtuse angles count as right ones."""
    n, rows, columns, weights = len(vertices), [], [], []
    for corner in range(3):
        a, b, c = (faces[:, (corner + k) % 3] for k in range(3))
        u, v = vertices[b] - vertices[a], vertices[c] - vertices[a]
        sine = np.linalg.norm(np.cross(u, v), axis=1)
        half = 0.5 * np.maximum(np.sum(u * v, axis=1), 0.0) / np.maximum(sine, 1e-12)
        rows += [b, c]
        columns += [c, b]
        weights += [half, half]
    links = coo_matrix((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n)).tocsr()
    return (diags(np.asarray(links.sum(axis=1)).ravel()) - links).tocsr()


def vertex_areas(vertices: Array, faces: Array) -> Array:
    """A third of the triangles around each vertex [m²], shape (n,)."""
    corners = vertices[faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return np.bincount(faces.ravel(), np.repeat(area / 3.0, 3), len(vertices))
