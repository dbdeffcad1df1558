"""Swimmer timings: seconds for a frame of 1/192 s of the crawl in simulated water, split by part.

The documents needed 180 to 600 s for such a frame (Si 2013, section 7.3); our aims are 0.2, 0.8 and 4 s. A frame is
measured in mid-stroke after a few steps (0.25, 0.03 and 0.01 s); a step may be longer than a frame (1/96 s at draft),
and its time is scaled to one.
"""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

from vitruvian.anatomy.skin_flesh import body_flesh
from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.scenes._swim import PARAMETERS, QUALITIES, stroke_world
from vitruvian.skeleton import bone_poses
from vitruvian.water import Tank
from vitruvian.world.swim import SwimSimulation
from vitruvian.world.swim_flesh import FleshSkin

FRAME = 1.0 / 192.0  # [s] of the documents
DOCUMENTS = 180.0  # [s] for the fastest of their frames


@timing
def frame_draft() -> Timing:
    """A frame of the crawl by muscles and CPG at draft quality, skinning."""
    return _frame("draft", warm=24, steps=12)


@timing
def frame_standard() -> Timing:
    """The same at standard quality."""
    return _frame("standard", warm=6, steps=4)


@timing
def frame_seed() -> Timing:
    """The same at seed quality, 20 mm."""
    return _frame("seed", warm=2, steps=2)


@timing
def flesh_draft() -> Timing:
    """Balance of the flesh after one frame at draft quality (30 mm), to be added where flesh=elements."""
    settings = _settings("draft")
    world = stroke_world("crawl", {**settings, "water": "still", "actuation": "course"}, drawn=False)
    swimmer = world.simulation
    assert isinstance(swimmer, SwimSimulation)
    flesh = FleshSkin(swimmer.body, swimmer.skin, body_flesh(swimmer.body, spacing=settings["spacing"]))
    world.start()
    motion = flesh.start(world.state.q)
    spent = 0.0
    for _ in range(4):
        world.step()
        poses = bone_poses(swimmer.body.skeleton, world.state.q)
        start = perf_counter()
        flesh.follow(motion, poses, world.dt)
        spent += perf_counter() - start
    return Timing(spent / 4.0 * FRAME / world.dt, detail=f"{len(motion.follow.flesh.x)} nodes")


def _settings(quality: str) -> dict[str, Any]:
    return {**{name: p.default for name, p in PARAMETERS.items()}, **QUALITIES[quality]}


def _frame(quality: str, *, warm: int, steps: int) -> Timing:
    world = stroke_world("crawl", _settings(quality), drawn=False)
    swimmer, controller = world.simulation, world.controller
    assert isinstance(swimmer, SwimSimulation)
    assert isinstance(swimmer.water, Tank)
    assert controller is not None
    world.start()
    for _ in range(warm):
        world.step()
    parts = {"control": 0.0, "bones and skin": 0.0}
    _watch(swimmer.mechanism, ("advance", "links", "skins", "receive"), parts, "bones and skin")
    _watch(controller, ("act",), parts, "control")
    start, busy = perf_counter(), process_time()
    first = world.state.water.substeps
    for _ in range(steps):
        world.step()
    share = FRAME / (steps * world.dt)
    spent = perf_counter() - start
    figures = {f"{name} [s]": value * share for name, value in parts.items()}
    figures["processor [s]"] = (process_time() - busy) * share
    figures["water [s]"] = (spent - sum(parts.values())) * share
    figures["documents [s]"] = DOCUMENTS
    figures["sub-steps per step"] = (world.state.water.substeps - first) / steps
    shape = "x".join(map(str, swimmer.water.shape))
    detail = f"{shape} cells, {len(swimmer.skin.faces)} triangles, 846 muscles, step {world.dt:.4f} s"
    return Timing(spent * share, detail=detail, figures=figures)


def _watch(owner: Any, names: tuple[str, ...], parts: dict[str, float], part: str) -> None:
    """Let calls of these methods add their time to a part; only this run's objects are touched."""

    def timed(call: Any) -> Any:
        def run(*arguments: Any, **options: Any) -> Any:
            start = perf_counter()
            try:
                return call(*arguments, **options)
            finally:
                parts[part] += perf_counter() - start

        return run

    for name in names:
        setattr(owner, name, timed(getattr(owner, name)))
