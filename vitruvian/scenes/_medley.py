"""Stages of strokes and tasks for the scenes that go through several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import StrokeMotion, arms_together, load_stroke
from vitruvian.control.swim import MuscleActuation, Pilot, Reflexes
from vitruvian.control.tasks import Stage, Steer, Task, turning_tasks
from vitruvian.scenes._swim_drive import TOGETHER
from vitruvian.scenes._tasks import CHEST, PELVIS, controller
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin
from vitruvian.systems import Measure
from vitruvian.world import Recording, Report, Signal

Settings = Mapping[str, Any]
AIM = np.radians(8.0)  # how well he points at a place before he swims there
COAST = 0.5  # [s] for which he still turns when he leaves off aiming
AGAIN = 6.0  # [s] after which he aims anew: arms that move together hardly steer
ASTRAY = np.radians(25.0)  # off the place, at which he does so at once


class HandOver:
    """How stages hand over to each other: what is recorded of it, and how it is judged."""

    @staticmethod
    def measures() -> list[Measure]:
        def told(name: str, none: Any) -> Callable[[Any], Any]:
            return lambda now: none if now.controls is None else now.controls.told.get(name, none)

        return [
            Measure(Signal("stage", "1", "number of the stage, from 0"), told("stage", 0.0)),
            Measure(Signal("jump", "1", "largest step of an excitation at a change of stage"), told("jump", 0.0)),
            Measure(
                Signal("lurch", "rad/s", "largest change of a joint's velocity in a step", ("at changes", "else")),
                told("lurch", np.zeros(2)),
            ),
        ]

    @staticmethod
    def report(report: Report, recording: Recording) -> None:
        lurch = recording.signals["lurch"][-1]
        report.metrics["jump"] = float(recording.signals["jump"].max())
        report.metrics["lurch_at_changes"], report.metrics["lurch_else"] = float(lurch[0]), float(lurch[1])
        report.checks["no excitation jumps by more than a tenth at a change of stage"] = report.metrics["jump"] <= 0.1
        report.checks["no joint lurches more at a change of stage than at other times"] = bool(lurch[0] <= lurch[1])


def astray(body: Body, state: Any, place: Sequence[float]) -> float:
    """Turn [rad] about the vertical from where the trunk points to a place (x, y) [m]."""
    poses = bone_poses(body.skeleton, state.q)
    ahead = (poses[body.skeleton.index("T1"), :3, 3] - poses[0, :3, 3])[:2]
    way = np.asarray(place) - poses[0, :2, 3]
    return float(np.arctan2(ahead[0] * way[1] - ahead[1] * way[0], ahead @ way))


def lies(body: Body, face_up: bool, toward: tuple[float, float] | None = None) -> Callable[[Any], bool]:
    """Whether chest and pelvis lie as they should; and whether the head points at a place within 8°, if there is one,
    now and when his turning has died down."""
    chest = body.skeleton.index("T6")
    side = -1.0 if face_up else 1.0

    def done(state: Any) -> bool:
        poses = bone_poses(body.skeleton, state.q)
        back = side * poses[[chest, 0], 2, 1]
        good = back[0] > np.cos(np.radians(0.6 * CHEST)) and back[1] > np.cos(np.radians(0.6 * PELVIS))
        if good and toward is not None:
            off, turning = astray(body, state, toward), float(poses[0, 2, :3] @ state.v[:3])
            good = abs(off) < AIM and abs(off - COAST * turning) < AIM
        return bool(good)

    return done


def turn_stage(
    body: Body,
    skin: BoundSkin,
    parameters: Settings,
    face_up: bool,
    seconds: float,
    *,
    into: str,
    toward: tuple[float, float] | None = None,
) -> Stage:
    """Turn over by tasks, towards the first pose of the stroke `into`; toward: turn level, lying so, until the head
    points at a place."""
    rest = StrokeMotion(body, load_stroke(into)).at(0.0)[0]
    tasks: Sequence[Task] = turning_tasks(body, face_up, rest=rest)
    if toward is not None:
        tasks = [*tasks, Steer(toward)]
    name = f"turn {'supine' if face_up else 'prone'}" if toward is None else "aim"
    return Stage(name, controller(body, skin, parameters, tasks), seconds, lies(body, face_up, toward), 1.0)


def swim_stage(
    body: Body,
    stroke: str,
    rate: float,
    seconds: float,
    target: tuple[float, float] | None = None,
    heading: float = 0.0,
) -> Stage:
    """A stroke by rhythm; with a target until he is there, or points too far off it after a cycle."""
    reflexes = TOGETHER if arms_together(body, load_stroke(stroke)) else Reflexes()
    to = None if target is None else (lambda t: target)
    pilot = Pilot(body, stroke, reflexes=reflexes, target=to, heading=heading)
    near = None
    if target is not None:
        head = body.skeleton.index("Sku")

        def near(state: Any) -> bool:
            away = np.linalg.norm(bone_poses(body.skeleton, state.q)[head, :2, 3] - target)
            return bool(away < 0.4 or abs(astray(body, state, target)) > ASTRAY)

    return Stage(stroke, MuscleActuation(body, stroke, rate, pilot=pilot), seconds, near, 1.0 / rate)


def toward_stages(
    body: Body,
    skin: BoundSkin,
    parameters: Settings,
    stroke: str,
    rate: float,
    point: tuple[float, float],
    times: int = 5,
) -> list[Stage]:
    """To a point, for one who lies prone: he aims at it by tasks, swims for a while, aims anew."""
    stages = []
    for _ in range(times):
        stages.append(turn_stage(body, skin, parameters, False, 8.0, into=stroke, toward=point))
        stages.append(swim_stage(body, stroke, rate, AGAIN, target=point))
    return stages
