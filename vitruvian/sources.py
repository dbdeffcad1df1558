"""Which files of this package a module leans on, a digest of them, and the folder of what is kept under it.

What is kept on disk (compiled kernels, fitted skins) is kept under such a digest, so that an edit of any file that
made it makes it anew, and an edit of any other file does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parent
IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+({PACKAGE.name}[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)"
    rf"|import[ \t]+({PACKAGE.name}[\w.]*))",
    re.MULTILINE,
)


def home() -> Path:
    """The folder of all that is kept for this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vitruvian"


@cache
def digest(module: str, without: tuple[str, ...] = ()) -> str:
    """A digest of a module's file and of every file of the package that it leans on, `without` some packages."""
    total = blake2b(digest_size=8)
    for name in sorted(leaned_on(module, without)):
        total.update(name.encode() + b"\0" + source(name).encode())
    return total.hexdigest()


@cache
def leaned_on(module: str, without: tuple[str, ...] = ()) -> frozenset[str]:
    """A module and all modules of the package that it imports, directly or through others.

    Modules in the packages `without`, and what only they import, are left out.
    """
    found = {module}
    waiting = [module]
    while waiting:
        new = {name for name in imported(waiting.pop()) if not _within(name, without)} - found
        found |= new
        waiting.extend(new)
    return frozenset(found)


@cache
def imported(module: str) -> frozenset[str]:
    """Modules of the package that a module's imports mean.

    A name that a package passes on (`from vitruvian.flesh import Lattice`) means the module that the package takes it
    from, not everything in the package."""
    return frozenset(name for name in _named(source(module)) if _file(name) is not None)


@cache
def source(module: str) -> str:
    """The text of a module of the package."""
    file = _file(module)
    return "" if file is None else file.read_text(encoding="utf-8")


def module_name(file: Path) -> str:
    """The name under which a file of the package is imported."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _named(text: str) -> Iterator[str]:
    for origin, names, whole in IMPORT.findall(text):
        if whole:
            yield whole
        for name in _names(names):
            yield _home(origin, name)


def _names(listed: str) -> list[str]:
    """Names of an import as they are at their origin: "(a, b as c)" -> a, b."""
    bare = re.sub(r"#[^\n]*", "", listed).strip("()\n\t ")
    return [part.split()[0] for part in bare.split(",") if part.strip()]


@cache
def _home(origin: str, name: str) -> str:
    """The module that is meant by a name taken from `origin`."""
    if _file(f"{origin}.{name}") is not None:
        return f"{origin}.{name}"  # a module
    file = _file(origin)
    if file is not None and file.name == "__init__.py":
        for inner, names, _ in IMPORT.findall(source(origin)):
            for one in re.sub(r"#[^\n]*", "", names).strip("()\n\t ").split(","):
                words = one.split()
                if words and words[-1] == name and inner != origin:
                    return _home(inner, words[0])
    return origin


@cache
def _file(module: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None
