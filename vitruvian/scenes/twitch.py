"""Rest, full activation at 1 s, rest again at 5 s: the spring muscle overshoots and bounces, the Hill muscle rises
and settles.

    vitruvian run twitch --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.scenes._pair import GRAVITY, MASS, PairSystem
from vitruvian.world import Parameter, Recording, Report, Scene, World


def build(parameters: Mapping[str, Any]) -> World:
    on, off, level = parameters["on_at"], parameters["off_at"], parameters["level"]
    simulation = PairSystem(lambda time: level if on <= time < off else 0.0, length=1.3)
    return World(simulation, frame_rate=60.0, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, length, force = recording.time, recording.signals["depth"], recording.signals["force"]
    on, off = parameters["on_at"], parameters["off_at"]
    report = Report()
    active = (time >= on) & (time < off)
    if time[-1] < min(off, on + 3.0):
        return report
    settled = length[active][-1]
    overshoot = settled - length[active].min(axis=0)
    early = (time >= on) & (time < on + 1.0)
    report.metrics |= {
        "spring_overshoot_m": float(overshoot[0]),
        "hill_overshoot_m": float(overshoot[1]),
        "spring_peak_n": float(force[early, 0].max()),
        "hill_peak_n": float(force[early, 1].max()),
        "hill_highest_depth_m": float(length[active, 1].min()),
        "spring_highest_depth_m": float(length[active, 0].min()),
    }
    report.checks["the Hill muscle overshoots less than the spring"] = bool(overshoot[1] < 0.5 * overshoot[0])
    report.checks["only the spring throws its particle above the fixed point"] = bool(
        length[active, 0].min() < 0.0 < length[active, 1].min()
    )
    if time[-1] > off + 2.0:
        slack = np.abs(force[time > off + 1.9] / (MASS * GRAVITY) - 1.0).max()
        report.metrics["weight_error"] = float(slack)
        report.checks["at rest again both carry the weight"] = bool(slack < 0.2)
    return report


scene = Scene(
    name="twitch",
    summary="Two muscle models from rest to full activation and back",
    answers="DiLorenzo 2009, figures 4.3, 4.4 and 4.5",
    seconds=8.0,
    build=build,
    check=check,
    parameters={
        "on_at": Parameter(1.0, "activation begins", "s", low=0.0, high=60.0),
        "off_at": Parameter(5.0, "activation ends", "s", low=0.0, high=120.0),
        "level": Parameter(1.0, "level of activation", low=0.0, high=1.0),
        "steps": Parameter(17, "steps per frame of 1/60 s (17: about 1 ms)", low=1, high=1000),
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 100}},
)
