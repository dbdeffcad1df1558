"""A dive by tasks: over and head down, down with the hands' help, a turn, and up again until his lips are out.

Full lungs carry him up by 37 N and lungs after a quiet breath by 16 N; so he breathes out 1.1 litres more before he
goes, and 5 N are left to bring him back.

    vitruvian run dive --set water=still
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import LUNGS, Body, breathing_skin
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.tasks import Align, Balance, Follow, Gaze, Hold, InTurn, MouthOut, Rise, Stage, Task, Untwist
from vitruvian.control.tasks.tasks import LIPS, TRUNK
from vitruvian.errors import InputError
from vitruvian.scenes._medley import HandOver
from vitruvian.scenes._swim import start
from vitruvian.scenes._tasks import STROKE_PARAMETERS, STROKE_QUALITIES, alone, controller
from vitruvian.skeleton import bone_poses, centre_of_mass
from vitruvian.skin import BoundSkin
from vitruvian.world import Parameter, Recording, Report, Scene, World

SIZE, BELOW = (2.4, 3.2, 3.7), 3.3  # window [m], and how much of it is water
Done = Callable[[Any], bool]
STAGES = ("over", "down", "turn", "up")
DOWN, UP = np.array([0.0, -0.25, -1.0]), np.array([0.0, 0.0, 1.0])
GLIDE = "breaststroke"  # in whose first pose he turns, and whose arms and legs carry him down and up
RATE = 0.75  # [1/s] strokes
PUSH = 0.08  # weight of the water's force down or up
STEEP = np.cos(np.radians(35.0))  # of the trunk against straight down or up, at which a stroke may begin


def build(parameters: Mapping[str, Any]) -> World:
    deep = parameters["depth"]

    def make(body: Body, skin: BoundSkin) -> InTurn:
        given = {**parameters, "actuation": "muscles"}
        glide = StrokeMotion(body, load_stroke(GLIDE)).at(0.0)[0]
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

        def stage(
            name: str, wishes: Sequence[Task], seconds: float, done: Callable[[Any], bool], least: float
        ) -> Stage:
            return Stage(name, controller(body, skin, given, [*wishes, Untwist()]), seconds, done, least)

        def along(way: np.ndarray) -> list[Task]:
            # what lasts is asked of the whole body: limbs that swing against the trunk come to the ends of their ways
            trunk = Hold(glide, weight=3.0, gain=4.0, bones=TRUNK, name="trunk")
            stroke = Follow(StrokeMotion(body, load_stroke(GLIDE), RATE), weight=0.3)
            return [Align(way, push=0.02), Balance(way), trunk, stroke]

        return InTurn([
            stage("over", [Align(DOWN, push=0.02), Hold(glide, weight=0.1, gain=2.0)], 4.0, points(DOWN), 0.5),
            stage("down", [*along(DOWN), Rise(-deep - 0.5, push=PUSH)], 20.0, low, 0.0),
            stage("turn", [*along(UP), Rise(0.5, push=PUSH)], 5.0, points(UP), 0.5),
            stage("up", [*along(UP), Rise(0.5, push=PUSH), MouthOut(weight=10.0), Gaze(UP)], 60.0, out, 0.0),
            stage("rest", [*along(UP), MouthOut(weight=10.0), Gaze(UP)], 60.0, lambda state: False, 0.0),
        ])  # fmt: skip

    def at(body: Body, skin: BoundSkin) -> np.ndarray:
        return start(body, skin, StrokeMotion(body, load_stroke(GLIDE), 0.7), 0.0)[0]

    def breath(body: Body, skin: BoundSkin) -> BoundSkin:
        if parameters["exhaled"] == 0.0:
            return skin
        empty = breathing_skin(body, skin, "empty")
        least = LUNGS[parameters["lungs"]] - 1e-3 * parameters["exhaled"] - LUNGS["empty"]
        if least < 0.0 or skin.volume is None or empty.volume is None:
            raise InputError(f"dive: {parameters['exhaled']:g} litres are more than these lungs hold")
        volume = skin.volume - 1e-3 * parameters["exhaled"]
        share = (skin.volume - volume) / (skin.volume - empty.volume)
        return skin.with_rest((1.0 - share) * skin.rest + share * empty.rest, volume)

    return alone(
        parameters, make, at, size=SIZE, deep=BELOW, measures=lambda body: HandOver.measures(), breath=breath
    )  # fmt: skip


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
    summary="head down by tasks, to a depth, a turn, and up again",
    answers="Si 2013, chapter 5",
    seconds=30.0,
    build=build,
    check=check,
    parameters={
        **STROKE_PARAMETERS,
        "lungs": replace(STROKE_PARAMETERS["lungs"], default="normal", help="air in the lungs before he breathes out"),
        "exhaled": Parameter(1.1, "air that he breathes out", "l", low=0.0, high=3.5),
        "depth": Parameter(1.5, "to which his centre of mass goes down", "m", low=0.3, high=2.0),
    },
    qualities=STROKE_QUALITIES,
)
