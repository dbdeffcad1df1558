"""The guides as a site: built without a warning; every command line known."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import typer

from vitruvian.benchmarks.suite import find_timings
from vitruvian.cli import app, invoke
from vitruvian.scenes import find
from vitruvian.verify.book import find_claims
from vitruvian.world import scene_parameters

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("material", reason="mkdocs-material is not installed (pip install 'vitruvian[docs]')")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").is_file()


def commands():
    """Every `vitruvian …` line of a block in README and guides, as it would be pasted, comments and all."""
    for page in PAGES:
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.S | re.M):
            for line in block.splitlines() if language != "python" else ():
                line = line.strip().removeprefix(".venv/bin/")
                if line.startswith("vitruvian "):
                    yield pytest.param(line, id=f"{page.stem}: {words_of(line)[:70]}")


def words_of(line):
    """A line without its comment."""
    return shlex.join(shlex.split(line, comments=True))


@pytest.mark.parametrize("line", list(commands()))
def test_every_command_line_of_the_guides_can_be_pasted(line):
    """Command, options and their values are understood, as is what a shell would make of the line; nothing is run."""
    assert not re.search(r"[|…\[\]<>;&\\]", words_of(line)), "a shell would not take it as it stands"
    assert not line[line.index("vitruvian") :].split(" #")[0].rstrip().count("  "), "words without # behind a command"
    words = shlex.split(line, comments=True)[1:]
    group = typer.main.get_command(app)
    name = words[0]
    assert name in group.commands, f"no command {name}"
    given = group.commands[name].make_context(name, words[1:]).params
    if name in ("run", "sweep"):  # the scene exists, and can be set so
        settings = [words[k + 1] for k, word in enumerate(words) if word == "--set"]
        one = {key: re.split(r"[,:]", value)[0] for key, _, value in (s.partition("=") for s in settings)}
        scene = find(words[1])
        unknown = sorted(set(one) - set(scene.parameters))
        assert not unknown, f"{words[1]} has no {unknown}"
        if "motion" not in one:
            scene_parameters(scene, "draft", one)
    if name in ("verify", "bench"):
        assert {"verify": find_claims, "bench": find_timings}[name](given["cases"])


# Command lines that are run, beside a short recording of the knee; runs are cut short. The others take minutes, wait
# for a browser, or want a file of the reader's own.
CHEAP = re.compile(
    r"vitruvian (doctor|scenes|info \w+|run (pendulum|beads|knee)\b.*|sweep pendulum (?!.*scheduler).*"
    r"|(share|export|render) recordings/(knee|curl)-1.zarr (?!.*(cycles|blend)).*)$"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the recordings that the command lines read."""
    place = tmp_path_factory.mktemp("commands")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert invoke(["run", "knee", "--seconds", "0.6"]) == 0
        shutil.copytree("recordings/knee-1.zarr", "recordings/curl-1.zarr")
    return place


def cheap_lines():
    return sorted({line for line in (words_of(given.values[0]) for given in commands()) if CHEAP.match(line)})


@pytest.mark.parametrize("line", cheap_lines())
def test_cheap_command_lines_of_the_guides_run(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = [word for word in shlex.split(line)[1:] if word != "--view"]
    words += ["--seconds", "0.1"] if words[0] == "run" or (words[0] == "sweep" and "--seconds" not in words) else []
    words += ["--size", "320x180"] if words[0] == "render" and "--size" not in words else []
    assert invoke(words) in ((0, 1) if words[0] in ("doctor", "sweep") else (0,))  # a cut sweep may fail its checks


def test_enough_of_the_guides_is_run():
    assert len(cheap_lines()) >= 22


def test_the_slow_run_of_all_commands_leaves_none_out_and_understands_each_cut_short():
    slow = script("all_commands", "tests/docs")
    lines = {line for page in slow.pages() for line in slow.lines_of(page)}
    assert lines == {words_of(given.values[0]) for given in commands()}
    group = typer.main.get_command(app)
    for line in lines:
        name, *words = slow.cut(line)
        group.commands[name].make_context(name, words)


def script(name, folder="docs"):
    spec = spec_from_file_location(name, ROOT / folder / f"{name}.py")
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_reference_has_every_exported_name_with_its_docstring():
    pages = script("generated_pages").pages()
    assert "### vt.render" in pages["api/index.md"]
    assert 'one of the stage\'s, or "auto"' in pages["api/index.md"]
    assert "`(0.7, 0.2, 0.17)`" in pages["api/world.md"]  # a constant has its value, a listing its lines
    assert "\nrun_world       run it" in pages["api/world.md"]
    for package in script("generated_pages").PACKAGES:
        for name in getattr(import_module(f"vitruvian.{package}"), "__all__", []):
            assert f"### {name}\n" in pages[f"api/{package}.md"]


def test_the_book_has_every_claim_and_what_was_measured(tmp_path, monkeypatch):
    made = script("generated_pages")
    case = {"value": 2e-7, "reference": 0.0, "tolerance": 1e-6, "unit": "m", "passed": True, "on": "2026-01-02"}
    first = find_claims([])[0].name
    (tmp_path / "book.json").write_text(json.dumps({"cases": {first: case}}))
    monkeypatch.setattr(made, "HERE", tmp_path)
    page = made.book_page()
    for claim in find_claims([]):
        assert f"**{claim.name.partition('/')[2]}**" in page
    assert "2e-07 m | 0 ± 1e-06 | holds" in page
    assert page.count("<rect") == 1
    assert "| 1 | 1 | 2026-01-02 |" in page
    assert "not yet" in page


def test_measured_chapters_are_put_together_and_the_newest_counts(tmp_path):
    made = script("make_book")
    old, new = (
        {"value": v, "reference": 0.0, "tolerance": 1.0, "unit": "", "passed": v < 1, "seconds": 1.0, "detail": ""}
        for v in (2.0, 0.5)
    )
    (tmp_path / "a.json").write_text(json.dumps({"cases": {"x/one": old, "x/gone": old}}))
    (tmp_path / "b.json").write_text(json.dumps({"cases": {"x/one": new}}))
    first = made.merged({}, [tmp_path / "a.json"], ["y/two", "x/one"])
    assert list(first["cases"]) == ["x/one"]
    both = made.merged(first, [tmp_path / "b.json"], ["y/two", "x/one"])
    assert both["cases"]["x/one"]["passed"]
    assert len(both["cases"]["x/one"]["on"]) == 10
