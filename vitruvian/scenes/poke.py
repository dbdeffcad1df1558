"""A finger-thick rod pushes into the belly: the tissue gives way and hands the push to spine, ribs and pelvis.

At every instant the forces on the bones add up to the push on the skin, whatever the tissue's stiffness (Si 2013,
section 3.5): the flesh only decides how they are shared. Arrows show them, 400 N to the metre.

    vitruvian run poke --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.anatomy.skin import body_skin
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING, body_flesh
from vitruvian.couple.bone_flesh import BoneFleshState
from vitruvian.flesh import Capsule, Contact, Settings, contact_surface, preset
from vitruvian.flesh.contact import contact_forces
from vitruvian.mesh import capsule
from vitruvian.scenes._fleshed import Cue, FleshedBody, Measure
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Camera, Signal
from vitruvian.world.world import World

HEIGHT, RADIUS, LENGTH = 1.26, 0.025, 0.3  # of the rod [m]
SPINE = ("L5", "L4", "L3", "L2", "L1")


def build(parameters: Mapping[str, Any]) -> World:
    body = human(pelvis="fixed")
    skin = body_skin(human(), parameters["build"])
    low, high = np.array([-0.26, -0.28, 0.95]), np.array([0.26, 0.22, 1.62])
    flesh = body_flesh(
        body,
        spacing=parameters["spacing"],
        skin=skin,
        material=preset(parameters["material"]),
        within=lambda p: np.max([np.abs(p[:, 0]) - 0.2, 1.0 - p[:, 2], p[:, 2] - 1.6], axis=0),
        reach=(low, high),
    )
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
        return Contact(surface, (Capsule(tuple(at), tuple(at - [0.0, LENGTH, 0.0]), RADIUS),), stiffness=5e7)

    def script(time: float) -> Cue:
        return Cue(body.default_q, np.zeros(0), contacts=(contact(time),), props={"rod": tip(time)})

    def push(sim: FleshedBody, state: BoneFleshState, time: float) -> np.ndarray:
        return contact_forces(contact(time), surface.embedding.positions(state.flesh.x)).force.sum(axis=0)

    def spine_share(sim: FleshedBody, state: BoneFleshState, time: float) -> float:
        wrench = flesh.model.attachments.bone_wrenches(state.flesh.x, state.poses)
        force = np.einsum("nij,nj->ni", state.poses[:, :3, :3], wrench[:, 3:])
        return float(force[[body.skeleton.index(b) for b in SPINE], 1].sum())

    simulation = FleshedBody(
        body,
        flesh,
        script,
        shown=lambda v: (np.abs(v[:, 0]) < 0.2) & (v[:, 2] > 1.0) & (v[:, 2] < 1.6),
        settings=Settings(residual=0.02, newton=40),
        opacity=0.5,
        arrows=True,
        measures=(
            Measure(Signal("push", "N", "force of the rod on the skin", ("x", "y", "z")), push),
            Measure(Signal("spine", "N", "backward force on the lumbar spine"), spine_share),
        ),
        props=(("rod", capsule(np.zeros(3), np.array([0.0, -LENGTH, 0.0]), RADIUS)),),
        cameras=(
            Camera("oblique", (1.1, -1.3, 1.6), (0.0, -0.08, 1.27)),
            Camera("side", (1.6, -0.2, 1.35), (0.0, -0.1, 1.28)),
        ),
    )
    return World(simulation, frame_rate=20.0)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    push, bones, volume = (recording.signals[k] for k in ("push", "bone_force", "volume"))
    moved = bones - bones[0]
    strongest = float(np.abs(push[:, 1]).max())
    report = Report(
        metrics={"strongest_push_n": strongest, "volume_change": float(np.abs(volume / volume[0] - 1).max())}
    )
    report.metrics["worst_difference_n"] = float(np.linalg.norm(moved - push, axis=1).max())
    report.checks["forces on bones add up to the push"] = report.metrics["worst_difference_n"] < 0.01 * strongest + 0.1
    report.metrics["spine_share"] = float(recording.signals["spine"].max() / max(strongest, 1e-9))
    report.checks["the spine feels it"] = report.metrics["spine_share"] > 0.05
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    return report


scene = Scene(
    name="poke",
    summary="A rod pushes into the belly and spine, ribs and pelvis feel it through the flesh",
    answers="Si 2013, section 3.5",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "spacing": Parameter(0.03, "edge of a lattice cell", "m", low=0.008, high=0.04),
        "material": Parameter("soft", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "depth": Parameter(0.03, "how deep the rod goes", "m", low=0.0, high=0.06),
        "build": Parameter(
            "muscular", "body shape", choices=("muscular", "average", "slender", "heavy", "woman", "old")
        ),
    },
    qualities={k: {"spacing": v} for k, v in QUALITY_SPACING.items()},
)
