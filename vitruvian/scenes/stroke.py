"""A swimming stroke as pure motion, without water: bones follow the stroke's file, the pattern generator learns its
muscle lengths and catches up with them from a wrong start.

All wanted lengths begin at 0.2 m, as in Si 2013, section 4.2. Muscles are coloured by how far the generator wants them
shortened, or by the activation with which it would pull (eq. 4.9): large while it is wrong, small once it agrees with
the motion.

    vitruvian run stroke --set stroke=butterfly --view
    vitruvian run stroke --set stroke=my_stroke.toml --set colour=activation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import BodyState, human
from vitruvian.anatomy.surfaces import bone_surfaces
from vitruvian.control.computed_muscle import MuscleControls
from vitruvian.control.rhythm import (
    GROUPS,
    LengthCycle,
    Rhythm,
    RhythmControl,
    RhythmControlState,
    StrokeMotion,
    length_cycle,
    load_stroke,
)
from vitruvian.muscle import lengths, path_points
from vitruvian.skeleton import bone_poses
from vitruvian.world.body import muscle_radii
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.stage import Camera, Frame, Lines, LinesFrame, Mesh, Signal, Stage
from vitruvian.world.world import World

Array = np.ndarray
FIRST_LENGTH = 0.2  # [m] Si 2013, section 4.2
DEPTH = 1.15  # height of the pelvis above the drawn ground [m]
CAMERAS = (
    Camera("side", (3.7, -0.25, 1.65), (0.0, -0.25, 1.1)),
    Camera("top", (0.2, -0.25, 4.8), (0.0, -0.25, 1.1)),
    Camera("front", (1.3, -4.6, 1.7), (0.0, -0.4, 1.1)),
    Camera("below", (1.6, -1.0, -2.1), (0.0, -0.25, 1.1)),
)


class StrokePreview:
    """A body led through a motion; controls only colour its muscles. The state is a `BodyState`."""

    def __init__(self, motion: StrokeMotion, rhythm: Rhythm, cycle: LengthCycle, colour: str):
        self.motion, self.rhythm, self.cycle, self.colour = motion, rhythm, cycle, colour
        self.body = motion.body
        # One muscle speaks for each group: the one that changes length most.
        span = np.where(rhythm.groups[:, None] == np.arange(len(GROUPS)), cycle.range[:, None], -1.0)
        self.shown = span.argmax(axis=0)
        self.moving = np.flatnonzero(cycle.range > 1e-9)

    def start(self, rng: np.random.Generator) -> BodyState:
        state = BodyState.at_rest(self.body, self.body.default_q)
        self._lead(state, 0.0)
        return state

    def step(self, state: BodyState, controls: SeenControls, time: float, dt: float) -> None:
        state.activation = controls.excitation.copy()
        self._lead(state, time + dt)

    def stage(self) -> Stage:
        m = self.body.muscles
        surfaces = bone_surfaces(self.body, fallback=True).items()
        names = [f"{GROUPS[k]}: {m.names[i]}" for k, i in enumerate(self.shown)]
        return Stage(
            bodies=self.body.skeleton.names,
            meshes=tuple(Mesh(bone, bone, vertices, faces) for bone, (vertices, faces) in surfaces),
            lines=(
                Lines("muscles", m.offsets, muscle_radii(self.body), m.names, value=self.colour, value_range=(0, 1)),
            ),
            signals=(
                Signal("phase", "1", "phase of the stroke, cycles"),
                *(
                    Signal(g.replace(" ", "_"), "m", f"length, {name}", ("taught", "generated"))
                    for g, name in zip(GROUPS, names)
                ),
                Signal("error", "1", "length error of all muscles, in ranges", ("rms", "largest")),
                Signal("activation", "1", "activation by the rhythm", ("mean", "largest")),
            ),
            cameras=CAMERAS,
            ground=None,
        )

    def observe(self, state: BodyState, controls: SeenControls, time: float) -> Frame:
        poses = bone_poses(self.body.skeleton, state.q)
        taught = lengths(self.body.muscles, poses)
        wanted = controls.wanted
        span = np.where(self.cycle.range > 1e-9, self.cycle.range, 1.0)
        error = ((wanted - taught) / span)[self.moving]
        short = np.clip(0.5 - (wanted - self.cycle.middle) / span, 0.0, 1.0)
        a = state.activation
        signals: dict[str, Any] = {
            "phase": self.motion.phase + self.motion.rate * time,
            "error": np.array([np.sqrt(np.mean(error**2)), np.abs(error).max()]),
            "activation": np.array([a.mean(), a.max()]),
        }
        for group, i in zip(GROUPS, self.shown):
            signals[group.replace(" ", "_")] = np.array([taught[i], wanted[i]])
        turns = Rotation.from_matrix(poses[:, :3, :3]).as_quat(scalar_first=True)
        points = path_points(self.body.muscles, poses)
        values = a.copy() if self.colour == "activation" else short
        return Frame(
            poses=np.concatenate([poses[:, :3, 3], turns], axis=1),
            signals=signals,
            lines={"muscles": LinesFrame(points, values)},
        )

    def _lead(self, state: BodyState, time: float) -> None:
        state.q, state.v, _ = self.motion.sample(time)
        state.q[2] = DEPTH


@dataclass
class SeenControls(MuscleControls):
    """Excitations, and the rhythm's wanted lengths at the end of the step that they drive."""

    wanted: Array  # [m], shape (n_muscles,)


class SeenRhythm(RhythmControl):
    """The rhythm's controller, with its wanted lengths shown."""

    def act(self, own: RhythmControlState, state: BodyState, time: float, dt: float) -> SeenControls:
        controls = super().act(own, state, time, dt)
        return SeenControls(controls.excitation, controls.root, own.rhythm.length.copy())


def build(parameters: Mapping[str, Any]) -> World:
    body = human()
    stroke = load_stroke(parameters["stroke"])
    motion = StrokeMotion(body, stroke, parameters["rate"])
    rhythm = Rhythm.learn(body, [stroke])
    simulation = StrokePreview(motion, rhythm, length_cycle(motion), parameters["colour"])
    control = SeenRhythm(rhythm, stroke.name, parameters["rate"], lengths=np.full(len(rhythm.groups), FIRST_LENGTH))
    return World(simulation, control, frame_rate=_frame_rate(parameters["rate"]), substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    phase, error = recording.signals["phase"], recording.signals["error"]
    per_cycle = round(_frame_rate(parameters["rate"]) / parameters["rate"])
    report = Report()
    report.metrics["cycles"] = float(phase[-1])
    if len(phase) > per_cycle:
        # float32 recordings hold a metre to 1e-7
        gap = np.abs(np.asarray(recording.poses[per_cycle], float) - np.asarray(recording.poses[0], float)).max()
        report.metrics["closing_gap"] = float(gap)
        report.checks["the cycle closes: every bone is back after one period"] = bool(gap < 1e-5)
    late = phase >= 2.0 - 1e-6
    if late.any():
        report.metrics["largest_error"] = float(error[late, 1].max())
        report.metrics["rms_error"] = float(error[late, 0].max())
        report.checks["after two cycles every muscle length is within 2 % of its range"] = bool(
            error[late, 1].max() < 0.02
        )
    return report


def _frame_rate(rate: float) -> float:
    """About 60 frames a second, a whole number of them in each cycle."""
    return max(8, round(60.0 / rate)) * rate


scene = Scene(
    name="stroke",
    summary="A swimming stroke without water: the pattern generator learns 846 muscle lengths and falls in with them",
    answers="Si 2013, figures 4.2 and 4.3",
    seconds=4.0,
    build=build,
    check=check,
    parameters={
        "stroke": Parameter("crawl", "crawl, butterfly, breaststroke, backstroke, or a .toml file"),
        "rate": Parameter(0.75, "cycles a second", "1/s", low=0.05, high=3.0),
        "colour": Parameter("shortening", "of the muscles", choices=("shortening", "activation")),
        "steps": Parameter(4, "steps of the rhythm per frame", low=1, high=100),
    },
    qualities={"draft": {}, "standard": {}, "seed": {"steps": 16}},
)
