"""Finger bones: 14 a hand, fixed to it and without mass of their own (the hand's 0.387 kg include them).

In the default pose the left hand points along +x with the palm to the front (-y) and the thumb up (+z). Phalanges
follow each other along the finger, straight, the thumb's beside those of the index; `gripping` is the pose of a
hand that holds a bar.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.scaling import Scale
from vitruvian.anatomy.tables import BoneRow, read_csv
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses
from vitruvian.skeleton.joints import Fixed
from vitruvian.spatial import exp_so3, rotation_about, transform

Array = np.ndarray
HAND_LENGTH = 0.19  # [m], wrist to the tip of the middle finger
# Across the palm [m]: height of each knuckle above the wrist, then the thumb's root and direction (left hand).
KNUCKLE_Z = {"index": 0.026, "middle": 0.006, "ring": -0.013, "little": -0.031}
THUMB_ROOT = np.array([0.060, -0.026, 0.048])
THUMB_DIRECTION = np.array([0.95, 0.05, -0.04])
# A fist round a bar 28 mm thick: bend of each phalanx against the one before [degrees], and where the thumb's point.
BEND = {
    "index": {"proximal": 54.0, "middle": 72.0, "distal": 60.0},
    "middle": {"proximal": 58.0, "middle": 85.0, "distal": 60.0},
    "ring": {"proximal": 54.0, "middle": 78.0, "distal": 60.0},
    "little": {"proximal": 45.0, "middle": 60.0, "distal": 60.0},
}
THUMB_CLOSED = {"proximal": np.array([0.60, -0.78, -0.15]), "distal": np.array([0.75, -0.25, -0.60])}
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


def gripping(body: Body, side: str) -> dict[int, Array]:
    """Finger bones of a fist around a bar across the palm: bone index -> (4, 4) in the hand's frame.

    A pose for the eye: fingers carry no mass and no muscle, so nothing else changes.
    """
    s = body.skeleton
    flip = 1.0 if side == "l" else -1.0
    rest = bone_poses(s, body.default_q)[:, :3, 3]
    out: dict[int, Array] = {}
    for name in finger_names(side):
        i = s.index(name)
        finger, phalanx = name.split("_")[:2]
        above = out.get(int(s.parent[i]), np.eye(4))
        if finger == "thumb":
            turn = _turn_to(THUMB_CLOSED[phalanx] * (flip, 1.0, 1.0), THUMB_DIRECTION * (flip, 1.0, 1.0))
        else:
            turn = above[:3, :3] @ rotation_about((0.0, 0.0, 1.0), -flip * np.radians(BEND[finger][phalanx]))
        place = above[:3, :3] @ (rest[i] - rest[s.parent[i]]) + above[:3, 3]
        out[i] = transform(turn, place)
    return out


def _turn_to(wanted: Array, now: Array) -> Array:
    """The least rotation (3, 3) that turns the direction `now` into `wanted`."""
    a, b = now / np.linalg.norm(now), wanted / np.linalg.norm(wanted)
    axis = np.cross(a, b)
    return exp_so3(axis / np.linalg.norm(axis) * np.arctan2(np.linalg.norm(axis), a @ b))
