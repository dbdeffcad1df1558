"""A swimming stroke as pure motion, without water: bones follow the stroke's file, the pattern generator learns its
muscle lengths and catches up with them from a wrong start.

All wanted lengths begin at 0.2 m, as in Si 2013, section 4.2. Muscles are coloured by how far the generator wants them
shortened, or by the activation with which it would pull (eq. 4.9): large while it is wrong, small once it agrees with
the motion.

    vitruvian run stroke --set stroke=butterfly --view
    vitruvian run stroke --set stroke=my_stroke.toml --set colour=activation
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vitruvian.anatomy import human
from vitruvian.control import Controls, honoured
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
from vitruvian.couple import BodyState
from vitruvian.muscle import lengths
from vitruvian.systems import Drawn, Measure, Now, body_layers
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
FIRST_LENGTH = 0.2  # [m] Si 2013, section 4.2
DEPTH = 1.15  # height of the pelvis above the drawn ground [m]
CAMERAS = (
    Camera("side", (3.7, -0.25, 1.65), (0.0, -0.25, 1.1)),
    Camera("top", (0.2, -0.25, 4.8), (0.0, -0.25, 1.1)),
    Camera("front", (1.3, -4.6, 1.7), (0.0, -0.4, 1.1)),
    Camera("below", (1.6, -1.0, -2.1), (0.0, -0.25, 1.1)),
)


class StrokePreview(Drawn):
    """A body led through a motion; controls only colour its muscles. The state is a `BodyState`."""

    def __init__(self, motion: StrokeMotion, rhythm: Rhythm, cycle: LengthCycle, colour: str):
        self.motion, self.rhythm, self.cycle, self.colour = motion, rhythm, cycle, colour
        self.body, self.skeleton = motion.body, motion.body.skeleton
        # One muscle speaks for each group: the one that changes length most.
        span = np.where(rhythm.groups[:, None] == np.arange(len(GROUPS)), cycle.range[:, None], -1.0)
        self.shown = span.argmax(axis=0)
        self.moving = np.flatnonzero(cycle.range > 1e-9)
        self.layers = body_layers(self.body, value=colour, activation=self._colours)
        self.measures = self._measures()
        self.cameras = CAMERAS

    def start(self, rng: np.random.Generator) -> BodyState:
        state = self.body.at_rest(self.body.default_q)
        self._lead(state, 0.0)
        return state

    def step(self, state: BodyState, controls: Controls | None, time: float, dt: float) -> None:
        given = honoured(controls, ("excitation",), "a stroke without water")
        if given.excitation is not None:
            state.activation = given.excitation.copy()
        self._lead(state, time + dt)

    def _lead(self, state: BodyState, time: float) -> None:
        state.q, state.v, _ = self.motion.sample(time)
        state.q[2] = DEPTH

    def _span(self) -> Array:
        return np.where(self.cycle.range > 1e-9, self.cycle.range, 1.0)

    def _colours(self, now: Now) -> Array:
        """Activation, or how far the generator wants each muscle shortened, 0 to 1."""
        if self.colour == "activation":
            return np.asarray(now.state.activation)
        return np.clip(0.5 - (now.controls.told["wanted"] - self.cycle.middle) / self._span(), 0.0, 1.0)

    def _taught(self, now: Now) -> Array:
        """Muscle lengths of the motion [m], shape (n_muscles,)."""
        return lengths(self.body.muscles, now.poses)

    def _error(self, now: Now) -> Array:
        error = ((now.controls.told["wanted"] - now.once(self._taught)) / self._span())[self.moving]
        return np.array([np.sqrt(np.mean(error**2)), np.abs(error).max()])

    def _measures(self) -> list[Measure]:
        names = self.body.muscles.names

        def pair(i: int) -> Callable[[Now], Array]:
            return lambda now: np.array([now.once(self._taught)[i], now.controls.told["wanted"][i]])

        return [
            Measure(
                Signal("phase", "1", "phase of the stroke, cycles"),
                lambda now: self.motion.phase + self.motion.rate * now.time,
            ),
            *(
                Measure(Signal(g.replace(" ", "_"), "m", f"length, {g}: {names[i]}", ("taught", "generated")), pair(i))
                for g, i in zip(GROUPS, self.shown)
            ),
            Measure(Signal("error", "1", "length error of all muscles, in ranges", ("rms", "largest")), self._error),
            Measure(
                Signal("activation", "1", "activation by the rhythm", ("mean", "largest")),
                lambda now: np.array([now.state.activation.mean(), now.state.activation.max()]),
            ),
        ]


class SeenRhythm(RhythmControl):
    """The rhythm's controller, which also tells its wanted lengths [m] at the end of the step."""

    def act(self, own: RhythmControlState, state: BodyState, time: float, dt: float) -> Controls:
        controls = super().act(own, state, time, dt)
        controls.told["wanted"] = own.rhythm.length.copy()
        return controls


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
        "colour": Parameter("shortening", "colour of the muscles", choices=("shortening", "activation")),
        "steps": Parameter(4, "steps of the rhythm per frame", low=1, high=100),
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 16}},
)
