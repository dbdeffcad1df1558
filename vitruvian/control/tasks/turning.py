"""Turning over: the tasks that do it, and random starts to try it from."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.anatomy import Body, buoyancy
from vitruvian.control.poses import pose
from vitruvian.control.tasks.capsules import Capsules
from vitruvian.control.tasks.gather import Task
from vitruvian.control.tasks.limbs import Natural
from vitruvian.control.tasks.tasks import TRUNK, Hold, Orient, Rest, Rotate, Untwist
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin
from vitruvian.spatial import exp_so3, quaternion_from_rotation

Array = np.ndarray
CLEAR = 0.01  # [m] overlap of capsules that a start may have
HANDS = ("Ha", "Rad")  # paddles: held in line with the forearm, which is not turned
EASED = 0.3  # share of the wish to turn that is left once he lies: then the water keeps him
# Arms straight out. A rigid body in this pose, 50° off prone, rolls back to it within 2 s in still water, and after 6 s
# its chest is pitched by 14°; with the arms up and out by 23°, with bent knees it stands upright
FLOATING = {"arm": {"direction": [1.0, 0.0, 0.0]}}


def turning_tasks(
    body: Body, face_up: bool, *, natural: float = 0.0, rest: Array | None = None, rests: bool = True
) -> list[Task]:
    """What turns him over and keeps him there; natural: weight of the limbs' learned motion; rest: a pose to take.
    rests: False for one who has more to do than to lie, such as to point at a place: his limbs but the hands, and his
    back, stay free."""
    resting = pose(body, FLOATING) if rest is None else rest
    near = Rest.near if rests else Rest.far  # weight of the pose once he lies
    tasks: list[Task] = [Orient(face_up, eased=EASED), Untwist(), Rotate(face_up), Rest(resting, face_up, near=near)]
    tasks.append(Hold(resting, weight=3.0, gain=4.0, bones=HANDS, name="hands"))
    if rests:
        tasks.append(Hold(resting, weight=3.0, gain=4.0, bones=TRUNK, name="trunk"))  # he turns as one piece
    if natural > 0.0:
        tasks.append(Natural(body, natural))
    return tasks


def random_start(body: Body, skin: BoundSkin, seed: int, capsules: Capsules | None = None) -> Array:
    """Coordinates of a body at rest in the water: any roll, head up or down by 30°, any pose of the limbs, centre of
    mass 10 to 30 cm deep. Poses whose capsules overlap by a centimetre are drawn again."""
    rng = np.random.default_rng(seed)
    while True:
        q = pose(body, _limbs(rng))
        if capsules is None or capsules.overlap(bone_poses(body.skeleton, q)) < CLEAR:
            break
    roll, pitch = rng.uniform(-np.pi, np.pi), rng.uniform(-np.pi / 6.0, np.pi / 6.0)
    lying = exp_so3(np.array([np.pi / 2.0 + pitch, 0.0, 0.0]))
    q[3:7] = quaternion_from_rotation(lying @ exp_so3(np.array([0.0, 0.0, roll])))
    q[:3] = 0.0
    q[2] -= buoyancy(body, skin, q).centre_of_mass[2] + rng.uniform(0.1, 0.3)
    return q


def _limbs(rng: np.random.Generator) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for side in ("left", "right"):
        table[f"{side} arm"] = {"direction": [rng.uniform(0.2, 1.0), rng.uniform(-1.0, 0.3), rng.uniform(-1.0, 1.0)]}
        table[f"{side} elbow"], table[f"{side} knee"] = rng.uniform(5.0, 90.0), rng.uniform(5.0, 80.0)
        table[f"{side} hip"] = [rng.uniform(-70.0, 5.0), rng.uniform(-5.0, 15.0), 0.0]
    return table
