"""Breathing by the muscles between the ribs: they turn about their necks, front ends up and out, and sink again.

Without a diaphragm (Lee 2008, 5.1.2.1) intercostals do the work: the external ones raise, the internal ones lower.
Rib 7 turning about a level axis by 7 degrees is a full breath from rest to total capacity (Wilson 1987); a quiet one
is about a tenth of the volume.

    vitruvian run ribs --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.control import ComputedMuscleControl, Gains, load_motion
from vitruvian.scenes._body import RATE, STEPS, missing_metrics
from vitruvian.spatial import log_so3
from vitruvian.systems import BodySystem, Measure, Now, tracking_measures
from vitruvian.systems.body import BODY_CAMERAS
from vitruvian.world import Recording, Report, Scene, Signal, World

FRONT = {"Rb3_l": (0.060, -0.133, -0.078), "Rb7_l": (0.087, -0.161, -0.134)}  # front ends in the ribs' frames [m]
FULL_BREATH = {"Rb3": 11.0, "Rb7": 7.0}  # pump-handle turn from rest to total capacity [degrees], Wilson 1987
SPARED = 4.0  # weight of all muscles but the intercostals


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    motion = load_motion(body, "breathe")
    s, m = body.skeleton, body.muscles
    outer, inner = m.named("external_intercostal"), m.named("internal_intercostal")

    def turns(now: Now) -> np.ndarray:
        out = []
        for rib in ("Rb3_l", "Rb7_l"):
            chest = now.poses[s.parent[s.index(rib)], :3, :3]
            out.append(-log_so3(chest.T @ now.poses[s.index(rib), :3, :3])[0])
        return np.array(out)

    def rise(now: Now) -> np.ndarray:
        return np.array([*(now.point(rib, p)[2] for rib, p in FRONT.items()), now.point("Ste", (0.0, -0.06, -0.2))[2]])

    def effort(now: Now) -> np.ndarray:
        a = now.state.activation
        return np.array([a[outer].mean(), a[inner].mean()])

    measures = [
        *tracking_measures(body, motion, {"rib7": ("Rb7_l", 0)}),
        Measure(Signal("turn", "rad", "ribs about a level axis", ("rib 3", "rib 7")), turns),
        Measure(Signal("height", "m", "front ends", ("rib 3", "rib 7", "sternum")), rise),
        Measure(Signal("effort", "1", "mean activation", ("external", "internal")), effort),
    ]
    simulation = BodySystem(
        body, motion.sample(0.0)[0], measures=measures, cameras=(BODY_CAMERAS[3], *BODY_CAMERAS[:3])
    )
    weight = np.where(np.isin(np.arange(m.n_muscles), [*outer, *inner]), 1.0, SPARED)
    controller = ComputedMuscleControl(
        body, simulation.stepper.twin(), motion, Gains(rate=parameters["rate"], sensor_lag=0.0), weight=weight
    )
    return World(simulation, controller, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    turn = np.degrees(np.ptp(recording.signals["turn"], axis=0))
    lift = 1e3 * np.ptp(recording.signals["height"], axis=0)
    effort, height = recording.signals["effort"], recording.signals["height"][:, 1]
    report = Report()
    report.metrics |= {
        "rib3_turn_deg": float(turn[0]),
        "rib7_turn_deg": float(turn[1]),
        "rib3_rise_mm": float(lift[0]),
        "rib7_rise_mm": float(lift[1]),
        "sternum_rise_mm": float(lift[2]),
    }
    report.metrics |= missing_metrics(recording)
    report.checks["lower ribs turn by a human breath (rib 7: 0.7 to 7 degrees)"] = bool(
        0.7 <= turn[1] <= FULL_BREATH["Rb7"]
    )
    report.checks["upper ribs turn by a human breath (rib 3: 1.1 to 11 degrees)"] = bool(
        1.1 <= turn[0] <= FULL_BREATH["Rb3"]
    )
    if recording.time[-1] >= 4.0:
        up = height > np.quantile(height, 0.7)
        down = height < np.quantile(height, 0.3)
        report.checks["external intercostals work more when ribs are up"] = bool(
            effort[up, 0].mean() > effort[down, 0].mean()
        )
        report.metrics["external_up_over_down"] = float(effort[up, 0].mean() / max(effort[down, 0].mean(), 1e-9))
    return report


scene = Scene(
    name="ribs",
    summary="The rib cage breathes by the muscles between the ribs",
    answers="Lee 2008, figure 5.19",
    seconds=8.0,
    build=build,
    check=check,
    parameters={"rate": RATE, "steps": STEPS},
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 16, "rate": 240.0}},
)
