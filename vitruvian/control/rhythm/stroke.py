"""Strokes as readable files: joint angles at key poses of one cycle, fitted by a closed cubic B-spline.

    about = "Front crawl"
    posture = "prone"                       or "supine", "upright": how the body lies when nothing else moves it
    phase = [0, 0.1, ...]                   optional, ascending from 0; without it poses are spaced evenly
    like = "crawl"                          optional: a stroke of the package, of which only what follows is changed
    [angles]                                degrees, one number per pose; a single number holds throughout
    "left elbow flexion" = [25.6, 17.3, ...]

A key is a joint by name ("L5", "Hu_l", "left shoulder", "shoulder" for both sides) and a coordinate of `axes.py`. A
list of phases that ends with 1 repeats the first pose there, which must be the same, or the cycle does not close.
Joints that are not named stay as in the body's default pose.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.control.rhythm.spline import FEWEST, PeriodicSpline
from vitruvian.control.toml_file import own_names, own_text, read_toml
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
POSES = ("streamline",)  # that stand still: read like strokes, not among their names
POSTURES = ("prone", "supine", "upright")
CLOSING = 0.01  # [degrees] by which a repeated last pose may differ from the first: half a rounded digit twice
MOST_POSES = 1000  # in one cycle: the fit solves for as many unknowns
MOST_ANGLES = 1000  # joint coordinates
LARGEST = 3600.0  # [degrees]
ENTRIES = ("about", "posture", "phase", "like", "angles")
SIDES = ("left ", "right ")


@dataclass(frozen=True)
class Stroke:
    """A cycle of joint angles; which joints they are is settled when it is laid on a body (`StrokeMotion`)."""

    name: str
    about: str
    posture: str
    keys: tuple[tuple[str, str], ...]  # (joint word, coordinate) of each angle
    phase: Array  # of the key poses, shape (n,)
    angles: Array  # [rad] at the key poses, shape (n, k)
    spline: PeriodicSpline


def stroke_names() -> tuple[str, ...]:
    """Strokes of the package."""
    return own_names(_folder())


def load_stroke(source: str | Path, *, controls: int | None = None) -> Stroke:
    """A stroke or pose of the package by name ("crawl", "streamline"), or a TOML file.

    `controls` fewer than the poses smooths them."""
    name = Path(source).stem if Path(source).suffix == ".toml" else str(source)
    return parse_stroke(stroke_table(source), name, controls=controls)


def stroke_table(source: str | Path) -> dict[str, Any]:
    """Contents of a stroke's file, by name or path."""
    if Path(source).suffix == ".toml":
        return read_toml(Path(source), "stroke")
    if str(source) in POSES:
        return tomllib.loads((_folder().parent / "poses" / f"{source}.toml").read_text(encoding="utf-8"))
    return tomllib.loads(own_text(str(source), "stroke", _folder()))


def parse_stroke(table: Mapping[str, Any], name: str, *, controls: int | None = None) -> Stroke:
    """A stroke from a file's contents, checked as far as that is possible without a body."""
    what = f"stroke '{name}'"
    strange = set(table) - set(ENTRIES)
    if strange:
        raise InputError(f"{what}: unknown entry '{min(strange)}'; known: {', '.join(ENTRIES)}")
    if "like" in table:
        table = _varied(table, what)
    posture = table.get("posture", "upright")
    if posture not in POSTURES:
        raise InputError(f"{what}: {unknown_name('posture', str(posture), POSTURES)}")
    rows = table.get("angles")
    if not isinstance(rows, Mapping) or not rows:
        raise InputError(f"{what}: needs a table [angles] with a line for each joint coordinate")
    if len(rows) > MOST_ANGLES:
        raise InputError(f"{what}: {len(rows)} joint coordinates, more than {MOST_ANGLES}")
    listed = {word: _numbers(value, what, word) for word, value in rows.items()}
    phase = _phases(table, listed, what)
    n = len(phase)
    columns, keys = [], []
    for word, values in listed.items():
        if len(values) == 1:
            values = np.full(n, values[0])
        if len(values) != n:
            raise InputError(f"{what}: '{word}' has {len(values)} angles for {n} poses")
        if phase[-1] == 1.0 and abs(values[-1] - values[0]) > CLOSING:
            raise InputError(
                f"{what}: the cycle does not close: '{word}' begins at {values[0]:g} and ends at {values[-1]:g} degrees"
            )
        joint, _, coordinate = word.rpartition(" ")
        if not joint:
            raise InputError(f"{what}: '{word}' must be a joint and a coordinate, such as \"left elbow flexion\"")
        keys.append((joint, coordinate))
        columns.append(np.radians(values))
    angles = np.stack(columns, axis=1)
    if phase[-1] == 1.0:
        phase, angles = phase[:-1], angles[:-1]
    if len(phase) < FEWEST:
        raise InputError(f"{what}: {len(phase)} poses are too few for a cycle, it needs {FEWEST} or more")
    try:
        spline = PeriodicSpline.fit(phase, angles, controls)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    return Stroke(name, str(table.get("about", "")), posture, tuple(keys), phase, angles, spline)


def _varied(table: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    """The stroke that a file is like, with the file's own lines in place of those for the same joints."""
    like, own = table["like"], table.get("angles", {})
    if like not in stroke_names():
        raise InputError(f"{what}: {unknown_name('stroke', str(like), stroke_names())}")
    if "phase" in table:
        raise InputError(f"{what}: a file that is like '{like}' keeps its poses and must not have a 'phase'")
    if not isinstance(own, Mapping):
        raise InputError(f"{what}: needs a table [angles] with a line for each joint coordinate")
    base = tomllib.loads((_folder() / f"{like}.toml").read_text(encoding="utf-8"))
    replaced = {side + word for word in own for side in ("", *SIDES)}
    for word in own:  # a line for one side takes that side out of a line for both
        both = word.removeprefix(SIDES[0]).removeprefix(SIDES[1])
        if both != word and both in base["angles"]:
            base["angles"].update({side + both: base["angles"][both] for side in SIDES})
            replaced.add(both)
    kept = {word: angles for word, angles in base["angles"].items() if word not in replaced}
    return {**base, **table, "angles": {**kept, **own}}


def _phases(table: Mapping[str, Any], listed: Mapping[str, Array], what: str) -> Array:
    if "phase" not in table:
        n = max(len(v) for v in listed.values())
        return np.arange(n) / n
    phase = _numbers(table["phase"], what, "phase")
    if phase[0] < 0 or phase[-1] > 1 or (np.diff(phase) <= 0).any() or (phase[-1] == 1 and phase[0] > 0):
        raise InputError(f"{what}: 'phase' must ascend from 0 within one cycle, 0 to 1, got {phase.tolist()!s:.80}")
    return phase


def _numbers(value: Any, what: str, word: str) -> Array:
    """A number or a list of numbers as an array of shape (n,)."""
    listed = value if isinstance(value, list) else [value]
    if not 1 <= len(listed) <= MOST_POSES:
        raise InputError(f"{what}: '{word:.80}' has {len(listed)} numbers; a cycle has 1 to {MOST_POSES} poses")
    for number in listed:
        if isinstance(number, bool) or not isinstance(number, int | float) or not -LARGEST <= number <= LARGEST:
            raise InputError(f"{what}: '{word:.80}' needs finite numbers within ±{LARGEST:g}, got {number!r:.60}")
    return np.array(listed, dtype=float)


def _folder() -> Any:
    return files("vitruvian.control.rhythm") / "strokes"
