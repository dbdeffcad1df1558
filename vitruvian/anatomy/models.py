"""Bodies by name, for the command line: what `vitruvian info`, `view` and `export` can be given beside recordings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vitruvian.anatomy.body import PARTS, Body
from vitruvian.anatomy.human import arm, human, legs, neck, torso, upper_body
from vitruvian.anatomy.surfaces import CREDIT
from vitruvian.muscle import lengths
from vitruvian.skeleton import bone_poses

MODELS: dict[str, Callable[[], Body]] = {
    "human": human,
    "human-printed": lambda: human("printed"),
    "human-165": lambda: human(feet="universal"),
    "human-spline": lambda: human(shoulder="spline", knee="spline"),
    "upper-body": upper_body,
    "neck": neck,
    "neck-thesis": lambda: neck(muscles="thesis"),
    "torso": torso,
    "left-arm": lambda: arm("left"),
    "right-arm": lambda: arm("right"),
    "legs": legs,
}

SOURCES = (
    "Bones, joints, muscles: S.-H. Lee, Biomechanical Modeling and Control of the Human Body for Computer Animation, "
    "UCLA 2008, tables C.2-C.6",
    "Ranges of the spine: White & Panjabi 1990, as grouped by P. DiLorenzo, UC Riverside 2009",
    CREDIT,
)


def describe(body: Body) -> dict[str, Any]:
    """Counts, masses and sources of a body; numbers only, in SI units."""
    s, m = body.skeleton, body.muscles
    length = lengths(m, bone_poses(s, body.default_q))
    moving = int((np.diff(s.v_start) > 0).sum())
    return {
        "bones": s.n_bones,
        "moving_bones": moving,
        "dof": s.n_v,
        "muscle_driven_dof": int(body.driven.sum()),
        "passive_dof": int((~body.driven).sum()) - (6 if body.free_root else 0),
        "muscles": m.n_muscles,
        "path_points": len(m.bone),
        "springs": len(s.springs),
        "mass": round(s.mass, 3),
        "parameters": body.parameters,
        "corrections": len(body.notes),
        "total_muscle_length": round(float(length.sum()), 3),
        "muscles_by_part": {p: int((_muscle_parts(body) == i).sum()) for i, p in enumerate(PARTS)},
        "sources": list(SOURCES),
    }


def _muscle_parts(body: Body) -> np.ndarray:
    m = body.muscles
    out = np.zeros(m.n_muscles, dtype=np.int64)
    np.maximum.at(out, np.repeat(np.arange(m.n_muscles), np.diff(m.row_start)), body.coordinate_part[m.column])
    return out
