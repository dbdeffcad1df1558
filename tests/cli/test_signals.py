"""Ctrl-C and SIGTERM anywhere but in the stepping of a run: one line, status 130, nothing half written."""

import ctypes
import dataclasses
import json
import os
import signal
import textwrap
import time

import pytest

import vitruvian.benchmarks
import vitruvian.scenes
import vitruvian.verify
from vitruvian.cli import invoke

KINDS = pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}
    yield tmp_path
    assert {kind: signal.getsignal(kind) for kind in before} == before


def pressed(kind):
    os.kill(os.getpid(), kind)
    time.sleep(5.0)  # the signal is heard at the next opportunity, at the latest here
    raise AssertionError("the signal was not heard")


@KINDS
def test_a_model_being_built(here, monkeypatch, capsys, kind):
    scene = dataclasses.replace(vitruvian.scenes.find("pendulum"), build=lambda parameters: pressed(kind))
    monkeypatch.setattr(vitruvian.scenes, "find", lambda name: scene)
    assert invoke(["run", "pendulum"]) == 130
    assert capsys.readouterr().err == "vitruvian: interrupted before the first frame; nothing was saved\n"
    assert invoke(["info", "pendulum", "--json"]) == 130
    said = capsys.readouterr()
    assert said.err == "vitruvian: interrupted\n"
    assert json.loads(said.out) == {"error": "interrupted"}
    assert list(here.iterdir()) == []


@KINDS
def test_a_compiler_that_trips_over_its_own_interruption(here, monkeypatch, capsys, kind):
    def build(parameters):
        try:
            pressed(kind)
        except KeyboardInterrupt:
            raise RuntimeError("no compiled object yet") from None

    scene = dataclasses.replace(vitruvian.scenes.find("pendulum"), build=build)
    monkeypatch.setattr(vitruvian.scenes, "find", lambda name: scene)
    assert invoke(["info", "pendulum"]) == 130
    assert capsys.readouterr().err == "vitruvian: interrupted\n"


@KINDS
def test_a_signal_inside_a_callback_that_cannot_raise(here, monkeypatch, capsys, kind):
    def build(parameters):
        ctypes.CFUNCTYPE(None)(lambda: pressed(kind))()
        time.sleep(5.0)
        raise AssertionError("the signal was not heard")

    scene = dataclasses.replace(vitruvian.scenes.find("pendulum"), build=build)
    monkeypatch.setattr(vitruvian.scenes, "find", lambda name: scene)
    assert invoke(["info", "pendulum"]) == 130
    assert capsys.readouterr().err == "vitruvian: interrupted\n"


@KINDS
@pytest.mark.parametrize("suffix", [".csv", ".glb"])
def test_a_file_being_exported(here, monkeypatch, capsys, kind, suffix):
    def write(recording, out, progress=None):
        out.write_bytes(b"half")
        pressed(kind)

    module = suffix[1:]
    monkeypatch.setattr(f"vitruvian.exchange.{module}.write_{module}", write)
    (here / f"a{suffix}").write_text("old")
    assert invoke(["export", "pendulum", f"a{suffix}"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "vitruvian: interrupted"
    assert [(file.name, file.read_text()) for file in here.iterdir()] == [(f"a{suffix}", "old")]


@KINDS
@pytest.mark.parametrize("out", ["a.png", "a.mp4"])
def test_a_picture_or_film_being_drawn(here, monkeypatch, capfd, kind, out):
    monkeypatch.setattr("vitruvian.view.render.Shooting.shoot", lambda shooting, *which: pressed(kind))
    assert invoke(["render", "pendulum", out, "--size", "64x48"]) == 130
    said = [line for line in capfd.readouterr().err.splitlines() if not line.startswith(("pendulum has", "starting"))]
    assert said == ["vitruvian: interrupted"]
    assert list(here.iterdir()) == []


@pytest.fixture
def chapters(tmp_path_factory, monkeypatch):
    """Three claims and three timings, in the second of which a world is run and the user presses Ctrl-C."""
    folder = tmp_path_factory.mktemp("chapters")
    press = """
        import os, signal, tempfile
        from pathlib import Path
        import vitruvian.scenes
        from vitruvian.world.parameters import scene_parameters
        from vitruvian.world.run import run_world

        def press():
            scene = vitruvian.scenes.find("pendulum")
            world = scene.build(scene_parameters(scene, "draft", {}))
            with tempfile.TemporaryDirectory() as folder:
                kill = lambda *_: os.kill(os.getpid(), getattr(signal, os.environ["KIND"]))
                run_world(world, Path(folder) / "r.zarr", seconds=0.2, progress=kill)
        """
    (folder / "toystop.py").write_text(
        textwrap.dedent(press)
        + textwrap.dedent("""
        from vitruvian.verify.book import Finding, claim

        @claim
        def first():
            return Finding.error(0.0, 1.0)

        @claim
        def second():
            press()
            return Finding.error(0.0, 1.0)

        @claim
        def third():
            return Finding.error(0.0, 1.0)
        """)
    )
    (folder / "toytick.py").write_text(
        textwrap.dedent(press)
        + textwrap.dedent("""
        from vitruvian.benchmarks.suite import Timing, timing

        @timing
        def first():
            return Timing(1.0)

        @timing
        def second():
            press()
            return Timing(1.0)
        """)
    )
    monkeypatch.setattr(vitruvian.verify, "__path__", [*vitruvian.verify.__path__, str(folder)])
    monkeypatch.setattr(vitruvian.benchmarks, "__path__", [*vitruvian.benchmarks.__path__, str(folder)])


@KINDS
def test_a_book_being_verified_stops_at_once_and_shows_what_was_measured(here, chapters, monkeypatch, capsys, kind):
    monkeypatch.setenv("KIND", kind.name)
    assert invoke(["verify", "toystop", "--json"]) == 130
    said = capsys.readouterr()
    told = json.loads(said.out.splitlines()[-1])
    assert list(told["cases"]) == ["toystop/first"]
    assert (told["passed"], told["failed"], told["skipped"], told["interrupted"]) == (1, 0, 0, True)
    assert said.err == "vitruvian: interrupted after 1 of 3\n"
    assert invoke(["verify", "toystop"]) == 130
    assert "1 passed, 0 failed, 0 skipped" in capsys.readouterr().out


@KINDS
def test_benchmarks_stop_at_once_and_show_what_was_timed(here, chapters, monkeypatch, capsys, kind):
    monkeypatch.setenv("KIND", kind.name)
    assert invoke(["bench", "toytick", "--json"]) == 130
    said = capsys.readouterr()
    assert list(json.loads(said.out.splitlines()[-1])["cases"]) == ["toytick/first"]
    assert said.err == "vitruvian: interrupted after 1 of 2\n"
