"""Where compiled kernels are kept, so that an edit or an upgrade never meets stale ones.

Numba keeps a compiled kernel until the kernel's own file changes; it does not notice a change in another file that the
kernel calls. So the folder is named after the contents of all files that hold kernels: change one, and all are compiled
anew. A folder chosen by the user (NUMBA_CACHE_DIR) is left alone.
"""

from __future__ import annotations

import os
import shutil
from hashlib import blake2b
from pathlib import Path

FOLDERS_KEPT = 4  # of earlier versions


def choose_folder() -> None:
    """Point Numba at this version's folder; must run before Numba is imported. Does nothing where none can be made."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vitruvian"
    folder = base / f"kernels-{_fingerprint()}"
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if fresh:
            _forget_oldest(base)
    except OSError:
        return  # a home that cannot be written to: Numba finds a place of its own
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


def _fingerprint() -> str:
    digest = blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if b"njit" in text:
            digest.update(path.name.encode() + b"\0" + text)
    return digest.hexdigest()


def _forget_oldest(base: Path) -> None:
    folders = sorted(base.glob("kernels-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for folder in folders[FOLDERS_KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)
