"""A jump by muscles and the ground alone: crouch, push off, fly, land. No hand holds the pelvis.

The stance controller plans with forces of the ground inside friction cones (`control.stance`); in the air there is
nothing but weight, so the centre of mass flies a parabola whatever the muscles do. Measured: how high and how long the
soles fly, the largest outside force in flight beside weight (none), how far the centre of mass leaves its parabola, and
the ground's peak force at landing, and whether it stands again in the end.

    vitruvian run jump --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import body_contacts, human
from vitruvian.control.stance import Jump, StanceGains, posture_weights, soles
from vitruvian.scenes._body import MOTION, STEPS, missing_metrics, scene_motion
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.scenes._stance import SPINE, GroundedMotion, stance_measures, stance_world
from vitruvian.systems import BodySystem, Measure
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

CAMERAS = (
    Camera("corner", (3.6, -4.0, 1.5), (0.0, 0.0, 1.0)),
    Camera("side", (5.4, 0.0, 1.2), (0.0, 0.0, 1.0)),
    Camera("front", (0.0, -5.4, 1.2), (0.0, 0.0, 1.0)),
)
LEAVES, LANDS, PUSHES = 0.93, 1.38, 0.62  # [s] in the motion


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    motion = GroundedMotion.of(body, scene_motion(body, parameters["motion"]))
    plan = Jump(body, motion, posture_weights(body, spine=SPINE), LEAVES, LANDS, PUSHES, push=parameters["push"])
    measures = [
        *stance_measures(body),
        Measure(Signal("clearance", "m", "lowest point of the soles"), lambda now: soles(body, now.q)[:, 2].min()),
    ]
    system = BodySystem(
        body,
        *motion.sample(0.0)[:2],
        pelvis="free",
        contacts=body_contacts(body),
        measures=measures,
        cameras=CAMERAS,
        books=True,
        breathing=breathing_of(parameters, body),
        skin=True,
    )
    gains = StanceGains(stiffness=200.0, damping=28.0, rate=parameters["rate"])
    return stance_world(system, plan, gains, parameters["steps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    flying = (s["ground"][:, 2] == 0.0) & (s["clearance"] > 0.005) & (s["centre"][:, 2] > 1.0)
    report = Report()
    breath_metrics(report, recording)
    report.metrics |= {
        "clearance_m": float(s["clearance"].max()),
        "flight_s": float(flying.sum() * np.median(np.diff(time))),
        "rise_of_centre_m": float(s["centre"][:, 2].max() - s["centre"][0, 2]),
        "ground_peak_n": float(s["ground"][:, 2].max()),
        "body_weight_n": float(s["weight"][0]),
        "outside_force_in_flight_n": float(np.abs(s["ground"][flying]).max()) if flying.any() else 0.0,
        "push_work_j": float(s["work"][-1, 1]),
    }
    report.metrics |= missing_metrics(recording)
    report.checks["no hand: no work but of muscles, joints and contact"] = report.metrics["push_work_j"] == 0.0
    if time[-1] >= 1.3:
        report.checks["both feet leave the ground"] = report.metrics["clearance_m"] > 0.01
        report.checks["the flight lasts 0.1 to 0.8 s"] = 0.1 < report.metrics["flight_s"] < 0.8
        t, z = time[flying], s["centre"][flying, 2]
        if len(t) > 3:
            fit = np.polyfit(t, z, 2)
            report.metrics["fall_m_per_s2"] = float(-2.0 * fit[0])
            off = float(np.abs(np.polyval(fit, t) - z).max())
            report.metrics["off_parabola_mm"] = 1e3 * off
            report.checks["in the air it falls at 9.81 m/s² (2 %)"] = bool(abs(-2.0 * fit[0] - 9.81) < 0.2)
        if time[-1] >= 2.3:
            report.metrics["final_height_m"] = float(s["centre"][-1, 2])
            report.checks["it stands again"] = bool(s["centre"][-1, 2] > 0.95 * s["centre"][0, 2])
        report.checks["it lands: the ground pushes harder than body weight"] = bool(
            report.metrics["ground_peak_n"] > report.metrics["body_weight_n"]
        )
    return report


scene = Scene(
    name="jump",
    summary="Crouch, jump, land: muscles and true contact alone, no hand at the pelvis",
    answers="Lee 2008, figure 5.20",
    seconds=2.4,
    build=build,
    check=check,
    parameters={
        "motion": Parameter("jump", MOTION),
        "push": Parameter(7.0, "upward acceleration of the push-off", "m/s²", low=2.0, high=20.0),
        "breathing": BREATHING,
        "rate": Parameter(120.0, "control decisions a second", "1/s", low=20.0, high=2000.0),
        "steps": STEPS,
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 32, "rate": 240.0}},
)
