"""The world: time, rollback, and runs that are cut short give what they should, to the last bit.

A chaotic system (the double pendulum, whose neighbours part as exp(λ t) with λ of some 1/s) is run once in one go, and
once again interrupted after every few steps and resumed from disk; one differing bit would grow to order one.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vitruvian.errors import Diverged, InputError
from vitruvian.scenes import all_scenes
from vitruvian.verify.book import Finding, claim
from vitruvian.world import Frame, Recording, Scene, Signal, Stage, World, run_world, scene_parameters

SECONDS = 20.0
# Water of fewer cells, a skin of fewer triangles, a shorter laugh: the same code moves the same state on, in less time.
LIGHT = {"cell": 0.09, "triangles": 4000, "calls": 3}


@claim
def a_run_interrupted_and_resumed_gives_the_same_bits() -> Finding:
    """SIGINT at 12 instants, resumed each time: bytes of the recording that differ from a run left alone."""
    with tempfile.TemporaryDirectory() as folder:
        whole, broken = Path(folder) / "whole.zarr", Path(folder) / "broken.zarr"
        run_world(_world(), whole, seconds=SECONDS)
        stops = np.linspace(0.05, 0.95, 12) * SECONDS
        for i, stop in enumerate(stops):
            _interrupted(_Interrupt(stop), broken, resume=i > 0)
        run_world(_world(), broken, seconds=SECONDS, resume=True)
        a, b = (Recording.open(path).signals["angles"] for path in (whole, broken))
    differing = int((a.view(np.uint8) != b.view(np.uint8)).sum()) if a.shape == b.shape else a.nbytes
    return Finding.error(differing, 0.0, "bytes", f"{len(a)} frames, {len(stops)} interruptions")


@claim
def every_scene_resumes_to_the_same_bits() -> Finding:
    """Each scene, eight frames in one go and in two: number of scenes whose recordings differ."""
    scenes = all_scenes()
    different = [f"{scene.name}{how}" for scene in scenes if (how := _differs(scene)) is not None]
    return Finding.error(len(different), 0.0, "scenes", ", ".join(different) or f"{len(scenes)} scenes")


@claim
def one_bit_of_difference_would_show() -> Finding:
    """The same run from a start that differs by one bit ends elsewhere: the claim above has teeth."""
    with tempfile.TemporaryDirectory() as folder:
        ends = []
        for nudge in (0.0, 2.0**-52):
            path = Path(folder) / f"{nudge}.zarr"
            run_world(_world(nudge), path, seconds=SECONDS)
            ends.append(Recording.open(path).signals["angles"][-1])
    return Finding.within(float(np.abs(ends[0] - ends[1]).max()), 1e-6, 1e6, "rad", "difference at the end")


@claim
def a_step_too_large_is_taken_in_pieces() -> Finding:
    """A step that fails above a quarter of its length is cut in four; difference from four steps by hand."""
    cut = World(_DoublePendulum(limit=0.25 / 60.0), frame_rate=60.0)
    fine = World(_DoublePendulum(), frame_rate=240.0)
    cut.advance(1.0)
    fine.advance(1.0)
    return Finding.error(float(np.abs(cut.state.q - fine.state.q).max()), 1e-9, "rad", f"{cut.retried} steps cut")


def _differs(scene: Scene) -> str | None:
    """None if a scene that is built anew goes on, from a copy of the recording as it was on disk in the middle of the
    run, to the same bits; else how it differs."""
    parameters = scene_parameters(scene, "draft", {k: v for k, v in LIGHT.items() if k in scene.parameters})
    with tempfile.TemporaryDirectory() as folder:
        whole, broken = Path(folder) / "whole.zarr", Path(folder) / "broken.zarr"
        world = scene.build(parameters)
        seconds = 8.0 / world.frame_rate

        def copy(time: float, end: float) -> None:
            if time > 0.5 * seconds and not broken.exists():  # in the step after the fourth frame was saved
                shutil.copytree(whole, broken)

        run_world(world, whole, seconds=seconds, progress=copy, save_every=4)
        again = scene.build(parameters)
        kept = len(Recording.open(broken))
        try:
            run_world(again, broken, seconds=seconds, resume=True)
        except InputError as error:  # one that cannot go on is told by name, and the others are tried
            return f" ({error})"
        a, b = Recording.open(whole), Recording.open(broken)
        same = kept == 5 and len(a) == len(b) == 9 and a.poses.tobytes() == b.poses.tobytes()
        same = same and all(a.signals[name].tobytes() == b.signals[name].tobytes() for name in a.signals)
    return None if same else ""


def _interrupted(press: _Interrupt, path: Path, *, resume: bool) -> None:
    """One run under the handlers of Python itself, whoever listens outside; a Ctrl-C that is not ours is passed on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler), signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        result = run_world(_world(), path, seconds=SECONDS, resume=resume, progress=press)
    finally:
        for kind, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(kind, handler)
    if result.interrupted and np.isfinite(press.stop):
        raise KeyboardInterrupt


class _Interrupt:
    """Presses Ctrl-C once, at `stop` [s]."""

    def __init__(self, stop: float) -> None:
        self.stop = stop

    def __call__(self, time: float, seconds: float) -> None:
        if time >= self.stop:
            self.stop = np.inf
            os.kill(os.getpid(), signal.SIGINT)


@dataclass
class _State:
    q: np.ndarray  # two angles [rad]
    v: np.ndarray  # their rates [rad/s]


class _DoublePendulum:
    """Two rods of 1 m with equal point masses at their ends, semi-implicit Euler."""

    def __init__(self, nudge: float = 0.0, limit: float = np.inf) -> None:
        self.nudge, self.limit = nudge, limit

    def start(self, rng: np.random.Generator) -> _State:
        return _State(np.array([2.0 * (1.0 + self.nudge), 2.5]), np.zeros(2))

    def step(self, state: _State, controls: None, time: float, dt: float) -> None:
        if dt > self.limit * (1.0 + 1e-12):
            raise Diverged("upper rod", "step too long")
        (a, b), (x, y) = state.q, state.v
        cos, sin = np.cos(a - b), np.sin(a - b)
        force = np.array([-(y**2) * sin - 2.0 * 9.81 * np.sin(a), x**2 * sin - 9.81 * np.sin(b)])
        state.v = state.v + dt * np.linalg.solve(np.array([[2.0, cos], [cos, 1.0]]), force)
        state.q = state.q + dt * state.v

    def stage(self) -> Stage:
        return Stage(signals=(Signal("angles", "rad", components=("upper", "lower")),))

    def observe(self, state: _State, controls: None, time: float) -> Frame:
        return Frame(signals={"angles": state.q})


def _world(nudge: float = 0.0) -> World:
    return World(_DoublePendulum(nudge), frame_rate=60.0, substeps=4)
