"""`vitruvian scenes` and `vitruvian run`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vitruvian.cli.advice import explained
from vitruvian.cli.output import complain, number, print_json, print_table, progress_bar, remark

if TYPE_CHECKING:
    from vitruvian.door import Run
    from vitruvian.world import Scene, World

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]


def scenes(json: Json = False) -> None:
    """What can be run, with one line each and the published figure it answers to."""
    from vitruvian.scenes import all_scenes

    found = all_scenes()
    if json:
        print_json({"scenes": {scene.name: _about(scene) for scene in found}})
        return
    rows = [[scene.name, f"{scene.seconds:g} s", scene.headline, scene.answers] for scene in found]
    print_table("", ("scene", "runs for", "what it shows", "answers to"), rows, right=("runs for",))
    remark("\nRun one with `vitruvian run SCENE`; `vitruvian info SCENE` lists what can be set.")


def run(
    scene: Annotated[str, typer.Argument(help="Name of the scene, see `vitruvian scenes`.", metavar="SCENE")],
    seconds: Annotated[float | None, typer.Option(help="Simulated seconds; the scene has a default.")] = None,
    quality: Annotated[str | None, typer.Option(help="draft (the default), standard or fine.")] = None,
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
    from vitruvian import scenes
    from vitruvian.door import RunInterrupted
    from vitruvian.door import run as run_scene
    from vitruvian.door.running import place_of
    from vitruvian.world import scene_parameters
    from vitruvian.world.parameters import split_settings

    given: dict[str, Any] = dict(split_settings(settings or []))
    chosen, grade = scenes.find(scene), quality or "draft"
    scene_parameters(chosen, grade, given)  # a word that is wrong is told before anything else
    path = place_of(scene, out, resume)
    pages: list[Any] = []

    def show(world: World, parameters: Mapping[str, Any]) -> Any:
        from vitruvian.view import LiveView

        first = world.observe()
        pages.append(
            LiveView(
                world.stage(),
                port,
                scene,
                open_browser=not no_open,
                first=first,
                parameters=dict(parameters),
                actions=world.actions,
            )
        )
        return pages[0]

    try:
        with (
            explained(chosen, grade, given),
            progress_bar(f"running {scene}", "s", slow_start=True) as progress,
        ):
            result = run_scene(
                scene,
                seconds=seconds,
                quality=quality,
                seed=seed,
                out=path,
                resume=resume,
                progress=progress,
                watcher=show if view else None,
                **given,
            )
        _tell(result, json)
        if pages:
            from vitruvian.view.server import wait_for_stop

            with suppress(KeyboardInterrupt):  # a signal that comes before the wait has begun ends it as well
                for page in pages:
                    page.become(result.open())
                remark("finished; the page stays open until Ctrl-C and plays the recording")
                wait_for_stop()
    except RunInterrupted as interruption:
        return _interrupted(interruption.run, json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_broken_off(scene, path)) from None
    finally:
        for page in pages:
            page.close()
    return 0 if result.passed else 1


def _broken_off(scene: str, path: Path) -> str:
    """What is left of a run that was ended at once."""
    from vitruvian.world.checkpoint import has_checkpoint

    if has_checkpoint(path):
        return f"interrupted; what was saved before can be continued with `{_resume_command(scene, path)}`"
    return "interrupted before the first frame; nothing was saved"


def _resume_command(scene: str, path: Path) -> str:
    return f"vitruvian run {scene} --resume --out {quote(str(path))}"


def _interrupted(run: Run, json: bool) -> int:
    command = _resume_command(run.scene, run.recording)
    complain(f"interrupted at t = {run.seconds:.6g} s, state saved; resume with `{command}`")
    if json:
        print_json(summary(run) | {"interrupted": True})
    return 130


def _tell(run: Run, json: bool) -> None:
    if json:
        print_json(summary(run))
        return
    rows = [[name, "passed" if good else "failed"] for name, good in run.checks.items()]
    if rows:
        print_table("", ("check", ""), rows)
    if run.table:
        print()
        print_table("", run.table[0], [list(row) for row in run.table[1:]], right=run.table[0][1:])
    rows = [[name, number(value) if isfinite(value) else "-"] for name, value in run.metrics.items()]
    if rows:
        print()
        print_table("", ("metric", "value"), rows, right=("value",))
    if any(value == "-" for _, value in rows):
        print("-: not measured; the run was too short for it, or it did not happen")
    ratio = run.wall_seconds / max(run.seconds, 1e-9)
    pace = f", {ratio:.3g} s for each second" if run.resumed_at is None else ""
    print(f"\n{run.seconds:.6g} s ({run.frames} frames) simulated in {run.wall_seconds:.3g} s{pace}")
    if run.retried:
        print(f"{run.retried} steps had to be taken in smaller pieces")
    name = quote(str(run.recording))
    print(f"recording  {name}\nlook       vitruvian view {name}\nfilm       vitruvian render {name} {run.scene}.mp4")


def summary(run: Run) -> dict[str, Any]:
    return {
        "scene": run.scene,
        "seconds": run.seconds,
        "wall_seconds": run.wall_seconds,
        "steps": run.steps,
        "frames": run.frames,
        "retried": run.retried,
        "recording": str(run.recording),
        "checks": run.checks,
        "metrics": run.metrics,
    }


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
