"""Reading a TOML file that somebody else wrote: whatever is wrong with it is one `InputError` that names the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from vitruvian.errors import InputError

MOST_BYTES = 2_000_000
DEEPEST = 20  # brackets within brackets; a pose has three


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The table in the file at `path`; `kind` says in errors what it should be, "stroke" or "motion"."""
    if not path.is_file():
        raise InputError(f"no {kind} file '{path}'")
    what = f"{kind} file '{path.name}'"
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"{what} is larger than {MOST_BYTES // 1_000_000} MB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{what} is not text in UTF-8") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{what}: {' '.join(str(error).split()):.200}") from None
    except (RecursionError, ValueError, OverflowError):  # numbers of thousands of digits, dates that do not exist
        raise InputError(f"{what}: it is nested too deeply, or has a value that does not exist") from None
    if _depth(table) > DEEPEST:
        raise InputError(f"{what}: it is nested more than {DEEPEST} levels deep")
    return table


def _depth(value: Any) -> int:
    """Levels of lists and tables, counted no further than matters."""
    level, here = 0, [value]
    while here and level <= DEEPEST:
        here = [
            item
            for part in here
            if isinstance(part, dict | list)
            for item in (part.values() if isinstance(part, dict) else part)
        ]
        level += 1
    return level
