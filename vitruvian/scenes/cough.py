"""Two coughs: a breath in, the glottis shuts for 0.2 s while the belly presses, it opens (DiLorenzo 2009, 7.1).

Measured peak flow is 476 ± 102 l/min.

    vitruvian run cough --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitruvian.control.behaviour import load_behaviour
from vitruvian.scenes._torso import BURST, FACE, SKIN, common, torso_world
from vitruvian.world import Recording, Report, Scene, World


def build(parameters: Mapping[str, Any]) -> World:
    return torso_world(
        load_behaviour("cough").check(10.0), int(parameters["steps"]), skin=parameters["skin"], face=parameters["face"]
    )


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, time = Report(), recording.time
    flow, pressure = recording.signals["flow"], recording.signals["pressure"][:, 0]
    shut = (time > 1.26) & (time < 1.44)
    if shut.sum() > 5 and time[-1] > 1.7:
        report.metrics |= {
            "peak_flow": float(recording.signals["peak_flow"][-1, 1]),
            "built_pressure_pa": float(pressure[shut].max()),
            "flow_while_shut": float(abs(flow[shut]).max()),
        }
        report.checks["no air passes the shut glottis"] = report.metrics["flow_while_shut"] < 1e-9
        report.checks["pressure builds to 2 kPa and more"] = report.metrics["built_pressure_pa"] > 2000.0
        report.checks["peak flow within 476 ± 102 l/min"] = bool(374.0 <= report.metrics["peak_flow"] <= 578.0)
    common(report, recording)
    return report


scene = Scene(
    name="cough",
    summary="A cough: shut, press, open",
    answers="DiLorenzo 2009, table 7.1, figure 7.1",
    seconds=4.0,
    build=build,
    check=check,
    parameters={"face": FACE, "skin": SKIN, "steps": BURST},
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 20}},
)
