"""A tank of water tilted and let go: it sloshes at its own frequency and keeps its volume.

A standing wave of small height in a tank of length L and depth d has the period T = 2 pi / sqrt(g k tanh(k d)), k =
pi / L (linear theory of gravity waves). No water may be lost in ten seconds; what the level set loses in transport is
put back by a uniform shift, and the sum of those shifts is part of the report.

    vitruvian run slosh
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.systems import Measure, Now, TankSystem
from vitruvian.systems.tank import volume_metrics
from vitruvian.water import Tank
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World


def exact_period(length: float, depth: float, gravity: float = 9.81) -> float:
    """Period [s] of the lowest standing wave of small height."""
    k = np.pi / length
    return float(2.0 * np.pi / np.sqrt(gravity * k * np.tanh(k * depth)))


def build(parameters: Mapping[str, Any]) -> World:
    length, depth, n = parameters["length"], parameters["depth"], int(parameters["cells"])
    if parameters["height"] >= min(depth, 0.5 * length):
        raise InputError(
            f"slosh: a wave of {parameters['height']} m does not fit a tank {length} m long, {depth} m deep"
        )
    h = length / n
    tank = Tank((n, max(4, n // 4), round((depth + 0.5 * length) / h)), h, particles=int(parameters["particles"]))
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    phi = z - depth - parameters["height"] * np.cos(np.pi * x / length)
    simulation = TankSystem(
        tank, phi, measures=(Measure(Signal("level", "m", "water level at the left wall"), _level),)
    )
    return World(simulation, frame_rate=30.0)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, level = recording.time, recording.signals["level"]
    report = Report()
    report.metrics.update(volume_metrics(recording))
    report.checks["volume stays within 1 %"] = report.metrics["volume_error"] < 0.01
    if parameters["height"] == 0.0:
        report.metrics["level_change_m"] = float(np.abs(level - level[0]).max())
        report.checks["calm water stays level to a thousandth of a cell"] = (
            report.metrics["level_change_m"] < 1e-3 * parameters["length"] / parameters["cells"]
        )
        return report
    measured = _period(time, level - level.mean())
    expected = exact_period(parameters["length"], parameters["depth"])
    report.metrics["linear_period_s"] = expected
    if measured is not None:
        report.metrics["period_s"] = measured
        report.metrics["period_error"] = abs(measured / expected - 1.0)
        # a wave of finite height is a little slower than the linear one
        report.checks["period within 5 % of the linear wave"] = report.metrics["period_error"] < 0.05
    return report


def _level(now: Now) -> float:
    tank, state = now.system.tank, now.state
    column = state.water.phi[0].mean(axis=0)
    k = int(np.flatnonzero(column < 0.0).max(initial=0))
    above = column[min(k + 1, len(column) - 1)]
    part = column[k] / (column[k] - above) if above > column[k] else 0.5
    return float(state.water.origin[2] + (k + 0.5 + part) * tank.cell)


def _period(time: np.ndarray, signal: np.ndarray) -> float | None:
    """Mean distance of the downward crossings of zero."""
    at = np.flatnonzero((signal[:-1] > 0.0) & (signal[1:] <= 0.0))
    if len(at) < 2:
        return None
    crossing = time[at] + signal[at] / (signal[at] - signal[at + 1]) * (time[at + 1] - time[at])
    return float(np.diff(crossing).mean())


scene = Scene(
    name="slosh",
    summary="water sloshes in a tank at its own frequency and keeps its volume",
    answers="linear standing waves",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "length": Parameter(1.0, "length of the tank", "m", low=0.1, high=20.0),
        "depth": Parameter(0.4, "mean depth", "m", low=0.05, high=10.0),
        "height": Parameter(0.05, "height of the first wave; 0 for calm water", "m", low=0.0, high=1.0),
        "cells": Parameter(48, "cells along the tank", low=16, high=400),
        "particles": Parameter(16, "marker particles per cell near the surface", low=0, high=64),
    },
    qualities={"draft": {"cells": 32}, "standard": {"cells": 64}, "fine": {"cells": 128}},
)
