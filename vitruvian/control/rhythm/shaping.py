"""A stroke changed by a few readable numbers: what a search turns, and what a coach would say.

    "shoulder abduction at 0.48" = 5     degrees added about that phase of the left arm: cos²(π d / 2 w) at a distance d
                                         < w = 0.12 of a cycle. The right side has it half a cycle later if the file
                                         has the sides in turn, at the same phase if it has both in one line
    "twist times" = 1.2                  all lines of that coordinate but the pelvis's, neck's and head's; "hip flexion
                                         times" swings about its mean
    "twist later" = 0.1                  the same lines a tenth of a cycle later, against arms and legs
    "knee flexion plus" = -3             the whole line
    "arms 0.62 at" = 0.66                time of the arms bent, so that what happened at 0.62 happens at 0.66: a smooth
                                         ascending curve (PCHIP) through all such pairs

A change takes the table of a stroke file and returns one, which can be written and read again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from vitruvian.control.rhythm.spline import PeriodicSpline
from vitruvian.errors import InputError

Array = np.ndarray
Pairs = list[tuple[float, float]]
WIDTH = 0.12  # w, cycles
ARMS = ("clavicle", "shoulder", "elbow", "forearm", "wrist")
LEGS = ("hip", "knee", "ankle")
_SIDES = ("left ", "right ")
_NECK = ("pelvis", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "Sku")
_BUMP = re.compile(r"(.+) at (-?[\d.]+)$")
_BEND = re.compile(r"(arms|legs) ([\d.]+) at$")


def shaped(table: Mapping[str, Any], changes: Mapping[str, float]) -> dict[str, Any]:
    """The table of a stroke (evenly spaced poses) with all changes made: times first, then angles."""
    if "like" in table or "phase" in table:
        raise InputError("a stroke is shaped from a whole file whose poses are spaced evenly")
    lines = {word: np.atleast_1d(np.asarray(v, float)) for word, v in table["angles"].items()}
    n = max(len(v) for v in lines.values())
    lines = {word: np.full(n, v[0]) if len(v) == 1 else v for word, v in lines.items()}
    phase = np.arange(n) / n
    for part in ("arms", "legs"):
        pairs = sorted(
            (float(m[2]), float(v)) for word, v in changes.items() if (m := _BEND.fullmatch(word)) and m[1] == part
        )
        if pairs:
            _bend_time(lines, ARMS if part == "arms" else LEGS, phase, pairs)
    for word, value in changes.items():
        if _BEND.fullmatch(word):
            continue
        if m := _BUMP.fullmatch(word):
            for line, turn in _named(lines, m[1]):
                distance = (phase - float(m[2]) - turn + 0.5) % 1.0 - 0.5
                near = np.abs(distance) < WIDTH
                lines[line] = lines[line] + value * near * np.cos(0.5 * np.pi * distance / WIDTH) ** 2
        elif word.endswith(" plus"):
            for line, _ in _named(lines, word.removesuffix(" plus")):
                lines[line] = lines[line] + value
        elif word in ("twist times", "twist later"):
            for line in lines:
                if line.endswith(" twist") and not line.startswith(_NECK):
                    lines[line] = lines[line] * value if word == "twist times" else _later(lines[line], value)
        elif word.endswith(" times"):
            for line, _ in _named(lines, word.removesuffix(" times")):
                middle = lines[line].mean()
                lines[line] = middle + value * (lines[line] - middle)
        else:
            raise InputError(f"'{word}' is no change of a stroke; see `vitruvian.control.rhythm.shaping`")
    return {**table, "angles": {word: _written(v) for word, v in lines.items()}}


def write_stroke(table: Mapping[str, Any], path: str | Path) -> None:
    """A stroke file; comments of the one that it came from are lost."""
    lines = [f"{key} = {json.dumps(table[key], ensure_ascii=False)}" for key in ("about", "posture") if key in table]
    lines += ["", "[angles]", *(f"{json.dumps(word)} = {values}" for word, values in table["angles"].items())]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _named(lines: Mapping[str, Array], word: str) -> list[tuple[str, float]]:
    """The lines that a word means, and by how much of a cycle each is late."""
    if word in lines:
        return [(word, 0.0)]
    sided = [(side + word, late) for side, late in zip(_SIDES, (0.0, 0.5)) if side + word in lines]
    if not sided:
        raise InputError(f"the stroke has no line '{word}'")
    return sided


def _later(values: Array, by: float) -> Array:
    """A line whose cycle runs `by` of it later."""
    phase = np.arange(len(values)) / len(values)
    spline = PeriodicSpline.fit(phase, values[:, None])
    return np.array([spline(x % 1.0, 0)[0] for x in phase - by])


def _bend_time(
    lines: dict[str, Array], joints: tuple[str, ...], phase: Array, pairs: list[tuple[float, float]]
) -> None:
    was, now = (np.array([0.0, *x, 1.0]) for x in zip(*pairs))
    if (np.diff(was) <= 0.0).any() or (np.diff(now) <= 0.0).any():
        raise InputError(f"a stroke's times must ascend, not {pairs}")
    bent = PchipInterpolator(now, was)
    for word, values in lines.items():
        bare = word.removeprefix(_SIDES[0]).removeprefix(_SIDES[1])
        if bare.startswith(joints) and np.ptp(values) > 0.0:
            late = 0.5 if word.startswith(_SIDES[1]) and in_turn(lines, bare) else 0.0
            spline = PeriodicSpline.fit(phase, values[:, None])
            at = bent((phase - late) % 1.0) + late
            lines[word] = np.array([spline(x % 1.0, 0)[0] for x in at])


def in_turn(lines: Mapping[str, Array], bare: str) -> bool:
    """Whether the right side does half a cycle later what the left one does."""
    left, right = lines[_SIDES[0] + bare], lines[_SIDES[1] + bare]
    late = np.roll(left, len(left) // 2)
    return float(np.abs(right - late).mean()) < float(np.abs(right - left).mean())


def _written(values: Array) -> float | list[float]:
    rounded = [round(float(v), 2) + 0.0 for v in values]
    return rounded[0] if np.ptp(rounded) == 0.0 else rounded
