"""Reading what others wrote: whatever is wrong with it becomes one `InputError` that says where.

The bounds are those beyond which numbers are no recording of a body: what draws and exports may rely on them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError

FARTHEST = 1e6  # [m] from the origin
LONGEST = 1e9  # [s]
MOST_LETTERS = 200  # of a name, a title, a unit
SKEW = 1e-3  # by which the length of a recorded quaternion may differ from 1
WORDS = ("name", "body", "layer", "value", "unit", "title", "follow", "parent", "words")
NUMBERS = {"opacity": (0.0, 1.0), "radius": (0.0, FARTHEST)}
TRIPLES = {"colour": 1.0, "eye": FARTHEST, "target": FARTHEST}  # greatest size of each


class Trouble:
    """Turns whatever goes wrong inside into an `InputError` that says where."""

    def __init__(self, path: Path, at: str) -> None:
        self.path, self.at = str(path), at

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if not isinstance(error, Exception) or (isinstance(error, InputError) and str(error).startswith(self.path)):
            return
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        if isinstance(error, KeyError):
            reason = f"{reason} is missing"
        elif isinstance(error, FileNotFoundError):
            reason = "it is missing"
        raise InputError(f"{self.path} is damaged: {self.at}: {reason}") from error


def check(good: bool, what: str) -> None:
    if not good:
        raise ValueError(what)


def is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """A finite number from `low` to `high`, and not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1e300 < value < 1e300 and low <= value <= high


def check_places(places: np.ndarray, what: str = "") -> None:
    """Positions [m], shape (..., 3): finite, and no farther from the origin than a recording can be."""
    if places.size == 0:
        return
    low, high = places.min(), places.max()
    check(bool(np.isfinite(low) and np.isfinite(high)), f"not finite{what}")
    check(bool(low >= -FARTHEST and high <= FARTHEST), f"farther than {FARTHEST:g} m from the origin{what}")


def check_poses(poses: np.ndarray, first: int | None = None) -> None:
    """Poses of shape (frames, bodies, 7): places in bounds, quaternions of unit length.

    `first` is the number of the first frame, for the message.
    """

    def where(bad: np.ndarray) -> str:
        i, body = np.unravel_index(int(bad.argmax()), bad.shape)
        return f": body {body}" if first is None else f" at frame {first + i}"

    outside = ~(np.abs(poses) <= FARTHEST).all(axis=2)
    if outside.any():
        check_places(poses, where(outside))
    skew = np.abs(np.square(poses[..., 3:]).sum(axis=-1) - 1.0) > 2.0 * SKEW
    check(not skew.any(), f"no unit quaternion{where(skew) if skew.any() else ''}")


def made(kind: type, about: dict[str, Any]) -> Any:
    """A stage part from attributes: lists become tuples, words and numbers must be such."""
    values: dict[str, Any] = {}
    for name, value in about.items():
        if name not in kind.__dataclass_fields__:  # type: ignore[attr-defined]
            continue
        values[name] = tuple(value) if isinstance(value, list) else value
        if name in WORDS:
            check(isinstance(value, str) and len(value) <= MOST_LETTERS, f"{name} is not a word")
        elif name in NUMBERS and not isinstance(value, np.ndarray):
            check(is_number(value, *NUMBERS[name]), f"{name} {str(value)[:40]}")
        elif name in TRIPLES or name == "value_range":
            most, count = TRIPLES.get(name, 1e300), 2 if name == "value_range" else 3
            check(len(value) == count and all(is_number(number, -most, most) for number in value), name)
            values[name] = tuple(float(number) for number in value)
        elif name == "rest":
            check(len(value) == 4 and all(is_number(number, -1.0, 1.0) for number in value), name)
        elif name == "pulls":
            check(isinstance(value, bool), f"{name} {value!r:.40}")
        elif name in ("components", "names"):
            check(all(isinstance(item, str) and len(item) <= MOST_LETTERS for item in value), name)
    return kind(**values)
