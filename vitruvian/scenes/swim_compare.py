"""Six swimmers in six lanes, as in the documents' comparison: what drives them, what flesh and what water they have.

    lane                    differs from the first in
    cpg                     nothing: muscles driven by pattern generators, simulated water
    spline                  wanted lengths from closed splines instead of oscillators
    inverse_dynamics        joint torques by inverse dynamics, no stronger than the muscles
    pd                      joint torques of springs and dampers, no stronger than the muscles
    skinning                the skin follows the bones without flesh
    still_water             a force law in water that stands still

Every lane has a window of water of its own; all but the fifth have flesh of finite elements. At draft quality all lanes
are skinned, and the fifth repeats the first but for its spray: `lanes_with_flesh` in the report is then 0. Flesh
(`--set flesh=elements`) takes nearly twice as long, and now and then snaps about a lifted arm.

    vitruvian run swim-compare --set water=still        all six in still water, in a minute
    vitruvian run swim-compare --set stroke=arms.toml   with a stroke of your own, such as one without a kick
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.scenes._swim import MEASURES, PARAMETERS, QUALITIES, froude, stroke_world
from vitruvian.systems import LanesController, LaneSignal, LanesSystem
from vitruvian.systems.swimmer_signals import BODY_PARTS
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

DOCUMENTS = {
    "cpg": 0.973,
    "spline": 0.956,
    "inverse_dynamics": 0.954,
    "pd": 0.889,
    "skinning": 0.916,
    "still_water": 0.614,
}  # [m/s] Si 2013, table 7.1
CHANGES: dict[str, dict[str, Any]] = {
    "cpg": {},  # actuation=muscles, control=cpg
    "spline": {"control": "spline"},
    "inverse_dynamics": {"actuation": "inverse-dynamics"},
    "pd": {"actuation": "pd"},
    "skinning": {"flesh": "skinning"},
    "still_water": {"water": "still"},
}
APART = 2.6  # [m] between lanes
SIGNALS = (
    LaneSignal(Signal("place", "m", "centre of mass, %", ("x", "y", "z")), lambda s: s["position"]),
    LaneSignal(Signal("speed", "m/s", "speed, %"), lambda s: s["speed"]),
    LaneSignal(Signal("work", "J", "work so far, %", ("drive", "water")), lambda s: np.asarray(s["work"])[:2]),
    LaneSignal(Signal("thrust", "N", "flow force ahead on each part, %", BODY_PARTS), lambda s: s["thrust_by_part"]),
    LaneSignal(Signal("activation", "1", "mean activation, %"), lambda s: np.asarray(s["activation"])[0]),
)
OWN = {"actuation": "muscles", "control": "cpg", "physics": "dynamic"}  # what the lanes decide themselves


def build(parameters: Mapping[str, Any]) -> World:
    worlds = {
        name: stroke_world(parameters["stroke"], {**parameters, **OWN, **change}, drawn=False)
        for name, change in CHANGES.items()
    }
    middle = 0.5 * APART * (len(worlds) - 1)
    lanes = LanesSystem(
        {name: w.simulation for name, w in worlds.items()},  # type: ignore[misc]
        (APART, 0.0, 0.0),
        signals=SIGNALS,
        light=True,
        naming="{name} {lane}",
        cameras=(
            Camera("lanes", (middle, -19.0, 11.0), (middle, -1.5, 0.0)),
            Camera("top", (middle, -1.5, 16.0), (middle, -1.4, 0.0)),
        ),
    )
    controller = LanesController([w.controller for w in worlds.values()])
    first = worlds["cpg"]
    return World(lanes, controller, frame_rate=first.frame_rate, substeps=first.substeps)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report = Report()
    report.metrics.update(dict.fromkeys(MEASURES, float("nan")))
    time, rate = recording.time, parameters["rate"]
    whole = int(np.floor((time[-1] + 1e-6) * rate))
    if whole < 2:
        return report
    speeds = {}
    for name, told in DOCUMENTS.items():
        y = np.interp([1.0 / rate, whole / rate], time, -recording.signals[f"place_{name}"][:, 1])
        speeds[name] = float((y[1] - y[0]) * rate / (whole - 1))
        report.metrics[f"speed_{name}"] = speeds[name]
        report.metrics[f"documents_{name}"] = told
        power, into_water = _powers(recording, name, 1.0 / rate, whole / rate)
        late = (time >= 1.0 / rate - 1e-9) & (time <= whole / rate + 1e-9)
        report.metrics[f"power_w_{name}"] = power
        report.metrics[f"froude_{name}"] = froude(recording.signals[f"thrust_{name}"][late], speeds[name], into_water)
    report.metrics["mean_speed"] = speeds["cpg"]
    report.metrics["froude"] = report.metrics["froude_cpg"]
    report.metrics["stroke_length"] = speeds["cpg"] / rate
    report.metrics["power_w"] = report.metrics["power_w_cpg"]
    report.checks["all six swim forward"] = min(speeds.values()) > 0.0
    # without flesh the fifth lane repeats the first
    report.metrics["lanes_with_flesh"] = float(len(CHANGES) - 1 if parameters["flesh"] == "elements" else 0)
    if parameters["flesh"] == "elements":
        report.metrics["gain_by_flesh"] = speeds["cpg"] - speeds["skinning"]
    if parameters["water"] != "still":  # else all lanes swim in it
        report.checks["still water is slowest"] = speeds["still_water"] <= min(speeds.values())
    head = ("lane", "m/s", "documents", "ratio")
    rows = ((name, f"{v:.3f}", f"{DOCUMENTS[name]:.3f}", f"{v / DOCUMENTS[name]:.2f}") for name, v in speeds.items())
    report.table = (head, *rows)
    return report


def _powers(recording: Recording, lane: str, begin: float, end: float) -> tuple[float, float]:
    """Of the drive and into the water [W], mean from `begin` to `end` [s]."""
    work = recording.signals[f"work_{lane}"]
    (a, b), (c, d) = (np.interp([begin, end], recording.time, work[:, k]) for k in range(2))
    return float((b - a) / (end - begin)), float((c - d) / (end - begin))  # the second: of the water on him


scene = Scene(
    name="swim-compare",
    summary="six swimmers side by side: CPG, spline, inverse dynamics, PD, skinning, still water",
    answers="Si 2013, table 7.1",
    seconds=4.5,
    build=build,
    check=check,
    parameters={
        "stroke": Parameter("crawl", "a stroke by name, or a file of your own"),
        **{name: p for name, p in PARAMETERS.items() if name not in OWN},
        "flesh": replace(PARAMETERS["flesh"], default="elements"),
    },
    qualities={**QUALITIES, "draft": {**QUALITIES["draft"], "flesh": "skinning"}},
)
