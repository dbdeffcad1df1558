"""Arms move through a sequence of poses with dumbbells in the hands, the head looks left and right, all by muscles.

vitruvian run flex --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.control import Gains
from vitruvian.scenes._body import MOTION, RATE, STEPS, missing_metrics, scene_motion
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.systems import BodySystem, Held, tracking_measures, tracking_world
from vitruvian.systems.things import dumbbell, dumbbell_mesh
from vitruvian.world import Parameter, Recording, Report, Scene, World


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    motion = scene_motion(body, parameters["motion"])
    hands = (("Ha_l", "l"), ("Ha_r", "r"))
    mass = parameters["mass"]
    simulation = BodySystem(
        body,
        *motion.sample(0.0)[:2],
        held=[Held(bone, dumbbell(mass, side)) for bone, side in hands if mass > 0],
        meshes=[dumbbell_mesh(bone, 0.8) for bone, _ in hands if mass > 0],
        grips=("l", "r") if mass > 0 else (),
        measures=tracking_measures(body, motion, {"elbow": ("Ul_l", 0)}),
        breathing=breathing_of(parameters, body),
    )
    gains = Gains(rate=parameters["rate"], sensor_lag=0.1)
    return tracking_world(simulation, motion, gains, parameters["steps"], coactivation=parameters["coactivation"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    error = np.degrees(recording.signals["error"])
    bend = np.degrees(recording.signals["elbow"][:, 0])
    report = Report()
    breath_metrics(report, recording)
    report.metrics["tracking_rms_deg"] = float(np.sqrt(np.mean(error**2)))
    report.metrics["largest_activation"] = float(recording.signals["activation"][:, 1].max())
    report.metrics |= missing_metrics(recording)
    report.metrics["elbow_range_deg"] = float(bend.max() - bend.min())
    report.checks["all joints follow within 2 degrees rms"] = report.metrics["tracking_rms_deg"] < 2.0
    if recording.time[-1] > 3.0 and parameters["motion"] == "flex":
        report.checks["the elbow bends by more than 80 degrees"] = report.metrics["elbow_range_deg"] > 80.0
    return report


scene = Scene(
    name="flex",
    summary="Arms flex through a sequence of poses with dumbbells, driven by muscles",
    answers="Lee 2008, figure 5.17",
    seconds=4.8,
    build=build,
    check=check,
    parameters={
        "motion": Parameter("flex", MOTION),
        "mass": Parameter(1.0, "mass of each dumbbell", "kg", low=0.0, high=10.0),
        "coactivation": Parameter(0.0, "coactivation of agonists and antagonists", low=0.0, high=5.0),
        "breathing": BREATHING,
        "rate": RATE,
        "steps": STEPS,
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 32, "rate": 480.0}},
)
