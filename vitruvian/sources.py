"""Which files of this package a module leans on, a digest of them, and the folder of what is kept under it.

What is kept on disk (compiled kernels, fitted skins) is kept under such a digest, so that an edit of any file that
made it makes it anew, and an edit of any other file does not.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parent


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
    from, not everything in the package; one from several places means all of them."""
    return frozenset(name for one in _contents(module).imports for name in _meant(one))


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


@dataclass(frozen=True)
class Import:
    """`from origin import name as known`; with no name, `import origin`."""

    origin: str
    name: str = ""
    known: str = ""


@dataclass(frozen=True)
class Contents:
    """What matters here of a file: its imports from the package, and the names that others may take from it."""

    imports: frozenset[Import]
    passed_on: frozenset[Import]  # those imports that give names to the module: not inside functions
    made: frozenset[str]  # names given in the file itself


@cache
def _contents(module: str) -> Contents:
    file = _file(module)
    whole = file is not None and file.name == "__init__.py"
    return read(source(module), module if whole else module.rpartition(".")[0])


def read(text: str, package: str) -> Contents:
    """The contents of a file of a package; of one that cannot be compiled, none."""
    imports: set[Import] = set()
    passed_on: set[Import] = set()
    made: set[str] = set()
    try:
        waiting: list[tuple[ast.AST, bool]] = [(node, True) for node in ast.parse(text).body]
    except SyntaxError:
        waiting = []
    while waiting:
        node, outside = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found = set(_imports(node, package))
            imports |= found
            passed_on |= found if outside else set()
            continue
        if outside:
            made.update(_made(node))
        outside = outside and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                waiting.extend((one, outside) for one in inner)
    return Contents(frozenset(imports), frozenset(passed_on), frozenset(made))


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[Import]:
    """What an import takes from this package."""
    if isinstance(node, ast.Import):
        yield from (Import(one.name) for one in node.names if _within(one.name, (PACKAGE.name,)))
        return
    origin = node.module or ""
    if node.level:
        parts = package.split(".")
        above = parts[: max(0, len(parts) - node.level + 1)]
        origin = ".".join([*above, origin] if origin else above)
    if _within(origin, (PACKAGE.name,)):
        yield from (Import(origin, one.name, one.asname or one.name) for one in node.names)


def _made(node: ast.AST) -> Iterator[str]:
    """Names that a statement gives."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _meant(one: Import) -> frozenset[str]:
    """The modules that an import means."""
    homes = frozenset((one.origin,)) if one.name in ("", "*") else _homes(one.origin, one.name)
    return frozenset(home for home in homes if _file(home) is not None)


@cache
def _homes(origin: str, name: str) -> frozenset[str]:
    """The modules that may be meant by a name taken from `origin`."""
    return frozenset(_search(origin, name, set()))


def _search(origin: str, name: str, seen: set[tuple[str, str]]) -> Iterator[str]:
    if (origin, name) in seen:
        return  # packages that take from each other
    seen.add((origin, name))
    file, found = _file(origin), False
    if _file(f"{origin}.{name}") is not None:
        found = True
        yield f"{origin}.{name}"  # a module
    if file is not None and file.name == "__init__.py":
        contents = _contents(origin)
        for one in contents.passed_on:
            if one.known == name:
                found = True
                yield from _search(one.origin, one.name, seen)
        # a name that is made in the file, or may be one of `import *`, leans on the file and so on all that it imports
        found = found and name not in contents.made and all(one.name != "*" for one in contents.passed_on)
    if not found:
        yield origin


@cache
def _file(module: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None
