"""Reads a folder of plain frames (`vitruvian.view.cycles.folder` writes it): JSON and NumPy arrays, nothing else.

Places are 16-bit steps in a box, told as differences from the place before, low bytes before high ones: smooth
surfaces become small numbers that compress well. Triangles are differences from the index before.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
VERSION = 1


class Folder:
    """`about` is scene.json; `still` holds what does not change; `frame(i)` the arrays of frame i."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.about: dict[str, Any] = json.loads((self.path / "scene.json").read_text(encoding="utf-8"))
        if self.about.get("version") != VERSION:
            raise SystemExit(f"{path}: frames of version {self.about.get('version')}, this reads {VERSION}")
        self.still = Arrays(self.path / "still.npz")

    def frame(self, i: int) -> Arrays:
        """The arrays of frame i of the folder."""
        return Arrays(self.path / self.about["frames"][i]["file"])


class Arrays:
    """One npz file; places and triangles are unpacked when asked for."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as file:
            self.arrays = {name: file[name] for name in file.files}

    def __contains__(self, name: str) -> bool:
        return name in self.arrays or f"{name} box" in self.arrays

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def get(self, name: str) -> Array | None:
        return self.arrays.get(name)

    def places(self, name: str) -> Array:
        """Points [m], (n, 3) float32."""
        low, step = self.arrays[f"{name} box"]
        planes = self.arrays[name].astype(np.uint16)
        at = np.cumsum(planes[0] | planes[1] << 8, axis=1, dtype=np.uint16)
        return (low + step * at.T).astype(np.float32)

    def triangles(self, name: str) -> Array:
        """Vertex indices, (m, 3) int32."""
        return np.cumsum(self.arrays[name], dtype=np.int32).reshape(-1, 3)
