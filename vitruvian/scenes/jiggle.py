"""A landing: the body drops 20 cm and is caught in a tenth of a second; its flesh swings on and pulls at its bones.

The pelvis moves as told (a fall, then a smooth stop by legs that are not shown to work); everything else is free. The
run is computed in the pelvis' frame, where the fall is a change of weight: none while falling, three times as much
while stopping. Flesh has inertia and Rayleigh damping, each bone keeps what the flesh around it does not bring of its
segment's inertia, and computed muscle control with lagging senses holds the posture. Belly and chest overshoot the
bones and ring down, and the spine nods with them. Skin is coloured by strain. Trunk and
seat have flesh; the skin of the rest rides on the bones.

    vitruvian run jiggle --set build=heavy
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import body_skin, human
from vitruvian.anatomy.skin_flesh import QUALITY_SPACING
from vitruvian.control import ComputedMuscleControl, Gains, KeyMotion
from vitruvian.couple import Inertial
from vitruvian.flesh import Embedding, Settings, embed
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of, without_breath
from vitruvian.scenes._shape import shape_parameters, skin_shape
from vitruvian.systems import Cover, FleshedBodySystem, Look, Measure, Now, Outside
from vitruvian.systems.cover import TrunkSlice
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

TRUNK = TrunkSlice(wide=0.22, low=0.78, high=1.6, front=-0.34, back=0.3)  # the part that is simulated
GRAVITY, STOP = 9.81, 0.1  # m/s², and how long the catch takes [s]
MARKS = {"belly": (1.17, -1.0), "chest": (1.42, -1.0), "seat": (0.95, 1.0)}  # height [m], front (-1) or back (1)


def build(parameters: Mapping[str, Any]) -> World:
    body = human(pelvis="fixed")
    shape = skin_shape(parameters)
    skin = body_skin(human(), shape)
    breathing = breathing_of(parameters, body)
    flesh = TRUNK.flesh(body, skin, parameters, lungs=breathing is not None)
    marks = {name: _mark(skin.vertices, flesh.model.lattice, *at) for name, at in MARKS.items()}
    nodes = flesh.model.lattice.nodes
    start = body.default_q
    first = Now(body, body.at_rest(start), None, 0.0).point("Sku")
    drop = parameters["drop"]

    def outside(time: float) -> Outside:
        up = np.array([0.0, 0.0, 1.0])
        return Outside(lift=height(time, drop) * up, weight=-acceleration(time, drop) * up)

    def swing(name: str) -> Measure:
        rest = marks[name].positions(nodes)[0, 2]

        def of(now: Now) -> float:
            return float(marks[name].positions(now.state.wrap.flesh.x)[0, 2] - rest)

        return Measure(Signal(name, "m", f"{name} over where the pelvis would carry it"), of)

    simulation = FleshedBodySystem(
        body,
        flesh,
        Cover(body, flesh.model, shape, within=TRUNK.within),
        start,
        outside=outside,
        breathing=breathing,
        lungs=breathing is not None,
        settings=Settings(gap=1e-3, newton=40),
        inertial=Inertial(mass_damping=0.5, stiffness_damping=parameters["damping"]),
        two_way=parameters["two_way"],
        look=Look(colour=parameters["colour"], limit=0.25 if parameters["colour"] == "strain" else None,
                  lattice=parameters["lattice"]),
        measures=(
            Measure(Signal("fall", "m", "height of the pelvis"), lambda now: height(now.time, drop)),
            Measure(Signal("head", "m", "head over where the pelvis would carry it"),
                        lambda now: float(now.point("Sku")[2] - first[2])),
            *(swing(name) for name in MARKS),
        ),
        cameras=(
            Camera("oblique", (1.5, -2.9, 1.5), (0.0, 0.0, 1.2)),
            Camera("side", (3.2, -0.4, 1.35), (0.0, 0.0, 1.1)),
        ),
    )  # fmt: skip
    gains = Gains(stiffness=100.0, damping=20.0, rate=60.0, sensor_lag=0.1)
    motion = KeyMotion.through(body, [0.0], [start])
    controller = ComputedMuscleControl(body, simulation.stepper.twin(), motion, gains)
    return World(simulation, controller, frame_rate=60.0, substeps=2)


def _mark(vertices: np.ndarray, lattice: Any, z: float, side: float) -> Embedding:
    """The skin's foremost or hindmost point near the midline at a height."""
    near = vertices[(np.abs(np.abs(vertices[:, 0]) - 0.06) < 0.02) & (np.abs(vertices[:, 2] - z) < 0.02)]
    return embed(lattice, near[np.argmax(side * near[:, 1])][None])


def height(time: float, drop: float) -> float:
    """Height of the bones over where they end [m]: free fall, then a stop at constant deceleration."""
    speed = np.sqrt(2.0 * GRAVITY * drop)
    lands = speed / GRAVITY
    stop = 0.5 * speed * STOP
    if time <= lands:
        return float(stop + drop - 0.5 * GRAVITY * time**2)
    after = min(time - lands, STOP)
    return float(stop - speed * after + 0.5 * speed / STOP * after**2)


def acceleration(time: float, drop: float) -> float:
    """Second derivative of `height` [m/s²]."""
    speed = np.sqrt(2.0 * GRAVITY * drop)
    if time <= speed / GRAVITY:
        return -GRAVITY
    return float(speed / STOP) if time <= speed / GRAVITY + STOP else 0.0


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    belly, volume, time = recording.signals["belly"], recording.signals["volume"], recording.time
    lands = np.sqrt(2.0 * parameters["drop"] / GRAVITY)
    volume = without_breath(recording, volume)
    report = Report(metrics={"volume_change": float(np.abs(volume / volume[0] - 1.0).max())})
    breath_metrics(report, recording)
    report.checks["volume stays within 1 %"] = report.metrics["volume_change"] < 0.01
    after = time > lands + STOP
    if time[-1] > lands + STOP + 0.4:
        for name in (*MARKS, "head"):
            signal = recording.signals[name]
            report.metrics[f"{name}_lowest_mm"] = 1e3 * float(signal.min())
            report.metrics[f"{name}_swing_after_mm"] = 1e3 * float(np.ptp(signal[after]))
        report.checks["the belly overshoots the bones (2 mm)"] = report.metrics["belly_lowest_mm"] < -2.0
        half = after & (time > 0.5 * (time[-1] + lands + STOP))
        late = 1e3 * float(np.ptp(belly[half]))
        report.metrics["belly_swing_late_mm"] = late
        report.checks["and rings down"] = late < 0.5 * report.metrics["belly_swing_after_mm"]
        if parameters["two_way"]:
            report.checks["the head nods (1 mm)"] = report.metrics["head_lowest_mm"] < -1.0
    return report


scene = Scene(
    name="jiggle",
    summary="A landing: the pelvis stops, flesh swings on and pulls at the spine",
    answers="Si 2013, section 3.5",
    seconds=1.0,
    build=build,
    check=check,
    parameters={
        "spacing": Parameter(0.03, "edge of a lattice cell", "m", low=0.01, high=0.04),
        "material": Parameter("soft", "tissue preset", choices=("si-paper", "si-thesis", "lee", "soft")),
        "drop": Parameter(0.2, "height of the fall", "m", low=0.02, high=0.6),
        "damping": Parameter(0.004, "Rayleigh damping β", "s", low=0.0, high=0.2),
        "ties": Parameter("footprints", "where flesh is grown to bone", choices=("footprints", "surface")),
        "breathing": BREATHING,
        "two_way": Parameter(True, "bones feel the flesh"),
        "colour": Parameter("strain", "colour of the skin", choices=("none", "strain", "pressure")),
        "lattice": Parameter(False, "show the lattice"),
        **shape_parameters("heavy"),
    },
    qualities={k: {"spacing": v} for k, v in QUALITY_SPACING.items()},
)
