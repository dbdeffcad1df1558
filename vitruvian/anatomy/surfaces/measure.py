"""How well the surfaces agree with the tables: distance of muscle attachments from the bone, bone by bone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.surfaces.build import template_surfaces
from vitruvian.anatomy.surfaces.landmarks import table_landmarks
from vitruvian.anatomy.surfaces.shaping import nearest_points


@dataclass(frozen=True)
class AttachmentDistance:
    """Distances of a bone's origins and insertions from its surface."""

    bone: str
    count: int
    median: float  # [m]
    largest: float  # [m]
    farthest: str  # the muscle of the largest


def attachment_distances() -> list[AttachmentDistance]:
    """One row for each bone of the midline and the left side that muscles attach to."""
    marks = table_landmarks()
    shapes = template_surfaces()
    rows = []
    for bone, points in marks.attachments.items():
        name = bone if bone in marks.midline else f"{bone}_l"
        if not len(points) or name not in shapes:
            continue
        local = points - marks.joints[bone]
        distance = np.linalg.norm(nearest_points(local, shapes[name])[0] - local, axis=1)
        worst = int(distance.argmax())
        rows.append(
            AttachmentDistance(
                bone, len(points), float(np.median(distance)), float(distance[worst]), marks.muscles[bone][worst]
            )
        )
    return rows
