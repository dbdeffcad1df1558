"""`vitruvian track`: measured motion in, poses, moments, muscle forces and a report out."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from vitruvian.cli.output import number, print_json, print_table, progress_bar, remark
from vitruvian.cli.running import Json, summary

if TYPE_CHECKING:
    from vitruvian.door import Track


def track(
    file: Annotated[Path, typer.Argument(help="A C3D, TRC, BVH or clip (CSV) file.", metavar="FILE")],
    forces: Annotated[Path | None, typer.Option(help="Ground forces as a MOT or STO file.", show_default=False)] = None,
    height: Annotated[float | None, typer.Option(help="Height of the subject [m]; found without it.")] = None,
    mass: Annotated[float | None, typer.Option(help="Mass of the subject [kg]; by the height without it.")] = None,
    up: Annotated[
        str | None, typer.Option(help="The file's axis that points up: x, y or z (C3D: z, TRC: y).", show_default=False)
    ] = None,
    rate: Annotated[float, typer.Option(help="Frames a second of the analysis.")] = 100.0,
    cutoff: Annotated[float, typer.Option(help="Low-pass filter [Hz]; 0 for none.")] = 6.0,
    gap: Annotated[float, typer.Option(help="Gaps of markers up to this are filled [s].")] = 0.1,
    marker: Annotated[
        list[str] | None, typer.Option(metavar="NAME=SITE", help="Say what a marker of the file is; may be repeated.")
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave a marker out; may be repeated.")] = None,
    without_plate: Annotated[list[str] | None, typer.Option(help="Leave a force plate out; may be repeated.")] = None,
    cycle: Annotated[
        bool | None,
        typer.Option("--cycle/--no-cycle", help="The motion repeats itself; looked for in files with joints."),
    ] = None,
    muscles: Annotated[
        str, typer.Option(help="Force law: rigid or elastic tendons, documents; none stops after the joint moments.")
    ] = "rigid",
    proportions: Annotated[
        str, typer.Option(help="measured: each segment has its own length; ours: one scale for the whole body.")
    ] = "measured",
    forward: Annotated[bool, typer.Option("--forward", help="Let the muscles follow the motion, too.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A new folder for everything; recordings/track-N without it.", show_default=False),
    ] = None,
    json: Json = False,
) -> int:
    """Track a measured motion: size, poses, moments, muscle forces, joint reactions; with a report."""
    from vitruvian.door import track as track_file
    from vitruvian.errors import InputError
    from vitruvian.world.parameters import split_settings

    try:
        mapping = split_settings(marker or [])
    except InputError as error:
        raise InputError(str(error).replace("--set", "--marker").replace("key=value", "NAME=SITE")) from None
    with progress_bar(f"tracking {file.name}", "", slow_start=True) as progress:
        found = track_file(
            file,
            forces=forces,
            height=height,
            mass=mass,
            up=up,
            rate=rate,
            cutoff=cutoff,
            gap=gap,
            markers=mapping,
            without=without or (),
            without_plates=without_plate or (),
            cycle=cycle,
            muscles=muscles,
            proportions=proportions,
            forward=forward,
            out=out,
            progress=progress,
        )
    for line in found.found.remarks if found.found else ():
        remark(f"  {line}")
    if json:
        print_json(summary(found) | {"report": str(found.report)})
    else:
        _tell_track(found)
    return 0 if found.passed else 1


def _tell_track(found: Track) -> None:
    print_table("", ("check", ""), [[name, "passed" if good else "failed"] for name, good in found.checks.items()])
    if found.table:
        print()
        print_table("", found.table[0], [list(row) for row in found.table[1:]], right=found.table[0][1:4])
    print()
    print_table("", ("metric", "value"), [[n, number(v)] for n, v in found.metrics.items()], right=("value",))
    name = quote(str(found.recording))
    print(f"\n{found.seconds:.4g} s of motion in {found.wall_seconds:.3g} s")
    print(f"report     {found.report}\nrecording  {name}\nlook       vitruvian view {name}")
