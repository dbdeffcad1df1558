"""A soft mascot is dropped into a tank, bobs and floats: it and the water move each other.

Its skin holds some 180 l at 50 kg, so that it floats with a quarter of it wet. Servos hold its pose. What the water
carries must be its weight, and the skin below the level that the water would have, calm, must displace as much
(Archimedes). It still bobs and waves run to and fro, so means over the last 40 % of the time are taken.

    vitruvian run soft-float --view
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.characters import character
from vitruvian.scenes._soft import Parameters
from vitruvian.systems.wet_character import WetCharacterSystem
from vitruvian.water import WATER_DENSITY, Tank
from vitruvian.world import Parameter, Recording, Report, Scene, World

SIZE, FLOOR = (2.4, 2.4, 2.0), -0.9  # [m]
LATE = 0.6  # of the time: by then it has settled


def build(parameters: Parameters) -> World:
    who = character(parameters["character"])
    cell = SIZE[0] / int(parameters["cells"])
    tank = Tank.of_size(SIZE, cell, origin=(-0.5 * SIZE[0], -0.5 * SIZE[1], FLOOR), rest_level=0.0)
    q = who.bind_q.copy()
    height = float(who.vertices[:, 2].max())
    turn = np.array([np.cos(0.25 * np.pi), -np.sin(0.25 * np.pi), 0.0, 0.0])  # on its back: the head goes to +y
    q[:3], q[3:7] = (0.0, -0.5 * height + q[2], parameters["lift"] + 0.25 * height), turn
    return World(WetCharacterSystem(who, tank, q), frame_rate=50.0, substeps=3)


def check(recording: Recording, parameters: Parameters) -> Report:
    who = character(parameters["character"])
    late = recording.time >= LATE * recording.time[-1]
    carried = float(recording.signals["water_force"][late, 2].mean()) / (9.81 * who.mass)
    wet = float(recording.signals["displaced"][late].mean())
    report = Report(
        metrics={
            "force_over_weight": carried,
            "displaced_l": 1000.0 * wet,
            "weight_as_water_l": 1000.0 * who.mass / WATER_DENSITY,
            "volume_error": float(np.abs(recording.signals["volume_error"]).max()),
            "deepest_m": float(recording.signals["centre"][:, 2].min()),
            "most_inverted": float(recording.signals["inverted"].max()),
        }
    )
    if recording.time[-1] >= 2.5:
        report.checks["the water carries its weight within 10 %"] = abs(carried - 1.0) < 0.1
        report.checks["it displaces its weight within 20 %"] = abs(wet * WATER_DENSITY / who.mass - 1.0) < 0.2
        report.checks["volume stays within 2 %"] = report.metrics["volume_error"] < 0.02
    return report


scene = Scene(
    name="soft-float",
    summary="A soft character is dropped into a tank and floats as deep as Archimedes says",
    answers="Archimedes; Liu & al. 2013, beyond the paper",
    seconds=4.0,
    build=build,
    check=check,
    parameters={
        "character": Parameter("mascot", "who floats", choices=("mascot", "panda", "baby")),
        "cells": Parameter(24, "cells along the tank", low=12, high=96),
        "lift": Parameter(0.2, "how high it is dropped from", "m", low=0.0, high=0.6),
    },
)
