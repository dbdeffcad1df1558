"""Bones without a joint of their own that ride on another one: the patella, and by option the scapula.

The patella's base rides in the femur's groove by a curve of the knee's flexion (`patella.csv`), the quadriceps ends on
it, and its pull turns the tibia as the curve says (`muscle.wrapping`). Its slide along the groove is the integral of
the quadriceps' moment arm. It turns by 0.65 of the flexion, as people's do (0.6 to 0.7).

Scapulohumeral rhythm: with `shoulder="rhythm"` the scapula's attachments turn upward about the centre of the humeral
head as the arm rises against the clavicle,

    φ = ½ φ_max sin e,   e = elevation of the humerus from the horizontal,

slowly at first, then about 1 degree for each 2 of the joint, as Inman et al. 1944 and McClure et al. 2001 measured.
It is zero in the default pose (arms out), in which the tables and the bones' surfaces have it. Only muscles that end on
the arm feel it. Those from trunk to scapula stay with the clavicle: on a scapula without a joint of its own they would
turn the arm as well, which no person's can. Mass and joint centre stay with the clavicle, too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vitruvian.anatomy.proportions import Stretch
from vitruvian.anatomy.tables import MM, BoneRow, read_csv
from vitruvian.muscle import Carrier
from vitruvian.muscle.wrapping import RISE, TURN

Array = np.ndarray
PATELLA_TURN = 0.65  # of the knee's flexion (Nha et al. 2008, J Orthop Res 26:1067, about 0.6 to 0.7)

UPWARD = np.radians(
    50.0
)  # φ_max: turn of the scapula from the hanging to the raised arm, less what the clavicle brings


def patellas(bones: Mapping[str, BoneRow], scale: float, stretch: Stretch) -> list[Carrier]:
    """The patella of every knee among `bones`; scale: of lengths against the tables; stretch: of proportions."""
    rows = read_csv("patella.csv")
    at = np.radians([float(r["knee_deg"]) for r in rows])
    place = np.array([[float(r[f"base_{c}_mm"]) for c in "xyz"] for r in rows]) * MM * scale
    out = []
    for side, flip in (("l", 1.0), ("r", -1.0)):
        if f"Tfp_{side}" not in bones or f"Fe_{side}" not in bones:
            continue
        axis = tuple(bones[f"Tfp_{side}"].axes[0])
        knee, hip = f"Tfp_{side}", f"Fe_{side}"  # a longer femur takes the groove with it
        down = (bones[knee].joint - bones[hip].joint) - (stretch.bones[knee].joint - stretch.bones[hip].joint)
        moved, turn = place * (flip, 1.0, 1.0) + down, PATELLA_TURN * at
        out.append(
            Carrier(f"Pat_{side}", f"Fe_{side}", f"Tfp_{side}", TURN, axis, (0.0, 0.0, 0.0), axis, at, moved, turn)
        )
    return out


def scapulas(bones: Mapping[str, BoneRow]) -> list[Carrier]:
    """The scapula of every shoulder among `bones`, on the clavicle."""
    out = []
    at = np.linspace(-1.0, 1.0, 17)
    turn = 0.5 * UPWARD * at
    for side, flip in (("l", 1.0), ("r", -1.0)):
        if not all(f"{b}_{side}" in bones for b in ("Cla", "Hu", "Ul")):
            continue
        head, elbow = bones[f"Hu_{side}"].joint, bones[f"Ul_{side}"].joint
        along = (elbow - head) * (1.0, 1.0, 0.0)  # horizontal in the default pose, but for 3 degrees
        along /= np.linalg.norm(along)
        place = np.tile(head - bones[f"Cla_{side}"].joint, (len(at), 1))
        upward, axis = (0.0, -flip, 0.0), tuple(along)
        out.append(
            Carrier(f"Sca_{side}", f"Cla_{side}", f"Hu_{side}", RISE, axis, (0.0, 0.0, 1.0), upward, at, place, turn)
        )
    return out
