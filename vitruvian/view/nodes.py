"""Parts of a stage as nodes in the browser's scene, each updated with as little traffic as it needs.

Rigid meshes are sent once and then only moved. Surfaces send their vertices each frame, and so do lines where they are
few; many lines are made of instances of one short cylinder, so a frame sends a place, a turn, a size and a colour per
piece. A surface that is coloured by
values is sent whole each frame (the scene graph has no vertex colours to update): the new one is put beside the old,
which leaves a frame later, so that nothing flickers.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from vitruvian.mesh.tubes import spindle_profile
from vitruvian.view import normals
from vitruvian.view.colour import ColourMap, colour_map, linear_from_srgb
from vitruvian.view.drawing import LinesPart
from vitruvian.view.glb import coloured_surface
from vitruvian.world.stage import Colour, Frame, Lines, Mesh, Points, Surface

Array = np.ndarray

FEW_LINES = 160  # up to here each line is a tube of its own
PIECES = 8  # cylinders per muscle where there are more, for its taper
# A surface seen from both sides would cast its shadow on itself.
OPEN: dict[str, Any] = {"side": "double", "receive_shadow": False}
NO_TURN = (1.0, 0.0, 0.0, 0.0)


class Node(Protocol):
    """A part of the scene that can be shown at a frame."""

    layer: str

    def show(self, frame: Frame) -> None:
        """Move to where the part is at `frame`."""
        ...

    def fade(self, opacity: float) -> None:
        """Multiply the part's own opacity by `opacity`, 0..1."""
        ...


class BodyNode:
    """All meshes of one layer that ride on one body (or stand still in the world)."""

    def __init__(self, scene: Any, path: str, body: int, meshes: list[Mesh]) -> None:
        self.layer = meshes[0].layer
        self.body, self.meshes = body, meshes
        self.frame = scene.add_frame(path, show_axes=False)
        self.handles = []
        for i, mesh in enumerate(meshes):
            faces, how = siding(mesh.vertices, mesh.faces)
            vertices, faces, _ = split_at_creases(mesh.vertices, faces)
            self.handles.append(
                scene.add_mesh_simple(
                    f"{path}/{i} {plain(mesh.name)}",
                    vertices,
                    faces,
                    color=bytes_of(mesh.colour),
                    opacity=opacity_of(mesh.opacity),
                    **how,
                )
            )

    def show(self, frame: Frame) -> None:
        if self.body < 0 or self.body >= len(frame.poses):
            return
        pose = np.asarray(frame.poses[self.body], dtype=float)
        if not np.isfinite(pose).all():
            return
        if not np.array_equal(pose[:3], self.frame.position):
            self.frame.position = pose[:3]
        if not np.array_equal(pose[3:], self.frame.wxyz):
            self.frame.wxyz = pose[3:]

    def fade(self, opacity: float) -> None:
        for mesh, handle in zip(self.meshes, self.handles, strict=True):
            handle.opacity = opacity_of(mesh.opacity * opacity)


class SurfaceNode:
    """A surface that moves."""

    def __init__(self, scene: Any, path: str, surface: Surface) -> None:
        self.scene, self.path, self.surface = scene, path, surface
        self.layer = surface.layer
        self.colours = colour_map(surface.value, surface.unit, surface.value_range) if surface.value else None
        self.by_value = self.colours is not None
        self.opacity = surface.opacity
        self.split: tuple[Array, Array] | None = None  # faces after splitting, and where each vertex came from
        self.how = dict(OPEN)
        self.handle: Any = None
        self.old: Any = None
        self.turn = 0
        self.last: Frame | None = None

    def show(self, frame: Frame) -> None:
        self.last = frame
        now = frame.surfaces.get(self.surface.name)
        faces = self.surface.faces if self.surface.faces is not None else (now.faces if now is not None else None)
        if now is None or faces is None or len(now.vertices) == 0 or len(faces) == 0:
            if self.handle is not None:
                self.handle.visible = False
            return
        vertices = np.nan_to_num(np.asarray(now.vertices, dtype=np.float32))
        coloured = self.by_value and self.colours is not None and now.values is not None
        if self.surface.faces is not None:
            if self.split is None:
                sided, self.how = siding(vertices, faces)
                _, new_faces, origin = split_at_creases(vertices, sided)
                self.split = (new_faces, origin)
            faces, vertices = self.split[0], vertices[self.split[1]]
        if coloured:
            assert self.colours is not None
            values = np.asarray(now.values)
            if self.split is not None:
                values = values[self.split[1]]
            self._replace(self._coloured(vertices, faces, self.colours(values)))
        elif self.surface.faces is not None and self.handle is not None and self.turn == 0:
            self.handle.vertices = vertices
            self.handle.visible = True
        else:
            self._replace(self._plain(vertices, faces))
            if self.surface.faces is not None:
                self.turn = 0

    def fade(self, opacity: float) -> None:
        self.opacity = self.surface.opacity * opacity
        if self.by_value and self.last is not None:
            self.show(self.last)
        elif self.handle is not None:
            self.handle.opacity = opacity_of(self.opacity)

    def colour_by_value(self, on: bool) -> None:
        """Show the values as colours, or the surface in its own colour."""
        self.by_value = on and self.colours is not None
        self.turn += 1
        if self.last is not None:
            self.show(self.last)

    def _name(self) -> str:
        self.turn += 1
        return f"{self.path}/{self.turn % 3}"

    def _plain(self, vertices: Array, faces: Array) -> Any:
        return self.scene.add_mesh_simple(
            self._name(),
            vertices,
            faces,
            color=bytes_of(self.surface.colour),
            opacity=opacity_of(self.opacity),
            **self.how,
        )

    def _coloured(self, vertices: Array, faces: Array, colours: Array) -> Any:
        # Colours of vertices are linear light in the browser's file format.
        data = coloured_surface(
            vertices,
            faces,
            normals.vertex_normals(vertices, np.ascontiguousarray(faces, dtype=np.int32)),
            linear_from_srgb(colours),
            opacity=self.opacity,
            both_sides=self.how["side"] == "double",
        )
        return self.scene.add_glb(self._name(), data, receive_shadow=self.how["side"] != "double")

    def _replace(self, new: Any) -> None:
        if self.old is not None:
            self.old.remove()
        self.old, self.handle = self.handle, new


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


class PointsNode:
    """A cloud of points."""

    def __init__(self, scene: Any, path: str, points: Points) -> None:
        self.scene, self.path, self.points, self.layer = scene, path, points, points.layer
        self.handle = scene.add_point_cloud(
            path,
            np.zeros((0, 3), dtype=np.float32),
            bytes_of(points.colour),
            point_size=points.radius,
            point_shape="circle",
            precision="float32",
        )

    def show(self, frame: Frame) -> None:
        now = np.asarray(frame.points.get(self.points.name, np.zeros((0, 3))), dtype=np.float32).reshape(-1, 3)
        self.handle.points = now[np.isfinite(now).all(axis=1)]

    def fade(self, opacity: float) -> None:
        # Point clouds have no opacity of their own; they shrink away instead.
        self.handle.point_size = max(self.points.radius * opacity, 1e-6)


def split_at_creases(vertices: Array, faces: Array) -> tuple[Array, Array, Array]:
    """Vertices doubled along sharp edges, faces, and the old index of each new vertex.

    The browser averages normals over each vertex, so an edge is sharp when its sides share none.
    """
    vertices = np.asarray(vertices, dtype=np.float64)
    faces = np.ascontiguousarray(faces, dtype=np.int32)
    if len(faces) == 0:
        return vertices, faces, np.arange(len(vertices))
    ring = normals.around(vertices, faces)
    corner = normals.corner_normals(vertices, faces, ring).reshape(-1, 3)
    place = ring.weld[faces.reshape(-1)]
    key = np.column_stack([place, np.round(corner * 200.0).astype(np.int64)])
    _, first, new = np.unique(key, axis=0, return_index=True, return_inverse=True)
    origin = faces.reshape(-1)[first]
    return vertices[origin], new.reshape(-1, 3).astype(np.int32), origin


def siding(vertices: Array, faces: Array) -> tuple[Array, dict[str, Any]]:
    """Faces turned outwards and drawn from outside only if they close around a volume; else drawn from both sides."""
    faces = np.ascontiguousarray(faces, dtype=np.int32)
    if len(faces) == 0:
        return faces, dict(OPEN)
    corner = normals.around(np.asarray(vertices, dtype=np.float64), faces).weld[faces].astype(np.int64)
    n = int(corner.max()) + 1
    start, end = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)
    there, back = np.sort(start * n + end), np.sort(end * n + start)
    if not np.array_equal(there, back):
        return faces, dict(OPEN)
    a, b, c = (np.asarray(vertices, dtype=float)[faces[:, k]] for k in range(3))
    outwards = float(np.einsum("ij,ij->", a, np.cross(b, c))) > 0.0
    return (faces if outwards else np.ascontiguousarray(faces[:, ::-1])), {"side": "front"}


def turns_from_z(along: Array, length: Array) -> Array:
    """Unit quaternions (w, x, y, z), shape (n, 4), that turn +z to each direction."""
    unit = along / np.maximum(length, 1e-12)[:, None]
    w = 1.0 + unit[:, 2]
    q = np.stack([w, -unit[:, 1], unit[:, 0], np.zeros(len(unit))], axis=1)
    q[w < 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return q / np.linalg.norm(q, axis=1)[:, None]


def bytes_of(colour: Colour) -> tuple[int, int, int]:
    """sRGB bytes of a colour in 0..1."""
    r, g, b = (round(255.0 * min(max(c, 0.0), 1.0)) for c in colour)
    return r, g, b


def opacity_of(opacity: float) -> float | None:
    """What the browser wants: None for a solid."""
    return None if opacity >= 0.999 else float(max(opacity, 0.0))


def plain(name: str) -> str:
    """A name without the scene graph's separator."""
    return name.replace("/", "-") or "world"


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
