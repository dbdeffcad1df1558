"""What the scenes with a head share: parameters, how a controlled head is put together, what is measured of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, neck
from vitruvian.anatomy.face import Face
from vitruvian.control.head import HeadControl, HeadGoal, HeadSettings, HeadState, HeadStatics, Still, shipped
from vitruvian.control.head.eyes import EyeState
from vitruvian.control.mind import EMOTIONS, Look
from vitruvian.spatial import log_so3
from vitruvian.systems import Measure, Now
from vitruvian.systems.face import face_layers
from vitruvian.systems.head import HeadSystem, eye_layers
from vitruvian.world import Parameter, Signal

Array = np.ndarray
PARAMETERS = {
    "neck": Parameter(
        "body",
        "our own neck and its muscles, or the 72 muscles and stiff springs of the thesis",
        choices=("body", "thesis"),
    ),
    "networks": Parameter(True, "trained networks give pose and tone; else both are solved anew at each decision"),
    "steps": Parameter(4, "steps per frame of 1/60 s", low=1, high=100),
}
FACE = Parameter(True, "a face of muscle and soft tissue; else a skull with eyes")
QUALITIES: dict[str, dict[str, Any]] = {"draft": {}, "standard": {}, "fine": {"steps": 16}}
AXES = ("nodding", "tilting", "turning")


def head_body(parameters: Mapping[str, Any]) -> Body:
    return neck(muscles="thesis") if parameters["neck"] == "thesis" else neck()


def head_system(
    body: Body,
    parameters: Mapping[str, Any],
    goal: HeadGoal | None = None,
    settings: HeadSettings | None = None,
    face: Face | None = None,
    **rest: Any,
) -> tuple[HeadSystem, HeadControl]:
    """A head and its controller; face: that covers it, or None for bones and eyes; rest: of the system."""
    goal = Still() if goal is None else goal
    measures = [*head_measures(body, goal), *rest.pop("measures", ())]
    seen = eye_layers() if face is None else face_layers(face)
    layers = [*seen, *rest.pop("layers", ())]
    system = HeadSystem(body, measures=measures, layers=layers, drawn=face is None, **rest)
    if face is not None:
        system.layers = layers  # the skin covers bones and muscles
    statics = HeadStatics(body)
    networks = None
    if parameters["networks"]:
        name = "thesis" if parameters["neck"] == "thesis" else "neck"
        networks = shipped(name, tuple(body.muscles.names[i] for i in statics.muscles))
    control = HeadControl(body, goal, settings, networks=networks, statics=statics)
    return system, control


def head_measures(body: Body, goal: HeadGoal) -> list[Measure]:
    """Where the head points, how far it is off, tone and gain in force."""
    base = body.skeleton.names[body.skeleton.parent[body.skeleton.index("C7")]]

    def turn(now: Now) -> Array:
        return np.asarray(now.pose(base)[:3, :3].T @ now.pose("Sku")[:3, :3])

    def told(read: Callable[[HeadState], float], otherwise: float) -> Callable[[Now], float]:
        return lambda now: otherwise if now.controls is None else read(now.controls.told["head"])

    return [
        Measure(Signal("head", "rad", "orientation of the head", AXES), lambda now: log_so3(turn(now))),
        Measure(
            Signal("error", "rad", "orientation error of the head"),
            lambda now: float(np.linalg.norm(log_so3(goal.wanted(now.time) @ turn(now).T))),
        ),
        Measure(Signal("tone", "1", "tone c"), told(lambda own: own.tone, 0.0)),
        Measure(Signal("gain", "1", "reflex gain s"), told(lambda own: own.gain, 1.0)),
    ]


def eye_measures() -> list[Measure]:
    """Signals `gaze_error`, `eyes` and `saccade`."""

    def eyes(now: Now) -> EyeState:
        return EyeState() if now.controls is None else now.controls.told["eyes"]

    return [
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


def mood_measures() -> list[Measure]:
    """Signals `mood`, `attends` and `fatigue` of a head with a mind."""

    def mood(now: Now) -> Look | None:
        return None if now.controls is None else now.controls.told["mood"]

    def told(read: Callable[[Look], Any], otherwise: Any) -> Callable[[Now], Any]:
        return lambda now: otherwise if (found := mood(now)) is None else read(found)

    return [
        Measure(
            Signal("mood", "1", "feelings", EMOTIONS),
            told(lambda m: np.array([m.emotions[e] for e in EMOTIONS]), np.zeros(len(EMOTIONS))),
        ),
        Measure(
            Signal("attends", "1", "number of the thing that it looks at, -1 for none"), told(lambda m: m.thing, -1)
        ),
        Measure(Signal("fatigue", "1", "fatigue"), told(lambda m: m.fatigue, 0.0)),
    ]


def degrees_rms(x: Array) -> float:
    """Root mean square of angles [rad], in degrees."""
    return float(np.degrees(np.sqrt(np.mean(np.square(x)))))
