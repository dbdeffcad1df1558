"""Recordings as binary glTF 2.0, for any viewer or modelling program.

Bodies are animated nodes that carry their meshes. A surface that keeps its triangles, and lines drawn as tubes, become
morph targets whose weights follow the time; a surface whose triangles change, and points, become one mesh for each
instant, of which the others are shrunk to nothing. Such shapes are taken at no more than `MOST_SHAPES` instants, since
most viewers hold them all in memory. glTF has no way to animate colours: values along muscles or on skin are left out.
The body's z up is turned to glTF's y up by the root node.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.exchange.gltf_file import LINE_ARRAY, TRIANGLES, GltfFile
from vitruvian.mesh import Tubes, vertex_normals
from vitruvian.mesh.normals import UP
from vitruvian.world import Lines, Points, Stage

MOST_SHAPES = 120
TUBE_SIDES = 8
MUSCLE_RINGS, MOST_RINGS = 8, 200  # along each tube, for the muscles' taper and for long lines
POINTS_MODE = 0
Array = np.ndarray


def write_glb(recording: Any, out: str | Path, progress: Callable[[float, float], None] | None = None) -> None:
    """Write a recording (anything with `stage`, `time`, `frame(i)`) to `out`."""
    stage: Stage = recording.stage
    time = np.asarray(recording.time, dtype=float)
    time = time - time[0]
    file = GltfFile()
    root = file.add_node("vitruvian", rotation=[-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    _add_bodies(file, root, recording, time)
    picked = np.unique(np.linspace(0, len(time) - 1, min(len(time), MOST_SHAPES)).round().astype(int))
    moving = stage.surfaces or stage.lines or stage.points
    frames = []
    for done, i in enumerate(picked if moving else ()):
        frames.append(recording.frame(int(i)))
        if progress:
            progress(done + 1, len(picked) + 1)
    keys = time[picked]
    for surface in stage.surfaces:
        shown = [frame.surfaces[surface.name] for frame in frames]
        material = file.add_material(surface.name, surface.colour, surface.opacity)
        if surface.faces is not None:
            shapes = np.stack([part.vertices for part in shown])
            _add_morph(file, root, surface.name, shapes, surface.faces, material, keys)
        else:
            meshes = [_triangles(file, part.vertices, part.faces, material) for part in shown]
            _add_instants(file, root, surface.name, meshes, keys)
    for lines in stage.lines:
        material = file.add_material(lines.name, lines.colour, lines.opacity)
        tubes = _tubes(lines)
        shapes = np.stack([tubes.at(frame.lines[lines.name].points)[0] for frame in frames])
        _add_morph(file, root, lines.name, shapes, tubes.faces, material, keys)
    for points in stage.points:
        _add_points(file, root, points, [frame.points[points.name] for frame in frames], keys)
    file.write(Path(out))
    if progress:
        progress(1, 1)


def _add_bodies(file: GltfFile, root: int, recording: Any, time: Array) -> None:
    stage: Stage = recording.stage
    poses = _all_poses(recording, len(time))
    nodes = {"": root}
    for b, body in enumerate(stage.bodies):
        position, turn = poses[:, b, :3], _one_hemisphere(poses[:, b, 3:])[:, [1, 2, 3, 0]]
        nodes[body] = file.add_node(body, root, translation=position[0].tolist(), rotation=turn[0].tolist())
        file.animate(nodes[body], "translation", time, position)
        file.animate(nodes[body], "rotation", time, turn)
    for mesh in stage.meshes:
        material = file.add_material(mesh.name, mesh.colour, mesh.opacity)
        primitive = _triangles(file, np.asarray(mesh.vertices), np.asarray(mesh.faces), material)
        if primitive:
            file.add_node(mesh.name, nodes[mesh.body], mesh=file.add_mesh(mesh.name, primitive))


def _tubes(lines: Lines) -> Tubes:
    muscle = lines.layer == "muscles"
    longest = int(np.diff(lines.offsets).max(initial=2))
    rings = min(max(longest, MUSCLE_RINGS if muscle else 2), MOST_RINGS)
    return Tubes(lines.offsets, lines.radius, rings=rings, sides=TUBE_SIDES, tapered=muscle)


def _triangles(file: GltfFile, vertices: Array, faces: Array | None, material: int) -> dict[str, Any] | None:
    if faces is None or not len(faces):
        return None
    return {
        "attributes": {
            "POSITION": file.add_array(vertices.astype("f4"), LINE_ARRAY, bounds=True),
            "NORMAL": file.add_array(_normals(vertices, faces), LINE_ARRAY),
        },
        "indices": file.add_array(faces.astype("u4").ravel(), TRIANGLES),
        "material": material,
    }


def _add_morph(file: GltfFile, root: int, name: str, shapes: Array, faces: Array, material: int, keys: Array) -> None:
    """A mesh that blends from shape to shape, shape (instants, n, 3) [m]."""
    primitive = _triangles(file, shapes[0], faces, material)
    if primitive is None:
        return
    count = len(shapes) - 1
    normals = [_normals(shape, faces) for shape in shapes]
    if count:
        primitive["targets"] = [
            {
                "POSITION": file.add_array((shapes[i] - shapes[0]).astype("f4"), LINE_ARRAY, bounds=True),
                "NORMAL": file.add_array(normals[i] - normals[0], LINE_ARRAY),
            }
            for i in range(1, count + 1)
        ]
    weights = [0.0] * count
    node = file.add_node(name, root, mesh=file.add_mesh(name, primitive, weights or None))
    file.animate(node, "weights", keys, np.eye(count + 1)[:, 1:])


def _add_instants(file: GltfFile, root: int, name: str, shapes: list[dict[str, Any] | None], keys: Array) -> None:
    """One mesh for each instant, shown until the next."""
    group = file.add_node(name, root)
    for i, primitive in enumerate(shapes):
        if primitive is None:
            continue
        shown = [0.0, 0.0, 0.0] if i else [1.0, 1.0, 1.0]
        node = file.add_node(f"{name} {i}", group, mesh=file.add_mesh(f"{name} {i}", primitive), scale=shown)
        instants = np.unique([0, i, min(i + 1, len(keys) - 1)])
        scale = np.repeat((instants == i).astype(float)[:, None], 3, axis=1)
        file.animate(node, "scale", keys[instants], scale, step=True)


def _add_points(file: GltfFile, root: int, points: Points, clouds: list[Array], keys: Array) -> None:
    material = file.add_material(points.name, points.colour, 1.0)
    shapes: list[dict[str, Any] | None] = []
    for cloud in clouds:
        if not len(cloud):
            shapes.append(None)
            continue
        position = file.add_array(np.asarray(cloud, "f4"), LINE_ARRAY, bounds=True)
        shapes.append({"attributes": {"POSITION": position}, "mode": POINTS_MODE, "material": material})
    _add_instants(file, root, points.name, shapes, keys)


def _normals(vertices: Array, faces: Array) -> Array:
    return vertex_normals(vertices, faces, flat=UP).astype("f4")


def _all_poses(recording: Any, count: int) -> Array:
    if hasattr(recording, "poses"):
        return np.asarray(recording.poses)
    return np.stack([np.asarray(recording.frame(i).poses) for i in range(count)])


def _one_hemisphere(quaternions: Array) -> Array:
    """The same rotations, each quaternion chosen near the one before, so that blending takes the short way."""
    turned = np.sign(np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]))
    sign = np.cumprod(np.where(turned < 0, -1.0, 1.0))
    return np.concatenate([quaternions[:1], quaternions[1:] * sign[:, None]])
