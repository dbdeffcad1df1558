"""A landing: the body drops 20 cm and is caught in a tenth of a second, and its flesh swings on.

The bones move as told (a fall, then a smooth stop by the floor); the flesh has inertia and Rayleigh damping. Belly
and chest overshoot the bones and ring down. Skin is coloured by strain.

    vitruvian run jiggle --set build=heavy
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.anatomy.skin import body_skin
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING, body_flesh
from vitruvian.couple.bone_flesh import BoneFleshState, Inertial
from vitruvian.flesh import Settings, embed, preset
from vitruvian.scenes._fleshed import Cue, FleshedBody, Measure
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Camera, Signal
from vitruvian.world.world import World

GRAVITY, STOP = 9.81, 0.1  # m/s², and how long the catch takes [s]


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    skin = body_skin(body, parameters["build"])
    low, high = np.array([-0.28, -0.32, 0.92]), np.array([0.28, 0.26, 1.68])
    flesh = body_flesh(
        body,
        spacing=parameters["spacing"],
        skin=skin,
        material=preset(parameters["material"]),
        within=lambda p: np.max([np.abs(p[:, 0]) - 0.22, 0.96 - p[:, 2], p[:, 2] - 1.62], axis=0),
        reach=(low, high),
    )
    middle = (np.abs(skin.vertices[:, 0]) < 0.01) & (np.abs(skin.vertices[:, 2] - 1.22) < 0.02)
    front = skin.vertices[middle]
    navel = embed(flesh.model.lattice, front[np.argmin(front[:, 1])][None])
    rest = navel.positions(flesh.model.lattice.nodes)[0, 2]

    def script(time: float) -> Cue:
        q = body.default_q.copy()
        q[2] += height(time, parameters["drop"])
        return Cue(q, np.zeros(0), body_force=np.array([0.0, 0.0, -GRAVITY]))

    def belly(sim: FleshedBody, state: BoneFleshState, time: float) -> float:
        return float(navel.positions(state.flesh.x)[0, 2] - rest - height(time, parameters["drop"]))

    simulation = FleshedBody(
        body,
        flesh,
        script,
        shown=lambda v: (np.abs(v[:, 0]) < 0.22) & (v[:, 2] > 0.96) & (v[:, 2] < 1.62),
        settings=Settings(residual=0.05, gap=1e-3, newton=40),
        inertial=Inertial(mass_damping=0.5, stiffness_damping=parameters["damping"]),
        limit=0.2,
        measures=(
            Measure(Signal("belly", "m", "height of the navel over where the bones would carry it"), belly),
            Measure(Signal("fall", "m", "height of the pelvis"), lambda s, x, t: height(t, parameters["drop"])),
        ),
        cameras=(
            Camera("oblique", (1.2, -1.7, 1.5), (0.0, 0.0, 1.22)),
            Camera("side", (2.2, -0.1, 1.35), (0.0, 0.0, 1.25)),
        ),
    )
    return World(simulation, frame_rate=120.0)


def height(time: float, drop: float) -> float:
    """Height of the bones over where they end [m]: free fall, then a stop at constant deceleration."""
    speed = np.sqrt(2.0 * GRAVITY * drop)
    lands = speed / GRAVITY
    stop = 0.5 * speed * STOP
    if time <= lands:
        return float(stop + drop - 0.5 * GRAVITY * time**2)
    after = min(time - lands, STOP)
    return float(stop - speed * after + 0.5 * speed / STOP * after**2)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    belly, volume, time = recording.signals["belly"], recording.signals["volume"], recording.time
    lands = np.sqrt(2.0 * parameters["drop"] / GRAVITY)
    report = Report(metrics={"volume_change": float(np.abs(volume / volume[0] - 1.0).max())})
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    after = time > lands + STOP
    if after.sum() > 30:
        last = belly[-1]
        report.metrics["deepest_sag_m"] = float(-(belly - last).min())
        report.metrics["swing_after_stop_m"] = float(np.ptp(belly[after]))
        report.checks["the belly overshoots the bones"] = report.metrics["deepest_sag_m"] > 1e-3
        half = after & (time > 0.5 * (time[-1] + lands + STOP))
        report.checks["and rings down"] = float(np.ptp(belly[half])) < 0.5 * report.metrics["swing_after_stop_m"]
    return report


scene = Scene(
    name="jiggle",
    summary="A landing: bones stop, the flesh of the trunk swings on",
    answers="",
    seconds=1.0,
    build=build,
    check=check,
    parameters={
        "spacing": Parameter(0.03, "edge of a lattice cell", "m", low=0.01, high=0.04),
        "material": Parameter("soft", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "drop": Parameter(0.2, "height of the fall", "m", low=0.02, high=0.6),
        "damping": Parameter(0.004, "Rayleigh damping β", "s", low=0.0, high=0.2),
        "build": Parameter("heavy", "body shape", choices=("muscular", "average", "slender", "heavy", "woman", "old")),
    },
    qualities={k: {"spacing": v} for k, v in QUALITY_SPACING.items()},
)
