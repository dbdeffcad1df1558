"""What it costs to record and to save a run the size of a whole body.

206 bones, 823 muscles of four points, a skin of 20,000 vertices, 40 signals: one frame is 0.4 MB.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.world import Frame, Lines, LinesFrame, Recorder, Recording, Signal, Stage, Surface, SurfaceFrame, World
from vitruvian.world.checkpoint import save_checkpoint

BONES, MUSCLES, VERTICES, SIGNALS, FRAMES = 206, 823, 20_000, 40, 240
DETAIL = f"{BONES} bones, {MUSCLES} muscles, {VERTICES} vertices, {SIGNALS} signals"


@timing
def recording_a_frame() -> Timing:
    """Append one frame, flushes included, and what it takes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        recorder, seconds = _record(Path(folder) / "r.zarr")
        size = sum(file.stat().st_size for file in recorder.path.rglob("*") if file.is_file())
    return Timing(seconds / FRAMES, detail=DETAIL, figures={"kB_per_frame": size / FRAMES / 1e3})


@timing
def reading_a_frame() -> Timing:
    """Read one frame after the other, as a viewer does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.zarr"
        _record(path)
        recording = Recording.open(path)
        recording.frame(0)
        begun = perf_counter()
        for i in range(FRAMES):
            recording.frame(i)
        seconds = perf_counter() - begun
    return Timing(seconds / FRAMES, detail=DETAIL)


@timing
def saving_a_checkpoint() -> Timing:
    """Write a state of 10 MB, on the disk and not only handed to the system."""
    world = World(_Big())
    world.start()
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for _ in range(5):
            begun = perf_counter()
            save_checkpoint(Path(folder), world, 1)
            times.append(perf_counter() - begun)
    return Timing(min(times), detail="1.25 million numbers")


@timing
def stepping_nothing() -> Timing:
    """A step of an empty simulation: snapshot, checks and bookkeeping of the world itself."""
    world = World(_Small())
    world.start()
    for _ in range(100):
        world.step()
    begun = perf_counter()
    for _ in range(5000):
        world.step()
    return Timing((perf_counter() - begun) / 5000, detail="two arrays of 163 numbers")


def _record(path: Path) -> tuple[Recorder, float]:
    rng = np.random.default_rng(0)
    faces = rng.integers(0, VERTICES, size=(2 * VERTICES, 3))
    stage = Stage(
        bodies=tuple(f"bone {i}" for i in range(BONES)),
        surfaces=(Surface("skin", faces, value="strain", layer="skin"),),
        lines=(
            Lines("muscles", 4 * np.arange(MUSCLES + 1), np.full(MUSCLES, 0.01), value="activation", layer="muscles"),
        ),
        signals=tuple(Signal(f"signal {i}", "N") for i in range(SIGNALS)),
    )
    frames = [
        Frame(
            rng.normal(size=(BONES, 7)),
            {signal.name: rng.normal() for signal in stage.signals},
            {"skin": SurfaceFrame(rng.normal(size=(VERTICES, 3)), None, rng.random(VERTICES))},
            {"muscles": LinesFrame(rng.normal(size=(4 * MUSCLES, 3)), rng.random(MUSCLES))},
        )
        for _ in range(17)  # no chunk holds the same frame twice, which would compress too well
    ]
    recorder = Recorder.create(path, stage, {"frame_rate": 60.0})
    begun = perf_counter()
    for i in range(FRAMES):
        recorder.append(i / 60.0, frames[i % 17])
        if i % 60 == 59:
            recorder.flush()
    return recorder, perf_counter() - begun


@dataclass
class _State:
    q: np.ndarray
    v: np.ndarray = field(default_factory=lambda: np.zeros(163))


class _Small:
    def start(self, rng: np.random.Generator) -> _State:
        return _State(rng.normal(size=163))

    def step(self, state: _State, controls: None, time: float, dt: float) -> None:
        pass

    def stage(self) -> Stage:
        return Stage()

    def observe(self, state: _State, controls: None, time: float) -> Frame:
        return Frame()


class _Big(_Small):
    def start(self, rng: np.random.Generator) -> _State:
        return _State(rng.normal(size=1_250_000))
