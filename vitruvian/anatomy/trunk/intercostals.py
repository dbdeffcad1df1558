"""The muscles between the ribs, as many short elements laid on the ribs' borders (DiLorenzo 2009, figure 3.4).

For a point on the lower border of a rib take the nearest one on the upper border of the rib below, a gap g away: the
external element goes g further along it (down and forward), the internal one g back. Both then stand at 45 degrees to
the ribs and cross at nearly right angles. Externals lie on the outer side from the tubercle to the cartilage, internals
on the inner side from the rib's angle to the sternum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.trunk.cage import Line, cartilage_lines, rib_lines

Array = np.ndarray
EACH = 18  # elements of a kind in a space on one side
SPACES = range(1, 10)
LEAST, MOST = 0.006, 0.060  # [m] gap between ribs that is bridged
OUTER, INNER = (8, 13), (6, 1)  # ring columns of the lower and of the upper border, by side of the rib
BEGINS = {"external": 0.14, "internal": 0.30}  # part of the rib at tubercle and angle


class Strand(NamedTuple):
    """One element of the left side."""

    kind: str
    space: int
    upper: str  # bone, without its side
    start: Array  # on the upper rib [m], (3,)
    lower: str
    end: Array  # on the lower rib [m], (3,)


class _Border(NamedTuple):
    points: Array  # (n, 3)
    along: Array  # arc length [m], (n,)
    bones: list[str]


def strands() -> list[Strand]:
    """All elements of the left side, space by space from above, the externals of each first."""
    ribs, cartilages = rib_lines(), cartilage_lines()
    out: list[Strand] = []
    for space in SPACES:
        for kind, columns in (("external", OUTER), ("internal", INNER)):
            more = kind == "internal"
            upper = _border(ribs[space], cartilages.get(space) if more else None, columns[0])
            lower = _border(ribs[space + 1], cartilages.get(space + 1) if more else None, columns[1])
            out += _laid(kind, space, upper, lower, BEGINS[kind] * _length(ribs[space].axis))
    return out


def crossing(found: list[Strand]) -> Array:
    """Angles [degrees] between each internal element and the nearest external one of its space."""
    out = []
    for space in SPACES:
        outer = [s for s in found if s.space == space and s.kind == "external"]
        middle = cKDTree([0.5 * (s.start + s.end) for s in outer])
        for s in (s for s in found if s.space == space and s.kind == "internal"):
            far, near = middle.query(0.5 * (s.start + s.end))
            if far < 0.03:
                a, b = s.end - s.start, outer[near].end - outer[near].start
                out.append(np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))))
    return np.array(out)


def _laid(kind: str, space: int, upper: _Border, lower: _Border, begin: float) -> list[Strand]:
    out, tree = [], cKDTree(lower.points)
    ahead = 1.0 if kind == "external" else -1.0
    for at in np.linspace(begin, upper.along[-1], EACH + 1)[:-1] + 0.5 * (upper.along[-1] - begin) / EACH:
        i = int(np.argmin(np.abs(upper.along - at)))
        gap, near = tree.query(upper.points[i])
        foot = lower.along[near] + ahead * gap
        if not LEAST <= gap <= MOST or not lower.along[0] <= foot <= lower.along[-1]:
            continue
        j = int(np.argmin(np.abs(lower.along - foot)))
        if upper.bones[i] == lower.bones[j]:  # within the one cartilage of ribs 6 to 10
            continue
        out.append(Strand(kind, space, upper.bones[i], upper.points[i], lower.bones[j], lower.points[j]))
    return out


def _border(rib: Line, cartilage: Line | None, column: int) -> _Border:
    points, bones = rib.rings[:, column], [rib.bone] * len(rib.rings)
    if cartilage is not None:
        points = np.concatenate([points, cartilage.axis])
        bones = bones + [cartilage.bone] * len(cartilage.axis)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return _Border(points, along, bones)


def _length(axis: Array) -> float:
    return float(np.linalg.norm(np.diff(axis, axis=0), axis=1).sum())
