"""A spine of eight sections: vertebrae grown together, joints between the sections (DiLorenzo 2009, 3.1.1, table 3.1).

The joint of a section is that of its lowest vertebra, with the table's limits, which are sums over the vertebrae of the
section; spring and damper stay that joint's own. The other vertebrae are rigid parts of their section; muscles
that cross no joint then are left out.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from vitruvian.anatomy.tables import Tables

VERTEBRAE = (
    *(f"L{k}" for k in range(5, 0, -1)),
    *(f"T{k}" for k in range(12, 0, -1)),
    *(f"C{k}" for k in range(7, 0, -1)),
    "Sku",
)


@lru_cache(maxsize=1)
def section_limits() -> dict[str, dict[str, tuple[float, float]]]:
    """Bone whose joint a section has -> coordinate -> least and largest angle [rad]."""
    text = files("vitruvian.anatomy").joinpath("data/spine_sections.csv").read_text()
    out = {}
    for row in csv.DictReader(text.splitlines()):
        flexion, extension, side, turn = (
            float(np.radians(float(row[f"{word}_deg"])))
            for word in ("flexion", "extension", "lateral_bending", "rotation")
        )
        out[row["bone"]] = {"rotvec_x": (-extension, flexion), "rotvec_y": (-side, side), "rotvec_z": (-turn, turn)}
    return out


def spine_sections(tables: Tables) -> Tables:
    """The tables of a body whose spine has eight joints."""
    bones, coordinates, limits = dict(tables.bones), dict(tables.coordinates), section_limits()
    for name in VERTEBRAE:
        if name in limits:
            coordinates[name] = tuple(
                replace(row, low=limits[name][row.coordinate][0], high=limits[name][row.coordinate][1])
                for row in coordinates[name]
            )
        else:
            bones[name] = replace(bones[name], joint_type="fixed", axes=())
            coordinates[name] = ()
    return replace(tables, bones=bones, coordinates=coordinates)
