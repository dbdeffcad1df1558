"""Checks on a stage when a recording begins, so that viewers and exporters may trust it. Errors name the part."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vitruvian.errors import InputError
from vitruvian.world.stage import Stage


def check_stage(stage: Stage) -> None:
    """Raise `InputError` unless every part of the stage fits the others."""
    _unique("body", stage.bodies)
    for kind in ("meshes", "surfaces", "lines", "points", "signals", "cameras"):
        _unique(kind, (part.name for part in getattr(stage, kind)))
    bodies = set(stage.bodies)
    _unique("joint of", (joint.body for joint in stage.joints))
    for joint in stage.joints:
        lost = {joint.body, joint.parent} - bodies - {""}
        if lost or not joint.body:
            raise InputError(f"joint of {joint.body or 'nothing'}: {''.join(sorted(lost)) or 'it'} is not a body")
        if not abs(np.linalg.norm(joint.rest) - 1.0) < 1e-6:
            raise InputError(f"joint of {joint.body}: its rest is no unit quaternion")
    for mesh in stage.meshes:
        if mesh.body and mesh.body not in bodies:
            raise InputError(f"mesh {mesh.name} rides on {mesh.body}, which is not a body")
        vertices = np.asarray(mesh.vertices)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise InputError(f"mesh {mesh.name}: vertices must be finite, shape (n, 3), not {vertices.shape}")
        _check_faces(f"mesh {mesh.name}", mesh.faces, len(vertices))
    for surface in stage.surfaces:
        if surface.faces is not None:
            if np.size(surface.faces) == 0:
                raise InputError(f"surface {surface.name} has no faces")
            _check_faces(f"surface {surface.name}", surface.faces, None)
    for lines in stage.lines:
        offsets = np.asarray(lines.offsets)
        if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or (np.diff(offsets) < 2).any():
            raise InputError(f"lines {lines.name}: offsets must start at 0 and give each line at least two points")
        if np.shape(lines.radius) != (len(offsets) - 1,):
            raise InputError(f"lines {lines.name}: {len(offsets) - 1} lines, radius of shape {np.shape(lines.radius)}")
        if lines.names and len(lines.names) != len(offsets) - 1:
            raise InputError(f"lines {lines.name}: {len(offsets) - 1} lines, {len(lines.names)} names")
    for camera in stage.cameras:
        if camera.follow and camera.follow not in bodies:
            raise InputError(f"camera {camera.name} follows {camera.follow}, which is not a body")


def _check_faces(what: str, faces: np.ndarray, count: int | None) -> None:
    faces = np.asarray(faces)
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise InputError(f"{what}: faces must be whole numbers, shape (m, 3), not {faces.dtype} {faces.shape}")
    if faces.size and (faces.min() < 0 or (count is not None and faces.max() >= count)):
        raise InputError(f"{what}: a face refers to a vertex that is not there")


def _unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name or len(name.encode()) > 80:  # it becomes a file name, with up to three characters for each byte
            raise InputError(f"{kind}: a name must have 1 to 80 letters, not {name!r}")
        if name in seen:
            raise InputError(f"{kind}: the name {name} is used twice")
        seen.add(name)
