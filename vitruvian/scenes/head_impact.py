"""A ball strikes the forehead of three heads with tone c = 0, 0.2 and 0.4: the stiffer neck gives way less.

The head is asked to stay upright throughout; Lee asks it to stop where it is first (2008, 4.4.2 and figure 4.5).

    vitruvian run head-impact --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.head import HeadSettings
from vitruvian.scenes._head import PARAMETERS, QUALITIES, head_body, head_system
from vitruvian.systems import LanesController, LaneSignal, LanesSystem, Push
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

TONES = {"c0": 0.0, "c2": 0.2, "c4": 0.4}
APART = 0.6  # [m]
AT, LASTS = 0.5, 0.02  # [s]
FOREHEAD = (0.0, -0.11, 0.11)  # in the skull's frame [m]


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)
    push = Push("Sku", (0.0, parameters["impulse"] / LASTS, 0.0), AT, LASTS, FOREHEAD)
    systems, controllers = {}, []
    for name, tone in TONES.items():
        system, control = head_system(body, parameters, None, HeadSettings(tone=tone), pushes=[push])
        systems[name] = system
        controllers.append(control)
    lanes = LanesSystem(
        systems,
        (APART, 0.0, 0.0),
        signals=[
            LaneSignal(Signal("head", "rad", "nodding of the head, %"), lambda s: np.asarray(s["head"])[0]),
            LaneSignal(Signal("error", "rad", "orientation error of the head, %"), lambda s: s["error"]),
        ],
        cameras=(Camera("side", (2.3, -1.6, 1.9), (APART, 0.0, 1.72)),),
    )
    return World(lanes, LanesController(controllers), substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    peak = {name: float(np.degrees(recording.signals[f"error_{name}"]).max()) for name in TONES}
    report.metrics |= {f"peak_{name}": value for name, value in peak.items()}
    report.checks["the peak falls with tone"] = peak["c0"] > peak["c2"] > peak["c4"]
    if recording.time[-1] >= 3.0:
        back = max(float(np.degrees(recording.signals[f"error_{name}"][-1])) for name in TONES)
        report.metrics["back_within_deg"] = back
        report.checks["all come back within 2 degrees"] = back < 2.0
    return report


scene = Scene(
    name="head-impact",
    summary="A blow on the forehead at three levels of tone",
    answers="Lee 2008, figure 4.5",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "impulse": Parameter(1.5, "impulse of the ball on the forehead", "N s", low=0.0, high=10.0),
        **PARAMETERS,
    },
    qualities=QUALITIES,
)
