"""Lee's neck (2008, chapter 3): base, C7 to C1 and skull on eight ball joints, 24 DOF, and 72 muscles in three layers.

    body = neck(muscles="thesis")

Masses and joint springs are those of his table 3.1; where it gives a range, it runs evenly from the skull's value down
to C7. He places joints and muscles by words: joints are those of our tables, muscles lie on our bones
(`data/neck_muscles.csv`, made by docs/make_neck.py). His force law is `LinearHill` with l_m = 0.5 l0 and k_c = 7, its
forces in proportion to the weight w of table 3.2. The force of a muscle of weight 1 is not printed: UNIT_FORCE is
what it takes to nod by 45 and turn by 60 degrees against the printed springs, which are several times as stiff as a
human neck's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.tables import read_csv
from vitruvian.muscle import LinearHill, MuscleBuilder
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, bone_poses
from vitruvian.skeleton.joints import Ball, Fixed

Array = np.ndarray
NECK = ("C7", "C6", "C5", "C4", "C3", "C2", "C1", "Sku")  # the bones of its joints, from below
BASE = ("T1", "Rb1", "Ste", "Cla_l", "Cla_r")  # one rigid link
SKULL_MASS, VERTEBRA_MASS = 3.5, 0.21  # [kg], table 3.1
LEVEL_STIFFNESS, UPRIGHT_STIFFNESS = (50.0, 70.0), (25.0, 35.0)  # [N m/rad] skull to C7; about level axes, upright axis
DAMPING = 0.1  # [s] k_d / k_s
UNIT_FORCE = 1000.0  # [N] of a muscle with weight 1


def thesis_neck(whole: Body) -> Body:
    """Lee's neck on the bones of `whole`, our own head and neck at its height."""
    s = whole.skeleton
    poses = bone_poses(s, whole.default_q)
    skeleton = _skeleton(whole, poses)
    muscles = MuscleBuilder(skeleton)
    for row in read_csv("neck_muscles.csv"):
        for side in ("l", "r"):
            path = [_end(row, end, side, whole) for end in ("from", "to")]
            places = [p + poses[s.index(bone), :3, 3] for bone, p in path]
            w = float(row["weight"])
            element = LinearHill(w * UNIT_FORCE, float(np.linalg.norm(places[1] - places[0])), minimum=0.5, k_c=7.0)
            muscles.add_muscle(f"{row['name']}_{side}", path, element, group=row["group"], region="head_neck", weight=w)
    order = skeleton.names
    return replace(
        whole,
        name="neck of the thesis",
        skeleton=skeleton,
        muscles=muscles.build(),
        driven=np.ones(skeleton.n_v, dtype=bool),
        coordinate_names=tuple(f"{b} rotvec_{c}" for b in order if b in NECK for c in "xyz"),
        bone_part=np.array([whole.bone_part[s.index(b)] for b in order]),
        full_names={b: whole.full_names[b] for b in order},
        mirror={b: whole.mirror[b] for b in order},
        notes=("Lee 2008, tables 3.1 and 3.2",),
    )


def _end(row: dict[str, str], end: str, side: str, whole: Body) -> tuple[str, Array]:
    """Bone of a muscle's end and its place in the bone's frame [m]; the table has the left side."""
    bone = row[f"{end}_bone"]
    at = np.array([float(row[f"{end}_{axis}"]) for axis in "xyz"]) * whole.scale
    if side == "r":
        bone, at = whole.mirror[bone], at * (-1.0, 1.0, 1.0)
    origin = bone_poses(whole.skeleton, whole.default_q)[whole.skeleton.index(bone), :3, 3]
    return bone, at - origin


def _skeleton(whole: Body, poses: Array) -> Skeleton:
    s = whole.skeleton
    builder = SkeletonBuilder(s.gravity)
    share = np.linspace(1.0, 0.0, len(NECK))  # C7 is the stiffest, the skull the softest
    for name in (*BASE, *NECK, "Man"):
        i = s.index(name)
        parent = None if name == "T1" else str(s.names[s.parent[i]])
        place = poses[i, :3, 3] - (0.0 if parent is None else poses[s.index(parent), :3, 3])
        if name not in NECK:
            inertia = Inertia.none() if name == "Man" else _inertia(s, i)
            builder.add_bone(name, parent=parent, joint=Fixed(), placement=place, inertia=inertia)
            continue
        inertia = _scaled(_inertia(s, i), SKULL_MASS if name == "Sku" else VERTEBRA_MASS)
        level, upright = (a + share[NECK.index(name)] * (b - a) for a, b in (LEVEL_STIFFNESS, UPRIGHT_STIFFNESS))
        stiffness = np.array([level, level, upright])
        builder.add_bone(
            name,
            parent=parent,
            joint=Ball(),
            placement=place,
            inertia=inertia,
            stiffness=stiffness,
            damping=DAMPING * stiffness,
        )
    return builder.build()


def _inertia(s: Skeleton, bone: int) -> Inertia:
    mass, *moment = s.bodies[bone, 12:16]
    com = np.array(moment) / mass
    xx, xy, xz, yy, yz, zz = s.bodies[bone, 16:22]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(float(mass), com, about - mass * ((com @ com) * np.eye(3) - np.outer(com, com)))


def _scaled(inertia: Inertia, mass: float) -> Inertia:
    """The same shape with another mass [kg]."""
    return Inertia(mass, inertia.com, np.asarray(inertia.matrix) * (mass / inertia.mass))
