"""Reading what others wrote: whatever is wrong with it becomes one `InputError` that says where."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from vitruvian.errors import InputError


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
        raise InputError(f"{self.path} is damaged: {self.at}: {reason}") from error


def check(good: bool, what: str) -> None:
    if not good:
        raise ValueError(what)


def is_number(value: Any) -> bool:
    """A finite number, and not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def made(kind: type, about: dict[str, Any]) -> Any:
    """A stage part from attributes: lists become tuples, words and numbers must be such."""
    values: dict[str, Any] = {}
    for name, value in about.items():
        if name not in kind.__dataclass_fields__:  # type: ignore[attr-defined]
            continue
        values[name] = tuple(value) if isinstance(value, list) else value
        if name in ("name", "body", "layer", "value", "unit", "title", "follow"):
            check(isinstance(value, str), f"{name} is not a word")
        if name in ("colour", "eye", "target", "value_range"):
            values[name] = tuple(float(number) for number in value)
            check(len(value) == (2 if name == "value_range" else 3), name)
        if name in ("components", "names"):
            check(all(isinstance(item, str) for item in value), name)
    return kind(**values)
