"""Finding cases by name: the verification book and the benchmarks are both packages of chapters full of cases.

A chapter is a module; a case is an object in it whose `name` is `chapter/case`. A user may ask for everything, a
chapter, one case, or any beginning of a case's name that fits some.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar

from vitruvian.errors import unknown_name


class Named(Protocol):
    @property
    def name(self) -> str: ...


Case = TypeVar("Case", bound=Named)


def chapter_names(package: ModuleType, besides: Sequence[str]) -> list[str]:
    """Modules of `package` that are chapters, without importing them; `besides` names those that are not."""
    found: set[str] = set()
    for folder in package.__path__:
        found |= {file.stem for file in Path(folder).glob("[!_]*.py")}
        found |= {file.parent.name for file in Path(folder).glob("[!_]*/__init__.py")}
    return sorted(found - set(besides))


def chapter_cases(package: ModuleType, chapter: str, kind: type[Case]) -> list[Case]:
    """The cases of one chapter, in the order in which they are written."""
    module = import_module(f"{package.__name__}.{chapter}")
    return [case for case in vars(module).values() if isinstance(case, kind) and case.name.startswith(f"{chapter}/")]


def find_cases(
    package: ModuleType, asked: Sequence[str], kind: type[Case], *, besides: Sequence[str], what: str
) -> list[Case]:
    """Cases that the words in `asked` mean, all of them when it is empty; each once, in the order of the book."""
    chapters = chapter_names(package, besides)
    wanted: dict[str, Case] = {}
    for word in asked or chapters:
        chapter, slash, rest = word.partition("/")
        if chapter not in chapters:
            near = [name for name in chapters if chapter and name.startswith(chapter)]
            if slash or len(near) != 1:
                raise unknown_name(f"{what} chapter", chapter, chapters)
            chapter = near[0]
        cases = chapter_cases(package, chapter, kind)
        full = f"{chapter}/{rest}"
        fitting = [case for case in cases if case.name == full] or [
            case for case in cases if case.name.startswith(full)
        ]
        if not fitting and asked:
            raise unknown_name(what, full, [case.name for case in cases])
        wanted |= {case.name: case for case in fitting}
    return list(wanted.values())
