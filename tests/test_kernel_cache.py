"""Where compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path

from vitruvian import kernel_cache
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
    (package / "kernel_cache.py").write_text(Path(kernel_cache.__file__).read_text())
    (package / "low.py").write_text(CALLED.format(add=add))
    (package / "high.py").write_text(CALLS)
    (package / "apart.py").write_text(APART)
    return folder


def run_package(folder: Path, home: Path) -> tuple[int, list[str]]:
    """What 2 (x + add) is at 1, and which kernels had to be compiled."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_CACHE")}
    env |= {"XDG_CACHE_HOME": str(home), "PYTHONPATH": str(folder)}
    code = """
from vitruvian.high import twice
from vitruvian.apart import alone
value = twice(1); alone(1)
print(value, *(f.__name__ for f in (twice, alone) if sum(f.stats.cache_misses.values())))
"""
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, cwd=folder)
    value, *compiled = run.stdout.split()
    return int(value), compiled


def test_an_edit_compiles_what_calls_it_and_nothing_else_and_copies_share(tmp_path):
    home = tmp_path / "home"
    first = make_package(tmp_path / "first", add=1)
    assert run_package(first, home) == (4, ["twice", "alone"])
    copy = make_package(tmp_path / "copy", add=1)
    assert run_package(copy, home) == (4, [])
    make_package(first, add=5)
    assert run_package(first, home) == (12, ["twice"])


def test_digest_follows_imports_of_every_form():
    text = "from vitruvian.spatial import (\n    exp_so3,\n    bspline,\n)\n  import vitruvian.mesh.tubes\nx = 1\n"
    named = set(kernel_cache._named(text))
    assert {"vitruvian.spatial", "vitruvian.spatial.bspline", "vitruvian.mesh.tubes"} <= named
    assert "vitruvian.spatial.exponentials" in kernel_cache.imported("vitruvian.spatial.se3_spline")


def test_only_the_latest_versions_are_kept(tmp_path):
    for k in range(6):
        (tmp_path / str(k)).mkdir()
        os.utime(tmp_path / str(k), (k, k))
    kernel_cache.forget_oldest(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3", "4", "5"]


def test_a_folder_of_the_users_own_is_left_alone(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere/else")
    monkeypatch.delenv("NUMBA_CACHE_LOCATOR_CLASSES", raising=False)
    kernel_cache.keep_kernels()
    assert os.environ["NUMBA_CACHE_DIR"] == "/somewhere/else"
    assert "NUMBA_CACHE_LOCATOR_CLASSES" not in os.environ


def test_a_home_that_cannot_be_written_to_does_no_harm(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert kernel_cache.KernelLocator.from_function(multiply_exponential.py_func, kernel_cache.__file__) is None
