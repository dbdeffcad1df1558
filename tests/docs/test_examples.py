"""Every Python block in README and docs runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPTS = {script.read_text() for script in (ROOT / "examples").glob("*.py")}  # run from the wheel
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{k}")
    for page in PAGES
    for k, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
    if block not in SCRIPTS
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the recording that the examples read."""
    place = tmp_path_factory.mktemp("examples")
    command = [sys.executable, "-m", "vitruvian", "run", "pendulum", "--seconds", "0.5"]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    return place


@pytest.mark.parametrize("block", BLOCKS)
def test_example_in_the_documentation_runs(block, folder):
    run = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_in_the_documentation_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
