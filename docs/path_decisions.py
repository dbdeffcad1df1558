"""What was decided by hand about muscle paths, for `make_paths.py`: points, cylinders, poses that count."""

# ruff: noqa: E501 -- tables
from __future__ import annotations

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
    (
        "deltoid_01",
        1,
        "set",
        "Cs",
        (212, 4, 1585.5),
        FUNCTIONAL,
        "over the front of the head, 26 mm from its centre: turns the arm by 9 mm at most; found by docs/fit_shoulder.py",
    ),
    (
        "deltoid_03",
        1,
        "set",
        "Cs",
        (221.2, 76.3, 1546.1),
        FUNCTIONAL,
        "behind and below the head, 56 mm from its centre: extends to 90 degrees of flexion; found by docs/fit_shoulder.py",
    ),
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
    (
        "extensor_carpi_02",
        2,
        "set",
        "Rad",
        (757, 128, 1597),
        EXACT,
        "extensor retinaculum: on the radius, where its neighbour's is, not on the hand",
    ),
    (
        "extensor_carpi_03",
        2,
        "set",
        "Ul",
        (756, 130, 1552),
        EXACT,
        "groove of the ulna's head, 17 mm nearer to the wrist: the tendon bowed away from it",
    ),
    ("flexor_carpi_02", 0, "before", "Ha", (815, 112, 1543), EXACT, "base of the fifth metacarpal; " + TENDON),
    (
        "flexor_digitorum_superficialis_02",
        1,
        "set",
        "Rad",
        (741, 99, 1565),
        EXACT,
        "carpal tunnel: moves with the radius, not the ulna",
    ),
    (
        "palmaris_longus_01",
        1,
        "set",
        "Rad",
        (742, 93, 1569),
        EXACT,
        "front of the wrist: moves with the radius, not the ulna",
    ),
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

BEHIND = "in front of the shaft's lower edge: where the tables have it, it lies behind with the arm turned in and turns it out"
GROOVE_FLOOR = "floor of the intertubercular groove, in front and a little lateral; the tables have the medial side"
INSERTED = ((2, 281), (3, 269), (4, 263), (5, 251), (6, 245), (7, 239))  # latissimus: line, mm along the humerus
HAND += [
    *(
        (
            f"latissimus_dorsi_0{n}",
            3,
            "set",
            "Hu",
            (x - 12, round(0.3242 * x - 67.3, 1), round(1568.0 - 0.0537 * x, 1)),
            EXACT,
            BEHIND,
        )
        for n, x in INSERTED[:3]
    ),
    *(
        (
            f"latissimus_dorsi_0{n}",
            4,
            "set",
            "Hu",
            (x - 5, round(0.3242 * x - 62.0, 1), round(1564.7 - 0.0537 * x, 1)),
            EXACT,
            BEHIND,
        )
        for n, x in INSERTED[3:]
    ),
    *(
        (
            f"latissimus_dorsi_0{n}",
            4 + (n > 4),
            "set",
            "Hu",
            (x, round(0.3242 * x - 57.7, 1), round(1588.5 - 0.0537 * x, 1)),
            EXACT,
            GROOVE_FLOOR,
        )
        for n, x in INSERTED
    ),
    ("teres_major_01", 2, "set", "Hu", (247, 16.7, 1554.1), EXACT, BEHIND),
    ("teres_major_01", 3, "set", "Hu", (259, 25.6, 1569.5), EXACT, "crest of the lesser tubercle, beside latissimus"),
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
        (m, k, "Fe", GROOVE, KNEE, FRONT, 48, "femoral groove under the quadriceps")
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
            ("extensor_carpi_01", 1, "Rad", BACK, 15), ("extensor_carpi_02", 2, "Rad", BACK, 14),
            ("extensor_carpi_03", 2, "Ul", BACK, 11), ("flexor_digitorum_superficialis_01", 1, "Rad", FRONT, 12),
            ("flexor_digitorum_superficialis_02", 1, "Rad", FRONT, 12),
            ("flexor_digitorum_superficialis_03", 1, "Rad", FRONT, 12),
            ("flexor_digitorum_superficialis_04", 1, "Rad", FRONT, 12), ("palmaris_longus_01", 1, "Rad", FRONT, 13),
        )
    ),
    *(
        (m, k, rib, (x, y, 1450.0), (0, 0, 1), (0.6, 0.8, 0), r, "chest wall under the serratus anterior")
        for m, k, rib, x, y, r in (
            ("serratus_anterior_05", 2, "Rb6", 80.0, 18.0, 64), ("serratus_anterior_06", 2, "Rb7", 80.0, 20.0, 65),
            ("serratus_anterior_07", 0, "Rb8", 75.0, 5.0, 75),
            ("serratus_anterior_04", 0, "Rb5", 75.0, 5.0, 71),
        )
    ),
    *(
        (m, 1, "Pel", (93.0, -37.0, 1017.0), (1, 0, 0), FRONT, 30, "hip joint's capsule under the iliopsoas")
        for m in (*(f"iliopsoas_0{k}" for k in range(1, 7)), "iliacus_01")
    ),
]  # fmt: skip

# Found by `fit_shoulder.py` or its forerunner: no bone pierced, no sign that people's muscles do not change.
# muscle, points of the corrected path that go, (segment of what is left, bone, centre, axis, side, radius)
FITTED = [
    ("deltoid_02", (), (0, "Hu", (196.0, 36.8, 1566.1), (-0.954, 0.223, -0.2), (-0.04, 0.58, 0.82), 24.1)),
    ("infraspinatus_01", (), (0, "Cla", (205.1, 37.2, 1559.0), (0.312, 0.366, -0.877), (0.46, 0.75, 0.48), 19.9)),
    # Fixed to the clavicle, as the head of a ball joint may be: fixed to the humerus, the cylinder's axis turned towards
    # the origin in the breaststroke, the path went round by 135 degrees and let go with a moment arm of 146 mm.
    ("teres_minor_01", (), (0, "Cla", (203.6, 30.4, 1561.3), (0.717, -0.506, -0.48), (0.588, 0.791, -0.168), 20.8)),
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


SLIPS = ("pectoralis_major_01",)  # lets go of its cylinder once the line has passed the axis
