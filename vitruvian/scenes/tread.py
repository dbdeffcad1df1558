"""He stays upright with his mouth out of the water, by tasks: trunk upright, face up, hands that push.

vitruvian run tread --set water=still
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, buoyancy
from vitruvian.control import pose
from vitruvian.control.tasks import Balance, Gaze, Hold, MouthOut, Rise, Task, TaskControl, Untwist
from vitruvian.control.tasks.tasks import TRUNK
from vitruvian.scenes._tasks import TASK_PARAMETERS, TASK_QUALITIES, alone, controller
from vitruvian.skin import BoundSkin
from vitruvian.world import Parameter, Recording, Report, Scene, World

SIZE, DEEP = (2.4, 2.4, 2.4), 1.9  # [m]
UP = np.array([0.0, 0.0, 1.0])
POSE = {"arm": {"direction": [0.8, 0.5, -0.4]}, "elbow": 20.0, "hip": [-60.0, 15.0, 0.0], "knee": 120.0}
LEAN = np.radians(12.0)  # water turns an upright body backward; it does less so if he leans forward
HELD = (*TRUNK, "Tfp")  # spine below the neck, and the knees
CHIN_UP = np.array([0.0, -1.0, 1.0])
OUT = 0.5  # of the time that his mouth should be out
UPRIGHT = 65.0  # [deg] of the trunk above level, nine tenths of the time


def build(parameters: Mapping[str, Any]) -> World:
    def make(body: Body, skin: BoundSkin) -> TaskControl:
        q = pose(body, POSE)
        tasks: list[Task] = [
            Balance(UP, lean=LEAN, push=0.04),
            Untwist(),
            MouthOut(clear=0.02, weight=3.0),
            Gaze(CHIN_UP),
            Rise(parameters["height"], weight=3.0, push=parameters["push"]),
            Hold(q, weight=3.0, gain=4.0, bones=HELD, name="trunk"),
            Hold(q),
        ]
        return controller(body, skin, parameters, tasks)

    def start(body: Body, skin: BoundSkin) -> np.ndarray:
        q = pose(body, POSE)
        q[:3] = 0.0
        q[2] = parameters["height"] - buoyancy(body, skin, q).centre_of_mass[2]
        return q

    return alone(parameters, make, start, size=SIZE, deep=DEEP)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    mouth, pitch = recording.signals["mouth_height"], recording.signals["pitch"]
    report.metrics["mouth_out"] = float((mouth > 0.0).mean())
    report.metrics["mouth_height_m"] = float(mouth.mean())
    report.metrics["trunk_pitch_deg"] = float(pitch[:, 1].mean())
    work = recording.signals["work"][:, 0]
    report.metrics["power_w"] = float((work[-1] - work[0]) / max(recording.time[-1], 1e-9))
    report.checks["his mouth is out for half of the time"] = report.metrics["mouth_out"] >= OUT
    report.checks[f"upright: trunk over {UPRIGHT:g} degrees"] = bool((pitch[:, 1] > UPRIGHT).mean() > 0.9)
    return report


scene = Scene(
    name="tread",
    summary="upright in the water with the mouth out, by tasks",
    answers="Si 2013, section 5.5",
    seconds=30.0,
    build=build,
    check=check,
    parameters={
        **TASK_PARAMETERS,
        "lungs": replace(TASK_PARAMETERS["lungs"], help="air in the lungs"),
        "height": Parameter(-0.55, "height of the centre of mass against the calm surface", "m", low=-1.0, high=0.0),
        "push": Parameter(0.005, "weight of the water's force upward", low=0.0, high=1.0),
    },
    qualities=TASK_QUALITIES,
)
