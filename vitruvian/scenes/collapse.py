"""All muscles off: the body sinks to the ground and comes to rest in its ligaments.

Nothing but joint springs, stops, discs, cartilage and passive muscle holds it together. Measured: the widest gap
between a rib and its cartilage (at most 30 mm), mechanical energy from frame to frame (never up by 1 J), the fall of
the head, and that a body let go lies still after 4 s (every joint slower than 0.2 rad/s). By how much the worst joint
exceeds its range is reported; stops are springs, so it does. With the pelvis fixed, legs and arms still swing at the
end, and rest is not asked for.

    vitruvian run collapse --view
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.control import HANGING, Relaxer, pose
from vitruvian.couple import Contacts
from vitruvian.scenes._body import STEPS
from vitruvian.skeleton import energy, spring_lengths
from vitruvian.spatial import quaternion_product, rotation_vector
from vitruvian.systems import BodySystem, Measure, Now
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

CAMERAS = (
    Camera("corner", (2.9, -4.4, 1.9), (0.0, 0.0, 0.72)),
    Camera("front", (0.0, -5.2, 1.5), (0.0, 0.0, 0.72)),
    Camera("side", (5.2, 0.0, 1.5), (0.0, 0.0, 0.72)),
)
# Balls of flesh that touch the ground: bone, centre in its frame (left side) [m], radius [m].
TOUCHING = (
    ("Fo", (-0.01, 0.045, -0.035), 0.025),
    ("Fo", (-0.02, -0.13, -0.040), 0.020),
    ("Fo", (0.04, -0.11, -0.040), 0.020),
    ("Tfp", (0.0, -0.03, 0.0), 0.045),
    ("Tfp", (0.015, 0.03, -0.20), 0.055),
    ("Fe", (0.02, 0.01, -0.25), 0.070),
    ("Fe", (0.06, 0.01, -0.03), 0.070),
    ("Pel", (0.09, 0.09, -0.14), 0.060),
    ("Pel", (0.0, 0.10, -0.02), 0.050),
    ("L3", (0.0, 0.08, 0.0), 0.030),
    ("T10", (0.0, 0.06, 0.0), 0.030),
    ("T6", (0.0, 0.055, 0.0), 0.030),
    ("T3", (0.0, 0.055, 0.0), 0.030),
    ("Cla", (0.10, 0.16, -0.08), 0.030),
    ("Cla", (0.18, 0.08, 0.01), 0.040),
    ("Rb7", (0.10, -0.02, -0.06), 0.030),
    ("Hu", (0.14, 0.045, 0.0), 0.040),
    ("Ul", (0.0, 0.0, 0.0), 0.035),
    ("Ha", (0.0, 0.0, 0.0), 0.025),
    ("Ha", (0.09, -0.005, 0.0), 0.018),
    ("Sku", (0.0, 0.05, 0.06), 0.085),
    ("Sku", (0.0, -0.06, 0.05), 0.070),
)


def touching(body: Body) -> Contacts:
    """Contacts all over the body."""
    bones, points, radii = [], [], []
    for base, point, radius in TOUCHING:
        for bone in body.bones_named(base):
            sides = (1.0, -1.0) if base == "Pel" and point[0] else (-1.0 if bone.endswith("_r") else 1.0,)
            for flip in sides:
                bones.append(bone)
                points.append((flip * point[0], *point[1:]))
                radii.append(radius)
    return Contacts(tuple(bones), np.array(points), np.array(radii), stiffness=1.5e4, damping=250.0, friction=0.8)


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    free = parameters["pelvis"] == "free"
    q = Relaxer(body).rest(pose(body, {**HANGING, "elbow": 8, "hip": [-3, 0, 0], "knee": 8, "ankle": -5}))
    over = beyond_range(body)
    contacts = touching(body) if free else None
    measures = [
        Measure(Signal("beyond", "rad", "worst excess over a joint's range"), lambda now: over(now).max()),
        Measure(
            Signal("gap", "m", "widest gap between rib and cartilage"),
            lambda now: spring_lengths(body.skeleton, now.state.q).max(),
        ),
        Measure(Signal("energy", "J", "mechanical energy"), lambda now: _energy(body, now, contacts)),
        Measure(Signal("speed", "rad/s", "fastest joint"), lambda now: np.abs(now.state.v[6:]).max()),
        Measure(Signal("head", "m", "height of the head"), lambda now: now.point("Sku")[2]),
    ]
    simulation = BodySystem(
        body,
        q,
        pelvis=parameters["pelvis"],
        contacts=contacts,
        measures=measures,
        cameras=CAMERAS,
    )
    return World(simulation, None, substeps=int(parameters["steps"]))


def beyond_range(body: Body) -> Callable[[Now], np.ndarray]:
    """A function of an instant: by how much each coordinate exceeds its range [rad], shape (n_v,)."""
    s = body.skeleton

    def over(now: Now) -> np.ndarray:
        out = np.zeros(s.n_v)
        for i, joint in enumerate(s.joints):
            if joint.n_v == 0 or joint.n_v == 6:
                continue
            q = now.state.q[s.q_start[i] : s.q_start[i + 1]]
            at = slice(s.v_start[i], s.v_start[i + 1])
            if joint.n_q != joint.n_v:
                neutral = s.neutral[s.q_start[i] : s.q_start[i + 1]] * (1.0, -1.0, -1.0, -1.0)
                q = rotation_vector(quaternion_product(neutral, q))
            out[at] = np.maximum(0.0, np.maximum(q - s.forces.high[at], s.forces.low[at] - q))
        return out

    return over


def _energy(body: Body, now: Now, contacts: Contacts | None) -> float:
    """Kinetic, potential, and what the ground's springs hold [J]."""
    total = float(energy(body.skeleton, now.state.q, now.state.v).total)
    if contacts is not None:
        at = [now.point(bone, point)[2] for bone, point in zip(contacts.bones, contacts.points)]
        depth = np.maximum(0.0, contacts.height + contacts.radius - np.array(at))
        total += 0.5 * contacts.stiffness * float(depth @ depth)
    return total


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    report = Report()
    head = s["head"]
    report.metrics |= {
        "head_falls_m": float(head[0] - head[-1]),
        "worst_beyond_range_deg": float(np.degrees(s["beyond"].max())),
        "widest_gap_mm": float(1e3 * s["gap"].max()),
        "final_speed_rad_s": float(s["speed"][-1]),
        "energy_gain_j": float(max(0.0, np.max(np.diff(s["energy"])))),
    }
    report.checks["ribs stay at their cartilages (30 mm)"] = report.metrics["widest_gap_mm"] <= 30.0
    report.checks["energy never grows"] = report.metrics["energy_gain_j"] < 1.0
    if time[-1] > 2.5:
        low = 0.4 if parameters["pelvis"] == "free" else 0.1
        report.checks["the body collapses"] = report.metrics["head_falls_m"] > low
    if time[-1] > 3.9 and parameters["pelvis"] == "free":
        report.checks["it comes to rest (0.2 rad/s)"] = report.metrics["final_speed_rad_s"] <= 0.2
    return report


scene = Scene(
    name="collapse",
    summary="All muscles off: the body sinks to the ground and rests in its ligaments",
    answers="Lee 2008, section 5.1.1",
    seconds=4.0,
    build=build,
    check=check,
    parameters={
        "pelvis": Parameter(
            "free", "free, or fixed so that only the upper body and legs give way", choices=("free", "fixed")
        ),
        "steps": replace(STEPS, default=8),
    },
    qualities={"draft": {"steps": 8}, "standard": {}, "seed": {"steps": 64}},
)
