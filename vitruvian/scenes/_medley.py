"""Stages of strokes and tasks for the scenes that go through several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import StrokeMotion, arms_together, load_stroke
from vitruvian.control.swim import MuscleActuation, Pilot, Reflexes
from vitruvian.control.tasks import Stage, Steer, Task, heading_off, turning_tasks
from vitruvian.scenes._swim_drive import TOGETHER
from vitruvian.scenes._tasks import CHEST, PELVIS, controller
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin
from vitruvian.systems import Measure
from vitruvian.world import Recording, Report, Signal

Settings = Mapping[str, Any]
AIM = np.radians(8.0)  # how well he points at a place before he swims there
PAST = 0.3  # [m] by which he may point past it
THERE = 0.4  # [m] of the head from the place
COAST = 0.5  # [s] for which he still turns and rolls when he leaves off
# arms that move together steer by the back and the legs: with less of a bend he turns away from the place, the further
# the nearer he comes (25° off at first, 100° after 7 s; with this 20°)
RUDDER = replace(TOGETHER, bend=2.0)
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
    """Turn [rad] about the vertical from where the trunk points to a place (x, y) [m], seen from the pelvis."""
    poses = bone_poses(body.skeleton, state.q)
    return heading_off(body.skeleton, poses, poses[0, :3, 3], place)


def arrived(body: Body, place: Sequence[float]) -> Callable[[Any], bool]:
    """Whether the head is at a place (x, y) [m]."""
    head = body.skeleton.index("Sku")
    return lambda state: bool(np.linalg.norm(bone_poses(body.skeleton, state.q)[head, :2, 3] - place) < THERE)


def lies(body: Body, face_up: bool, toward: tuple[float, float] | None = None) -> Callable[[Any], bool]:
    """Whether chest and pelvis lie as they should; and, if there is a place to go to, whether the head points at it
    within 8° or 30 cm. Pelvis and heading also when his turning has died down."""
    chest = body.skeleton.index("T6")
    side = -1.0 if face_up else 1.0

    def done(state: Any) -> bool:
        poses = bone_poses(body.skeleton, state.q)
        back = side * poses[[chest, 0], 2, 1]
        turning = poses[0, :3, :3] @ state.v[:3]
        then = poses[0, :3, 1] + COAST * np.cross(turning, poses[0, :3, 1])
        good = side * then[2] > np.cos(np.radians(PELVIS)) * np.linalg.norm(then)
        good = good and back[0] > np.cos(np.radians(0.6 * CHEST)) and back[1] > np.cos(np.radians(0.6 * PELVIS))
        if good and toward is not None:
            off, away = astray(body, state, toward), np.linalg.norm(np.asarray(toward) - poses[0, :2, 3])
            near = max(AIM, float(np.arctan2(PAST, away)))
            good = abs(off) < near and abs(off - COAST * turning[2]) < near
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
    tasks: Sequence[Task] = turning_tasks(body, face_up, rest=rest, rests=toward is None)
    if toward is not None:
        tasks = [*tasks, Steer(toward)]
    name = f"turn {'supine' if face_up else 'prone'}" if toward is None else "aim"
    done, there = lies(body, face_up, toward), None if toward is None else arrived(body, toward)

    def over(state: Any) -> bool:
        return done(state) or (there is not None and there(state))

    return Stage(name, controller(body, skin, parameters, tasks), seconds, over, 1.0, there)


def swim_stage(
    body: Body,
    stroke: str,
    rate: float,
    seconds: float,
    target: tuple[float, float] | None = None,
    heading: float = 0.0,
) -> Stage:
    """A stroke by rhythm; with a target until he is there, or points too far off it after a cycle."""
    together = arms_together(body, load_stroke(stroke))
    reflexes = Reflexes() if not together else TOGETHER if target is None else RUDDER
    to = None if target is None else (lambda t: target)
    pilot = Pilot(body, stroke, reflexes=reflexes, target=to, heading=heading)
    done, there = None, None
    if target is not None:
        there = arrived(body, target)

        def done(state: Any) -> bool:
            return there(state) or abs(astray(body, state, target)) > ASTRAY

    return Stage(stroke, MuscleActuation(body, stroke, rate, pilot=pilot), seconds, done, 1.0 / rate, there)


def toward_stages(
    body: Body,
    skin: BoundSkin,
    parameters: Settings,
    stroke: str,
    rate: float,
    point: tuple[float, float],
    times: int = 5,
) -> list[Stage]:
    """To a point, for one who lies prone: he aims at it by tasks, swims for a while, aims anew; there he rests."""
    stages = []
    for _ in range(times):
        stages.append(turn_stage(body, skin, parameters, False, 8.0, into=stroke, toward=point))
        stages.append(swim_stage(body, stroke, rate, AGAIN, target=point))
    rest = turn_stage(body, skin, parameters, False, np.inf, into=stroke)
    return [*stages, replace(rest, name="rest", done=None)]
