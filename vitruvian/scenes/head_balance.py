"""A head held up by its neck muscles: by feedforward alone, by the reflex alone, or by both.

It is asked to look down by 20 degrees and to the side by 20, and given a small knock after a second. Feedforward alone
has nothing that brings the head back; the reflex alone stays short, because it pulls only where a muscle is too long
(Lee 2008, 4.4.1: feedback alone fails); both hold it within 2 degrees.

    vitruvian run head-balance --view
    vitruvian run head-balance --set control=feedback
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.head import HeadSettings, Still
from vitruvian.scenes._head import PARAMETERS, QUALITIES, head_body, head_system
from vitruvian.spatial import exp_so3
from vitruvian.systems import Push
from vitruvian.world import Parameter, Recording, Report, Scene, World

KNOCK = Push("Sku", (15.0, 0.0, 0.0), 1.0, 0.05, (0.0, -0.01, 0.06))  # 0.75 N s
SETTLED = 3.0  # [s]


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)
    turn = np.radians([parameters["down"], 0.0, parameters["side"]])
    how = parameters["control"]
    settings = HeadSettings(feedforward=how != "feedback", feedback=how != "feedforward", tone=parameters["tone"])
    system, control = head_system(body, parameters, Still(exp_so3(turn)), settings, pushes=[KNOCK])
    angles, _ = control.chain.solve(exp_so3(turn))
    system.q0 = control.chain.placed(body.default_q, angles)
    return World(system, control, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, error = recording.time, np.degrees(recording.signals["error"])
    report = Report()
    report.metrics["knocked_deg"] = float(error[(time >= 1.0) & (time < SETTLED)].max(initial=0.0))
    late = error[time >= min(SETTLED, 0.5 * time[-1])]
    report.metrics["largest_error_deg"] = float(late.max())
    report.metrics["mean_activation"] = float(recording.signals["activation"][:, 0].mean())
    if parameters["control"] == "both":
        report.checks["the head is held within 2 degrees"] = report.metrics["largest_error_deg"] < 2.0
    else:
        report.checks["one of the two alone does not hold it within 2 degrees"] = late.max() > 2.0
    return report


scene = Scene(
    name="head-balance",
    summary="A head held up by neck muscles: feedforward, reflex, or both",
    answers="Lee 2008, 4.4.1",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "control": Parameter("both", "what drives the muscles", choices=("both", "feedforward", "feedback")),
        "down": Parameter(20.0, "how far the head looks down", "deg", low=-40.0, high=40.0),
        "side": Parameter(20.0, "how far it looks to its left", "deg", low=-60.0, high=60.0),
        "tone": Parameter(0.0, "coactivation c", low=0.0, high=0.4),
        **PARAMETERS,
    },
    qualities=QUALITIES,
)
