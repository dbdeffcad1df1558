"""A head that follows a measured motion: its orientation against the chest is what the neck's muscles are asked for.

Steering (Lee 2008, 4.4.3): the wanted turn is that to where the measured head will be `lead` later (0.12 s; a third
of a second in the thesis). The head follows, and smooths what is jittery in the data (figure 4.6).

    vitruvian run head-track --view
    vitruvian run head-track --set motion=dance.bvh
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.control.head import HeadSettings, Steered
from vitruvian.control.head.goals import Sampled
from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.measured import trial_motion
from vitruvian.scenes._head import PARAMETERS, QUALITIES, head_body, head_system
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import exp_so3, log_so3
from vitruvian.systems import Measure
from vitruvian.world import Parameter, Recording, Report, Scene, Signal, World

RATE = 60.0  # [1/s] at which the measured head is sampled
AXES = ("nodding", "tilting", "turning")


def measured_head(source: str, seconds: float, exaggerated: float) -> Sampled:
    """The head against the chest in a measured motion, turned `exaggerated` times as far."""
    trial = read_trial(source)
    if trial.segments is not None and "Sku" not in trial.segments.turns:
        raise InputError(f"'{source}': the motion has no joint for the head (Head)")
    body = human()
    motion = trial_motion(trial, body)
    s = body.skeleton
    head, chest = s.index("Sku"), s.index("T1")
    turns = []
    for time in np.arange(0.0, seconds, 1.0 / RATE):
        poses = bone_poses(s, motion.sample(time)[0])
        turns.append(log_so3(poses[chest, :3, :3].T @ poses[head, :3, :3]))
    if np.ptp(turns, axis=0).max() < 1e-4:
        raise InputError(f"'{source}': the head does not move against the chest; were its markers measured?")
    return Sampled(np.array([exp_so3(exaggerated * t) for t in turns]), 1.0 / RATE)


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)
    goal = measured_head(parameters["motion"], 12.0, parameters["exaggerated"])
    wanted = Measure(
        Signal("wanted", "rad", "orientation of the measured head", AXES), lambda now: log_so3(goal.wanted(now.time))
    )
    settings = HeadSettings(tone=parameters["tone"])
    system, control = head_system(body, parameters, Steered(goal, parameters["lead"]), settings, measures=[wanted])
    angles, _ = control.chain.solve(goal.wanted(0.0))
    system.q0 = control.chain.placed(body.default_q, angles)
    return World(system, control, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    head, wanted = recording.signals["head"], recording.signals["wanted"]
    time = recording.time
    report = Report()
    report.metrics["wanted_range_deg"] = float(np.degrees(np.ptp(wanted, axis=0).max()))
    report.metrics["tracking_rms_deg"] = float(np.degrees(np.sqrt(np.mean((head - wanted) ** 2))))
    late = [
        float(np.mean((head - np.stack([np.interp(time - d, time, w) for w in wanted.T], axis=1))[time > 0.5] ** 2))
        for d in np.arange(0.0, 0.4, 0.02)
    ]
    report.metrics["lag_s"] = float(0.02 * int(np.argmin(late)))
    report.checks["the head follows within a quarter of its range, rms"] = (
        report.metrics["tracking_rms_deg"] < 0.25 * report.metrics["wanted_range_deg"]
    )
    return report


scene = Scene(
    name="head-track",
    summary="A head follows a measured motion by its neck muscles",
    answers="Lee 2008, figure 4.6",
    seconds=2.5,
    build=build,
    check=check,
    parameters={
        "motion": Parameter("dance", "dance, or a measured file: .bvh, .c3d, .trc, .csv"),
        "exaggerated": Parameter(1.0, "times by which the measured turns are enlarged", low=0.1, high=10.0),
        "lead": Parameter(0.12, "time in which the head is to reach the motion", "s", low=0.05, high=2.0),
        "tone": Parameter(0.1, "coactivation c", low=0.0, high=0.4),
        **PARAMETERS,
    },
    qualities=QUALITIES,
)
