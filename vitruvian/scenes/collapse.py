"""All muscles off: the body falls, lands on its flesh and comes to rest in its ligaments.

Nothing but joint springs, stops, discs, cartilage and passive muscle holds it together; ground and limbs push back
where its flesh meets them (`anatomy.contact`). It is let go standing, 0.5 m in the air, lying face down or face up, or
tipped over forwards or backwards at 1 rad/s about the feet. Measured: how deep it is in the ground and in itself (5 mm
at most), by how much a joint exceeds its range (3 degrees at most), the widest gap between a rib and its cartilage (at
most 30 mm), mechanical energy from frame to frame (never up), and that it lies still in the end (0.2 rad/s; tipped
forwards it kneels for a while first, and rest is not asked for). With the pelvis fixed, legs and arms swing on.

    vitruvian run collapse --view
    vitruvian run collapse --set start=prone --view
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, body_contacts, human
from vitruvian.control import HANGING, Relaxer, pose
from vitruvian.couple import Contacts
from vitruvian.scenes._body import STEPS
from vitruvian.skeleton import beyond_range, bone_poses, energy, spring_lengths
from vitruvian.systems import BodySystem, Measure, Now
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

CAMERAS = (
    Camera("corner", (2.9, -4.4, 1.9), (0.0, 0.0, 0.72)),
    Camera("front", (0.0, -5.2, 1.5), (0.0, 0.0, 0.72)),
    Camera("side", (5.2, 0.0, 1.5), (0.0, 0.0, 0.72)),
)
# How it starts: turn of the pelvis [degrees], height of its lowest flesh [m], turn about the feet [rad/s].
STARTS = {
    "standing": ((0.0, 0.0, 0.0), 0.0, 0.0),
    "dropped": ((0.0, 0.0, 0.0), 0.5, 0.0),
    "prone": ((90.0, 0.0, 0.0), 0.02, 0.0),
    "supine": ((-90.0, 0.0, 0.0), 0.02, 0.0),
    "forward": ((0.0, 0.0, 0.0), 0.0, 1.0),
    "backward": ((0.0, 0.0, 0.0), 0.0, -1.0),
}
STILL = {"standing": 3.9, "dropped": 3.9, "prone": 1.9, "supine": 1.9, "backward": 3.9}  # [s] by when it lies still


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    s = body.skeleton
    free = parameters["pelvis"] == "free"
    contacts = body_contacts(body) if free else None
    q, v = _posed(body, (0.0, 0.0, 0.0)), np.zeros(s.n_v)
    if contacts is not None:
        q, v = started(body, parameters["start"], contacts)
    measures = [
        Measure(Signal("beyond", "rad", "worst excess over a joint's range"), lambda now: beyond_range(s, now.q).max()),
        Measure(Signal("gap", "m", "widest gap between rib and cartilage"), lambda now: spring_lengths(s, now.q).max()),
        Measure(Signal("energy", "J", "mechanical energy, of touches too"), _energy),
        Measure(Signal("speed", "rad/s", "fastest joint"), lambda now: np.abs(now.v[6:]).max()),
        Measure(Signal("head", "m", "height of the head"), lambda now: now.point("Sku")[2]),
        Measure(
            Signal("depth", "m", "deepest flesh", ("in the ground", "in itself")),
            lambda now: np.array(now.system.stepper.contact.depth(now.poses)),
        ),
    ]
    system = BodySystem(
        body, q, v, pelvis=parameters["pelvis"], contacts=contacts, measures=measures, cameras=CAMERAS, books=True
    )
    return World(system, None, substeps=int(parameters["steps"]))


def started(body: Body, start: str, contacts: Contacts) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (n_q,) and velocities (n_v,) at the beginning."""
    turn, height, tip = STARTS[start]
    s = body.skeleton
    q, v = _posed(body, turn), np.zeros(s.n_v)
    poses = bone_poses(s, q)
    low = []
    for cone in contacts.shapes:
        T = poses[s.index(str(cone.bone))]
        low += [(T[:3, :3] @ end + T[:3, 3])[2] - r for end, r in zip((cone.start, cone.end), cone.radius)]
    q[2] += height - min(low)
    v[0], v[4] = tip, -tip * q[2]
    return q, v


def _posed(body: Body, turn: tuple[float, float, float]) -> np.ndarray:
    table = {**HANGING, "elbow": 8, "hip": [-3, 0, 0], "knee": 8, "ankle": -5, "pelvis": {"turn": list(turn)}}
    return Relaxer(body).rest(pose(body, table))


def _energy(now: Now) -> float:
    """Kinetic, potential, and what touches hold as springs [J]."""
    total = float(energy(now.skeleton, now.q, now.v).total)
    return total + float(now.system.stepper.contact.stored(now.poses))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    start, free = parameters["start"], parameters["pelvis"] == "free"
    report = Report()
    head = s["head"]
    report.metrics |= {
        "head_falls_m": float(head[0] - head[-1]),
        "worst_beyond_range_deg": float(np.degrees(s["beyond"].max())),
        "deepest_in_ground_mm": float(1e3 * s["depth"][:, 0].max()),
        "deepest_in_itself_mm": float(1e3 * s["depth"][:, 1].max()),
        "final_depth_mm": float(1e3 * s["depth"][-1].max()),
        "widest_gap_mm": float(1e3 * s["gap"].max()),
        "final_speed_rad_s": float(s["speed"][-1]),
        "energy_gain_j": float(max(0.0, np.max(np.diff(s["energy"])))),
    }
    report.checks["ribs stay at their cartilages (30 mm)"] = report.metrics["widest_gap_mm"] <= 30.0
    report.checks["energy never grows"] = report.metrics["energy_gain_j"] < 1e-3
    report.checks["no joint more than 3 degrees beyond its range"] = report.metrics["worst_beyond_range_deg"] <= 3.0
    report.checks["nothing deeper than 5 mm in the ground"] = report.metrics["deepest_in_ground_mm"] <= 5.0
    report.checks["nothing deeper than 5 mm in itself"] = report.metrics["deepest_in_itself_mm"] <= 5.0
    if time[-1] > 2.5 and start not in ("prone", "supine"):
        report.checks["the body collapses"] = report.metrics["head_falls_m"] > (0.4 if free else 0.1)
    if free and start in STILL and time[-1] > STILL[start]:
        report.checks["it comes to rest (0.2 rad/s)"] = report.metrics["final_speed_rad_s"] <= 0.2
    return report


scene = Scene(
    name="collapse",
    summary="All muscles off: the body falls, lands on its flesh and rests in its ligaments",
    answers="Lee 2008, section 5.1.1",
    seconds=4.0,
    build=build,
    check=check,
    parameters={
        "start": Parameter("standing", "how it is let go", choices=tuple(STARTS)),
        "pelvis": Parameter(
            "free", "free, or fixed so that only the upper body and legs give way", choices=("free", "fixed")
        ),
        "steps": replace(STEPS, default=8),
    },
    qualities={"draft": {"steps": 8}, "standard": {}, "fine": {"steps": 64}},
)
