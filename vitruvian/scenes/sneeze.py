"""Ah, ah, ah - choo: short breaths in, a hold, a hard and long one out, the spine bends (DiLorenzo 2009, 7.1).

vitruvian run sneeze --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.behaviour import load_behaviour
from vitruvian.scenes._torso import BURST, FACE, SKIN, common, torso_world
from vitruvian.world import Recording, Report, Scene, World


def build(parameters: Mapping[str, Any]) -> World:
    return torso_world(
        load_behaviour("sneeze").check(10.0), int(parameters["steps"]), skin=parameters["skin"], face=parameters["face"]
    )


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, time, volume = Report(), recording.time, recording.signals["lung_volume"]
    pressure = recording.signals["pressure"][:, 0]
    if time[-1] > 4.0:
        before = time < 3.0
        report.metrics |= {
            "breathed_in": float(volume[before].max() - volume[0]),
            "peak_flow": float(recording.signals["peak_flow"][-1, 1]),
            "built_pressure_pa": float(pressure.max()),
            "volume_drop": float(volume[before].max() - volume[~before].min()),
        }
        steps = [float(volume[np.argmin(np.abs(time - t))]) for t in (0.6, 1.4, 2.4)]
        report.checks["each ah is deeper than the one before"] = bool(steps[0] < steps[1] < steps[2])
        report.checks["choo leaves less than there was at rest"] = bool(volume[~before].min() < volume[0])
    common(report, recording)
    return report


scene = Scene(
    name="sneeze",
    summary="Ah, ah, ah - choo",
    answers="DiLorenzo 2009, table 7.1, figure 7.2",
    seconds=5.0,
    build=build,
    check=check,
    parameters={"face": FACE, "skin": SKIN, "steps": BURST},
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 20}},
)
