"""Kinds of files beside recordings, strokes, motions and BVH: a good one of each, and how it is read."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from vitruvian.control.behaviour import load_behaviour
from vitruvian.control.behaviour.sound import laughter, synthesised
from vitruvian.control.face import expressions
from vitruvian.control.mind import load_character
from vitruvian.control.search.policy import Policy
from vitruvian.exchange import gltf_character, read_trial
from vitruvian.exchange.bound_mesh import read_mesh
from vitruvian.exchange.sound_file import read_sound, write_sound
from vitruvian.verify import _track_lab as lab

PACKAGE = Path(gltf_character.__file__).parents[1]
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4")
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "<u4")
TRC = "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t" + (
    "OrigDataStartFrame\tOrigNumFrames\n100\t100\t4\t2\tmm\t100\t1\t4\nFrame#\tTime\tLASI\t\t\tRASI\t\t\n"
    "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
)


def gltf() -> str:
    """A tetrahedron on two joints."""
    inverse = np.tile(np.eye(4, dtype="<f4"), (2, 1, 1))
    blobs = [CORNERS.tobytes(), FACES.tobytes(), inverse.tobytes()]
    at = np.cumsum([0, *(len(blob) for blob in blobs)])
    shapes = ((5126, "VEC3", 4), (5125, "SCALAR", 12), (5126, "MAT4", 2))
    arrays = [{"bufferView": k, "componentType": c, "type": t, "count": n} for k, (c, t, n) in enumerate(shapes)]
    table = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "hips", "children": [2]}, {"name": "head"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 2}],
        "accessors": arrays,
        "bufferViews": [{"buffer": 0, "byteOffset": int(a), "byteLength": len(b)} for a, b in zip(at, blobs)],
        "buffers": [{"byteLength": int(at[-1]), "uri": "data:;base64," + base64.b64encode(b"".join(blobs)).decode()}],
    }  # fmt: skip
    return json.dumps(table, separators=(", ", ": "))


def glb() -> bytes:
    text = gltf().encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text


def ply() -> bytes:
    head = (
        "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    )
    head += "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    return head.encode() + CORNERS.tobytes() + b"".join(b"\x03" + face.tobytes() for face in FACES)


def obj() -> str:
    rows = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a} {b} {c}" for a, b, c in FACES + 1]
    return "mtllib a.mtl \nusemtl a \n" + " \n".join(rows)


def as_character(path: Path) -> None:
    """All that reads; the solid that is then made of it takes seconds."""
    gltf_character.from_mesh = lambda *given, **options: None
    gltf_character.character_from_gltf(path)


def kinds(folder: Path) -> dict[str, tuple[str, str | bytes, Callable[[Path], object]]]:
    """Of each kind: how such a file's name ends, a good one, and how it is read."""
    lab.write_c3d(folder / "good.c3d", np.random.default_rng(0).uniform(0.0, 1.0, (6, 3, 3)), ("LASI", "RASI", "C7"))
    write_sound(folder / "good.wav", synthesised(4)[::2], 8000)
    rows = "".join(f"{k + 1}\t{k / 100:.3f}\t{100 + k}\t900\t50\t{-100 + k}\t900\t50\n" for k in range(4))

    def shipped(name: str) -> str:
        return (PACKAGE / "control" / name).read_text()

    return {
        "c3d": (".c3d", (folder / "good.c3d").read_bytes(), read_trial),
        "trc": (".trc", (TRC + rows).encode(), read_trial),
        "gltf": (".gltf", gltf(), as_character),
        "glb": (".glb", glb(), as_character),
        "mesh gltf": (".gltf", gltf(), read_mesh),
        "mesh obj": (".obj", obj(), read_mesh),
        "mesh ply": (".ply", ply(), read_mesh),
        "sound": (".wav", (folder / "good.wav").read_bytes(), lambda path: laughter(*read_sound(path))),
        "expressions": (".toml", shipped("face/expressions.toml"), expressions),
        "behaviour": (".toml", shipped("behaviours/calm.toml"), load_behaviour),
        "mind": (".toml", shipped("mind/characters/curious.toml"), load_character),
        "policy": (".json", shipped("search/found/michelin-run.json"), Policy.read),
    }
