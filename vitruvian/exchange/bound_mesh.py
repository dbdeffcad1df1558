"""Anyone's mesh bound to a recording, so that it moves as the recorded body does, and can be exported.

    bound = bind_mesh(*read_mesh("suit.obj"), vt.open("breathe.zarr"))
    export_recording(bound, "suit.glb")

The mesh must lie on the body as it is in one frame of the recording (the first). Two ways:

skinning   weights of the bones diffuse through the recorded skin (else through the mesh, which must then be closed),
           bones move the mesh as they move a skin, and what the recorded skin does beyond that (breath, flesh) is added
nearest    the four nearest of bones and vertices of moving surfaces, weighted alike (DiLorenzo 2009, 8.4): a bone
           carries the vertex rigidly, a vertex hands on its displacement
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.skin_weights import skin_weights, speaker
from vitruvian.errors import InputError, unknown_name
from vitruvian.exchange.beside import Beside
from vitruvian.exchange.gltf_parts import read_parts
from vitruvian.given_file import read_bytes
from vitruvian.skin import MOST, BoundSkin, few, turning_centres
from vitruvian.spatial import rotation_from_quaternion
from vitruvian.world import Frame, Stage, Surface, SurfaceFrame
from vitruvian.world.untrusted import FARTHEST

Array = np.ndarray
METHODS = ("skinning", "nearest")
FORMATS = (".obj", ".ply", ".stl", ".glb", ".gltf", ".off")
MOST_BYTES, MOST_VERTICES = 200_000_000, 500_000
NEIGHBOURS = 4
FAR = 0.15  # [m] from the body beyond which a mesh does not lie on it
COLOUR = (0.55, 0.62, 0.72)


def read_mesh(path: str | Path, scale: float = 1.0) -> tuple[Array, Array]:
    """Vertices [m] (n, 3) and triangles (m, 3) of a mesh file; scale: metres in a unit of the file."""
    import trimesh

    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"'{path.name}': a mesh is read from {', '.join(FORMATS)}")
    if not path.is_file():
        raise InputError(f"no mesh file '{path}'")
    try:
        data, kind = read_bytes(path, MOST_BYTES, "mesh"), path.suffix.lower()[1:]
        if kind in ("glb", "gltf"):
            read_parts(data, path.name, MOST_VERTICES)
        near: Any = Beside(path, MOST_BYTES)
        found = trimesh.load(BytesIO(data), file_type=kind, resolver=near, force="mesh", process=False)
    except InputError:
        raise
    except Exception as error:  # whatever a reader of strangers' files raises
        said = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"{path.name}: cannot be read: {said}") from None
    vertices = np.asarray(getattr(found, "vertices", np.zeros((0, 3))), float) * scale
    faces = np.asarray(getattr(found, "faces", np.zeros((0, 3))), np.int64)
    if not len(faces):
        raise InputError(f"{path.name}: has no triangles")
    if len(vertices) > MOST_VERTICES:
        raise InputError(f"{path.name}: has {len(vertices)} vertices; at most {MOST_VERTICES} are bound")
    if not np.isfinite(vertices).all():
        raise InputError(f"{path.name}: vertex {int(np.argmin(np.isfinite(vertices).all(axis=1))) + 1} is not finite")
    far = np.abs(vertices).max(axis=1)
    if far.max() > FARTHEST:
        raise InputError(
            f"{path.name}: vertex {int(far.argmax()) + 1} lies farther than {FARTHEST:g} m from the origin"
        )
    if not 0 <= faces.min() <= faces.max() < len(vertices):
        raise InputError(f"{path.name}: a triangle names a vertex that is not there")
    return vertices, faces


def bind_mesh(
    vertices: Array, faces: Array, recording: Any, *, method: str = "skinning", frame: int = 0, name: str = "mesh"
) -> BoundMesh:
    """Bind a mesh [m] to a recording in which it lies on the body in `frame`."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not -len(recording.time) <= frame < len(recording.time):
        raise InputError(f"the recording has {len(recording.time)} frames, no frame {frame}")
    first = recording.frame(frame)
    poses = as_transforms(first.poses)
    stage: Stage = recording.stage
    number = {n: i for i, n in enumerate(stage.bodies)}
    bones: dict[str, tuple[Array, Array]] = {}
    for mesh in stage.meshes:
        if mesh.layer == "bones" and mesh.body in number and len(mesh.faces):
            T = poses[number[mesh.body]]
            bones[mesh.body] = (np.asarray(mesh.vertices) @ T[:3, :3].T + T[:3, 3], np.asarray(mesh.faces))
    if not bones:
        raise InputError("the recording shows no bones that a mesh could be bound to")
    far = float(np.median(cKDTree(np.concatenate([v for v, _ in bones.values()])).query(vertices)[0]))
    if far > FAR:
        raise InputError(
            f"the mesh lies {far:.2g} m from the bones in frame {frame}: put it on the body, or give its --scale"
        )
    if method == "nearest":
        way: Any = _Nearest(vertices, stage, first, bones, number, poses)
    else:
        way = _Skinned(vertices, faces, stage, first, bones, number, poses)
    return BoundMesh(recording, name, faces, way)


@dataclass(frozen=True, eq=False)
class BoundMesh:
    """A recording of the mesh alone: all that exporters and renderers ask for."""

    recording: Any
    name: str
    faces: Array
    way: Any

    @cached_property
    def stage(self) -> Stage:
        surface = Surface(self.name, self.faces, layer="mesh", colour=COLOUR)
        own = self.recording.stage
        return Stage(surfaces=(surface,), cameras=own.cameras, ground=own.ground)

    @property
    def time(self) -> Array:
        return np.asarray(self.recording.time)

    @property
    def signals(self) -> dict[str, Array]:
        return {}

    def vertices(self, i: int) -> Array:
        """[m] in frame i, (n, 3)."""
        return np.asarray(self.way.at(self.recording.frame(i)))

    def frame(self, i: int) -> Frame:
        return Frame(poses=np.zeros((0, 7)), surfaces={self.name: SurfaceFrame(self.vertices(i))})


class _Skinned:
    def __init__(
        self, vertices: Array, faces: Array, stage: Stage, first: Frame, bones: dict[str, tuple[Array, Array]],
        number: dict[str, int], poses: Array,
    ):  # fmt: skip
        bones = {n: b for n, b in bones.items() if speaker(n) in number}
        own = next((s for s in stage.surfaces if s.name == "skin" and s.faces is not None), None)
        if own is None:
            over, triangles = vertices, faces
        else:
            over, triangles = np.asarray(first.surfaces[own.name].vertices, float), np.asarray(own.faces)
        body = SimpleNamespace(skeleton=SimpleNamespace(names=stage.bodies))
        names, weights = skin_weights(body, bones, over, triangles)  # type: ignore[arg-type]
        self.skin, self.name = None, ""
        if own is not None:
            self.skin, self.name = _bound(over, names, weights, number, poses), own.name
            self.far, self.near = cKDTree(over).query(vertices, k=NEIGHBOURS)
            close = 1.0 / (self.far + 1e-4)
            self.share = close / close.sum(axis=1, keepdims=True)
            weights = np.einsum("ij,ijk->ik", self.share, weights[self.near])
        self.mesh = _bound(vertices, names, weights, number, poses)

    def at(self, frame: Frame) -> Array:
        poses = as_transforms(frame.poses)
        out = self.mesh.place(poses).vertices
        if self.skin is not None:
            beyond = np.asarray(frame.surfaces[self.name].vertices) - self.skin.place(poses).vertices
            out = out + np.einsum("ij,ijk->ik", self.share, beyond[self.near])
        return np.asarray(out)


class _Nearest:
    def __init__(
        self, vertices: Array, stage: Stage, first: Frame, bones: dict[str, tuple[Array, Array]],
        number: dict[str, int], poses: Array,
    ):  # fmt: skip
        far, which = [], []
        for name, (points, _) in bones.items():
            far.append(cKDTree(points).query(vertices)[0])
            which.append(np.full(len(vertices), number[name]))
        self.surfaces = [s.name for s in stage.surfaces if s.faces is not None and s.name in first.surfaces]
        self.first = [np.asarray(first.surfaces[s].vertices, float) for s in self.surfaces]
        start = len(stage.bodies)
        for points in self.first:
            distance, near = cKDTree(points).query(vertices, k=NEIGHBOURS)
            far += list(distance.T)
            which += list(start + near.T)
            start += len(points)
        all_far, all_which = np.array(far).T, np.array(which).T
        chosen = np.argsort(all_far, axis=1, kind="stable")[:, :NEIGHBOURS]
        self.which = np.take_along_axis(all_which, chosen, axis=1)
        self.bodies, self.rest, self.inverse = len(stage.bodies), vertices, np.linalg.inv(poses)

    def at(self, frame: Frame) -> Array:
        poses = as_transforms(frame.poses)
        moves = poses @ self.inverse
        shifts = [np.asarray(frame.surfaces[s].vertices) - a for s, a in zip(self.surfaces, self.first)]
        shift = np.concatenate([np.zeros((self.bodies, 3)), *shifts])
        out = np.zeros_like(self.rest)
        for w in self.which.T:
            bone = w < self.bodies
            T = moves[np.where(bone, w, 0)]
            carried = np.einsum("nij,nj->ni", T[:, :3, :3], self.rest) + T[:, :3, 3]
            out += np.where(bone[:, None], carried, self.rest + shift[w]) / self.which.shape[1]
        return out


def _bound(vertices: Array, names: tuple[str, ...], weights: Array, number: dict[str, int], poses: Array) -> BoundSkin:
    weights = few(np.asarray(weights, float))
    order = np.argsort(-weights, axis=1, kind="stable")[:, :MOST]
    kept = np.take_along_axis(weights, order, axis=1)
    at = np.array([number[n] for n in names])
    x, none = np.ascontiguousarray(vertices, float), np.zeros((0, 3), np.int64)
    return BoundSkin(
        x, none, names, at, np.linalg.inv(poses[at]), np.ascontiguousarray(order),
        np.ascontiguousarray(kept / kept.sum(axis=1, keepdims=True)), turning_centres(x, none, weights),
    )  # fmt: skip


def as_transforms(poses: Array) -> Array:
    """Recorded poses (n, 7) as transforms (n, 4, 4)."""
    out = np.tile(np.eye(4), (len(poses), 1, 1))
    for T, p in zip(out, np.asarray(poses, float)):
        T[:3, :3], T[:3, 3] = rotation_from_quaternion(p[3:]), p[:3]
    return out
