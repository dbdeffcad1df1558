"""The bones that are fitted from the `myo-sim` surfaces: skull and jaw, vertebrae, pelvis, limbs.

Each function takes its template to our axes (x left, y back, z up), names landmarks on it (joint centres of the source
model, bony points read off the surface), says where the tables put them, and lets `warp.fitted` do the rest.
Results are in the world frame of the default pose [m]; for paired bones the left one.
"""

# ruff: noqa: RUF005 -- here `array + [x, y, z]` adds vectors
from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.surfaces.landmarks import Landmarks
from vitruvian.anatomy.surfaces.mending import mended
from vitruvian.anatomy.surfaces.shaping import Shape, components, joined, mirrored, refined
from vitruvian.anatomy.surfaces.warp import Fit, fitted
from vitruvian.mesh import bone_mesh

Array = np.ndarray
CERVICAL = tuple(f"C{i}" for i in range(1, 8))
THORACIC = tuple(f"T{i}" for i in range(1, 13))
LUMBAR = tuple(f"L{i}" for i in range(1, 6))
BODY_DEPTH = {"C": 0.016, "T": 0.023, "L": 0.029}  # front to back of the templates' vertebral bodies [m]
ENDPLATES = {"C1": (0.4955, 0.5080), "C2": (0.4857, 0.4976)}  # heights [m] where the ring and the dens would mislead
HEAD_SIZE = np.array([1.13, 1.20, 1.08])  # of our head to the template's: width, depth, height
LIMB_GIRTH = 1.12  # thickness of our long bones to the templates'
TALUS_SIZE = 1.12  # our shank is longer than our foot by that much against the template's; the talus meets both
DISC = 0.12  # share of a vertebra's height that half a disc takes, above and below


def head(marks: Landmarks) -> dict[str, Shape]:
    """Skull and mandible, fitted as one so that the teeth stay on the teeth."""
    skull, mandible = _source("hat_skull"), _source("hat_jaw")
    skull = joined(components(skull, least_faces=100))
    whole = joined([skull, mandible])
    # Size and pitch as the jaw, the zygomatic arch, the mastoid process and the chin agree on; the vault follows them.
    condyle, joint = np.array([0.0, 0.004, 0.5155]), marks.joints["Sku"] + [0.0, -0.002, 0.001]
    vault = np.array(
        [[0.0, 0.0, 0.651], [0.0, -0.080, 0.600], [0.0, 0.081, 0.585], [0.068, 0.0, 0.600], [0.02, -0.075, 0.49]]
    )
    sources = np.array(
        [
            condyle,
            [0.046, -0.0125, 0.539],  # condyle of the jaw
            [0.047, 0.006, 0.505],  # mastoid process
            [0.060, -0.048, 0.530],  # zygomatic arch
            *vault,
        ]
    )
    jaw = joint + HEAD_SIZE * (sources[1] - condyle)
    targets = np.array(
        [
            joint,
            np.array([jaw[0], *(0.5 * (jaw + marks.joints["Man"]))[1:]]),
            marks.named("Sku", "longissimus_capitis_01", "longissimus_capitis_07", "splenius_capitis_02").mean(axis=0),
            marks.named("Sku", "masseter")[0],
            *(joint + HEAD_SIZE * (vault - condyle)),
        ]
    )
    points = np.concatenate([marks.attachments["Sku"], marks.attachments["Man"]])
    bend = Fit(affine=2.0, bending=0.02, pull=0.04, trust=0.012, reach=0.45)
    vertices = fitted(whole, sources, targets, points, bend, even=True)
    n = len(skull[0])
    # The jaw's body alone then bends to its muscles; joint and teeth stay where the skull has theirs.
    still = np.array([[0.046, -0.0125, 0.539], [0.036, -0.040, 0.532], [0.004, -0.076, 0.498], [0.024, -0.055, 0.500]])
    still = vertices[n:][cKDTree(mandible[0]).query(_both(still))[1]]
    local = Fit(affine=50.0, bending=0.005, pull=0.5, trust=0.03, reach=0.12)
    lower = fitted((vertices[n:], mandible[1]), still, still, _both(marks.attachments["Man"]), local)
    return {"Sku": (vertices[:n], skull[1]), "Man": (lower, mandible[1])}


def vertebrae(marks: Landmarks) -> dict[str, Shape]:
    """C1 to L5, each between its own joint and the next one up."""
    column = list(reversed(LUMBAR)) + list(reversed(THORACIC)) + list(reversed(CERVICAL)) + ["Sku"]
    sources = {name: _source(f"lumbar{name[1:]}") for name in LUMBAR}
    sources |= {name: _source(f"thoracic{name[1:]}_s") for name in THORACIC}
    neck = sorted(components(bone_mesh("hat_cervical"), least_faces=100), key=lambda part: -part[0][:, 2].mean())
    sources |= {name: mended(part) for name, part in zip(CERVICAL, neck)}
    shapes = {}
    for name, above in pairwise(column):
        shapes[name] = _vertebra(name, sources[name], marks.joints[name], marks.joints[above], marks.attachments[name])
    return shapes


def pelvis(marks: Landmarks) -> Shape:
    """Both hip bones and the sacrum."""
    left = _source("l_pelvis")
    whole = joined([left, mirrored(left), _source("sacrum")])
    sources = np.array(
        [
            [0.0772, 0.0563, -0.0785],  # hip joint
            [0.0, 0.100, 0.060],  # upper end of the sacrum
            [0.1265, 0.002, 0.004],  # anterior superior iliac spine
            [0.1315, 0.0228, 0.0361],  # iliac crest, from front to back
            [0.1138, 0.0517, 0.0655],
            [0.0925, 0.0726, 0.0800],
            [0.0655, 0.0929, 0.0803],
            [0.0610, 0.1090, 0.0664],
            [0.0424, 0.1368, 0.0271],  # posterior superior iliac spine
            [0.006, 0.001, -0.080],  # pubic crest
            [0.055, 0.105, -0.117],  # ischial tuberosity
            [0.0, 0.151, -0.005],  # median sacral crest
        ]
    )
    named = marks.named
    targets = np.array(
        [
            marks.joints["Fe"],
            marks.joints["L5"] + [0.0, 0.0, -0.004],
            named("Pel", "sartorius", "external_internal_obliques_09", "tensor_fascia").mean(axis=0),
            named("Pel", "external_internal_obliques_05", "external_internal_obliques_10").mean(axis=0),
            named("Pel", "external_internal_obliques_03", "external_internal_obliques_01").mean(axis=0),
            named("Pel", "external_internal_obliques_04", "quadratus_lumborum_01").mean(axis=0),
            named("Pel", "quadratus_lumborum_02", "quadratus_lumborum_04").mean(axis=0),
            named("Pel", "quadratus_lumborum_03", "external_internal_obliques_02").mean(axis=0),
            named("Pel", "iliocostalis_lumborum_07")[0],
            named("Pel", "rectus_abdominis")[0],
            named("Pel", "biceps_femoris", "semitendinosus").mean(axis=0),
            named("Pel", "longissimus_thoracis_02", "longissimus_thoracis_08").mean(axis=0) * [0.0, 1.0, 1.0],
        ]
    )
    vertices = fitted(
        whole,
        sources,
        targets,
        marks.attachments["Pel"],
        Fit(affine=0.05, bending=0.004, reach=0.28, trust=0.015),
        even=True,
    )
    return refined((vertices, whole[1]), 2)


def femur(marks: Landmarks) -> Shape:
    """The left femur."""
    whole = refined(_source("l_femur"), 1)
    sources = np.array([[0.0, 0.0, 0.0], [-0.0013, -0.0003, -0.4045], [0.060, 0.010, -0.010]])
    targets = np.array(
        [marks.joints["Fe"], marks.joints["Tfp"], marks.named("Fe", "gluteus_02", "gluteus_03").mean(axis=0)]
    )
    return fitted(whole, sources, targets, marks.attachments["Fe"]), whole[1]


def shank(marks: Landmarks) -> Shape:
    """The left tibia and fibula, and the patella, which rides on them."""
    tibia = refined(joined([_source("l_tibia"), _source("l_fibula")]), 2)
    patella_points = marks.named("Tfp", "rectus_femoris", "vastus")
    others = [
        p for p, m in zip(marks.attachments["Tfp"], marks.muscles["Tfp"]) if not m.startswith(("rectus_f", "vastus"))
    ]
    sources = np.array([[0.0, 0.0, 0.0], [0.0, 0.0096, -0.400], [0.035, 0.020, -0.050]])
    targets = np.array(
        [
            marks.joints["Tfp"],
            marks.joints["Fo"],
            marks.named("Tfp", "biceps_femoris").mean(axis=0) + [0.0, 0.0, -0.005],
        ]
    )
    vertices = fitted(tibia, sources, targets, np.array(others))
    cap, cap_faces = refined(_source("l_patella"), 2)
    cap = cap * LIMB_GIRTH
    top = cap[cap[:, 2] > np.quantile(cap[:, 2], 0.9)].mean(axis=0)
    return joined([(vertices, tibia[1]), (cap - top + patella_points.mean(axis=0), cap_faces)])


def foot(marks: Landmarks) -> Shape:
    """The left talus, calcaneus, tarsals, metatarsals and toes."""
    heel = np.array([0.0079, 0.0488, -0.042])
    toes = heel + [0.0012, -0.1788, -0.0018]
    talus, rest, digits = _source("l_talus"), _source("l_foot"), _source("l_bofoot")
    # The template's toe bones stand apart: lengthen each about its middle until they meet.
    phalanges = [(v.mean(axis=0) + (v - v.mean(axis=0)) * [1.1, 1.3, 1.1], f) for v, f in components(digits)]
    digits = joined(phalanges)
    parts = [(TALUS_SIZE * talus[0], talus[1]), (rest[0] + heel, rest[1]), (digits[0] + toes, digits[1])]
    whole = refined(joined(parts), 1, keep=0.4)  # the metatarsals have slivers that would stand out
    scale = 1.12
    joint = marks.joints["Fo"]
    # One size for the whole foot; the ankle, the sole on the ground and the long axis place it.
    sources = np.array([[0.0, 0.0, 0.0], [0.005, 0.056, -0.045], [0.0, -0.19, -0.045], [0.05, -0.12, -0.04]])
    targets = joint + scale * sources
    stiff = Fit(affine=10.0, pull=0.02, bending=0.1, trust=0.03, reach=0.5)
    return fitted(whole, sources, targets, marks.attachments["Fo"], stiff), whole[1]


def shoulder(marks: Landmarks) -> dict[str, Shape]:
    """The left clavicle and scapula."""
    collar = refined(_left(components(_source("clavicle"), least_faces=30)), 2)
    sternal, acromial, humeral = marks.joints["Cla"], marks.joints["Sca"], marks.joints["Hu"]
    end = np.array([collar[0][:, 0].max() - 0.002, 0.0143, 0.0201])
    length = np.linalg.norm(acromial - sternal) / np.linalg.norm(end)
    slim = np.diag([1.0, LIMB_GIRTH / length, LIMB_GIRTH / length])  # the tables' collar bone is long, not thick
    sources = np.array([[0.0, 0.0, 0.0], end, [0.035, 0.000, 0.004], [0.10, 0.015, 0.018]]) @ slim
    targets = np.array(
        [
            sternal,
            acromial,
            marks.named("Cla", "sternocleidomastoid", "pectoralis_major_01").mean(axis=0),
            marks.named("Cla", "subclavius", "trapezius").mean(axis=0),
        ]
    )
    loose = Fit(pull=0.1, trust=0.02, bending=0.005)
    clavicle = fitted((collar[0] @ slim, collar[1]), sources, targets, marks.attachments["Cla"], loose)
    blade = refined(_left([_source("scapula")]), 1)
    tip = blade[0][np.argmin(blade[0][:, 2])]
    edge = blade[0][np.argmin(blade[0][:, 0] - 0.5 * blade[0][:, 2])]
    sources = np.array([[0.0, 0.0, 0.0], [0.009, 0.0095, -0.034], tip, edge])
    targets = np.array(
        [
            acromial,
            humeral,
            marks.named("Sca", "serratus_anterior_07", "serratus_anterior_08").mean(axis=0),
            marks.named("Sca", "levator_scapulae_01", "levator_scapulae_02").mean(axis=0),
        ]
    )
    return {
        "Cla": (clavicle, collar[1]),
        "Sca": (fitted(blade, sources, targets, marks.attachments["Sca"]), blade[1]),
    }


def arm(marks: Landmarks) -> dict[str, Shape]:
    """The left humerus, ulna and radius."""
    shoulder_joint, elbow, radial, wrist = (marks.joints[name] for name in ("Hu", "Ul", "Rad", "Ha"))
    upper = refined(_left([_source("humerus")]), 1)
    low = upper[0][upper[0][:, 2] < -0.25]
    sources = np.array(
        [[0.0, 0.0, 0.0], [-0.0123, -0.0061, -0.2904], low[np.argmax(low[:, 0])], low[np.argmin(low[:, 0])]]
    )
    targets = np.array(
        [
            shoulder_joint,
            elbow,
            marks.named("Hu", "extensor_carpi").mean(axis=0),
            marks.named("Hu", "flexor_carpi", "palmaris").mean(axis=0),
        ]
    )
    humerus = fitted(upper, sources, targets, marks.attachments["Hu"])
    along = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    inner = refined(_left([_source("ulna")]), 2)
    end = inner[0][np.argmin(inner[0][:, 2])]
    sources = np.array([[0.0, 0.0, 0.0], end, [0.02, -0.0004, -0.0115]])
    targets = np.array([elbow, wrist - 0.020 * along + [0.0, 0.004, -0.020], radial])
    ulna = fitted(inner, sources, targets, marks.attachments["Ul"])
    outer = refined(_left([_source("radius")]), 2)
    styloid = outer[0][np.argmin(outer[0][:, 2])]
    sources = np.array([[0.0, 0.0, 0.0], [0.025, -0.018, -0.242], styloid])
    targets = np.array([radial, wrist, marks.named("Rad", "brachioradialis")[0] + [0.010, 0.0, -0.004]])
    radius = fitted(outer, sources, targets, marks.attachments["Rad"])
    return {"Hu": (humerus, upper[1]), "Ul": (ulna, inner[1]), "Rad": (radius, outer[1])}


def _vertebra(name: str, template: Shape, below: Array, above: Array, points: Array) -> Shape:
    v = template[0] - [0.5 * (template[0][:, 0].min() + template[0][:, 0].max()), 0.0, 0.0]
    nose = v[(np.abs(v[:, 0]) < 0.004) & (v[:, 1] < v[:, 1].min() + 0.005)]  # front edge of the body on the midline
    centre = v[:, 1].min() + 0.5 * BODY_DEPTH[name[0]]
    low, high = ENDPLATES.get(name, (nose[:, 2].min(), nose[:, 2].max()))
    tail = v[np.argmax(v[:, 1])] * [0.0, 1.0, 1.0]
    sources = np.array([[0.0, centre, low], [0.0, centre, high], tail, v[np.argmax(v[:, 0])]])
    own = points[points[:, 0] < (0.060 if name == "C1" else 0.045)]  # farther out begins a rib
    spine = own[own[:, 0] < 0.008]
    spine = spine[spine[:, 1] >= np.quantile(spine[:, 1], 0.5)].mean(axis=0) * [0.0, 1.0, 1.0]
    wing = own[own[:, 0] >= np.quantile(own[:, 0], 0.85)].mean(axis=0)
    up = above - below
    half = 0.25 if name == "C1" else DISC  # the atlas is a ring, lower than its share of the column
    targets = np.array([below + half * up, above - half * up, spine, wing])
    # Width, depth and height of a vertebra vary freely between people: match them before the fit proper.
    stretch = np.array(
        [
            np.sqrt(wing[0] / sources[3, 0]),  # the rest of the width is in the transverse processes
            np.linalg.norm(spine - below - 0.5 * up) / np.linalg.norm(tail - [0.0, centre, 0.5 * (low + high)]),
            np.linalg.norm(targets[1] - targets[0]) / (high - low),
        ]
    )
    shape = (v * stretch, template[1])
    vertices = fitted(shape, sources * stretch, targets, own, Fit(pull=0.3, trust=0.006, reach=0.3), even=True)
    return refined((vertices, template[1]), 1)


def _source(name: str) -> Shape:
    """A template in our axes, closed."""
    return mended(bone_mesh(name))


def _both(points: Array) -> Array:
    """The points and their mirror images."""
    return np.concatenate([points, points * [-1.0, 1.0, 1.0]])


def _left(shapes: list[Shape]) -> Shape:
    """The arm's templates are of the right side."""
    return mirrored(joined(shapes))
