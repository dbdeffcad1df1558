"""Fibre, pennation, tendon and, for the neck, strength of every muscle from published architecture.

`muscle_architecture.csv` gives fibre length l0 and pennation by muscle, and the pose in which the fully active fibre is
at l0. A published length belongs to a man of another stature and grows with the body. The tendon's slack length follows
from the model's own path in that pose,

    l_slack = (L(pose) - l0 cos(alpha0)) / (tendon stretch at F_max),

so that it stays right when paths change; published slack lengths belong to other paths. Where no fibre length is
published the fibre is a share of the path, and where a published fibre would fill more than `MOST` of the path (lines
of one slip, shorter than the muscle) it is cut to that. Where a published force is given, our lines of that muscle
share it as their areas in the tables; elsewhere F_max is that of the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.proportions import Stretch
from vitruvian.anatomy.scaling import STATURE, Scale
from vitruvian.anatomy.tables import read_csv
from vitruvian.errors import InputError
from vitruvian.muscle import FibreTendon, MuscleModel, lengths
from vitruvian.skeleton import Skeleton, bone_poses, integrate

Array = np.ndarray
MOST = 0.85  # of the path that a fibre may take
_TURNS = {  # word of a pose: bone, coordinate of its joint, sign of the angle, on the left side
    "hip": ("Fe", 0, -1.0),
    "knee": ("Tfp", 0, 1.0),
    "ankle": ("Fo", 0, 1.0),
    "elbow": ("Ul", 0, 1.0),
    "forearm": ("Rad", 0, 1.0),
}
_ARM = 10.0  # degrees of the hanging arm from the side


@dataclass(frozen=True)
class ArchitectureRow:
    """Architecture of the muscles whose names (without side) match a pattern."""

    muscles: str
    fibre_length: float  # l0 [m] in a body of our tables' stature, 0 if unknown
    share: float  # of the path, if the length is unknown
    pennation: float  # [rad]
    force: float  # F_max of all lines of one side together [N], 0: as in the tables
    pose: str  # e.g. "hip 45 knee 45": degrees from the tables' pose, arms hanging unless said
    source: str
    grade: str  # A read in a published model file, B from tables or partly read, C recalled order, D a family's share


def architecture() -> list[ArchitectureRow]:
    """The rows of `muscle_architecture.csv`."""
    return [
        ArchitectureRow(
            r["muscles"],
            1e-3 * float(r["fibre_length_mm"]) * STATURE / float(r["stature_m"]) if r["fibre_length_mm"] else 0.0,
            float(r["fibre_share"] or 0.0),
            float(np.radians(float(r["pennation_deg"]))),
            float(r["force_N"] or 0.0),
            r["pose_at_optimum"],
            r["source"],
            r["grade"],
        )
        for r in read_csv("muscle_architecture.csv")
    ]


def row_of(name: str, rows: Sequence[ArchitectureRow]) -> ArchitectureRow:
    """The row of a muscle, e.g. "vastus_01_l"."""
    stem = name.removesuffix("_l").removesuffix("_r")
    found = [r for r in rows if fnmatch(stem, r.muscles)]
    if len(found) != 1:
        raise InputError(f"muscle '{name}': {len(found)} rows of muscle_architecture.csv instead of one")
    return found[0]


def with_fibres(
    skeleton: Skeleton,
    muscles: MuscleModel,
    areas: Mapping[str, float],
    default_q: Array,
    tendon: str,
    scale: Scale,
    grown: Array,
) -> MuscleModel:
    """The same lines with fibre and tendon ("elastic" or "rigid"); areas: of all lines of the tables by name, also of
    those that this body lacks, by which they share a published force; default_q: the tables' pose (n_q,);
    grown: by how much paths are longer than with our proportions (n_muscles,)."""
    table = architecture()
    rows = [row_of(name, table) for name in muscles.names]
    path = {p: lengths(muscles, bone_poses(skeleton, posed(skeleton, default_q, p))) for p in {r.pose for r in rows}}
    together: dict[tuple[str, str], float] = {}  # area by row and side
    for name, area in areas.items():
        key = row_of(name, table).muscles, name[-2:]
        together[key] = together.get(key, 0.0) + area
    elements = []
    for m, r in enumerate(rows):
        whole, force = float(path[r.pose][m]), float(muscles.f_max[m])
        if r.force:
            name = muscles.names[m]
            force = r.force * scale.mass / scale.length * areas[name] / together[r.muscles, name[-2:]]
        wanted = scale.length * grown[m] * r.fibre_length or r.share * whole
        fibre = min(wanted, MOST * whole / float(np.cos(r.pennation)))
        passive = bool(getattr(muscles.elements[m], "passive", True))
        elements.append(FibreTendon.along(force, whole, fibre, r.pennation, tendon, passive=passive))
    return muscles.with_elements(elements)


def with_digastric(body: Body, tendon: str, scale: Scale, stretch: Stretch) -> Body:
    """The body with the muscle without which its neck would be too weak in flexion, and which the documents lack."""
    points: dict[str, list[tuple[str, Array]]] = {}
    for r in read_csv("digastric.csv"):
        place = scale.length * 1e-3 * np.array([float(r[k]) for k in ("x_mm", "y_mm", "z_mm")])
        if r["bone"] in stretch.bones:
            place = stretch.place(r["bone"], place)
        points.setdefault(r["muscle_id"], []).append((r["bone"], place))
    table = architecture()
    for name, path in points.items():
        row = row_of(name, table)
        if not all(bone in body.mirror for bone, _ in path):
            continue
        whole = float(np.linalg.norm(np.diff([x for _, x in path], axis=0), axis=1).sum())
        fibre = min(scale.length * row.fibre_length, MOST * whole / float(np.cos(row.pennation)))
        force = row.force * scale.mass / scale.length
        muscle = FibreTendon.along(force, whole, fibre, row.pennation, tendon)
        for side, flip in (("l", 1.0), ("r", -1.0)):
            there = [(bone, x * (flip, 1.0, 1.0)) for bone, x in path]
            body = body.with_muscle(
                f"{name}_{side}", there, element=muscle, world=True, group="Digastric", region="head_neck"
            )
    return body


def posed(skeleton: Skeleton, default_q: Array, words: str) -> Array:
    """Joint coordinates (n_q,) of a pose in words, both sides alike; joints that are not there are left out."""
    parts = words.removeprefix("standing").split()
    angle = {"arm": _ARM} | {word: float(value) for word, value in zip(parts[::2], parts[1::2])}
    turn = np.zeros(skeleton.n_v)
    for side, mirror in (("l", 1.0), ("r", -1.0)):
        for word, degrees in angle.items():
            bone, k, sign = ("Hu", 1, mirror) if word == "arm" else _TURNS[word]
            degrees = 90.0 - degrees if word == "arm" else degrees
            name = f"{bone}_{side}"
            if name in skeleton.names and skeleton.joints[skeleton.index(name)].n_v > k:
                turn[skeleton.v_slice(name).start + k] = np.radians(sign * degrees)
    return integrate(skeleton, default_q, turn, 1.0)
