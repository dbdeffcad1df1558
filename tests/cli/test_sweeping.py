"""`vitruvian sweep`: what it writes and says, and how it ends."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from vitruvian.cli import invoke

# a shell's background job ignores Ctrl-C, and so would its children
HEEDING = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); from vitruvian.cli import main; main()"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def last_json(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_leaves_a_table_and_a_plot_and_says_where(here, capsys):
    options = ["--set", "length=0.5:1.0:3", "--set", "friction=0,0.1", "--seeds", "2", "--seconds", "0.1"]
    assert invoke(["sweep", "pendulum", *options, "--processes", "1"]) == 0
    said = capsys.readouterr().out
    assert "12 runs, 0 failed, 0 did not pass their checks" in said
    assert "table      sweeps/pendulum-1.csv" in said
    assert "plot       sweeps/pendulum-1.png" in said
    rows = table(here / "sweeps/pendulum-1.csv")
    assert [(row["length"], row["friction"], row["seed"]) for row in rows[:3]] == [
        ("0.5", "0.0", "0"),
        ("0.5", "0.0", "1"),
        ("0.5", "0.1", "0"),
    ]
    assert (here / "sweeps/pendulum-1.png").read_bytes().startswith(b"\x89PNG")


def test_each_sweep_gets_a_fresh_name_and_resume_takes_the_latest(here, capsys):
    for n in (1, 2):
        options = ["--set", f"length=0.5,0.{5 + n}", "--seconds", "0.1", "--processes", "1", "--json"]
        assert invoke(["sweep", "pendulum", *options]) == 0
        said = last_json(capsys)
        assert said["table"] == f"sweeps/pendulum-{n}.csv"
        assert (said["runs"], said["failed"], said["not_passed"], said["recordings"]) == (2, 0, 0, None)
        assert [row["length"] for row in said["rows"]] == [0.5, 0.5 + n / 10]
    assert invoke(["sweep", "pendulum", "--resume", "--plot", "energy_drift", "--json"]) == 0
    assert last_json(capsys)["rows"] == said["rows"]


def test_a_failed_check_or_run_is_status_1(here, capsys):
    drifting = ["--set", "substeps=1,8", "--set", "length=0.2", "--set", "gravity=100", "--seconds", "0.5"]
    assert invoke(["sweep", "pendulum", *drifting, "--processes", "1"]) == 1
    assert "2 runs, 0 failed, 1 did not pass their checks" in capsys.readouterr().out
    assert invoke(["sweep", "pendulum", "--set", "length=0.5,1", "--seconds", "0.001", "--processes", "1"]) == 1
    said = capsys.readouterr()
    assert "2 runs, 2 failed" in said.out
    assert "there is nothing to plot" in said.err
    assert len(table(here / "sweeps/pendulum-2.csv")) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "lenth=1:2:3"], "did you mean length"),
        (["--set", "length=1:2"], "is no grid"),
        (["--set", "length=0.5:2:3"], "at most 1.3"),
        (["--set", "length"], "key=a:b:n"),
        (["--set", "length~0.5:1"], "--sample"),
        (["--set", "out=1"], "an option of its own, --out"),
        (["--sample", "3"], "there is none"),
        (["--seeds", "0"], "--seeds"),
        (["--processes", "0"], "--processes"),
        (["--processes", "2", "--scheduler", "tcp://127.0.0.1:1"], "not both"),
        (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler at tcp://127.0.0.1:1"),
        (["--out", "table.xls"], ".csv or .parquet"),
        (["--resume"], "there is no sweep of pendulum"),
        (["--seconds", "nan"], "must be positive"),
        (["--quality", "best"], "quality"),
    ],
)
def test_bad_input_is_one_line_and_status_2(here, capsys, options, words):
    assert invoke(["sweep", "pendulum", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("vitruvian: ")
    assert words in said.err
    assert list(here.iterdir()) == []


def test_an_unknown_metric_is_told_when_the_table_is_safe(here, capsys):
    options = ["--set", "length=0.5,1", "--seconds", "0.1", "--processes", "1", "--plot", "enrgy_drift"]
    assert invoke(["sweep", "pendulum", *options]) == 2
    assert "did you mean energy_drift" in capsys.readouterr().err
    assert len(table(here / "sweeps/pendulum-1.csv")) == 2


@pytest.mark.parametrize(
    ("kind", "processes"),
    [(signal.SIGINT, "1"), (signal.SIGINT, "2"), (signal.SIGTERM, "2")],
    ids=lambda value: getattr(value, "name", value),
)
def test_interrupted_it_says_how_to_go_on_and_goes_on(here, kind, processes):
    options = ["--set", "length=0.5:1.2:16", "--set", "substeps=40", "--seconds", "1", "--processes", processes]
    command = [sys.executable, "-c", HEEDING, "sweep", "pendulum", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 300
    folder = here / "sweeps/pendulum-1.runs/results"
    while len(list(folder.glob("0*.json"))) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    # as a terminal does: all processes of the group get Ctrl-C
    os.killpg(process.pid, kind) if kind == signal.SIGINT else process.send_signal(kind)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130, said
    kept = {path: path.read_bytes() for path in folder.glob("0*.json")}
    assert 2 <= len(kept) < 16
    command = "vitruvian sweep pendulum --resume --out sweeps/pendulum-1.csv"
    line = f"vitruvian: interrupted after {len(kept)} of 16 runs, which are kept; go on with `{command}`"
    # on a slow machine it says before that it is building the scene, and how far it is
    assert [told for told in said.splitlines() if not told.startswith(("building", "sweeping"))] == [line]
    again = subprocess.run([sys.executable, "-m", *command.split()], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert all(path.read_bytes() == before for path, before in kept.items())
    assert len(table(here / "sweeps/pendulum-1.csv")) == 16
