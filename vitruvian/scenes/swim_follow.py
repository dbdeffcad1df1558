"""The swimmer follows a ball that drifts across the pool.

vitruvian run swim-follow --set ball_x=2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.control.swim.pilot import Pilot, Pool
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Signal
from vitruvian.world.swim import SwimMeasure, SwimNow
from vitruvian.world.world import World

SECONDS = 11.0


def ball(parameters: Mapping[str, Any], time: float) -> tuple[float, float]:
    """Place [m] of the ball on the water, (x, y)."""
    gone = parameters["drift"] * time
    return parameters["ball_x"] + gone, -parameters["ball_ahead"] - 0.2 * gone


def build(parameters: Mapping[str, Any]) -> World:
    for time in (0.0, SECONDS):  # before anything is built, which takes a while
        Pool().check(ball(parameters, time), f"the ball after {time:g} s" if time else "the ball")

    def pilot(body: Body) -> Pilot:
        return Pilot(body, "crawl", target=lambda t: ball(parameters, t))

    def away(now: SwimNow) -> float:
        return float(np.linalg.norm(now.poses[now.body.skeleton.index("Sku"), :2, 3] - ball(parameters, now.time)))

    measures = (
        SwimMeasure(Signal("distance", "m", "from the head to the ball"), away),
        SwimMeasure(Signal("ball", "m", "place of the ball", ("x", "y")), lambda now: ball(parameters, now.time)),
    )
    return stroke_world(
        "crawl",
        parameters,
        pilot=pilot,
        turns=True,
        measures=measures,
        marks=lambda t: np.array([[*ball(parameters, t), 0.05]]),
    )


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters, straight=False)
    distance = recording.signals["distance"]
    report.metrics["distance_at_first_m"] = float(distance[0])
    report.metrics["least_distance_m"] = float(distance.min())
    report.checks["he closes on the ball"] = bool(distance.min() < 0.6 * distance[0])
    return report


scene = Scene(
    name="swim-follow",
    summary="a swimmer follows a ball that drifts across the pool",
    answers="Si 2013, figure 7.4",
    seconds=SECONDS,
    build=build,
    check=check,
    parameters={
        **PARAMETERS,
        "ball_x": Parameter(1.5, "of the ball at first, to the left", "m", low=-25.0, high=25.0),
        "ball_ahead": Parameter(7.0, "distance ahead at first", "m", low=1.0, high=25.0),
        "drift": Parameter(0.15, "speed of the ball to the left", "m/s", low=-1.0, high=1.0),
    },
    qualities=QUALITIES,
)
