"""One coloured triangle surface as a binary glTF 2.0 file, which is how the browser takes colours per vertex."""

from __future__ import annotations

import json
import struct

import numpy as np

Array = np.ndarray

FLOAT, BYTE, INDEX = 5126, 5121, 5125  # component types of the format


def coloured_surface(
    vertices: Array, faces: Array, normals: Array, colours: Array, *, opacity: float = 1.0, both_sides: bool = True
) -> bytes:
    """A GLB of vertices [m] (n, 3), faces (m, 3), unit normals (n, 3) and colours in linear light 0..1 (n, 3)."""
    rgba = np.full((len(vertices), 4), 255, dtype=np.uint8)
    rgba[:, :3] = (255.0 * np.clip(colours, 0.0, 1.0) + 0.5).astype(np.uint8)
    place = np.ascontiguousarray(vertices, dtype="<f4")
    parts = [place, np.ascontiguousarray(normals, dtype="<f4"), rgba, np.ascontiguousarray(faces, dtype="<u4")]
    views, start = [], 0
    for i, part in enumerate(parts):
        views.append(
            {"buffer": 0, "byteOffset": start, "byteLength": part.nbytes, "target": 34963 if i == 3 else 34962}
        )
        start += part.nbytes
    n = len(place)
    about = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0}]}
        ],
        "materials": [
            {
                "pbrMetallicRoughness": {
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.6,
                    "baseColorFactor": [1.0, 1.0, 1.0, float(opacity)],
                },
                "alphaMode": "BLEND" if opacity < 0.999 else "OPAQUE",
                "doubleSided": both_sides,
            }
        ],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": FLOAT,
                "count": n,
                "type": "VEC3",
                "min": place.min(axis=0).tolist(),
                "max": place.max(axis=0).tolist(),
            },
            {"bufferView": 1, "componentType": FLOAT, "count": n, "type": "VEC3"},
            {"bufferView": 2, "componentType": BYTE, "count": n, "type": "VEC4", "normalized": True},
            {"bufferView": 3, "componentType": INDEX, "count": 3 * len(faces), "type": "SCALAR"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": start}],
    }
    words = json.dumps(about, separators=(",", ":")).encode()
    words += b" " * (-len(words) % 4)
    data = b"".join(part.tobytes() for part in parts)
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(words) + 8 + len(data))
    return head + struct.pack("<I4s", len(words), b"JSON") + words + struct.pack("<I4s", len(data), b"BIN\0") + data
