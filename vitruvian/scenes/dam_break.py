"""A column of water is let go and runs along the floor: the experiment of Martin and Moyce (1952).

Column of width a = 57.15 mm and height 2 a. Their table gives the front's position Z = x / a at the time T = t sqrt(2
g / a). The experiment's membrane takes an unknown moment to let go, so the time origin is set at the table's first
point; the report gives the deviation with and without that shift.

    vitruvian run dam-break
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.scenes._water import Reading, TankSimulation, TankState
from vitruvian.water import Tank
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Signal
from vitruvian.world.world import World

WIDTH = 0.05715  # [m]
MARTIN_MOYCE = np.array(
    [(0.83, 1.22), (1.22, 1.47), (2.00, 2.29), (2.55, 3.00), (3.35, 4.13), (4.03, 4.94), (5.09, 6.98)]
)


def build(parameters: Mapping[str, Any]) -> World:
    a, n = parameters["width"], int(parameters["cells"])
    tank = Tank((8 * n, max(4, round(parameters["breadth"] * n)), 4 * n), a / n, particles=int(parameters["particles"]))
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    phi = np.maximum(x - a, z - 2.0 * a)
    simulation = TankSimulation(
        tank, phi, readings=(Reading(Signal("front", "m", "farthest water on the floor"), front),)
    )
    return World(simulation, frame_rate=60.0, substeps=2)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    report.metrics["volume_error"] = float(np.abs(recording.signals["volume_error"]).max())
    report.metrics["shifted_volume"] = float(recording.signals["shifted"][-1])
    report.metrics["most_spray"] = float(recording.signals["spray"].max() / recording.signals["volume"][0])
    report.checks["volume stays within 1 %, spray included"] = report.metrics["volume_error"] < 0.01
    raw, aligned, lag = front_deviation(recording.time, recording.signals["front"], parameters["width"])
    if len(aligned):
        report.metrics["front_deviation_raw"] = float(np.abs(raw).max())
        report.metrics["front_deviation"] = float(np.abs(aligned).max())
        report.metrics["time_shift"] = lag
        report.checks["front within 10 % of Martin and Moyce"] = report.metrics["front_deviation"] < 0.10
    return report


def front(tank: Tank, state: TankState) -> float:
    """Farthest water in the lowest layer of cells [m], mean over the breadth."""
    phi = state.water.phi[:, :, 0].mean(axis=1)
    i = int(np.flatnonzero(phi < 0.0).max(initial=0))
    if i + 1 >= len(phi):
        return float(tank.size[0])
    return float((i + 0.5 + phi[i] / (phi[i] - phi[i + 1])) * tank.cell)


def front_deviation(time: np.ndarray, front: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Relative deviation of Z at the table's times: raw, and with the clock set at its first point; and that
    shift of T.
    """
    T, Z = time * np.sqrt(2.0 * 9.81 / width), front / width
    reached = np.flatnonzero(MARTIN_MOYCE[0, 1] <= Z)
    if not len(reached):
        return np.zeros(0), np.zeros(0), 0.0
    n = int(reached[0])
    start = np.interp(MARTIN_MOYCE[0, 1], Z[n - 1 : n + 1], T[n - 1 : n + 1]) if n else T[0]
    lag = float(MARTIN_MOYCE[0, 0] - start)
    table = MARTIN_MOYCE[MARTIN_MOYCE[:, 0] <= T[-1]]
    raw = np.interp(table[:, 0], T, Z) / table[:, 1] - 1.0
    aligned = np.interp(table[:, 0], T + lag, Z) / table[:, 1] - 1.0
    return raw, aligned, lag


scene = Scene(
    name="dam-break",
    summary="a column of water collapses, runs along the floor and splashes up the wall",
    answers="Martin and Moyce 1952, front of a column with n^2 = 2",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "width": Parameter(WIDTH, "width of the column", "m", low=0.01, high=5.0),
        "breadth": Parameter(0.5, "breadth of the tank in column widths", low=0.1, high=4.0),
        "cells": Parameter(16, "cells across the column", low=6, high=64),
        "particles": Parameter(16, "marker particles per cell near the surface", low=0, high=64),
    },
    qualities={
        "draft": {"cells": 10},
        "standard": {"cells": 16, "breadth": 1.0},
        "seed": {"cells": 32, "breadth": 1.0},
    },
)
