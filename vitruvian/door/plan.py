"""The plan of a sweep: all that decides what its runs are, and where they are kept.

Beside a table `NAME.csv` stands a folder `NAME.runs`:

    plan.json      what is swept, so that `resume` needs nothing but the name of the table
    results/       what each finished run gave, see `vitruvian.swarm`
    recordings/    000017.zarr is that of run 17, where recordings are asked for
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vitruvian import __version__, scenes
from vitruvian.door.axes import Axes, parse_axes
from vitruvian.door.table import SUFFIXES
from vitruvian.errors import InputError
from vitruvian.given_file import read_json
from vitruvian.world import Scene, scene_parameters
from vitruvian.world.whole_file import check_writable, whole_file

FOLDER = Path("sweeps")  # of sweeps that were told no place, in the working folder
MOST_RUNS = 100_000


@dataclass(frozen=True)
class Plan:
    """All that decides what the runs are."""

    scene: str
    axes: Axes
    seeds: int
    seconds: float
    quality: str
    recordings: bool
    version: str = __version__

    def runs(self) -> list[dict[str, Any]]:
        """Parameters and seed of each run; seeds change fastest."""
        scene = scenes.find(self.scene)
        return [
            {"parameters": scene_parameters(scene, self.quality, point), "seed": seed}
            for point in self.axes
            for seed in range(self.seeds)
        ]


def check_plan(plan: Plan) -> None:
    """An error for what can be known to be wrong before anything runs."""
    if not isinstance(plan.seeds, int) or plan.seeds < 1:
        raise InputError(f"seeds must be a whole number of at least 1, not {plan.seeds}")
    if not 0 < plan.seconds < 1e9:
        raise InputError(f"seconds must be positive, not {plan.seconds:g}")
    if (count := len(plan.axes) * plan.seeds) > MOST_RUNS:
        raise InputError(f"that would be {count} runs; the most is {MOST_RUNS}")
    scene_parameters(scenes.find(plan.scene), plan.quality, {})


def plan_again(out: Path, scene: Scene, axes: Axes | None, **said: Any) -> Plan:
    """The plan of the sweep at `out`; an error where something is said differently now."""
    plan = _read_plan(runs_folder(out) / "plan.json")
    told = {"scene": scene.name, "axes": axes, "version": __version__, **said}
    for name, value in told.items():
        if value is not None and value != getattr(plan, name):
            what = "the parameters differ" if name == "axes" else f"its {name} is {getattr(plan, name)}, not {value}"
            raise InputError(f"cannot resume {out}: {what}")
    return plan


def write_plan(out: Path, plan: Plan, resume: bool) -> None:
    """Make the folder of a new sweep; an error now, rather than after the runs, where the table cannot be written."""
    folder = runs_folder(out)
    if not resume:
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise InputError(f"cannot write {folder}: {error.strerror or error}") from error
        with whole_file(folder / "plan.json") as path:
            path.write_text(json.dumps(asdict(plan), indent=1, ensure_ascii=False), encoding="utf-8")
    check_writable(out)


def place_of(scene: str, out: Path | None, resume: bool) -> Path:
    """Where the table of a sweep goes: `out`, or the next (to resume: the latest) of sweeps/SCENE-N.csv."""
    if out is not None:
        return out
    found = {}
    for folder in FOLDER.glob(f"{scene}-*.runs"):
        count = folder.name[len(scene) + 1 : -len(".runs")]
        if count.isdigit():
            tables = [folder.with_suffix(suffix) for suffix in SUFFIXES]
            found[int(count)] = next((table for table in tables if table.exists()), tables[0])
    if not resume:
        return FOLDER / f"{scene}-{max(found, default=0) + 1}.csv"
    if not found:
        raise InputError(f"there is no sweep of {scene} in {FOLDER}/ to resume; name its table with --out")
    return found[max(found)]


def runs_folder(out: Path) -> Path:
    """The folder beside a table that keeps its runs."""
    return out.with_suffix(".runs")


def refuse_existing(out: Path) -> None:
    """An error if there is a table or its folder already."""
    for path in (out, runs_folder(out)):
        if os.path.lexists(path):
            raise InputError(f"{path} already exists; choose another --out, or continue it with --resume")


def _read_plan(path: Path) -> Plan:
    try:
        if not os.path.lexists(path):
            raise InputError(f"there is no sweep to resume: {path} does not exist")
        about = read_json(path, "sweep")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {error}") from error
    try:
        parts = {name: dict(about["axes"][name]) for name in ("fixed", "grid", "drawn")}
        plan = Plan(
            scene=str(about["scene"]),
            axes=Axes(**parts),
            seeds=int(about["seeds"]),
            seconds=float(about["seconds"]),
            quality=str(about["quality"]),
            recordings=bool(about["recordings"]),
            version=str(about["version"]),
        )
        # the values pass the same checks as those that a user gives
        scene = scenes.find(plan.scene)
        given = parse_axes(scene, {**plan.axes.fixed, **plan.axes.grid})
        for name, values in plan.axes.drawn.items():
            for value in values:
                parse_axes(scene, {name: [value]})
        if len({len(values) for values in plan.axes.drawn.values()}) > 1:
            raise ValueError("samples of unequal length")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}") from error
    return replace(plan, axes=Axes(given.fixed, given.grid, plan.axes.drawn))
