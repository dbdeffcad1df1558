"""A character as a folder of files that one can read and edit.

    character.json    name, mass [kg], Young's modulus [Pa], Poisson's ratio; bones: joint, ends, bind turn, gains
    nodes.csv         x, y, z [m] of the tetrahedra's corners, and the bone in which each is fixed
    elements.csv      four nodes a line
    weights.csv       a line for each node, a column for each bone
    skin.csv          x, y, z [m] of the fine surface; the last column says whether it is skin or a feature
    faces.csv         three vertices a line and the patch that they belong to

Positions are those of the bind pose. Weights are made to sum to one when they are read.
"""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy.characters.character import Character, Patch
from vitruvian.anatomy.characters.design import Bone
from vitruvian.errors import InputError
from vitruvian.flesh import tetrahedra_from_mesh
from vitruvian.given_file import csv_rows, read_json

FILES = ("character.json", "nodes.csv", "elements.csv", "weights.csv", "skin.csv", "faces.csv")
MOST_BYTES = 50_000_000
PLACES = 5  # decimals of a position: hundredths of a millimetre


def write_character(character: Character, folder: str | Path) -> None:
    """Write all of it; files of that name are replaced."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    head = {
        "name": character.name,
        "mass": character.mass,
        "young": character.young,
        "poisson": character.poisson,
        "patches": {p.name: list(p.colour) for p in character.patches},
        "bones": [_rounded(asdict(bone)) for bone in character.bones],
    }
    (folder / "character.json").write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")
    names = [bone.name for bone in character.bones]
    fixed = [names[k] if k >= 0 else "" for k in character.fixed]
    nodes = [[*_numbers(p), bone] for p, bone in zip(character.tetrahedra.nodes, fixed)]
    _write(folder / "nodes.csv", ["x", "y", "z", "bone"], nodes)
    _write(folder / "elements.csv", ["a", "b", "c", "d"], character.tetrahedra.element_nodes.tolist())
    _write(folder / "weights.csv", names, [[f"{w:.6g}" for w in row] for row in character.weights])
    kinds = ["skin" if n < character.n_skin else "feature" for n in range(len(character.vertices))]
    _write(folder / "skin.csv", ["x", "y", "z", "kind"], [[*_numbers(p), k] for p, k in zip(character.vertices, kinds)])
    faces = [[*f, patch.name] for patch in character.patches for f in patch.faces.tolist()]
    _write(folder / "faces.csv", ["a", "b", "c", "patch"], faces)


def read_character(folder: str | Path) -> Character:
    """Read and check a character's folder."""
    folder = Path(folder)
    for name in FILES:
        if not (folder / name).is_file():
            raise InputError(f"'{folder}' is not a character: it has no {name}")
    try:
        head = read_json(folder / "character.json", "character")
        bones = tuple(_bone(b) for b in head["bones"])
        name, mass, young, poisson = head["name"], float(head["mass"]), float(head["young"]), float(head["poisson"])
        colours = {str(k): tuple(float(c) for c in v) for k, v in head["patches"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"character.json: {type(error).__name__}: {error}") from None
    if not (mass > 0.0 and young > 0.0 and 0.0 <= poisson < 0.5):
        raise InputError("character.json: mass and young must be positive, poisson from 0 to below 0.5")
    names = [b.name for b in bones]
    rows = _read(folder / "nodes.csv", 4)
    for n, row in enumerate(rows):
        if row[3] and row[3] not in names:
            raise InputError(f"nodes.csv: line {n + 2} names the bone '{row[3]}', which character.json does not have")
    nodes = _floats(folder / "nodes.csv", [r[:3] for r in rows])
    fixed = np.array([names.index(r[3]) if r[3] else -1 for r in rows])
    corners = _floats(folder / "elements.csv", _read(folder / "elements.csv", 4)).astype(np.int64)
    tetrahedra = tetrahedra_from_mesh(nodes, corners)
    weights = _floats(folder / "weights.csv", _read(folder / "weights.csv", len(bones)))
    if weights.shape != (len(nodes), len(bones)) or not (weights >= 0.0).all() or not (weights.sum(axis=1) > 0.0).all():
        raise InputError("weights.csv: needs a line for each node, none negative, not all of a line zero")
    weights = weights / weights.sum(axis=1, keepdims=True)
    skin = _read(folder / "skin.csv", 4)
    n_skin = sum(r[3] == "skin" for r in skin)
    if any(r[3] != "skin" for r in skin[:n_skin]):
        raise InputError("skin.csv: features must come after the skin")
    vertices = _floats(folder / "skin.csv", [r[:3] for r in skin])
    listed = _read(folder / "faces.csv", 4)
    faces = _floats(folder / "faces.csv", [r[:3] for r in listed]).astype(np.int64)
    if len(faces) == 0 or faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError("faces.csv: a face has a vertex that skin.csv does not have")
    of = np.array([r[3] for r in listed])
    unknown = set(of) - set(colours)
    if unknown:
        raise InputError(f"faces.csv: no patch '{min(unknown)}' in character.json")
    patches = tuple(Patch(k, faces[of == k], colour) for k, colour in colours.items())  # type: ignore[arg-type]
    character = Character(
        name, bones, tetrahedra, fixed, weights, vertices, n_skin, patches, mass, young, poisson
    )  # fmt: skip
    character.check()
    return character


def _bone(given: dict[str, Any]) -> Bone:
    known = {f.name for f in fields(Bone)}
    extra = set(given) - known
    if extra:
        raise ValueError(f"bone '{given.get('name')}': unknown entry '{min(extra)}'")
    if given["joint"] not in ("free", "ball", "hinge"):
        raise ValueError(f"bone '{given['name']}': joint must be free, ball or hinge")
    entries: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return Bone(**entries)


def _rounded(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        k: [round(float(c), 9) for c in v] if isinstance(v, tuple) else round(v, 9) if isinstance(v, float) else v
        for k, v in entry.items()
    }


def _numbers(point: np.ndarray) -> list[str]:
    return [f"{x:.{PLACES}f}".rstrip("0").rstrip(".") or "0" for x in point]


def _write(path: Path, head: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def _read(path: Path, columns: int) -> list[list[str]]:
    rows = csv_rows(path, MOST_BYTES)[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != columns:
            raise InputError(f"{path.name}: line {number} has {len(row)} columns, not {columns}")
    return rows


def _floats(path: Path, rows: list[list[str]]) -> np.ndarray:
    try:
        values = np.array(rows, float)
    except ValueError:
        raise InputError(f"{path.name}: something is not a number") from None
    if not np.isfinite(values).all():
        raise InputError(f"{path.name}: something is not finite")
    return values
