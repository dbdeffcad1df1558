"""Lays the muscles on the bones: writes path_points.csv and wraps.csv of vitruvian/anatomy/data.

    python docs/make_paths.py

1. By hand (`HAND`, `WRAPS`): points too near a joint's axis moved, tendons carried on to their true ends, cylinders.
2. Ends more than 4 mm off their bone are put on its surface.
3. Static pierces: the deepest point of a path inside a bone is pushed out of it (2.5 mm) and kept as a via on that
   bone, where that helps over all of POSES and reverses no moment arm; repeated until nothing is left to mend.

What it finds is data with a reason in each row; look at the pictures before keeping it.
"""

# ruff: noqa: E501 -- tables
from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy import human
from vitruvian.anatomy.surfaces import shown_surfaces
from vitruvian.anatomy.surfaces.clearance import CELL, Clearance, _read
from vitruvian.anatomy.tables import load_tables, read_csv
from vitruvian.control import pose
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import world_twists
from vitruvian.spatial import transform

DATA = Path(__file__).parent.parent / "vitruvian" / "anatomy" / "data"
H = {"direction": [0.16, -0.02, -1.0]}
POSES = {
    "T pose": {},
    "arms hanging": {"arm": H},
    "elbow 90": {"arm": H, "elbow": 90},
    "elbow 125": {"arm": H, "elbow": 125},
    "hip 90 knee 90": {"arm": H, "hip": [-90, 0, 0], "knee": 90},
    "knee 105": {"arm": H, "knee": 105},
    "arms overhead": {"arm": {"direction": [0.25, 0, 1.0]}, "clavicle": [0, -20]},
    "arms forward": {"arm": {"direction": [0.1, -1, 0]}},
    "trunk 35 head 30": {"arm": H, "chest": [35, 0, 0], "head": [60, 0, 0]},
    "head turn 45": {"arm": H, "head": [0, 0, 45]},
}
MORE_POSES = [  # ends of ranges, in which moment arms must not suffer either
    {"knee": 138}, {"knee": 60}, {"hip": [-115, 0, 0], "knee": 120}, {"hip": [-60, 0, 0], "knee": 60}, {"hip": [15, 0, 0]},
    {"arm": H, "elbow": -10}, {"arm": H, "elbow": 60, "forearm": 80}, {"arm": H, "elbow": 90, "forearm": 155},
    {"arm": H, "elbow": 90, "wrist": [-70, 0]}, {"arm": H, "elbow": 90, "wrist": [60, 0]}, {"ankle": 40}, {"ankle": -15},
    {"hip": [0, -35, 0]}, {"hip": [0, 20, 0]}, {"arm": {"direction": [0.8, 0.5, -0.3]}}, {"chest": [-15, 0, 0]},
]  # fmt: skip
EXACT, FUNCTIONAL = "medium", "low"

# muscle, point of the corrected path, action, bone, (x, y, z) mm in the default pose, confidence, reason
NEAR_AXIS = "too near the joint's axis: the line reverses in deep flexion"
TENDON = "carried on to its bony end; the part on one bone changes no moment arm"
HAND = [
    # knee: points behind the femur's axis move up, in or to the tibia; the quadriceps ends on the patella
    ("gastrocnemius_01", 0, "set", "Fe", (146, -52, 568), FUNCTIONAL, "top of the lateral condyle; " + NEAR_AXIS),
    ("gastrocnemius_02", 0, "set", "Fe", (125, -55, 567), FUNCTIONAL, "top of the medial condyle; " + NEAR_AXIS),
    ("gastrocnemius_02", 0, "after", "Tfp", (119.5, -14, 490.7), EXACT, "behind the edge of the tibia"),
    ("plantaris_01", 0, "set", "Fe", (146, -52, 568), FUNCTIONAL, "top of the lateral condyle; " + NEAR_AXIS),
    ("plantaris_01", 1, "set", "Tfp", (155, 5, 357), EXACT, "beside the lateral gastrocnemius, out of the tibia"),
    ("popliteus_01", 0, "set", "Fe", (175, -52, 532), EXACT, "groove below the lateral epicondyle"),
    ("semimembranosus_01", 1, "drop", "", (), EXACT, "via on the femur; " + NEAR_AXIS),
    ("gracilis_01", 1, "set", "Tfp", (99, -33, 498), EXACT, "via moved from the femur to the tibia; " + NEAR_AXIS),
    ("sartorius_01", 1, "set", "Tfp", (90, -40, 500), EXACT, "via moved from the femur to the tibia; " + NEAR_AXIS),
    ("semitendinosus_01", 1, "set", "Tfp", (102, -40, 488), EXACT, "behind the tibia's medial edge; " + NEAR_AXIS),
    ("biceps_femoris_01", 1, "drop", "", (), EXACT, "via on the femur; " + NEAR_AXIS),
    ("rectus_femoris_01", 1, "set", "Pat", (127, -106.2, 554.6), EXACT, "base of the patella"),
    ("vastus_01", 1, "set", "Pat", (127, -104, 554.6), EXACT, "base of the patella"),
    ("vastus_02", 2, "set", "Pat", (137, -104, 552), EXACT, "upper lateral edge of the patella"),
    ("vastus_03", 2, "set", "Pat", (117, -104, 552), EXACT, "upper medial edge of the patella"),
    # shoulder, elbow and wrist
    ("pectoralis_major_01", 0, "after", "Cs", (92, -62, 1597), EXACT, "over the second rib"),
    ("biceps_brachii_01", 1, "set", "Hu", (238, 14, 1577), EXACT, "in the groove of the humerus, below its head"),
    ("subscapularis_01", 0, "set", "Cs", (82.3, 91.0, 1564), EXACT, "upper third of the blade, below its spine"),
    ("subscapularis_01", 2, "set", "Hu", (207.1, -2.6, 1572.6), EXACT, "lesser tubercle"),
    ("triceps_brachii_03", 2, "drop", "", (), EXACT, "34 mm above the elbow's axis: no extension when straight"),
    ("triceps_brachii_01", 2, "drop", "", (), EXACT, "as the long head: the olecranon alone"),
    ("anconeus_01", 0, "set", "Hu", (463, 124, 1581), EXACT, "back of the lateral epicondyle; " + NEAR_AXIS),
    ("pronator_03", 1, "set", "Rad", (545, 99, 1578), EXACT, "out of the radius, 4 mm off its surface at most"),
    ("pronator_02", 0, "set", "Hu", (455.5, 108, 1536), EXACT, "above the medial epicondyle; " + NEAR_AXIS),
    ("flexor_carpi_02", 0, "set", "Ha", (792, 97, 1543), EXACT, "into the palm; " + NEAR_AXIS),
    ("extensor_carpi_02", 2, "drop", "", (), EXACT, "via on the hand, on the wrong side of the wrist's axis"),
    ("flexor_carpi_02", 0, "before", "Ha", (815, 112, 1543), EXACT, "base of the fifth metacarpal; " + TENDON),
    ("palmaris_longus_01", 2, "after", "Ha", (815, 112, 1570), EXACT, "palmar fascia; " + TENDON),
    *(
        (f"flexor_digitorum_superficialis_0{k}", 2, "after", "Ha", (at, 112, z), EXACT, "towards the finger; " + TENDON)
        for k, at, z in ((1, 825, 1572), (2, 825, 1552), (3, 830, 1590), (4, 825, 1540))
    ),
    ("palmaris_longus_01", 2, "set", "Ha", (800, 101, 1568), EXACT, "into the palm, 7 mm from the wrist's axis"),
    # hip
    *(
        (f"iliopsoas_0{k}", 1, "set", "Pel", (x, y, 1050), EXACT, "on the pelvic brim; " + NEAR_AXIS)
        for k, x, y in ((1, 80, -72), (2, 79, -75), (3, 82, -71), (4, 84, -71), (5, 86, -71), (6, 88, -71))
    ),
    ("iliopsoas_02", 2, "before", "Fe", (117.9, -12, 929.4), EXACT, "in front of the lesser trochanter"),
    ("iliacus_01", 1, "set", "Pel", (90, -72, 1050), EXACT, "on the pelvic brim; " + NEAR_AXIS),
    ("multifidus_26", 2, "drop", "", (), EXACT, "via of L5 inside the pelvis"),
    # ends that lie on ligaments or fascia: kept as vias, carried on to bone
    (
        "external_internal_obliques_07",
        0,
        "before",
        "Pel",
        (120.7, -104.3, 1096.1),
        EXACT,
        "inguinal ligament; " + TENDON,
    ),
    ("external_internal_obliques_08", 0, "before", "Pel", (25, -75, 985), EXACT, "inguinal ligament; " + TENDON),
    ("pectoralis_major_05", 0, "set", "Cc5", (41, -156, 1428), EXACT, "lies on the fifth cartilage, not the sternum"),
    ("gluteus_01", 0, "before", "Pel", (39, 73, 1073), EXACT, "mean fibre of the lower sacrum; " + TENDON),
    ("trapezius_06", 1, "after", "Cs", (172, 48, 1620), EXACT, "to the acromion; " + TENDON),
    # long tendons of the foot
    ("extensor_hallucis_longus_01", 1, "after", "Fo", (135, -215, 25), EXACT, "hallux; " + TENDON),
    ("extensor_digitorum_longus_01", 1, "after", "Fo", (175, -190, 20), EXACT, "toes; " + TENDON),
    ("peroneus_03", 1, "after", "Fo", (195, -95, 25), EXACT, "base of the fifth metatarsal; " + TENDON),
    ("peroneus_01", 1, "after", "Fo", (200, -80, 15), EXACT, "base of the fifth metatarsal; " + TENDON),
    ("peroneus_02", 1, "after", "Fo", (186, -45, 12), EXACT, "under the cuboid; " + TENDON),
    ("peroneus_02", 1, "after", "Fo", (140, -110, 15), EXACT, "base of the first metatarsal, from below; " + TENDON),
]

AS_THEY_ARE = (
    "pronator_02",
    "pronator_03",
    "pronator_01",
    "supinator_01",
    "latissimus_dorsi_02",
)  # a via near the forearm's axis reverses them

KNEE, ELBOW, WRIST = (0.9963, -0.0302, 0.0805), (-0.1399, 0.04, -0.9894), (0.0, 0.0, 1.0)
BACK, FRONT = (0, 1, 0), (0, -1, 0)
GROOVE = (129.0, -64.2, 538.2)  # circle through the patella's base, in the femur's groove
# muscle, far point's order in the final path or -1 for the last, bone, centre mm, axis, side, radius mm, reason
WRAPS = [
    *(
        (m, k, "Fe", (129.0, -55.0, 538.0), KNEE, BACK, r, "femoral condyles, coaxial with the knee")
        for m, k, r in (
            ("gastrocnemius_01", 0, 24), ("gastrocnemius_02", 0, 22), ("plantaris_01", 0, 24),
            ("semimembranosus_01", 0, 28), ("gracilis_01", 0, 28), ("sartorius_01", 0, 22), ("semitendinosus_01", 0, 28),
            ("biceps_femoris_02", 0, 25), ("biceps_femoris_01", 0, 25),
        )
    ),
    *(
        (m, k, "Fe", GROOVE, KNEE, FRONT, 42.8, "femoral groove under the quadriceps")
        for m, k in (("rectus_femoris_01", 0), ("vastus_01", 0), ("vastus_02", 1), ("vastus_03", 1))
    ),
    *(
        (m, k, "Hu", (473.0, 115.0, 1554.0), ELBOW, side, r, "lower end of the humerus, coaxial with the elbow")
        for m, k, side, r in (
            ("biceps_brachii_01", 1, FRONT, 20), ("biceps_brachii_02", 1, FRONT, 20), ("brachialis_01", 1, FRONT, 14),
            ("brachioradialis_01", 0, FRONT, 20), ("triceps_brachii_01", 1, BACK, 20),
            ("triceps_brachii_02", 1, BACK, 18.9), ("triceps_brachii_03", 1, BACK, 20), ("anconeus_01", 0, BACK, 12),
        )
    ),
    *(
        (m, k, bone, (770.0, 113.0, 1569.0), WRIST, side, r, "carpus, coaxial with flexion of the wrist")
        for m, k, bone, side, r in (
            ("flexor_carpi_01", 2, "Rad", FRONT, 13), ("flexor_carpi_02", 1, "Rad", FRONT, 14),
            ("extensor_carpi_01", 1, "Rad", BACK, 12), ("extensor_carpi_02", 1, "Rad", BACK, 12),
            ("extensor_carpi_03", 2, "Ul", BACK, 9), ("flexor_digitorum_superficialis_01", 1, "Rad", FRONT, 12),
            ("flexor_digitorum_superficialis_02", 1, "Ul", FRONT, 12),
            ("flexor_digitorum_superficialis_03", 1, "Rad", FRONT, 12),
            ("flexor_digitorum_superficialis_04", 1, "Rad", FRONT, 12), ("palmaris_longus_01", 1, "Ul", FRONT, 13),
        )
    ),
    *(
        (m, k, rib, (x, y, 1450.0), (0, 0, 1), (0.6, 0.8, 0), r, "chest wall under the serratus anterior")
        for m, k, rib, x, y, r in (
            ("serratus_anterior_05", 2, "Rb6", 80.0, 18.0, 64), ("serratus_anterior_06", 2, "Rb7", 80.0, 20.0, 65),
            ("serratus_anterior_07", 0, "Rb8", 75.0, 5.0, 71),
            ("serratus_anterior_04", 0, "Rb5", 75.0, 5.0, 71),
        )
    ),
    *(
        (m, 1, "Pel", (93.0, -37.0, 1017.0), (1, 0, 0), FRONT, 30, "hip joint's capsule under the iliopsoas")
        for m in (*(f"iliopsoas_0{k}" for k in range(1, 7)), "iliacus_01")
    ),
]  # fmt: skip


@dataclass(eq=False)
class Point:
    """A point of a path: its place in the corrected path (None: new), bone, mm in the default pose, why it is so."""

    origin: int | None
    bone: str
    at: np.ndarray
    why: str = ""  # "" as in the corrected tables
    sure: str = ""


@dataclass(eq=False)
class Path_:
    points: list[Point]
    dropped: list[tuple[int, str, str]] = field(default_factory=list)
    wraps: list[tuple] = field(default_factory=list)  # near Point, far Point, bone, centre, axis, side, radius, why

    def copy(self) -> Path_:
        return Path_(list(self.points), list(self.dropped), list(self.wraps))


def by_hand() -> dict[str, Path_]:
    """Paths of the corrected tables with HAND and WRAPS."""
    tables = load_tables("corrected")
    paths = {n: [(p.bone, 1e3 * p.position) for p in m.points] for n, m in tables.muscles.items()}
    for r in read_csv("added_muscle_points.csv"):
        paths.setdefault(r["muscle_id"], []).append((r["bone"], np.array([float(r[f"{c}_mm"]) for c in "xyz"])))
    out = {n: Path_([Point(k, bone, at) for k, (bone, at) in enumerate(path)]) for n, path in paths.items()}
    for muscle, k, action, bone, at, sure, why in HAND:
        path = out[muscle]
        i = next(i for i, p in enumerate(path.points) if p.origin == k)
        new = Point(k if action == "set" else None, bone, np.array(at, float), why, sure)
        if action == "drop":
            path.points.pop(i)
            path.dropped.append((k, sure, why))
        elif action == "set":
            path.points[i] = new
        elif action == "before":
            path.points.insert(i, new)
        else:  # after, and after what was added there before
            while i + 1 < len(path.points) and path.points[i + 1].origin is None:
                i += 1
            path.points.insert(i + 1, new)
    for muscle, segment, bone, centre, axis, side, radius, why in WRAPS:
        points = out[muscle].points
        near, far = points[segment], points[segment + 1]
        sign = 1.0 if (far.at - near.at) @ np.cross(axis, side) > 0 else -1.0
        axis = tuple(sign * a for a in np.array(axis, float))
        out[muscle].wraps.append((near, far, bone, centre, axis, side, radius, why))
    for muscle, gone, (segment, bone, centre, axis, side, radius) in FITTED:
        path = out[muscle]
        path.points = [p for p in path.points if p.origin not in gone]
        path.dropped += [(k, "medium", "a via in front of the shoulder: a cylinder instead") for k in gone]
        near, far = path.points[segment], path.points[segment + 1]
        path.wraps.append((near, far, bone, centre, axis, side, radius, "humeral head"))
    return out


# Found by docs/make_cylinders.py for the shoulder: no bone pierced, no sign that people's muscles do not change.
# muscle, points of the corrected path that go, (segment of what is left, bone, centre, axis, side, radius)
FITTED = [
    ("deltoid_01", (1,), (0, "Hu", (225.3, 25.7, 1573.1), (0.728, -0.224, 0.648), (0.06, -0.92, -0.39), 17.7)),
    ("deltoid_02", (), (0, "Hu", (196.0, 36.8, 1566.1), (-0.954, 0.223, -0.2), (-0.04, 0.58, 0.82), 24.1)),
    ("deltoid_03", (1,), (0, "Cla", (205.2, 32.9, 1566.4), (-0.467, -0.86, -0.206), (0.14, 0.16, -0.98), 15.6)),
    ("infraspinatus_01", (), (0, "Cla", (205.1, 37.2, 1559.0), (0.312, 0.366, -0.877), (0.46, 0.75, 0.48), 19.9)),
    ("teres_minor_01", (), (0, "Hu", (199.4, 32.9, 1563.0), (0.86, 0.302, -0.412), (-0.03, 0.83, 0.56), 18.4)),
    ("coracobrachialis_01", (1,), (0, "Hu", (212.4, 19.8, 1566.4), (0.958, 0.248, 0.144), (0.29, -0.83, -0.48), 17.7)),
    ("subscapularis_01", (1,), (0, "Cla", (197.0, 31.1, 1568.6), (-0.747, 0.231, 0.624), (-0.52, -0.79, -0.33), 28.3)),
    ("subscapularis_02", (1,), (0, "Cla", (197.0, 31.1, 1568.6), (-0.747, 0.231, 0.624), (-0.52, -0.79, -0.33), 28.3)),
    ("subscapularis_03", (1,), (0, "Hu", (200.0, 25.4, 1563.5), (-0.629, -0.683, 0.372), (0.13, -0.57, -0.81), 17.9)),
    (
        "pectoralis_major_01",
        (1,),
        (1, "Cla", (194.1, 23.8, 1565.1), (-0.629, -0.776, 0.049), (-0.6, 0.45, -0.66), 24.3),
    ),
    ("biceps_brachii_01", (), (0, "Hu", (206.9, 27.9, 1570.0), (0.028, 0.021, 0.999), (-0.16, -0.99, 0.03), 32.0)),
]


def write(paths: dict[str, Path_]) -> None:
    with (DATA / "path_points.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["muscle_id", "point", "action", "bone", "x_mm", "y_mm", "z_mm", "confidence", "reason"])

        def row(muscle, k, action, p):
            out.writerow([muscle, k, action, p.bone, *(f"{x:.1f}" for x in p.at), p.sure, p.why])

        for muscle, path in paths.items():
            for p in path.points:
                if p.origin is not None and p.why:
                    row(muscle, p.origin, "set", p)
            known = [i for i, p in enumerate(path.points) if p.origin is not None]
            for i in range(known[0]):
                row(muscle, path.points[known[0]].origin, "before", path.points[i])
            for a, b in zip(known, [*known[1:], len(path.points)]):
                for i in range(b - 1, a, -1):
                    row(muscle, path.points[a].origin, "after", path.points[i])
            for k, sure, why in path.dropped:
                out.writerow([muscle, k, "drop", "", "", "", "", sure, why])
    with (DATA / "wraps.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        places = [f"{w}_{c}{u}" for w, u in (("centre", "_mm"), ("axis", ""), ("side", "")) for c in "xyz"]
        out.writerow(["muscle_id", "segment", "bone", *places, "radius_mm", "reason"])
        for muscle, path in paths.items():
            for near, far, bone, centre, axis, side, radius, why in path.wraps:
                a = next(i for i, p in enumerate(path.points) if p is near)
                b = next(i for i, p in enumerate(path.points) if p is far)
                spans = range(a, b)  # vias were added between: the cylinder keeps the part that changes bone
                segment = next((i for i in spans if path.points[i].bone != path.points[i + 1].bone), a)
                out.writerow([muscle, segment, bone, *centre, *(round(x, 4) for x in axis), *side, radius, why])


# --- ends on bone --------------------------------------------------------------------------------------------------


class Surfaces:
    """Nearest points on the bones' surfaces, in the world frame of the default pose [mm], left side and midline."""

    def __init__(self, body):
        poses = Clearance.frames(_bare(body), body.default_q)
        self.trees = {}
        for name, (v, f) in shown_surfaces(body).items():
            if name.endswith("_r"):
                continue
            a, b, c = (v[f[:, k]] for k in range(3))
            dense = np.concatenate([v, (a + b + c) / 3, (a + b) / 2, (b + c) / 2, (a + c) / 2])
            T = poses[name]
            self.trees[name.removesuffix("_l")] = cKDTree(1e3 * (dense @ T[:3, :3].T + T[:3, 3]))

    def nearest(self, bone: str, at: np.ndarray) -> tuple[float, np.ndarray]:
        flip = np.array([-1.0 if at[0] < 0 else 1.0, 1.0, 1.0])
        d, i = (tree := self.trees["Cla" if bone == "Cs" else bone]).query(at * flip)
        return float(d), tree.data[i] * flip


def _bare(body):
    holder = object.__new__(Clearance)
    holder.body = body
    return holder


def put_ends_on_bone(paths: dict[str, Path_], surfaces: Surfaces) -> None:
    for path in paths.values():
        for i in (0, len(path.points) - 1):
            p = path.points[i]
            off, at = surfaces.nearest(p.bone, p.at)
            if off <= 4.0:
                continue
            p.at, was = np.round(at, 1), p.why
            p.why = f"{was}; on its surface" if was else f"end {off:.0f} mm off its bone: on the surface"
            p.sure = p.sure or "medium"


# --- static pierces ------------------------------------------------------------------------------------------------


def string_out(paths: dict[str, Path_], clearance: Clearance) -> list[str]:
    """Vias for paths that run inside bone in the default pose, one after the other at the deepest point, then thinned."""
    body = human()
    q = body.default_q
    frames = {n: transform(np.eye(3), T[:3, 3]) for n, T in clearance.frames(q).items() if n in clearance.fields}
    done = []
    for muscle in sorted({p.muscle[:-2] for p in clearance.of(body).pierces(q)} - set(AS_THEY_ARE)):
        path = paths[muscle].copy()
        fixed = {id(p) for w in path.wraps for p in w[:2]}
        deep = 0.0
        for _ in range(9):
            worst = max(
                (
                    (depth, name, at, k)
                    for k in range(len(path.points) - 1)
                    if not (id(path.points[k]) in fixed and id(path.points[k + 1]) in fixed)
                    for depth, name, at in _deepest(path, k, clearance, frames)
                ),
                key=lambda x: x[0],
                default=(0.0,),
            )
            if worst[0] < 0.0022:
                break
            deep = deep or worst[0]
            _, name, at, k = worst
            local = pushed(clearance, name, at - frames[name][:3, 3], 2.5)
            if local is None:
                break
            bone = {"Cla": "Cs", "Sca": "Cs"}.get(b := name.removesuffix("_l"), b)
            new = Point(None, bone, 1e3 * (local + frames[name][:3, 3]), f"{1e3 * deep:.0f} mm inside {b}", "medium")
            path.points.insert(k + 1, new)
        added = [p for p in path.points if p not in paths[muscle].points]
        for p in added:  # a via that is not needed goes again
            without = Path_([x for x in path.points if x is not p], path.dropped, path.wraps)
            k = next(i for i, x in enumerate(path.points) if x is p) - 1
            if k + 1 < len(without.points) and not any(
                d > 0.0024 for d, _, _ in _deepest(without, k, clearance, frames)
            ):
                path = without
        if deep:
            paths[muscle] = path
            done.append(muscle)
    return done


def static(paths: dict[str, Path_], clearance: Clearance, log=print) -> dict[str, Path_]:
    """`string_out`, kept for each muscle if it gets better and no moment arm moves by more than the bone is thick."""
    before, _ = _judge(clearance, None)
    trunk = _trunk()
    trial = {m: p.copy() for m, p in paths.items()}
    done = string_out(trial, clearance)
    write(trial)
    now, _ = _judge(clearance, before, room=0.016)
    for muscle in done:
        if now[muscle][0] > 0.9 * before[muscle][0] or now[muscle][1] > (5.0 if muscle in trunk else 1.0):
            log(
                f"{muscle}: {1e3 * before[muscle][0]:.0f} -> {1e3 * now[muscle][0]:.0f} mm, arms {now[muscle][1]:.1f}: left"
            )
            trial[muscle] = paths[muscle]
    write(trial)
    return trial


def _deepest(path: Path_, k: int, clearance: Clearance, frames):
    """(depth, bone, world point [m]) of segment k where it is deepest in each bone, default pose."""
    a, b = 1e-3 * path.points[k].at, 1e-3 * path.points[k + 1].at
    if a[0] < 0 or b[0] < 0:
        return
    n = max(int(np.linalg.norm(b - a) / 0.0015), 2)
    x = a + np.linspace(0, 1, n)[:, None] * (b - a)
    from_start, from_end = np.linalg.norm(x - a, axis=1), np.linalg.norm(x - b, axis=1)
    ok = np.ones(n, bool)
    if k == 0:
        ok &= from_start > 0.008
    if k == len(path.points) - 2:
        ok &= from_end > 0.008
    ok &= (from_start > 0.001) & (from_end > 0.001)
    if not ok.any():
        return
    for name, T in frames.items():
        distance, corner = clearance.fields[name]
        depth = np.where(ok, -_read(distance, corner, CELL, (x - T[:3, 3]) @ T[:3, :3]), -1.0)
        i = int(np.argmax(depth))
        if depth[i] > 0:
            yield float(depth[i]), name, x[i]


def pushed(clearance: Clearance, bone: str, at: np.ndarray, more: float):
    """The point [m, bone's frame] pushed out of the bone along the distance's slope until `more` mm outside, or None."""
    distance, corner = clearance.fields[bone]
    at, here, eps = at.copy(), -1.0, 0.0015
    steps = eps * np.vstack([np.eye(3), -np.eye(3)])
    for _ in range(12):
        here = float(_read(distance, corner, CELL, at[None])[0])
        if here > 1e-3 * more - 2e-4:
            return at
        d = _read(distance, corner, CELL, at + steps)
        slope = (d[:3] - d[3:]) / (2 * eps)
        size = np.linalg.norm(slope)
        if size < 0.05:
            return None
        at = at + slope / size * min(1e-3 * more - here, 0.004)
    return at if here > 0 else None


def _trunk() -> set[str]:
    """Muscles of trunk and neck: short lines between ribs and vertebrae, whose arms change with every via."""
    return {n for n, m in load_tables().muscles.items() if m.region in ("trunk", "head_neck")}


def out_of_bone(paths: dict[str, Path_], clearance: Clearance, rounds: int, best=None, log=print) -> dict[str, Path_]:
    """Add or move vias until no path is deeper in bone than it must be."""
    tried: set[tuple] = set()
    trunk = _trunk()
    write(paths)
    best, found = _judge(clearance, None) if best is None else best
    for n in range(rounds):
        trial = {m: p.copy() for m, p in paths.items()}
        asked = {}
        for muscle, pierces in found.items():
            if muscle in AS_THEY_ARE:
                continue
            change = _candidate(muscle, trial[muscle], pierces, clearance, tried)
            if change:
                asked[muscle] = change
        if not asked:
            break
        write(trial)
        now, after = _judge(clearance, best)
        kept = 0
        for muscle in asked:
            worse = now[muscle][0] > 0.98 * best[muscle][0] or now[muscle][1] > (5.0 if muscle in trunk else 1.0)
            if worse:
                trial[muscle] = paths[muscle]
                continue
            kept += 1
            best[muscle] = (now[muscle][0], best[muscle][1], best[muscle][2])
            found[muscle] = after.get(muscle, [])
        paths = trial
        counts = {}
        for pierces in found.values():
            for name in {p[0] for p in pierces}:
                counts[name] = counts.get(name, 0) + 1
        log(f"round {n}: {len(asked)} tried, {kept} kept; left {counts}")
    write(paths)
    return paths


def _judge(clearance: Clearance, before, room: float = 0.004):
    """For each left muscle: depth summed over poses beyond 2.5 mm, largest change of a moment arm in parts of what is
    allowed, the arms; and its pierces as (pose, Pierce)."""
    body = human()
    c = clearance.of(body)
    m = body.muscles
    names = [n[:-2] for n in m.names]
    left = [k for k, n in enumerate(m.names) if n.endswith("_l")]
    total, found, arms = dict.fromkeys(names, 0.0), {}, []
    for name, table in POSES.items():
        q = pose(body, table)
        arms.append(moment_arms(m, *world_twists(body.skeleton, q))[1].dense())
        for p in c.pierces(q, least=0.0025, long=0.004):
            total[p.muscle[:-2]] += p.depth - 0.0025
            found.setdefault(p.muscle[:-2], []).append((name, p))
    for table in MORE_POSES:
        arms.append(moment_arms(m, *world_twists(body.skeleton, pose(body, table)))[1].dense())
    out = {}
    arms = np.array(arms)
    for k in left:
        change = 0.0
        if before is not None:
            was = before[names[k]][2]
            change = float((np.abs(arms[:, k] - was) / np.maximum(room, 0.25 * np.abs(was))).max())
        out[names[k]] = (total[names[k]], change, arms[:, k])
    return out, found


def _candidate(muscle: str, path: Path_, pierces: list, clearance: Clearance, tried: set) -> bool:
    """Change the path by one via; False if nothing new is left to try."""
    for name, p in sorted(pierces, key=lambda x: -x[1].depth):
        for more in (2.5, 4.5, 7.0):
            key = (muscle, p.bone, *np.round(200 * p.at).astype(int), more)  # to 5 mm
            if key in tried:
                continue
            tried.add(key)
            at = pushed(clearance, p.bone, p.at, more)
            if at is None:
                continue
            world = 1e3 * (at + clearance.rest[p.bone])
            bone = {"Cla": "Cs", "Sca": "Cs"}.get(b := p.bone.removesuffix("_l"), b)
            why = f"{1e3 * p.depth:.0f} mm inside {b} ({name})"
            inner = [q for q in path.points[1:-1] if q.bone == bone and np.linalg.norm(q.at - world) < 8.0]
            if inner and not any(q is w[0] or q is w[1] for q in inner for w in path.wraps):
                old = inner[0]
                i = next(i for i, q in enumerate(path.points) if q is old)
                path.points[i] = Point(old.origin, bone, world, why, "medium")
            else:
                path.points.insert(p.segment + 1, Point(None, bone, world, why, "medium"))
            return True
    return False


def main() -> None:
    paths = by_hand()
    write(paths)
    body = human()
    clearance = Clearance(body)
    clearance.rest = {n: T[:3, 3] for n, T in clearance.frames(body.default_q).items()}
    put_ends_on_bone(paths, Surfaces(human(shoulder="fixed")))
    write(paths)
    paths = static(paths, clearance)
    out_of_bone(paths, clearance, 20)


if __name__ == "__main__":
    main()
