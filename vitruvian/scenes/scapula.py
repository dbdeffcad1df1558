"""A scapula glides over the rib cage on a spline surface while springs hold the clavicle to it (Lee 2008, figure 6.4).

Instead of hanging the scapula from the clavicle and then forcing it onto the ribs, the scapula rides on the ribs by a
2-DOF spline surface joint (see `_shoulder`), and the clavicle, a free body, is tied by short damped springs to the
sternum, the acromion, the first rib and the coracoid. Because the surface was made such that the acromion keeps a
clavicle's length from the sternum, those springs hardly stretch. Muscles are stood in for by a force along the two
coordinates that leads the blade around a loop: up, forwards, down, back. The humerus hangs from its socket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import bone_mesh, grid_faces, join, lathe, rib_cage, sphere
from vitruvian.mesh.packages import OPENSIM_TO_WORLD
from vitruvian.mesh.smooth import smoothed
from vitruvian.scenes._shoulder import (
    BLADE,
    CLAVICLE,
    REACH,
    SHOULDER,
    STERNUM,
    blade_path,
    fit_ribs,
    scapula_joint,
    scapula_pose,
)
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, bone_poses, joints, spring_lengths
from vitruvian.spatial import quaternion_from_rotation, rotation_between, transform, transform_from_pose
from vitruvian.systems import BonesSystem, LinesLayer, Measure, Now
from vitruvian.world import Camera, Lines, LinesFrame, Mesh, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray

SPINE = OPENSIM_TO_WORLD @ np.array([-0.021, -0.379, 0.0])  # of the spine's surface in the thorax [m]
THORAX = np.array([0.0, 0.0, 1.35])  # height of the sternum's top over the ground [m]
LIGAMENT_STIFFNESS, LIGAMENT_DAMPING = 1.0e4, 6.0  # [N/m], [N s/m]
LEAD_STIFFNESS, LEAD_DAMPING = 9000.0, 130.0  # of the force that leads the blade [N/m], [N s/m]
ARM_ABDUCTION = np.deg2rad(18.0)  # at which the arm rests
LOOP = np.array([0.030, 0.024])  # half its extent forwards and upwards [m]
LOOP_MIDDLE = np.array([0.004, 0.008])  # [m]
# Masses of the upper limb model whose bones these are [kg]; the humerus carries the whole upper arm.
CLAVICLE_BODY = Inertia.ellipsoid(0.156, (0.068, 0.014, 0.014), com=0.5 * CLAVICLE)
SCAPULA_BODY = Inertia.ellipsoid(0.704, (0.05, 0.02, 0.07), com=BLADE)
HUMERUS_BODY = Inertia.ellipsoid(2.0, (0.04, 0.04, 0.16), com=(0.0, 0.0, -0.14))


def build_shoulder(gravity: float = 9.81) -> Skeleton:
    """Thorax (fixed), scapula on its surface, clavicle on springs, humerus on a ball joint."""
    ribs = fit_ribs()
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_bone("thorax", joint=joints.Fixed(), placement=transform(None, THORAX), inertia=Inertia.none())
    builder.add_bone(
        "scapula",
        parent="thorax",
        joint=scapula_joint(ribs).joint,
        inertia=SCAPULA_BODY,
        limit_stiffness=2.0e4,
        limit_damping=100.0,
    )
    builder.add_bone(
        "humerus",
        parent="scapula",
        placement=transform(None, SHOULDER),
        joint=joints.Ball(),
        inertia=HUMERUS_BODY,
        # Its resting tone keeps the arm off the ribs.
        neutral=[np.cos(0.5 * ARM_ABDUCTION), 0.0, np.sin(0.5 * ARM_ABDUCTION), 0.0],
        stiffness=8.0,
        damping=0.25,
    )
    builder.add_bone(
        "clavicle",
        parent="thorax",
        placement=transform(None, STERNUM),
        joint=joints.Free(),
        inertia=CLAVICLE_BODY,
        neutral=[0.0, 0.0, 0.0, *_clavicle_turn(scapula_pose(blade_path(ribs), np.zeros(2))[0][:3, 3])],
    )
    for name, bone, there, own in _ligaments():
        builder.add_spring(name, bone, there, "clavicle", own, LIGAMENT_STIFFNESS, LIGAMENT_DAMPING)
    return builder.build()


def led_to(time: float, period: float) -> tuple[Array, Array]:
    """Where the blade is led [m] and how fast [m/s], (2,) each; the loop opens from rest in the first period."""
    a = 2.0 * np.pi * time / period
    ramp = min(1.0, time / period)
    opening = ramp**2 * (3.0 - 2.0 * ramp)
    opening_rate = 6.0 * ramp * (1.0 - ramp) / period
    circle = LOOP * np.array([np.sin(a), np.cos(a)])
    rate = LOOP * np.array([np.cos(a), -np.sin(a)]) * 2.0 * np.pi / period
    return LOOP_MIDDLE + opening * circle, opening * rate + opening_rate * circle


def build(parameters: Mapping[str, Any]) -> World:
    skeleton = build_shoulder(parameters["gravity"])
    period = parameters["period"]
    blade = slice(*skeleton.v_start[skeleton.index("scapula") :][:2])
    place = slice(*skeleton.q_start[skeleton.index("scapula") :][:2])
    length = float(np.linalg.norm(CLAVICLE))

    def forces(now: Now) -> Array:
        goal, rate = led_to(now.time, period)
        tau = np.zeros(skeleton.n_v)
        tau[blade] = LEAD_STIFFNESS * (goal - now.q[place]) + LEAD_DAMPING * (rate - now.v[blade])
        return tau

    start = skeleton.neutral_q()
    start[place] = LOOP_MIDDLE
    acromion = bone_poses(skeleton, start)[skeleton.index("scapula"), :3, 3] - THORAX
    start[skeleton.q_start[skeleton.index("clavicle") + 1] - 4 :][:4] = _clavicle_turn(acromion)
    simulation = BonesSystem(
        skeleton,
        q=start,
        forces=forces,
        meshes=_meshes(),
        layers=(LinesLayer(_LIGAMENTS, _ligament_lines),),
        measures=(
            Measure(Signal("blade", "m", "place of the blade", ("forwards", "upwards")), lambda now: now.q[place]),
            Measure(
                Signal("clavicle gap", "m", "acromion to sternum, less the clavicle"),
                lambda now: np.linalg.norm(now.pose("scapula")[:3, 3] - THORAX - STERNUM) - length,
            ),
            Measure(
                Signal("ligament tension", "N", "largest of all ligaments"), lambda now: np.abs(_tensions(now)).max()
            ),
            Measure(
                Signal("upward rotation", "rad", "upward rotation of the scapula, seen from behind"),
                lambda now: np.arctan2(now.pose("scapula")[0, 2], now.pose("scapula")[2, 2]),
            ),
        ),
        cameras=(
            Camera("back", (-0.7, 0.67, 1.7), (-0.08, 0.02, 1.22)),
            Camera("front", (-0.52, -0.86, 1.5), (-0.08, 0.0, 1.22)),
            Camera("above", (-0.45, 0.45, 2.0), (-0.08, 0.0, 1.25)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    signals = recording.signals
    path = blade_path(fit_ribs())
    scapula = recording.bodies.index("scapula")
    off, level = [], []
    for q, pose in zip(signals["blade"], recording.poses[:, scapula]):
        T = transform_from_pose(pose)
        expected, _ = scapula_pose(path, q)
        off.append(np.linalg.norm(T[:3, 3] - THORAX - expected[:3, 3]))
        point = T[:3, :3] @ BLADE + T[:3, 3] - THORAX
        level.append(np.linalg.norm((point - path.surface.centre) / path.surface.radii) - 1.0)
    balance = signals["balance"]
    scale = float(np.ptp(signals["energy"][:, 1])) or 1.0
    metrics = {
        "farthest_from_designed_pose_mm": 1e3 * float(np.max(off)),
        "blade_off_its_ellipsoid_mm": 1e3 * float(np.max(np.abs(level)) * path.surface.radii.mean()),
        "largest_clavicle_gap_mm": 1e3 * float(np.abs(signals["clavicle gap"]).max()),
        "largest_ligament_tension_N": float(signals["ligament tension"].max()),
        "upward_rotation_range_deg": float(np.rad2deg(np.ptp(signals["upward rotation"]))),
        "blade_travel_forwards_mm": 1e3 * float(np.ptp(signals["blade"][:, 0])),
        "blade_travel_upwards_mm": 1e3 * float(np.ptp(signals["blade"][:, 1])),
        "energy_drift": float(np.abs(balance - balance[0]).max() / scale),
    }
    checks = {
        "blade stays on the ribs within 0.1 mm": metrics["blade_off_its_ellipsoid_mm"] < 0.1,
        "scapula moves as designed within 0.1 mm": metrics["farthest_from_designed_pose_mm"] < 0.1,
        "acromion keeps a clavicle's length within 0.1 mm": metrics["largest_clavicle_gap_mm"] < 0.1,
        "energy within 0.5 %, work counted": metrics["energy_drift"] < 5e-3,
    }
    return Report({name: bool(passed) for name, passed in checks.items()}, metrics)


def _ligaments() -> list[tuple[str, str, Array, Array]]:
    """Name, bone it comes from, point there and point on the clavicle (both [m] in the bones' frames)."""
    out = []
    steps = {"front": (0.0, -0.012, 0.0), "top": (0.0, 0.0, 0.012), "inner": (0.012, 0.0, 0.0)}
    for side, step in steps.items():
        out.append((f"sternoclavicular {side}", "thorax", STERNUM + step, np.zeros(3)))
        out.append((f"acromioclavicular {side}", "scapula", -np.array(step), CLAVICLE))
    under = np.array([0.0, 0.0, -0.008])
    out.append(("costoclavicular", "thorax", STERNUM + np.array([-0.022, 0.004, -0.022]), 0.16 * CLAVICLE + under))
    coracoid = np.array([0.027, -0.026, -0.036])
    out.append(("coracoclavicular", "scapula", coracoid, 0.78 * CLAVICLE + under + np.array([0.0, 0.006, 0.0])))
    return [(name, bone, np.asarray(there, float), np.asarray(own, float)) for name, bone, there, own in out]


_LIGAMENTS = Lines(
    "ligaments",
    offsets=2 * np.arange(len(_ligaments()) + 1),
    radius=np.full(len(_ligaments()), 0.0028),
    names=tuple(name for name, *_ in _ligaments()),
    layer="ligaments",
    colour=(0.85, 0.62, 0.30),
    value="tension",
    unit="N",
    value_range=(-20.0, 20.0),
)


def _ligament_lines(now: Now) -> LinesFrame:
    points = []
    clavicle = now.pose("clavicle")
    for _, bone, there, own in _ligaments():
        T = now.pose(bone)
        points += [T[:3, :3] @ there + T[:3, 3], clavicle[:3, :3] @ own + clavicle[:3, 3]]
    return LinesFrame(np.array(points), _tensions(now))


def _tensions(now: Now) -> Array:
    springs = now.skeleton.springs
    return springs.stiffness * (spring_lengths(now.skeleton, now.q) - springs.rest_length)


def _clavicle_turn(acromion: Array) -> Array:
    """Quaternion that turns the clavicle about the sternum until it points at the acromion [m, in the thorax]."""
    away = acromion - STERNUM
    return quaternion_from_rotation(rotation_between(CLAVICLE / np.linalg.norm(CLAVICLE), away / np.linalg.norm(away)))


def _meshes() -> tuple[Mesh, ...]:
    ribs = fit_ribs()
    path = blade_path(ribs)
    axes = [np.linspace(low, high, 15) for low, high in REACH]
    swept = []
    for a in axes[0]:
        for b in axes[1]:
            pose, _ = scapula_pose(path, np.array([a, b]))
            point = pose[:3, :3] @ BLADE + pose[:3, 3]
            inwards = (path.surface.centre - point) / path.surface.radii**2
            swept.append(point + 0.014 * inwards / np.linalg.norm(inwards))  # under the blade, so that both are seen
    marker = sphere(0.007, tuple(BLADE))
    spine, spine_faces = bone_mesh("hat_thoracic")
    base = lathe(np.array([[0.0, 0.0], [0.16, 0.0], [0.165, 0.008], [0.155, 0.02], [0.02, 0.035], [0.012, 0.06],
                           [0.012, 1.16], [0.0, 1.16]]))  # fmt: skip
    return (
        Mesh("rib cage", "thorax", *join(*(smoothed(*part) for part in rib_cage())), layer="bones"),
        Mesh("scapula", "scapula", *bone_mesh("scapula"), layer="bones", colour=(0.94, 0.86, 0.68)),
        Mesh("clavicle", "clavicle", *bone_mesh("clavicle", smooth=1), layer="bones", colour=(0.94, 0.86, 0.68)),
        Mesh("humerus", "humerus", *bone_mesh("humerus", smooth=1), layer="bones"),
        Mesh("spine", "thorax", spine + SPINE, spine_faces, layer="bones"),
        Mesh("swept surface", "thorax", np.array(swept), grid_faces(15, 15), "surface", (0.3, 0.5, 0.75), 0.5),
        Mesh("blade point", "scapula", *marker, layer="surface", colour=(0.85, 0.22, 0.16)),
        Mesh("stand", "", *base, layer="stand", colour=(0.36, 0.37, 0.40)),
    )


scene = Scene(
    name="scapula",
    summary="A scapula glides over the rib cage on a spline surface, the clavicle held by springs",
    answers="Lee 2008, figure 6.4",
    seconds=6.0,
    build=build,
    check=check,
    parameters={
        "period": Parameter(3.0, "time for one round of the blade", "s", low=0.5, high=100.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.0, high=100.0),
        "substeps": Parameter(12, "steps per frame of 1/60 s", low=4, high=1000),
    },
    qualities={"draft": {"substeps": 12}, "standard": {"substeps": 20}, "fine": {"substeps": 40}},
)
