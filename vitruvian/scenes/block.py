"""A block of flesh in four hard cases: squeezed, twisted, contracted by its own fibres, thrown inside out.

`press` squeezes it to 60 %, `twist` turns its top by 180 degrees, `muscle` activates fibres that run through its
middle, `tangle` starts with every node displaced by a random cell length, many cells inverted, and shows the solver
finding back to rest.

    vitruvian run block --set case=twist
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.flesh import FleshState, Loads, Settings, box_lattice, build_flesh, preset, sample_muscles
from vitruvian.systems import Measure, TissueSystem
from vitruvian.systems.tissue import block_skin
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

SIZE = (0.08, 0.08, 0.16)  # [m]
CASES = ("press", "twist", "muscle", "tangle")
GROWS = 1.5  # [s] over which the load grows, then it stays


def build(parameters: Mapping[str, Any]) -> World:
    case, n = parameters["case"], parameters["cells"]
    h = SIZE[0] / n
    lattice = box_lattice((n, n, 2 * n), h)
    rest = lattice.nodes
    bottom, top = rest[:, 2] < 1e-9, rest[:, 2] > SIZE[2] - 1e-9
    up = np.array([0.0, 0.0, 1.0])
    middle = np.array([0.5 * SIZE[0], 0.5 * SIZE[1]])

    def belly(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = np.linalg.norm(points[:, :2] - middle, axis=1) < 0.03
        return inside & (np.abs(points[:, 2] - 0.08) < 0.06), np.broadcast_to(up, points.shape)

    model = build_flesh(
        lattice,
        preset(parameters["material"]),
        muscles=sample_muscles(lattice, [("belly", belly)]),
        fixed=bottom | top if case in ("press", "twist") else bottom,
    )

    def held(state: FleshState, time: float) -> None:
        part = min(time / GROWS, 1.0)
        if case == "press":
            state.x[top, 2] = SIZE[2] * (1.0 - 0.4 * part)
        elif case == "twist":
            c, s = np.cos(np.pi * part), np.sin(np.pi * part)
            state.x[top, :2] = middle + (rest[top, :2] - middle) @ np.array([[c, s], [-s, c]])

    def start(state: FleshState, rng: np.random.Generator) -> None:
        if case == "tangle":
            noise = h * rng.standard_normal(state.x.shape)
            state.x[~model.fixed] += noise[~model.fixed]

    def loads(time: float) -> Loads:
        return Loads(activation=np.array([min(time / GROWS, 1.0) if case == "muscle" else 0.0]))

    belt = np.abs(rest[:, 2] - 0.08) < 0.51 * h
    simulation = TissueSystem(
        model,
        loads,
        block_skin(SIZE, (2 * n, 2 * n, 4 * n)),
        settings=Settings(newton=3 if case == "tangle" else 60),
        start=start,
        held=held,
        patient=case == "tangle",
        colour="activation" if case == "muscle" else "strain",
        colour_limit={"press": 1.0, "twist": 4.0, "muscle": 1.0, "tangle": 1.0}[case],
        measures=(
            Measure(Signal("height", "m", "height of the top"), lambda now: float(now.state.flesh.x[top, 2].mean())),
            Measure(Signal("width", "m", "width at the middle"), lambda now: float(np.ptp(now.state.flesh.x[belt, 0]))),
            Measure(
                Signal("away", "m", "largest distance from rest"),
                lambda now: float(np.abs(now.state.flesh.x - rest).max()),
            ),
        ),
        cameras=(Camera("front", (0.22, -0.38, 0.2), (0.04, 0.04, 0.075)),),
        ground=0.0,
    )
    return World(simulation, frame_rate=30.0)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    case = parameters["case"]
    volume, width, away = (recording.signals[k] for k in ("volume", "width", "away"))
    report = Report(metrics={"worst_newton_steps": float(recording.signals["newton"].max())})
    if case == "tangle":
        report.metrics["away_from_rest_m"] = float(away[-1])
        if recording.duration >= GROWS:
            report.checks["back at rest"] = bool(away[-1] < 1e-4)
        return report
    report.metrics["volume_change"] = float(np.abs(volume / volume[0] - 1.0).max())
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    report.metrics["width_growth"] = float(width[-1] / width[0] - 1.0)
    if case != "twist":
        report.checks["bulges in the middle"] = report.metrics["width_growth"] > 0.0
    return report


scene = Scene(
    name="block",
    summary="A block of flesh squeezed, twisted, contracted by its own fibres, or untangled from inside out",
    answers="",
    seconds=2.0,
    build=build,
    check=check,
    parameters={
        "case": Parameter("muscle", "what is done to it", choices=CASES),
        "material": Parameter("si-paper", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "cells": Parameter(6, "cells across the block", low=2, high=32),
    },
    qualities={"draft": {"cells": 4}, "standard": {"cells": 6}, "fine": {"cells": 12}},
)
