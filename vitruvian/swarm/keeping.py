"""Finished results on disk, one JSON file each, so that work that was stopped goes on where it stood.

    FOLDER/map.json       what the results are of: the function's name, a digest of it (`identity`) and one of all items
    FOLDER/000017.json    {"result": ...} of item 17

Files are written under another name and renamed, so each is whole or not there. Nothing is unpickled from disk. A
folder that holds anything else, results of another function or of other items is refused. While it is in use the folder
is locked; the system lets go of the lock when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from vitruvian.errors import InputError, RunFailed
from vitruvian.given_file import MOST_JSON, check_values, read_json
from vitruvian.swarm.identity import digest_of, name_of

FORMAT = "vitruvian map 2"
ABOUT = "map.json"
RESULTS = "[0-9]*.json"


class Kept:
    """The results of `function` over `items` that are kept in `folder`, which is made where it is not there."""

    def __init__(self, folder: str | Path, function: Callable[..., Any], items: Sequence[Any]) -> None:
        self.folder = Path(folder)
        self.count = len(items)
        self.about = {
            "format": FORMAT,
            "function": name_of(function),
            "code": digest_of(function),
            "items": self.count,
            "digest": _digest([_digest(item) for item in items]),
        }

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise InputError(f"cannot keep results in {self.folder}: {error.strerror or error}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._claim()
        except BlockingIOError:
            os.close(self._lock)
            raise InputError(f"{self.folder} is being used by another process") from None
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def _claim(self) -> None:
        about = self.folder / ABOUT
        if not about.exists():
            if any(not path.name.startswith(".") for path in self.folder.iterdir()):
                raise InputError(f"{self.folder} is not empty and holds no kept results; choose another folder")
            self._write(about, self.about)
            return
        found = _read(about)
        for name, wanted in self.about.items():
            if found.get(name) != wanted:
                raise InputError(
                    f"{self.folder} keeps the results of something else: {_difference(name, found, self.about)}"
                )

    def load(self) -> dict[int, Any]:
        """Results that are there, by the item's index."""
        results = {}
        for index in range(self.count):
            if (path := self._path(index)).exists():
                kept = _read(path)
                if "result" not in kept:
                    raise InputError(f"{path} is damaged; delete it and its item is done again")
                results[index] = kept["result"]
        return results

    def save(self, index: int, result: Any) -> Any:
        """Keep a result; returns it as it will be read back (tuples are lists then)."""
        what = f"the result of item {index}"
        text = encode({"result": result}, what)
        check_values(text.encode(), what)  # as when it is read back
        if len(text) > MOST_JSON:
            raise InputError(f"{what} is larger than {MOST_JSON // 1_000_000} MB")
        self._write(self._path(index), text)
        return json.loads(text)["result"]

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:06d}.json"

    def _write(self, path: Path, value: Any) -> None:
        partial = path.with_name(f".{path.name}.partial")
        try:
            with open(partial, "w", encoding="utf-8") as file:
                file.write(value if isinstance(value, str) else json.dumps(value))
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except OSError as error:
            raise RunFailed(f"cannot write {path}: {error.strerror or error}; what was kept before is whole") from error


def count_kept(folder: str | Path) -> int:
    """Results that a folder holds now."""
    return sum(1 for _ in Path(folder).glob(RESULTS))


def encode(value: Any, what: str) -> str:
    """`value` as JSON; what JSON cannot say is refused rather than changed."""
    try:
        return json.dumps(_plain(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{what} cannot be kept as JSON: {error}; return numbers, words, lists and mappings"
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"the name {name!r} in a mapping is no word")
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _digest(value: Any) -> str:
    import joblib

    return str(joblib.hash(value))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path, "result")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged; delete it and its item is done again") from error
    return found if isinstance(found, dict) else {}


def _difference(name: str, found: dict[str, Any], wanted: dict[str, Any]) -> str:
    if name == "digest":
        return "the items differ"
    if name == "code":
        return f"another {wanted['function']}, or the same with other code or values"
    return f"its {name} is {found.get(name)}, not {wanted[name]}"
