"""A dive: over and head down by tasks, down by strokes, a turn, and up again until his lips are out.

A stroke gives the joints' motion, tasks say where the trunk points: both in one program. Full lungs carry him up by
33 N, more than a stroke can give; so he goes down with lungs as after a quiet breath out (`lungs=normal`).

    vitruvian run dive --set water=still
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.tasks import Align, Follow, Hold, InTurn, Stage, Task, Untwist
from vitruvian.control.tasks.tasks import LIPS
from vitruvian.scenes._medley import HandOver
from vitruvian.scenes._swim import start
from vitruvian.scenes._tasks import TASK_PARAMETERS, TASK_QUALITIES, alone, controller
from vitruvian.skeleton import bone_poses, centre_of_mass
from vitruvian.skin import BoundSkin
from vitruvian.systems import Measure
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

SIZE, BELOW = (2.4, 2.6, 3.4), 3.0  # window [m], and how much of it is water
STAGES = ("over", "down", "turn", "up")
DOWN, UP = np.array([0.0, -0.25, -1.0]), np.array([0.0, 0.0, 1.0])
STROKE = "breaststroke"
STEEP = np.cos(np.radians(35.0))  # of the trunk against straight down or up, at which a stroke may begin


def build(parameters: Mapping[str, Any]) -> World:
    deep = parameters["depth"]

    def make(body: Body, skin: BoundSkin) -> InTurn:
        given = {**parameters, "actuation": "muscles"}
        motion = StrokeMotion(body, load_stroke(STROKE), parameters["rate"])
        glide = motion.at(0.0)[0]
        s = body.skeleton
        chest, jaw = s.index("T6"), s.index("Man")

        def points(direction: np.ndarray) -> Callable[[Any], bool]:
            way = direction / np.linalg.norm(direction)
            return lambda state: bool(bone_poses(s, state.q)[chest, :3, 2] @ way > STEEP)

        def low(state: Any) -> bool:
            return bool(centre_of_mass(s, state.q)[2] < -deep)

        def out(state: Any) -> bool:
            T = bone_poses(s, state.q)[jaw]
            return bool(T[2, :3] @ LIPS + T[2, 3] > 0.02)

        def stage(name: str, wishes: Sequence[Task], seconds: float, done: Callable[[Any], bool], least: float) -> Stage:
            return Stage(name, controller(body, skin, given, [*wishes, Untwist()]), seconds, done, least)

        def turn(way: np.ndarray) -> list[Task]:
            return [Align(way, push=0.02), Hold(glide, weight=0.1, gain=2.0)]

        def swim(way: np.ndarray) -> list[Task]:
            return [Align(way), Follow(motion)]

        return InTurn([
            stage("over", turn(DOWN), 4.0, points(DOWN), 0.5),
            stage("down", swim(DOWN), 12.0, low, 0.0),
            stage("turn", turn(UP), 5.0, points(UP), 0.5),
            stage("up", swim(UP), 60.0, out, 0.0),
            stage("rest", [Align(UP), Hold(body.default_q)], 60.0, lambda state: False, 0.0),
        ])  # fmt: skip

    def at(body: Body, skin: BoundSkin) -> np.ndarray:
        return start(body, skin, StrokeMotion(body, load_stroke(STROKE), 0.7), 0.0)[0]

    return alone(parameters, make, at, size=SIZE, deep=BELOW, measures=lambda body: HandOver.measures())


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    stage, time = recording.signals["stage"], recording.time
    height, mouth = recording.signals["height"], recording.signals["mouth_height"]
    for k, name in enumerate(STAGES):
        when = time[np.round(stage) == k]
        report.metrics[f"{name}_s"] = float(when[-1] - when[0]) if len(when) else 0.0
    lowest = int(np.argmin(height))
    report.metrics["deepest_m"] = -float(height[lowest])
    report.metrics["deepest_lips_m"] = -float(mouth.min())
    after = mouth[lowest:] > 0.0
    report.metrics["back_s"] = float(time[lowest:][after][0]) if after.any() else float("nan")
    HandOver.report(report, recording)
    report.checks[f"his centre of mass comes {parameters['depth']:g} m deep"] = (
        report.metrics["deepest_m"] >= parameters["depth"]
    )
    report.checks["his lips come out again"] = bool(after.any())
    return report


scene = Scene(
    name="dive",
    summary="head down by tasks, strokes down to a depth, a turn, and up again",
    answers="Si 2013, chapters 4 and 5",
    seconds=20.0,
    build=build,
    check=check,
    parameters={
        **{name: p for name, p in TASK_PARAMETERS.items() if name != "actuation"},
        "lungs": replace(TASK_PARAMETERS["lungs"], default="normal", help="air in the lungs"),
        "depth": Parameter(1.5, "to which his centre of mass goes down", "m", low=0.3, high=2.0),
        "rate": Parameter(0.75, "stroke cycles a second", "1/s", low=0.3, high=1.2),
    },
    qualities=TASK_QUALITIES,
)
