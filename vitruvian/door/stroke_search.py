"""`vt.search_stroke`: a stroke bettered by CMA-ES over a few readable numbers (`control.rhythm.shaping`).

    changes = {"twist times": (1.0, 0.2), "shoulder rotation at 0.5": (0.0, 6.0)}       start and step of each
    vt.search_stroke("crawl", changes, out="found", rate=0.7, water="still")

Every trial is a run of the stroke's scene; what it costs is time and energy per metre, both reported:

    J = 1/v + w E,   v mean speed [m/s], E work of the muscles per metre [J/m], w [s/J] what a joule is worth

Trials go through `vt.map`, and finished ones are kept in `out`: a search that was stopped goes on where it was when
asked for again, since its draws follow from the seed alone.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian import swarm
from vitruvian.control.rhythm import shaped, stroke_table, write_stroke
from vitruvian.door.running import run
from vitruvian.errors import InputError, MissingExtra, VitruvianError

JOULE = 0.001  # w [s/J]
CYCLES = 3.0  # of a trial; the first is not counted
FAILED = 100.0  # cost of a trial that could not be swum


@dataclass(frozen=True)
class Swum:
    """What a trial came to."""

    cost: float
    speed: float  # [m/s]
    energy: float  # [J/m]
    changes: dict[str, float]


@dataclass(frozen=True)
class Trial:
    """One stroke swum: from changes to what they cost."""

    scene: str
    table: Mapping[str, Any]
    joule: float
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, changes: dict[str, float]) -> list[float]:
        """Cost, speed [m/s] and energy [J/m]."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tried.toml"
            try:
                write_stroke(shaped(self.table, changes), path)
                swim = run(self.scene, out=Path(folder) / "swim.zarr", stroke=str(path), **self.settings)
            except VitruvianError:
                return [FAILED, 0.0, 0.0]
        speed, energy = swim.metrics["mean_speed"], swim.metrics.get("energy_per_metre_j", 0.0)
        upright = all(good for name, good in swim.checks.items() if name in ("prone", "on his back", "head first"))
        if not (speed > 0.0 and upright):
            return [FAILED, 0.0, 0.0]
        return [1.0 / speed + self.joule * energy, speed, energy]


def search_stroke(
    stroke: str,
    changes: Mapping[str, tuple[float, float]],
    *,
    out: str | Path,
    scene: str | None = None,
    rounds: int = 10,
    population: int = 8,
    joule: float = JOULE,
    seed: int = 1,
    processes: int | None = 1,
    scheduler: str | None = None,
    say: Callable[[str], None] = lambda line: None,
    judge: Callable[[dict[str, float]], list[float]] | None = None,
    **settings: Any,
) -> Swum:
    """The best of all trials, its stroke in `out`/best.toml and its figures in `out`/best.json.

    stroke: by name, or a file. changes: start and step of each. settings: parameters of the scene (the stroke's own
    without `scene`), `seconds` and `quality`. judge: another
    trial than a swim, from changes to cost, speed and energy."""
    try:
        import cma
    except ImportError:
        raise MissingExtra("cma", "pip install 'vitruvian[search]'") from None
    if len(changes) < 2 or not all(step > 0.0 for _, step in changes.values()):
        raise InputError("a search wants two changes or more, each with a start and a step above zero")
    table, folder = stroke_table(stroke), Path(out)
    start, step = (np.array(x) for x in zip(*changes.values()))
    settings = {"water": "still", **settings}
    if "rate" in settings:
        settings.setdefault("seconds", (CYCLES + 0.02) / float(settings["rate"]))
    judge = judge or Trial(scene or stroke, table, joule, settings)
    folder.mkdir(parents=True, exist_ok=True)

    def named(u: np.ndarray) -> dict[str, float]:
        return dict(zip(changes, (start + step * u).round(4).tolist()))

    def tried(points: list[np.ndarray], name: str) -> list[Swum]:
        items = [named(u) for u in points]
        found = swarm.map(judge, items, processes=processes, scheduler=scheduler, keep=folder / name)
        return [Swum(cost, speed, energy, item) for (cost, speed, energy), item in zip(found, items)]

    strategy = cma.CMAEvolutionStrategy(np.zeros(len(start)), 1.0, {"seed": seed, "popsize": population, "verbose": -9})
    best = tried([np.zeros(len(start))], "start")[0]
    say(f"begins at {best.speed:.3f} m/s, {best.energy:.0f} J/m: {best.cost:.3f}")
    for n in range(rounds):
        points = strategy.ask()
        found = tried(points, f"round-{n + 1}")
        strategy.tell(points, [s.cost for s in found])
        best = min([best, *found], key=lambda s: s.cost)
        say(f"round {n + 1} of {rounds}: {best.speed:.3f} m/s, {best.energy:.0f} J/m: {best.cost:.3f}")
    write_stroke(shaped(table, best.changes), folder / "best.toml")
    figures = {"cost": best.cost, "speed": best.speed, "energy_per_metre_j": best.energy, "changes": best.changes}
    (folder / "best.json").write_text(json.dumps(figures, indent=1) + "\n")
    return best
