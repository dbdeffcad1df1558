"""Finger bones: 14 a hand, fixed to it and without mass of their own (the hand's 0.387 kg include them).

In the default pose the left hand points along +x with the palm to the front (-y) and the thumb up (+z). Phalanges
follow each other along the finger; a grip is a fixed finger pose, here slightly bent towards the palm as in a relaxed
hand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.anatomy.scaling import Scale
from vitruvian.anatomy.tables import BoneRow, read_csv
from vitruvian.skeleton import Inertia, SkeletonBuilder
from vitruvian.skeleton.joints import Fixed

Array = np.ndarray
HAND_LENGTH = 0.19  # [m], wrist to the tip of the middle finger
# Across the palm [m]: height of each knuckle above the wrist, then the thumb's root and direction (left hand).
KNUCKLE_Z = {"index": 0.026, "middle": 0.006, "ring": -0.013, "little": -0.031}
THUMB_ROOT = np.array([0.060, -0.026, 0.048])
THUMB_DIRECTION = np.array([0.83, -0.32, 0.45])
PALM_Y = 0.009  # knuckles lie towards the back of the hand, as in the bone surfaces


def finger_names(side: str) -> tuple[str, ...]:
    """The 14 finger bones of a side ("l" or "r"), from thumb to little finger, root to tip."""
    return tuple(f"{r['finger']}_{r['phalanx']}_{side}" for r in read_csv("fingers.csv"))


def add_fingers(builder: SkeletonBuilder, kept: dict[str, BoneRow], scale: Scale) -> dict[str, BoneRow]:
    """Add the fingers of every hand in `kept`; returns them as rows, for their names and places."""
    out: dict[str, BoneRow] = {}
    for side, flip in (("l", 1.0), ("r", -1.0)):
        hand = kept.get(f"Ha_{side}")
        if hand is None:
            continue
        reach: dict[str, float] = {}
        for r in read_csv("fingers.csv"):
            reach[r["finger"]] = reach.get(r["finger"], 0.0) + float(r["length_over_hand_length"]) * HAND_LENGTH
        place: dict[str, Array] = {}
        parent: dict[str, str] = {}
        for r in read_csv("fingers.csv"):
            finger, length = r["finger"], float(r["length_over_hand_length"]) * HAND_LENGTH
            thumb = finger == "thumb"
            along = THUMB_DIRECTION / np.linalg.norm(THUMB_DIRECTION) if thumb else np.array([1.0, 0.0, 0.0])
            if finger not in place:
                place[finger] = (
                    THUMB_ROOT if thumb else np.array([HAND_LENGTH - reach[finger], PALM_Y, KNUCKLE_Z[finger]])
                )
                if finger in ("index", "ring", "little"):  # the middle finger ends at hand length, others fall short
                    short = {"index": 0.010, "ring": 0.008, "little": 0.026}[finger]
                    place[finger] = place[finger] - [short, 0.0, 0.0]
            name = f"{finger}_{r['phalanx']}_{side}"
            joint = hand.joint + scale.length * place[finger] * (flip, 1.0, 1.0)
            above = out.get(parent.get(finger, ""), hand)
            row = replace(hand, name=name, full_name=f"{finger} {r['phalanx']} phalanx", parent=above.name, joint=joint)
            builder.add_bone(
                name, parent=above.name, joint=Fixed(), placement=joint - above.joint, inertia=Inertia.none()
            )
            out[name] = replace(row, joint_type="fixed", axes=())
            place[finger] = place[finger] + length * along
            parent[finger] = name
    return out
