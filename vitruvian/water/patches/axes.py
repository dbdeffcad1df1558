"""How a patch lies to its link: along the link's principal axes, or askew to flat sides.

A side that lies along the grid closes whole layers of faces at once, so the flow parts from its edges as the edges
happen to lie in their cells: a box of 180 x 80 x 25 mm held 24 to 41 N on cells of 11.5 to 14 mm along its sides, a
millimetre more or less of thickness changed it by 40 %; askew it holds 30 to 33 N on the same cells and 33 to 36 N on
cells of 6.5 mm. So a link most of whose skin faces along the axes is turned by ASKEW against them. A patch has one
pressure in a cell; where that would let water through a thin link (`leak`), the patch lies along it all the same: a
sheet along the grid closes faces, and nothing leaks.
"""

from __future__ import annotations

import numpy as np

from vitruvian.spatial import exp_so3
from vitruvian.water.boundary import Boundary

Array = np.ndarray
ASKEW = np.array([0.15, 0.3, 0.2])  # [rad] about the principal axes, the shortest first
ALONG = np.cos(np.radians(6.0))  # cosine of the angle between an axis and a side that lies along the grid
FLAT = 1.0 / 3.0  # part of the skin that may lie so
LEAK = 0.03  # further pieces' open faces over the skin, from which on too much water passes through


def principal_axes(points: Array) -> Array:
    """Principal axes of some points, right-handed, as columns; shape (3, 3)."""
    centred = points - 0.5 * (points.min(axis=0) + points.max(axis=0))
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(3)] < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return np.asarray(axes)


def askew_axes(axes: Array, corners: Array) -> Array | None:
    """The axes turned against the flat sides of a skin, None if it has few; corners: of its triangles, (n, 3, 3)."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    along = np.abs(normals @ axes).max(axis=1) > ALONG * area
    return axes @ exp_so3(ASKEW) if area[along].sum() > FLAT * area.sum() else None


def leak(boundary: Boundary, corners: Array, cell: float) -> float:
    """Open faces of the pieces that a link cuts from cells, over the area of its skin; corners as above."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    p = boundary.pieces
    opened = float(((p.ends >= 0).sum(axis=1) * p.opened).sum()) * cell**2
    return opened / (0.5 * float(np.linalg.norm(normals, axis=1).sum()))
