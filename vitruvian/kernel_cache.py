"""Where compiled kernels are kept, so that an edit or an upgrade never meets stale ones, and spoils no others.

Numba keeps a compiled kernel until the kernel's own file changes; it does not notice a change in another file that the
kernel calls. Here a kernel is kept under its module's name and a digest of its file and of every file of this package
that it imports, directly or through others. So an edit compiles anew what depends on it and nothing else, and two
copies of the package with the same contents share their kernels. A folder chosen by the user (NUMBA_CACHE_DIR) is left
alone.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import FunctionType
from typing import Self

PACKAGE = Path(__file__).parent
VERSIONS_KEPT = 4  # of each module
OTHERS = ("UserProvided", "InTree", "UserWide", "IPython", "Zip")  # Numba's own, for kernels that are not ours
IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+({PACKAGE.name}[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)"
    rf"|import[ \t]+({PACKAGE.name}[\w.]*))",
    re.MULTILINE,
)


def keep_kernels() -> None:
    """Tell Numba where to keep this package's kernels; must run before Numba is imported."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    ours = f"{__name__}.{KernelLocator.__name__}"
    os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", ",".join([ours, *(f"{x}CacheLocator" for x in OTHERS)]))


class KernelLocator:
    """What Numba asks about one kernel (`numba.core.caching._CacheLocator`)."""

    def __init__(self, module: str, line: int):
        self.line, self.digest = line, digest(module)
        self.folder = store() / module / self.digest

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> Self | None:
        """None where the kernel is not this package's or its folder cannot be made."""
        if not Path(file).is_relative_to(PACKAGE):
            return None
        locator = cls(function.__module__, function.__code__.co_firstlineno)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None  # a home that cannot be written to: Numba finds a place of its own
        return locator

    def ensure_cache_path(self) -> None:
        if not self.folder.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            forget_oldest(self.folder.parent)

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.digest

    def get_disambiguator(self) -> str:
        return str(self.line)


def store() -> Path:
    """The folder of all kernels."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vitruvian" / "kernels"


@cache
def digest(module: str) -> str:
    """A digest of a module's file and of every file of the package that it leans on."""
    leaned_on = {module}
    waiting = [module]
    while waiting:
        for name in imported(waiting.pop()):
            if name not in leaned_on:
                leaned_on.add(name)
                waiting.append(name)
    total = blake2b(digest_size=8)
    for name in sorted(leaned_on):
        total.update(name.encode() + b"\0" + source(name).encode())
    return total.hexdigest()


@cache
def imported(module: str) -> frozenset[str]:
    """Modules of the package that a module names in its imports."""
    return frozenset(name for name in _named(source(module)) if _file(name) is not None)


def _named(text: str) -> Iterator[str]:
    for origin, names, whole in IMPORT.findall(text):
        yield origin or whole
        for name in re.findall(r"\w+", names):
            yield f"{origin}.{name}"  # may be a module or a thing in one


@cache
def source(module: str) -> str:
    """The text of a module of the package."""
    file = _file(module)
    return "" if file is None else file.read_text(encoding="utf-8")


@cache
def _file(module: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def forget_oldest(folder: Path) -> None:
    """Keep the latest versions of a module's kernels."""
    versions = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in versions[VERSIONS_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
