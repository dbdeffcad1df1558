"""Laughter from a sound: calls are found in it, and the trunk's muscles are found call by call (DiLorenzo 2009, 6.3).

Without a file a laugh is synthesised. The muscles are found when the scene is built, before it runs.

    vitruvian run laugh-audio --view
    vitruvian laugh ha.wav ha.mp4        # with the sound in the film
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.control.behaviour.sound import Laughter, laughter, synthesised
from vitruvian.errors import InputError
from vitruvian.exchange.sound_file import read_sound
from vitruvian.scenes._torso import FACE, RATE, SKIN, common, torso_world, trunk_of
from vitruvian.systems import Measure, TorsoSystem
from vitruvian.systems.torso_fit import Fit, fit_laughter
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

MADE = 16_000.0  # [1/s] of the synthesised sound


def build(parameters: Mapping[str, Any]) -> World:
    steps = int(parameters["steps"])
    fit = fitted(parameters["file"], int(parameters["calls"]), steps, parameters["intensity"], parameters["breath"])

    def wanted(now: Any) -> float:
        return float(np.interp(now.time, fit.time, fit.wanted, left=0.0, right=0.0))

    measures = [
        Measure(Signal("wanted_pressure", "Pa", "in the lungs, from the sound"), wanted),
        Measure(Signal("fit_error", "1", "mean and largest of a call", ("mean", "largest")),
                lambda now: np.array([fit.errors.mean(), fit.errors.max()])),
        Measure(Signal("fit_seconds", "s", "to find a call's muscles"), lambda now: fit.seconds),
        Measure(Signal("fit_calls", "1", "calls found"), lambda now: float(len(fit.errors))),
    ]  # fmt: skip
    skin, face = parameters["skin"], parameters["face"]
    return torso_world(fit.behaviour, steps, skin=skin, face=face, measures=measures)


def heard(file: str, calls: int) -> Laughter:
    """The laughter of a file, or of a synthesised sound."""
    sound, rate = read_sound(file) if file else (synthesised(calls, rate=MADE), MADE)
    try:
        return laughter(sound, rate)
    except InputError as error:
        raise InputError(f"{Path(file).name or 'the synthesised sound'}: {error}") from None


@lru_cache(maxsize=4)
def fitted(file: str, calls: int, steps: int, intensity: float, breath: float) -> Fit:
    """The muscles that laugh so."""
    depth = breath if breath > 0.0 else None
    torso = TorsoSystem(trunk_of(), skin=False, drawn=False, layers=())
    return fit_laughter(torso, heard(file, calls), 1.0 / (RATE * steps), intensity=intensity, depth=depth)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, s = Report(), recording.signals
    wanted, found = s["wanted_pressure"], s["pressure"][:, 0]
    on = wanted > 0.0
    report.metrics |= {
        "calls": float(s["fit_calls"][0]),
        "error_per_call": float(s["fit_error"][0, 0]),
        "largest_error": float(s["fit_error"][0, 1]),
        "seconds_per_call": float(s["fit_seconds"][0]),
    }
    if on.sum() > 10:
        report.metrics["pressure_correlation"] = float(np.corrcoef(wanted[on], found[on])[0, 1])
        report.checks["pressure follows the sound (r at least 0.9)"] = report.metrics["pressure_correlation"] >= 0.9
    common(report, recording)
    return report


scene = Scene(
    name="laugh-audio",
    summary="A sound of laughter becomes a body that laughs it",
    answers="DiLorenzo 2009, figures 6.7 to 6.10",
    seconds=3.2,
    build=build,
    check=check,
    parameters={
        "file": Parameter("", "a sound file: WAV, FLAC, OGG, MP3; a laugh is synthesised without it"),
        "calls": Parameter(6, "calls of the synthesised laugh", low=3, high=20),
        "intensity": Parameter(1.0, "pressure of the loudest call, in kPa", low=0.1, high=4.0),
        "breath": Parameter(
            0.0, "activation of the diaphragm in the breath before; 0: as the bout will need", low=0.0, high=1.0
        ),
        "face": FACE,
        "skin": SKIN,
        "steps": Parameter(4, "steps per frame of 1/50 s (5 ms)", low=2, high=40),
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 10}},
)
