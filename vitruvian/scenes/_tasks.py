"""What the scenes of task control share: a swimmer with wishes, random starts, and how turning over is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.tasks import (
    ACTUATIONS,
    Apart,
    Capsules,
    Effort,
    Hold,
    Smooth,
    Task,
    TaskControl,
    fit_capsules,
    random_start,
    turning_tasks,
)
from vitruvian.couple import StillWater
from vitruvian.scenes._swim import FRAME, PARAMETERS, QUALITIES, swimmer
from vitruvian.skin import BoundSkin
from vitruvian.systems import LanesController, LaneSignal, LanesSystem, Measure, Now, SwimmerSystem, pool
from vitruvian.water import Tank
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
Settings = Mapping[str, Any]
ROOM, DEEP = (2.8, 2.8, 2.3), 1.9  # window [m] of one who may turn any way, and how much of it is water
LONG_ROOM = (3.2, 3.2, 2.3)  # of one who also swims: toes to fingers he is up to 2.8 m long
CHEST, PELVIS = 30.0, 40.0  # [deg] off at which he lies as he should
HELD = 0.5  # [s] for so long
SOON = 8.0  # [s]
TOUCH = 0.02  # [m] overlap of capsules that is allowed
LIMBS = ("Hu", "Ul", "Rad", "Ha", "Fe", "Tfp", "Fo")
# A draft: who may turn any way needs a large window, so its cells, skin and steps are coarse.
COARSE: dict[str, Any] = {"cell": 0.09, "nodes": 2, "steps": 1, "triangles": 4000}
KEPT = ("water", "lungs", "strength", "cell", "steps", "triangles")
TASK_PARAMETERS: dict[str, Parameter] = {
    **{name: replace(PARAMETERS[name], default=COARSE.get(name, PARAMETERS[name].default)) for name in KEPT},
    "nodes": Parameter(COARSE["nodes"], "to a cell's edge, at which the water sees the body", low=1, high=8),
    "actuation": Parameter("muscles", "how joints are driven", choices=ACTUATIONS),
}
TASK_QUALITIES = {
    name: {k: v for k, v in {**q, **change}.items() if k in (*KEPT, "nodes")}
    for (name, q), change in zip(QUALITIES.items(), (COARSE, {"nodes": 3}, {"nodes": 2}))
}
# Muscles that follow a rhythm are chosen anew at every step, and want short ones.
STROKE_PARAMETERS = {
    **{name: p for name, p in TASK_PARAMETERS.items() if name != "actuation"},
    "steps": replace(TASK_PARAMETERS["steps"], default=2),
}
STROKE_QUALITIES = {name: {**q, "steps": max(2, q["steps"])} for name, q in TASK_QUALITIES.items()}


@cache
def _capsules(triangles: int, lungs: str) -> Capsules:
    body, skin = swimmer({"triangles": triangles, "lungs": lungs})
    return fit_capsules(body, skin)


def capsules(parameters: Settings) -> Capsules:
    """Of the swimmer whom the parameters mean."""
    return _capsules(int(parameters["triangles"]), parameters["lungs"])


def room(parameters: Settings, size: tuple[float, float, float] = ROOM, deep: float = DEEP) -> StillWater | Tank:
    if parameters["water"] == "still":
        return StillWater()
    step = 1.0 / (FRAME * int(parameters["steps"]))
    return pool(parameters["cell"], size=size, deep=deep, body_detail=int(parameters["nodes"]), largest_substep=step)


def controller(body: Body, skin: BoundSkin, parameters: Settings, tasks: Sequence[Task] = ()) -> TaskControl:
    """A controller by tasks that keeps parts apart and spares effort, beside what else is wanted."""
    simulated = parameters["water"] != "still"
    made = TaskControl(body, skin, tasks, simulated=simulated, actuation=parameters["actuation"])
    made.tasks += [Effort(made.limits), Smooth(), Apart(capsules(parameters))]
    return made


def off(bone: str, face_up: bool) -> Callable[[Now], float]:
    """Angle [deg] of a bone's back from straight down (face up) or straight up."""
    return lambda now: float(np.degrees(np.arccos(np.clip((-1.0 if face_up else 1.0) * now.pose(bone)[2, 1], -1, 1))))


def turning_measures(face_up: bool, held: Capsules, body: Body) -> list[Measure]:
    s = body.skeleton
    limbs = np.flatnonzero([s.names[b].startswith(LIMBS) for b in s.dof_bone])
    arms = np.flatnonzero([s.names[b].startswith(LIMBS[:4]) for b in s.dof_bone])
    chest, pelvis = off("T6", face_up), off("Pel", face_up)
    return [
        Measure(
            Signal("off", "deg", "angle from lying as he should", ("chest", "pelvis")),
            lambda n: np.array([chest(n), pelvis(n)]),
        ),
        Measure(Signal("overlap", "m", "deepest of two parts"), lambda n: held.overlap(n.poses)),
        Measure(
            Signal("limb_rates", "rad/s", "joint speeds of the limbs", tuple(body.coordinate_names[i] for i in limbs)),
            lambda n: np.asarray(n.v[limbs]),
        ),
        Measure(
            Signal("arm_rate", "rad/s", "joint speed of the arms, rms"),
            lambda n: float(np.sqrt((n.v[arms] ** 2).mean())),
        ),
    ]


def lane_signals(measures: Sequence[Measure]) -> list[LaneSignal]:
    """Of every lane: these measures, and where it is."""

    def reads(name: str) -> Callable[[Mapping[str, Any]], Any]:
        return lambda signals: signals[name]

    own = [
        Signal("position", "m", "centre of mass", ("x", "y", "z")),
        Signal("back_up", "1", "1 face down, -1 face up"),
        Signal("mouth_height", "m", "height of the lips over the calm surface"),
        Signal("work", "J", "work so far", ("muscles or torques", "water", "pushes", "damped joints")),
    ]
    given = [*own, *(m.signal for m in measures)]
    return [LaneSignal(signal, reads(signal.name)) for signal in given]


def turn_world(face_up: bool, parameters: Settings, lanes: Mapping[str, Callable[..., TaskControl]]) -> World:
    """Random starts in lanes, each with every controller of `lanes`: called with (body, skin, q)."""
    body, skin = swimmer(parameters)
    measures = turning_measures(face_up, capsules(parameters), body)
    systems, controllers = {}, []
    for k in range(int(parameters["first"]), int(parameters["first"]) + int(parameters["starts"])):
        q = random_start(body, skin, k, capsules(parameters))
        for name, make in lanes.items():
            systems[f"{name}_{k}"] = SwimmerSystem(
                body, skin, water=room(parameters), q=q, muscles=True, measures=measures, drawn=False
            )
            controllers.append(make(body, skin, q))
    apart = ROOM[0] + 0.4
    middle = 0.5 * apart * (len(systems) - 1)
    far = max(4.5, 2.4 * middle)
    system = LanesSystem(
        systems, (apart, 0.0, 0.0), signals=lane_signals(measures), light=True, naming="{name}_{lane}",
        cameras=(
            Camera("lanes", (middle, -0.9 * far, 0.75 * far), (middle, 0.0, -0.2)),
            Camera("top", (middle, 0.0, 1.4 * far), (middle, 0.1, 0.0)),
            Camera("under", (middle, -0.8 * far, -0.5 * far), (middle, 0.0, -0.2)),
        ),
    )  # fmt: skip
    return World(system, LanesController(controllers), frame_rate=FRAME, substeps=int(parameters["steps"]))


def alone(
    parameters: Settings,
    make: Callable[[Body, BoundSkin], Any],
    q: Callable[[Body, BoundSkin], Array],
    *,
    size: tuple[float, float, float] = ROOM,
    deep: float = DEEP,
    measures: Callable[[Body], Sequence[Measure]] = lambda body: (),
    marks: Callable[[float], Array] | None = None,
    breath: Callable[[Body, BoundSkin], BoundSkin] = lambda body, skin: skin,
) -> World:
    """One swimmer under one controller, `make(body, skin)`, from the pose `q(body, skin)`; breath: changes his skin."""
    body, skin = swimmer(parameters)
    skin = breath(body, skin)
    system = SwimmerSystem(
        body, skin, water=room(parameters, size, deep), q=q(body, skin), measures=measures(body), marks=marks
    )
    return World(system, make(body, skin), frame_rate=FRAME, substeps=int(parameters["steps"]))


def lain(time: Array, off: Array) -> float:
    """First time [s] from which chest and pelvis stay within their angles for half a second; not a number if never."""
    good = (off[:, 0] < CHEST) & (off[:, 1] < PELVIS)
    need = max(1, round(HELD / max(time[1] - time[0], 1e-9)))
    for k in range(len(good) - need + 1):
        if good[k : k + need].all():
            return float(time[k])
    return float("nan")


def judged(recording: Recording, lane: str) -> dict[str, float]:
    """One lane: when he lay as he should, how long of the rest, jerk of his limbs, arms at rest, overlap."""
    signals, time = recording.signals, recording.time
    offs = signals[f"off_{lane}"]
    at = lain(time, offs)
    good = (offs[:, 0] < CHEST) & (offs[:, 1] < PELVIS)
    step = float(time[1] - time[0])
    rates = signals[f"limb_rates_{lane}"]
    jerk = np.diff(rates, 2, axis=0) / step**2
    return {
        "arrived_s": at,
        "kept": float(good[time >= at].mean()) if np.isfinite(at) else 0.0,
        "jerk": float(np.sqrt((jerk**2).mean())) if len(jerk) else float("nan"),
        "arms_at_rest": float((signals[f"arm_rate_{lane}"] < 0.1).mean()),
        "overlap_m": float(signals[f"overlap_{lane}"].max()),
    }


def turn_report(recording: Recording, parameters: Settings, lanes: Sequence[str]) -> Report:
    report = Report()
    rows = []
    for name in lanes:
        runs = [judged(recording, f"{name}_{int(parameters['first']) + k}") for k in range(int(parameters["starts"]))]
        came = [r for r in runs if r["arrived_s"] <= SOON]
        prefix = "" if name == lanes[0] else f"{name}_"
        report.metrics[f"{prefix}success_rate"] = len(came) / len(runs)
        report.metrics[f"{prefix}arrived_s"] = float(np.mean([r["arrived_s"] for r in came])) if came else float("nan")
        for key in ("kept", "jerk", "arms_at_rest"):
            report.metrics[f"{prefix}{key}"] = float(np.mean([r[key] for r in runs]))
        report.metrics[f"{prefix}overlap_m"] = max(r["overlap_m"] for r in runs)
        for k, r in enumerate(runs):
            start = int(parameters["first"]) + k
            figures = (r["arrived_s"], r["kept"], r["jerk"], r["arms_at_rest"], 100.0 * r["overlap_m"])
            rows.append((f"{name} {start}", *(f"{x:.{d}f}" for x, d in zip(figures, (1, 2, 0, 2, 1)))))
    report.table = (("start", "lies at [s]", "kept", "jerk [rad/s³]", "arms at rest", "overlap [cm]"), *rows)
    report.checks["nine of ten starts lie as they should within 8 s"] = report.metrics["success_rate"] >= 0.9
    report.checks["no overlap of his parts over 2 cm"] = report.metrics["overlap_m"] <= TOUCH
    return report


def turn_scene(name: str, face_up: bool, summary: str) -> Scene:
    """A scene in which he turns over from random starts, the same starts with the pose held beside."""

    def lanes(parameters: Settings) -> list[str]:
        return ["task", "held"] if parameters["beside"] else ["task"]

    def build(parameters: Settings) -> World:
        def task(body: Body, skin: BoundSkin, q: Array) -> TaskControl:
            tasks = turning_tasks(body, face_up, natural=parameters["w_nat"])
            return controller(body, skin, parameters, tasks)

        def held(body: Body, skin: BoundSkin, q: Array) -> TaskControl:
            return controller(body, skin, parameters, [Hold(q, weight=10.0, gain=4.0)])

        makers = {"task": task, "held": held}
        return turn_world(face_up, parameters, {n: makers[n] for n in lanes(parameters)})

    return Scene(
        name=name,
        summary=summary,
        answers="Si 2013, chapter 5, section 6.4",
        seconds=SOON,
        build=build,
        check=lambda recording, parameters: turn_report(recording, parameters, lanes(parameters)),
        parameters={
            "starts": Parameter(1, "random starts, each in a lane", low=1, high=50),
            "first": Parameter(0, "number of the first start", low=0, high=10000),
            "beside": Parameter(True, "the same starts with the pose held beside them"),
            "w_nat": Parameter(0.0, "weight of the limbs' learned motion", low=0.0, high=1.0),
            **TASK_PARAMETERS,
        },
        qualities=TASK_QUALITIES,
    )
