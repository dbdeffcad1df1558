"""A head that follows a moving doll: the eyes leap to it, the head follows, the eyes come back to the middle.

The doll jumps between places and moves smoothly in between; the last place is close to the face, so that the eyes
converge (Lee 2008, 4.4.4 and figure 4.7).

    vitruvian run gaze --view
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control.head import GazeControl, HeadSettings
from vitruvian.control.head.eyes import EyeState
from vitruvian.scenes._head import PARAMETERS, QUALITIES, head_body, head_system
from vitruvian.systems import Measure, Now
from vitruvian.systems.head import target_layer
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
MIDDLE = np.array([0.0, -0.09, 1.838])  # between the eyes [m]
# time [s], yaw, pitch [degrees], distance [m] of the doll as seen from there; it jumps where the times are close
PLACES = np.array(
    [
        (0.0, 0.0, 0.0, 0.8),
        (1.0, 0.0, 0.0, 0.8),
        (1.001, 35.0, 0.0, 0.8),
        (2.5, 35.0, 0.0, 0.8),
        (2.501, -20.0, 15.0, 0.8),
        (4.0, -20.0, 15.0, 0.8),
        (6.0, 25.0, -10.0, 0.8),  # moves smoothly
        (7.0, 25.0, -10.0, 0.8),
        (7.001, 0.0, -5.0, 0.3),
        (9.0, 0.0, -5.0, 0.3),
    ]
)
HOLDS = ((1.7, 2.5), (3.3, 4.0), (6.4, 7.0), (8.0, 9.0))  # [s] after the saccade, the doll still
CAMERAS = (
    Camera("front", (0.55, -1.35, 1.95), (0.05, -0.2, 1.78)),
    Camera("side", (1.5, -0.4, 1.85), (0.0, -0.35, 1.78)),
)


def doll(time: float) -> Array:
    """Where it is [m] (3,)."""
    yaw, pitch, far = (np.interp(time, PLACES[:, 0], PLACES[:, k]) for k in (1, 2, 3))
    a, b = np.radians(yaw), np.radians(pitch)
    return np.asarray(MIDDLE + far * np.array([np.sin(a) * np.cos(b), -np.cos(a) * np.cos(b), np.sin(b)]))


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)

    def eyes(now: Now) -> EyeState:
        return EyeState() if now.controls is None else now.controls.told["eyes"]

    measures = [
        Measure(Signal("gaze_error", "rad", "gaze error, mean of both eyes"), lambda now: eyes(now).error),
        Measure(
            Signal("eyes", "rad", "eyes in the head", ("left yaw", "left pitch", "right yaw", "right pitch")),
            lambda now: eyes(now).angle.ravel(),
        ),
        Measure(
            Signal("saccade", "1", "latest saccade: size [rad], peak rate [rad/s]", ("size", "peak")),
            lambda now: np.array([eyes(now).size, eyes(now).peak]),
        ),
    ]
    system, control = head_system(
        body, parameters, None, HeadSettings(tone=parameters["tone"]), measures=measures, layers=[target_layer(doll)],
        cameras=CAMERAS,
    )  # fmt: skip
    return World(system, GazeControl(control, doll), substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, error = recording.time, np.degrees(recording.signals["gaze_error"])
    report = Report()
    held = [error[(time >= a) & (time <= b)] for a, b in HOLDS if time[-1] >= b]
    if held:
        report.metrics["gaze_error_deg"] = float(np.concatenate(held).max())
        report.checks["gaze within 1 degree after the saccade"] = report.metrics["gaze_error_deg"] < 1.0
        first = HOLDS[0]
        at = (time >= first[0]) & (time <= first[1])
        report.metrics["head_turn_deg"] = float(np.degrees(recording.signals["head"][at, 2].max()))
        report.metrics["eye_left_deg"] = float(np.degrees(np.abs(recording.signals["eyes"][at, 0][-1])))
    if time[-1] >= 9.0:
        eyes = np.degrees(recording.signals["eyes"][-1])
        report.metrics["vergence_deg"] = float(eyes[2] - eyes[0])
        report.checks["the eyes converge on a near doll (9 to 15 degrees)"] = (
            9.0 < abs(report.metrics["vergence_deg"]) < 15.0
        )
    return report


scene = Scene(
    name="gaze",
    summary="Eyes and head follow a moving doll",
    answers="Lee 2008, figure 4.7",
    seconds=9.0,
    build=build,
    check=check,
    parameters={"tone": Parameter(0.1, "coactivation c", low=0.0, high=0.4), **PARAMETERS},
    qualities=QUALITIES,
)
