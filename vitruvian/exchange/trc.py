"""Marker files (TRC) and storage files of ground forces (MOT, STO) as OpenSim and motion laboratories write them.

TRC: five lines of head (type, field names, field values, marker names, axes), then frame, time and three numbers a
marker; empty fields are unseen. MOT: a head that ends with `endheader`, a line of column names, numbers. A plate is a
set of columns `…vx, vy, vz` (force [N]), `…px, py, pz` (where it acts [m]) and, if there, a torque. Both have +y up
unless told otherwise, and one clock: a marker file that begins at 0.8 s meets the forces of 0.8 s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vitruvian.errors import InputError
from vitruvian.exchange.c3d import METRES, UPWARD
from vitruvian.given_file import MOST_FIELDS, read_columns
from vitruvian.measured import ForcePlate, Trial, seen_only

Array = np.ndarray
MOST_BYTES, MOST_MARKERS = 200_000_000, 1000


def read_trc(path: str | Path, up: str = "y") -> Trial:
    """Read and check a marker file; up: the file's axis that points up."""
    path = Path(path)
    lines = _lines(path)
    if len(lines) < 7 or not lines[0].startswith("PathFileType"):
        raise InputError(f"{path.name}: not a TRC file (PathFileType expected in its first line)")
    about = dict(zip(lines[1].split("\t"), lines[2].split("\t")))
    unit = about.get("Units", "").strip().lower()
    if unit not in METRES:
        raise InputError(f"{path.name}: says the unit '{unit}'; known: {', '.join(METRES)}")
    names = [word.strip() for word in lines[3].split("\t")[2:] if word.strip()]
    if len(names) > MOST_MARKERS:
        raise InputError(f"{path.name}: names {len(names)} markers; at most {MOST_MARKERS} are read")
    if not names or len(set(names)) < len(names):
        twice = next((n for n in names if names.count(n) > 1), "")
        raise InputError(f"{path.name}: marker '{twice}' appears twice" if names else f"{path.name}: names no markers")
    rows = [line for line in lines[5:] if line.strip()]
    width = 2 + 3 * len(names)
    if len(rows) * width > MOST_FIELDS:
        raise InputError(f"{path.name}: {len(names)} markers in {len(rows)} frames are too many numbers")
    values = np.full((len(rows), width), np.nan)
    for i, line in enumerate(rows):
        row = line.split("\t")
        if len(row) > width and any(w.strip() for w in row[width:]):
            raise InputError(f"{path.name}: frame {i + 1} has {len(row)} columns, {len(names)} markers need {width}")
        try:
            values[i, : len(row)] = [float(word) if word.strip() else np.nan for word in row[:width]]
        except ValueError:
            for k, word in enumerate(row[:width]):
                _number(word.strip() or "0", f"{path.name}: frame {i + 1}, column {k + 1}")
            raise
    time = values[:, 1]
    places = METRES[unit] * np.einsum("ij,fmj->mfi", UPWARD[up], values[:, 2:].reshape(len(rows), -1, 3))
    remarks = [f"lengths in {unit} by the file"]
    markers, began = seen_only(dict(zip(names, places)), remarks), 0.0
    if len(time) and np.isfinite(time).all():
        began = float(time[0])
        time = time - began
    if began:
        remarks.append(f"time 0 is {began:g} s of the file's clock")
    return Trial(path.name, "TRC", time, markers, remarks=remarks, began=began)


def with_forces(trial: Trial, path: str | Path, up: str = "y") -> Trial:
    """The trial with the ground forces of a MOT or STO file as its plates; both files tell the time of one clock."""
    path = Path(path)
    columns = read_storage(path)
    if "time" not in columns:
        raise InputError(f"{path.name}: has no column 'time'")
    time = columns["time"]
    if (np.diff(time) <= 0).any():
        k = int(np.argmax(np.diff(time) <= 0))
        raise InputError(f"{path.name}: times must ascend; row {k + 2} is at {time[k + 1]:g} s after {time[k]:g} s")
    plates: list[ForcePlate] = []
    axes = UPWARD[up]
    for stem in dict.fromkeys(re.sub(r"v[xyz]$", "", name) for name in columns if re.search(r"v[xyz]$", name)):
        force, place = _three(columns, stem + "v"), _three(columns, stem + "p")
        if force is None or place is None:
            raise InputError(f"{path.name}: '{stem}' needs vx, vy, vz and px, py, pz")
        bare = stem.replace("force", "torque")
        torque = next((t for t in (_three(columns, bare), _three(columns, stem + "m")) if t is not None), None)
        moment = np.cross(place, force) + (0.0 if torque is None else torque)
        label = stem.strip("_").replace("ground_force", "").strip("_") or str(len(plates) + 1)
        plates.append(ForcePlate(label, time - trial.began, force @ axes.T, moment @ axes.T))
    if not plates:
        raise InputError(f"{path.name}: has no ground forces; its columns are {', '.join(list(columns)[:20])}")
    return replace(trial, plates=plates, remarks=(*trial.remarks, f"ground forces from {path.name}"))


def read_storage(path: str | Path) -> dict[str, Array]:
    """Columns of a MOT or STO file by name."""
    path = Path(path)
    lines = _lines(path)
    end = next((i for i, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None or end + 2 > len(lines):
        raise InputError(f"{path.name}: not a storage file (endheader expected)")
    names = lines[end + 1].split()
    rows = [line for line in lines[end + 2 :] if line.strip()]
    if len(rows) * len(names) > MOST_FIELDS:
        raise InputError(f"{path.name}: {len(names)} columns in {len(rows)} rows are too many numbers")
    values = np.zeros((len(rows), len(names)))
    for i, line in enumerate(rows):
        row = line.split()
        if len(row) != len(names):
            raise InputError(f"{path.name}: row {i + 1} has {len(row)} numbers, {len(names)} columns are named")
        where = f"{path.name}: row {i + 1}"
        values[i] = [_number(word, where) for word in row]
    if not len(values) or not np.isfinite(values).all():
        raise InputError(f"{path.name}: has no rows, or numbers that are not finite")
    return dict(zip(names, values.T))


def write_storage(path: Path, name: str, columns: Mapping[str, Array], *, degrees: bool = False) -> None:
    """Write columns (each (f,), `time` first) as an STO file; blanks in names become _."""
    heads = [re.sub(r"[\s,()]+", "_", key).strip("_") for key in columns]
    rows = np.column_stack(list(columns.values()))
    head = [name, "version=1", f"nRows={len(rows)}", f"nColumns={len(heads)}",
            f"inDegrees={'yes' if degrees else 'no'}", "endheader", "\t".join(heads)]  # fmt: skip
    body = ["\t".join(f"{x:.9g}" for x in row) for row in rows]
    path.write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")


def write_columns(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns (each (f,)) as CSV."""
    import csv

    rows = np.column_stack(list(columns.values()))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([[f"{x:.9g}" for x in row] for row in rows])


def _three(columns: Mapping[str, Array], stem: str) -> Array | None:
    found: Sequence[Array | None] = [columns.get(stem + c) for c in "xyz"]
    return None if any(f is None for f in found) else np.column_stack([f for f in found if f is not None])


def _lines(path: Path) -> list[str]:
    return re.split("\r\n|\r|\n", read_columns(path, MOST_BYTES))


def _number(word: str, where: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InputError(f"{where}: '{word[:40]}' is not a number") from None
