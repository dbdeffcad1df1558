"""Paradoxical breathing: the belly tenses while the diaphragm pulls, and half of the breath is lost (DiLorenzo 7.2).

The first breath is a normal one, then the abdomen joins in, with as much activation as the diaphragm (table 7.1).

    vitruvian run paradox --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.behaviour import Curve, load_behaviour
from vitruvian.scenes._torso import CALM, SKIN, common, tidal_volumes, torso_world
from vitruvian.world import Parameter, Recording, Report, Scene, World

PERIOD = 4.0  # [s]


def build(parameters: Mapping[str, Any]) -> World:
    calm = load_behaviour("calm")
    tense = Curve("abdomen", "half", float(parameters["abdomen"]), period=PERIOD, start=PERIOD)
    behaviour = type(calm)("paradox", (*calm.curves, tense)).check(12.0)
    return torso_world(behaviour, int(parameters["steps"]), skin=parameters["skin"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    breaths = tidal_volumes(recording.time, recording.signals["lung_volume"], PERIOD)
    if len(breaths) >= 2:
        report.metrics |= {"tidal_volume_normal": float(breaths[0]), "tidal_volume": float(breaths[-1])}
        share = report.metrics["tidal_volume"] / report.metrics["tidal_volume_normal"]
        report.metrics["share"] = float(share)
        if np.isclose(parameters["abdomen"], 0.1):
            report.checks["about half of the breath is left"] = bool(0.35 <= share <= 0.65)
    common(report, recording)
    return report


scene = Scene(
    name="paradox",
    summary="A belly that tenses takes half of the breath",
    answers="DiLorenzo 2009, figures 7.3 and 7.4",
    seconds=12.0,
    build=build,
    check=check,
    parameters={
        "abdomen": Parameter(0.1, "activation of the belly's wall", low=0.0, high=1.0),
        "skin": SKIN,
        "steps": CALM,
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 20}},
)
