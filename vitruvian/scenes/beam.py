"""A beam of tissue stiff as rubber, let go from level: it rings at its first bending frequency and settles at its sag.

Euler–Bernoulli: f₁ = 1.875²/2π √(EI/(ρAL⁴)), static sag of the tip ρ g A L⁴/(8 EI). The ratio is for a beam 10 times
as long as thick; Rayleigh damping takes the ringing out.

    vitruvian run beam --set poisson=0.49
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.flesh import Loads, Settings, box_lattice, build_flesh, mooney_rivlin_from_moduli
from vitruvian.mesh import box
from vitruvian.systems import Measure, TissueSystem
from vitruvian.systems.colours import WIRE
from vitruvian.systems.tissue import block_skin
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

SIDE, LENGTH, DENSITY, GRAVITY = 0.04, 0.4, 1000.0, 9.81  # m, m, kg/m³, m/s²
HEIGHT = 0.3  # of the beam above the ground [m]
RATE = 480.0  # frames per second: the beam rings several times a second


def beam_theory(young: float) -> tuple[float, float]:
    """First bending frequency [Hz] and sag of the tip under its own weight [m]."""
    inertia, area = SIDE**4 / 12.0, SIDE**2
    frequency = 1.8751041**2 / (2.0 * np.pi) * np.sqrt(young * inertia / (DENSITY * area * LENGTH**4))
    return float(frequency), float(DENSITY * GRAVITY * area * LENGTH**4 / (8.0 * young * inertia))


def build(parameters: Mapping[str, Any]) -> World:
    thick = parameters["cells"]
    h = SIDE / thick
    lattice = box_lattice((10 * thick, thick, thick), h, origin=(0.0, -SIDE / 2, HEIGHT - SIDE / 2))
    nodes = lattice.nodes
    root = nodes[:, 0] < 1e-9
    centre = [root & (np.abs(nodes[:, a] - m) < 0.51 * h) for a, m in ((1, 0.0), (2, HEIGHT))]
    material = mooney_rivlin_from_moduli(parameters["young"], parameters["poisson"], density=DENSITY, name="beam")
    model = build_flesh(lattice, material, fixed=np.stack([root, *centre], axis=1))
    weight = np.zeros_like(nodes)
    weight[:, 2] = -GRAVITY * model.node_mass
    end = nodes[:, 0] > LENGTH - 1e-9
    vertices, faces = block_skin((LENGTH, SIDE, SIDE), (10 * thick, thick, thick))
    sag = beam_theory(parameters["young"])[1]
    simulation = TissueSystem(
        model,
        lambda time: Loads(force=weight),
        (vertices + np.array([0.0, -SIDE / 2, HEIGHT - SIDE / 2]), faces),
        dynamic=True,
        integrator="energy-momentum",
        stiffness_damping=parameters["damping"],
        settings=Settings(residual=1e-4, tolerance=0.02, krylov=1000),
        colour_limit=float(np.round(1.5 * 4.0 * SIDE * sag / LENGTH**2, 3)),
        measures=(
            Measure(
                Signal("tip", "m", "height of the tip"), lambda now: float(now.state.flesh.x[end, 2].mean() - HEIGHT)
            ),
        ),
        meshes=(
            Mesh("wall", "", *box((0.02, 0.16, 0.16), (-0.011, 0.0, HEIGHT)), layer="stand", colour=WIRE),
            Mesh("post", "", *box((0.02, 0.05, HEIGHT), (-0.011, 0.0, 0.5 * HEIGHT)), layer="stand", colour=WIRE),
        ),
        cameras=(
            Camera("side", (0.2, -0.86, 0.44), (0.19, 0.0, 0.26)),
            Camera("oblique", (0.75, -0.5, 0.55), (0.18, 0.0, 0.25)),
        ),
        ground=0.0,
    )
    return World(simulation, frame_rate=RATE)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    frequency, sag = beam_theory(parameters["young"])
    time, tip, volume = recording.time, recording.signals["tip"], recording.signals["volume"]
    damped = frequency * np.sqrt(max(0.0, 1.0 - (np.pi * frequency * parameters["damping"]) ** 2))  # ζ = β ω/2
    report = Report(metrics={"theory_frequency_hz": damped, "theory_sag_m": sag})
    # turning points are half a period apart whatever the level about which it rings
    step = np.diff(tip)
    turns = np.flatnonzero(step[:-1] * step[1:] < 0.0)
    if len(turns) >= 3:
        times = time[turns + 1] + (time[1] - time[0]) * (step[turns] / (step[turns] - step[turns + 1]) - 0.5)
        found = 0.5 / float(np.diff(times[:4]).mean())
        report.metrics["frequency_hz"] = found
        report.checks["rings at the first bending frequency within 3 %"] = abs(found / damped - 1.0) < 0.03
    half = tip[len(tip) // 2 :]
    if np.ptp(half) < 0.05 * sag:  # it has come to rest
        report.metrics["sag_m"] = -float(half[-1])
        report.checks["settles at the sag of beam theory within 3 %"] = abs(-half[-1] / sag - 1.0) < 0.03
    report.metrics["volume_change"] = float(np.abs(volume / volume[0] - 1.0).max())
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    return report


scene = Scene(
    name="beam",
    summary="A beam of elastic tissue rings at its bending frequency and settles at its sag",
    answers="",
    seconds=1.5,
    build=build,
    check=check,
    parameters={
        "young": Parameter(3e7, "Young's modulus", "Pa", low=1e6, high=1e9),
        "poisson": Parameter(0.45, "Poisson's ratio", low=0.01, high=0.4999),
        "cells": Parameter(2, "cells across the beam", low=2, high=16),
        "damping": Parameter(0.006, "Rayleigh damping β", "s", low=0.0, high=1.0),
    },
    qualities={"draft": {"cells": 2}, "standard": {"cells": 4}, "fine": {"cells": 8}},
)
