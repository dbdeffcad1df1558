"""Laughter: a breath in, then calls at 5 Hz that empty the lungs (DiLorenzo 2009, 6.2, table 6.1).

Measured laughter has 4.6 ± 1.1 calls a second and loses 1.55 ± 0.40 l in a bout.

    vitruvian run laugh --set style=deep_laugh --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.breath import burst_rate
from vitruvian.control.behaviour import load_behaviour
from vitruvian.scenes._torso import BURST, FACE, SKIN, common, torso_world
from vitruvian.world import Parameter, Recording, Report, Scene, World

STYLES = {"giggle": (0.1, 1.5), "laugh": (0.5, 2.0), "deep_laugh": (1.0, 2.0)}  # what a bout may lose [l]
BOUT = (1.5, 5.2)  # [s], as the files mark it


def build(parameters: Mapping[str, Any]) -> World:
    behaviour = load_behaviour(parameters["style"]).check(10.0)
    return torso_world(behaviour, int(parameters["steps"]), skin=parameters["skin"], face=parameters["face"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, time = Report(), recording.time
    volume, pressure = recording.signals["lung_volume"], recording.signals["pressure"][:, 0]
    bout = (time >= BOUT[0]) & (time <= BOUT[1])
    if bout.sum() > 50:
        rate = burst_rate(time[bout], pressure[bout])
        drop = float(volume[bout][0] - volume[bout].min())
        report.metrics |= {
            "burst_rate": rate,
            "volume_drop": drop,
            "peak_pressure_pa": float(pressure[bout].max()),
            "peak_flow_out": float(recording.signals["peak_flow"][-1, 1]),
        }
        low, high = STYLES[parameters["style"]]
        report.checks["4 to 6 calls a second"] = bool(4.0 <= rate <= 6.0)
        report.checks[f"a bout loses {low:g} to {high:g} l"] = bool(low <= drop <= high)
    common(report, recording)
    report.metrics["least_volume_l"] = float(np.min(volume))
    return report


scene = Scene(
    name="laugh",
    summary="Laughter by abdomen, ribs and diaphragm",
    answers="DiLorenzo 2009, table 6.1, figures 6.1 to 6.3",
    seconds=6.0,
    build=build,
    check=check,
    parameters={
        "style": Parameter("laugh", "how", choices=tuple(STYLES)),
        "face": FACE,
        "skin": SKIN,
        "steps": BURST,
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 20}},
)
