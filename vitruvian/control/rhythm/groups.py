"""The ten muscle groups of the swimmer: left, right and medial trunk and neck, arms and legs (Si 2013, section 4.1).

Muscles of a group share frequency and phase. Arms and legs are told by the region that the tables count a muscle to;
trunk and neck muscles whose path runs within 2 cm of the midplane on average are medial: they are the deep ones, which
Si's figure 4.2 shows hidden under the others.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.errors import InputError
from vitruvian.muscle import path_points
from vitruvian.skeleton import bone_poses

Array = np.ndarray
GROUPS = (
    "left trunk",
    "right trunk",
    "medial trunk",
    "left neck",
    "right neck",
    "medial neck",
    "left arm",
    "right arm",
    "left leg",
    "right leg",
)
LEFT, RIGHT = (0, 3), (1, 4)  # sides of trunk and neck, which turn the swimmer
AXIAL = (0, 1, 2, 3, 4, 5)
MEDIAL = 0.02  # [m] mean distance from the midplane
_REGIONS = {"trunk": "trunk", "head_neck": "neck", "arm": "arm", "leg": "leg"}


def muscle_groups(body: Body) -> Array:
    """Index into GROUPS of each muscle, shape (n_muscles,)."""
    m = body.muscles
    x = path_points(m, bone_poses(body.skeleton, body.default_q))[:, 0]
    out = np.empty(m.n_muscles, dtype=np.int64)
    for i, (name, region) in enumerate(zip(m.names, m.regions)):
        if region not in _REGIONS:
            raise InputError(f"muscle '{name}' has the region '{region}', which belongs to no group of a swimmer")
        part = _REGIONS[region]
        path = x[m.offsets[i] : m.offsets[i + 1]]
        side = "left" if path.mean() > 0 else "right"
        if part in ("trunk", "neck") and np.abs(path).mean() < MEDIAL * body.scale:
            side = "medial"
        out[i] = GROUPS.index(f"{side} {part}")
    return out
