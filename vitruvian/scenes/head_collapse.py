"""No muscle is active: the neck gives way under the head's weight and comes to rest in its ligaments.

The neck of the thesis hardly sinks: its printed springs (50 to 70 N m/rad a joint) bear a column that a human neck's
(6 to 20 N m/rad) do not.

    vitruvian run head-collapse --view
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.control.head import Still
from vitruvian.scenes._head import PARAMETERS, QUALITIES, head_body, head_measures
from vitruvian.skeleton import energy
from vitruvian.systems import Measure
from vitruvian.systems.head import HeadSystem, eye_layers
from vitruvian.world import Recording, Report, Scene, Signal, World


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)
    total = Measure(
        Signal("energy", "J", "mechanical energy"), lambda now: float(energy(now.skeleton, now.q, now.v).total)
    )
    system = HeadSystem(body, measures=[*head_measures(body, Still()), total], layers=eye_layers())
    return World(system, None, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    turn = np.degrees(np.linalg.norm(recording.signals["head"], axis=1))
    report.metrics["head_turned_deg"] = float(turn[-1])
    report.metrics["energy_gain_j"] = float(max(0.0, np.diff(recording.signals["energy"]).max()))
    report.checks["energy never grows"] = report.metrics["energy_gain_j"] < 1e-3
    if parameters["neck"] == "body" and recording.time[-1] >= 3.0:
        report.checks["the head falls by more than 30 degrees"] = bool(turn[-1] > 30.0)
    return report


scene = Scene(
    name="head-collapse",
    summary="All neck muscles off: the head falls and rests in the ligaments of its neck",
    answers="Lee 2008, 4.4.1",
    seconds=4.0,
    build=build,
    check=check,
    parameters={k: v for k, v in PARAMETERS.items() if k != "networks"}
    | {"steps": replace(PARAMETERS["steps"], default=8)},
    qualities=QUALITIES,
)
