"""`vitruvian sweep`: one scene, many parameters and seeds, one table."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vitruvian.cli.interruption import at_once
from vitruvian.cli.output import complain, duration, number, print_json, print_table, progress_bar, remark
from vitruvian.cli.running import Json
from vitruvian.errors import InputError, RunFailed

if TYPE_CHECKING:
    from vitruvian.door import Table

SHOWN_ROWS, SHOWN_METRICS = 24, 4


def sweep(
    scene: Annotated[str, typer.Argument(help="Name of the scene, see `vitruvian scenes`.", metavar="SCENE")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUES",
            help="a:b:n, n values from a to b; x,y,z, these; KEY~a:b or KEY~x,y,z, drawn at random (--sample). "
            "May be repeated; all are combined.",
        ),
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Number of random samples of what KEY~… gives.")] = None,
    draw: Annotated[int, typer.Option(min=0, help="Another number, other random samples.")] = 0,
    seeds: Annotated[int | None, typer.Option(min=1, help="Run each with the seeds 0 … N−1; 1 without it.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Simulated seconds of each run; the scene has a default.")
    ] = None,
    quality: Annotated[str | None, typer.Option(help="draft (the default), standard or fine.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; as many as there are cores without it.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.csv|.parquet", help="Table to write; sweeps/SCENE-N.csv without it.", show_default=False
        ),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Metric to plot; the scene's first without it.")
    ] = None,
    recordings: Annotated[bool, typer.Option("--recordings", help="Keep the recording of each run.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the sweep at --out, or the scene's latest one.")
    ] = False,
    json: Json = False,
) -> int:
    """Run a scene over grids, lists or random samples of its parameters; write one table and a plot."""
    from vitruvian.door import SweepInterrupted
    from vitruvian.door import sweep as sweep_scene
    from vitruvian.door.axes import split_axes
    from vitruvian.door.plan import place_of, runs_folder
    from vitruvian.door.sweeping import check_options

    given: dict[str, Any] = split_axes(settings or [])
    check_options(given)
    table_path = place_of(scene, out, resume)
    try:
        with progress_bar(f"sweeping {scene}", slow_start=True) as progress, at_once():
            table = sweep_scene(
                scene,
                seeds=seeds,
                seconds=seconds,
                quality=quality,
                sample=sample,
                draw=draw,
                out=table_path,
                recordings=recordings or None,
                resume=resume,
                processes=processes,
                scheduler=scheduler,
                progress=progress,
                **given,
            )
    except SweepInterrupted as error:
        command = f"vitruvian sweep {scene} --resume --out {quote(str(table_path))}"
        complain(f"interrupted after {error.done} of {error.total} runs, which are kept; go on with `{command}`")
        if json:
            print_json({"scene": scene, "runs": error.total, "finished": error.done, "interrupted": True})
        return 130
    picture: Path | None = table_path.with_suffix(".png")
    refused = False
    try:
        table.plot(table_path.with_suffix(".png"), plot)
    except (InputError, RunFailed) as error:  # the runs are done: their table is told all the same
        picture, refused = None, isinstance(error, InputError)
        remark(str(error))
    folder = runs_folder(table_path)
    if json:
        print_json(_summary(table, table_path, picture, folder))
    else:
        _tell(table, table_path, picture, folder)
    return 2 if refused else 1 if table.failed or table.not_passed else 0


def _tell(table: Table, path: Path, picture: Path | None, folder: Path) -> None:
    columns = [*(table.swept or ("seed",)), *table.metrics[:SHOWN_METRICS]]
    if "seed" not in columns and len({row["seed"] for row in table.rows}) > 1:
        columns.insert(len(table.swept), "seed")
    rows = []
    for row in table.rows[:SHOWN_ROWS]:
        verdict = row["error"] or ("passed" if row["passed"] else "failed")
        rows.append([*(_cell(row[name]) for name in columns), verdict, duration(row["wall_seconds"])])
    print_table("", (*columns, "", "took"), rows, right=(*columns, "took"))
    if len(table) > SHOWN_ROWS:
        print(f"… and {len(table) - SHOWN_ROWS} more")
    print(f"\n{len(table)} runs, {len(table.failed)} failed, {len(table.not_passed)} did not pass their checks")
    print(f"table      {quote(str(path))}")
    if picture:
        print(f"plot       {quote(str(picture))}")
    if "recording" in table.columns:
        print(f"recordings {quote(str(folder / 'recordings'))}")


def _summary(table: Table, path: Path, picture: Path | None, folder: Path) -> dict[str, Any]:
    return {
        "scene": table.scene,
        "runs": len(table),
        "failed": len(table.failed),
        "not_passed": len(table.not_passed),
        "table": str(path),
        "plot": str(picture) if picture else None,
        "recordings": str(folder / "recordings") if "recording" in table.columns else None,
        "rows": table.rows,
    }


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) or value is None else str(value)
