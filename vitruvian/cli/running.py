"""`vitruvian scenes` and `vitruvian run`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vitruvian import __version__
from vitruvian.cli.output import complain, number, print_json, print_table, progress_bar, remark
from vitruvian.errors import InputError, RunFailed

if TYPE_CHECKING:
    from vitruvian.world.run import RunResult
    from vitruvian.world.scene import Report, Scene

FOLDER = Path("recordings")
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]


def scenes(json: Json = False) -> None:
    """What can be run, with one line each and the published figure it answers to."""
    from vitruvian.scenes import all_scenes

    found = all_scenes()
    if json:
        print_json({"scenes": {scene.name: _about(scene) for scene in found}})
        return
    rows = [[scene.name, f"{scene.seconds:g} s", scene.summary, scene.answers] for scene in found]
    print_table("", ("scene", "runs for", "what it shows", "answers to"), rows, right=("runs for",))
    remark("\nRun one with `vitruvian run SCENE`; `vitruvian info SCENE` lists what can be set.")


def run(
    scene: Annotated[str, typer.Argument(help="Name of the scene, see `vitruvian scenes`.", metavar="SCENE")],
    seconds: Annotated[float | None, typer.Option(help="Simulated seconds; the scene has a default.")] = None,
    quality: Annotated[str | None, typer.Option(help="draft (the default), standard or seed.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of everything random.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to record; recordings/SCENE-N.zarr without it.", show_default=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the recording at --out, or the scene's latest one.")
    ] = False,
    view: Annotated[bool, typer.Option("--view", help="Watch in the browser while it runs.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the page for --view.")] = 8080,
    no_open: Annotated[bool, typer.Option("--no-open", help="With --view, do not open a browser.")] = False,
    json: Json = False,
) -> int:
    """Run a scene, record it, and check what came out."""
    import vitruvian.scenes
    from vitruvian.world.parameters import scene_parameters, split_settings
    from vitruvian.world.run import refuse_existing, refuse_other, run_world

    chosen = vitruvian.scenes.find(scene)
    given: dict[str, Any] = dict(split_settings(settings or []))
    if seconds is not None and not 0 < seconds < 1e9:
        raise InputError(f"--seconds must be positive, not {seconds:g}")
    if out == Path() and not resume:
        raise InputError("--out wants the name of a new folder, such as recordings/mine.zarr")
    path = out or (_latest(scene) if resume else _fresh(scene))
    if resume:
        recorded = _recorded(scene, path)
        # What is not said again is as it was; what is said differently will be refused.
        quality = quality or recorded["quality"]
        seed = recorded["seed"] if seed is None else seed
        given = {**recorded["parameters"], **given}
        seconds = float(recorded["seconds"]) if seconds is None else seconds
    quality = quality or "draft"
    parameters = scene_parameters(chosen, quality, given)
    # what can be refused without building the scene is refused at once
    if resume:
        told = {"scene": scene, "parameters": parameters, "quality": quality, "seed": seed, "version": __version__}
        refuse_other(path, recorded, told)
    else:
        refuse_existing(path)
    live: Any = None
    try:
        with progress_bar(f"running {scene}", "s", slow_start=True) as progress:
            world = chosen.build(parameters)
            if seed is not None:
                world.seed = seed
            if view:
                from vitruvian.view.live import LiveView

                first, about = world.observe(), dict(parameters)
                live = LiveView(world.stage(), port, scene, open_browser=not no_open, first=first, parameters=about)
            result = run_world(
                world,
                path,
                seconds=chosen.seconds if seconds is None else seconds,
                scene=scene,
                parameters=parameters,
                quality=quality,
                resume=resume,
                progress=progress,
                watcher=live,
            )
        if result.interrupted:
            return _interrupted(scene, result, json)
        report = _checked(chosen, result.recording, parameters)
        _tell(scene, result, report, json)
        if live:
            _stay_open()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_broken_off(scene, path)) from None
    finally:
        if live:
            live.close()
    return 0 if all(report.checks.values()) else 1


def _recorded(scene: str, path: Path) -> Mapping[str, Any]:
    """With what a recording of the scene that is to be resumed was made."""
    from vitruvian.world.recording import Recording

    recorded = Recording.open(path).attributes
    if recorded.get("scene") != scene:
        raise InputError(f"cannot resume {path}: it is a recording of scene {recorded.get('scene')}, not {scene}")
    for name in ("quality", "seed", "parameters", "seconds"):
        if name not in recorded:
            raise InputError(f"cannot resume {path}: it does not say with what {name} it was recorded")
    return recorded


def _stay_open() -> None:
    """Keep the page of a finished run until Ctrl-C."""
    from vitruvian.view.server import wait_for_stop

    with suppress(KeyboardInterrupt):  # a signal that comes before the wait has begun ends it as well
        remark("finished; the page stays open until Ctrl-C")
        wait_for_stop()


def _broken_off(scene: str, path: Path) -> str:
    """What is left of a run that was ended at once."""
    from vitruvian.world.checkpoint import has_checkpoint

    if has_checkpoint(path):
        return f"interrupted; what was saved before can be continued with `{_resume_command(scene, path)}`"
    return "interrupted before the first frame; nothing was saved"


def _resume_command(scene: str, path: Path) -> str:
    return f"vitruvian run {scene} --resume --out {quote(str(path))}"


def _interrupted(scene: str, result: RunResult, json: bool) -> int:
    command = _resume_command(scene, result.recording)
    complain(f"interrupted at t = {result.seconds:.6g} s, state saved; resume with `{command}`")
    if json:
        print_json(_summary(scene, result, None) | {"interrupted": True})
    return 130


def _checked(scene: Scene, path: Path, parameters: dict[str, Any]) -> Report:
    from vitruvian.world.recording import Recording

    try:
        return scene.check(Recording.open(path), parameters)
    except InputError:
        raise  # the recording is damaged, which is no fault of the checks
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise RunFailed(f"the checks of {scene.name} could not be made on {path}: {reason}") from error


def _tell(scene: str, result: RunResult, report: Report, json: bool) -> None:
    if json:
        print_json(_summary(scene, result, report))
        return
    rows = [[name, "passed" if good else "failed"] for name, good in report.checks.items()]
    if rows:
        print_table("", ("check", ""), rows)
    if report.table:
        print()
        print_table("", report.table[0], [list(row) for row in report.table[1:]], right=report.table[0][1:])
    rows = [[name, number(value)] for name, value in report.metrics.items()]
    if rows:
        print()
        print_table("", ("metric", "value"), rows, right=("value",))
    speed = result.seconds / max(result.wall_seconds, 1e-9) if result.resumed_at is None else None
    print(f"\n{result.seconds:.6g} s in {result.wall_seconds:.3g} s" + (f" ({speed:.3g} × real time)" if speed else ""))
    if result.retried:
        print(f"{result.retried} steps had to be taken in smaller pieces")
    name = quote(str(result.recording))
    print(f"recording  {name}\nlook       vitruvian view {name}\nfilm       vitruvian render {name} {scene}.mp4")


def _summary(scene: str, result: RunResult, report: Report | None) -> dict[str, Any]:
    return {
        "scene": scene,
        "seconds": result.seconds,
        "wall_seconds": result.wall_seconds,
        "steps": result.steps,
        "frames": result.frames,
        "retried": result.retried,
        "recording": str(result.recording),
        "checks": {} if report is None else {name: bool(good) for name, good in report.checks.items()},
        "metrics": {} if report is None else dict(report.metrics),
    }


def _recordings(scene: str) -> dict[int, Path]:
    found = {}
    for path in FOLDER.glob(f"{scene}-*.zarr"):
        count = path.name[len(scene) + 1 : -len(".zarr")]
        if count.isdigit():
            found[int(count)] = path
    return found


def _fresh(scene: str) -> Path:
    return FOLDER / f"{scene}-{max(_recordings(scene), default=0) + 1}.zarr"


def _latest(scene: str) -> Path:
    found = _recordings(scene)
    if not found:
        raise InputError(f"there is no recording of {scene} in {FOLDER}/ to resume; name one with --out")
    return found[max(found)]


def _about(scene: Scene) -> dict[str, Any]:
    parameters = {
        name: {
            "default": parameter.default,
            "unit": parameter.unit,
            "help": parameter.help,
            "choices": list(parameter.choices),
            "low": parameter.low,
            "high": parameter.high,
        }
        for name, parameter in scene.parameters.items()
    }
    return {
        "summary": scene.summary,
        "answers": scene.answers,
        "seconds": scene.seconds,
        "parameters": parameters,
        "qualities": {name: dict(preset) for name, preset in scene.qualities.items()},
    }
