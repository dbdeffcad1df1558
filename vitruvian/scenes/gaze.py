"""A head that follows a moving doll and reacts to it: the eyes leap to it, the head follows, the face feels.

The doll jumps between places and moves smoothly in between; one place is close to the face, so that the eyes converge
(Lee 2008, 4.4.4 and figure 4.7). At eye level and still it pleases, above the head it awes, shaken it angers: rules of
a readable file (`character`).

    vitruvian run gaze --view
    vitruvian run gaze --set character=my.toml
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.face import make_face
from vitruvian.control.face import FaceDriver
from vitruvian.control.head import GazeControl, HeadSettings
from vitruvian.control.mind import EMOTIONS, Thing, Watcher, load_character
from vitruvian.scenes._head import FACE, PARAMETERS, QUALITIES, eye_measures, head_body, head_system, mood_measures
from vitruvian.systems.head import target_layer
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, World

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
        (9.8, 0.0, 38.0, 0.8),  # above the head
        (12.0, 0.0, 38.0, 0.8),
        (12.8, 0.0, 0.0, 0.8),  # shaken from here on
        (16.0, 0.0, 0.0, 0.8),
    ]
)
SHAKEN = (13.0, 16.0, 4.0, 3.0)  # [s], [s], [degrees], [1/s]
HOLDS = ((1.7, 2.5), (3.3, 4.0), (6.4, 7.0), (8.0, 9.0), (10.8, 12.0))  # [s] after the saccade, the doll still
FEELS = (("joy", 6.0, 9.0), ("awe", 10.0, 12.0), ("anger", 13.5, 16.0))  # what the character of the package feels when
CAMERAS = (
    Camera("front", (1.25, -1.30, 1.95), (0.0, -0.42, 1.86)),
    Camera("close", (0.40, -0.92, 1.88), (0.03, -0.13, 1.79)),
    Camera("side", (1.5, -0.4, 1.85), (0.0, -0.35, 1.78)),
)


def doll(time: float) -> Array:
    """Where it is [m] (3,)."""
    yaw, pitch, far = (np.interp(time, PLACES[:, 0], PLACES[:, k]) for k in (1, 2, 3))
    begin, end, size, rate = SHAKEN
    if begin < time < end:
        yaw += size * np.sin(2.0 * np.pi * rate * (time - begin))
    a, b = np.radians(yaw), np.radians(pitch)
    return np.asarray(MIDDLE + far * np.array([np.sin(a) * np.cos(b), -np.cos(a) * np.cos(b), np.sin(b)]))


def build(parameters: Mapping[str, Any]) -> World:
    body, face = head_body(parameters), make_face() if parameters["face"] else None
    system, control = head_system(
        body, parameters, None, HeadSettings(tone=parameters["tone"]), measures=[*eye_measures(), *mood_measures()],
        layers=[target_layer(doll)], cameras=CAMERAS, face=face,
    )  # fmt: skip
    character = load_character(parameters["character"])
    driver = None if face is None else FaceDriver(face)
    watcher = Watcher(GazeControl(control), character, [Thing("doll", doll)], driver=driver)
    return World(system, watcher, substeps=int(parameters["steps"]))


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
    near = np.searchsorted(time, 8.9)
    if near < len(time):
        eyes = np.degrees(recording.signals["eyes"][near])
        report.metrics["vergence_deg"] = float(eyes[2] - eyes[0])
        report.checks["the eyes converge on a near doll (9 to 15 degrees)"] = (
            9.0 < abs(report.metrics["vergence_deg"]) < 15.0
        )
    for emotion, begin, end in FEELS:
        at = (time >= begin) & (time <= end)
        if time[-1] >= end:
            moods = recording.signals["mood"][at].max(axis=0)
            report.metrics[emotion] = float(moods[EMOTIONS.index(emotion)])
            if parameters["character"] == "curious":
                report.checks[f"{emotion} when it should"] = bool(report.metrics[emotion] > 0.7)
    return report


scene = Scene(
    name="gaze",
    summary="Eyes and head follow a moving doll, and feelings follow what is seen",
    answers="Lee 2008, figure 4.7",
    seconds=16.0,
    build=build,
    check=check,
    parameters={
        "tone": Parameter(0.1, "coactivation c", low=0.0, high=0.4),
        "character": Parameter("curious", "rules of feeling: curious, grumpy, lively, or a TOML file of your own"),
        "face": FACE,
        **PARAMETERS,
    },
    qualities=QUALITIES,
)
