"""Where compiled kernels are kept, so that an edit or an upgrade never meets stale ones, and spoils no others.

Numba keeps a compiled kernel until the kernel's own file changes; it does not notice a change in another file that the
kernel calls. Here a kernel is kept under its module's name and a digest of its file and of every file of this package
that it imports, directly or through others (`sources`). So an edit compiles anew what depends on it and nothing else,
and two copies of the package with the same contents share their kernels.

Numba asks its list of locators in turn where a kernel is kept. Ours joins that list within the process, as soon as
Numba is loaded, whoever loads it; no environment variable is set, so that child processes are left alone. It stands
behind the locator of a folder chosen by the user (NUMBA_CACHE_DIR), which is therefore respected, as is a list of the
user's own (NUMBA_CACHE_LOCATOR_CLASSES).
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Self

from vitruvian.compiling import tell_of_compiling
from vitruvian.sources import PACKAGE, digest, home, module_name

CACHING = "numba.core.caching"
VERSIONS_KEPT = 4  # of each module


def keep_kernels() -> None:
    """Have Numba ask us about this package's kernels, now or as soon as it is loaded; loads nothing itself."""
    if CACHING in sys.modules:
        join(import_module(CACHING))
    else:
        sys.meta_path.insert(0, Waiting())


def join(caching: Any) -> None:
    """Enter our locator in the list of `numba.core.caching`, behind that of a folder chosen by the user."""
    try:
        locators = caching.CacheImpl._locator_classes
        place = locators.index(caching.UserProvidedCacheLocator) + 1
    except (AttributeError, ValueError):
        warnings.warn("this version of Numba may use stale kernels after an edit of vitruvian", stacklevel=2)
        return
    if KernelLocator not in locators:
        locators.insert(place, KernelLocator)
        keep_needs(caching)
        tell_of_compiling()


def keep_needs(caching: Any) -> None:
    """Have a kernel that is read from the disk tell those that are compiled against it what it needs at its start.

    A parallel kernel needs Numba's threads. Numba passes that on to a caller when both are compiled in one process, but
    forgets it for a kernel from the disk: the caller, once kept itself, then crashes the process that reads it."""
    read = caching.CompileResultCacheImpl.rebuild

    def read_whole(self: Any, target_context: Any, payload: Any) -> Any:
        found = read(self, target_context, payload)
        found.library._reload_init.update(found.reload_init or ())
        return found

    caching.CompileResultCacheImpl.rebuild = read_whole


class Waiting(MetaPathFinder):
    """Stands in `sys.meta_path` and joins Numba's caching right after that is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != CACHING:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_join(module: ModuleType) -> None:
                load(module)
                join(module)

            spec.loader.exec_module = load_and_join  # type: ignore[method-assign]
        return spec


class KernelLocator:
    """What Numba asks about one kernel (`numba.core.caching._CacheLocator`)."""

    def __init__(self, file: str, line: int):
        self._py_file, self.line = file, line  # Numba names the file in its warnings
        module = module_name(Path(file))
        self.digest = digest(module)
        self.folder = home() / "kernels" / module / self.digest

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> Self | None:
        """None where the kernel is not this package's or its folder cannot be made."""
        if not Path(file).is_relative_to(PACKAGE):
            return None
        locator = cls(file, function.__code__.co_firstlineno)
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


def forget_oldest(folder: Path) -> None:
    """Keep the latest versions of a module's kernels."""
    versions = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in versions[VERSIONS_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
