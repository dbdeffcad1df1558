"""The names of `import vitruvian as vt`: light to import, each found at one path, known to editors."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import vitruvian as vt

ROOT = Path(vt.__file__).parent


def python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("name", vt.NAMES)
def test_name_is_what_its_package_holds(name):
    module, _, its_name = vt.NAMES[name].partition(":")
    assert getattr(vt, name) is getattr(import_module(module), its_name or name)


def test_import_brings_in_nothing_heavy():
    heavy = ("numpy", "scipy", "numba", "zarr", "typer", "viser", "pandas", "skimage", "trimesh")
    assert python(f"import sys, vitruvian; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_packages_are_reached_without_importing_them():
    assert python("import vitruvian as vt; print(vt.skeleton.energy.__name__, vt.view.__name__)") == (
        "energy vitruvian.view"
    )


def test_every_package_is_reached():
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders <= set(vt.PACKAGES)


def test_star_import_brings_the_names_and_leaves_the_builtins():
    said = python(
        "from vitruvian import *; import builtins as b; print(open is b.open, map is b.map, Tank, run.__module__)"
    )
    assert said == "True True <class 'vitruvian.water.model.Tank'> vitruvian.door.running"


def test_dir_lists_names_and_packages():
    assert {*vt.NAMES, *vt.PACKAGES} <= set(dir(vt))


def test_unknown_name_is_an_error_that_names_the_nearest():
    with pytest.raises(AttributeError, match="no 'SkeletonBulder'; did you mean SkeletonBuilder"):
        _ = vt.SkeletonBulder
    with pytest.raises(AttributeError, match="no 'xyzzy'; see dir"):
        _ = vt.xyzzy


def test_no_name_is_that_of_a_package():
    # importing the package would hide the name
    assert not set(vt.NAMES) & {path.stem for path in ROOT.iterdir()}


def test_editors_know_the_same_names():
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    told = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            told |= {a.asname: f"{node.module}:{a.name}" if a.name != a.asname else node.module for a in node.names}
        elif isinstance(node, ast.Assign):
            told[node.targets[0].id] = f"vitruvian.{ast.unparse(node.value).replace('.', ':')}"
    for name, path in vt.NAMES.items():
        assert told.pop(name, None) == path, f"__init__.pyi should import {name} from {path}"
    assert {name for name, module in told.items() if module == "vitruvian"} == {*vt.PACKAGES, "kernel_cache"}
