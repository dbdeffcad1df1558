"""`vt.sweep`: a scene over many parameters and seeds, on any engine, into one table.

    vt.sweep("pendulum", length=[0.5, 1.0], amplitude="10:170:9", seconds=5)
    vt.sweep("crawl", rate="~0.5:1.0", sample=20, seeds=3, out="sweeps/mine.csv", scheduler="tcp://10.0.0.1:8786")

Everything is checked before the first run. A run that fails has its error in the table, and the sweep goes on. With
`out` the table is written there, and finished runs are kept beside it (`plan` says how).
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any

from vitruvian import __version__, scenes, swarm
from vitruvian.door.axes import Axes, parse_axes
from vitruvian.door.plan import Plan, check_plan, plan_again, refuse_existing, runs_folder, write_plan
from vitruvian.door.running import run
from vitruvian.door.table import Table, check_suffix, tabulate
from vitruvian.errors import InputError, VitruvianError
from vitruvian.swarm.keeping import count_kept
from vitruvian.swarm.work import broken_off

RECORDINGS = "recordings"
TEMPORARY = "vitruvian-sweep-of-{}-"  # folders of runs, by the process that started their worker


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a sweep; finished runs are kept in the folder beside `out`, if there is one."""

    def __init__(self, done: int, total: int, out: Path | None) -> None:
        super().__init__(done, total, out)
        self.done, self.total, self.out = done, total, out

    def __str__(self) -> str:
        after = "sweep again with resume to go on" if self.out else "nothing is kept, since no `out` was given"
        return f"interrupted after {self.done} of {self.total} runs; {after}"


def sweep(
    scene: str,
    /,
    *,
    seeds: int | None = None,
    seconds: float | None = None,
    quality: str | None = None,
    sample: int | None = None,
    draw: int = 0,
    out: str | Path | None = None,
    recordings: bool | None = None,
    resume: bool = False,
    processes: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Table:
    """Run `scene` for every combination of `parameters` and `seeds` (0, 1, … seeds − 1; one without it).

    A parameter is one value, a sequence of values, or text: "a:b:n" is n values from a to b, "x,y,z" those values,
    "~a:b" drawn at random between a and b, "~x,y,z" from those; `sample` is the number of random draws and `draw`
    seeds them. `seconds` [s] and `quality` are as in `run`. The engine is `processes` of this machine (all its cores
    without it) or the Dask cluster at `scheduler`; the table is the same but for its last column, `wall_seconds`.
    With `out` (.csv or .parquet) the table is written and finished runs are kept, so that a sweep that was stopped goes
    on with `resume`; what is not said again is as it was. With `recordings` those of all runs are kept too.
    """
    path = None if out is None else Path(out)
    if path is not None:
        check_suffix(path)
    elif resume or recordings:
        raise InputError("resume and recordings want the name of the table (out)")
    chosen = scenes.find(scene)
    axes = parse_axes(chosen, parameters, sample=sample, draw=draw) if parameters or sample is not None else None
    if resume:
        assert path is not None
        plan = plan_again(path, chosen, axes, seeds=seeds, seconds=seconds, quality=quality, recordings=recordings)
    else:
        plan = Plan(
            scene=chosen.name,
            axes=axes or Axes({}, {}, {}),
            seeds=1 if seeds is None else seeds,
            seconds=chosen.seconds if seconds is None else seconds,
            quality=quality or "draft",
            recordings=bool(recordings),
        )
        if path is not None:
            refuse_existing(path)
    check_plan(plan)
    swarm.check_engine(processes, scheduler)
    runs = plan.runs()
    if path is not None:
        write_plan(path, plan, resume)
    kept = None if path is None else runs_folder(path) / "results"
    done = 0

    def count(finished: int, total: int) -> None:
        nonlocal done
        done = finished
        if progress:
            progress(finished, total)

    try:
        outcomes = swarm.map(
            run_one,
            [_item(plan, path, index, about) for index, about in enumerate(runs)],
            processes=processes,
            scheduler=scheduler,
            progress=count,
            keep=kept,
        )
    except KeyboardInterrupt:
        # a run may have been kept and not yet counted
        done = done if kept is None else count_kept(kept)
        raise SweepInterrupted(done, len(runs), path) from None
    finally:
        _clear_temporary()
    units = {name: parameter.unit for name, parameter in chosen.parameters.items()}
    table = tabulate(plan.scene, runs, outcomes, swept=plan.axes.names, drawn=list(plan.axes.drawn), units=units)
    if path is not None:
        _clear_partial(path)
        table.write(path)
    return table


def check_options(settings: Mapping[str, Any]) -> None:
    """An error for a parameter that is called like an option of `sweep`; no scene has one."""
    for name in settings:
        if name in signature(sweep).parameters:
            raise InputError(f"'{name}' is not a parameter of a scene; it has an option of its own, --{name}")


def run_one(item: Mapping[str, Any]) -> dict[str, Any]:
    """One run of a sweep, in whatever process: what it measured, or the error with which it ended."""
    if item["version"] != __version__:
        raise InputError(f"this worker has vitruvian {__version__}, the sweep is of {item['version']}")
    begun = perf_counter()
    outcome: dict[str, Any] = {"checks": {}, "metrics": {}, "error": "", "recording": item["name"]}
    with _recorded(item["recording"]) as path:
        try:
            conditions = {name: item[name] for name in ("seconds", "quality", "seed")}
            result = run(item["scene"], out=path, **conditions, **item["parameters"])
            outcome["checks"] = {name: bool(good) for name, good in result.checks.items()}
            outcome["metrics"] = {name: float(value) for name, value in result.metrics.items()}
        except Exception as error:
            if broken_off(error):
                raise
            # the recording's place is this attempt's own, and would make the same failure read differently each time
            words = str(error).replace(str(path), "the recording")
            said = words if isinstance(error, VitruvianError) else f"{type(error).__name__}: {words}"
            outcome["error"] = " ".join(said.split())
    return outcome | {"wall_seconds": perf_counter() - begun}


def _item(plan: Plan, out: Path | None, index: int, about: Mapping[str, Any]) -> dict[str, Any]:
    name, recording = None, None
    if plan.recordings and out is not None:
        place = runs_folder(out) / RECORDINGS / f"{index:06d}.zarr"
        # in the table as seen from the table, to a worker as seen from anywhere
        name, recording = str(place.relative_to(out.parent)), str(place.resolve())
    conditions = {"scene": plan.scene, "seconds": plan.seconds, "quality": plan.quality, "version": plan.version}
    return {**about, **conditions, "recording": recording, "name": name}


@contextmanager
def _recorded(place: str | None) -> Iterator[Path]:
    """Where to record: nowhere that lasts, or under another name beside `place`, which it gets when it is finished."""
    if place is None:
        with tempfile.TemporaryDirectory(prefix=TEMPORARY.format(os.getppid())) as folder:
            yield Path(folder) / "run.zarr"
        return
    final = Path(place)
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = final.with_name(f".{final.name}.{socket.gethostname()}-{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    yield partial
    if partial.exists():
        shutil.rmtree(final, ignore_errors=True)  # of an attempt that died after it
        os.replace(partial, final)


def _clear_temporary() -> None:
    """Remove what worker processes of this one left behind that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(TEMPORARY.format(os.getpid()) + "*"):
        shutil.rmtree(folder, ignore_errors=True)


def _clear_partial(out: Path) -> None:
    """Remove what runs left behind whose worker died."""
    for partial in (runs_folder(out) / RECORDINGS).glob(".*.partial"):
        shutil.rmtree(partial, ignore_errors=True)
