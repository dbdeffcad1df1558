"""A face that feels: joy, awe, anger, fear, sadness, disgust, surprise, one after the other, and blends of two.

44 muscles pull on soft tissue over skull and jaw; what they do is asked for in action units (FACS), by expressions or
by a list.

    vitruvian run expressions --view
    vitruvian run expressions --set show=joy
    vitruvian run expressions --set units=AU6+AU12
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy.face import make_face
from vitruvian.anatomy.skin_data import BUILDS
from vitruvian.control.face import expressions, read_units
from vitruvian.control.head.eyes import BLINK
from vitruvian.control.head.goals import bell
from vitruvian.errors import InputError, unknown_name
from vitruvian.systems.face import Acting, FaceSystem
from vitruvian.world import Parameter, Recording, Report, Scene, World

Array = np.ndarray
ORDER = ("joy", "awe", "anger", "fear", "sadness", "disgust", "surprise")
BLENDS = (("joy", "surprise"), ("sadness", "anger"))
EACH, RISE = 2.4, 0.45  # [s] of each expression, and in which it comes and goes
RATE = 30.0  # frames a second


def programme(parameters: Mapping[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """What is shown, one after the other: name and units."""
    if parameters["units"]:
        return [(parameters["units"], read_units(parameters["units"]))]
    path = parameters["file"]
    known = expressions(Path(path) if path else None)
    show = parameters["show"]
    if show != "all":
        weights = [part.partition(":") for part in show.replace(" ", "").split("+")]
        units: dict[str, float] = {}
        for name, _, number in weights:
            if name not in known:
                raise unknown_name("expression", name, known)
            try:
                weight = float(number) if number else 1.0 / len(weights) if len(weights) > 1 else 1.0
            except ValueError:
                raise InputError(f"show '{show}': '{number}' is not a number; write joy:0.6+surprise:0.4") from None
            if not 0.0 <= weight <= 1.0:
                raise InputError(f"show '{show}': the weight of {name} must lie between 0 and 1, not {weight:g}")
            for unit, value in known[name].items():
                units[unit] = min(1.0, units.get(unit, 0.0) + weight * value)
        return [(show, units)]
    out = [(name, known[name]) for name in (ORDER if not path else known) if known[name]]
    for pair in BLENDS if not path else ():
        both: dict[str, float] = {}
        for name in pair:
            for unit, value in known[name].items():
                both[unit] = min(1.0, both.get(unit, 0.0) + 0.6 * value)
        out.append(("+".join(pair), both))
    return out


def acting(shown: list[tuple[str, dict[str, float]]], time: float, strength: float) -> Acting:
    """What the face does at a time [s]: the expression comes, holds and goes; the eyes wander; lids blink between."""
    k = min(int(time / EACH), len(shown) - 1)
    t = time - k * EACH
    level = strength * (bell(float(np.clip(t / RISE, 0, 1))) if t < RISE else 1.0)
    if len(shown) > 1:
        level *= 1.0 - bell(float(np.clip((t - (EACH - RISE)) / RISE, 0, 1)))
    wander = np.floor(time / 0.8)
    yaw, pitch = 0.05 * np.sin(7.3 * wander), 0.03 * np.cos(4.1 * wander)
    since = (time + 0.12) % EACH  # a blink before each
    shut = np.sin(np.pi * since / BLINK) ** 0.5 if 0.0 < since < BLINK and time > 0.5 else 0.0
    near = np.array([[-0.035, 0.0], [0.035, 0.0]])  # both eyes look at something a metre ahead
    return Acting({u: level * v for u, v in shown[k][1].items()}, near + np.array([yaw, pitch]), float(shut))


def build(parameters: Mapping[str, Any]) -> World:
    shown = programme(parameters)
    face = make_face(parameters["build"])
    system = FaceSystem(face, lambda time: acting(shown, time, parameters["strength"]))
    return World(system, frame_rate=RATE, substeps=1)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    volume = np.abs(recording.signals["volume"])
    report.metrics["largest_volume_change"] = float(volume.max())
    report.checks["volume of the tissue within 1 %"] = report.metrics["largest_volume_change"] < 0.01
    return report


scene = Scene(
    name="expressions",
    summary="Joy, awe, anger, fear, sadness, disgust, surprise on a face of muscle and soft tissue",
    answers="Lee 2008, section 4.3",
    seconds=EACH * (len(ORDER) + len(BLENDS)),
    build=build,
    check=check,
    parameters={
        "show": Parameter("all", "an expression, a blend such as joy:0.6+surprise:0.4, or all one after the other"),
        "units": Parameter("", "action units instead, such as AU6+AU12:0.5"),
        "file": Parameter("", "a file of expressions of your own (TOML)"),
        "strength": Parameter(1.0, "strength of all that is shown", low=0.0, high=1.0),
        "build": Parameter("average", "build of the person", choices=tuple(BUILDS)),
    },
    qualities={"draft": {}, "standard": {}, "fine": {}},
)
