"""Markers as comma-separated values: a column `time [s]`, then `NAME.x [mm]`, `NAME.y [mm]`, `NAME.z [mm]` of each
marker; empty fields are unseen. Units: those of `c3d`."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vitruvian.errors import InputError
from vitruvian.exchange.c3d import METRES, UPWARD
from vitruvian.given_file import MOST_FIELDS, csv_rows, read_columns
from vitruvian.measured import Trial, seen_only

Array = np.ndarray
MOST_BYTES = 200_000_000
HEAD = re.compile(r"^(?P<name>.+)\.(?P<axis>[xyz])\s*(\[(?P<unit>[^\]]*)\])?$")


def is_marker_csv(path: Path) -> bool:
    """Whether its head is that of markers."""
    head = next(csv.reader(read_columns(path, MOST_BYTES).splitlines()[:1]), [])
    return len(head) > 1 and head[0].strip().lower().startswith("time") and bool(HEAD.match(head[1].strip()))


def read_marker_csv(path: str | Path, up: str = "z") -> Trial:
    """Read and check it; up: the file's axis that points up."""
    path = Path(path)
    rows = [row for row in csv_rows(path, MOST_BYTES) if row]
    columns: dict[str, dict[str, int]] = {}
    units: set[str] = set()
    for k, word in enumerate(rows[0][1:], 1):
        found = HEAD.match(word.strip())
        if found is None:
            raise InputError(f"{path.name}: column {k + 1} is '{word[:40]}', not NAME.x [mm]")
        unit = (found["unit"] or "").strip().lower()
        if unit not in METRES:
            said = f"the unit '{unit}'" if unit else "no unit"
            raise InputError(f"{path.name}: column '{word[:40]}' says {said}; known: {', '.join(METRES)}")
        units.add(unit)
        columns.setdefault(found["name"], {})[found["axis"]] = k
    if len({METRES[unit] for unit in units}) > 1:
        raise InputError(f"{path.name}: columns in {' and in '.join(sorted(units))}; one unit for all is needed")
    metre = METRES[units.pop()] if units else 1.0
    for name, axes in columns.items():
        if len(axes) < 3:
            raise InputError(f"{path.name}: marker '{name}' has columns {', '.join(sorted(axes))} only")
    if len(rows) * len(rows[0]) > MOST_FIELDS:
        raise InputError(f"{path.name}: {len(columns)} markers in {len(rows) - 1} frames are too many numbers")
    values = np.full((len(rows) - 1, len(rows[0])), np.nan)
    for i, row in enumerate(rows[1:]):
        if len(row) != len(rows[0]):
            raise InputError(f"{path.name}: line {i + 2} has {len(row)} columns, the head {len(rows[0])}")
        try:
            values[i] = [float(word) if word.strip() else np.nan for word in row]
            if np.isinf(values[i]).any():
                raise ValueError
        except ValueError:
            k, word = next((k, word) for k, word in enumerate(row) if word.strip() and not _finite(word))
            raise InputError(
                f"{path.name}: line {i + 2}, column {k + 1}: '{word[:40]}' is not a finite number"
            ) from None
    remarks: list[str] = []
    markers = {n: metre * values[:, [a["x"], a["y"], a["z"]]] @ UPWARD[up].T for n, a in columns.items()}
    time, began = values[:, 0], 0.0
    if len(time) and np.isfinite(time).all():
        began = float(time[0])
    return Trial(path.name, "CSV", time - began, seen_only(markers, remarks), remarks=remarks, began=began)


def write_marker_csv(path: str | Path, time: Array, markers: Mapping[str, Array]) -> None:
    """Write markers, name -> [m] (f, 3), in mm; unseen ones are left empty."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time [s]", *(f"{n}.{axis} [mm]" for n in markers for axis in "xyz")])
        for i, t in enumerate(time):
            places = np.concatenate([1e3 * x[i] for x in markers.values()])
            writer.writerow([f"{t:.6g}", *("" if np.isnan(v) else f"{v:.4f}" for v in places)])


def _finite(word: str) -> bool:
    try:
        return not np.isinf(float(word))
    except ValueError:
        return False
