"""Poses by name and number: what key-pose files and scenes write, turned into joint coordinates.

A pose is a table from words to degrees:

    elbow = 90                               both elbows; "left elbow", "Ul_l" one of them
    shoulder = [10, 60, 0]                   a ball joint: rotation vector, as seen on the left side
    arm = { direction = [0.1, 0, -1] }       upper arm by where it points (x outward, y back, z up);
                                             with `twist` it also turns about itself
    chest = [20, 0, 0], head = [10, 0, 30]   rotation vectors against the pelvis, met by bending the spine evenly
    pelvis = { shift = [0, 0, -0.1] }        in metres against the default pose; `turn` in degrees likewise
    feet = 0                                 both feet stand as in the default pose, so many metres higher

Equal numbers on both sides mean mirrored poses. + is flexion at elbow and knee, extension at wrist and hip (see
`joints.csv`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.legs import plant_feet
from vitruvian.control.spine import bend_spine
from vitruvian.errors import InputError
from vitruvian.skeleton.joints import Ball
from vitruvian.spatial import (
    exp_so3,
    quaternion_from_rotation,
    quaternion_product,
    rotation_between,
)

Array = np.ndarray
MIRROR = np.array([1.0, -1.0, -1.0])  # of a rotation vector under x -> -x
LARGEST = 3600.0  # [degrees], or [m] where places are meant
_ARMS = {"arm": ("l", "r"), "left arm": ("l",), "right arm": ("r",)}

HANGING: Mapping[str, Any] = {"arm": {"direction": [0.16, -0.02, -1.0]}}


def pose(body: Body, table: Mapping[str, Any], start: Array | None = None, what: str = "pose") -> Array:
    """Joint coordinates (n_q,) of a pose, from the body's default pose or `start`; `what` names it in errors."""
    q = (body.default_q if start is None else start).copy()
    spine = {}
    lift = None
    for word, value in table.items():
        try:
            if word in ("chest", "head"):
                spine[word] = np.radians(_numbers(value, 3, word))
            elif word == "pelvis":
                _move_pelvis(body, q, value)
            elif word == "feet":
                lift = float(_numbers(value, 1, word)[0])
            elif word in _ARMS:
                for side in _ARMS[word]:
                    _point_arm(body, q, side, value)
            else:
                for bone in body.bones_named(word):
                    _set_joint(body, q, bone, value, word)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
    if spine:
        q = bend_spine(body, q, **spine)
    if lift is not None:
        try:
            q = plant_feet(body, q, lift)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
    return q


def _set_joint(body: Body, q: Array, bone: str, value: Any, word: str) -> None:
    s = body.skeleton
    joint = s.joints[s.index(bone)]
    if joint.n_v == 0 or bone == s.names[0]:
        raise InputError(f"joint '{word}' does not move in this body")
    angles = np.radians(_numbers(value, joint.n_v, word))
    if isinstance(joint, Ball):
        turn = angles * MIRROR if bone.endswith("_r") else angles
        q[s.q_slice(bone)] = quaternion_from_rotation(exp_so3(turn))
    else:
        q[s.q_slice(bone)] = angles


def _point_arm(body: Body, q: Array, side: str, value: Any) -> None:
    if not isinstance(value, Mapping) or set(value) - {"direction", "twist"}:
        raise InputError("'arm' needs a table with 'direction' and, if wanted, 'twist'")
    s = body.skeleton
    if f"Hu_{side}" not in s.names:
        raise InputError(f"this body has no bone 'Hu_{side}'")
    flip = np.array([1.0 if side == "l" else -1.0, 1.0, 1.0])
    wanted = np.array(_numbers(value.get("direction", (1, 0, 0)), 3, "direction")) * flip
    if not np.linalg.norm(wanted) > 0:
        raise InputError("'direction' of the arm must not be zero")
    elbow = s.bodies[s.index(f"Ul_{side}"), 9:12]  # from the shoulder, in the humerus' frame
    axis = elbow / np.linalg.norm(elbow)
    turn = rotation_between(axis, wanted / np.linalg.norm(wanted))
    twist = float(_numbers(value.get("twist", 0.0), 1, "twist")[0]) * (1.0 if side == "l" else -1.0)
    q[s.q_slice(f"Hu_{side}")] = quaternion_from_rotation(turn @ exp_so3(np.radians(twist) * axis))


def _move_pelvis(body: Body, q: Array, value: Any) -> None:
    if not body.free_root:
        raise InputError("the pelvis of this body is fixed")
    if not isinstance(value, Mapping) or set(value) - {"shift", "turn"}:
        raise InputError("'pelvis' needs a table with 'shift' [m] and 'turn' [degrees]")
    q[:3] = body.default_q[:3] + _numbers(value.get("shift", (0, 0, 0)), 3, "shift")
    turn = exp_so3(np.radians(_numbers(value.get("turn", (0, 0, 0)), 3, "turn")))
    q[3:7] = quaternion_product(quaternion_from_rotation(turn), body.default_q[3:7])


def _numbers(value: Any, n: int, word: str) -> Array:
    """A number, or a list of n numbers, as an array of shape (n,)."""
    listed = [value] if isinstance(value, int | float) else value
    good = isinstance(listed, list | tuple | np.ndarray) and len(listed) == n
    for number in listed if good else ():
        real = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
        good = good and real and -LARGEST <= number <= LARGEST
    if not good:
        raise InputError(f"'{word:.60}' needs {n} finite number{'s' * (n > 1)} within ±{LARGEST:g}, got {value!r:.80}")
    return np.array(listed, dtype=float)
