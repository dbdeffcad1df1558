"""Arrays that take seconds to make (fitted bones, skins, bellies), kept in the user's cache folder.

A file is named after all that the arrays depend on: the numbers that went in, and the code that made them, which is
the making module with every module of the package that it leans on (`sources`). Skeletons and muscles are left out of
that code: what they have to say goes in as numbers (where bones and paths are), and an edit of the dynamics should not
fit skins anew, which takes a minute.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.sources import digest, home

Array = np.ndarray
AS_NUMBERS = ("vitruvian.skeleton", "vitruvian.muscle")


def cached_arrays(
    kind: str, module: str, given: Iterable[Any], make: Callable[[], dict[str, Array]]
) -> dict[str, Array]:
    """What `make` returns, read back when it was made before; where nothing can be kept, made anew.

    kind: what the arrays are, the beginning of the file's name; module: the one that makes them (`__name__`);
    given: everything else that they depend on: arrays, bytes, and what `repr` shows wholly.
    """
    path = home() / f"{kind}-{key(module, given)}.npz"
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    arrays = make()
    with suppress(OSError):
        _save(path, arrays)
    return arrays


def key(module: str, given: Iterable[Any]) -> str:
    """Names what is made by a module, and all code that it leans on, from what is given."""
    total = sha256(digest(module, AS_NUMBERS).encode())
    for item in given:
        if isinstance(item, np.ndarray):
            total.update(f"{item.dtype}{item.shape}".encode() + item.tobytes())
        else:
            total.update(item if isinstance(item, bytes) else repr(item).encode())
        total.update(b"\0")
    return total.hexdigest()[:16]


def _save(path: Path, arrays: dict[str, Array]) -> None:
    """Write in one move, so that no reader ever sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
