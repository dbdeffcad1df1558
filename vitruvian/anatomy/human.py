"""The human body of Lee 2008, chapter 5: 75 moving bones, 28 finger bones, 846 muscles (and 14 that the tables lack);
and parts of it.

`human()` is the whole; `neck()`, `arm(side)`, `torso()`, `legs()` and `upper_body()` move only their own joints, the
rest of the bones that their muscles need standing still. Clavicle and scapula are one bone (Lee 5.1.1) unless the
shoulder is a spline.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace

import numpy as np

from vitruvian.anatomy.architecture import with_digastric, with_fibres
from vitruvian.anatomy.ball_ribs import ball_ribs
from vitruvian.anatomy.body import PARTS, Body
from vitruvian.anatomy.fingers import add_fingers
from vitruvian.anatomy.neck import thesis_neck
from vitruvian.anatomy.proportions import Stretch, checked, stretched
from vitruvian.anatomy.riding import patellas, scapulas
from vitruvian.anatomy.scaling import Scale, scaled
from vitruvian.anatomy.spine_sections import spine_sections
from vitruvian.anatomy.spline_joints import add_spline_scapulas, clavicle_or_scapula, knee_spline
from vitruvian.anatomy.tables import PATHS, BoneRow, CoordinateRow, MuscleRow, PointRow, Tables, load_tables, mirrored
from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle import Carrier, Cylinder, LinearHill, MuscleBuilder, MuscleModel, lengths
from vitruvian.muscle.wrapping import carrier_frame
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder
from vitruvian.skeleton.joints import Ball, Fixed, Free, Joint, Revolute, Universal
from vitruvian.spatial import exp_so3, quaternion_from_rotation

Array = np.ndarray
STOP_DAMPING = 0.01  # [s] of a joint stop, times its stiffness
CHOICES = {
    "feet": ("hinge", "universal"),
    "shoulder": ("fixed", "rhythm", "spline"),
    "knee": ("hinge", "spline"),
    "pelvis": ("free", "fixed"),
    "paths": PATHS,
    "muscles": ("documents", "rigid", "elastic"),
    "ribs": ("hinge", "ball"),
    "spine": ("vertebrae", "sections"),
}


def human(
    parameters: str = "corrected",
    *,
    feet: str = "hinge",
    shoulder: str | None = None,
    knee: str = "hinge",
    pelvis: str = "free",
    paths: str | None = None,
    muscles: str = "documents",
    ribs: str = "hinge",
    spine: str = "vertebrae",
    height: float | None = None,
    mass: float | None = None,
    proportions: Mapping[str, float] | None = None,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> Body:
    """The whole body. parameters: "corrected" or "printed"; feet "universal" gives 165 DOF instead of 163; shoulder and
    knee may be spline joints (Lee 6.5); paths: "wrapped" lays muscles on the bones, "documents" are Lee's polylines
    (the printed parameters have these alone); shoulder "rhythm" turns the scapula's attachments with the arm, as is
    usual for wrapped paths, "fixed" does not; muscles "documents": Lee's, all of the line is fibre; "rigid" or
    "elastic": fibre, pennation and such a tendon; ribs "ball" make a cage that breathes (`ball_ribs`); spine "sections"
    has eight joints (`spine_sections`); height [m] and mass [kg] scale it, one alone keeps its shape; proportions: by
    how much segments are longer than in our body of that height, {"thigh": 1.05} (`anatomy.proportions`)."""
    given = {"feet": feet, "shoulder": shoulder, "knee": knee, "pelvis": pelvis, "paths": paths, "muscles": muscles}
    given |= {"ribs": ribs, "spine": spine}
    options = {k: v for k, v in given.items() if v is not None}
    scale = Scale.of(height, mass)
    return _build("human", parameters, options, scale, gravity, lambda b: True, lambda b: True, checked(proportions))


def upper_body(parameters: str = "corrected", **options: object) -> Body:
    """Trunk, arms, neck and head, on a pelvis that stands still; no legs."""
    return _part("upper body", parameters, options, lambda b: b.region != "leg", lambda b: b.region != "leg")


def neck(parameters: str = "corrected", **options: object) -> Body:
    """Head and neck on a trunk that stands still; muscles "thesis" gives the 72 of Lee's chapter 3 and its bones."""
    kept = ("head_neck", "trunk")
    if options.get("muscles") == "thesis":
        return thesis_neck(neck(parameters, **options | {"muscles": "documents"}))
    return _part("neck", parameters, options, lambda b: b.region in kept, lambda b: b.region == "head_neck")


def arm(side: str, parameters: str = "corrected", **options: object) -> Body:
    """One arm with its shoulder girdle, on a trunk that stands still."""
    if side not in ("left", "right"):
        raise unknown_name("side", side, ("left", "right"))
    end = f"_{side[0]}"
    return _part(
        f"{side} arm",
        parameters,
        options,
        lambda b: b.region == "trunk" or (b.region == "arm" and b.name.endswith(end)),
        lambda b: b.name.endswith(end) and (b.region == "arm" or b.name.startswith(("Cla", "Sca"))),
    )


def torso(parameters: str = "corrected", **options: object) -> Body:
    """Spine, ribs, sternum and shoulder girdle on a pelvis that stands still; head and neck ride along."""
    kept = ("head_neck", "trunk")
    return _part("torso", parameters, options, lambda b: b.region in kept, lambda b: b.region == "trunk")


def legs(parameters: str = "corrected", **options: object) -> Body:
    """Both legs on a pelvis that stands still."""
    lumbar = ("Pel", "L5", "L4", "L3", "L2", "L1", "T12")
    return _part(
        "legs", parameters, options, lambda b: b.region == "leg" or b.name in lumbar, lambda b: b.region == "leg"
    )


# --- building ------------------------------------------------------------------------------------------------------

Choice = Callable[[BoneRow], bool]


def _part(name: str, parameters: str, options: dict, keep: Choice, move: Choice) -> Body:
    gravity = options.pop("gravity", (0.0, 0.0, -9.81))
    scale = Scale.of(options.pop("height", None), options.pop("mass", None))
    factors = checked(options.pop("proportions", None))
    merged = {"feet": "hinge", "knee": "hinge", "pelvis": "fixed", "muscles": "documents"} | options
    return _build(name, parameters, merged, scale, gravity, keep, move, factors)


def _build(
    name: str,
    parameters: str,
    options: dict,
    scale: Scale,
    gravity: tuple,
    keep: Choice,
    move: Choice,
    factors: dict[str, float],
) -> Body:
    for key, value in options.items():
        if key not in CHOICES:
            raise unknown_name("option", key, CHOICES)
        if value not in CHOICES[key]:
            raise unknown_name(key, str(value), CHOICES[key])
    options = {"paths": "wrapped" if parameters == "corrected" else "documents"} | options
    options = {"shoulder": "rhythm" if options["paths"] == "wrapped" else "fixed"} | options
    tables = mirrored(load_tables(parameters, options["paths"]))
    tables = ball_ribs(tables) if options.get("ribs") == "ball" else tables
    tables = scaled(spine_sections(tables) if options.get("spine") == "sections" else tables, scale)
    spline = options["shoulder"] == "spline"
    if factors and (spline or options["knee"] == "spline"):
        raise InputError("proportions go with hinged knees and without the spline shoulder")
    stretch = Stretch.of(tables.bones, factors)
    tables = stretched(tables, stretch, weighed=scale.weighed)
    apart = tables.bones
    if not spline:
        tables = _merge_scapulas(tables)
    kept = {b.name: b for b in tables.bones.values() if keep(b)}
    moving = {b.name for b in kept.values() if move(b) and (b.name != "Pel" or options["pelvis"] == "free")}
    builder = SkeletonBuilder(gravity)
    driven: dict[str, list[bool]] = {}
    labels: dict[str, list[str]] = {}
    for bone in kept.values():
        rows = tables.coordinates.get(bone.name, ())
        joint = _joint(bone, options) if bone.name in moving else Fixed()
        if spline and bone.name.startswith("Sca"):
            joint, rows = add_spline_scapulas(builder, bone, tables, scale)
        if joint.n_v > len(rows) and isinstance(joint, Universal):
            rows = (*rows, _second_foot_row(bone, scale))
        _add_bone(builder, bone, kept, joint, rows)
        driven[bone.name] = (
            [r.driven for r in rows] if joint.n_v and not isinstance(joint, Free) else [False] * joint.n_v
        )
        labels[bone.name] = _labels(bone.name, joint, rows)
    fingers = add_fingers(builder, kept, scale)
    for c in tables.cartilages:
        if c.rib in kept and c.cartilage in kept:
            a, b = kept[c.rib], kept[c.cartilage]
            builder.add_spring(
                f"{c.rib}~{c.cartilage}",
                a.name,
                c.point - a.joint,
                b.name,
                c.point - b.joint,
                c.stiffness,
                c.damping,
                0.0,
            )
    skeleton = builder.build()
    riding = patellas(kept, scale.length, stretch) if options["paths"] == "wrapped" else []
    riding += scapulas(kept) if options["shoulder"] == "rhythm" else []
    muscles = _muscles(tables, skeleton, kept, apart, options["shoulder"], riding)
    bones = {**kept, **fingers}
    order = skeleton.names
    body = Body(
        name=name,
        skeleton=skeleton,
        muscles=muscles,
        driven=np.array([d for b in order for d in driven.get(b, [])], dtype=bool),
        coordinate_names=tuple(c for b in order for c in labels.get(b, [])),
        bone_part=np.array([_part_of(bones[b]) for b in order]),
        full_names={b: bones[b].full_name + {"_l": ", left", "_r": ", right"}.get(b[-2:], "") for b in order},
        mirror={b: (b[:-1] + ("r" if b[-1] == "l" else "l")) if b[-2:] in ("_l", "_r") else b for b in order},
        parameters=parameters,
        scale=scale.length,
        sizes={b: scale.length * B for b, B in stretch.matrix.items() if b in kept},
        proportions=factors,
        notes=tuple(f"{c.row} {c.field}: {c.reason}" for c in tables.corrections),
    )
    if options["muscles"] == "documents":
        return body
    grown = np.ones(body.muscles.n_muscles)
    if factors:
        plain = _build(name, parameters, options | {"muscles": "documents"}, scale, gravity, keep, move, {})
        grown = body.muscles.rest_length / plain.muscles.rest_length
    areas = {name: m.strength * m.pcsa for name, m in tables.muscles.items()}
    fibres = with_fibres(skeleton, body.muscles, areas, body.default_q, options["muscles"], scale, grown)
    return with_digastric(replace(body, muscles=fibres), options["muscles"], scale, stretch)


def _muscles(
    tables: Tables,
    skeleton: Skeleton,
    kept: dict[str, BoneRow],
    apart: dict[str, BoneRow],
    shoulder: str,
    carriers: list[Carrier],
) -> MuscleModel:
    """All muscles whose bones are kept and which cross a joint that moves, at rest in the default pose.

    apart: all bones, clavicle and scapula not yet one."""
    under = {c.name: (carrier_frame(c)[:3, 3], c.base, c.driver) for c in carriers}
    chains = skeleton.supports
    rows: list[tuple[MuscleRow, list, list]] = []
    for m in tables.muscles.values():
        rides = shoulder == "rhythm" and any(p.bone[:-2] in ("Hu", "Ul", "Rad") for p in m.points)
        owners = [_owner(p, kept, apart, shoulder, under if rides else ()) for p in m.points]
        if not all(b in kept or b in under for b in owners):
            continue
        bases = [under[b][1] if b in under else b for b in owners]
        moved_by = bases + [under[b][2] for b in owners if b in under]
        reach = np.array([chains[skeleton.index(b)] for b in moved_by])
        if not (reach.any(axis=0) & ~reach.all(axis=0)).any():
            continue  # crosses no joint that moves
        points = []
        for owner, base, p in zip(owners, bases, m.points):
            local = p.position - kept[base].joint
            points.append((owner, local - under[owner][0] if owner in under else local))
        cylinders = [
            Cylinder(
                w.segment,
                w.bone,
                tuple(w.centre - kept[w.bone].joint),
                tuple(w.axis),
                tuple(w.side),
                w.radius,
                w.slips,
            )
            for w in m.wraps
        ]
        rows.append((m, points, cylinders))
    poses = np.tile(np.eye(4), (skeleton.n_bones, 1, 1))  # of the default pose: all frames are parallel
    for name, bone in kept.items():
        poses[skeleton.index(name), :3, 3] = bone.joint
    lines = MuscleBuilder(skeleton, carriers=carriers)
    for m, points, cylinders in rows:
        lines.add_muscle(m.name, points, LinearHill(1.0, 1.0), cylinders=cylinders)
    rest = lengths(lines.build(), poses)
    muscles = MuscleBuilder(skeleton, carriers=carriers)
    for (m, points, cylinders), length in zip(rows, rest):
        try:
            element = LinearHill.from_pcsa(m.pcsa, float(length), strength=m.strength, passive=m.passive)
        except InputError as error:
            raise InputError(f"muscle '{m.name}': {error}") from None
        muscles.add_muscle(m.name, points, element, group=m.group, region=m.region, pcsa=m.pcsa, cylinders=cylinders)
    return muscles.build()


def _owner(p: PointRow, kept: dict[str, BoneRow], apart: dict[str, BoneRow], shoulder: str, under: Container) -> str:
    """The bone or carrier that a point of a path moves with."""
    if not p.bone.startswith("Cs_"):
        return p.bone
    if shoulder == "spline":
        return clavicle_or_scapula(p, kept)
    own = clavicle_or_scapula(p, apart) if shoulder == "rhythm" else ""
    return own if own in under else p.bone.replace("Cs_", "Cla_")


def _joint(bone: BoneRow, options: dict) -> Joint:
    if bone.joint_type == "free":
        return Free()
    if bone.joint_type == "ball":
        return Ball()
    if bone.name.startswith("Tfp") and options["knee"] == "spline":
        return knee_spline(bone)
    if bone.name.startswith("Fo") and options["feet"] == "universal":
        # Table 5.1 gives the foot two axes, Table C.2 prints one; the second is the long axis of the foot (inversion).
        return Universal(tuple(bone.axes[0]), (0.0, 1.0 if bone.name.endswith("_l") else -1.0, 0.0))
    if bone.joint_type == "revolute":
        return Revolute(tuple(bone.axes[0]))
    if bone.joint_type == "universal":
        return Universal(tuple(bone.axes[0]), tuple(bone.axes[1]))
    return Fixed()


def _add_bone(
    builder: SkeletonBuilder, bone: BoneRow, kept: dict[str, BoneRow], joint: Joint, rows: tuple[CoordinateRow, ...]
) -> None:
    parent = kept.get(bone.parent)
    if bone.parent and parent is None:
        raise InputError(f"bone '{bone.name}': parent '{bone.parent}' is not part of this body")
    d = bone.com
    about_com = bone.inertia - bone.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    inertia = Inertia(bone.mass, d, about_com)
    where = bone.joint - (parent.joint if parent else 0.0)
    if not joint.n_v:
        builder.add_bone(bone.name, parent=bone.parent or None, joint=joint, placement=where, inertia=inertia)
        return
    if isinstance(joint, Free):
        neutral = np.array([*bone.joint, 1.0, 0.0, 0.0, 0.0])
        builder.add_bone(bone.name, joint=joint, placement=np.zeros(3), inertia=inertia, neutral=neutral)
        return
    neutral = np.array([r.neutral for r in rows])
    low, high = np.array([r.low for r in rows]), np.array([r.high for r in rows])
    if isinstance(joint, Ball):  # ball joints count their limits from neutral
        low, high = low - neutral, high - neutral
        neutral = quaternion_from_rotation(exp_so3(neutral))
    stop = np.array([r.stop_stiffness for r in rows])
    builder.add_bone(
        bone.name,
        parent=bone.parent,
        joint=joint,
        placement=where,
        inertia=inertia,
        stiffness=np.array([r.stiffness for r in rows]),
        damping=np.array([r.damping for r in rows]),
        neutral=neutral,
        limits=(low, high),
        limit_stiffness=stop,
        limit_damping=STOP_DAMPING * stop,
    )


def _merge_scapulas(tables: Tables) -> Tables:
    """Clavicle and scapula as one bone under the clavicle's name (Lee 5.1.1)."""
    bones = dict(tables.bones)
    for side in "lr":
        c, s = bones[f"Cla_{side}"], bones.pop(f"Sca_{side}")
        shift = s.joint - c.joint
        about_com = s.inertia - s.mass * ((s.com @ s.com) * np.eye(3) - np.outer(s.com, s.com))
        far = s.com + shift
        moved = about_com + s.mass * ((far @ far) * np.eye(3) - np.outer(far, far))
        total = c.mass + s.mass
        bones[c.name] = replace(
            c,
            mass=total,
            com=(c.mass * c.com + s.mass * far) / total,
            inertia=c.inertia + moved,
            full_name="clavicle and scapula",
        )
        bones[f"Hu_{side}"] = replace(bones[f"Hu_{side}"], parent=c.name)
    return replace(tables, bones=bones)


def _second_foot_row(bone: BoneRow, scale: Scale) -> CoordinateRow:
    """Inversion and eversion: 35 and 25 degrees (joint_ranges.csv), as soft as the ankle."""
    k = scale.torque
    return CoordinateRow(
        bone.name,
        "hinge_2",
        np.radians(-25.0),
        np.radians(35.0),
        2.0 * k,
        0.3 * k * scale.time,
        0.0,
        10000.0 * k,
        True,
        "+ inversion",
    )


def _labels(bone: str, joint: Joint, rows: tuple[CoordinateRow, ...]) -> list[str]:
    if isinstance(joint, Free):
        return [f"{bone} {c}" for c in ("turn_x", "turn_y", "turn_z", "shift_x", "shift_y", "shift_z")]
    return [f"{bone} {r.coordinate}" for r in rows[: joint.n_v]]


def _part_of(bone: BoneRow) -> int:
    side = {"_l": "left ", "_r": "right "}.get(bone.name[-2:], "")
    word = {"trunk": "torso", "head_neck": "neck", "arm": side + "arm", "leg": side + "leg"}[bone.region]
    return PARTS.index(word)
