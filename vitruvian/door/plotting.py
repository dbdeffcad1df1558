"""The plot of a sweep: a metric against the first parameter that varies, one colour for each value of the second.

Each run is a point. On a grid a line goes through the mean of the runs that share parameter and colour (seeds, further
parameters); a random sample has no line.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vitruvian.errors import InputError, RunFailed, unknown_name
from vitruvian.view.chart import Axis, Series, draw_chart
from vitruvian.world.whole_file import whole_file

if TYPE_CHECKING:
    from vitruvian.door.table import Table

BANDS = 4  # colours for a random number
# how metrics say their unit: the end of their name
UNITS = {
    "_m_per_s2": "m/s²",
    "_m_per_s": "m/s",
    "_rad_s": "rad/s",
    "_n_m": "N m",
    "_deg": "°",
    "_rad": "rad",
    "_percent": "%",
    "_litre": "l",
    "_mm": "mm",
    "_ms": "ms",
    "_kg": "kg",
    "_hz": "Hz",
    "_pa": "Pa",
    "_m2": "m²",
    "_m3": "m³",
    "_s": "s",
    "_m": "m",
    "_n": "N",
    "_j": "J",
    "_w": "W",
}


def plot_table(table: Table, out: str | Path, metric: str | None = None) -> Path:
    """Write the plot of `metric` (the first without it) as a PNG."""
    if Path(out).suffix.lower() != ".png":
        raise InputError(f"the plot of a sweep is a .png file, not '{out}'")
    chosen = choose_metric(table, metric)
    first = table.swept[0] if table.swept else "seed"
    second = table.swept[1] if len(table.swept) > 1 else None
    rows = [row for row in table.rows if (value := _number(row[chosen])) is not None and np.isfinite(value)]
    words: list[str] = []
    if any(isinstance(row[first], str | bool) for row in rows):
        words = list(dict.fromkeys(_said(row[first]) for row in rows))
    groups = _groups(rows, second, table)
    series = [
        _series(name, group, first, chosen, words, scattered=first in table.drawn) for name, group in groups.items()
    ]
    missing = len(table) - len(rows)
    title = f"{table.scene}, {len(rows)} runs" + (f" ({missing} without a value)" if missing else "")
    picture = draw_chart(
        series,
        Axis(_with_unit(first, table.units.get(first, "")), words),
        Axis(metric_title(chosen)),
        title=title,
        key=_with_unit(second, table.units.get(second, "")) if second else "",
    )
    with whole_file(out) as path:
        Image.fromarray(picture).save(path, format="PNG")
    return Path(out)


def choose_metric(table: Table, metric: str | None) -> str:
    """The column to plot: without a wish the first that is finite for some run; an error where no run measured it."""
    if metric is not None and metric not in table.metrics:
        raise unknown_name("metric of these runs", metric, table.metrics)
    for name in table.metrics if metric is None else [metric]:
        if any(np.isfinite(row[name]) for row in table.rows if row[name] is not None):
            return name
    raise RunFailed(f"there is nothing to plot: no run has a finite {metric or 'metric'}")


def metric_title(name: str) -> str:
    """A metric's name as a title: `exact_period_s` is `exact period [s]`."""
    for ending, unit in UNITS.items():
        if name.endswith(ending) and len(name) > len(ending):
            return f"{name[: -len(ending)].replace('_', ' ')} [{unit}]"
    return name.replace("_", " ")


def _groups(rows: list[dict[str, Any]], second: str | None, table: Table) -> dict[str, list[dict[str, Any]]]:
    """Rows by the value of the second parameter, numbers rising; a random number by the part of its range."""
    if second is None:
        return {"": rows}
    values = [row[second] for row in rows]
    numbers = all(_number(value) is not None for value in values)
    groups: dict[str, list[dict[str, Any]]] = {}
    if numbers and second in table.drawn:
        ends = np.linspace(min(values), max(values), BANDS + 1)
        names = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(ends)]
        bands = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, BANDS - 1)
        return {
            name: found
            for k, name in enumerate(names)
            if (found := [row for row, band in zip(rows, bands) if band == k])
        }
    for row in sorted(rows, key=lambda row: row[second]) if numbers else rows:
        groups.setdefault(_said(row[second]), []).append(row)
    return groups


def _series(
    name: str, rows: list[dict[str, Any]], first: str, metric: str, words: list[str], scattered: bool
) -> Series:
    x = np.array([words.index(_said(row[first])) if words else float(row[first]) for row in rows], dtype=float)
    y = np.array([float(row[metric]) for row in rows])
    if scattered or words:
        return Series(name, x, y)
    places = np.unique(x)
    return Series(name, x, y, (places, np.array([y[x == place].mean() for place in places])))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _with_unit(name: str, unit: str) -> str:
    return f"{name.replace('_', ' ')} [{unit}]" if unit else name.replace("_", " ")
