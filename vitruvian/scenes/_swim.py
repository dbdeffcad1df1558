"""What the swimming scenes share: a human in the water under one stroke, and how a recording of it is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from vitruvian.anatomy import (
    LUNGS,
    Body,
    BodyFlesh,
    balanced,
    body_flesh,
    body_skin,
    bound_skin,
    breathing_skin,
    buoyancy,
    human,
    stronger,
)
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.swim import Command, Pilot
from vitruvian.couple import PATCHES, StillWater
from vitruvian.scenes import _swim_drive
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.scenes._swim_clock import clock_measures, cycle_times, mean_speed, speeds_between
from vitruvian.skin import BoundSkin
from vitruvian.spatial import rotation_from_quaternion
from vitruvian.systems import POOL, Measure, StrokeLock, SwimmerPreview, SwimmerSystem, pool
from vitruvian.systems.swimmer_signals import BODY_PARTS, HEADING, momentum_gaps
from vitruvian.water import FORCES, WATER_DENSITY, Tank
from vitruvian.world import Parameter, Recording, Report, Scene, World

Array = np.ndarray
Settings = Mapping[str, Any]
START_DEPTH = 0.10  # of the centre of mass below the surface [m]
START_SPEED = 0.6  # [m/s] from the push-off
FRAME = 48.0  # frames a second
SUPINE, SUPINE_DEEP = (POOL[0], POOL[1], 1.6), 1.25  # [m]: legs ride deep on the back, and a hand pulls below them
WIDE, WIDE_DEEP = (2.9, 2.9, 1.4), 1.0  # window [m] of a swimmer who turns, and how much of it is water
UPRIGHT, UPRIGHT_DEEP = (2.4, 2.8, 2.2), 1.9  # [m]: who lets go sinks by the legs, or wholly
SWING = {"crawl": (0.15, 0.20), "butterfly": (0.45, 0.50)}  # speed within a cycle, in parts of its mean, of people
# The body has 87 N m of shoulder extension with the arm raised by 150 degrees (`verify body`); the catch
# of a crawl asks for 30 to 55 N m. That a trained swimmer is half again as strong is an assumption.
STRENGTH = 1.5
# where in a cycle the lungs are fullest: as the mouth goes back under; on the back, when an arm goes overhead
FULL = {"crawl": 0.4, "butterfly": 0.52, "breaststroke": 0.56, "backstroke": 0.1}
MEASURES = ("mean_speed", "froude", "stroke_length", "power_w")  # of every stroke, see docs/swimming.md
BAND = (0.6, 1.6)  # [m/s] mean speed that a crawl or butterfly should have

PARAMETERS: dict[str, Parameter] = {
    "rate": Parameter(0.68, "stroke cycles a second", "1/s", low=0.2, high=1.5),
    "physics": Parameter("dynamic", "kinematic only shows the stroke", choices=("dynamic", "kinematic")),
    "water": Parameter("simulated", "real flow, or a force law in still water", choices=("simulated", "still")),
    "forces": Parameter("pressure", "solved with the bones, or the documents' formula", choices=FORCES),
    "flesh": Parameter("skinning", "how the skin follows the bones", choices=("skinning", "elements")),
    "spacing": Parameter(0.03, "spacing of the flesh's lattice", "m", low=0.008, high=0.05),
    **_swim_drive.PARAMETERS,
    "lungs": Parameter("full", "air in the lungs; swimmers keep them full", choices=tuple(LUNGS)),
    "breathing": replace(BREATHING, help="none, or a behaviour (deep), once in a stroke cycle, on top of `lungs`"),
    "strength": Parameter(STRENGTH, "muscle strength relative to the tables", low=0.2, high=5.0),
    "patches": Parameter("none", "limbs with refined water of 13 mm cells about them", choices=tuple(PATCHES)),
    "cell": Parameter(0.045, "edge of a water cell", "m", low=0.01, high=0.1),
    "steps": Parameter(2, "steps per frame of 1/48 s", low=1, high=64),
    "triangles": Parameter(8000, "triangles of the skin", low=1000, high=100000),
    "speed": Parameter(START_SPEED, "speed at the start", "m/s", low=0.0, high=3.0),
}  # fmt: skip
QUALITIES: dict[str, dict[str, Any]] = {
    "draft": {"cell": 0.045, "steps": 2, "triangles": 8000, "spacing": 0.03},
    "standard": {"cell": 0.036, "steps": 4, "triangles": 12000, "spacing": 0.02},
    "fine": {"cell": 0.02, "steps": 4, "triangles": 24000, "spacing": 0.01},
}


def swimmer(parameters: Settings) -> tuple[Body, BoundSkin]:
    """A human whose trunk is as dense as flesh, and his skin with the lungs asked for."""
    body = stronger(human(), parameters.get("strength", 1.0))
    skin = bound_skin(body, triangles=int(parameters["triangles"]))
    body = balanced(body, skin)
    return body, breathing_skin(body, skin, parameters["lungs"])


def water(parameters: Settings, *, turns: bool = False, supine: bool = False) -> StillWater | Tank:
    """turns: whether the swimmer may come to lie across the window; supine: whether his arms pass below his back."""
    if parameters["water"] == "still":
        return StillWater()
    if supine:
        return pool(parameters["cell"], size=SUPINE, deep=SUPINE_DEEP)
    return pool(parameters["cell"], size=WIDE, deep=WIDE_DEEP) if turns else pool(parameters["cell"], size=POOL)


def flesh(body: Body, parameters: Settings) -> BodyFlesh | None:
    """Flesh with the fibres of all muscles in it, or none."""
    if parameters["flesh"] != "elements":
        return None
    return body_flesh(body, spacing=parameters["spacing"], bellies=body_bellies(body, body_skin(body)))


def start(body: Body, skin: BoundSkin, motion: StrokeMotion, speed: float) -> tuple[Array, Array]:
    """Coordinates and velocities of a swimmer who glides along -y in the stroke's first pose, rolling as it means
    him to: who starts without that roll is pressed down by the arm that recovers, and drags it for two strokes. On his
    back he rolls the other way than the stroke means, and starts without."""
    q, v, _ = motion.sample(0.0)
    q, v = q.copy(), v.copy()
    q[2] -= START_DEPTH + buoyancy(body, skin, q).centre_of_mass[2]
    if motion.stroke.posture == "supine":
        v[:3] = 0.0
    v[3:6] = rotation_from_quaternion(q[3:7]).T @ (speed * HEADING)
    return q, v


def stroke_world(
    stroke: str,
    parameters: Settings,
    *,
    plan: Sequence[tuple[float, Command]] = (),
    strokes: Sequence[str] = (),
    pilot: Callable[[Body], Pilot] | None = None,
    turns: bool = False,
    measures: Sequence[Measure] = (),
    **options: Any,
) -> World:
    """A world in which a human swims one stroke; plan, strokes and pilot as in `_swim_drive.drive`; turns: may come
    to lie across the window; measures: signals beside those of the stroke's clock."""
    read = load_stroke(stroke)  # a file that cannot be read is told before anything is built
    body, skin = swimmer(parameters)
    motion = StrokeMotion(body, read, parameters["rate"])
    q, v = start(body, skin, motion, parameters["speed"])
    if parameters["physics"] == "kinematic":
        return World(preview(body, skin, motion, q), frame_rate=FRAME)
    lead = None if pilot is None else pilot(body)
    controller = _swim_drive.drive(body, stroke, parameters, plan=plan, strokes=strokes, pilot=lead)
    room = water(parameters, turns=turns, supine=read.posture == "supine")
    simulation = SwimmerSystem(
        body, skin, water=room, q=q, v=v, forces=parameters["forces"], patches=parameters.get("patches", "none"),
        muscles=parameters["actuation"] != "course", flesh=flesh(body, parameters),
        measures=(*clock_measures(parameters["rate"]), *measures),
        breathing=breathing_of(parameters, body, StrokeLock(FULL.get(stroke, 0.0), parameters["rate"])), **options,
    )  # fmt: skip
    return World(simulation, controller, frame_rate=FRAME, substeps=int(parameters["steps"]))


def preview(body: Body, skin: BoundSkin, motion: StrokeMotion, q0: Array) -> SwimmerPreview:
    """The stroke as pure motion, in place, at the height of q0."""

    def sample(time: float) -> tuple[Array, Array]:
        q, v, _ = motion.sample(time)
        q[:3] = q0[:3]
        return q, v

    return SwimmerPreview(body, skin, water=StillWater(), q=q0, muscles=False, sample=sample)


def floating_world(parameters: Settings) -> World:
    """A human who lets go, face down in the water."""
    body, skin = swimmer(parameters)
    motion = StrokeMotion(body, load_stroke("crawl"), 0.0)
    q, _ = start(body, skin, motion, 0.0)
    q[7:] = body.skeleton.neutral_q()[7:]
    still = parameters["water"] == "still"
    room = StillWater() if still else pool(parameters["cell"], size=UPRIGHT, deep=UPRIGHT_DEEP)
    simulation = SwimmerSystem(
        body, skin, water=room, q=q, forces=parameters["forces"], breathing=breathing_of(parameters, body)
    )
    return World(simulation, None, frame_rate=FRAME, substeps=int(parameters["steps"]))


def floating_report(recording: Recording, parameters: Settings) -> Report:
    """Whether the water carries what the body weighs, or, with empty lungs, closes over him."""
    signals, time = recording.signals, recording.time
    late = time >= 0.6 * time[-1]
    report = Report()
    breath_metrics(report, recording)
    mass = own_mass()
    displaced = float(signals["displaced"][late].mean())
    highest = float(recording.surface("skin", len(time) - 1).vertices[:, 2].max())
    report.metrics["displaced_m3"] = displaced
    report.metrics["demanded_m3"] = mass / WATER_DENSITY
    report.metrics["mean_height_m"] = float(signals["height"][late].mean())
    report.metrics["highest_point_m"] = highest
    report.metrics["rise_m_per_s"] = float(signals["velocity"][late, 2].mean())
    if parameters["lungs"] == "empty":
        report.checks["no part of him is above the water in the end"] = highest < 0.0
        report.checks["he goes down all the while"] = bool((signals["velocity"][late, 2] < 0.0).all())
        report.checks["he displaces less than his mass"] = displaced * WATER_DENSITY < mass
    else:
        report.metrics["draught_error"] = abs(displaced * WATER_DENSITY / mass - 1.0)
        report.checks["he floats: displaces his mass within 1 %"] = report.metrics["draught_error"] < 0.01
        report.checks["some part of him is above the water"] = highest > 0.0
    report.metrics["momentum_gap"] = momentum_gap(recording)
    return report


@cache
def own_mass() -> float:
    """Of the human [kg], whatever his lungs hold."""
    return float(human().skeleton.mass)


def stroke_scene(
    stroke: str,
    summary: str,
    answers: str = "",
    seconds: float = 3.5,
    changed: Mapping[str, Parameter] = MappingProxyType({}),
) -> Scene:
    """A scene in which a human swims one stroke; changed: parameters with other defaults."""

    def check(recording: Recording, parameters: Settings) -> Report:
        report = swim_report(recording, parameters, stroke=parameters["stroke"])
        speed = report.metrics["mean_speed"]
        if parameters["stroke"] in SWING and np.isfinite(speed):
            report.checks["mean speed between 0.6 and 1.6 m/s"] = bool(BAND[0] <= speed <= BAND[1])
        if parameters["stroke"] == "crawl" and np.isfinite(speed):
            report.checks["his lips come over calm water in every cycle"] = report.metrics["mouth_height_m"] > 0.0
        return report

    return Scene(
        name=stroke,
        summary=summary,
        answers=answers,
        seconds=seconds,
        build=lambda parameters: stroke_world(parameters["stroke"], parameters),
        check=check,
        parameters={"stroke": Parameter(stroke, "a stroke by name, or a file of your own"), **PARAMETERS, **changed},
        qualities=QUALITIES,
    )


def swim_report(recording: Recording, parameters: Settings, *, stroke: str = "crawl", straight: bool = True) -> Report:
    """Speed, economy, fluctuation, attitude and books of a swim, over whole cycles after the first, at the rate in
    force; MEASURES are not numbers if there are none. straight: along the course, else over ground."""
    report = Report()
    breath_metrics(report, recording)
    report.metrics.update(dict.fromkeys(MEASURES, float("nan")))
    if parameters.get("physics") == "kinematic":
        return report
    signals, time = recording.signals, recording.time
    ends = cycle_times(recording, parameters["rate"], 1.0, np.inf)
    if len(ends) > 1:
        settled = (time >= ends[0] - 1e-9) & (time <= ends[-1] + 1e-9)
        along = signals["speed" if straight else "speed_ahead"][settled]
        later = speeds_between(recording, ends, straight=straight)
        mean, rate = mean_speed(recording, ends, straight=straight), float(len(later) / (ends[-1] - ends[0]))
        report.metrics["mean_speed"] = mean
        report.metrics["stroke_rate"] = rate
        report.metrics["stroke_length"] = mean / rate
        report.metrics["speed_swing"] = _swing(time[settled], along, ends)
        if stroke in SWING:
            report.metrics["people_swing_low"], report.metrics["people_swing_high"] = SWING[stroke]
        report.metrics["pelvis_pitch_deg"] = float(signals["pitch"][settled, 0].mean())
        report.metrics["trunk_pitch_deg"] = float(signals["pitch"][settled, 1].mean())
        report.metrics["chest_roll_deg"] = float(np.abs(signals["roll"][settled, 1]).max())
        report.metrics["heading_deg"] = float(signals["heading"][-1])
        report.metrics["mouth_height_m"] = _least_breath(time, signals["mouth_height"], ends)
        report.metrics["depth_m"] = float(-signals["height"][settled].mean())
        seconds = float(time[settled][-1] - time[settled][0])
        work = signals["work"][settled]
        power = (work[-1] - work[0]) / seconds  # [W] of the drive, of the water on him, ...
        report.metrics["power_w"] = float(power[0])
        report.metrics["power_into_water_w"] = float(-power[1])
        report.metrics["energy_per_metre_j"] = float(power[0] / mean)
        thrust = signals["thrust_by_part"][settled]
        report.metrics["froude"] = froude(thrust, mean, float(-power[1]))
        part = signals["work_by_part"][settled] if "work_by_part" in signals else None  # absent from earlier recordings
        report.table = _by_part(thrust, None if part is None else (part[0] - part[-1]) / seconds)
        report.metrics["propulsion_n"] = float(signals["propulsion"][settled].mean())
        report.metrics["drag_n"] = float(signals["drag"][settled].mean())
        if straight:
            report.checks["forward in every cycle after the first"] = bool((later > 0.0).all())
            supine = load_stroke(stroke).posture == "supine"
            turned = signals["back_up"][settled] * (-1.0 if supine else 1.0)
            report.checks["on his back" if supine else "prone"] = bool(turned.min() > 0.0)
            report.checks["head first"] = bool(np.abs(signals["heading"][settled]).max() < 90.0)
    report.metrics["momentum_gap"] = momentum_gap(recording)
    report.checks["impulses of water and weight are the body's momentum within 3 %"] = (
        report.metrics["momentum_gap"] < 0.03
    )
    return report


def froude(thrust: Array, speed: float, power: float) -> float:
    """Froude efficiency D v / P: power against drag over power into the water. D: mean force on the parts of the body
    that are held back on the whole. thrust: flow force ahead on each part [N], shape (frames, parts), over whole
    cycles; speed [m/s], their mean; power [W] into the water. Not a number unless he gives the water power."""
    drag = -float(np.minimum(thrust.mean(axis=0), 0.0).sum())
    return drag * speed / power if power > 0.0 else float("nan")


def _by_part(thrust: Array, power: Array | None) -> tuple[tuple[str, ...], ...]:
    """Where the power goes. thrust: flow force ahead on each part [N], shape (frames, parts); power: of each part into
    the water [W], shape (parts,), None if it was not recorded."""
    force = (f"{f:.0f}" for f in np.round(thrust.mean(axis=0)) + 0.0)
    into = ["not recorded"] * len(BODY_PARTS) if power is None else [f"{p:.0f}" for p in np.round(power) + 0.0]
    rows = zip(BODY_PARTS, force, into, strict=True)
    return (("part", "force ahead [N]", "power into the water [W]"), *rows)


def _least_breath(time: Array, mouth: Array, ends: Array) -> float:
    """How high over calm water the lips come in each cycle between `ends` [m], of the cycle that has least."""
    return min(float(mouth[(time >= begin - 1e-9) & (time <= end + 1e-9)].max()) for begin, end in pairwise(ends))


def _swing(time: Array, speed: Array, ends: Array) -> float:
    """Half of the range of the speed within a cycle, in parts of its mean there; mean over cycles between `ends`."""
    swings = []
    for begin, end in pairwise(ends):
        v = speed[(time >= begin - 1e-9) & (time <= end + 1e-9)]
        swings.append(0.5 * np.ptp(v) / max(abs(float(v.mean())), 1e-9))
    return float(np.mean(swings))


def momentum_gap(recording: Recording) -> float:
    """Momentum gained less impulses received, in parts of what the water passed to the body: the larger gap."""
    signals = recording.signals
    received = signals["impulse_water"] + signals["impulse_other"]
    return float(np.max(momentum_gaps(signals["momentum"], signals["impulse_water"], received)))
