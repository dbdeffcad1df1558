"""A right angle: the pilot is given a heading to the left and turns the swimmer there.

The arm on the inner side is held straight while the heading is far off, as Si has it for sharp turns, stretched out to
the side; spine and neck bend towards the new heading and the legs trail to that side.

    vitruvian run swim-turn --set angle=-90
    vitruvian run swim-turn --set arm=free      both arms swim on, and he turns more slowly
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.swim import Pilot, heading
from vitruvian.control.swim.pilot import ARMS
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world, swim_report
from vitruvian.world import Parameter, Recording, Report, Scene, World

CLOSE = 15.0  # [deg]


def build(parameters: Mapping[str, Any]) -> World:
    turn = heading(np.radians(parameters["angle"]))

    def pilot(body: Body) -> Pilot:
        arm = parameters["arm"]
        held = "ahead" if arm == "free" else arm
        return Pilot(body, "crawl", sharp_turns=arm != "free", arm=held)

    return stroke_world("crawl", parameters, plan=[(parameters["at"], turn)], turns=True, pilot=pilot)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = swim_report(recording, parameters, straight=False)
    period = 1.0 / parameters["rate"]
    late = recording.time >= recording.time[-1] - period
    turned = np.degrees(np.unwrap(np.radians(recording.signals["heading"])))
    report.metrics["turned_deg"] = float(turned[late].mean())
    report.checks["the turn is within 15 degrees of what was asked"] = bool(
        abs(report.metrics["turned_deg"] - parameters["angle"]) < CLOSE
    )
    report.metrics["speed_ahead"] = float(recording.signals["speed_ahead"][late].mean())
    return report


scene = Scene(
    name="swim-turn",
    summary="the crawl turns by 90 degrees",
    answers="Si 2013, section 6.2",
    seconds=12.0,
    build=build,
    check=check,
    parameters={
        **PARAMETERS,
        "angle": Parameter(90.0, "to turn by, positive to the left", "deg", low=-170.0, high=170.0),
        "arm": Parameter("aside", "where the inner arm is held straight during the turn", choices=("free", *ARMS)),
        "at": Parameter(1.0, "when the turn begins", "s", low=0.0, high=60.0),
    },
    qualities=QUALITIES,
)
