"""Elbows of a soft character bent far: with a reference shape that follows the pose, and with one that does not.

Flesh around a joint resists large turns. Where its rest shape follows the bones (pose-based plasticity) the elbow comes
to its target; without, the same servo falls short by an angle that grows with the flesh's stiffness. No weight, no
ground. Liu & al. 2013, figure 5.

    vitruvian run elbow-bend --set young=300000
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.characters import character, soft_body
from vitruvian.control.search import Holding, Reference
from vitruvian.systems import LanesController, LanesSystem, Measure
from vitruvian.systems.character import CharacterSystem
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

LANES = ("with", "without")
ELBOWS = ("forearm_l", "forearm_r")


def build(parameters: Mapping[str, Any]) -> World:
    who = character(parameters["character"])
    skeleton, start = who.skeleton, who.bind_q
    bent = start.copy()
    for bone in ELBOWS:
        bent[skeleton.q_slice(bone)] = np.radians(parameters["target"])
    reference = Reference(skeleton, 0.5, np.stack([start, 0.5 * (start + bent), bent]))
    elbow = Measure(
        Signal("elbow", "deg", "elbow, mean of both"),
        lambda now: float(np.degrees(np.mean([now.angle(bone) for bone in ELBOWS]))),
    )
    height = float(who.vertices[:, 2].max())
    lanes = {
        lane: CharacterSystem(
            who,
            body=soft_body(
                who, young=parameters["young"], plastic=lane == "with", ground=None, gravity=(0.0, 0.0, 0.0)
            ),
            measures=(elbow,),
        )
        for lane in LANES
    }
    camera = Camera("front", (0.6 * height, -3.0 * height, 1.0 * height), (0.6 * height, 0.0, 0.6 * height))
    system = LanesSystem(lanes, (1.25 * height, 0.0, 0.0), cameras=(camera,), ground=0.0)
    holding = Holding(reference, 0.6)
    return World(system, LanesController([holding, holding]), frame_rate=50.0, substeps=5)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    found = {lane: float(recording.signals[f"{lane} elbow"][-1]) for lane in LANES}
    report = Report(metrics={"elbow_with_deg": found["with"], "elbow_without_deg": found["without"]})
    target = parameters["target"]
    report.metrics["short_of_target_deg"] = target - found["without"]
    if recording.time[-1] > 1.2:
        report.checks["with plasticity within 5 degrees of the target"] = abs(found["with"] - target) < 5.0
        report.checks["without it short by 20 degrees or more"] = target - found["without"] > 20.0
    return report


scene = Scene(
    name="elbow-bend",
    summary="Soft elbows bent to 120 degrees, with and without pose-based plasticity",
    answers="Liu & al. 2013, figure 5",
    seconds=1.6,
    build=build,
    check=check,
    parameters={
        "character": Parameter("mascot", "whose elbows", choices=("mascot", "panda", "baby")),
        "target": Parameter(120.0, "angle that the servos pull to", "deg", low=10.0, high=150.0),
        "young": Parameter(1e5, "Young's modulus of the flesh", "Pa", low=1e3, high=1e6),
    },
)
