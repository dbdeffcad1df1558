"""The swimmer follows a ball that moves ahead of him on a curve, and catches up with it.

vitruvian run swim-follow --set ball_turn=-3 --set ball_x=-0.6    the other way
vitruvian run swim-follow --set stroke=butterfly --set rate=0.9
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.swim import Pilot, Pool
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.systems import Measure, Now
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

SECONDS = 12.0
LOOK = 0.05  # [s] between looks at the ball's way; it moves at 2 m/s at most
ARM = 0.8  # [m] from the shoulder to the fingertips, about


def ball(parameters: Mapping[str, Any], time: float) -> tuple[float, float]:
    """Place [m] of the ball on the water, (x, y): it moves at a steady speed and turns steadily to the left."""
    speed, turn = parameters["ball_speed"], np.radians(parameters["ball_turn"])
    half = 0.5 * turn * time
    way = speed * time * np.sinc(half / np.pi)  # the chord of its arc
    return float(parameters["ball_x"] + way * np.sin(half)), float(-parameters["ball_ahead"] - way * np.cos(half))


def build(parameters: Mapping[str, Any]) -> World:
    Pool().check(ball(parameters, 0.0), "the ball")  # before anything is built, which takes a while

    def pilot(body: Body) -> Pilot:
        return Pilot(body, parameters["stroke"], target=lambda t: ball(parameters, t))

    def away(now: Now) -> float:
        return float(np.linalg.norm(now.pose("Sku")[:2, 3] - ball(parameters, now.time)))

    measures = (
        Measure(Signal("distance", "m", "distance from the head to the ball"), away),
        Measure(Signal("ball", "m", "place of the ball", ("x", "y")), lambda now: ball(parameters, now.time)),
    )
    world = stroke_world(
        parameters["stroke"],
        parameters,
        pilot=pilot,
        turns=True,
        measures=measures,
        marks=lambda t: np.array([[*ball(parameters, t), 0.05]]),
    )
    world.foresee = lambda seconds: check_path(parameters, seconds)
    return world


def check_path(parameters: Mapping[str, Any], seconds: float) -> None:
    """An error if the ball leaves the pool within a run of so many seconds, wherever on its way."""
    for time in np.append(np.arange(0.0, seconds, LOOK), seconds):
        Pool().check(ball(parameters, float(time)), f"the ball after {time:.3g} of {seconds:.3g} s")


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters, stroke=parameters["stroke"], straight=False)
    distance = recording.signals["distance"]
    report.metrics["distance_at_first_m"] = float(distance[0])
    report.metrics["least_distance_m"] = float(distance.min())
    report.metrics["time_of_least_distance_s"] = float(recording.time[distance.argmin()])
    report.checks["he comes within an arm's length (0.8 m) of the ball"] = bool(distance.min() < ARM)
    return report


scene = Scene(
    name="swim-follow",
    summary="a swimmer follows a ball that moves ahead of him on a curve",
    answers="Si 2013, figure 7.4",
    seconds=SECONDS,
    build=build,
    check=check,
    parameters={
        "stroke": Parameter("crawl", "a stroke by name, or a file of your own"),
        **PARAMETERS,
        "ball_x": Parameter(0.6, "place of the ball at first, to the left", "m", low=-25.0, high=25.0),
        "ball_ahead": Parameter(4.0, "distance ahead at first", "m", low=1.0, high=25.0),
        "ball_speed": Parameter(0.4, "speed of the ball", "m/s", low=0.0, high=2.0),
        "ball_turn": Parameter(2.0, "turn of the ball's course, to the left", "deg/s", low=-30.0, high=30.0),
    },
    qualities=QUALITIES,
)
