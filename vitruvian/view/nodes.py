"""Meshes, surfaces and points of a stage as nodes in the browser's scene, with as little traffic as each needs.

Rigid meshes are sent once and then only moved; surfaces send their vertices each frame. A surface that is coloured by
values is sent whole each frame (the scene graph has no vertex colours to update): the new one is put beside the old,
which leaves a frame later, so that nothing flickers. Lines are in `line_nodes`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from vitruvian.mesh import vertex_normals
from vitruvian.mesh.normals import UP
from vitruvian.view.browser import OPEN, bytes_of, opacity_of, plain, siding, split_at_creases
from vitruvian.view.colour import colour_map, linear_from_srgb
from vitruvian.view.glb import coloured_surface
from vitruvian.world import Frame, Mesh, Points, Surface

Array = np.ndarray


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
            vertex_normals(vertices, np.asarray(faces, dtype=np.int32), flat=UP),
            linear_from_srgb(colours),
            opacity=self.opacity,
            both_sides=self.how["side"] == "double",
        )
        return self.scene.add_glb(self._name(), data, receive_shadow=self.how["side"] != "double")

    def _replace(self, new: Any) -> None:
        if self.old is not None:
            self.old.remove()
        self.old, self.handle = self.handle, new


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
