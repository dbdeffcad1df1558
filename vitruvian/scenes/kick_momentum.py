"""A soft character kicks while it turns in empty space: which damping keeps its angular momentum?

No weight, no ground: what spins should go on spinning. Pose-based damping acts between flesh and bones alone and keeps
it; damping of nodes against the world (Kim and Pollard 2011) and the mass term of Rayleigh's brake it. The captured
kick is led back to its beginning and repeated, 1.6 s a cycle. Liu & al. 2013, figure 7.

    vitruvian run kick-momentum --set step=explicit
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.control.search import Following, Reference
from vitruvian.couple.soft_explicit import Damping
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import retargeted
from vitruvian.systems import LanesController, LanesSystem
from vitruvian.systems.character import CharacterSystem
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, World

DAMPINGS = {
    "pose": Damping(pose=10.0),
    "rayleigh": Damping(mass=0.5, stiffness=0.002),
    "node": Damping(node=10.0),
}
STEPS = {"implicit": 5, "explicit": 40}  # a frame of 20 ms


def kick(who: Character, spin: float) -> tuple[Reference, np.ndarray, np.ndarray]:
    """The captured kick over and over; a pose and velocity to begin it with, turning at `spin` [rad/s]."""
    motion = retargeted(read_trial("kick"), who).smoothed(0.015).closed(0.1)
    q, v = motion.sample(0.0)
    q[:3], q[3:7] = (0.0, 0.0, who.bones[0].at[2]), (1.0, 0.0, 0.0, 0.0)
    v[:] = 0.0
    v[:3] = spin * np.array([0.0, 0.6, 0.8])
    return motion, q, v


def build(parameters: Mapping[str, Any]) -> World:
    who = character(parameters["character"])
    motion, q, v = kick(who, parameters["spin"])
    height = float(who.vertices[:, 2].max())
    explicit = parameters["step"] == "explicit"
    lanes = {
        name: CharacterSystem(
            who, q, v, implicit=not explicit,
            body=soft_body(who, young=parameters["young"], damping=damping, ground=None, gravity=(0.0, 0.0, 0.0)),
        )
        for name, damping in DAMPINGS.items()
    }  # fmt: skip
    camera = Camera("front", (1.3 * height, -4.2 * height, 0.9 * height), (1.3 * height, 0.0, 0.45 * height))
    system = LanesSystem(lanes, (1.3 * height, 0.0, 0.0), cameras=(camera,))
    follow = Following(motion)
    return World(system, LanesController([follow] * len(lanes)), frame_rate=50.0, substeps=STEPS[parameters["step"]])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    drift = {}
    for name in DAMPINGS:
        size = np.linalg.norm(recording.signals[f"{name} spin"], axis=1)
        drift[name] = float(size[-1] / size[0] - 1.0)
        report.metrics[f"momentum_drift_{name}"] = drift[name]
    vector = recording.signals["pose spin"]
    worst = np.linalg.norm(vector - vector[0], axis=1).max() / np.linalg.norm(vector[0])
    report.metrics["momentum_wander_pose"] = float(worst)
    report.checks["pose-based damping keeps it within 0.5 %"] = worst < 0.005
    if recording.time[-1] > 4.0:
        report.checks["Rayleigh damping loses it"] = drift["rayleigh"] < -0.1
        report.checks["node damping loses it"] = drift["node"] < -0.5
    return report


scene = Scene(
    name="kick-momentum",
    summary="A soft character kicks in empty space under three dampings; one keeps its spin",
    answers="Liu & al. 2013, figure 7",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "character": Parameter("mascot", "who kicks", choices=("mascot", "panda", "baby")),
        "spin": Parameter(1.0, "turning to begin with", "rad/s", low=0.1, high=5.0),
        "young": Parameter(1e5, "Young's modulus of the flesh", "Pa", low=1e3, high=1e6),
        "step": Parameter("implicit", "step of 4 ms, or explicit of 0.5 ms", choices=("implicit", "explicit")),
    },
)
