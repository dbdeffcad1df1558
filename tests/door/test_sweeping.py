"""A sweep gives one table, the same whatever the engine, whatever is killed, stopped and resumed."""

import csv
import json
import os
import signal
import time

import numpy as np
import psutil
import pytest

from vitruvian.door import SweepInterrupted, sweep
from vitruvian.door.table import CLOCK
from vitruvian.errors import InputError, RunFailed
from vitruvian.scenes import pendulum
from vitruvian.swarm.keeping import Kept
from vitruvian.world import Recording

# 24 runs of a tenth of a second
GRID = {"length": "0.5:1.1:4", "amplitude": [20, 60, 120], "seeds": 2, "seconds": 0.1}


def told(table):
    """The table but for what the clock says."""
    return [{name: value for name, value in row.items() if name != CLOCK} for row in table.rows]


def results(out):
    return sorted((out.with_suffix(".runs") / "results").glob("0*.json"))


@pytest.fixture(scope="module")
def whole():
    return sweep("pendulum", processes=1, **GRID)


def workers_of(process):
    return [child for child in process.children() if "popen_loky" in " ".join(child.cmdline())]


def test_the_table_has_parameters_seed_checks_and_metrics(whole):
    assert len(whole) == 24
    assert whole.swept == ("length", "amplitude")
    row = whole.rows[0]
    assert (row["length"], row["amplitude"], row["gravity"], row["seed"]) == (0.5, 20.0, 9.81, 0)
    assert row["exact_period_s"] == pendulum.exact_period(0.5, 9.81, np.deg2rad(20.0))
    assert row["check: energy stays, friction counted"] is True
    assert (row["passed"], row["error"]) == (True, "")
    assert whole.columns[-1] == CLOCK
    assert whole.column("seed").tolist() == [0, 1] * 12
    assert np.unique(whole.column("length")) == pytest.approx([0.5, 0.7, 0.9, 1.1])


def test_two_processes_give_the_same_table(whole):
    assert told(sweep("pendulum", processes=2, **GRID)) == told(whole)


def test_a_dask_cluster_gives_the_same_table(whole, cluster):
    assert told(sweep("pendulum", scheduler=cluster, **GRID)) == told(whole)


def test_a_worker_killed_in_the_middle_leaves_no_gap(whole):
    killed = []

    def kill_one(done, total):
        if done == 8 and not killed:
            killed.append(workers_of(psutil.Process())[0])
            killed[0].send_signal(signal.SIGKILL)

    assert told(sweep("pendulum", processes=2, progress=kill_one, **GRID)) == told(whole)
    assert killed


def test_a_dask_worker_killed_in_the_middle_leaves_no_gap(whole, cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    killed = []

    def kill_one(done, total):
        if done == 4 and not killed:
            killed.append(victim)
            psutil.Process(victim).send_signal(signal.SIGKILL)

    assert told(sweep("pendulum", scheduler=cluster, progress=kill_one, **GRID)) == told(whole)
    assert killed


@pytest.mark.parametrize("processes", [1, 2])
def test_stopped_and_resumed_no_run_is_done_twice(whole, tmp_path, processes):
    out = tmp_path / "table.csv"

    def stop(done, total):
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(SweepInterrupted, match="interrupted after 10 of 24 runs; sweep again with resume"):
        sweep("pendulum", processes=processes, out=out, progress=stop, **GRID)
    kept = {path: path.read_bytes() for path in results(out)}  # wall_seconds among it: another run would differ
    assert len(kept) == 10
    assert not out.exists()
    table = sweep("pendulum", processes=processes, out=out, resume=True)
    assert told(table) == told(whole)
    assert len(results(out)) == 24
    assert all(path.read_bytes() == before for path, before in kept.items())
    assert sweep("pendulum", out=out, resume=True).rows == table.rows  # to the clock: nothing was run


def test_a_run_that_was_kept_and_not_yet_counted_is_counted(tmp_path, monkeypatch):
    save = Kept.save

    def save_and_stop(self, index, result):
        save(self, index, result)
        if index == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Kept, "save", save_and_stop)
    with pytest.raises(SweepInterrupted, match="interrupted after 2 of 3 runs"):
        sweep("pendulum", length=[0.5, 0.7, 1.0], seconds=0.1, out=tmp_path / "a.csv", processes=1)


def test_the_csv_reads_back_to_the_same_numbers(whole, tmp_path):
    out = whole.write(tmp_path / "table.csv")
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == whole.columns
    for name in ("length", "exact_period_s", "energy_drift", CLOCK):
        assert [float(row[name]) for row in rows] == whole.column(name).tolist()
    assert {row["passed"] for row in rows} == {"True"}


def test_parquet_and_pandas_hold_the_same(whole, tmp_path):
    pandas = pytest.importorskip("pandas")
    parquet = pandas.read_parquet(whole.write(tmp_path / "table.parquet"))
    pandas.testing.assert_frame_equal(parquet, whole.to_pandas())
    assert parquet["length"].tolist() == whole.column("length").tolist()
    assert parquet["passed"].dtype == bool


def test_a_run_that_fails_has_its_error_in_the_table_and_the_sweep_goes_on(monkeypatch):
    import vitruvian.door.sweeping as sweeping

    def fail(scene, *, out, length, **options):
        if length == 0.7:
            raise RunFailed(f"rod: no longer finite, see {out}")
        if length == 0.9:
            raise ZeroDivisionError("division by zero")
        return whole_run(scene, out=out, length=length, **options)

    whole_run = sweeping.run
    monkeypatch.setattr(sweeping, "run", fail)
    table = sweep("pendulum", length=[0.5, 0.7, 0.9, 1.1], seconds=0.1, processes=1)
    errors = ["", "rod: no longer finite, see the recording", "ZeroDivisionError: division by zero", ""]
    assert [row["error"] for row in table.rows] == errors
    assert [row["passed"] for row in table.rows] == [True, None, None, True]
    assert np.isnan(table.column("exact_period_s")).tolist() == [False, True, True, False]
    assert (len(table.failed), len(table.not_passed)) == (2, 0)


def test_runs_fail_alike_in_this_process_and_in_another():
    tables = [sweep("pendulum", length=[0.5, 1.0], seconds=1e-3, processes=count) for count in (1, 2)]
    for table in tables:
        assert [row["error"] for row in table.rows] == ["seconds must be at least one frame (1/60 s), not 0.001"] * 2


def test_a_check_that_fails_is_no_error():
    # the energy drifts with so long a step
    table = sweep("pendulum", substeps=[1, 8], length=0.2, gravity=100, seconds=0.5, processes=1)
    assert [row["passed"] for row in table.rows] == [False, True]
    assert (len(table.failed), len(table.not_passed)) == (0, 1)


def test_recordings_are_kept_if_asked_and_nothing_else_is(tmp_path):
    out = tmp_path / "table.csv"
    table = sweep("pendulum", length=[0.5, 1.0], seeds=2, seconds=0.1, out=out, recordings=True, processes=2)
    assert [row["recording"] for row in table.rows] == [f"table.runs/recordings/{k:06d}.zarr" for k in range(4)]
    for row in table.rows:
        about = Recording.open(tmp_path / row["recording"]).attributes
        assert (about["parameters"]["length"], about["seed"]) == (row["length"], row["seed"])
    assert len(list((tmp_path / "table.runs/recordings").iterdir())) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv", "table.runs"]


@pytest.mark.parametrize("processes", [1, 2])
def test_temporary_recordings_are_removed_also_when_it_is_stopped(tmp_path, monkeypatch, processes):
    import tempfile

    def stop(done, total):
        if done == stop_after:
            raise KeyboardInterrupt

    stop_after = processes  # with two, when the one has done a short run and the other is still at the long one
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(SweepInterrupted, match="nothing is kept"):
        sweep("pendulum", substeps=[1000, 1, 2, 3], seconds=1, processes=processes, progress=stop)
    assert list(tmp_path.glob("vitruvian*")) == []


def test_what_is_left_of_a_killed_attempt_is_cleared(tmp_path):
    out = tmp_path / "table.csv"
    options = {"length": [0.5, 1.0], "seconds": 0.1, "recordings": True, "out": out, "processes": 1}
    sweep("pendulum", **options)
    folder = tmp_path / "table.runs"
    (folder / "results/000001.json").unlink()  # its recording is there, as if the process had died between the two
    (folder / "recordings/.000001.zarr.elsewhere-17.partial").mkdir()
    table = sweep("pendulum", resume=True, out=out)
    assert sorted(path.name for path in (folder / "recordings").iterdir()) == ["000000.zarr", "000001.zarr"]
    assert len(Recording.open(tmp_path / table.rows[1]["recording"])) == 7


def test_random_samples_and_seeds_make_their_product(tmp_path):
    table = sweep("pendulum", length="~0.5:1.0", amplitude=[20, 60], sample=3, seeds=2, seconds=0.05, processes=1)
    assert len(table) == 12
    assert len(set(table.column("length"))) == 3
    assert table.drawn == ("length",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lenth": [1, 2]}, "did you mean length"),
        ({"length": [1, 5]}, "at most 1.3"),
        ({"length": "0.5:9:3"}, "at most 1.3"),
        ({"seconds": 0}, "seconds must be positive"),
        ({"seeds": 0}, "seeds must be"),
        ({"seeds": 1.5}, "seeds must be"),
        ({"quality": "best"}, "unknown quality"),
        ({"out": "table.txt"}, r".csv or .parquet"),
        ({"out": "/proc/nowhere/table.csv"}, "cannot write"),
        ({"recordings": True}, "want the name of the table"),
        ({"resume": True}, "want the name of the table"),
        ({"out": "nowhere.csv", "resume": True}, "there is no sweep to resume"),
        ({"length": "0.5:1:1000", "amplitude": "1:100:1000"}, "1000000 runs; the most is 100000"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vitruvian.door.sweeping.run", None)
    with pytest.raises(InputError, match=words):
        sweep("pendulum", processes=1, **options)
    assert list(tmp_path.iterdir()) == []


def test_other_conditions_cannot_be_resumed(tmp_path):
    out = tmp_path / "table.csv"
    sweep("pendulum", length=[0.5, 1.0], seconds=0.1, out=out, processes=1)
    with pytest.raises(InputError, match="already exists"):
        sweep("pendulum", length=[0.5, 1.0], seconds=0.1, out=out)
    for other, words in [
        ({"length": [0.5, 0.9]}, "the parameters differ"),
        ({"seconds": 0.2}, "its seconds is 0.1, not 0.2"),
        ({"seeds": 2}, "its seeds is 1, not 2"),
        ({"quality": "standard"}, "its quality is draft, not standard"),
        ({"recordings": True}, "its recordings is False, not True"),
    ]:
        with pytest.raises(InputError, match=words):
            sweep("pendulum", out=out, resume=True, **other)
    with pytest.raises(InputError, match="its scene is pendulum, not knee"):
        sweep("knee", out=out, resume=True)
    same = sweep("pendulum", length=[0.5, 1.0], seconds=0.1, out=out, resume=True)
    assert len(same) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "0.0.1"}, "its version is 0.0.1"),
        ({"seeds": "many"}, "plan.json is damaged"),
        ({"seeds": 0}, "seeds must be"),
        ({"axes": {"fixed": {}, "grid": {"length": [99]}, "drawn": {}}}, "at most 1.3"),
        ({"axes": {"fixed": {}, "grid": {}, "drawn": {"length": [0.5], "gravity": [1, 2]}}}, "unequal"),
        ({"axes": []}, "plan.json is damaged"),
    ],
)
def test_a_plan_from_elsewhere_is_checked(tmp_path, change, words):
    out = tmp_path / "table.csv"
    sweep("pendulum", length=[0.5, 1.0], seconds=0.1, out=out, processes=1)
    plan = tmp_path / "table.runs/plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | change))
    with pytest.raises(InputError, match=words):
        sweep("pendulum", out=out, resume=True)


def test_a_worker_with_another_version_stops_the_sweep():
    from vitruvian.door.sweeping import run_one

    with pytest.raises(InputError, match=r"this worker has vitruvian .*, the sweep is of 9\.9"):
        run_one({"version": "9.9"})


def test_an_interrupted_run_is_not_taken_for_a_failed_one(monkeypatch, tmp_path):
    def trip(*arguments, **options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("no compiled object yet") from None

    monkeypatch.setattr("vitruvian.door.sweeping.run", trip)
    with pytest.raises(SweepInterrupted):
        sweep("pendulum", length=[0.5, 1.0], seconds=0.1, out=tmp_path / "a.csv", processes=1)
    assert results(tmp_path / "a.csv") == []


def test_the_clock_is_the_only_difference_between_two_sweeps(whole):
    begun = time.perf_counter()
    again = sweep("pendulum", processes=1, **GRID)
    assert told(again) == told(whole)
    assert 0.0 < sum(again.column(CLOCK)) < time.perf_counter() - begun
