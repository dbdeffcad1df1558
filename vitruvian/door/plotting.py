"""The plot of a sweep: a metric against the first parameter that varies, one colour for each value of the second.

Each run is a point. On a grid a line goes through the mean of the runs that share parameter and colour (seeds, further
parameters); a random sample has no line.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vitruvian.errors import InputError, RunFailed, unknown_name
from vitruvian.view.chart import Axis, Series, draw_chart
from vitruvian.world.whole_file import whole_file

if TYPE_CHECKING:
    from vitruvian.door.table import Table

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
    rows = [row for row in table.rows if _number(row[first]) is not None or isinstance(row[first], str | bool)]
    rows = [row for row in rows if (value := _number(row[chosen])) is not None and np.isfinite(value)]
    if not rows:
        raise RunFailed(f"there is nothing to plot: no run has a finite {chosen}")
    words: list[str] = []
    if any(isinstance(row[first], str | bool) for row in rows):
        words = list(dict.fromkeys(_said(row[first]) for row in rows))
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(None if second is None else row[second], []).append(row)
    if second is not None and second in table.drawn and not isinstance(rows[0][second], str | bool):
        groups = {None: rows}  # as many colours as points would say nothing
        second = None
    else:
        groups = dict(sorted(groups.items(), key=_order)) if second is not None else groups
    series = [
        _series(_said(value), group, first, chosen, words, first in table.drawn) for value, group in groups.items()
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
    """The column to plot; an error where no run measured it."""
    if not table.metrics:
        raise RunFailed("there is nothing to plot: no run has a metric")
    if metric is None:
        return table.metrics[0]
    if metric not in table.metrics:
        raise unknown_name("metric of these runs", metric, table.metrics)
    return metric


def metric_title(name: str) -> str:
    """A metric's name as a title: `exact_period_s` is `exact period [s]`."""
    for ending, unit in UNITS.items():
        if name.endswith(ending) and len(name) > len(ending):
            return f"{name[: -len(ending)].replace('_', ' ')} [{unit}]"
    return name.replace("_", " ")


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


def _order(pair: tuple[Any, Any]) -> tuple[bool, Any]:
    """Numbers rise; words stay as they were given."""
    number = _number(pair[0])
    return (number is None, 0 if number is None else number)


def _with_unit(name: str, unit: str) -> str:
    return f"{name.replace('_', ' ')} [{unit}]" if unit else name.replace("_", " ")
