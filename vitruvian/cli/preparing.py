"""`vitruvian prepare`: what the first run of a scene would do before it begins, done beforehand and on all cores.

Kernels are compiled the first time they are called, and bones and skin are fitted the first time they are asked for;
both are kept. The parts below are run for a few steps side by side, then the swimmer, who needs water and body.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import perf_counter
from typing import Annotated

import typer

from vitruvian.cli.output import duration, progress_bar, remark
from vitruvian.errors import unknown_name

Settings = Mapping[str, str]
STEPS = 0.05  # [s] simulated
# scene and settings that call the kernels of each part
PREPARED: Mapping[str, tuple[str, Settings]] = {
    "water": ("drop", {}),
    "body": ("crawl", {"water": "still"}),
    "flesh": ("biceps", {}),
    "soft": ("elbow-bend", {}),
}
SWIMMER: tuple[str, Settings] = ("crawl", {})
CHOICES = (*PREPARED, "swimmer")


def prepare(
    parts: Annotated[
        list[str] | None, typer.Argument(metavar="[PART]...", help=f"{', '.join(CHOICES)}; all without it.")
    ] = None,
) -> None:
    """Compile the kernels and fit bones and skin now, on all cores, so that later runs start at once."""
    wanted = set(parts or CHOICES)
    for part in wanted:
        if part not in CHOICES:
            raise unknown_name("part", part, CHOICES)
    swimmer = "swimmer" in wanted
    first = [part for part in PREPARED if part in wanted or (swimmer and part not in ("flesh", "soft"))]
    total, begin = len(first) + swimmer, perf_counter()
    workers = max(1, min(len(first), os.cpu_count() or 1))
    with (
        progress_bar("preparing") as progress,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        waiting = {pool.submit(touch, *PREPARED[part]): part for part in first}
        for done, future in enumerate(as_completed(waiting), start=1):
            future.result()
            remark(f"{waiting[future]} ready")
            progress(done, total)
        if swimmer:
            pool.submit(touch, *SWIMMER).result()
            progress(total, total)
            remark("swimmer ready")
    remark(f"prepared in {duration(perf_counter() - begin)}")


def touch(scene: str, settings: Settings) -> None:
    """Run a scene for a few steps and draw it once, keeping nothing."""
    from vitruvian.scenes import find
    from vitruvian.view import Shooting, one_frame
    from vitruvian.world import scene_parameters

    chosen = find(scene)
    world = chosen.build(scene_parameters(chosen, "draft", settings))
    with warnings.catch_warnings(action="ignore"):  # nothing of this run is kept or looked at
        world.advance(STEPS)
    Shooting(one_frame(world.stage(), world.observe()), size=(160, 90)).shoot(0)
