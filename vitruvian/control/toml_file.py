"""Reading a TOML file that somebody else wrote: whatever is wrong with it is one `InputError` that names the file.

`read_toml` does it all; `read_text`, `parse_toml` and `line_of` are for readers whose errors also name the line.
`own_names` and `own_text` are for the files that come with the package.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from vitruvian.errors import InputError, unknown_name
from vitruvian.given_file import read_bytes

MOST_BYTES = 2_000_000
DEEPEST = 20  # brackets within brackets; a pose has three


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The table in the file at `path`; `kind` says in errors what it should be, "stroke" or "motion"."""
    return parse_toml(read_text(path, kind), f"{kind} file '{path.name}'")


def read_text(path: Path, kind: str) -> str:
    """The text of the file at `path`."""
    if not path.is_file():
        raise InputError(f"no {kind} file '{path}'")
    what = f"{kind} file '{path.name}'"
    data = read_bytes(path, MOST_BYTES, kind)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{what} is not text in UTF-8") from None


def parse_toml(text: str, what: str) -> dict[str, Any]:
    """The table in a text; what: its name in errors."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{what}: {' '.join(str(error).split()):.200}") from None
    except (RecursionError, ValueError, OverflowError):  # numbers of thousands of digits, dates that do not exist
        raise InputError(f"{what}: it is nested too deeply, or has a value that does not exist") from None
    if _depth(table) > DEEPEST:
        raise InputError(f"{what}: it is nested more than {DEEPEST} levels deep")
    return table


def own_names(folder: Traversable) -> tuple[str, ...]:
    """Of the TOML files in a folder of the package, without their ending."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def own_text(name: str, kind: str, folder: Traversable) -> str:
    """The text of a TOML file in a folder of the package, by name."""
    if name not in own_names(folder):
        raise unknown_name(kind, name, own_names(folder))
    return (folder / f"{name}.toml").read_text(encoding="utf-8")


def line_of(text: str, key: str, table: str = "", number: int = 1) -> int:
    """Line, counted from 1, at which a key stands in the number-th [table] or [[table]]; without a table the key
    stands above all of them or is one itself. The table's own line if the key is not there."""
    count, inside, head = 0, not table, 1
    for n, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
            if not table and found[1] == key:
                return n
            count += found[1] == table
            inside = bool(table) and found[1] == table and count == number
            head = n if inside else head
        if inside and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return n
    return head


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
