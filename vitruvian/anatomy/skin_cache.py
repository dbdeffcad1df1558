"""Arrays that take seconds to make, kept in the user's cache folder under a name that says what they depend on."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

Array = np.ndarray


def cached_arrays(name: str, make: Callable[[], dict[str, Array]]) -> dict[str, Array]:
    """What `make` returns, read back when it was made before; where nothing can be kept, made anew."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = Path(root) / "vitruvian" / f"{name}.npz"
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    arrays = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        pass
    return arrays
