"""A ride over a bumpy road, four times side by side: tone and reflex gain raised, either of them, or neither.

The seat shakes up and down and to and fro; the same road for all. While the head is off by more than a degree, the head
controller raises tone c up to 0.4 and gain s up to 3 (Lee 2008, 4.4.2 and figure 4.4).

    vitruvian run bumpy-ride --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.head import HeadSettings
from vitruvian.scenes._head import PARAMETERS, QUALITIES, degrees_rms, head_body, head_system
from vitruvian.systems import LanesController, LaneSignal, LanesSystem
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
CASES = {"neither": (False, False), "gain": (False, True), "tone": (True, False), "both": (True, True)}  # tone, gain
APART = 0.6  # [m]
BEGINS = 0.5  # [s]
TONES = np.array([1.3, 2.1, 3.3, 4.7])  # [Hz] of the road


def road(strength: float, seed: int) -> Any:
    """Acceleration of the seat [m/s²] (3,) at a time [s]: sines of random phase, mostly upwards and forwards."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2.0 * np.pi, (3, len(TONES)))
    share = np.array([0.35, 0.8, 1.0])[:, None] / np.sqrt(0.5 * len(TONES))

    def ride(time: float) -> Array:
        grown = np.clip((time - BEGINS) / 0.5, 0.0, 1.0)
        return np.asarray(strength * grown * (share * np.sin(2.0 * np.pi * TONES * time + phase)).sum(axis=1))

    return ride


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)
    ride = road(parameters["bumps"], int(parameters["road"]))
    systems, controllers = {}, []
    for name, (tone, gain) in CASES.items():
        settings = HeadSettings(tone_rises=tone, gain_rises=gain)
        system, control = head_system(body, parameters, None, settings, ride=ride)
        systems[name] = system
        controllers.append(control)
    middle = 0.5 * APART * (len(CASES) - 1)
    lanes = LanesSystem(
        systems,
        (APART, 0.0, 0.0),
        signals=[
            LaneSignal(Signal("error", "rad", "orientation error of the head, %"), lambda s: s["error"]),
            LaneSignal(Signal("tone", "1", "tone c, %"), lambda s: s["tone"]),
            LaneSignal(Signal("gain", "1", "reflex gain s, %"), lambda s: s["gain"]),
        ],
        cameras=(Camera("front", (middle, -2.9, 1.9), (middle, 0.0, 1.72)),),
    )
    return World(lanes, LanesController(controllers), substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    late = recording.time >= min(2.0, 0.4 * recording.time[-1])
    wobble = {name: degrees_rms(recording.signals[f"error_{name}"][late]) for name in CASES}
    report.metrics |= {f"wobble_{name}": value for name, value in wobble.items()}
    report.checks["both wobble less than gain alone, gain alone less than neither"] = (
        wobble["both"] < wobble["gain"] < wobble["neither"]
    )
    return report


scene = Scene(
    name="bumpy-ride",
    summary="A head on a bumpy road with tone, reflex gain, both or neither raised",
    answers="Lee 2008, figure 4.4",
    seconds=8.0,
    build=build,
    check=check,
    parameters={
        "bumps": Parameter(4.0, "rms acceleration of the seat upwards", "m/s²", low=0.0, high=20.0),
        "road": Parameter(1, "number of the road", low=0, high=10000),
        **PARAMETERS,
    },
    qualities=QUALITIES,
)
