"""A dumbbell curl by computed muscle activations; in the middle of the hold the dumbbells suddenly grow heavier.

The controller meets the motion within a fraction of a degree. It learns of the new weight through its lagging senses
(Lee 2008, 5.3.5), so the arms sink and come back, as in his figure 5.18. With `sensor_lag=0` it knows at once, and
the pose is held perfectly, which looks wrong: that is the point of the lag.

    vitruvian run curl --view
    vitruvian run curl --set sensor_lag=0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.human import human
from vitruvian.control.computed_muscle import Gains
from vitruvian.control.motion import load_motion
from vitruvian.scenes._body import (
    RATE,
    STEPS,
    controlled_world,
    deviation,
    dumbbell,
    dumbbell_mesh,
    missing_metrics,
    tracking_measures,
)
from vitruvian.world.body import BodySimulation, Held
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.world import World

HANDS = (("Ha_l", "l"), ("Ha_r", "r"))
WATCHED = {"elbow": ("Ul_l", 0), "elbow_right": ("Ul_r", 0), "wrist": ("Ha_l", 0), "wrist_right": ("Ha_r", 0)}


def build(parameters: Mapping[str, Any]) -> World:
    body = human(parameters["body"])
    motion = load_motion(body, "curl")
    light, heavy, at = parameters["mass"], parameters["mass"] + parameters["added"], parameters["step_at"]
    held = [Held(bone, dumbbell(light, side), end=at) for bone, side in HANDS]
    held += [Held(bone, dumbbell(heavy, side), start=at) for bone, side in HANDS]
    simulation = BodySimulation(
        body,
        motion.sample(0.0)[0],
        held=held,
        meshes=[dumbbell_mesh(bone) for bone, _ in HANDS],
        grips=("l", "r"),
        measures=tracking_measures(body, motion, WATCHED),
    )
    gains = Gains(
        stiffness=parameters["stiffness"],
        damping=2.0 * np.sqrt(parameters["stiffness"]),
        rate=parameters["rate"],
        sensor_lag=parameters["sensor_lag"],
    )
    return controlled_world(
        simulation,
        motion,
        gains,
        parameters["steps"],
        coactivation=parameters["coactivation"],
        regions=parameters["regions"],
    )


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, at = recording.time, parameters["step_at"]
    off = {name: deviation(recording.signals[name]) for name in WATCHED}
    before, after = time < at, time >= at
    report = Report()
    rms = float(np.sqrt(np.mean([off[n][before] ** 2 for n in ("elbow", "elbow_right")])))
    report.metrics["tracking_rms_deg"] = rms
    report.metrics["largest_activation"] = float(recording.signals["activation"][:, 1].max())
    report.metrics |= missing_metrics(recording)
    report.checks["elbows follow the motion within 2 degrees rms"] = rms < 2.0
    if after.any() and time[-1] >= at + 1.0:
        dip = max(float(np.abs(off[n][after]).max()) for n in WATCHED)
        report.metrics["dip_deg"] = dip
        report.metrics["elbow_dip_deg"] = float(np.abs(off["elbow"][after]).max())
        report.metrics["wrist_dip_deg"] = float(np.abs(off["wrist"][after]).max())
        if parameters["sensor_lag"] == 0:
            report.checks["with senses that do not lag, nothing moves (0.5 degrees)"] = dip < 0.5
        else:
            report.checks["the arms dip by 2 to 25 degrees"] = 2.0 <= dip <= 25.0
        late = time >= min(at + 2.0, time[-1])
        back = max(float(np.abs(off[n][late]).max()) for n in WATCHED)
        report.metrics["back_within_deg"] = back
        report.checks["back within 3 degrees after 2 s"] = back < 3.0
    return report


scene = Scene(
    name="curl",
    summary="A dumbbell curl by 846 muscles; the weight suddenly grows, the arms dip and recover",
    answers="Lee 2008, figures 5.15, 5.17 and 5.18",
    seconds=4.5,
    build=build,
    check=check,
    parameters={
        "mass": Parameter(2.0, "of each dumbbell", "kg", low=0.0, high=12.0),
        "added": Parameter(4.0, "what each dumbbell suddenly weighs more", "kg", low=0.0, high=12.0),
        "step_at": Parameter(2.2, "when", "s", low=0.0, high=60.0),
        "sensor_lag": Parameter(0.2, "lag of the force senses, 0 for none", "s", low=0.0, high=5.0),
        "stiffness": Parameter(100.0, "k_p of the feedback; k_v is critical", "1/s²", low=1.0, high=5000.0),
        "coactivation": Parameter(0.0, "of agonists and antagonists", low=0.0, high=5.0),
        "regions": Parameter(False, "solve activations part by part, as Lee does"),
        "body": Parameter("corrected", "parameter set of the body", choices=("corrected", "printed")),
        "rate": RATE,
        "steps": STEPS,
    },
    qualities={"draft": {"steps": 6, "rate": 90.0}, "standard": {}, "seed": {"steps": 32, "rate": 480.0}},
)
