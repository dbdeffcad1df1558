"""A squat by muscles and the ground alone: down, hold, up. No hand holds the pelvis.

The centre of mass goes as low as the key poses say and stays over the soles (`control.stance`). Measured: depth, how
closely centre of mass and joints follow, where the centre of pressure is in the soles, how far the soles slide.

    vitruvian run squat --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import body_contacts, human
from vitruvian.control.stance import Follow, StanceGains, posture_weights
from vitruvian.scenes._body import MOTION, STEPS, missing_metrics, scene_motion
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.scenes._stance import STANDING_CAMERAS, GroundedMotion, stance_measures, stance_world, steady_metrics
from vitruvian.skeleton import centre_of_mass
from vitruvian.systems import BodySystem, Measure, tracking_measures
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    motion = GroundedMotion.of(body, scene_motion(body, parameters["motion"]))

    def wanted(now: Any) -> float:
        return float(centre_of_mass(body.skeleton, motion.sample(now.time)[0])[2])

    measures = [
        *stance_measures(body),
        *tracking_measures(body, motion, {"knee": ("Tfp_l", 0), "ankle": ("Fo_l", 0)}),
        Measure(Signal("wanted_height", "m", "height of the centre of mass that is asked for"), wanted),
    ]
    system = BodySystem(
        body, motion.sample(0.0)[0], pelvis="free", contacts=body_contacts(body), measures=measures,
        cameras=STANDING_CAMERAS, books=True, breathing=breathing_of(parameters, body), skin=True,
    )  # fmt: skip
    gains = StanceGains(rate=parameters["rate"])
    return stance_world(system, Follow(body, motion, posture_weights(body)), gains, parameters["steps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    report = Report()
    height = s["centre"][:, 2]
    report.metrics |= steady_metrics(recording)
    breath_metrics(report, recording)
    report.metrics |= {
        "goes_down_m": float(height[0] - height.min()),
        "height_off_mm": float(1e3 * np.abs(height - s["wanted_height"]).max()),
        "tracking_rms_deg": float(np.degrees(np.sqrt(np.mean(s["error"] ** 2)))),
        "largest_knee_deg": float(np.degrees(s["knee"][:, 0].max())),
    }
    report.metrics |= missing_metrics(recording)
    report.checks["no hand: no work but of muscles, joints and contact"] = report.metrics["push_work_j"] == 0.0
    report.checks["the centre of mass is as high as asked for (5 cm)"] = report.metrics["height_off_mm"] < 50.0
    report.checks["the soles do not slide (1 cm)"] = report.metrics["soles_slide_mm"] < 10.0
    if time[-1] >= 1.4 and parameters["motion"] == "squat":
        report.checks["it goes down by 15 cm or more"] = report.metrics["goes_down_m"] > 0.15
    if time[-1] >= 2.9 and parameters["motion"] == "squat":
        report.checks["it stands again (3 cm)"] = bool(abs(height[-1] - height[0]) < 0.03)
    return report


scene = Scene(
    name="squat",
    summary="A squat by muscles on true contact, no hand at the pelvis",
    answers="standing without a fictitious hand",
    seconds=3.2,
    build=build,
    check=check,
    parameters={
        "motion": Parameter("squat", MOTION),
        "breathing": BREATHING,
        "rate": Parameter(120.0, "control decisions a second", "1/s", low=20.0, high=2000.0),
        "steps": STEPS,
    },
    qualities={"draft": {"steps": 8}, "standard": {}, "fine": {"steps": 32, "rate": 240.0}},
)
