"""One arm in its flesh: the biceps bulges when it contracts, at rest and while the elbow flexes against a cable.

First second: elbow at 25 degrees, the flexors contract from 0 to 1 and let go. Then the elbow flexes to 110 degrees
while a cable pulls the hand outwards; activation is what the cable's torque asks of a man's 70 N m (Askew 1987).
The belly's cross-section is measured on the skin at three fifths of the upper arm.

    vitruvian run biceps --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.anatomy.bellies import muscle_bellies
from vitruvian.anatomy.skin import body_skin, world_bones
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING, body_flesh
from vitruvian.couple.bone_flesh import BoneFleshState
from vitruvian.flesh import Settings, preset
from vitruvian.mesh.levelset import add_mesh, empty_level_set
from vitruvian.scenes._fleshed import Cue, FleshedBody, Measure, section_area
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Camera, Signal
from vitruvian.world.world import World

FLEXORS = ("biceps_brachii_01_l", "biceps_brachii_02_l", "brachialis_01_l")
FROM, TO, UNDER = 0.22, 0.77, 1.475  # the part of the arm that is simulated: between these in x, above this in z [m]
ELBOW = 0.45  # x of skin that belongs to the upper arm ends here [m]
HELD, LAST = np.deg2rad(25.0), np.deg2rad(110.0)
TORQUE = 70.0  # greatest of the elbow's flexors [N m]


def build(parameters: Mapping[str, Any]) -> World:
    body = human(pelvis="fixed")
    skin = body_skin(human(), parameters["build"])
    level = skin.level_set(0.006)
    low, high = np.array([FROM - 0.05, -0.1, 1.4]), np.array([TO + 0.05, 0.25, 1.72])
    bone_level = empty_level_set(low, high, 0.005, 0.03)
    bones = world_bones(body)
    for name in ("Hu_l", "Ul_l", "Rad_l"):
        add_mesh(bone_level, *bones[name], crossing=True, name=name)
    bellies = muscle_bellies(body, FLEXORS, skin=level, bones=bone_level)
    flesh = body_flesh(
        body,
        spacing=parameters["spacing"],
        skin=skin,
        material=preset(parameters["material"]),
        bellies=bellies,
        within=lambda p: np.maximum(np.maximum(FROM - p[:, 0], p[:, 0] - TO), UNDER - p[:, 2]),
        reach=(low, high),
    )
    elbow = body.skeleton.q_start[body.skeleton.index("Ul_l")]
    q0 = body.default_q

    def script(time: float) -> Cue:
        angle, activation = effort(time, parameters["cable"])
        q = q0.copy()
        q[elbow] += angle
        return Cue(q, np.full(len(FLEXORS), activation))

    def shown(v: np.ndarray) -> np.ndarray:
        return (v[:, 0] > FROM + 0.01) & (v[:, 0] < TO - 0.01) & (v[:, 2] > UNDER + 0.005)

    def girth(sim: FleshedBody, state: BoneFleshState, time: float) -> float:
        upper, lower = (state.poses[body.skeleton.index(b), :3, 3] for b in ("Hu_l", "Ul_l"))
        rest = sim.skin.positions(flesh.model.lattice.nodes)[:, 0] < ELBOW  # not the forearm, which crosses the plane
        faces = sim.skin_faces[rest[sim.skin_faces].all(axis=1)]
        return section_area(sim.skin.positions(state.flesh.x), faces, 0.4 * upper + 0.6 * lower, lower - upper)

    simulation = FleshedBody(
        body,
        flesh,
        script,
        bellies=bellies,
        shown=shown,
        settings=Settings(newton=30),
        opacity=0.45,
        measures=(
            Measure(Signal("elbow", "rad", "elbow flexion"), lambda s, x, t: float(effort(t, parameters["cable"])[0])),
            Measure(
                Signal("effort", "1", "activation of the flexors"),
                lambda s, x, t: float(effort(t, parameters["cable"])[1]),
            ),
            Measure(Signal("girth", "m²", "cross-section over the belly"), girth),
        ),
        cameras=(
            Camera("oblique", (0.62, -0.75, 2.2), (0.43, -0.02, 1.56)),
            Camera("front", (0.42, -1.1, 1.7), (0.45, 0.05, 1.56)),
            Camera("above", (0.45, -0.35, 2.6), (0.45, 0.0, 1.56)),
            Camera("back", (0.45, 1.1, 1.7), (0.45, 0.05, 1.56)),
        ),
    )
    return World(simulation, frame_rate=20.0)


def effort(time: float, cable: float) -> tuple[float, float]:
    """Elbow angle [rad] and activation at a time [s]; cable: pull on the hand [N]."""
    if time <= 1.0:  # contract and let go, the elbow held
        return HELD, 1.0 - abs(1.0 - 2.0 * time)
    part = min((time - 1.0) / 2.0, 1.0)
    angle = HELD + (LAST - HELD) * part * part * (3.0 - 2.0 * part)
    rising = min((time - 1.0) / 0.2, 1.0)
    return angle, float(min(1.0, rising * cable * 0.33 * np.sin(angle) / TORQUE))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, girth, effort_, volume = (
        recording.time,
        *(recording.signals[k] for k in ("girth", "effort", "volume")),
    )
    report = Report()
    report.metrics["volume_change"] = float(np.abs(volume / volume[0] - 1.0).max())
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    still = (time <= 0.5 + 1e-9) & (time > 0.0)
    if still.sum() >= 4:
        rise = np.diff(girth[still])
        report.metrics["girth_growth_held"] = float(girth[still][-1] / girth[still][0] - 1.0)
        report.checks["cross-section grows with activation, elbow held"] = bool((rise > 0.0).all())
    moving = time >= 1.0
    if time[-1] >= 2.9:
        report.metrics["girth_growth_flexed"] = float(girth[moving][-1] / girth[moving][0] - 1.0)
        report.metrics["largest_effort"] = float(effort_.max())
    report.metrics["most_newton_steps"] = float(recording.signals["newton"].max())
    return report


scene = Scene(
    name="biceps",
    summary="An arm flexes against a cable and its biceps bulges under the skin",
    answers="Lee 2008, figure 5.14",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "spacing": Parameter(0.02, "edge of a lattice cell", "m", low=0.008, high=0.03),
        "material": Parameter("lee", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "cable": Parameter(150.0, "pull of the cable on the hand", "N", low=0.0, high=400.0),
        "build": Parameter(
            "muscular", "body shape", choices=("muscular", "average", "slender", "heavy", "woman", "old")
        ),
    },
    qualities={
        "draft": {"spacing": 0.02},
        "standard": {"spacing": 0.015},
        "seed": {"spacing": QUALITY_SPACING["seed"]},
    },
)
