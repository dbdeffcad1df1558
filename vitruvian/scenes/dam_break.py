"""A column of water is let go and runs along the floor: the experiment of Martin and Moyce (1952).

Column of width a = 57.15 mm and height 2 a. Their figure 3 gives the front's position Z = x / a at the time T = t
sqrt(2 g / a). The experiment's paper diaphragm takes an unknown moment to let go, so one delay of the clock is fitted
to all points; the report also gives the deviation without it, with the clock set at the first point as others do, and
the front's speed, which no clock touches. The floor is free of friction here, theirs was not.

    vitruvian run dam-break
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.systems import Measure, TankState, TankSystem
from vitruvian.systems.tank import volume_metrics
from vitruvian.water import Tank
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

WIDTH = 0.05715  # [m]
MARTIN_MOYCE = np.array(
    [(0.83, 1.22), (1.22, 1.47), (2.00, 2.29), (2.55, 3.00), (3.35, 4.13), (4.03, 4.94), (4.42, 5.88), (5.09, 6.98)]
)

LONGEST_DELAY = 0.5  # of the diaphragm, in T


def build(parameters: Mapping[str, Any]) -> World:
    a, n = parameters["width"], int(parameters["cells"])
    tank = Tank((8 * n, max(4, round(parameters["breadth"] * n)), 4 * n), a / n, particles=int(parameters["particles"]))
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    phi = np.maximum(x - a, z - 2.0 * a)
    length, breadth, _ = tank.size
    simulation = TankSystem(
        tank,
        phi,
        measures=(
            Measure(Signal("front", "m", "farthest water on the floor"), lambda now: front(now.system.tank, now.state)),
        ),
        cameras=(
            # close to the floor, along which the water runs
            Camera("low", (0.62 * length, -1.15 * length, 0.55 * length), (0.5 * length, breadth, 0.17 * length)),
            Camera("along", (1.5 * length, -0.6 * length, 0.5 * length), (0.45 * length, 0.5 * breadth, 0.1 * length)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=2)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    report.metrics.update(volume_metrics(recording))
    report.metrics["most_spray"] = float(recording.signals["spray"].max() / recording.signals["volume"][0])
    report.checks["volume stays within 1 %, spray included"] = report.metrics["volume_error"] < 0.01
    found = compare_front(recording.time, recording.signals["front"], parameters["width"])
    if found is not None:
        report.metrics["front_deviation_raw"] = float(np.abs(found.raw).max())
        report.metrics["front_deviation_first_point"] = float(np.abs(found.first).max())
        report.metrics["front_deviation"] = float(np.abs(found.fitted).max())
        report.metrics["front_delay"] = found.delay
        report.metrics["front_speed_ratio"] = found.speed
        report.checks["front within 10 % of Martin and Moyce"] = report.metrics["front_deviation"] < 0.10
    return report


def front(tank: Tank, state: TankState) -> float:
    """Farthest water in the lowest layer of cells [m], mean over the breadth."""
    phi = state.water.phi[:, :, 0].mean(axis=1)
    i = int(np.flatnonzero(phi < 0.0).max(initial=0))
    if i + 1 >= len(phi):
        return float(tank.size[0])
    return float((i + 0.5 + phi[i] / (phi[i] - phi[i + 1])) * tank.cell)


@dataclass(frozen=True)
class FrontComparison:
    """Relative deviation of Z at the table's times, shape (points,), with three clocks."""

    raw: np.ndarray  # the clock starts when the column is let go
    first: np.ndarray  # the clock agrees at the table's first point
    fitted: np.ndarray  # the clock is late by `delay`
    delay: float  # in T, least squares of the relative deviations
    speed: float  # mean speed from the table's second point on over theirs, clock of no matter


def compare_front(time: np.ndarray, front: np.ndarray, width: float) -> FrontComparison | None:
    """The front [m] at times [s] beside Martin and Moyce's; None if it has not come to the table's second point."""
    T, Z = time * np.sqrt(2.0 * 9.81 / width), front / width
    table = MARTIN_MOYCE[MARTIN_MOYCE[:, 0] <= T[-1]]
    if len(table) < 3:
        return None

    def deviation(delay: float) -> np.ndarray:
        return np.interp(table[:, 0] - delay, T, Z) / table[:, 1] - 1.0

    delays = np.linspace(0.0, LONGEST_DELAY, 501)
    delay = float(delays[np.argmin([np.sum(deviation(d) ** 2) for d in delays])])
    rising = np.maximum.accumulate(Z) + 1e-9 * np.arange(len(Z))
    first = float(table[0, 0] - np.interp(table[0, 1], rising, T))
    ours = np.diff(np.interp(table[[1, -1], 1], rising, T))[0]
    theirs = table[-1, 0] - table[1, 0]
    return FrontComparison(deviation(0.0), deviation(first), deviation(delay), delay, float(theirs / ours))


scene = Scene(
    name="dam-break",
    summary="a column of water collapses, runs along the floor and splashes up the wall",
    answers="Martin and Moyce 1952, front of a column with n^2 = 2",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "width": Parameter(WIDTH, "width of the column", "m", low=0.01, high=5.0),
        "breadth": Parameter(1.0, "breadth of the tank in column widths", low=0.1, high=4.0),
        "cells": Parameter(16, "cells across the column", low=6, high=64),
        "particles": Parameter(16, "marker particles per cell near the surface", low=0, high=64),
    },
    qualities={
        "draft": {"cells": 10},
        "standard": {"cells": 16},
        "fine": {"cells": 32},
    },
)
