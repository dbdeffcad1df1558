"""Action units (FACS) and expressions: readable tables, and what they ask of muscles, jaw and lids.

    action_units()["AU12"].muscles          {"zygomaticus_major": 1.0, ...}
    expression("joy")                       {"AU6": 0.8, "AU12": 0.9, "AU25": 0.5}
    blend({"joy": 0.5, "surprise": 0.5})    units of both, each intensity weighted, none above 1
    read_units("AU6+AU12:0.5")              {"AU6": 1.0, "AU12": 0.5}
    effort({"AU12": 1.0})                   activation of the 44 muscles, jaw opening [rad], lids

Units that pull on one muscle add up, no more than fully. Errors name file, line and key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy.tables import read_csv
from vitruvian.control.toml_file import read_text, read_toml
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
HERE = Path(__file__).parent
UNIT_KEYS = ("name", "muscles", "jaw", "upper_lid", "lower_lid")
WIDEST_JAW = 30.0  # [degrees]
SIDES = {"L": ("l",), "R": ("r",), "": ("l", "r")}


@dataclass(frozen=True)
class ActionUnit:
    """What one unit does at intensity 1."""

    name: str
    muscles: Mapping[str, float] = field(default_factory=dict)  # activation of each, 0 to 1
    jaw: float = 0.0  # [degrees]
    upper_lid: float = 0.0  # part of the way to shut
    lower_lid: float = 0.0


@dataclass(frozen=True)
class FaceEffort:
    """What action units ask for."""

    activation: Array  # of the 44 muscles, shape (44,)
    jaw: float  # opening [rad]
    lids: Array  # upper, lower of the left and right eye, part of the way to shut, shape (2, 2)


@lru_cache(maxsize=1)
def muscle_names() -> tuple[str, ...]:
    """The 44 muscles, the left side first."""
    rows = [row["name"] for row in read_csv("face_muscles.csv")]
    return tuple(f"{name}_{side}" for side in "lr" for name in rows)


def action_units(path: str | Path | None = None) -> dict[str, ActionUnit]:
    """The table of units; path: a file of your own instead."""
    return dict(_units(HERE / "action_units.toml" if path is None else Path(path)))


def expressions(path: str | Path | None = None) -> dict[str, dict[str, float]]:
    """All expressions: units with intensities; path: a file of your own instead."""
    return {
        name: dict(units)
        for name, units in _expressions(HERE / "expressions.toml" if path is None else Path(path)).items()
    }


def expression(name: str) -> dict[str, float]:
    """Units of one expression."""
    known = expressions()
    if name not in known:
        raise unknown_name("expression", name, known)
    return known[name]


def blend(weights: Mapping[str, float]) -> dict[str, float]:
    """Several expressions at once."""
    out: dict[str, float] = {}
    for name, weight in weights.items():
        _within(f"blend of expressions: weight of '{name}'", weight, 0.0, 1.0)
        for unit, intensity in expression(name).items():
            out[unit] = min(1.0, out.get(unit, 0.0) + weight * intensity)
    return out


def read_units(text: str) -> dict[str, float]:
    """Units from a list such as `AU6+AU12:0.5`; intensity 1 where none is given."""
    out: dict[str, float] = {}
    for part in text.replace(" ", "").split("+"):
        unit, colon, number = part.partition(":")
        if not unit:
            raise InputError(f"action units '{text}': a name is missing; write AU6+AU12:0.5")
        try:
            out[unit] = float(number) if colon else 1.0
        except ValueError:
            raise InputError(f"action units '{text}': '{number}' is not a number; write AU6+AU12:0.5") from None
    check_units(out)
    return out


def check_units(units: Mapping[str, float]) -> None:
    """Every name known, every intensity from 0 to 1."""
    known = _units(HERE / "action_units.toml")
    for unit, intensity in units.items():
        if _plain(unit)[1] not in known:
            raise unknown_name("action unit", unit, known)
        _within(f"action unit {unit}: intensity", intensity, 0.0, 1.0)


def effort(units: Mapping[str, float]) -> FaceEffort:
    """What units with intensities ask of muscles, jaw and lids."""
    check_units(units)
    known, names = _units(HERE / "action_units.toml"), muscle_names()
    activation, jaw, lids = np.zeros(len(names)), 0.0, np.zeros((2, 2))
    for unit, intensity in units.items():
        side, plain = _plain(unit)
        about = known[plain]
        for muscle, strength in about.muscles.items():
            for s in SIDES[side]:
                activation[names.index(f"{muscle}_{s}")] += intensity * strength
        jaw = max(jaw, intensity * np.radians(about.jaw))
        for s in SIDES[side]:
            lids["lr".index(s)] += intensity * np.array([about.upper_lid, about.lower_lid])
    return FaceEffort(np.minimum(activation, 1.0), float(jaw), np.clip(lids, -0.5, 1.2))


def _plain(unit: str) -> tuple[str, str]:
    """Side ("L", "R" or "") and the unit without it."""
    return (unit[0], unit[1:]) if unit[:1] in ("L", "R") else ("", unit)


@lru_cache(maxsize=8)
def _units(path: Path) -> dict[str, ActionUnit]:
    muscles = {name[:-2] for name in muscle_names()}
    out = {}
    for unit, given in read_toml(path, "action unit").items():
        where = _Where(path, unit)
        if not re.fullmatch(r"AU\d+", unit):
            raise InputError(f"{where('')}: a unit is called AU and a number, not '{unit}'")
        if not isinstance(given, dict):
            raise InputError(f"{where('')}: a unit is a table, [{unit}]")
        for key in given:
            if key not in UNIT_KEYS:
                raise InputError(f"{where(key)}: {unknown_name('key', key, UNIT_KEYS)}")
        for muscle, strength in given.get("muscles", {}).items():
            if muscle not in muscles:
                raise InputError(f"{where(muscle)}: {unknown_name('muscle of the face', muscle, muscles)}")
            _within(f"{where(muscle)}: activation of {muscle}", strength, 0.0, 1.0)
        for key, low, high in (("jaw", 0.0, WIDEST_JAW), ("upper_lid", -0.5, 1.2), ("lower_lid", -0.5, 1.0)):
            _within(f"{where(key)}: {key}", given.get(key, 0.0), low, high)
        out[unit] = ActionUnit(
            str(given.get("name", unit)), given.get("muscles", {}),
            *(float(given.get(key, 0.0)) for key in ("jaw", "upper_lid", "lower_lid")),
        )  # fmt: skip
    return out


@lru_cache(maxsize=8)
def _expressions(path: Path) -> dict[str, dict[str, float]]:
    known = _units(HERE / "action_units.toml")
    out = {}
    for name, given in read_toml(path, "expression").items():
        where = _Where(path, name)
        if not isinstance(given, dict) or not isinstance(given.get("units"), dict):
            raise InputError(f"{where('')}: an expression is a table with units, such as units = {{ AU12 = 0.8 }}")
        for key in given:
            if key != "units":
                raise InputError(f"{where(key)}: {unknown_name('key', key, ('units',))}")
        for unit, intensity in given["units"].items():
            if _plain(unit)[1] not in known:
                raise InputError(f"{where(unit)}: {unknown_name('action unit', unit, known)}")
            _within(f"{where(unit)}: intensity of {unit}", intensity, 0.0, 1.0)
        out[name] = {unit: float(x) for unit, x in given["units"].items()}
    return out


class _Where:
    """Where in a file a key of a table is written, in words."""

    def __init__(self, path: Path, table: str) -> None:
        self.path, self.table = path, table

    def __call__(self, key: str) -> str:
        lines = read_text(self.path, "expression").splitlines()
        head = next((i for i, line in enumerate(lines) if line.strip() == f"[{self.table}]"), 0)
        for i in range(head, len(lines)):
            if i > head and lines[i].lstrip().startswith("["):
                break
            if key and re.search(rf"\b{re.escape(key)}\b", lines[i]):
                return f"{self.path.name}, line {i + 1}, [{self.table}]"
        return f"{self.path.name}, line {head + 1}, [{self.table}]"


def _within(what: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not low <= value <= high:
        raise InputError(f"{what} must lie between {low:g} and {high:g}, not {value}")
