"""A finger-thick rod pushes into the belly: the tissue gives way and hands the push to spine, ribs and pelvis, which
give way in turn.

A man stands with his arms out and his pelvis held; computed muscle control keeps his posture with soft feedback and
lagging senses. At every instant the forces on the bones add up to the push on the skin, whatever the tissue's stiffness
(Si 2013, section 3.5): the flesh only decides how they are shared. The bones feel them and move. Arrows show the force
on each bone. Only the trunk has flesh; the skin of the rest rides on the bones.

    vitruvian run poke --view
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import body_skin, human
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING
from vitruvian.control import ComputedMuscleControl, Gains, KeyMotion
from vitruvian.flesh import Capsule, Contact, Settings, contact_surface
from vitruvian.mesh import capsule
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of, without_breath
from vitruvian.scenes._shape import shape_parameters, skin_shape
from vitruvian.systems import Cover, FleshedBodySystem, Look, Measure, Now, Outside
from vitruvian.systems.cover import TrunkSlice
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

HEIGHT, RADIUS, LENGTH = 1.26, 0.025, 0.3  # of the rod [m]
TRUNK = TrunkSlice(wide=0.2, low=0.98, high=1.58, front=-0.3, back=0.24)  # the part that is simulated
GIVES = 0.01  # [mm/N] at least, of the third lumbar vertebra: 0.014 measured, with a soft belly that breathes 0.029
SPINE = ("L5", "L4", "L3", "L2", "L1")


def build(parameters: Mapping[str, Any]) -> World:
    body = human(pelvis="fixed")
    shape = skin_shape(parameters)
    skin = body_skin(human(), shape)
    breathing = breathing_of(parameters, body)
    flesh = TRUNK.flesh(body, skin, parameters, lungs=breathing is not None)
    middle = np.abs(skin.vertices - [0.0, 0.0, HEIGHT]) < [0.02, 1.0, 0.02]
    front = float(skin.vertices[middle.all(axis=1), 1].min())
    near = np.all(np.abs(skin.vertices - [0.0, front, HEIGHT]) < 0.16, axis=1)
    faces = skin.faces[near[skin.faces].all(axis=1)]
    used, number = np.unique(faces, return_inverse=True)
    surface = contact_surface(flesh.model.lattice, skin.vertices[used], number.reshape(-1, 3))

    def tip(time: float) -> np.ndarray:
        """Centre of the rod's round end [m]: in, hold, out."""
        part = np.clip(min(time / 0.8, (2.0 - time) / 0.8), 0.0, 1.0)
        return np.array([0.0, front - RADIUS + parameters["depth"] * part, HEIGHT])

    def contact(time: float) -> Contact:
        at = tip(time)
        return Contact(surface, (Capsule(tuple(at), tuple(at - [0.0, LENGTH, 0.0]), RADIUS),))

    def outside(time: float) -> Outside:
        return Outside(contacts=(contact(time),), props={"rod": tip(time)})

    def push(now: Now) -> np.ndarray:
        return now.state.wrap.flesh.push.sum(axis=0)

    def spine_share(now: Now) -> float:
        names = [body.skeleton.names[i] for i in simulation.near]
        return float(simulation.bone_forces(now.state)[[names.index(b) for b in SPINE], 1].sum())

    start = body.default_q
    at_first = Now(body, body.at_rest(start), None, 0.0)
    level = {"moved_l3": "L3", "moved_t6": "T6", "moved_head": "Sku"}
    simulation = FleshedBodySystem(
        body,
        flesh,
        Cover(body, flesh.model, shape, within=TRUNK.within, drape=False),
        start,
        outside=outside,
        breathing=breathing,
        lungs=breathing is not None,
        settings=Settings(newton=40),
        every=2,
        two_way=parameters["two_way"],
        look=Look(
            colour=parameters["colour"],
            opacity=0.35,
            lattice=parameters["lattice"],
            bones=lambda name: True,
            arrows=parameters["arrows"],
        ),
        measures=[
            *(
                Measure(Signal(name, "m", f"{bone} moved backwards"), _moved(bone, at_first))
                for name, bone in level.items()
            ),
            Measure(Signal("push", "N", "force of the rod on the skin", ("x", "y", "z")), push),
            Measure(Signal("spine", "N", "backward force on the lumbar spine"), spine_share),
        ],
        props=(("rod", capsule(np.zeros(3), np.array([0.0, -LENGTH, 0.0]), RADIUS)),),
        cameras=(
            Camera("oblique", (1.1, -1.25, 1.66), (0.0, -0.08, 1.28)),
            Camera("side", (1.9, -0.5, 1.3), (0.0, -0.05, 1.28)),
            Camera("front", (0.5, -3.4, 1.5), (0.0, 0.0, 1.05)),
        ),
        ground=None,
    )
    gains = Gains(stiffness=100.0, damping=20.0, rate=60.0, sensor_lag=0.2)
    motion = KeyMotion.through(body, [0.0], [start])
    controller = ComputedMuscleControl(body, simulation.stepper.twin(), motion, gains)
    return World(simulation, controller, frame_rate=30.0, substeps=4)


def _moved(bone: str, first: Now) -> Callable[[Now], float]:
    def moved(now: Now) -> float:
        return float(now.point(bone)[1] - first.point(bone)[1])

    return moved


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    push, bones, volume = (recording.signals[k] for k in ("push", "bone_force", "volume"))
    volume = without_breath(recording, volume)
    moved = bones - bones[0]
    strongest = float(np.abs(push[:, 1]).max())
    report = Report(
        metrics={"strongest_push_n": strongest, "volume_change": float(np.abs(volume / volume[0] - 1).max())}
    )
    breath_metrics(report, recording)
    report.metrics["worst_difference_n"] = float(np.linalg.norm(moved - push, axis=1).max())
    report.checks["forces on bones add up to the push"] = report.metrics["worst_difference_n"] < 0.01 * strongest + 0.1
    for bone in ("l3", "t6", "head"):
        report.metrics[f"moved_{bone}_mm"] = 1e3 * float(np.abs(recording.signals[f"moved_{bone}"]).max())
    if parameters["depth"] > 0.0:
        report.metrics["spine_share"] = float(recording.signals["spine"].max() / max(strongest, 1e-9))
        report.checks["the spine feels it"] = report.metrics["spine_share"] > 0.05
    if parameters["depth"] > 0.0 and parameters["two_way"] and recording.time[-1] >= 0.8:
        then = int(np.abs(push[:, 1]).argmax())  # a belly that breathes is soft: the push is small, and so is this
        report.metrics["moved_l3_mm_a_newton"] = 1e3 * float(recording.signals["moved_l3"][then]) / strongest
        report.checks[f"the push moves the spine ({GIVES:g} mm a newton)"] = (
            report.metrics["moved_l3_mm_a_newton"] > GIVES
        )
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    return report


scene = Scene(
    name="poke",
    summary="A rod pushes into the belly; spine, ribs and pelvis feel it through the flesh and give way",
    answers="Si 2013, section 3.5",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "spacing": Parameter(0.03, "edge of a lattice cell", "m", low=0.008, high=0.04),
        "material": Parameter("soft", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "ties": Parameter("footprints", "where flesh is grown to bone", choices=("footprints", "surface")),
        "breathing": BREATHING,
        "two_way": Parameter(True, "bones feel the flesh"),
        "arrows": Parameter(0.008, "length of the force arrows, 0 for none", "m/N", low=0.0, high=0.1),
        "colour": Parameter("strain", "colour of the skin", choices=("none", "strain", "pressure", "activation")),
        "lattice": Parameter(False, "show the lattice"),
        "depth": Parameter(0.03, "how deep the rod goes", "m", low=0.0, high=0.06),
        **shape_parameters(),
    },
    qualities={k: {"spacing": v} for k, v in QUALITY_SPACING.items()},
)
