"""`vitruvian character`: a folder of files from a mesh with a skeleton, or from one of our own designs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vitruvian.cli.output import print_json, remark
from vitruvian.cli.running import Json


def character(
    source: Annotated[str, typer.Argument(help="A .glb or .gltf file, or mascot, panda, baby.", metavar="FILE|NAME")],
    out: Annotated[Path, typer.Argument(help="Folder to write.", metavar="FOLDER")],
    mass: Annotated[float | None, typer.Option(help="Mass [kg]; by the height without it.", show_default=False)] = None,
    young: Annotated[
        float | None, typer.Option(help="Young's modulus [Pa]; by the height without it.", show_default=False)
    ] = None,
    nodes: Annotated[int, typer.Option(help="Nodes of the tetrahedra, about.", min=200, max=20000)] = 1100,
    json: Json = False,
) -> int:
    """Make a soft character: tetrahedra, fixed nodes and weights from a closed mesh and its skeleton."""
    from vitruvian.anatomy.characters import DESIGNS, from_design, write_character
    from vitruvian.errors import InputError
    from vitruvian.exchange.gltf_character import character_from_gltf

    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"'{out}' is there already")
    for value, name in ((mass, "mass"), (young, "young")):
        if value is not None and not value > 0.0:
            raise InputError(f"--{name} must be positive")
    if source in DESIGNS:
        made = from_design(DESIGNS[source](), remark)
    else:
        made = character_from_gltf(source, mass=mass, young=young, nodes=nodes, say=remark)
    write_character(made, out)
    found = {
        "name": made.name,
        "folder": str(out),
        "bones": len(made.bones),
        "nodes": made.tetrahedra.n_nodes,
        "elements": made.tetrahedra.n_elements,
        "vertices": len(made.vertices),
        "mass_kg": made.mass,
    }
    if json:
        print_json(found)
    else:
        print("  ".join(f"{k} {v}" for k, v in found.items()))
    return 0
