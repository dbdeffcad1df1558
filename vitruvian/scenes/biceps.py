"""An arm in its flesh works against a cable: the biceps bulges when it contracts, and more when the elbow flexes.

The upper arm lies on a pad (shoulder and trunk are held); elbow, forearm and wrist move under their muscles. In the
first second the elbow is held at 10 degrees while a cable that is fixed behind and outside pulls harder and harder at
the wrist, then lets go. Then the elbow flexes to 110 degrees against it. Flesh and bones feel each other; activations
come from computed muscle control. The cross-section is measured on the skin at three fifths of the upper arm.

What lets it bulge: the flesh is grown to the bone only where muscles end on it and slides elsewhere
(`--set ties=surface` grows it to the whole bone), and the tissue is as soft as indentation finds it; Lee's and Si's
constants (`--set material=lee`) are ten times as stiff.

    vitruvian run biceps --view
    vitruvian run biceps --set colour=strain
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import body_flesh, body_skin, human
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING
from vitruvian.control import ComputedMuscleControl, Gains, KeyMotion
from vitruvian.flesh import Settings, embed, preset, self_contact
from vitruvian.mesh import cylinder, join, moved
from vitruvian.mesh.section import section_area
from vitruvian.scenes._shape import shape_parameters, skin_shape
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import rotation_between, transform
from vitruvian.systems import Cover, FleshedBodySystem, Look, Measure, Now, Outside
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
FLEXORS = ("biceps_brachii_01_l", "biceps_brachii_02_l", "brachialis_01_l")
ALIVE = (*FLEXORS, "brachioradialis_01_l", "triceps_brachii_01_l", "triceps_brachii_02_l", "triceps_brachii_03_l",
         "coracobrachialis_01_l")  # fmt: skip
FROM, TO, UNDER = 0.16, 1.0, 1.44  # the part of the body that is simulated: between these in x, above this in z [m]
ELBOW = 0.45  # x of skin that belongs to the upper arm ends here [m]
CREASE, FIRM = (
    0.16,
    3e7,
)  # around the elbow, where skin may touch skin [m]; how firmly [Pa/m]: soft tissue needs no more
HELD, LAST = 10.0, 110.0  # elbow angles [degrees]
ANCHOR = np.array([1.35, 0.75, 1.56])  # where the cable is fixed [m]
CUFF = np.array([0.23, 0.0, 0.0])  # where it pulls, in the ulna's frame [m]
MOVING = ("Ul_l", "Rad_l", "Ha_l")


def build(parameters: Mapping[str, Any]) -> World:
    body = human(pelvis="fixed")
    shape = skin_shape(parameters)
    skin = body_skin(human(), shape)
    low, high = np.array([FROM - 0.03, -0.15, UNDER - 0.03]), np.array([TO + 0.03, 0.25, 1.74])
    bellies = body_bellies(body, skin, ALIVE)

    def within(p: Array) -> Array:
        return np.maximum(np.maximum(FROM - p[:, 0], p[:, 0] - TO), UNDER - p[:, 2])

    flesh = body_flesh(
        body,
        spacing=parameters["spacing"],
        skin=skin,
        material=preset(parameters["material"]),
        bellies=bellies,
        within=within,
        reach=(low, high),
        ties=parameters["ties"],
    )
    skeleton = body.skeleton
    elbow = skeleton.q_start[skeleton.index("Ul_l")]

    def pose(angle: float) -> Array:
        q = body.default_q.copy()
        q[elbow] += np.deg2rad(angle)
        return q

    motion = KeyMotion.through(body, [0.0, 1.0, 2.8], [pose(HELD), pose(HELD), pose(LAST)])

    def outside(time: float) -> Outside:
        ulna = bone_poses(skeleton, motion.sample(time)[0])[skeleton.index("Ul_l")]
        along = ANCHOR - (ulna[:3, :3] @ CUFF + ulna[:3, 3])
        force = parameters["cable"] * effort(time) * along / np.linalg.norm(along)
        return Outside(forces=[("Ul_l", CUFF, force)])

    arm = (skin.vertices[:, 0] > FROM + 0.02) & (skin.vertices[:, 0] < ELBOW)  # not the forearm, which may cross
    arm_faces = skin.faces[arm[skin.faces].all(axis=1)]
    used, number = np.unique(arm_faces, return_inverse=True)
    sleeve, arm_faces = embed(flesh.model.lattice, skin.vertices[used]), number.reshape(-1, 3)

    def girth(now: Now) -> float:
        state = now.state
        upper, lower = (state.wrap.poses[skeleton.index(b), :3, 3] for b in ("Hu_l", "Ul_l"))
        at = sleeve.positions(state.wrap.flesh.x)
        return section_area(at, arm_faces, 0.4 * upper + 0.6 * lower, lower - upper)

    fold = bone_poses(skeleton, body.default_q)[skeleton.index("Ul_l"), :3, 3]
    near = np.linalg.norm(skin.vertices - fold, axis=1) < CREASE
    flexors = [body.muscles.names.index(n) for n in FLEXORS]
    pcsa = body.muscles.pcsa[flexors]
    still = np.array([skeleton.names[b] not in MOVING for b in skeleton.dof_bone])
    simulation = FleshedBodySystem(
        body,
        flesh,
        Cover(body, flesh.model, shape, within=within),
        pose(HELD),
        bellies=bellies,
        outside=outside,
        settings=Settings(newton=30),
        every=2,
        touching=self_contact(flesh.model.lattice, skin.vertices, skin.faces, among=near, stiffness=FIRM),
        look=Look(
            colour=parameters["colour"],
            opacity=0.35,
            lattice=parameters["lattice"],
            bones=lambda name: True,
        ),
        measures=(
            Measure(Signal("elbow", "rad", "elbow flexion"), lambda now: now.angle("Ul_l")),
            Measure(
                Signal("effort", "1", "activation of the flexors"),
                lambda now: float(pcsa @ now.state.activation[flexors] / pcsa.sum()),
            ),
            Measure(Signal("cable", "N", "pull of the cable"), _pull(parameters)),
            Measure(Signal("girth", "m²", "cross-section over the belly"), girth),
        ),
        meshes=[_cuff()],
        cameras=(
            Camera("front", (0.6, -0.82, 2.0), (0.42, 0.02, 1.545)),
            Camera("above", (0.45, -0.35, 2.6), (0.45, 0.0, 1.56)),
            Camera("back", (0.45, 1.1, 1.7), (0.45, 0.05, 1.56)),
            Camera("below", (0.5, -0.9, 0.9), (0.45, 0.0, 1.55)),
        ),
        ground=None,
        still=still,
    )
    gains = Gains(stiffness=1600.0, damping=80.0, rate=120.0, sensor_lag=0.02)
    controller = ComputedMuscleControl(body, simulation.stepper.twin(), motion, gains)
    return World(simulation, controller, frame_rate=20.0, substeps=6)


def effort(time: float) -> float:
    """Pull of the cable as a part of its greatest: up, off, and on again before the elbow moves."""
    if time <= 1.0:
        return float(np.clip(min(time / 0.6, (0.95 - time) / 0.25), 0.0, 1.0))
    return float(np.clip((time - 1.0) / 0.25, 0.0, 1.0))


def _pull(parameters: Mapping[str, Any]) -> Any:
    def pull(now: Now) -> float:
        return float(parameters["cable"]) * effort(now.time)

    return pull


def _cuff() -> Mesh:
    """A cuff round the wrist and the first of the cable."""
    ring = moved(cylinder(0.034, 0.03, edge=0.003), transform(rotation_between((0, 0, 1), (1, 0, 0)), CUFF))
    return Mesh("cuff", "Ul_l", *join(ring), layer="things", colour=(0.2, 0.22, 0.26))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time = recording.time
    girth, activation, volume, elbow = (recording.signals[k] for k in ("girth", "effort", "volume", "elbow"))
    report = Report()
    report.metrics["volume_change"] = float(np.abs(volume / volume[0] - 1.0).max())
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    rising = time <= 0.6 + 1e-9
    if rising.sum() >= 5 and time[-1] >= 0.4 - 1e-9:
        order = np.argsort(activation[rising])
        growth = np.diff(girth[rising][order])
        report.metrics["growth_held"] = float(girth[rising][-1] / girth[0] - 1.0)
        report.metrics["effort_held"] = float(activation[rising].max())
        report.checks["cross-section grows with activation, elbow held"] = bool((growth > -1e-7).all())
        report.metrics["elbow_moved_held_deg"] = float(np.rad2deg(np.ptp(elbow[time <= 0.9])))
    if time[-1] >= 2.9:
        report.metrics["growth_flexed"] = float(girth[-1] / girth[0] - 1.0)
        report.metrics["largest_growth"] = float(girth.max() / girth[0] - 1.0)
        report.metrics["largest_effort"] = float(activation.max())
        report.metrics["elbow_reached_deg"] = float(np.rad2deg(elbow[-1]))
        report.checks["larger flexed and working than straight and slack"] = report.metrics["growth_flexed"] > 0.02
        report.checks["the elbow gets there (5 degrees)"] = abs(report.metrics["elbow_reached_deg"] - LAST) < 5.0
    report.metrics["most_newton_steps"] = float(recording.signals["newton"].max())
    report.metrics["largest_missing_torque_nm"] = float(recording.signals["missing_torque"].max())
    return report


scene = Scene(
    name="biceps",
    summary="An arm works against a cable and its biceps bulges under the skin",
    answers="Lee 2008, figures 5.15 and 5.17",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "spacing": Parameter(0.02, "edge of a lattice cell", "m", low=0.008, high=0.03),
        "material": Parameter("soft", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "ties": Parameter("footprints", "where flesh is grown to bone", choices=("footprints", "surface")),
        "cable": Parameter(170.0, "pull of the cable on the wrist", "N", low=0.0, high=400.0),
        "colour": Parameter("none", "colour of the skin", choices=("none", "strain", "pressure", "activation")),
        "lattice": Parameter(False, "show the lattice"),
        **shape_parameters(),
    },
    qualities={k: {"spacing": v} for k, v in QUALITY_SPACING.items()},
)
