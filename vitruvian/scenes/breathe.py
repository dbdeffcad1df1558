"""A trunk that breathes by its muscles: calm, deep, panting, or a forced exhalation (DiLorenzo 2009, 5.2.1).

A calm breath is 0.5 l at 12 to 20 a minute. The diaphragm's dome sinks, the belly comes out, ribs turn.

    vitruvian run breathe --view
    vitruvian run breathe --set style=deep
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.behaviour import load_behaviour
from vitruvian.scenes._torso import CALM, ELEMENTS, SKIN, common, tidal_volumes, torso_world
from vitruvian.world import Parameter, Recording, Report, Scene, World

STYLES = {  # breaths a minute, and what adults have [l]
    "calm": (15.0, (0.4, 0.6)),
    "deep": (12.0, (0.7, 4.8)),
    "panting": (60.0, (0.1, 0.6)),
    "forced_exhale": (0.0, (0.5, 4.8)),
}


def build(parameters: Mapping[str, Any]) -> World:
    behaviour = load_behaviour(parameters["file"] or parameters["style"]).times(parameters["strength"]).check(60.0)
    return torso_world(behaviour, int(parameters["steps"]), skin=parameters["skin"], elements=parameters["elements"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, volume = Report(), recording.signals["lung_volume"]
    rate, (low, high) = STYLES[parameters["style"]]
    turn = np.degrees(np.ptp(recording.signals["rib_turn"], axis=0))
    breaths = tidal_volumes(recording.time, volume, 60.0 / rate) if rate else np.array([np.ptp(volume)])
    report.metrics["tidal_volume"] = float(breaths[-1]) if len(breaths) else float(np.ptp(volume))
    report.metrics["peak_flow_in"] = float(recording.signals["peak_flow"][-1, 0])
    report.metrics["tendon_moves_mm"] = 1e3 * float(np.ptp(recording.signals["tendon"]))
    report.metrics |= {f"rib{k}_turn_deg": float(t) for k, t in zip(range(2, 11), turn)}
    usual = not parameters["file"] and parameters["strength"] == 1.0 and parameters["elements"] == "hill"
    if len(breaths) and usual:
        report.checks[f"a breath of {low:g} to {high:g} l"] = bool(low <= report.metrics["tidal_volume"] <= high)
    common(report, recording)
    return report


scene = Scene(
    name="breathe",
    summary="Ribs, diaphragm and belly breathe by muscle",
    answers="DiLorenzo 2009, table 5.1, figures 5.2 and 5.4",
    seconds=8.0,
    build=build,
    check=check,
    parameters={
        "style": Parameter("calm", "how", choices=tuple(STYLES)),
        "file": Parameter("", "a behaviour file (.toml) instead, or one by name"),
        "strength": Parameter(1.0, "factor on the activations", low=0.0, high=5.0),
        "elements": ELEMENTS,
        "skin": SKIN,
        "steps": CALM,
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 20}},
)
