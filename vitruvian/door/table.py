"""`Table`: the rows that a sweep gave, as arrays, as a pandas table, as a CSV or Parquet file, as a plot."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError, MissingExtra, unknown_name
from vitruvian.world.whole_file import whole_file

SUFFIXES = (".csv", ".parquet")
CLOCK = "wall_seconds"  # the one column that is not the same each time
INSTALL = "pip install 'vitruvian[table]'"


@dataclass(frozen=True, repr=False)
class Table:
    """One row for each run. Columns: parameters, seed, checks (`check: …`), metrics, passed, error, wall_seconds.

    A value that a run does not have is None; a run that failed has an `error` and neither checks nor metrics.
    """

    scene: str
    rows: list[dict[str, Any]]
    swept: tuple[str, ...] = ()  # parameters that vary, in the order given
    drawn: tuple[str, ...] = ()  # those of them that were drawn at random
    checks: tuple[str, ...] = ()  # names of columns
    metrics: tuple[str, ...] = ()  # names of columns
    units: Mapping[str, str] = field(default_factory=dict)  # of parameters

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self.rows[0]) if self.rows else []

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows of runs that ended with an error."""
        return [row for row in self.rows if row["error"]]

    @property
    def not_passed(self) -> list[dict[str, Any]]:
        """Rows of runs that ended well and of which a check failed."""
        return [row for row in self.rows if row["passed"] is False]

    def column(self, name: str) -> np.ndarray:
        """One column as an array of shape (rows,): numbers (NaN where there is none), truth values or words."""
        if name not in self.columns:
            raise unknown_name("column", name, self.columns)
        values = [row[name] for row in self.rows]
        known = [value for value in values if value is not None]
        if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
            return np.array([np.nan if value is None else value for value in values])
        if len(known) < len(values):
            return np.array(values, dtype=object)
        return np.array(values)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", INSTALL) from None
        return pandas.DataFrame(self.rows, columns=self.columns)

    def write(self, out: str | Path) -> Path:
        """Write a .csv or .parquet file; numbers are written so that they are read back to the same bits."""
        suffix = check_suffix(out)
        with whole_file(out) as path:
            if suffix == ".parquet":
                import pyarrow
                import pyarrow.parquet

                pyarrow.parquet.write_table(pyarrow.Table.from_pylist(self.rows), path)
            else:
                with open(path, "w", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, self.columns, lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(self.rows)
        return Path(out)

    def plot(self, out: str | Path, metric: str | None = None) -> Path:
        """Draw `metric` (the scene's first without it) against the first parameter that varies; write a PNG."""
        from vitruvian.door.plotting import plot_table

        return plot_table(self, out, metric)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        found = f"{len(self)} runs of {self.scene}"
        if self.swept:
            found += f" over {', '.join(self.swept)}"
        return f"{found}: {len(self.failed)} failed, {len(self.not_passed)} did not pass their checks"


def check_suffix(out: str | Path) -> str:
    """`.csv` or `.parquet`; an error for another one, or where the package that writes it is missing."""
    suffix = Path(out).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a table is a {' or '.join(SUFFIXES)} file, not '{out}'")
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra("pyarrow", INSTALL) from None
    return suffix


def tabulate(
    scene: str,
    runs: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Mapping[str, Any]],
    *,
    swept: Sequence[str],
    drawn: Sequence[str],
    units: Mapping[str, str],
) -> Table:
    """The table of `runs` (parameters, seed) and what became of them (checks, metrics, error, wall_seconds)."""
    parameters = list(dict.fromkeys([*swept, *(name for run in runs for name in run["parameters"])]))
    checks = list(dict.fromkeys(name for outcome in outcomes for name in outcome["checks"]))
    metrics = list(dict.fromkeys(name for outcome in outcomes for name in outcome["metrics"]))
    # a metric that is called like a parameter is told from it
    called = {name: f"{name} (measured)" if name in (*parameters, "seed") else name for name in metrics}
    rows = []
    for run, outcome in zip(runs, outcomes, strict=True):
        row = {name: run["parameters"].get(name) for name in parameters}
        row["seed"] = run["seed"]
        row |= {f"check: {name}": outcome["checks"].get(name) for name in checks}
        row |= {called[name]: outcome["metrics"].get(name) for name in metrics}
        row["passed"] = None if outcome["error"] else all(outcome["checks"].values())
        row["error"] = outcome["error"]
        if outcome["recording"] is not None:
            row["recording"] = outcome["recording"]
        row[CLOCK] = outcome["wall_seconds"]
        rows.append(row)
    return Table(
        scene=scene,
        rows=rows,
        swept=tuple(swept),
        drawn=tuple(drawn),
        checks=tuple(f"check: {name}" for name in checks),
        metrics=tuple(called.values()),
        units=dict(units),
    )
