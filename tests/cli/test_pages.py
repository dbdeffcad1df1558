"""`vitruvian view` and `vitruvian run --view` in processes of their own: up until told to stop, then gone at once."""

import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from vitruvian.world import Recording

MAIN = "from vitruvian.cli import main; main()"
PAUSED = f"from vitruvian.view.live import LiveView; LiveView.paused = property(lambda self: True); {MAIN}"
PROMPT = 5.0  # seconds that closing may take, on a busy machine


def started(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments), "--no-open", "--port", "18080"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(process, words):
    said = ""
    while words not in said:
        line = process.stderr.readline()
        assert line, f"ended after saying: {said}"
        said += line
    return said


def stopped(process, kind):
    process.send_signal(kind)
    asked = time.monotonic()
    out, said = process.communicate(timeout=60)
    assert time.monotonic() - asked < PROMPT
    assert "Traceback" not in said
    return out, said


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("seen") / "r.zarr"
    arguments = ["run", "pendulum", "--seconds", "0.2", "--out", path]
    subprocess.run([sys.executable, "-c", MAIN, *arguments], check=True, capture_output=True)
    return path


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_page_of_a_recording_is_served_until_a_signal_and_then_ends_well(recording, kind):
    process = started(MAIN, "view", recording)
    url = re.search(r"http://127.0.0.1:\d+", read_until(process, "viewer:")).group()
    assert b"<html" in urllib.request.urlopen(url, timeout=10).read(2000).lower()
    assert stopped(process, kind) == ("", "")
    assert process.returncode == 0


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_page_of_a_run_stays_after_its_end_until_a_signal_and_then_ends_well(tmp_path, kind):
    process = started(MAIN, "run", "pendulum", "--seconds", "0.2", "--out", tmp_path / "r.zarr", "--view")
    url = re.search(r"http://127.0.0.1:\d+", read_until(process, "the page stays open")).group()
    assert b"<html" in urllib.request.urlopen(url, timeout=10).read(2000).lower()
    stopped(process, kind)
    assert process.returncode == 0
    assert len(Recording.open(tmp_path / "r.zarr")) == 13


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_run_held_by_its_watcher_is_saved_when_a_signal_ends_it(tmp_path, kind):
    path = tmp_path / "r.zarr"
    process = started(PAUSED, "run", "pendulum", "--out", path, "--view")
    read_until(process, "live view:")
    deadline = time.monotonic() + 60
    while not (path / "time" / "zarr.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    _, said = stopped(process, kind)
    assert process.returncode == 130
    assert f"vitruvian run pendulum --resume --out {path}" in said
    assert len(Recording.open(path)) >= 1
