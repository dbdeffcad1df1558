"""Lines of a stage as nodes in the browser's scene, with as little traffic as they need.

Where they are few, each is a tube whose vertices are sent every frame. Many are made of instances of one short
cylinder, so that a frame sends a place, a turn, a size and a colour per piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.mesh.tubes import spindle_profile
from vitruvian.view.browser import bytes_of, opacity_of, plain
from vitruvian.view.colour import ColourMap, colour_map, linear_from_srgb
from vitruvian.view.drawing import LinesPart
from vitruvian.world import Frame, Lines

Array = np.ndarray

FEW_LINES = 160  # up to here each line is a tube of its own
PIECES = 8  # cylinders per muscle where there are more, for its taper
NO_TURN = (1.0, 0.0, 0.0, 0.0)


def lines_node(scene: Any, path: str, lines: Lines) -> TubesNode | PiecesNode:
    """The kind of node that suits the number of lines."""
    return (TubesNode if len(lines.radius) <= FEW_LINES else PiecesNode)(scene, path, lines)


class TubesNode:
    """Polylines as one tube each."""

    def __init__(self, scene: Any, path: str, lines: Lines) -> None:
        self.lines, self.layer, self.part = lines, lines.layer, LinesPart(lines)
        self.colours, self.by_value = self.part.colours, self.part.colours is not None
        tubes = self.part.tubes
        faces = tubes.faces[: len(tubes.faces) // max(len(lines.radius), 1)]
        blank = np.zeros((tubes.per_line, 3), dtype=np.float32)
        names = lines.names or tuple(str(i) for i in range(len(lines.radius)))
        self.handles = [
            scene.add_mesh_simple(
                f"{path}/{i} {plain(name)}",
                blank,
                faces,
                color=bytes_of(lines.colour),
                opacity=opacity_of(lines.opacity),
            )
            for i, name in enumerate(names)
        ]
        self.last: Frame | None = None

    def show(self, frame: Frame) -> None:
        self.last = frame
        now, drawn = frame.lines.get(self.lines.name), self.part.at(frame)
        if now is None or drawn is None:
            return
        vertices = np.nan_to_num(drawn.vertices).astype(np.float32).reshape(len(self.handles), -1, 3)
        inks = [bytes_of(self.lines.colour)] * len(self.handles)
        if self.by_value and self.colours is not None and now.values is not None:
            inks = [bytes_of(tuple(c)) for c in self.colours(np.asarray(now.values))]
        for handle, places, ink in zip(self.handles, vertices, inks, strict=True):
            handle.vertices = places
            if tuple(handle.color) != ink:
                handle.color = ink

    def fade(self, opacity: float) -> None:
        for handle in self.handles:
            handle.opacity = opacity_of(self.lines.opacity * opacity)

    def colour_by_value(self, on: bool) -> None:
        """Show the values as colours, or all lines in one colour."""
        self.by_value = on and self.colours is not None
        if self.last is not None:
            self.show(self.last)


class PiecesNode:
    """Polylines as chains of short cylinders; muscles taper towards their ends."""

    def __init__(self, scene: Any, path: str, lines: Lines) -> None:
        self.lines, self.layer = lines, lines.layer
        self.offsets = np.asarray(lines.offsets, dtype=np.int64)
        self.radius = np.asarray(lines.radius, dtype=float)
        self.colours: ColourMap | None = colour_map(lines.value, lines.unit, lines.value_range) if lines.value else None
        self.by_value = self.colours is not None
        muscle = lines.layer == "muscles"
        counts = np.diff(self.offsets)
        self.pieces = np.maximum(counts - 1, PIECES if muscle else 1)
        self.line_of = np.repeat(np.arange(len(counts)), self.pieces)
        part = np.concatenate([(np.arange(k) + 0.5) / k for k in self.pieces]) if len(counts) else np.zeros(0)
        profile = spindle_profile(101) if muscle else np.ones(101)
        self.width = self.radius[self.line_of] * np.interp(part, np.linspace(0.0, 1.0, 101), profile)
        n = len(self.line_of)
        vertices, faces = _cylinder()
        self.handle = scene.add_batched_meshes_simple(
            path,
            vertices,
            faces,
            np.tile(NO_TURN, (max(n, 1), 1)),
            np.zeros((max(n, 1), 3)),
            batched_scales=np.full((max(n, 1), 3), 1e-6),
            batched_colors=np.repeat(_instance_ink(np.array([lines.colour])), max(n, 1), axis=0),
            opacity=opacity_of(lines.opacity),
            lod="off",
        )
        self.last: Frame | None = None

    def show(self, frame: Frame) -> None:
        self.last = frame
        now = frame.lines.get(self.lines.name)
        if now is None or len(self.line_of) == 0:
            return
        starts, ends = self._chain(np.nan_to_num(np.asarray(now.points, dtype=float)))
        along = ends - starts
        length = np.linalg.norm(along, axis=1)
        self.handle.batched_positions = (0.5 * (starts + ends)).astype(np.float32)
        self.handle.batched_wxyzs = turns_from_z(along, length).astype(np.float32)
        scales = np.stack([self.width, self.width, length + 0.5 * self.width], axis=1)
        self.handle.batched_scales = np.maximum(scales, 1e-6).astype(np.float32)
        if self.by_value and self.colours is not None and now.values is not None:
            self.handle.batched_colors = _instance_ink(self.colours(np.asarray(now.values)))[self.line_of]

    def fade(self, opacity: float) -> None:
        self.handle.opacity = opacity_of(self.lines.opacity * opacity)

    def colour_by_value(self, on: bool) -> None:
        """Show the values as colours, or all lines in one colour."""
        self.by_value = on and self.colours is not None
        if not self.by_value:
            ink = _instance_ink(np.array([self.lines.colour]))
            self.handle.batched_colors = np.repeat(ink, max(len(self.line_of), 1), axis=0)
        if self.last is not None:
            self.show(self.last)

    def _chain(self, points: Array) -> tuple[Array, Array]:
        """Both ends of every piece, shape (n, 3): lines cut into pieces of equal length."""
        starts, ends = [], []
        for i, k in enumerate(self.pieces):
            line = points[self.offsets[i] : self.offsets[i + 1]]
            gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
            if k == len(line) - 1:
                cuts = line
            else:
                at = np.linspace(0.0, gone[-1], k + 1)
                cuts = np.stack([np.interp(at, gone, line[:, c]) for c in range(3)], axis=1)
            starts.append(cuts[:-1])
            ends.append(cuts[1:])
        return np.concatenate(starts), np.concatenate(ends)


def turns_from_z(along: Array, length: Array) -> Array:
    """Unit quaternions (w, x, y, z), shape (n, 4), that turn +z to each direction."""
    unit = along / np.maximum(length, 1e-12)[:, None]
    w = 1.0 + unit[:, 2]
    q = np.stack([w, -unit[:, 1], unit[:, 0], np.zeros(len(unit))], axis=1)
    q[w < 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return q / np.linalg.norm(q, axis=1)[:, None]


def _instance_ink(colours: Array) -> Array:
    """Bytes of sRGB colours (n, 3) for instances, whose colours the browser takes as linear light."""
    return (255.0 * linear_from_srgb(colours) + 0.5).astype(np.uint8)


def _cylinder(sides: int = 12) -> tuple[Array, Array]:
    """A cylinder of radius 1 and length 1 along z."""
    angle = np.arange(sides) * 2.0 * np.pi / sides
    rings = [np.stack([np.cos(angle), np.sin(angle), np.full(sides, z)], 1) for z in (-0.5, 0.5)]
    a, b = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    return np.concatenate(rings), faces.astype(np.int32)
