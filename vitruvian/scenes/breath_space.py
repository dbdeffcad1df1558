"""One point of the space of breaths: how much is breathed at a contraction and a period (DiLorenzo 2009, figure 5.3).

A contraction of 1 is that of the calm breath (diaphragm 0.1, intercostals 0.3). The whole space is a sweep:

    vitruvian sweep breath-space --set contraction=0.25:2.75:16 --set period=0.5:4.5:20
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.behaviour import Behave, Behaviour, Curve
from vitruvian.scenes._torso import common, tidal_volumes, trunk_of
from vitruvian.systems import TorsoSystem
from vitruvian.world import Parameter, Recording, Report, Scene, World

ADULT = (0.25, 0.8)  # [l], what adults breathe at rest


def build(parameters: Mapping[str, Any]) -> World:
    trunk = trunk_of(columns=int(parameters["columns"]))
    period, size = parameters["period"], parameters["contraction"]
    curves = (
        Curve("diaphragm", "half", 0.1 * size, period=period),
        Curve("external intercostals", "half", 0.3 * size, period=period),
        Curve("internal intercostals", "half", 0.3 * size, period=period, phase=0.5),
    )
    system = TorsoSystem(trunk, skin=False, drawn=False, layers=())
    return World(system, Behave(trunk, Behaviour("breath", curves)), frame_rate=50.0, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    breaths = tidal_volumes(recording.time, recording.signals["lung_volume"], parameters["period"])
    if len(breaths):
        report.metrics["tidal_volume"] = float(breaths[-1])
        report.metrics["minute_volume"] = float(breaths[-1] * 60.0 / parameters["period"])
        report.metrics["adult"] = float(ADULT[0] <= breaths[-1] <= ADULT[1])
        report.checks["something is breathed"] = bool(np.isfinite(breaths[-1]) and breaths[-1] > 0.0)
    common(report, recording)
    return report


scene = Scene(
    name="breath-space",
    summary="How much is breathed at a contraction and a period",
    answers="DiLorenzo 2009, figure 5.3",
    seconds=9.0,
    build=build,
    check=check,
    parameters={
        "contraction": Parameter(1.0, "strength of the calm breath's activations", low=0.05, high=3.3),
        "period": Parameter(4.0, "period of a breath", "s", low=0.4, high=9.0),
        "columns": Parameter(24, "points round the belly", choices=(24, 48, 72)),
        "steps": Parameter(2, "steps per frame of 1/50 s (10 ms)", low=1, high=40),
    },
    qualities={"draft": {}, "standard": {"columns": 48, "steps": 4}, "fine": {"columns": 48, "steps": 20}},
)
