"""A jump from key poses: crouch, push off, fly, land, stand. All joints are driven by muscles; a fictitious wrench
balances the pelvis.

As in Lee 2008, figure 5.20, inverse dynamics gives the wrench on the pelvis that muscles and ground alone would not;
its size is reported beside body weight. The ground carries the feet by damped springs with friction.

    vitruvian run jump --view
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.control import Gains
from vitruvian.couple import Contacts
from vitruvian.scenes._body import MOTION, STEPS, missing_metrics, scene_motion
from vitruvian.systems import BodySystem, Measure, Now, tracking_measures, tracking_world
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

SOLE = ((-0.01, 0.055, -0.060), (-0.035, -0.13, -0.060), (0.045, -0.11, -0.060), (0.0, -0.19, -0.058))  # left foot [m]
CAMERAS = (
    Camera("corner", (3.6, -4.0, 1.5), (0.0, 0.0, 1.0)),
    Camera("side", (5.4, 0.0, 1.2), (0.0, 0.0, 1.0)),
    Camera("front", (0.0, -5.4, 1.2), (0.0, 0.0, 1.0)),
)


def soles(body: Body) -> Contacts:
    """Four points under each foot."""
    bones, points = [], []
    for bone in body.bones_named("ankle"):
        flip = -1.0 if bone.endswith("_r") else 1.0
        bones += [bone] * len(SOLE)
        points += [(flip * x, y, z) for x, y, z in SOLE]
    return Contacts(tuple(bones), np.array(points), stiffness=2e4, damping=400.0)


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    motion = scene_motion(body, parameters["motion"])
    s = body.skeleton
    weight = s.mass * float(np.linalg.norm(s.gravity))

    def lowest(now: Now) -> float:
        return min(
            now.point(b, (p[0] * (-1 if b.endswith("_r") else 1), *p[1:]))[2] for b in ("Fo_l", "Fo_r") for p in SOLE
        )

    def ground(now: Now) -> float:
        simulation.stepper.assemble(now.state.q, now.state.v, now.state.activation, 1e-6, fibre=now.state.fibre)
        return float(simulation.stepper.links.ground[:, 2].sum())

    def wrench(now: Now) -> np.ndarray:
        given = None if now.controls is None else now.controls.root_force
        root = np.zeros(6) if given is None else given
        return np.array([np.linalg.norm(root[3:]), np.linalg.norm(root[:3])])

    measures = [
        *tracking_measures(body, motion, {"knee": ("Tfp_l", 0)}),
        Measure(Signal("clearance", "m", "lowest point of the soles"), lowest),
        Measure(Signal("ground", "N", "force of the ground"), ground),
        Measure(Signal("fictitious", "N, N m", "wrench on the pelvis", ("force", "moment")), wrench),
        Measure(Signal("weight", "N", "of the body"), lambda now: weight),
        Measure(Signal("pelvis", "m", "height of the pelvis"), lambda now: now.state.q[2]),
    ]
    simulation = BodySystem(
        body, *motion.sample(0.0)[:2], pelvis="free", contacts=soles(body), measures=measures, cameras=CAMERAS
    )
    gains = Gains(stiffness=400.0, damping=40.0, rate=parameters["rate"], sensor_lag=0.0)
    return tracking_world(simulation, motion, gains, parameters["steps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    step = float(np.median(np.diff(time)))
    flying = s["clearance"] > 0.01
    report = Report()
    report.metrics |= {
        "clearance_m": float(s["clearance"].max()),
        "flight_s": float(flying.sum() * step),
        "ground_peak_n": float(s["ground"].max()),
        "ground_in_flight_n": float(s["ground"][flying].max()) if flying.any() else 0.0,
        "fictitious_force_rms_n": float(np.sqrt(np.mean(s["fictitious"][:, 0] ** 2))),
        "body_weight_n": float(s["weight"][0]),
        "tracking_rms_deg": float(np.degrees(np.sqrt(np.mean(s["error"] ** 2)))),
    }
    report.metrics |= missing_metrics(recording)
    report.checks["joints follow within 4 degrees rms"] = report.metrics["tracking_rms_deg"] < 4.0
    if time[-1] >= 2.5 and parameters["motion"] == "jump":  # what another motion does is its own affair
        report.checks["both feet leave the ground by 5 cm"] = report.metrics["clearance_m"] > 0.05
        report.checks["the flight lasts 0.15 to 0.8 s"] = 0.15 < report.metrics["flight_s"] < 0.8
        report.checks["the ground does not pull in flight"] = report.metrics["ground_in_flight_n"] == 0.0
        report.checks["it lands: the ground pushes harder than body weight"] = bool(
            report.metrics["ground_peak_n"] > report.metrics["body_weight_n"]
        )
    return report


scene = Scene(
    name="jump",
    summary="Crouch, jump, land: key poses by muscles, a fictitious wrench on the pelvis, ground contact",
    answers="Lee 2008, figure 5.20",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "motion": Parameter("jump", MOTION),
        "rate": Parameter(240.0, "control decisions a second", "1/s", low=20.0, high=2000.0),
        "steps": replace(STEPS, default=8),
    },
    qualities={"draft": {"steps": 8, "rate": 120.0}, "standard": {}, "seed": {"steps": 32, "rate": 480.0}},
)
