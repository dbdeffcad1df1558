"""Where compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from vitruvian import compiling, kernel_cache, sources
from vitruvian.spatial.exponentials import multiply_exponential

CALLED = "from numba import njit\n\n@njit(cache=True)\ndef grow(x):\n    return x + {add}\n"
CALLS = """from numba import njit
from vitruvian.low import grow

@njit(cache=True)
def twice(x):
    return 2 * grow(x)
"""
APART = "from numba import njit\n\n@njit(cache=True)\ndef alone(x):\n    return -x\n"


def make_package(folder: Path, add: int) -> Path:
    """A package of three kernel modules, the real kernel cache in it; returns what to put on the path."""
    package = folder / "vitruvian"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("from vitruvian import kernel_cache\nkernel_cache.keep_kernels()\n")
    for module in (kernel_cache, compiling, sources):
        file = Path(module.__file__)
        (package / file.name).write_text(file.read_text())
    (package / "low.py").write_text(CALLED.format(add=add))
    (package / "high.py").write_text(CALLS)
    (package / "apart.py").write_text(APART)
    return folder


TWICE = """
from vitruvian.high import twice
from vitruvian.apart import alone
def run():
    value = twice(1); alone(1)
    return value, *(f.__name__ for f in (twice, alone) if sum(f.stats.cache_misses.values()))
"""


def run_code(code: str, folder: Path, home: Path, **more: str) -> subprocess.CompletedProcess:
    """Run Python code with a package on the path; kernels are kept under `home`."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_CACHE")}
    env |= {"XDG_CACHE_HOME": str(home), "PYTHONPATH": str(folder), **more}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, cwd=folder)


def run_package(folder: Path, home: Path, before: str = "") -> tuple[int, list[str]]:
    """What 2 (x + add) is at 1, and which kernels had to be compiled."""
    value, *compiled = run_code(f"{before}\n{TWICE}\nprint(*run())", folder, home).stdout.split()
    return int(value), compiled


def test_an_edit_compiles_what_calls_it_and_nothing_else_and_copies_share(tmp_path):
    home = tmp_path / "home"
    first = make_package(tmp_path / "first", add=1)
    assert run_package(first, home) == (4, ["twice", "alone"])
    copy = make_package(tmp_path / "copy", add=1)
    assert run_package(copy, home) == (4, [])
    make_package(first, add=5)
    assert run_package(first, home) == (12, ["twice"])


def test_no_stale_kernel_where_numba_is_loaded_first(tmp_path):
    home = tmp_path / "home"
    package = make_package(tmp_path / "package", add=1)
    assert run_package(package, home, "import numba") == (4, ["twice", "alone"])
    make_package(package, add=5)
    assert run_package(package, home, "import numba") == (12, ["twice"])
    assert not list(package.rglob("*.nbi"))


def test_a_child_process_without_the_package_keeps_kernels_as_numba_does(tmp_path):
    package = make_package(tmp_path / "package", add=1)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "kernel.py").write_text(APART)
    child = "import sys; sys.modules['vitruvian'] = None; import kernel; print(kernel.alone(3))"
    code = f"""
import os, subprocess, sys
{TWICE}
run()
env = {{**os.environ, "PYTHONPATH": {str(tmp_path / "bare")!r}}}
subprocess.run([sys.executable, "-c", {child!r}], env=env, check=True)
"""
    assert run_code(code, package, tmp_path / "home").stdout.split() == ["-3"]
    assert list((tmp_path / "bare" / "__pycache__").glob("*.nbi"))


def test_worker_processes_use_the_same_kernels(tmp_path):
    home = tmp_path / "home"
    package = make_package(tmp_path / "package", add=1)
    (package / "work.py").write_text(TWICE)
    code = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import work
if __name__ == "__main__":
    for method in ("spawn", "fork"):
        with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
            print(*pool.submit(work.run).result())
"""
    assert run_code(code, package, home).stdout.splitlines() == ["4 twice alone", "4"]


def test_workers_of_joblib_use_the_same_kernels(tmp_path):
    pytest.importorskip("joblib")
    home = tmp_path / "home"
    package = make_package(tmp_path / "package", add=1)
    (package / "work.py").write_text(TWICE)
    code = (
        "from joblib import Parallel, delayed; import work; print(*Parallel(2)(delayed(work.run)() for _ in '12')[0])"
    )
    assert run_code(code, package, home).stdout.startswith("4")
    assert run_code("import work; print(*work.run())", package, home).stdout.split() == ["4"]


def test_compiling_for_long_is_said_once_and_reading_from_the_disk_is_not(tmp_path):
    home = tmp_path / "home"
    package = make_package(tmp_path / "package", add=1)
    code = f"import vitruvian.compiling as c; c.PATIENCE = 0.0\n{TWICE}\nrun(); run()"
    assert run_code(code, package, home).stderr.splitlines() == [compiling.MESSAGE]
    assert run_code(code, package, home).stderr == ""


def test_short_compiling_and_other_peoples_kernels_are_not_said(tmp_path):
    package = make_package(tmp_path / "package", add=1)
    (package / "other.py").write_text(APART.replace("(cache=True)", ""))
    assert run_code(f"{TWICE}\nrun()", package, tmp_path / "home").stderr == ""
    code = "import vitruvian.compiling as c; c.PATIENCE = 0.0\nimport other\nother.alone(1)"
    assert run_code(code, package, tmp_path / "home").stderr == ""


def test_what_is_said_can_be_switched_off_and_workers_do_not_say_it(tmp_path):
    package = make_package(tmp_path / "package", add=1)
    code = f"import vitruvian.compiling as c; c.PATIENCE = 0.0; c.log.setLevel('ERROR')\n{TWICE}\nrun()"
    assert run_code(code, package, tmp_path / "home").stderr == ""
    (package / "work.py").write_text(f"import vitruvian.compiling as c; c.PATIENCE = 0.0\n{TWICE}")
    code = "import multiprocessing as m, work; p = m.get_context('spawn').Process(target=work.run); p.start(); p.join()"
    assert run_code(code, package, tmp_path / "other").stderr == ""
    assert list((tmp_path / "other").rglob("*.nbi"))


def test_importing_the_package_is_light():
    code = "import sys, vitruvian; print(*(m for m in ('numba', 'numpy', 'scipy') if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_a_numba_that_we_do_not_know_is_told_of():
    with pytest.warns(UserWarning, match="stale"):
        kernel_cache.join(SimpleNamespace())


def named(text: str, package: str = "vitruvian.mesh") -> set[str]:
    """Modules that the imports of a text mean."""
    return {name for one in sources.read(text, package).imports for name in sources._meant(one)}


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("from vitruvian.spatial import (\n    exp_so3,\n    bspline,\n)\n", "spatial.rotation spatial.bspline"),
        (
            "from vitruvian.spatial import (  # (1)\n    exp_so3,  # a) b\n    bspline)",
            "spatial.rotation spatial.bspline",
        ),
        ("import vitruvian.mesh.tubes", "mesh.tubes"),
        ("import vitruvian.mesh.tubes, os, vitruvian.errors as e", "mesh.tubes errors"),
        ("from vitruvian.mesh \\\n    import \\\n    tubes, outline", "mesh.tubes mesh.outline"),
        ("x = 1; import vitruvian.mesh.tubes; from vitruvian import errors", "mesh.tubes errors"),
        ("from . import tubes", "mesh.tubes"),
        ("from .tubes import anything as other", "mesh.tubes"),
        ("from .. import errors", "errors"),
        ("from ..spatial import exp_so3", "spatial.rotation"),
        ("def f():\n    import vitruvian.errors\n", "errors"),
        ("class A:\n    async def f(self):\n        with x:\n            from vitruvian import errors", "errors"),
        (
            "try:\n    import vitruvian.errors\nexcept ImportError:\n    import vitruvian.mesh.tubes",
            "errors mesh.tubes",
        ),
        ("try:\n    x\nfinally:\n    import vitruvian.errors", "errors"),
        ("if x:\n    pass\nelse:\n    import vitruvian.errors", "errors"),
        ("match x:\n    case 1:\n        import vitruvian.errors", "errors"),
        ("from vitruvian.errors import *", "errors"),
        ("from vitruvian.flesh import Lattice as L  # a cubic one", "flesh.lattice.cells"),
        ("from vitruvian.errors import InputError", "errors"),
        # a name made in the package's own file leans on that file
        ("from vitruvian.scenes import find", "scenes"),
        ("text = '''\nimport vitruvian.errors\n'''\nimport vitruvianly, os.path\nfrom .... import x", ""),
        ("not Python at all", ""),
    ],
)
def test_imports_of_every_form_are_followed(text, modules):
    assert named(text) == {f"vitruvian.{module}" for module in modules.split()}


def test_imports_of_a_file_are_followed():
    assert "vitruvian.spatial.exponentials" in sources.imported("vitruvian.spatial.se3_spline")


@pytest.mark.parametrize(
    ("package", "modules"),
    [
        ("from vitruvian.part.a import f as name", "part.a"),
        ("from .a import f as name", "part.a"),
        ("try:\n    from .a import name\nexcept ImportError:\n    from .b import g as name", "part.a part.b"),
        ("from .a import name\nname = 2 * name", "part.a part"),
        ("def name(): ...", "part"),
        ("from .a import *", "part"),
        ("from .a import name\nfrom .b import *", "part.a part"),
        ("def f():\n    from .a import name", "part"),
        ("from vitruvian.other import name", "other.c"),
        ("from . import b as name", "part.b"),
    ],
)
def test_a_name_that_a_package_passes_on_means_all_modules_it_may_come_from(tmp_path, package, modules):
    for file, text in {
        "__init__.py": "",
        "sources.py": Path(sources.__file__).read_text(),
        "part/__init__.py": package,
        "part/a.py": "",
        "part/b.py": "",
        "other/__init__.py": "from .c import name",
        "other/c.py": "",
        "user.py": "from vitruvian.part import name",
    }.items():
        (tmp_path / "vitruvian" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vitruvian" / file).write_text(text)
    code = "from vitruvian.sources import *; print(*imported('vitruvian.user'), '|', *leaned_on('vitruvian.user'))"
    meant, leaned = (set(names.split()) for names in run_code(code, tmp_path, tmp_path).stdout.split("|"))
    assert meant == {f"vitruvian.{module}" for module in modules.split()}
    assert meant <= leaned
    if "*" in package:
        assert "vitruvian.part.a" in leaned


def test_importing_the_package_parses_nothing():
    code = "import sys, vitruvian; from vitruvian import sources; print(sources._contents.cache_info().misses)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"


def test_only_the_latest_versions_are_kept(tmp_path):
    for k in range(6):
        (tmp_path / str(k)).mkdir()
        os.utime(tmp_path / str(k), (k, k))
    kernel_cache.forget_oldest(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3", "4", "5"]


def test_a_folder_of_the_users_own_is_left_alone(tmp_path):
    package = make_package(tmp_path / "package", add=1)
    run_code(f"{TWICE}\nrun()", package, tmp_path / "home", NUMBA_CACHE_DIR=str(tmp_path / "own"))
    assert list((tmp_path / "own").rglob("*.nbi"))
    assert not (tmp_path / "home").exists()


def test_a_home_that_cannot_be_written_to_does_no_harm(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert kernel_cache.KernelLocator.from_function(multiply_exponential.py_func, kernel_cache.__file__) is None


def test_the_name_of_a_kernels_module_comes_from_its_file():
    assert sources.module_name(Path(sources.__file__)) == "vitruvian.sources"
    assert sources.module_name(Path(sources.__file__).parent / "spatial" / "__init__.py") == "vitruvian.spatial"
    locator = kernel_cache.KernelLocator(multiply_exponential.py_func.__code__.co_filename, 1)
    assert locator.digest == sources.digest("vitruvian.spatial.exponentials")


MANY = """
import numpy as np
from numba import njit, prange

@njit(cache=True, parallel=True)
def many(x):
    for i in prange(len(x)):
        x[i] += 1.0
"""
ONE = """
from numba import njit
from many import many

@njit(cache=True)
def one(x):
    many(x)
"""


def test_a_kept_kernel_that_calls_a_kept_parallel_one_does_not_crash(tmp_path):
    (tmp_path / "many.py").write_text(MANY)
    (tmp_path / "one.py").write_text(ONE)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": os.pathsep.join(sys.path)}
    call = "import vitruvian, numpy as np; from {0} import {0}; {0}(np.zeros(4))"
    for name in ("many", "one", "one"):  # compile; compile against what was kept; use what was kept
        done = subprocess.run([sys.executable, "-c", call.format(name)], cwd=tmp_path, env=environment)
        assert done.returncode == 0, name
