"""Three heads in company: they look at a doll and at each other, take on each other's feelings, and tire.

The doll keeps still, rises above them, is shaken, and leaves; what each head attends to and feels is up to the rules of
its character (`control/mind/characters`). Eyes lead, neck muscles turn the heads.

    vitruvian run conversation --view
    vitruvian run conversation --set left=my.toml
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy.face import make_face
from vitruvian.control.face import FaceDriver
from vitruvian.control.head import GazeControl, HeadSettings
from vitruvian.control.mind import EMOTIONS, Company, Place, Thing, load_character
from vitruvian.scenes._head import FACE, PARAMETERS, QUALITIES, eye_measures, head_body, head_system, mood_measures
from vitruvian.spatial import transform
from vitruvian.systems import LaneSignal, LanesSystem
from vitruvian.systems.head import target_layer
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
RADIUS = 0.55  # [m] of the circle on which they sit
YAWS = {"left": 62.0, "middle": 0.0, "right": -62.0}  # degrees, as seen from the front camera
DOLL = np.array(  # time [s], x, y, z [m]; the eyes are at 1.84 m
    [
        (0.0, 0.0, -0.25, 1.83),
        (3.0, 0.0, -0.25, 1.83),
        (4.0, 0.0, -0.10, 2.35),  # above them
        (7.0, 0.0, -0.10, 2.35),
        (8.0, 0.0, -0.25, 1.85),  # shaken
        (11.0, 0.0, -0.25, 1.85),
        (12.5, 0.0, -8.0, 1.0),  # away
        (100.0, 0.0, -8.0, 1.0),
    ]
)
SHAKEN = (8.0, 11.0, 0.07, 3.0)  # [s], [s], [m], [1/s]
CAMERAS = (
    Camera("front", (0.26, -1.42, 1.96), (0.03, 0.15, 1.75)),
    Camera("above", (0.0, -1.2, 3.2), (0.0, 0.2, 1.7)),
)


def doll(time: float) -> Array:
    """Where it is in the room [m] (3,)."""
    at = np.array([np.interp(time, DOLL[:, 0], DOLL[:, k]) for k in (1, 2, 3)])
    begin, end, size, rate = SHAKEN
    if begin < time < end:
        at[0] += size * np.sin(2.0 * np.pi * rate * (time - begin))
    return at


def places() -> dict[str, Place]:
    """On a circle, facing its middle."""
    out = {}
    for name, degrees in YAWS.items():
        yaw = np.radians(degrees)
        out[name] = Place((float(-RADIUS * np.sin(yaw)), float(RADIUS * np.cos(yaw)), 0.0), float(yaw))
    return out


def _from(place: Place) -> Callable[[float], Array]:
    """The doll in a head's own axes."""
    return lambda time: place.into(doll(time))


def build(parameters: Mapping[str, Any]) -> World:
    body, settings = head_body(parameters), HeadSettings(tone=parameters["tone"])
    face = make_face() if parameters["face"] else None
    systems, heads, shown = {}, {}, []
    for name, place in places().items():
        doll_here = [target_layer(_from(place))] if name == "middle" else []
        system, control = head_system(
            body, parameters, None, settings, measures=[*eye_measures(), *mood_measures()], layers=doll_here, face=face
        )
        systems[name] = system
        heads[name] = (GazeControl(control), load_character(parameters[name]), place)
        shown.append(transform(place.rotation, np.array(place.origin)))
    company = Company(heads, [Thing("doll", doll)], None if face is None else FaceDriver(face))
    lanes = LanesSystem(
        systems,
        np.array(shown),
        signals=[
            LaneSignal(Signal("mood", "1", "feelings of the % head", EMOTIONS), lambda s: s["mood"]),
            LaneSignal(
                Signal("attends", "1", "what the % head looks at: 0 the doll, 1 and 2 the others, -1 nothing"),
                lambda s: s["attends"],
            ),
            LaneSignal(Signal("fatigue", "1", "fatigue of the % head"), lambda s: s["fatigue"]),
            LaneSignal(Signal("gaze_error", "rad", "gaze error of the % head"), lambda s: s["gaze_error"]),
        ],
        cameras=CAMERAS,
    )  # fmt: skip
    return World(lanes, company, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time, report = recording.signals, recording.time, Report()
    attends = np.array([s[f"attends_{name}"] for name in YAWS])
    for name, row in zip(YAWS, attends):
        report.metrics[f"at_doll_{name}"] = float(np.mean(row == 0))
        report.metrics[f"at_faces_{name}"] = float(np.mean(row > 0))
        report.metrics[f"fatigue_{name}"] = float(s[f"fatigue_{name}"][-1])
        for k, emotion in enumerate(EMOTIONS):
            report.metrics[f"{emotion}_{name}"] = float(s[f"mood_{name}"][:, k].max())
    if time[-1] >= 11.0 and parameters["middle"] == "curious":
        report.checks["the one in the middle is pleased, awed and angry in turn"] = all(
            report.metrics[f"{e}_middle"] > 0.6 for e in ("joy", "awe", "anger")
        )
    if time[-1] >= 15.0:
        late = time >= 13.0
        report.metrics["faces_without_doll"] = float(np.mean(attends[:, late] > 0))
        report.checks["without the doll they look at each other"] = report.metrics["faces_without_doll"] > 0.8
    return report


scene = Scene(
    name="conversation",
    summary="Three heads that look at a doll and at each other, share feelings and tire",
    answers="Lee 2008, 4.4.5",
    seconds=18.0,
    build=build,
    check=check,
    parameters={
        "left": Parameter("grumpy", "rules of the left head: curious, grumpy, lively, or a TOML file of your own"),
        "middle": Parameter("curious", "rules of the middle head"),
        "right": Parameter("lively", "rules of the right head"),
        "tone": Parameter(0.1, "coactivation c", low=0.0, high=0.4),
        "face": FACE,
        **PARAMETERS,
    },
    qualities={**QUALITIES, "draft": {"steps": 2}},
)
