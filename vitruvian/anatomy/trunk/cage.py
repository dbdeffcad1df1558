"""Lines along the ribs and cartilages: what muscles between the ribs and the chest's inner surface are laid on.

Ribs and cartilages are swept tubes of rings (`surfaces.thorax`). The mean of a ring lies on the axis; its columns give
the borders of the rib, outer and inner side. World frame of the default pose [m], the tables' size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vitruvian.anatomy.surfaces import thorax
from vitruvian.anatomy.surfaces.landmarks import table_landmarks

Array = np.ndarray
SIDES, CAPS = 14, 3  # of the swept tubes: points a ring, rings beyond each end
RIBS = range(1, 11)
FIRST_RINGS = 64 + 2 * CAPS  # of rib 1, whose shape goes on with the bridge to the sternum
CARTILAGE_RINGS = {6: 28, 7: 32, 8: 26, 9: 26, 10: 26}  # of the pieces of the lowest cartilage
MEET = 0.62  # how far along the cartilage above the lower ones grow onto it


@dataclass(frozen=True)
class Line:
    """A rib or a cartilage of the left side, from back to front."""

    bone: str  # without its side
    axis: Array  # (n, 3)
    rings: Array  # (n, 14, 3)


@lru_cache(maxsize=1)
def rib_lines() -> dict[int, Line]:
    """Left ribs 1 to 12, from head to cartilage; 11 and 12 are fused to their vertebrae."""
    out = {}
    for number in range(1, 13):
        shape = thorax.ribs(table_landmarks())[f"Rb{number}"][0]
        count = FIRST_RINGS if number in (1, 11, 12) else (len(shape) - 2) // SIDES
        bone = f"Rb{number}" if number <= 10 else f"T{number}"
        out[number] = _line(bone, shape[: count * SIDES])
    return out


@lru_cache(maxsize=1)
def cartilage_lines() -> dict[int, Line]:
    """Left cartilages 2 to 10, from rib to sternum; 8 to 10 end where they meet the one above."""
    out, shapes = {}, thorax.cartilages(table_landmarks())
    for number in range(2, 6):
        shape = shapes[f"Cc{number}"][0]
        out[number] = _line(f"Cc{number}", shape[: len(shape) - 2], back=True)
    start = 0
    for number, inner in CARTILAGE_RINGS.items():
        count = inner + 2 * CAPS
        out[number] = _line("Cc6", shapes["Cc6"][0][start : start + count * SIDES], back=True)
        start += count * SIDES + 2
    return out


def margin(number: int) -> Array:
    """The way of rib 8, 9 or 10 to the sternum: its own cartilage, then those above it up to the seventh, (n, 3)."""
    lines = cartilage_lines()
    way = [lines[number].axis]
    for above in range(number - 1, 6, -1):
        axis = lines[above].axis
        way.append(axis[int((1.0 - MEET) * len(axis)) :] if above < number else axis)
    return np.concatenate(way)


def _line(bone: str, vertices: Array, back: bool = False) -> Line:
    rings = vertices.reshape(-1, SIDES, 3)[CAPS:-CAPS]
    rings = rings[::-1] if back else rings
    return Line(bone, rings.mean(axis=1), rings)
