"""One path per name: what a package exports is imported from that package, and no two packages export the same name.

A package exports what its `__init__.py` lists in `__all__`. From outside, an exported name is imported from the
outermost package that exports it (`from vitruvian.flesh import Lattice`), never from a module inside
(`vitruvian.flesh.lattice`). Names that are not exported, such as kernels, keep their module's path. Modules inside a
package import from each other's files.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import vitruvian

ROOT = Path(__file__).parents[1]
# scenes, verify and benchmarks are found by file; `door` and the top are made of names of the others
EXPORTING = (
    *("spatial", "mesh", "skeleton", "muscle", "flesh", "water", "skin", "couple", "anatomy", "control", "systems"),
    *("world", "swarm", "measured", "exchange", "view"),
)


@cache
def exports(package: str, root: Path = ROOT) -> dict[str, tuple[str, str]]:
    """Exported name -> (module, name there) of where the package's `__init__.py` takes it from."""
    file = root.joinpath(*package.split("."), "__init__.py")
    if not file.is_file():
        return {}
    tree, listed, origin = ast.parse(file.read_text()), [], {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            origin |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = ast.literal_eval(node.value)
    return {name: origin.get(name, (package, name)) for name in listed}


def home(module: str, name: str, root: Path = ROOT) -> tuple[str, str]:
    """Where a name that is imported from a module comes from, through packages that pass it on."""
    while (origin := exports(module, root).get(name)) is not None and origin != (module, name):
        module, name = origin
    return module, name


def right_path(inside: str, module: str, name: str, root: Path = ROOT) -> str:
    """The module from which a file of package `inside` ("" for none) should import `name`, now taken from `module`."""
    parts = module.split(".")
    for count in range(2, len(parts)):
        package = ".".join(parts[:count])
        if f"{inside}.".startswith(f"{package}."):
            continue  # a file of the package itself
        if name in exports(package, root) and home(package, name, root) == home(module, name, root):
            return package
    return module


def package_of(file: Path, root: Path = ROOT) -> str:
    """The package that holds a file of ours, "" for tests and documents."""
    parts = file.relative_to(root).parent.parts
    return ".".join(parts) if parts and parts[0] == "vitruvian" else ""


def imports(tree: ast.AST) -> Iterator[tuple[ast.ImportFrom, ast.alias]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vitruvian."):
            for alias in node.names:
                yield node, alias


def sources(root: Path = ROOT) -> Iterator[tuple[Path, str]]:
    for folder in ("vitruvian", "tests", "docs"):
        for file in sorted((root / folder).rglob("*.py")):
            yield file, file.read_text()
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
            yield page, block


def wrong_paths(root: Path = ROOT) -> list[str]:
    wrong = []
    for file, text in sources(root):
        for node, alias in imports(ast.parse(text)):
            right = right_path(package_of(file, root), node.module, alias.name, root)
            if right != node.module:
                where = f"{file.relative_to(root)}:{node.lineno}"
                wrong.append(f"{where} imports {alias.name} from {node.module}, not from {right}")
    return wrong


def homonyms(root: Path = ROOT) -> dict[str, set[str]]:
    """Names that several packages export, for different things."""
    homes = defaultdict(lambda: defaultdict(set))
    for package in EXPORTING:
        for name in exports(f"vitruvian.{package}", root):
            homes[name][home(f"vitruvian.{package}", name, root)].add(package)
    return {name: set().union(*found.values()) for name, found in homes.items() if len(found) > 1}


def test_exported_names_are_imported_from_their_package():
    wrong = wrong_paths()
    assert not wrong, "\n".join(wrong)


def test_no_two_packages_export_the_same_name():
    assert not homonyms()


def test_the_names_at_the_top_point_to_that_one_path():
    for name, path in vitruvian.NAMES.items():
        module, _, its_name = path.partition(":")
        assert right_path("", module, its_name or name) == module, name


@pytest.mark.parametrize(
    ("inside", "module", "name", "right"),
    [
        ("vitruvian.scenes", "vitruvian.flesh.lattice", "Lattice", "vitruvian.flesh"),
        ("vitruvian.flesh", "vitruvian.flesh.lattice", "Lattice", "vitruvian.flesh.lattice"),
        ("", "vitruvian.flesh.fill", "CORNERS", "vitruvian.flesh.fill"),
        ("vitruvian.scenes", "vitruvian.control.rhythm.stroke", "load_stroke", "vitruvian.control.rhythm"),
        (
            "vitruvian.control.rhythm",
            "vitruvian.control.rhythm.stroke",
            "load_stroke",
            "vitruvian.control.rhythm.stroke",
        ),
        ("", "vitruvian.skeleton.joints", "Ball", "vitruvian.skeleton.joints"),
    ],
)
def test_right_path_is_that_of_the_outermost_package_which_exports_the_name(inside, module, name, right):
    assert right_path(inside, module, name) == right
