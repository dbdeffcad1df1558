"""The parts of a stranger's glTF 2.0 file (.gltf or .glb), counted before anything is built of them.

A few bytes of JSON may place the same mesh thousands of times or promise numbers that no buffer holds.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from vitruvian.errors import InputError
from vitruvian.exchange.gltf_file import BINARY_CHUNK, JSON_CHUNK, MAGIC
from vitruvian.given_file import check_values

MOST_PARTS, MOST_NODES, MOST_CHUNKS = 500_000, 20_000, 16  # values of JSON, nodes and chunks of a file that is read


def read_parts(data: bytes, name: str, most: int) -> tuple[dict[str, Any], bytes]:
    """The table of a stranger's .gltf or .glb file and its binary chunk; at most `most` vertices, seen at all nodes."""
    text, body = data, b""
    if data[:4] == struct.pack("<I", MAGIC):
        place, chunks = 12, {JSON_CHUNK: b"", BINARY_CHUNK: b""}
        for _ in range(MOST_CHUNKS):
            if place + 8 > len(data):
                break
            size, kind = struct.unpack_from("<II", data, place)
            chunks[kind] = chunks.get(kind) or data[place + 8 : place + 8 + size]
            place += 8 + size
        else:
            raise InputError(f"'{name}' has more than {MOST_CHUNKS - 1} chunks")
        text, body = chunks[JSON_CHUNK], chunks[BINARY_CHUNK]
    check_values(text, f"'{name}'", MOST_PARTS)
    try:
        table = json.loads(text)
        if not isinstance(table, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise InputError(f"'{name}' is not a glTF file") from None
    try:
        counts = [int(one["count"]) for one in table.get("accessors", [])]
        nodes, meshes = table.get("nodes", []), table.get("meshes", [])
        primitives = [p for node in nodes if "mesh" in node for p in meshes[node["mesh"]]["primitives"]]
        vertices = sum(counts[p["attributes"]["POSITION"]] for p in primitives if "POSITION" in p["attributes"])
        corners = sum(counts[p["indices"]] for p in primitives if "indices" in p)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"'{name}': its parts do not fit together as in a glTF file ({error})") from None
    if len(nodes) > MOST_NODES or len(primitives) > MOST_NODES:
        raise InputError(f"'{name}' has more than {MOST_NODES} nodes or meshes at them")
    if min(counts, default=0) < 0 or vertices > most or corners > 12 * most or sum(counts) > 100 * most:
        raise InputError(f"'{name}' has {vertices} vertices and {corners} corners; at most {most} and {12 * most}")
    return table, body
