"""Bodies of other proportions: segments longer or shorter than a body of our shape and that height has them.

A segment's factor f stretches its bones along the line a between its joints in the tables' pose, B = 1 + (f - 1) a aᵀ;
the pelvis grows in all directions, the trunk upwards. With J the joints, a place p on bone b goes to

    p' = J'_b + B_b (p - J_b),    J'_b = J'_parent + B_parent (J_b - J_parent),

so that paths, cylinders and centres of mass go along. At uniform density a bone's mass goes with det B, its second
moments with det B · B M B. A cylinder keeps its radius but on the pelvis. The patella keeps its place at the knee.
Muscles keep their cross-section; a fibre of published length grows as its path does. What no factor names keeps our
proportions: hands, neck, head, and all breadths but the pelvis'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from vitruvian.anatomy.tables import BoneRow, MuscleRow, Tables
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
LEAST, MOST = 0.5, 2.0  # of a factor
# segment -> its bones, and the joints between which it is measured; the trunk is all of that region that no other has
SEGMENTS: dict[str, tuple[tuple[str, ...], tuple[str, str]]] = {
    "pelvis": (("Pel",), ("", "")),
    "trunk": ((), ("", "")),
    "shoulders": (("Cla", "Sca"), ("Cla", "Hu")),
    "upper arm": (("Hu",), ("Hu", "Ul")),
    "forearm": (("Ul", "Rad"), ("Ul", "Ha")),
    "thigh": (("Fe",), ("Fe", "Tfp")),
    "shank": (("Tfp",), ("Tfp", "Fo")),
    "foot": (("Fo",), ("", "")),
}
UPWARDS, FORWARDS = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


def checked(proportions: Mapping[str, float] | None) -> dict[str, float]:
    """Factors by segment, those of 1 left out; an error for what is none."""
    out = {}
    for name, factor in (proportions or {}).items():
        if name not in SEGMENTS:
            raise unknown_name("segment", name, SEGMENTS)
        if isinstance(factor, bool) or not isinstance(factor, int | float | np.number):
            raise InputError(f"proportions: {name} must be a number, got {factor!r}")
        if not LEAST <= factor <= MOST:
            raise InputError(f"proportions: {name} must lie between {LEAST:g} and {MOST:g}, got {factor:g}")
        if factor != 1.0:
            out[name] = float(factor)
    return out


def segment_of(bone: str, region: str) -> str:
    """The segment that a bone of a region (of the tables) belongs to, "" if none."""
    stem = bone.removesuffix("_l").removesuffix("_r")
    named = next((name for name, (bones, _) in SEGMENTS.items() if stem in bones), "")
    return named or ("trunk" if region == "trunk" else "")


def directions(joints: Mapping[str, Array], segments: Mapping[str, str]) -> dict[str, Array]:
    """a aᵀ (3, 3) of every bone of a segment: the part of a place that its factor stretches.

    joints: bone -> joint in the tables' pose [m]; segments: bone -> segment or ""."""
    out = {}
    for name in joints:
        segment = segments[name]
        if not segment:
            continue
        near, far = (end and f"{end}{name[-2:]}" for end in SEGMENTS[segment][1])
        if segment == "pelvis":
            out[name] = np.eye(3)
            continue
        along = joints[far] - joints[near] if near else (FORWARDS if segment == "foot" else UPWARDS)
        out[name] = np.outer(along, along) / (along @ along)
    return out


@dataclass(frozen=True, eq=False)
class Stretch:
    """Where the places of a body go as its segments get their factors."""

    factors: Mapping[str, float]  # segment -> factor
    bones: Mapping[str, BoneRow]  # before
    matrix: Mapping[str, Array]  # bone -> B, those of stretched bones
    joint: Mapping[str, Array]  # bone -> J' [m]

    @classmethod
    def of(cls, bones: Mapping[str, BoneRow], factors: Mapping[str, float]) -> Stretch:
        """From the factors by segment."""
        segments = {name: segment_of(name, bone.region) for name, bone in bones.items()}
        along = directions({name: bone.joint for name, bone in bones.items()}, segments) if factors else {}
        matrix = {
            name: np.eye(3) + (factors[segments[name]] - 1.0) * a
            for name, a in along.items()
            if segments[name] in factors
        }
        joint: dict[str, Array] = {}
        for name, bone in bones.items():  # parents come first
            up = bones.get(bone.parent)
            if up is None:
                joint[name] = bone.joint
            else:
                joint[name] = joint[up.name] + matrix.get(up.name, np.eye(3)) @ (bone.joint - up.joint)
        if "Fo_l" in joint:  # soles stay on the ground
            rise = (bones["Fo_l"].joint - joint["Fo_l"]) * UPWARDS
            joint = {name: x + rise for name, x in joint.items()}
        return cls(factors, bones, matrix, joint)

    def place(self, bone: str, x: Array) -> Array:
        """Where a place x [m] of the tables' pose on a bone goes."""
        if not self.factors:
            return x
        if bone.startswith("Pat"):  # at the knee, whose size is the body's
            knee = f"Tfp{bone[-2:]}"
            return np.asarray(self.joint[knee] + x - self.bones[knee].joint)
        own = bone.replace("Cs_", "Cla_")
        return np.asarray(self.joint[own] + self.matrix.get(own, np.eye(3)) @ (x - self.bones[own].joint))


def stretched(tables: Tables, stretch: Stretch, *, weighed: bool) -> Tables:
    """The tables with every segment times its factor; weighed: the body keeps its mass."""
    if not stretch.factors:
        return tables
    bones = {
        name: _stretched_bone(b, stretch.matrix.get(name), stretch.joint[name]) for name, b in tables.bones.items()
    }
    if weighed:
        ratio = sum(b.mass for b in tables.bones.values()) / sum(b.mass for b in bones.values())
        bones = {n: replace(b, mass=ratio * b.mass, inertia=ratio * b.inertia) for n, b in bones.items()}
    muscles = {name: _stretched_muscle(m, stretch) for name, m in tables.muscles.items()}
    cartilages = tuple(replace(c, point=stretch.place(c.rib, c.point)) for c in tables.cartilages)
    return replace(tables, bones=bones, muscles=muscles, cartilages=cartilages)


def _stretched_bone(bone: BoneRow, B: Array | None, joint: Array) -> BoneRow:
    if B is None:
        return replace(bone, joint=joint)
    volume = float(np.linalg.det(B))
    moments = 0.5 * np.trace(bone.inertia) * np.eye(3) - bone.inertia
    moments = volume * B @ moments @ B
    inertia = np.trace(moments) * np.eye(3) - moments
    return replace(bone, joint=joint, com=B @ bone.com, mass=volume * bone.mass, inertia=inertia)


def _stretched_muscle(m: MuscleRow, stretch: Stretch) -> MuscleRow:
    points = tuple(replace(p, position=stretch.place(p.bone, p.position)) for p in m.points)
    grown = stretch.factors.get("pelvis", 1.0)
    wraps = tuple(
        replace(w, centre=stretch.place(w.bone, w.centre), radius=w.radius * (grown if w.bone == "Pel" else 1.0))
        for w in m.wraps
    )
    return replace(m, points=points, wraps=wraps)
