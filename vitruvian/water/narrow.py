"""Bodies that are too thin or too narrow for the cells: their force depends on where they lie on the grid.

A body thinner than a cell is met on both its sides (`pieces`), but the flow round it needs cells across its breadth. In
random places and orientations the added mass of a limb is within about a fifth of the exact one if its mean breadth is
at least SHEET cells where it is flat (FLAT of its breadth thick at most) and ROUND where it is not: ellipsoids like a
hand of 2.0 and 1.6 cells have 0.82 to 1.01 and 0.62 to 1.01 of Lamb's, like a forearm of 1.3 and 1.1 cells 0.91 to 1.16
and 0.84 to 1.24 (mean breadth: area of the outline over length; mean thickness: volume over that area).

A flat body that is about a cell thick, between PULSING, is pushed in pulses when it moves along the grid, however broad
it is: means over two thirds of a cell's way differ by 20 to 45 % (root mean square), thinner and thicker ones by 20 %
at most.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from vitruvian.water.model import Tank
from vitruvian.water.solids import WetSurface

Array = np.ndarray
SHEET, ROUND = 1.9, 1.25  # least mean breadth of flat and of round limbs, in cells
FLAT = 0.4  # mean thickness over mean breadth of a flat limb, at most
PULSING = (0.25, 1.5)  # mean thickness of a flat limb that is pushed in pulses, in cells
HOLLOW = 0.5  # volume of a closed skin over that of its convex hull, below which the hull counts
OPEN_PART = 0.3  # a link's skin with a larger resultant of its area is no limb but a part of a trunk's side


class NarrowWarning(UserWarning):
    """A body in water is too thin or too narrow for the cells."""


@dataclass(frozen=True)
class NarrowLink:
    """A link that the cells do not resolve."""

    name: str
    link: int
    thickness: float  # mean [m]
    breadth: float  # mean [m]
    cell: float  # largest cells [m] that would do
    pulses: bool  # whether it is broad enough, and only pushed in pulses


def narrow_links(tank: Tank, skins: Sequence[WetSurface]) -> list[NarrowLink]:
    """Links whose force the tank's cells would get wrong, the one that needs the finest cells first."""
    found = []
    for skin in skins:
        shape = skin.shape
        for link in np.unique(shape.links):
            thickness, breadth = mean_extents(skin, int(link))
            flat = thickness < FLAT * breadth
            broad = cell = breadth / (SHEET if flat else ROUND)
            if flat and PULSING[0] < thickness / tank.cell < PULSING[1]:
                cell = min(cell, thickness / PULSING[1])
            if cell < tank.cell:
                name = shape.link_names.get(int(link), shape.name)
                found.append(NarrowLink(name, int(link), thickness, breadth, cell, bool(broad >= tank.cell)))
    return sorted(found, key=lambda n: n.cell)


def warn_of_narrow(tank: Tank, skins: Sequence[WetSurface], covered: Collection[int] = ()) -> None:
    """Warn of the link that needs the finest cells, but of none that is covered by a patch."""
    found = [n for n in narrow_links(tank, skins) if n.link not in covered]
    if not found:
        return
    worst = found[0]
    wrong = "pulses by a third as it passes cells" if worst.pulses else "may be wrong by a fifth or more"
    more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
    warnings.warn(
        f"{worst.name}: {1e3 * worst.breadth:.0f} mm broad and {1e3 * worst.thickness:.0f} mm thick on cells of "
        f"{1e3 * tank.cell:.0f} mm; the water's force on it {wrong}, so take cells of {1e3 * worst.cell:.0f} mm or a "
        f"refined patch (`cover_narrow`){more}",
        NarrowWarning,
        stacklevel=3,
    )


def mean_extents(skin: WetSurface, link: int) -> tuple[float, float]:
    """Mean thickness and breadth [m] of the part of a skin that a link carries, of its convex hull if it is hollow;
    infinite if that is no limb.
    """
    corners = skin.vertices[skin.shape.mesh.faces[skin.shape.links == link]]
    normals, area = _normals(corners)
    resultant = float(np.linalg.norm(normals.sum(axis=0)))
    if resultant > OPEN_PART * area.sum():
        return np.inf, np.inf
    middles = corners.mean(axis=1) - np.average(corners.mean(axis=1), axis=0, weights=area)
    volume = float(np.einsum("ni,ni->", middles, normals)) / 3.0
    closed = resultant < 1e-9 * area.sum()
    if closed:
        hull = ConvexHull(corners.reshape(-1, 3))
        if volume < HOLLOW * hull.volume:
            corners, volume = hull.points[hull.simplices], float(hull.volume)
            normals, area = _normals(corners)
    corners = corners - np.average(corners.mean(axis=1), axis=0, weights=area)
    middles = corners.mean(axis=1)
    second = np.einsum("n,nci,ncj->ij", area, corners, corners)
    _, axes = np.linalg.eigh(second + 9.0 * np.einsum("n,ni,nj->ij", area, middles, middles))
    length = float(np.ptp(corners.reshape(-1, 3) @ axes[:, 2]))
    outline = 0.5 * float(np.abs(normals @ axes[:, 0]).sum())
    thickness, breadth = volume / outline, outline / length
    if closed:  # of a cube the axes are chance
        return min(thickness, breadth), max(thickness, breadth)
    return (thickness, breadth) if thickness <= breadth else (np.inf, np.inf)


def _normals(corners: Array) -> tuple[Array, Array]:
    """Normals of triangles as long as their areas, and these."""
    normals = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals, np.linalg.norm(normals, axis=1)
