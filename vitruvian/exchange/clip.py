"""Captured clips as CSV: one row per frame, the pelvis' pose and the rotations of a simple figure of 12 joints.

Columns: `duration` [s] to the next frame, `root_x,y,z` [m], `root_q*` and `JOINT_q*` quaternions (w, x, y, z) of the
pelvis in the world and of a joint against its parent, `JOINT_angle` [rad] of knees and elbows. World of the file: x
ahead, y up, z to the right; ours: x left, y back, z up. At rest the figure stands with hanging arms, and hinges turn
about z: knees bend with negative, elbows with positive angles. Its segment lengths are those below.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.errors import InputError
from vitruvian.given_file import csv_rows
from vitruvian.measured import Segments, Trial

Array = np.ndarray
MOST_BYTES = 50_000_000
AXES = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # file to ours
# joint -> parent, offset from it [m] in the file's axes, our bone, hinge or ball
FIGURE: dict[str, tuple[str, tuple[float, float, float], str, bool]] = {
    "chest": ("root", (0.0, 0.236, 0.0), "T1", False),
    "neck": ("chest", (0.0, 0.224, 0.0), "Sku", False),
    "right_hip": ("root", (0.0, 0.0, 0.085), "Fe_r", False),
    "right_knee": ("right_hip", (0.0, -0.422, 0.0), "Tfp_r", True),
    "right_ankle": ("right_knee", (0.0, -0.410, 0.0), "Fo_r", False),
    "right_shoulder": ("chest", (-0.024, 0.244, 0.183), "Hu_r", False),
    "right_elbow": ("right_shoulder", (0.0, -0.275, 0.0), "Ul_r", True),
    "left_hip": ("root", (0.0, 0.0, -0.085), "Fe_l", False),
    "left_knee": ("left_hip", (0.0, -0.422, 0.0), "Tfp_l", True),
    "left_ankle": ("left_knee", (0.0, -0.410, 0.0), "Fo_l", False),
    "left_shoulder": ("chest", (-0.024, 0.244, -0.183), "Hu_l", False),
    "left_elbow": ("left_shoulder", (0.0, -0.275, 0.0), "Ul_l", True),
}
PLACED = ("Fe_l", "Fe_r", "Tfp_l", "Tfp_r", "Fo_l", "Fo_r", "Hu_l", "Hu_r", "Ul_l", "Ul_r")


def read_clip(path: str | Path) -> Trial:
    """Read and check a clip."""
    path = Path(path)
    rows = csv_rows(path, MOST_BYTES)
    head = rows[0] if rows else []
    wanted = ["duration", "root_x", "root_y", "root_z", *(f"root_q{c}" for c in "wxyz")]
    for joint, (_, _, _, hinge) in FIGURE.items():
        wanted += [f"{joint}_angle"] if hinge else [f"{joint}_q{c}" for c in "wxyz"]
    missing = [name for name in wanted if name not in head]
    if missing:
        raise InputError(f"{path.name}: not a clip; it has no column {', '.join(missing[:6])}")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(head):
            raise InputError(f"{path.name}: line {number} has {len(row)} columns, the head {len(head)}")
    try:
        values = np.array(rows[1:], dtype=float).reshape(-1, len(head))
    except ValueError:
        raise InputError(f"{path.name}: something is not a number") from None
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{path.name}: line {bad[0][0] + 2}, column {head[bad[0][1]]} is not finite")
    column = {name: values[:, i] for i, name in enumerate(head)}
    if len(values) < 3:
        raise InputError(f"{path.name}: needs three frames or more, has {len(values)}")
    time = np.concatenate([[0.0], np.cumsum(column["duration"][:-1])])
    return Trial(path.name, "clip", time, segments=_segments(column, path.name))


def _segments(column: dict[str, Array], what: str) -> Segments:
    turn = {"root": _quaternions(column, "root", what)}
    place = {"root": np.column_stack([column[f"root_{c}"] for c in "xyz"])}
    for joint, (parent, offset, _, hinge) in FIGURE.items():
        if hinge:
            own = Rotation.from_rotvec(column[f"{joint}_angle"][:, None] * np.array([0.0, 0.0, 1.0]))
        else:
            own = _quaternions(column, joint, what)
        turn[joint] = turn[parent] * own
        place[joint] = place[parent] + turn[parent].apply(offset)
    turns, joints = {"Pel": _ours(turn["root"])}, {"Pel": place["root"] @ AXES.T}
    for joint, (_, _, bone, _) in FIGURE.items():
        turns[bone] = _ours(turn[joint])
        if bone in PLACED:
            joints[bone] = place[joint] @ AXES.T
    along = {}
    for side, sign in (("l", 1.0), ("r", -1.0)):  # our default pose has the arms out, theirs hanging
        hanging = Rotation.from_euler("y", sign * 90.0, degrees=True).as_matrix()
        for bone in (f"Hu_{side}", f"Ul_{side}"):
            turns[bone] = turns[bone] @ hanging
            along[bone] = np.array([sign, 0.0, 0.0])
        along |= {f"{bone}_{side}": np.array([0.0, 0.0, -1.0]) for bone in ("Fe", "Tfp")}
    return Segments(turns, joints, along)


def _quaternions(column: dict[str, Array], joint: str, what: str) -> Rotation:
    q = np.column_stack([column[f"{joint}_q{c}"] for c in "wxyz"])
    off = np.abs(np.linalg.norm(q, axis=1) - 1.0)
    if off.max() > 0.01:
        raise InputError(f"{what}: the quaternion of {joint} in frame {int(off.argmax()) + 1} has not unit length")
    return Rotation.from_quat(q, scalar_first=True)


def _ours(turn: Rotation) -> Array:
    return np.einsum("ij,fjk,lk->fil", AXES, turn.as_matrix(), AXES)
