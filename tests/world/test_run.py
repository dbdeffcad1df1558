import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zarr
from toys import Stiff, make_world

from vitruvian.errors import InputError, RunFailed
from vitruvian.world import Recording, World, run_world

TOYS = Path(__file__).parent / "toys"
SECONDS = 4.0


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run."""
    path = tmp_path_factory.mktemp("whole") / "r.zarr"
    run_world(make_world(), path, seconds=SECONDS)
    return path


def assert_same_bits(a: Path, b: Path) -> None:
    """All arrays of two recordings, and the state in which their runs ended."""
    arrays = {str(file.parent.relative_to(a)) for file in a.rglob("zarr.json")}
    assert arrays == {str(file.parent.relative_to(b)) for file in b.rglob("zarr.json")}
    for name in sorted(arrays):
        mine, theirs = zarr.open(a / name, mode="r"), zarr.open(b / name, mode="r")
        assert dict(mine.attrs) == dict(theirs.attrs)
        if isinstance(mine, zarr.Array):
            assert mine.shape == theirs.shape, name
            assert mine[:].tobytes() == theirs[:].tobytes(), name
    with np.load(a / "checkpoint/state.npz") as x, np.load(b / "checkpoint/state.npz") as y:
        assert set(x.files) == set(y.files)
        assert all(x[name].tobytes() == y[name].tobytes() for name in x.files)


def start(path: Path, *, nap: float) -> subprocess.Popen:
    command = [sys.executable, TOYS / "toys.py", path, str(SECONDS), str(nap)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(TOYS)}, stdout=subprocess.PIPE, text=True)


def frames_on_disk(path: Path) -> int:
    try:
        return len(Recording.open(path))
    except InputError:
        return 0


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_stopped_by_a_signal_and_resumed_gives_the_same_bits(tmp_path, whole, kind):
    path = tmp_path / "r.zarr"
    process = start(path, nap=0.003)
    deadline = time.monotonic() + 30
    while frames_on_disk(path) < 40 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(kind)
    process.wait(timeout=30)
    assert process.returncode == (-signal.SIGKILL if kind == signal.SIGKILL else 130)
    before = frames_on_disk(path)
    assert 40 <= before < 1 + SECONDS * 50
    result = run_world(make_world(), path, seconds=SECONDS, resume=True)
    assert result.resumed_at is not None
    assert 0.0 < result.resumed_at < SECONDS
    assert not result.interrupted
    assert_same_bits(path, whole)


def test_a_run_killed_many_times_still_arrives_at_the_same_bits(tmp_path, whole):
    path, resume = tmp_path / "r.zarr", False
    for stop_at in (7, 8, 100, 333, 599):

        def stop(now, seconds, step=stop_at):
            if round(now * 150) == step:
                os.kill(os.getpid(), signal.SIGINT)

        assert run_world(make_world(), path, seconds=SECONDS, resume=resume, progress=stop).interrupted
        resume = True
    run_world(make_world(), path, seconds=SECONDS, resume=True)
    assert_same_bits(path, whole)


@pytest.mark.parametrize("writes", [0, 1, 9, 25, 45, 46, 47, 60])
def test_a_run_killed_during_creation_is_begun_again_or_resumed(tmp_path, whole, writes):
    """Killed at any write, whatever has the recording's name can be resumed, and nothing else is in the way."""
    path = tmp_path / "r.zarr"
    code = f"""
import os, signal, sys
import vitruvian.world.series as series, vitruvian.world.checkpoint as checkpoint
from pathlib import Path
from toys import make_world
from vitruvian.world import run_world
real, count = series.write_whole, 0
def write(*given, **how):
    global count
    if count == {writes}:
        os.kill(os.getpid(), signal.SIGKILL)
    count += 1
    real(*given, **how)
series.write_whole = checkpoint.write_whole = write
run_world(make_world(), Path(sys.argv[1]), seconds={SECONDS}, save_every=5)
"""
    paths = [str(Path(__file__).parent / "toys"), *sys.path]
    killed = subprocess.run(
        [sys.executable, "-c", code, path], env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    )
    assert killed.returncode == -signal.SIGKILL
    run_world(make_world(), path, seconds=SECONDS, resume=path.exists())
    assert_same_bits(path, whole)
    assert list(tmp_path.iterdir()) == [path]


def test_how_often_it_saves_does_not_change_the_bits(tmp_path, whole):
    run_world(make_world(), tmp_path / "r.zarr", seconds=SECONDS, save_every=7)
    assert_same_bits(tmp_path / "r.zarr", whole)


def test_a_finished_run_resumed_with_more_seconds_is_extended(tmp_path, whole):
    run_world(make_world(), tmp_path / "r.zarr", seconds=1.0)
    result = run_world(make_world(), tmp_path / "r.zarr", seconds=SECONDS, resume=True)
    assert result.resumed_at == 1.0
    assert_same_bits(tmp_path / "r.zarr", whole)


def test_a_finished_run_resumed_as_it_was_stays_as_it_is(tmp_path):
    run_world(make_world(), tmp_path / "r.zarr", seconds=1.0)
    result = run_world(make_world(), tmp_path / "r.zarr", seconds=1.0, resume=True)
    assert (result.steps, result.frames, result.interrupted) == (0, 51, False)


def test_resuming_under_other_conditions_is_refused(tmp_path):
    path = tmp_path / "r.zarr"
    given = {"scene": "toy", "parameters": {"length": 2.0}, "quality": "draft"}
    run_world(make_world(), path, seconds=0.2, **given)
    for change, message in (
        ({"parameters": {"length": 3.0}}, "recorded with length = 2.0, not 3.0"),
        ({"quality": "fine"}, "recorded with quality draft, not fine"),
        ({"scene": "other"}, "recorded with scene toy, not other"),
    ):
        with pytest.raises(InputError, match=message):
            run_world(make_world(), path, seconds=1.0, resume=True, **{**given, **change})
    other = make_world()
    other.seed = 8
    with pytest.raises(InputError, match="recorded with seed 7, not 8"):
        run_world(other, path, seconds=1.0, resume=True, **given)


@pytest.mark.parametrize(
    ("part", "then", "now", "message"),
    [
        ("signals", 1, 2, "signals: energy/mass is not in it"),
        ("signals", 2, 1, "signals: energy/mass is no longer recorded"),
        ("points", 0, 1, "points: spray is not in it"),
    ],
)
def test_resuming_what_another_version_recorded_is_refused_by_name(tmp_path, part, then, now, message):
    def world(count):
        made = make_world()
        stage = made.simulation.stage()
        fewer = replace(stage, **{part: getattr(stage, part)[:count]})
        made.simulation.stage = lambda: fewer
        return made

    path = tmp_path / "r.zarr"
    run_world(world(then), path, seconds=0.2)
    with pytest.raises(InputError, match=f"{message}.*another version"):
        run_world(world(now), path, seconds=0.4, resume=True)
    assert run_world(world(then), path, seconds=0.4, resume=True).frames == 21


def test_an_existing_path_is_never_overwritten(tmp_path):
    (tmp_path / "precious").write_text("x")
    for path in (tmp_path, tmp_path / "precious"):
        with pytest.raises(InputError, match="already exists"):
            run_world(make_world(), path, seconds=1.0)
    assert (tmp_path / "precious").read_text() == "x"


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot write .*Not a directory"):
        run_world(make_world(), tmp_path / "file" / "r.zarr", seconds=1.0)
    if os.geteuid() != 0:  # root may write anywhere
        tmp_path.chmod(0o500)
        with pytest.raises(InputError, match=r"cannot write .*Permission denied"):
            run_world(make_world(), tmp_path / "r.zarr", seconds=1.0)


def fill_disk(monkeypatch, after):
    """From now on the disk is full after so many writes."""
    import vitruvian.world.series as series

    real, count = series.write_whole, 0

    def write(path, data, **options):
        nonlocal count
        count += 1
        if count > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, data, **options)

    monkeypatch.setattr(series, "write_whole", write)
    monkeypatch.setattr("vitruvian.world.checkpoint.write_whole", write)


@pytest.mark.parametrize("refused", [0, 10])
def test_a_disk_that_is_full_from_the_start_promises_no_resumption(tmp_path, monkeypatch, refused):
    fill_disk(monkeypatch, refused)
    with pytest.raises(RunFailed, match="the disk is full; nothing was saved"):
        run_world(make_world(), tmp_path / "r.zarr", seconds=SECONDS)


@pytest.mark.parametrize("refused", range(30, 90, 7))
def test_a_disk_that_fills_up_ends_the_run_and_leaves_the_recording_whole(tmp_path, monkeypatch, refused):
    """Whichever write is the first to be refused."""
    path = tmp_path / "r.zarr"
    with monkeypatch.context() as patch:
        fill_disk(patch, refused)
        with pytest.raises((RunFailed, InputError), match=r"disk is full|No space left") as caught:
            run_world(make_world(), path, seconds=SECONDS, save_every=5)
    assert "\n" not in str(caught.value)
    assert path.exists() == ("nothing was saved" not in str(caught.value))
    assert list(tmp_path.iterdir()) == [path] * path.exists()
    if path.exists():  # got as far as the first save
        recording = Recording.open(path)
        for i in range(len(recording)):
            recording.frame(i)


def test_a_really_full_disk(tmp_path):
    """A file system of 400 kB in memory; needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True)
    if mount.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        with pytest.raises(RunFailed, match="the disk is full") as caught:
            run_world(make_world(), disk / "r.zarr", seconds=60.0, save_every=50)
        assert "t = " in str(caught.value)
        recording = Recording.open(disk / "r.zarr")
        assert len(recording) > 100
        frame = recording.frame(len(recording) - 1)
        assert np.isfinite(frame.poses).all()
        # More room, and it goes on to the same bits.
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        run_world(make_world(), disk / "r.zarr", seconds=60.0, resume=True)
        run_world(make_world(), tmp_path / "whole.zarr", seconds=60.0)
        assert_same_bits(disk / "r.zarr", tmp_path / "whole.zarr")
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_run_that_diverges_names_part_and_time_and_keeps_what_was_before(tmp_path):
    world = World(Stiff(1e-6, from_time=1.5), frame_rate=10.0, substeps=2)
    with pytest.raises(RunFailed, match=r"left knee: the ligament tore at t = 1\.5 s"):
        run_world(world, tmp_path / "r.zarr", seconds=3.0)
    recording = Recording.open(tmp_path / "r.zarr")
    assert recording.time[-1] == 1.5
    assert np.allclose(recording.signals["x"], recording.time, atol=1e-12)


def test_steps_that_were_cut_up_are_counted_and_resume_to_the_same_bits(tmp_path):
    def world():
        return World(Stiff(0.03, from_time=1.0), frame_rate=10.0)

    result = run_world(world(), tmp_path / "a", seconds=3.0)
    assert result.retried == 20
    run_world(world(), tmp_path / "b", seconds=1.5)
    assert run_world(world(), tmp_path / "b", seconds=3.0, resume=True).retried == 20
    assert_same_bits(tmp_path / "a", tmp_path / "b")


def test_two_runs_cannot_write_the_same_recording(tmp_path):
    path = tmp_path / "r.zarr"
    run_world(make_world(), path, seconds=0.2)

    def intrude(now, seconds):
        with pytest.raises(InputError, match="being written by another run"):
            run_world(make_world(), path, seconds=2.0, resume=True)

    run_world(make_world(), path, seconds=0.24, resume=True, progress=intrude)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", None])
def test_a_damaged_or_missing_checkpoint_is_one_clear_line(tmp_path, damage):
    path = tmp_path / "r.zarr"
    run_world(make_world(), path, seconds=0.2)
    file = path / "checkpoint/state.npz"
    file.unlink() if damage is None else file.write_bytes(damage)
    with pytest.raises(InputError, match="checkpoint") as caught:
        run_world(make_world(), path, seconds=1.0, resume=True)
    assert "\n" not in str(caught.value)


def test_a_checkpoint_with_a_pickle_in_it_is_refused_unopened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "exploded",))

    path = tmp_path / "r.zarr"
    run_world(make_world(), path, seconds=0.2)
    np.savez(path / "checkpoint/state.npz", about=np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="checkpoint"):
        run_world(make_world(), path, seconds=1.0, resume=True)
    assert not (tmp_path / "exploded").exists()


def test_durations_that_make_no_sense_are_refused(tmp_path):
    for seconds in (0.0, -1.0, float("nan"), float("inf"), 1e-6):
        with pytest.raises(InputError, match="seconds"):
            run_world(make_world(), tmp_path / "r.zarr", seconds=seconds)
    assert not (tmp_path / "r.zarr").exists()


def test_a_watcher_sees_every_frame_and_can_pause(tmp_path):
    class Eyes:
        seen: list[float] = []  # noqa: RUF012
        pauses = 3

        def push(self, time, frame):
            self.seen.append(time)

        @property
        def paused(self):
            self.pauses -= 1
            return self.pauses >= 0

    eyes = Eyes()
    run_world(make_world(), tmp_path / "r.zarr", seconds=0.2, watcher=eyes)
    assert np.array_equal(eyes.seen, Recording.open(tmp_path / "r.zarr").time)
    assert eyes.pauses < 0
