"""Clinical curves of a motion: joint angles, moments, powers, muscle forces and joint reactions by their usual names.

Knee, ankle, elbow and hip flexion count from where the lines between joint centres are straight (the foot: at a right
angle), other angles from the tables' upright pose. Hip and trunk are split in the order flexion, adduction or bend,
rotation (Cardan x, y, z); moments are what muscles and ligaments of the body exert ("internal"), hip moments about the
pelvis' axes. Powers are those of net moments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import Body
from vitruvian.measured.dynamics import JOINTS, Forces
from vitruvian.measured.ground import GroundForce
from vitruvian.measured.smooth import Course
from vitruvian.skeleton import bone_poses

Array = np.ndarray
SIDES = {"left": "l", "right": "r"}
REACTIONS = {"hip": "Fe", "knee": "Tfp", "ankle": "Fo", "shoulder": "Hu", "elbow": "Ul"}
POWERS = {"hip": "Fe", "knee": "Tfp", "ankle": "Fo"}


@dataclass(frozen=True, eq=False)
class Curves:
    """Tables of curves: name -> (f,). Angles [deg], moments [N m], powers [W], forces [N]."""

    time: Array
    angles: Mapping[str, Array]
    moments: Mapping[str, Array]
    powers: Mapping[str, Array]
    ground: Mapping[str, Array]
    reactions: Mapping[str, Array]
    muscle_groups: Mapping[str, Array]

    def tables(self) -> dict[str, tuple[str, Mapping[str, Array]]]:
        """Table -> unit and curves."""
        return {
            "angles": ("deg", self.angles),
            "moments": ("N m", self.moments),
            "powers": ("W", self.powers),
            "ground": ("N", self.ground),
            "reactions": ("N", self.reactions),
            "muscle_groups": ("N", self.muscle_groups),
        }


def clinical_curves(body: Body, course: Course, ground: GroundForce, forces: Forces) -> Curves:
    """All of them."""
    s = body.skeleton
    angles, moments, powers = joint_angles(body, course.q), {}, {}
    for side, x in SIDES.items():
        sign = 1.0 if x == "l" else -1.0
        hip = _turns(course.q[:, s.q_slice(f"Fe_{x}")])
        pull = np.einsum("fij,fj->fi", hip, forces.moment[:, s.v_slice(f"Fe_{x}")])
        moments[f"hip extension, {side}"] = pull[:, 0]
        moments[f"hip abduction, {side}"] = -sign * pull[:, 1]
        moments[f"knee extension, {side}"] = -forces.moment[:, s.v_slice(f"Tfp_{x}").start]
        moments[f"ankle plantarflexion, {side}"] = forces.moment[:, s.v_slice(f"Fo_{x}").start]
        for name, bone in POWERS.items():
            at = s.v_slice(f"{bone}_{x}")
            powers[f"{name}, {side}"] = (forces.moment[:, at] * course.v[:, at]).sum(axis=1)
    moments["lumbar extension (L5)"] = -forces.moment[:, s.v_slice("L5").start]
    pushes = {}
    for k, side in enumerate(SIDES):
        for c, word in ((2, "vertical"), (1, "backward"), (0, "leftward")):
            pushes[f"{word}, {side} foot"] = ground.force[:, k, c]
    reactions = {
        f"{name}, {side}": np.linalg.norm(forces.reaction[:, JOINTS.index(f"{bone}_{x}")], axis=1)
        for name, bone in REACTIONS.items()
        for side, x in SIDES.items()
    }
    reactions["L5"] = np.linalg.norm(forces.reaction[:, JOINTS.index("L5")], axis=1)
    return Curves(course.time, angles, moments, powers, pushes, reactions, _groups(body, forces.force))


def joint_angles(body: Body, q: Array) -> dict[str, Array]:
    """Joint angles [deg] by name, each (f,), of poses q (f, n_q)."""
    s = body.skeleton
    out: dict[str, Array] = {}
    T = np.array([bone_poses(s, pose) for pose in q])
    pelvis, chest = T[:, s.index("Pel"), :3, :3], T[:, s.index("T1"), :3, :3]
    a, b, c = _cardan(np.einsum("fji,fjk->fik", pelvis, chest))
    out |= {"trunk flexion": a, "trunk bend to the left": b, "trunk turn to the left": c}
    out["pelvis forward tilt"] = np.degrees(np.arcsin(np.clip(pelvis[:, 2, 1], -1.0, 1.0)))
    for side, x in SIDES.items():
        sign = 1.0 if x == "l" else -1.0
        a, b, c = _cardan(_turns(q[:, s.q_slice(f"Fe_{x}")]))
        zero = _zeros(body, x)
        out |= {
            f"hip flexion, {side}": zero["hip"] - a,
            f"hip adduction, {side}": sign * b,
            f"hip inward turn, {side}": -sign * c,
        }
        out[f"knee flexion, {side}"] = zero["knee"] + np.degrees(q[:, s.q_slice(f"Tfp_{x}").start])
        foot = np.degrees(q[:, s.q_slice(f"Fo_{x}")])
        out[f"ankle dorsiflexion, {side}"] = zero["ankle"] - foot[:, 0]
        if foot.shape[1] > 1:
            out[f"foot inversion, {side}"] = foot[:, 1]
        along = T[:, s.index(f"Ul_{x}"), :3, 3] - T[:, s.index(f"Hu_{x}"), :3, 3]
        d = np.einsum("fji,fj->fi", chest, along)
        out[f"shoulder flexion, {side}"] = np.degrees(np.arctan2(-d[:, 1], -d[:, 2]))
        out[f"shoulder abduction, {side}"] = np.degrees(np.arctan2(sign * d[:, 0], np.hypot(d[:, 1], d[:, 2])))
        out[f"elbow flexion, {side}"] = zero["elbow"] + np.degrees(q[:, s.q_slice(f"Ul_{x}").start])
    return out


def _zeros(body: Body, x: str) -> dict[str, float]:
    """Angles [deg] of the tables' upright pose, by the lines between joint centres; x: l or r."""
    s = body.skeleton
    at = bone_poses(s, body.default_q)[:, :3, 3]
    hip, knee, ankle, shoulder, elbow, wrist = (at[s.index(f"{b}_{x}")] for b in ("Fe", "Tfp", "Fo", "Hu", "Ul", "Ha"))
    thigh, shank = knee - hip, ankle - knee
    lean = [float(np.degrees(np.arctan2(-d[1], -d[2]))) for d in (thigh, shank)]  # far end ahead of the near one
    upper, lower = (d / np.linalg.norm(d) for d in (elbow - shoulder, wrist - elbow))
    bend = float(np.degrees(np.arccos(np.clip(upper @ lower, -1.0, 1.0))))
    return {"hip": lean[0], "knee": lean[0] - lean[1], "ankle": -lean[1], "elbow": bend}


def _turns(quaternions: Array) -> Array:
    return Rotation.from_quat(quaternions, scalar_first=True).as_matrix()


def _cardan(R: Array) -> tuple[Array, Array, Array]:
    angles = Rotation.from_matrix(R).as_euler("XYZ", degrees=True)
    return angles[:, 0], angles[:, 1], angles[:, 2]


def _groups(body: Body, force: Array) -> dict[str, Array]:
    """Sum of the forces of each anatomical muscle on each side [N]."""
    out: dict[str, Array] = {}
    for i, (name, group) in enumerate(zip(body.muscles.names, body.muscles.groups)):
        side = {"_l": ", left", "_r": ", right"}.get(name[-2:], "")
        key = group.replace("_", " ") + side
        out[key] = out.get(key, 0.0) + force[:, i]
    return out
