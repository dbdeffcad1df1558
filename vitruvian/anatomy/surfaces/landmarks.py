"""What the tables know about where bones are: joint centres, muscle attachment points, ends of the costal cartilages.

Everything is in the world frame of the default pose, in metres, for the midline bones and those of the left side; the
right side is its mirror image. Only origins and insertions count as lying on bone: via points hold a muscle's line
off the bone as often as not.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vitruvian.anatomy.tables import load_tables

Array = np.ndarray

# Of the points that the tables give to clavicle and scapula together, those on the clavicle.
CLAVICLE_MUSCLES = (
    "sternocleidomastoid_01",
    "sternohyoid_01",
    "subclavius_01",
    "pectoralis_major_01",
    "deltoid_01",
    "trapezius_07",
)


@dataclass(frozen=True)
class Landmarks:
    """Points [m] of the midline and the left side, in the world frame of the default pose."""

    joints: dict[str, Array]  # bone -> joint centre (3,)
    midline: frozenset[str]  # bones that are their own mirror image
    attachments: dict[str, Array]  # bone -> origins and insertions on it (n, 3)
    muscles: dict[str, tuple[str, ...]]  # bone -> the muscle of each attachment
    junctions: dict[str, Array]  # rib -> where its cartilage begins (3,)

    def named(self, bone: str, *starts: str) -> Array:
        """The attachments on `bone` of muscles whose name begins with one of `starts`; (n, 3)."""
        chosen = [p for p, m in zip(self.attachments[bone], self.muscles[bone]) if m.startswith(starts)]
        return np.array(chosen).reshape(-1, 3)


@lru_cache(maxsize=1)
def table_landmarks() -> Landmarks:
    """From the corrected tables."""
    tables = load_tables("corrected")
    on: dict[str, list[Array]] = defaultdict(list)
    by: dict[str, list[str]] = defaultdict(list)
    for muscle in tables.muscles.values():
        for point in (muscle.points[0], muscle.points[-1]):
            bone = point.bone
            if bone == "Cs":
                bone = "Cla" if muscle.name in CLAVICLE_MUSCLES else "Sca"
            on[bone].append(
                point.position * (np.sign(point.position[0]), 1.0, 1.0)
            )  # a few rows are printed for the right
            by[bone].append(muscle.name)
    return Landmarks(
        joints={name: row.joint for name, row in tables.bones.items()},
        midline=frozenset(name for name, row in tables.bones.items() if row.midline),
        attachments={bone: np.array(on.get(bone, [])).reshape(-1, 3) for bone in tables.bones},
        muscles={bone: tuple(by.get(bone, ())) for bone in tables.bones},
        junctions={row.rib: row.point for row in tables.cartilages},
    )
