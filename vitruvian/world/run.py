"""Running a world: steps, frames, checkpoints, interruption, resumption.

A run saves (flushes the recording, then writes a checkpoint) at the start, at the end, when it is interrupted, and in
between as often as saving takes no more than one fiftieth of the time, but not more than once a second. When it saves
does not change what is recorded: an interrupted or killed run that is resumed gives the same bits as one that was not.

A new recording is made in the folder `.NAME.new` beside its place and renamed when its first frame and checkpoint are
on disk, so that whatever has the name can be resumed. What a killed run left under that name the next one removes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Protocol

from vitruvian import __version__
from vitruvian.errors import InputError, RunFailed
from vitruvian.world.acting import Acts
from vitruvian.world.checkpoint import has_checkpoint, load_checkpoint, save_checkpoint
from vitruvian.world.recorder import Recorder
from vitruvian.world.recording import Recording
from vitruvian.world.series import write_group
from vitruvian.world.stage import Frame, Stage
from vitruvian.world.state import copy_state
from vitruvian.world.world import World

LEAST_SECONDS_BETWEEN_SAVES = 1.0
MOST_SHARE_OF_TIME_SAVING = 0.02
FULL = (errno.ENOSPC, errno.EDQUOT)
IDENTITY = ("scene", "parameters", "quality", "seed", "version", "frame_rate", "substeps")


class Watcher(Protocol):
    """Sees frames while they are made, such as a live view. It may have `asked()`: names of actions to be taken now."""

    def push(self, time: float, frame: Frame) -> None:
        """Show the frame at `time` [s]; it is the watcher's own and will not change."""
        ...

    @property
    def paused(self) -> bool:
        """True while the user holds the run."""
        ...


@dataclass
class RunResult:
    """How a run went."""

    recording: Path
    seconds: float  # simulated time reached [s]
    wall_seconds: float
    steps: int  # taken in this run
    frames: int  # in the recording
    interrupted: bool
    retried: int  # steps of the whole recording that had to be cut up
    resumed_at: float | None  # simulated time [s] at which this run took over


def run_world(
    world: World,
    path: str | Path,
    *,
    seconds: float,
    scene: str = "",
    parameters: Mapping[str, Any] | None = None,
    quality: str = "",
    resume: bool = False,
    progress: Callable[[float, float], None] | None = None,
    watcher: Watcher | None = None,
    save_every: int | None = None,
) -> RunResult:
    """Run `world` to `seconds` [s] of simulated time and record it at `path`.

    With `resume` the recording must exist and belong to the same scene, parameters, quality and seed; it is continued
    from its checkpoint. `progress(time, seconds)` is called after each step; `save_every` fixes the frames between
    saves.
    """
    path = Path(path)
    target = round(seconds * world.frame_rate) if 0 < seconds < 1e9 else 0
    if target < 1:
        raise InputError(f"seconds must be at least one frame (1/{world.frame_rate:g} s), not {seconds:g}")
    if world.foresee is not None:
        world.foresee(target / world.frame_rate)
    identity = {
        "scene": scene,
        "parameters": dict(parameters or {}),
        "quality": quality,
        "seed": world.seed,
        "version": __version__,
        "frame_rate": world.frame_rate,
        "substeps": world.substeps,
    }
    begun = perf_counter()
    with _stop_signals() as stop, _writing_errors(path, world):
        recorder, lock = _begin(world, path, identity, seconds, resume)
        resumed_at, first_step = (world.time if resume else None), world.step_index
        try:
            pace = _Pace(world) if watcher else None
            saver = _Saver(world, recorder, save_every)
            if recorder.frames == 0:
                _record(world, recorder, watcher)
                saver.save()
                _put_in_place(recorder, path)
            acts = Acts(world, recorder, resumed=resume)
            while recorder.frames <= target and not stop.asked:
                if world.step_index % world.substeps == 0:
                    acts.take(watcher)
                world.step()
                if progress:
                    progress(world.time, target / world.frame_rate)
                if world.step_index % world.substeps == 0:
                    _record(world, recorder, watcher)
                    saver.save_if_due()
                    if pace:
                        pace.wait(watcher, stop)
            saver.save()
        except BaseException:
            if recorder.path == path:
                # Whatever happened, the frames before it are whole, and the world stands at its last good step.
                _save_what_can_be(recorder, world)
            else:
                shutil.rmtree(recorder.path, ignore_errors=True)
            raise
        finally:
            os.close(lock)
    return RunResult(
        recording=path,
        seconds=world.time,
        wall_seconds=perf_counter() - begun,
        steps=world.step_index - first_step,
        frames=recorder.frames,
        interrupted=recorder.frames <= target,
        retried=world.retried,
        resumed_at=resumed_at,
    )


def refuse_existing(path: Path) -> None:
    """An error if there is something at `path` already."""
    if os.path.lexists(path):
        raise InputError(f"{path} already exists; choose another place (--out), or continue it (--resume)")


def refuse_other(path: Path, recorded: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    """An error if the recording at `path` was made under other conditions than those of `identity`."""
    for name in IDENTITY:
        if name in identity and recorded.get(name) != identity[name]:
            raise InputError(f"cannot resume {path}: {_difference(name, recorded.get(name), identity[name])}")


def _refuse_other_stage(path: Path, recorded: Stage, stage: Stage) -> None:
    """An error if other things were recorded at `path` than would be now: frames of two kinds fit into no array."""
    for kind in ("bodies", "signals", "surfaces", "lines", "points"):
        then, now = _listed(recorded, kind), _listed(stage, kind)
        for name in {**then, **now}:
            how = "not in it" if name not in then else "no longer recorded" if name not in now else "of other parts"
            if name not in then or name not in now or then[name] != now[name]:
                raise InputError(
                    f"cannot resume {path}: {kind}: {name} is {how}, so it was made by another version of the scene; "
                    "run it anew with another --out"
                )


def _listed(stage: Stage, kind: str) -> dict[str, Any]:
    """What has a name in a stage -> what else must be alike for its arrays to go on."""
    parts = getattr(stage, kind)
    if kind == "bodies":
        return dict.fromkeys(parts)
    return {part.name: getattr(part, "components", None) for part in parts}


def _begin(world: World, path: Path, identity: dict[str, Any], seconds: float, resume: bool) -> tuple[Recorder, int]:
    if not resume:
        refuse_existing(path)
        world.start()
        new = path.with_name(f".{path.name}.new")
        try:
            lock = _lock_new(new, path)
            try:
                return Recorder.create(new, world.stage(), identity | {"seconds": seconds}), lock
            except BaseException:
                shutil.rmtree(new, ignore_errors=True)
                os.close(lock)
                raise
        except OSError as error:
            if error.errno in FULL:
                raise
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    before = Recording.open(path)
    recorded = before.attributes
    refuse_other(path, recorded, identity)
    _refuse_other_stage(path, before.stage, world.stage())
    lock = _lock(path)
    try:
        frames = load_checkpoint(path, world)
        recorder = Recorder.reopen(path, world.stage(), frames)
        if seconds != recorded.get("seconds"):
            write_group(path, recorded | {"seconds": max(seconds, float(recorded["seconds"]))})
    except OSError as error:
        os.close(lock)
        raise InputError(
            f"cannot resume {path}: {error.filename or 'its folder'}: {error.strerror or error}"
        ) from error
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError, RuntimeError) as error:
        os.close(lock)
        raise InputError(f"cannot resume {path}: it is damaged: {' '.join(str(error).split())[:200]}") from error
    except BaseException:
        os.close(lock)
        raise
    return recorder, lock


def _lock_new(new: Path, path: Path) -> int:
    """Make the folder `new` and hold it; one that a killed run left is removed first."""
    with suppress(FileExistsError):  # a file where a folder should be is told below
        path.parent.mkdir(parents=True)
    with suppress(FileNotFoundError):
        left = _lock(new, path)
        try:
            shutil.rmtree(new)
        finally:
            os.close(left)
    new.mkdir()
    return _lock(new, path)


def _put_in_place(recorder: Recorder, path: Path) -> None:
    """Give a recording that can be resumed from now on the name it was asked to have."""
    refuse_existing(path)
    os.rename(recorder.path, path)
    recorder.moved(path)


def _record(world: World, recorder: Recorder, watcher: Watcher | None) -> None:
    frame = world.observe()
    recorder.append(world.time, frame)
    if watcher:
        watcher.push(world.time, copy_state(frame))


class _Saver:
    """Saves often enough to lose little, rarely enough to cost little."""

    def __init__(self, world: World, recorder: Recorder, every: int | None) -> None:
        self.world, self.recorder, self.every = world, recorder, every
        self.cost, self.last, self.last_frames = 0.0, perf_counter(), recorder.frames

    def save_if_due(self) -> None:
        if self.every is not None:
            due = self.recorder.frames - self.last_frames >= self.every
        else:
            due = perf_counter() - self.last > max(LEAST_SECONDS_BETWEEN_SAVES, self.cost / MOST_SHARE_OF_TIME_SAVING)
        if due:
            self.save()

    def save(self) -> None:
        begun = perf_counter()
        self.recorder.flush()
        save_checkpoint(self.recorder.path, self.world, self.recorder.frames)
        self.last = perf_counter()
        self.cost, self.last_frames = self.last - begun, self.recorder.frames


def _save_what_can_be(recorder: Recorder, world: World) -> None:
    try:
        recorder.flush()
        if recorder.frames == world.step_index // world.substeps + 1:
            save_checkpoint(recorder.path, world, recorder.frames)
    except OSError:
        pass  # the earlier flush and checkpoint stand


class _Pace:
    """Keeps a watched run from outrunning the clock, and waits while the user pauses it."""

    def __init__(self, world: World) -> None:
        self.world, self.offset = world, perf_counter() - world.time

    def wait(self, watcher: Watcher | None, stop: _Stop) -> None:
        while watcher and watcher.paused and not stop.asked:
            sleep(0.02)
            self.offset += 0.02
        ahead = self.world.time + self.offset - perf_counter()
        if ahead > 0:
            sleep(min(ahead, 1.0))
        else:
            self.offset -= ahead  # slower than the clock: do not catch up later


@dataclass
class _Stop:
    asked: bool = False


@contextmanager
def _stop_signals() -> Iterator[_Stop]:
    """SIGINT and SIGTERM ask the run to stop after the present step; a second one stops it at once.

    A caller that listens to signals in its own way goes on doing so, unless its handler `yields_to_runs`.
    """
    stop = _Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.getsignal(kind) for kind in kinds}
    if any(
        callable(handler)
        and handler is not signal.default_int_handler
        and not getattr(handler, "yields_to_runs", False)
        for handler in before.values()
    ):
        yield stop
        return

    def ask(*_: Any) -> None:
        stop.asked = True
        for kind in kinds:
            signal.signal(kind, signal.default_int_handler)

    for kind in kinds:
        signal.signal(kind, ask)
    try:
        yield stop
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def _writing_errors(path: Path, world: World) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = "the disk is full" if error.errno in FULL else f"it could not be written ({error.strerror or error})"
        if has_checkpoint(path):
            after = "what was saved before is whole and can be continued with --resume"
        else:
            after = "nothing was saved"
        raise RunFailed(f"the run stopped at t = {world.time:.6g} s: {path}: {why}; {after}") from error


def _lock(path: Path, told: Path | None = None) -> int:
    """Hold the folder for this process; the system lets go of it when the process ends, however it ends."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        raise InputError(f"{told or path} is being written by another run") from None
    return folder


def _difference(name: str, recorded: Any, given: Any) -> str:
    if name == "parameters" and isinstance(recorded, dict):
        for key in [*given, *recorded]:
            if recorded.get(key) != given.get(key):
                return f"it was recorded with {key} = {recorded.get(key)}, not {given.get(key)}"
    return f"it was recorded with {name} {recorded}, not {given}"
