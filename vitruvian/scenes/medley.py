"""Crawl, onto the back, backstroke, over again, breaststroke to a point behind him: rhythm and tasks hand over in turn.

vitruvian run medley --set water=still
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.tasks import InTurn
from vitruvian.scenes._medley import HandOver, swim_stage, toward_stages, turn_stage
from vitruvian.scenes._swim import start
from vitruvian.scenes._tasks import LONG_ROOM, STROKE_PARAMETERS, STROKE_QUALITIES, alone
from vitruvian.skin import BoundSkin
from vitruvian.systems import Measure
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

STAGES = ("crawl", "turn supine", "backstroke", "turn prone", "aim", "breaststroke")


def build(parameters: Mapping[str, Any]) -> World:
    behind = (0.0, parameters["behind"])

    def make(body: Body, skin: BoundSkin) -> InTurn:
        given = {**parameters, "actuation": "muscles"}
        return InTurn([
            swim_stage(body, "crawl", 0.7, 3.0),
            turn_stage(body, skin, given, True, 6.0, into="backstroke"),
            swim_stage(body, "backstroke", 0.6, 3.4),
            turn_stage(body, skin, given, False, 8.0, into="breaststroke"),
            *toward_stages(body, skin, given, "breaststroke", 0.75, behind),
        ])  # fmt: skip

    def at(body: Body, skin: BoundSkin) -> np.ndarray:
        return start(body, skin, StrokeMotion(body, load_stroke("crawl"), 0.7), 0.0)[0]

    def measures(body: Body) -> list[Measure]:
        def away(now: Any) -> float:
            return float(np.linalg.norm(now.pose("Sku")[:2, 3] - np.array(behind)))

        return [
            *HandOver.measures(),
            Measure(Signal("distance", "m", "distance from the head to the point"), away),
        ]

    return alone(parameters, make, at, size=LONG_ROOM, measures=measures, marks=lambda t: np.array([[*behind, 0.05]]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    stage, time = recording.signals["stage"], recording.time
    for k, name in enumerate(STAGES):
        when = time[np.round(stage) == k]
        report.metrics[f"{name.replace(' ', '_')}_s"] = float(when[-1] - when[0]) if len(when) else 0.0
    HandOver.report(report, recording)
    report.metrics["distance_m"] = float(recording.signals["distance"].min())
    report.checks["he goes through all stages"] = bool(round(float(stage.max())) >= len(STAGES) - 1)
    stages, up = np.round(stage), recording.signals["back_up"]
    on_back, on_front = stages == STAGES.index("backstroke"), (stages >= len(STAGES) - 1) & (stages % 2 == 1)
    report.metrics["backstroke_on_his_back"] = float((up[on_back] < 0.0).mean()) if on_back.any() else 0.0
    report.metrics["breaststroke_on_his_front"] = float((up[on_front] > 0.0).mean()) if on_front.any() else 0.0
    lying = min(report.metrics["backstroke_on_his_back"], report.metrics["breaststroke_on_his_front"])
    report.checks["he swims backstroke on his back and breaststroke on his front"] = lying > 0.9
    report.checks["he comes within an arm's length (0.8 m) of the point"] = report.metrics["distance_m"] < 0.8
    return report


scene = Scene(
    name="medley",
    summary="crawl, onto the back, backstroke, over, breaststroke to a point behind him",
    answers="Si 2013, chapters 4 and 5",
    seconds=45.0,
    build=build,
    check=check,
    parameters={
        **STROKE_PARAMETERS,
        "behind": Parameter(0.5, "the point lies so far behind where he starts", "m", low=-20.0, high=20.0),
    },
    qualities=STROKE_QUALITIES,
)
