"""`vitruvian bind`: anyone's mesh moved as a recorded body moves, written for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vitruvian.cli.output import print_json, progress_bar
from vitruvian.cli.running import Json


def bind(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="OBJ, PLY, STL, OFF or glTF, lying on the body.")],
    recording: Annotated[Path, typer.Argument(metavar="REC", help="A recording of a body.")],
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT", help=".glb, .usd, .usda or .usdc; MESH.bound.glb without it.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="skinning, or nearest: the four nearest bones and vertices.")
    ] = "skinning",
    frame: Annotated[int, typer.Option(help="Frame of the recording in which the mesh lies on the body.")] = 0,
    scale: Annotated[float, typer.Option(help="Metres in a unit of the mesh file.")] = 1.0,
    json: Json = False,
) -> int:
    """Bind a mesh to a recording and export it with the recorded motion."""
    from vitruvian.errors import InputError
    from vitruvian.exchange import export_recording
    from vitruvian.exchange.bound_mesh import bind_mesh, read_mesh
    from vitruvian.exchange.export import check_suffix
    from vitruvian.world import Recording

    film = out or mesh.with_suffix(".bound.glb")
    check_suffix(film)
    if film.suffix.lower() == ".csv":
        raise InputError(f"{film.name}: a mesh is written as .glb or .usd, .csv holds signals")
    vertices, faces = read_mesh(mesh, scale)
    bound = bind_mesh(vertices, faces, Recording.open(recording), method=method, frame=frame, name=mesh.stem)
    with progress_bar("writing", slow_start=True) as progress:
        export_recording(bound, film, progress)
    if json:
        print_json({"out": str(film), "vertices": len(vertices), "triangles": len(faces), "frames": len(bound.time)})
    else:
        print(film)
    return 0
