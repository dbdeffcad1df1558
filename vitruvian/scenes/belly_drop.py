"""A ball dropped on the belly of a person who lies on the back (DiLorenzo 2009, figure 3.6).

The belly gives way, throws it back, and carries it at the end; all the while it keeps its volume. The ball rubs on the
skin and does not spin: without friction it slides off.

    vitruvian run belly-drop --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.trunk import with_ball
from vitruvian.control import HANGING, pose
from vitruvian.scenes._torso import RATE, SKIN, common, trunk_of
from vitruvian.spatial import exp_so3, quaternion_from_rotation
from vitruvian.systems import Measure, PointsLayer, TorsoSystem
from vitruvian.systems.torso_look import torso_layers
from vitruvian.world import Camera, Parameter, Points, Recording, Report, Scene, Signal, World

WHERE = np.array([0.0, -0.155, 1.255])  # the wall is level here with the body lying, default pose [m]
LIE = exp_so3(np.array([-0.5 * np.pi, 0.0, 0.0]))  # the front turns up
IRON = (0.35, 0.37, 0.42)
CAMERAS = (
    Camera("side", (1.7, 0.9, 0.95), (0.0, 1.15, 0.2)),
    Camera("foot", (1.1, -0.6, 1.0), (0.0, 1.15, 0.2)),
)


def build(parameters: Mapping[str, Any]) -> World:
    trunk = trunk_of()
    body, radius = trunk.body, parameters["radius"]
    fall = parameters["height"] + radius
    trunk = with_ball(
        trunk, WHERE - np.array([0.0, fall, 0.0]), radius, parameters["mass"], friction=parameters["friction"]
    )
    q = pose(body, HANGING)
    q[:3] = LIE @ body.default_q[:3] + np.array([0.0, 0.0, 0.15])
    q[3:7] = quaternion_from_rotation(LIE)
    push = np.zeros_like(trunk.cavities.rest)
    push[-2, 2] = -9.81 * parameters["mass"]
    measures = [Measure(Signal("ball", "m", "the ball's middle", ("x", "y", "z")), lambda now: now.state.breath.x[-2])]
    system = TorsoSystem(trunk, layers=(), measures=measures, cameras=CAMERAS, pose_q=q, push=push)
    system.ground = None
    ball = PointsLayer(Points("ball", radius, layer="ball", colour=IRON), lambda now: now.state.breath.x[[-2]])
    system.layers = [*system.layers, *torso_layers(trunk, system, parameters["skin"]), ball]
    return World(system, frame_rate=RATE, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, ball, time = Report(), recording.signals["ball"], recording.time
    sunk = float(ball[0, 2] - parameters["height"]) - ball[:, 2]  # below where it touches [m]
    touch = float(np.sqrt(2.0 * parameters["height"] / 9.81))
    report.metrics |= {"dent_mm": 1e3 * max(0.0, float(sunk.max()))}
    if time[-1] > touch + 0.2:
        report.checks["the ball sinks in"] = report.metrics["dent_mm"] > 10.0
        report.checks["the belly stops it"] = bool(sunk.max() < 0.2 and sunk[-1] < sunk.max())
    if time[-1] > touch + 1.2:
        end = ball[time > time[-1] - 0.3]
        report.metrics["rest_dent_mm"] = 1e3 * float(sunk[-1])
        report.metrics["slid_mm"] = 1e3 * float(np.linalg.norm(ball[-1, :2] - ball[0, :2]))
        if parameters["friction"] >= 0.3:
            report.checks["the ball comes to rest on the belly"] = bool(
                np.ptp(end, axis=0).max() < 3e-3 and sunk[-1] > 0.0 and report.metrics["slid_mm"] < 50.0
            )
    common(report, recording, worst=0.5)
    return report


scene = Scene(
    name="belly-drop",
    summary="A ball on the belly: it gives way and keeps its volume",
    answers="DiLorenzo 2009, figure 3.6",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "mass": Parameter(3.0, "mass of the ball", "kg", low=0.1, high=10.0),
        "radius": Parameter(0.06, "radius of the ball", "m", low=0.03, high=0.12),
        "height": Parameter(0.3, "that it falls", "m", low=0.0, high=1.0),
        "friction": Parameter(0.5, "friction of the ball on the skin", low=0.0, high=1.0),
        "skin": SKIN,
        "steps": Parameter(8, "steps per frame of 1/50 s (2.5 ms)", low=1, high=40),
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 20}},
)
