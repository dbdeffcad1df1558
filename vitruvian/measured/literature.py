"""Peaks of a gait beside published ranges of healthy adults (`data/gait_bands.csv`, rounded, with the source of each).

Which table applies follows from the measured speed: 0.8 to 1.8 m/s is a walk, 2.2 to 6 m/s a run; else none is used.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from vitruvian.measured.curves import Curves

Array = np.ndarray
SPEEDS = {"walk": (0.8, 1.8), "run": (2.2, 6.0)}  # [m/s]
STANDING = 9.81  # [m/s²]
# quantity of the table -> (table of curves, name before the comma, sign of the peak, divided by)
QUANTITIES = {
    "ankle plantarflexion moment": ("moments", "ankle plantarflexion", 1.0, "mass"),
    "knee extension moment": ("moments", "knee extension", 1.0, "mass"),
    "hip extension moment": ("moments", "hip extension", 1.0, "mass"),
    "hip flexion moment": ("moments", "hip extension", -1.0, "mass"),
    "knee flexion": ("angles", "knee flexion", 1.0, ""),
    "ankle dorsiflexion": ("angles", "ankle dorsiflexion", 1.0, ""),
    "hip flexion": ("angles", "hip flexion", 1.0, ""),
    "vertical ground force": ("ground", "vertical", 1.0, "weight"),
    "hip reaction": ("reactions", "hip", 1.0, "weight"),
    "knee reaction": ("reactions", "knee", 1.0, "weight"),
}


@dataclass(frozen=True)
class Band:
    """A published range of a peak."""

    activity: str
    quantity: str
    low: float
    high: float
    unit: str
    source: str


@dataclass(frozen=True)
class Peak:
    """A peak of a trial beside its band."""

    band: Band
    left: float
    right: float

    @property
    def within(self) -> bool:
        """Whether the mean of both sides lies in the band."""
        return bool(self.band.low <= 0.5 * (self.left + self.right) <= self.band.high)


@lru_cache(maxsize=1)
def bands() -> tuple[Band, ...]:
    with (files("vitruvian.measured") / "data" / "gait_bands.csv").open(encoding="utf-8") as file:
        return tuple(
            Band(r["activity"], r["quantity"], float(r["low"]), float(r["high"]), r["unit"], r["source"])
            for r in csv.DictReader(file)
        )


def activity_of(speed: float) -> str:
    """Walk, run or nothing, by the mean speed [m/s]."""
    return next((word for word, (low, high) in SPEEDS.items() if low <= speed <= high), "")


def peaks(curves: Curves, mass: float, activity: str, *, muscles: bool = True) -> list[Peak]:
    """Peaks of a gait beside the published ranges; none for another activity, none of reactions without muscles."""
    tables, out = curves.tables(), []
    for band in bands():
        if band.activity != activity:
            continue
        table, name, sign, by = QUANTITIES[band.quantity]
        if table == "reactions" and not muscles:
            continue
        size = {"": 1.0, "mass": mass, "weight": mass * STANDING}[by]
        found = {}
        for side in ("left", "right"):
            key = next(k for k in tables[table][1] if k.startswith(f"{name}, {side}"))
            found[side] = float(np.max(sign * tables[table][1][key])) / size
        out.append(Peak(band, found["left"], found["right"]))
    return out
