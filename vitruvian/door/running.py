"""`vt.run`: build a scene (or take a world of your own), run it, record it, and check what came out.

    vt.run("crawl", rate=0.8)
    vt.run("crawl", seconds=20, resume=True)
    vt.run(vt.World(system, controller), seconds=2, out="mine.zarr")

The command line and sweeps run scenes through this one function. What can be refused without building the scene is
refused first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vitruvian import __version__, scenes
from vitruvian.errors import InputError, RunFailed
from vitruvian.world import Recording, Report, RunResult, Scene, Watcher, World, run_world, scene_parameters
from vitruvian.world.recording import NoSignal
from vitruvian.world.run import refuse_existing, refuse_other

if TYPE_CHECKING:
    Progress = Callable[[float, float], None]
    WatcherMaker = Callable[[World, Mapping[str, Any]], Watcher]

FOLDER = Path("recordings")  # of runs that were told no place, in the working folder
SHOWN = 8  # metrics in the printed form of a run


@dataclass(frozen=True, repr=False)
class Run:
    """How a run went, and where its recording is."""

    scene: str  # "" for a world of your own
    seconds: float  # simulated time reached [s]
    wall_seconds: float  # time that it took [s]
    steps: int  # taken in this run
    recording: Path
    checks: dict[str, bool] = field(default_factory=dict)  # what the scene claims of itself, and whether it holds
    metrics: dict[str, float] = field(default_factory=dict)  # what the scene measured, SI
    frames: int = 0  # in the recording
    retried: int = 0  # steps of the whole recording that had to be taken in smaller pieces
    resumed_at: float | None = None  # simulated time [s] at which this run took over
    table: tuple[tuple[str, ...], ...] = ()  # to be read beside the metrics, its head first

    @property
    def passed(self) -> bool:
        """True if no check failed."""
        return all(self.checks.values())

    def open(self) -> Recording:
        """The recording, to be read."""
        return Recording.open(self.recording)

    def __repr__(self) -> str:
        lines = [f"{self.scene or 'world'}: {self.seconds:.6g} s in {self.wall_seconds:.3g} s, {self.steps} steps"]
        lines.append(f"  recording {self.recording}")
        lines += [f"  {'passed' if good else 'FAILED'}    {name}" for name, good in self.checks.items()]
        lines += [f"  {name} = {value:.6g}" for name, value in list(self.metrics.items())[:SHOWN]]
        if (more := len(self.metrics) - SHOWN) > 0:
            lines.append(f"  and {more} more in .metrics")
        return "\n".join(lines)


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM ended a run between two steps; `run` says how far it came, and can be resumed."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.run = run

    def __str__(self) -> str:
        return f"interrupted at t = {self.run.seconds:.6g} s; run again with resume to continue {self.run.recording}"


def run(
    scene: str | World,
    /,
    *,
    seconds: float | None = None,
    quality: str | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    watcher: Watcher | WatcherMaker | None = None,
    **parameters: Any,
) -> Run:
    """Run `scene` (its name, or a world of your own) for `seconds` [s] of simulated time and record it.

    `quality` is draft (the default), standard or fine; `seed` seeds everything random (0 by default); `parameters` are
    those of the scene. The recording goes to `out`, or to recordings/SCENE-N.zarr in the working folder. With `resume`
    the recording at `out`, or the scene's latest one, is continued; what is not said again is as it was recorded.
    `progress(time, seconds)` is called after each step. A `watcher` sees each frame as it is recorded; it may be a
    function that makes one of the world and its parameters. Ctrl-C saves the state and raises `RunInterrupted`.
    """
    if not isinstance(scene, str | World):
        raise InputError(f"run takes the name of a scene or a World, not {type(scene).__name__}")
    if seconds is not None and not (isinstance(seconds, Real) and 0 < seconds < 1e9):
        raise InputError(f"seconds must be positive, not {seconds!r}")
    if seed is not None and not (isinstance(seed, Integral) and seed >= 0):
        raise InputError(f"seed must be a whole number from 0 on, not {seed!r}")
    if isinstance(scene, World):
        world, name = scene, ""
        if parameters or quality:
            said = next(iter(parameters), "quality")
            raise InputError(f"'{said}' is for scenes; a world is built already")
        path = place_of(name, out, resume)
        if seconds is None:
            if not resume:
                raise InputError("a world of your own has no default duration; say how many seconds")
            seconds = float(Recording.open(path).attributes.get("seconds", 0.0))
        chosen, quality, length = None, "", seconds
    else:
        chosen, name = scenes.find(scene), scene
        path = place_of(name, out, resume)
        quality, seed, parameters, length = _conditions(chosen, path, resume, quality, seed, parameters, seconds)
        world = chosen.build(parameters)
    if seed is not None:
        world.seed = seed
    watching = watcher(world, parameters) if callable(watcher) else watcher
    result = run_world(
        world,
        path,
        seconds=length,
        scene=name,
        parameters=parameters,
        quality=quality,
        resume=resume,
        progress=progress,
        watcher=watching,
    )
    if result.interrupted:
        raise RunInterrupted(_told(name, result, Report()))
    return _told(name, result, _checked(chosen, path, parameters) if chosen else Report())


def place_of(scene: str, out: str | Path | None = None, resume: bool = False) -> Path:
    """Where a run of `scene` ("" for a world) is recorded: `out`, or the latest or the next of recordings/SCENE-N."""
    if out is not None:
        if Path(out) == Path() and not resume:
            raise InputError("'out' wants the name of a new folder, such as recordings/mine.zarr")
        return Path(out)
    name, found = scene or "world", {}
    for path in FOLDER.glob(f"{name}-*.zarr"):
        count = path.name[len(name) + 1 : -len(".zarr")]
        if count.isdigit():
            found[int(count)] = path
    if not resume:
        return FOLDER / f"{name}-{max(found, default=0) + 1}.zarr"
    if not found:
        raise InputError(f"there is no recording of {name} in {FOLDER}/ to resume; name its folder with 'out'")
    return found[max(found)]


def _conditions(
    scene: Scene,
    path: Path,
    resume: bool,
    quality: str | None,
    seed: int | None,
    given: Mapping[str, Any],
    seconds: float | None,
) -> tuple[str, int | None, dict[str, Any], float]:
    """Quality, seed, every parameter and the duration [s] of a run; where it is resumed, as it was recorded."""
    if not resume:
        refuse_existing(path)
        quality = quality or "draft"
        return quality, seed, scene_parameters(scene, quality, given), scene.seconds if seconds is None else seconds
    recorded = Recording.open(path).attributes
    if recorded.get("scene") != scene.name:
        raise InputError(f"cannot resume {path}: it is a recording of scene {recorded.get('scene')}, not {scene.name}")
    for name in ("quality", "seed", "parameters", "seconds"):
        if name not in recorded:
            raise InputError(f"cannot resume {path}: it does not say with what {name} it was recorded")
    # What is not said again is as it was; what is said differently is refused.
    quality = quality or recorded["quality"]
    seed = recorded["seed"] if seed is None else seed
    parameters = scene_parameters(scene, quality, {**recorded["parameters"], **given})
    told = {"scene": scene.name, "parameters": parameters, "quality": quality, "seed": seed, "version": __version__}
    refuse_other(path, recorded, told)
    return quality, seed, parameters, float(recorded["seconds"]) if seconds is None else seconds


def _checked(scene: Scene, path: Path, parameters: Mapping[str, Any]) -> Report:
    try:
        return scene.check(Recording.open(path), parameters)
    except NoSignal as error:  # the scene asks for what it has not recorded
        raise RunFailed(f"the checks of {scene.name} could not be made: {error}") from error
    except InputError:
        raise  # the recording is damaged, which is no fault of the checks
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise RunFailed(f"the checks of {scene.name} could not be made on {path}: {reason}") from error


def _told(scene: str, result: RunResult, report: Report) -> Run:
    return Run(
        scene=scene,
        seconds=result.seconds,
        wall_seconds=result.wall_seconds,
        steps=result.steps,
        recording=result.recording,
        checks={name: bool(good) for name, good in report.checks.items()},
        metrics=dict(report.metrics),
        frames=result.frames,
        retried=result.retried,
        resumed_at=result.resumed_at,
        table=report.table,
    )
