"""`vt.run`: the one way to run a scene or a world of your own."""

import inspect
import pickle

import numpy as np
import pytest

import vitruvian as vt
from vitruvian.cli import invoke
from vitruvian.door import Run, RunInterrupted
from vitruvian.errors import InputError
from vitruvian.scenes import find


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def swinging():
    """A world of one's own."""
    return find("pendulum").build({name: p.default for name, p in find("pendulum").parameters.items()})


def test_run_records_and_checks_a_scene():
    run = vt.run("pendulum", seconds=0.5, length=0.5, seed=3)
    assert (run.scene, run.seconds, run.steps, run.frames) == ("pendulum", 0.5, 240, 31)
    assert str(run.recording) == "recordings/pendulum-1.zarr"
    assert run.passed
    assert run.checks
    assert run.metrics["exact_period_s"] == pytest.approx(1.53215, rel=1e-5)
    about = run.open().attributes
    assert about["parameters"]["length"] == 0.5
    assert about["seed"] == 3
    assert "pendulum: 0.5 s" in str(run)
    assert "passed    energy stays" in str(run)
    assert pickle.loads(pickle.dumps(run)) == run


def test_command_line_and_python_record_the_same_bits():
    one = vt.run("pendulum", seconds=0.5, quality="standard", amplitude=20)
    assert invoke(["run", "pendulum", "--seconds", "0.5", "--quality", "standard", "--set", "amplitude=20"]) == 0
    two = vt.open("recordings/pendulum-2.zarr")
    assert one.open().attributes == two.attributes
    np.testing.assert_array_equal(one.open()["angle"], two["angle"])


def test_failed_check_is_told_and_not_passed():
    run = Run("swing", 1.0, 2.0, 60, "there", {"stays": True, "stands still": False}, {"x": 1.5})
    assert not run.passed
    assert "FAILED    stands still" in repr(run)


def test_resumed_run_equals_one_that_was_not_stopped():
    whole = vt.run("pendulum", seconds=0.4, length=0.7)
    vt.run("pendulum", seconds=0.2, length=0.7, out="a.zarr")
    more = vt.run("pendulum", seconds=0.4, out="a.zarr", resume=True)
    assert more.resumed_at == pytest.approx(0.2)
    np.testing.assert_array_equal(more.open()["angle"], whole.open()["angle"])
    with pytest.raises(InputError, match=r"recorded with length = 0\.7"):
        vt.run("pendulum", seconds=0.4, out="a.zarr", resume=True, length=0.8)


def test_world_of_ones_own_is_recorded():
    world = swinging()
    run = vt.run(world, seconds=0.2)
    assert str(run.recording) == "recordings/world-1.zarr"
    assert run.passed
    assert len(run.open()) == 13
    again = vt.run(swinging(), seconds=0.3, resume=True)
    assert again.recording == run.recording
    assert len(again.open()) == 19
    assert vt.run(swinging(), resume=True).steps == 0


def test_world_keeps_its_own_seed_unless_told():
    world = swinging()
    world.seed = 7
    assert vt.run(world, seconds=0.1).open().attributes["seed"] == 7
    assert vt.run(world, seconds=0.1, seed=2).open().attributes["seed"] == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seconds": 0.1, "length": 1.0}, "'length' is for scenes"),
        ({"seconds": 0.1, "quality": "draft"}, "'quality' is for scenes"),
        ({}, "say how many seconds"),
        ({"seconds": -1.0}, "must be positive"),
    ],
)
def test_what_a_world_cannot_take_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        vt.run(swinging(), **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lenght": 1.0}, "did you mean length"),
        ({"length": 99.0}, "at most 1.3"),
        ({"quality": "best"}, "unknown quality"),
        ({"out": ""}, "name of a new folder"),
        ({"resume": True}, "no recording of pendulum"),
    ],
)
def test_what_is_wrong_is_refused_before_the_scene_is_built(given, said, monkeypatch, tmp_path):
    with pytest.raises(InputError, match=said):
        vt.run("pendulum", **given)
    assert not list(tmp_path.iterdir())


def test_watcher_and_progress_see_the_run():
    seen, told = [], []

    class Watcher:
        paused = False

        def push(self, time, frame):
            seen.append(time)

    def make(world, parameters):
        assert parameters["length"] == 0.5
        assert world.stage().bodies == ("pendulum",)
        return Watcher()

    vt.run("pendulum", seconds=0.05, length=0.5, watcher=make, progress=lambda done, total: told.append((done, total)))
    assert len(seen) == 4
    assert told[-1] == (0.05, 0.05)
    vt.run("pendulum", seconds=0.05, watcher=Watcher())
    assert len(seen) == 8


def test_interruption_keeps_what_was_done_and_is_a_keyboard_interrupt():
    def stop(done, total):
        if done > 0.1:
            import signal

            signal.raise_signal(signal.SIGINT)

    with pytest.raises(RunInterrupted, match="run again with resume") as raised:
        vt.run("pendulum", seconds=0.5, out="a.zarr", progress=stop)
    assert isinstance(raised.value, KeyboardInterrupt)
    assert 0.1 < raised.value.run.seconds < 0.2
    assert pickle.loads(pickle.dumps(raised.value)).run == raised.value.run
    assert vt.run("pendulum", out="a.zarr", resume=True).seconds == pytest.approx(0.5)


def test_no_scene_has_a_parameter_that_run_keeps_for_itself():
    kept = set(inspect.signature(vt.run).parameters)
    for name in vt.scene_names():
        assert not kept & set(find(name).parameters), name
