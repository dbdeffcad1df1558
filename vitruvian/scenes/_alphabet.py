"""Capital letters as closed outlines, drawn by hand on a grid where capitals are 1 high, baseline at 0.

Each letter is a polygon (x, z), counter-clockwise, and the holes in it; `letter` rounds the corners (see
`mesh.outline.rounded`), which leaves curves smooth enough for a spline joint to run along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.errors import unknown_name
from vitruvian.mesh import perimeter
from vitruvian.mesh.outline import area_properties, rounded

Array = np.ndarray

CORNER = 0.044  # width of the blur that rounds corners, in letter heights

_GRID: dict[str, tuple[list[tuple[float, float]], ...]] = {
    "A": (
        [
            (0, 0),
            (0.25, 0),
            (0.32, 0.21),
            (0.60, 0.21),
            (0.67, 0),
            (0.92, 0),
            (0.92, 0.16),
            (0.61, 1),
            (0.31, 1),
            (0, 0.16),
        ],
        [(0.38, 0.40), (0.54, 0.40), (0.46, 0.68)],
    ),
    "I": ([(0, 0), (0.26, 0), (0.26, 1), (0, 1)],),
    "N": (
        [
            (0, 0),
            (0.25, 0),
            (0.25, 0.52),
            (0.30, 0.52),
            (0.58, 0),
            (0.84, 0),
            (0.84, 1),
            (0.59, 1),
            (0.59, 0.48),
            (0.54, 0.48),
            (0.26, 1),
            (0, 1),
        ],
    ),
    "R": (
        [
            (0, 0),
            (0.25, 0),
            (0.25, 0.37),
            (0.36, 0.37),
            (0.55, 0),
            (0.82, 0),
            (0.60, 0.42),
            (0.72, 0.48),
            (0.81, 0.58),
            (0.84, 0.69),
            (0.81, 0.81),
            (0.73, 0.92),
            (0.61, 0.98),
            (0.46, 1),
            (0, 1),
        ],
        [(0.25, 0.55), (0.46, 0.55), (0.56, 0.59), (0.60, 0.68), (0.56, 0.77), (0.46, 0.81), (0.25, 0.81)],
    ),
    "T": ([(0.28, 0), (0.54, 0), (0.54, 0.77), (0.82, 0.77), (0.82, 1), (0, 1), (0, 0.77), (0.28, 0.77)],),
    "U": (
        [
            (0, 1),
            (0, 0.40),
            (0.03, 0.24),
            (0.11, 0.10),
            (0.24, 0.01),
            (0.41, -0.02),
            (0.58, 0.01),
            (0.71, 0.10),
            (0.79, 0.24),
            (0.82, 0.40),
            (0.82, 1),
            (0.57, 1),
            (0.57, 0.40),
            (0.55, 0.30),
            (0.49, 0.23),
            (0.41, 0.21),
            (0.33, 0.23),
            (0.27, 0.30),
            (0.25, 0.40),
            (0.25, 1),
        ],
    ),
    "V": (
        [
            (0.32, 0),
            (0.60, 0),
            (0.92, 0.84),
            (0.92, 1),
            (0.67, 1),
            (0.51, 0.34),
            (0.41, 0.34),
            (0.25, 1),
            (0, 1),
            (0, 0.84),
        ],
    ),
}


@dataclass(frozen=True)
class Letter:
    """One letter: smooth outline and holes (x, z) [m], shape (n, 2), origin at the left end of the baseline."""

    name: str
    outline: Array
    holes: tuple[Array, ...]

    @property
    def width(self) -> float:
        """From the leftmost to the rightmost point [m]."""
        return float(np.ptp(self.outline[:, 0]))

    def side(self, direction: float) -> float:
        """Height [m] where the outline reaches farthest right (+1) or left (−1); the middle of a straight edge."""
        reach = direction * self.outline[:, 0]
        height = self.outline[reach > reach.max() - 1e-3 * np.ptp(reach), 1]
        if self.is_straight(direction):
            return float(np.median(height))
        k = int(np.argmax(reach))
        before, here, after = reach[k - 1], reach[k], reach[(k + 1) % len(reach)]
        shift = 0.5 * (after - before) / (2.0 * here - before - after)  # summit of the parabola through three points
        step = self.outline[(k + 1) % len(reach), 1] - self.outline[k - 1, 1]
        return float(self.outline[k, 1] + 0.5 * shift * step)

    def is_straight(self, direction: float) -> bool:
        """Whether that side is a straight upright edge."""
        reach = direction * self.outline[:, 0]
        height = self.outline[reach > reach.max() - 1e-3 * np.ptp(reach), 1]
        return bool(np.ptp(height) > 0.4 * np.ptp(self.outline[:, 1]))

    def at_height(self, z: float, direction: float) -> float:
        """Arc length [m] along the outline to its rightmost (+1) or leftmost (−1) point at height z [m]."""
        here, there = self.outline, np.roll(self.outline, -1, axis=0)
        crossing = np.flatnonzero((here[:, 1] - z) * (there[:, 1] - z) <= 0.0)
        k = int(crossing[np.argmax(direction * here[crossing, 0])])
        share = (z - here[k, 1]) / (there[k, 1] - here[k, 1])
        return float((k + share) * perimeter(self.outline) / len(self.outline))

    def body(self, density: float, depth: float) -> dict[str, Any]:
        """Mass [kg], centre of mass [m] (3,) and inertia about it [kg m²] (3, 3) of a plate of that depth [m]."""
        area, centre, second = area_properties(self.outline, self.holes)
        (sxx, sxz), (_, szz) = second
        syy = area * depth**2 / 12.0
        moment = np.array([[syy + szz, 0.0, -sxz], [0.0, sxx + szz, 0.0], [-sxz, 0.0, sxx + syy]])
        return {
            "mass": density * area * depth,
            "com": np.array([centre[0], 0.0, centre[1]]),
            "matrix": density * depth * moment,
        }


def letter(name: str, height: float, count: int = 480) -> Letter:
    """A letter `height` [m] tall; its outline has `count` evenly spaced points, counter-clockwise seen from −y."""
    if name not in _GRID:
        raise unknown_name("letter", name, _GRID)
    outer, *holes = (height * np.array(points, float) for points in _GRID[name])
    blur = CORNER * height
    return Letter(name, rounded(outer, blur, count), tuple(rounded(hole[::-1], blur, count // 3) for hole in holes))
