"""Swimmer timings: seconds for a frame of 1/192 s of the crawl in simulated water, split by part.

The documents needed 180 to 600 s for such a frame (Si 2013, section 7.3); our aims are 0.2, 0.8 and 4 s. He swims for
a quarter of a second first, until flow, spray and pressure are those of a swim (or for `WARM` seconds of ours, if that
is less; the figures say how far he came), then the median step is told. A step may be longer than a frame (1/96 s at
draft), and its time is scaled to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np

from vitruvian.anatomy import body_flesh, body_skin
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.couple import PATCHES, FleshSkin, Wading
from vitruvian.scenes import find
from vitruvian.skeleton import bone_poses
from vitruvian.systems import SwimmerSystem
from vitruvian.water import Tank
from vitruvian.world import scene_parameters

FRAME = 1.0 / 192.0  # [s] of the documents
DOCUMENTS = 180.0  # [s] for the fastest of their frames
SWUM = 0.25  # [s] before anything is measured
WARM, MEASURE = 120.0, 60.0  # [s] of ours at most for either
PATCHED = 48  # steps of each that compare patches with none
LEAST = 3  # steps measured, however long they take
# parts of the water's step and the functions of `water.step` that are theirs
WATER = (
    ("pressure", ("project",)),
    ("moving the flow", ("advect_velocity", "extrapolate_velocity")),
    ("surface", ("advect_surface", "make_distance", "extend_under_bodies")),
    ("bodies on the grid", ("rasterise", "set_body_velocity", "buoyancy_correction")),
)


@timing
def frame_draft() -> Timing:
    """A frame of the crawl by muscles and CPG at draft quality, skinning."""
    return _frame("draft", steps=24)


@timing
def frame_standard() -> Timing:
    """The same at standard quality."""
    return _frame("standard", steps=16)


@timing
def frame_fine() -> Timing:
    """The same at fine quality, 20 mm."""
    return _frame("fine", steps=9)


@timing
def flesh_draft() -> Timing:
    """Balance of the flesh after one frame at draft quality (30 mm), to be added where flesh=elements."""
    settings = _settings("draft")
    world = find("crawl").build({**settings, "water": "still", "actuation": "course"})
    swimmer = world.simulation
    assert isinstance(swimmer, SwimmerSystem)
    flesh = FleshSkin(
        swimmer.skeleton,
        swimmer.body.default_q,
        swimmer.skin,
        body_flesh(
            swimmer.body, spacing=settings["spacing"], bellies=body_bellies(swimmer.body, body_skin(swimmer.body))
        ).model,
        swimmer.body.muscles.names,
    )
    working = np.full(swimmer.body.muscles.n_muscles, 0.2)
    world.start()
    motion = flesh.start(world.state.q)
    spent = 0.0
    for _ in range(4):
        world.step()
        poses = bone_poses(swimmer.body.skeleton, world.state.q)
        start = perf_counter()
        flesh.follow(motion, poses, world.dt, working)
        spent += perf_counter() - start
    return Timing(spent / 4.0 * FRAME / world.dt, detail=f"{len(motion.follow.flesh.x)} nodes")


@timing
def patches_beside_none() -> Timing:
    """A frame of the crawl at draft quality with patches about the hands; over one without in the figures; aim 2.5."""
    worlds = {name: find("crawl").build(_settings("draft") | {"patches": name}) for name in PATCHES}
    spent = dict.fromkeys(worlds, 0.0)
    for world in worlds.values():
        world.start()
    steps = 0
    begun = perf_counter()
    while steps < PATCHED and (steps < LEAST or perf_counter() - begun < WARM):
        for name, world in worlds.items():  # by turns: a busy machine slows all alike
            start = process_time()
            world.step()
            spent[name] += process_time() - start if steps else 0.0  # the first compiles
        steps += 1
    share = FRAME / worlds["hands"].dt / max(steps - 1, 1)
    figures = {f"{name} over none": value / spent["none"] for name, value in spent.items() if name != "none"}
    figures["steps measured"] = float(steps - 1)
    return Timing(spent["hands"] * share, detail="processor seconds of whole steps from the start", figures=figures)


def _settings(quality: str) -> dict[str, Any]:
    return dict(scene_parameters(find("crawl"), quality, {}))


def _frame(quality: str, *, steps: int, **options: Any) -> Timing:
    """The median of `steps` steps after a warm-up; options: settings other than the quality's."""
    world = find("crawl").build(_settings(quality) | options)
    swimmer, controller = world.simulation, world.controller
    assert isinstance(swimmer, SwimmerSystem)
    assert isinstance(swimmer.water, Tank)
    assert controller is not None
    world.start()
    begun = perf_counter()
    while world.time < SWUM - 1e-9 and perf_counter() - begun < WARM:
        world.step()
    warmed, first = world.time, world.state.water.substeps
    parts = dict.fromkeys(("control", "bones and skin", *(name for name, _ in WATER)), 0.0)
    _watch(controller, ("act",), parts, "control")
    rows: list[dict[str, float]] = []
    busy = process_time()
    with _watched_water(parts), _watched_body(parts):
        while len(rows) < steps and (len(rows) < LEAST or perf_counter() - begun < WARM + MEASURE):
            parts.update(dict.fromkeys(parts, 0.0))
            start = perf_counter()
            world.step()
            rows.append({"whole": perf_counter() - start} | parts)
    share = FRAME / world.dt
    middle = {name: float(np.median([row[name] for row in rows])) * share for name in rows[0]}
    rest = [row["whole"] - row["control"] - row["bones and skin"] for row in rows]
    figures = {f"{name} [s]": middle[name] for name in ("control", "bones and skin")}
    figures["water [s]"] = float(np.median(rest)) * share
    figures |= {f"water: {name} [s]": middle[name] for name, _ in WATER}
    figures["slowest step [s]"] = max(row["whole"] for row in rows) * share
    figures["processor [s]"] = (process_time() - busy) * share / len(rows)
    figures["of real time"] = FRAME / middle["whole"]
    figures["documents [s]"] = DOCUMENTS
    figures["sub-steps per step"] = (world.state.water.substeps - first) / len(rows)
    figures["swum before [s]"], figures["steps measured"] = warmed, float(len(rows))
    shape = "x".join(map(str, swimmer.water.shape))
    detail = f"{shape} cells, {len(swimmer.skin.faces)} triangles, 846 muscles, step {world.dt:.4f} s"
    return Timing(middle["whole"], detail=detail, figures=figures)


@contextmanager
def _watched_body(parts: dict[str, float]) -> Iterator[None]:
    """The same for what the water asks of the body."""
    with ExitStack() as stack:
        for name in ("advance", "links", "skins", "receive"):
            stack.enter_context(patch.object(Wading, name, _timed(getattr(Wading, name), parts, "bones and skin")))
        yield


@contextmanager
def _watched_water(parts: dict[str, float]) -> Iterator[None]:
    """Let the parts of the water's step add their time, while this lasts."""
    story = import_module("vitruvian.water.substep")
    with ExitStack() as stack:
        for part, names in WATER:
            for name in names:
                stack.enter_context(patch.object(story, name, _timed(getattr(story, name), parts, part)))
        yield


def _timed(call: Any, parts: dict[str, float], part: str) -> Any:
    def run(*arguments: Any, **options: Any) -> Any:
        start = perf_counter()
        try:
            return call(*arguments, **options)
        finally:
            parts[part] += perf_counter() - start

    return run


def _watch(owner: Any, names: tuple[str, ...], parts: dict[str, float], part: str) -> None:
    """Let calls of these methods add their time to a part; only this run's objects are touched."""
    for name in names:
        setattr(owner, name, _timed(getattr(owner, name), parts, part))
