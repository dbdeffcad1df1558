"""Standing under a push: ankles, hips and trunk bring the centre of mass back over the soles. No hand holds the pelvis.

The push on the chest comes unannounced; the controller sees only where the body is and how it moves, and plans with
muscles and forces of the ground inside friction cones (`control.stance`). Where the capture point leaves the soles
ahead it takes a step (`control.stance.catch`), unless it is told to stay; a push that is too much for that, or too
strong backwards or sideways, makes it fall, which is reported.

    vitruvian run balance --view
    vitruvian run balance --set push=500                          steps ahead and stands
    vitruvian run balance --set push=500 --set footwork=stay      on both feet alone
    vitruvian run balance --set head=gaze --set look=2,-2,1.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import body_contacts, human
from vitruvian.control import HANGING, Relaxer, pose
from vitruvian.control.stance import Catch, Follow, Plan, StanceGains, posture_weights
from vitruvian.scenes._body import STEPS, missing_metrics
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.scenes._carried import PARAMETERS as HEAD
from vitruvian.scenes._carried import carry_head, head_up_measure
from vitruvian.scenes._stance import (
    STANDING_CAMERAS,
    GroundedMotion,
    StillMotion,
    stance_measures,
    stance_world,
    steady_metrics,
)
from vitruvian.systems import BodySystem, Push
from vitruvian.world import Parameter, Recording, Report, Scene, World

WAYS = {"front": (0.0, -1.0, 0.0), "back": (0.0, 1.0, 0.0), "left": (1.0, 0.0, 0.0), "right": (-1.0, 0.0, 0.0)}
AT, LASTS = 1.0, 0.1  # [s]
STEPPED = 0.05  # [m] by which a foot that stepped has gone


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    table = {**HANGING, "elbow": 12, "pelvis": {"shift": [0, 0, -0.02]}, "feet": -0.005}
    still = StillMotion(Relaxer(body).rest(pose(body, table)), body.skeleton.n_v)
    motion = GroundedMotion.of(body, still)
    force = parameters["push"] * np.array(WAYS[parameters["direction"]])
    system = BodySystem(
        body, motion.sample(0.0)[0], pelvis="free", contacts=body_contacts(body),
        measures=[*stance_measures(body), head_up_measure()],
        pushes=[Push("T6", (float(force[0]), float(force[1]), float(force[2])), AT, LASTS)],
        cameras=STANDING_CAMERAS, books=True, breathing=breathing_of(parameters, body), skin=True,
    )  # fmt: skip
    gains = StanceGains(rate=parameters["rate"], swing_weight=60.0)
    weights = posture_weights(body)
    plan: Plan = Catch(body, motion, weights) if parameters["footwork"] == "step" else Follow(body, motion, weights)
    world = stance_world(system, plan, gains, parameters["steps"])
    return carry_head(world, body, parameters)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    centre = s["centre"]
    report = Report()
    report.metrics |= steady_metrics(recording)
    breath_metrics(report, recording)
    before = centre[np.searchsorted(time, AT) - 1]
    report.metrics |= {
        "push_n_s": float(parameters["push"] * LASTS),
        "farthest_mm": float(1e3 * np.linalg.norm(centre[:, :2] - before[:2], axis=1)[time >= AT].max(initial=0.0)),
        "final_height_m": float(centre[-1, 2]),
        "final_speed_m_per_s": float(np.linalg.norm(np.diff(centre, axis=0)[-1]) / np.diff(time)[-1]),
        "head_tilt_deg": float(np.degrees(s["head_tilt"].max())),
        "head_tilt_change_deg": float(np.degrees(s["head_tilt"][time >= AT].max(initial=0.0) - s["head_tilt"][0])),
        "largest_activation": float(s["activation"][:, 1].max()),
    }
    report.metrics |= missing_metrics(recording)
    report.checks["it stands"] = bool(centre[-1, 2] > 0.95 * centre[0, 2])
    if parameters["footwork"] == "step" and report.metrics["soles_slide_mm"] > 1e3 * STEPPED:
        report.metrics["step_m"] = 1e-3 * float(report.metrics.pop("soles_slide_mm"))
    else:
        report.checks["the soles do not slide (2 cm)"] = report.metrics["soles_slide_mm"] < 20.0
    if time[-1] >= 2.9:
        report.checks["it has come to rest (0.1 m/s)"] = report.metrics["final_speed_m_per_s"] < 0.1
    return report


scene = Scene(
    name="balance",
    summary="Standing under a push by muscles on true contact, no hand at the pelvis",
    answers="standing without a fictitious hand",
    seconds=3.0,
    build=build,
    check=check,
    parameters={
        "push": Parameter(200.0, "force on the chest for 0.1 s", "N", low=0.0, high=2000.0),
        "direction": Parameter("front", "way of the push", choices=tuple(WAYS)),
        "footwork": Parameter("step", "where standing is not enough", choices=("step", "stay")),
        "breathing": BREATHING,
        "rate": Parameter(120.0, "control decisions a second", "1/s", low=20.0, high=2000.0),
        "steps": STEPS,
        **HEAD,
    },
    qualities={"draft": {"steps": 8}, "standard": {}, "fine": {"steps": 32, "rate": 240.0}},
)
