"""A glTF 2.0 file in the making: nodes, meshes, materials, animation, and one binary buffer.

Layout of a GLB: a 12-byte header, then a chunk of JSON and a chunk of binary data, each padded to four bytes
(Khronos glTF 2.0 specification, section 4).
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError

LINE_ARRAY, TRIANGLES = 34962, 34963  # ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER
MAGIC, JSON_CHUNK, BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942
MOST_BYTES = (1 << 32) - 1  # the header counts in 32 bits
COMPONENTS = {"f4": 5126, "u4": 5125, "u1": 5121}
SHAPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}


class GltfFile:
    """Collects what a scene needs; `write` puts it on disk."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self._binary: list[bytes] = []
        self._length = 0
        self._times: dict[bytes, int] = {}

    def add_node(self, name: str, parent: int | None = None, **properties: Any) -> int:
        """A node with glTF properties such as translation [m], rotation (x, y, z, w), scale, mesh."""
        self.nodes.append({"name": name, **properties})
        index = len(self.nodes) - 1
        if parent is not None:
            self.nodes[parent].setdefault("children", []).append(index)
        return index

    def add_mesh(self, name: str, primitive: dict[str, Any], weights: list[float] | None = None) -> int:
        self.meshes.append({"name": name, "primitives": [primitive]} | ({"weights": weights} if weights else {}))
        return len(self.meshes) - 1

    def add_material(
        self,
        name: str,
        colour: tuple[float, float, float],
        opacity: float,
        *,
        roughness: float = 0.7,
        both_sides: bool = True,
    ) -> int:
        """A matt material; `colour` is sRGB, which glTF wants linear. Colours of vertices are multiplied by it."""
        srgb = np.asarray(colour, dtype=float)
        linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        material: dict[str, Any] = {
            "name": name,
            "doubleSided": both_sides,
            "pbrMetallicRoughness": {
                "baseColorFactor": [*linear.tolist(), float(opacity)],
                "metallicFactor": 0.0,
                "roughnessFactor": roughness,
            },
        }
        if opacity < 1.0:
            material["alphaMode"] = "BLEND"
        self.materials.append(material)
        return len(self.materials) - 1

    def add_array(self, array: np.ndarray, target: int | None = None, *, bounds: bool = False) -> int:
        """An accessor for float32 or uint32 values, or bytes that stand for 0 to 1, shape (n,), (n, 3) or (n, 4).

        Rows of bytes are four long, so that what follows is aligned.
        """
        data = np.ascontiguousarray(array).tobytes()
        if self._length + len(data) > MOST_BYTES:
            raise InputError("the recording is too large for one glTF file (4 GB)")
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        self.views.append(view | ({"target": target} if target else {}))
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": COMPONENTS[array.dtype.str[1:]],
            "count": len(array),
            "type": SHAPES[1 if array.ndim == 1 else array.shape[1]],
        }
        if bounds:
            rows = array.reshape(len(array), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.accessors.append(accessor)
        if array.dtype == np.uint8:
            accessor["normalized"] = True
        self._binary.append(data)  # a multiple of four bytes, so always aligned
        self._length += len(data)
        return len(self.accessors) - 1

    def animate(self, node: int, path: str, time: np.ndarray, values: np.ndarray, *, step: bool = False) -> None:
        """Let a property of a node follow `values`, one row for each `time` [s]; one instant needs no animation."""
        if len(time) < 2 or not values.size:
            return
        instants = time.astype("f4")
        if instants.tobytes() not in self._times:
            self._times[instants.tobytes()] = self.add_array(instants, bounds=True)
        rows = values.astype("f4")
        output = self.add_array(rows.ravel() if path == "weights" else rows)
        way = "STEP" if step else "LINEAR"
        self.samplers.append({"input": self._times[instants.tobytes()], "output": output, "interpolation": way})
        target = {"node": node, "path": path}
        self.channels.append({"sampler": len(self.samplers) - 1, "target": target})

    def write(self, path: Path) -> None:
        """Write the GLB."""
        with open(path, "wb") as file:
            file.writelines(self._pieces())

    def to_bytes(self) -> bytes:
        """The GLB in memory."""
        return b"".join(self._pieces())

    def _pieces(self) -> list[bytes]:
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "vitruvian"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": self.nodes,
        }
        if self.channels:
            document["animations"] = [{"name": "run", "samplers": self.samplers, "channels": self.channels}]
        for name, items in (
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ):
            if items:
                document[name] = items
        if self._length:
            document["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        padding = -self._length % 4
        chunks = 8 + len(text) + ((8 + self._length + padding) if self._length else 0)
        if 12 + chunks > MOST_BYTES:
            raise InputError("the recording is too large for one glTF file (4 GB)")
        head = struct.pack("<III", MAGIC, 2, 12 + chunks) + struct.pack("<II", len(text), JSON_CHUNK)
        if not self._length:
            return [head, text]
        start = struct.pack("<II", self._length + padding, BINARY_CHUNK)
        return [head, text, start, *self._binary, b"\0" * padding]
