"""Scripts run as a user runs them: in a process of their own, in an empty folder, from the wheel that is shipped."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with vitruvian installed from its wheel; the source tree where there is nothing to build wheels with."""
    if find_spec("hatchling") is None:
        return ROOT
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", place, ROOT], check=True)
    (wheel,) = place.glob("vitruvian-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", place / "installed", wheel], check=True)
    return place / "installed"


@pytest.fixture
def run_python(installed, tmp_path):
    """Runs Python with these arguments in the empty folder `tmp_path`; returns what it printed."""

    def run(*arguments):
        path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PYTHONPATH": path}
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
