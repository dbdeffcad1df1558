"""The guides as a site: built without a warning, every page in the menu, every command line known."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from vitruvian.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [page.name for page in PAGES[1:] if page.name not in menu] == []


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("material", reason="mkdocs-material is not installed (pip install 'vitruvian[docs]')")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").is_file()


def commands():
    """Every `vitruvian …` line of a block in README and guides."""
    for page in PAGES:
        for block in re.findall(r"```\w*\n(.*?)```", page.read_text(), re.S):
            for line in block.splitlines():
                words = re.split(r" #|   ", line.strip())[0].removeprefix(".venv/bin/")  # prose may stand behind it
                if words.startswith("vitruvian ") and "…" not in words and "\\" not in words:
                    yield pytest.param(words, id=f"{page.stem}: {words[:70]}")


@pytest.mark.parametrize("line", list(commands()))
def test_every_command_line_of_the_guides_is_understood(line):
    """Command and options exist; nothing is run."""
    words = shlex.split(line)[1:]
    group = typer.main.get_command(app)
    name = words[0]
    assert name in group.commands, f"no command {name}"
    known = {option for parameter in group.commands[name].params for option in parameter.opts} | {"-h", "--help"}
    assert [word for word in words if word.startswith("--") and word.split("=")[0] not in known] == []
