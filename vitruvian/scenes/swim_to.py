"""A point behind him: he turns towards it by tasks, then swims there by rhythm.

vitruvian run swim-to --set water=still --set stroke=crawl
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.tasks import InTurn
from vitruvian.scenes._medley import toward_stages
from vitruvian.scenes._swim import start
from vitruvian.scenes._tasks import LONG_ROOM, STROKE_PARAMETERS, STROKE_QUALITIES, alone
from vitruvian.skin import BoundSkin
from vitruvian.systems import Measure
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

ARM = 0.8  # [m]


def build(parameters: Mapping[str, Any]) -> World:
    point = (parameters["x"], parameters["y"])
    stroke = parameters["stroke"]

    def make(body: Body, skin: BoundSkin) -> InTurn:
        given = {**parameters, "actuation": "muscles"}
        return InTurn(toward_stages(body, skin, given, stroke, parameters["rate"], point))

    def at(body: Body, skin: BoundSkin) -> np.ndarray:
        return start(body, skin, StrokeMotion(body, load_stroke(stroke), 0.7), 0.0)[0]

    def measures(body: Body) -> list[Measure]:
        def away(now: Any) -> float:
            return float(np.linalg.norm(now.pose("Sku")[:2, 3] - np.array(point)))

        def stage(now: Any) -> float:
            return 0.0 if now.controls is None else float(now.controls.told.get("stage", 0.0))

        return [
            Measure(Signal("distance", "m", "distance from the head to the point"), away),
            Measure(Signal("stage", "1", "even: turning, odd: swimming"), stage),
        ]

    return alone(parameters, make, at, size=LONG_ROOM, measures=measures, marks=lambda t: np.array([[*point, 0.05]]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    distance, stage, time = recording.signals["distance"], recording.signals["stage"], recording.time
    report.metrics["distance_m"] = float(distance.min())
    report.metrics["turned_s"] = float(time[stage > 0.5][0]) if (stage > 0.5).any() else float("nan")
    near = distance < ARM
    report.metrics["there_s"] = float(time[near][0]) if near.any() else float("nan")
    report.checks["he comes within an arm's length (0.8 m) of the point"] = bool(near.any())
    return report


scene = Scene(
    name="swim-to",
    summary="turns by tasks to a point behind him and swims there",
    answers="Si 2013, section 5.5",
    seconds=16.0,
    build=build,
    check=check,
    parameters={
        **STROKE_PARAMETERS,
        "stroke": Parameter("breaststroke", "how he swims there", choices=("breaststroke", "crawl", "butterfly")),
        "rate": Parameter(0.75, "stroke cycles a second", "1/s", low=0.3, high=1.2),
        "x": Parameter(0.5, "place of the point, to the left", "m", low=-20.0, high=20.0),
        "y": Parameter(3.0, "place of the point, behind him", "m", low=-20.0, high=20.0),
    },
    qualities=STROKE_QUALITIES,
)
