"""How muscle paths run against the bones' surfaces: how deep inside, and how far off.

Each bone has a signed distance on a grid of 2 mm within 22 mm of its surface (`mesh.mesh_distance`), read by trilinear
interpolation. Paths are sampled every 3 mm. Near its ends a muscle grows into bone, so samples within 8 mm of them
do not count. The patella counts as a bone of its own, on its carrier.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.surfaces.build import shown_surfaces
from vitruvian.mesh import LevelSet, closed_mesh, mesh_distance, topology
from vitruvian.muscle import MuscleModel, carrier_poses, path_curves
from vitruvian.muscle.wrapping import ARC
from vitruvian.skeleton import bone_poses

Array = np.ndarray
CELL, BAND = 0.002, 0.022  # [m]
STEP, FREE = 0.003, 0.008  # [m] between samples; at each end


@dataclass(frozen=True)
class Pierce:
    """A muscle inside a bone."""

    muscle: str
    bone: str
    depth: float  # [m]
    length: float  # [m] of the path inside
    at: Array  # deepest point in the bone's frame [m], shape (3,)
    segment: int  # of the path


class Clearance:
    """The bones of a body as distance fields; `side`: "l" for the left half and the midline, "" for all."""

    def __init__(self, body: Body, side: str = "l"):
        self.body, self.side = body, side
        self.fields: dict[str, LevelSet] = {}
        other = {"l": "_r", "r": "_l"}.get(side, "-")
        for name, (vertices, faces) in shown_surfaces(body, scapulas=True).items():
            if name.endswith(other) or name[:-2].rpartition("_")[0]:  # other side; fingers
                continue
            origin = vertices.min(axis=0) - BAND - CELL
            size = np.ceil((np.ptp(vertices, axis=0) + 2 * BAND) / CELL).astype(int) + 3
            shape = (int(size[0]), int(size[1]), int(size[2]))
            vertices, faces = closed_mesh(vertices, faces, name=name, quiet=True)
            mesh = topology(faces, len(vertices), name)
            distance, _, box = mesh_distance(vertices, mesh, origin, CELL, shape, BAND)
            self.fields[name] = LevelSet(np.ascontiguousarray(distance), origin + CELL * box[:, 0], CELL, BAND)

    def of(self, body: Body) -> Clearance:
        """The same bones with the muscles of another body of the same skeleton."""
        new = object.__new__(Clearance)
        new.body, new.side, new.fields = body, self.side, self.fields
        return new

    def frames(self, q: Array) -> dict[str, Array]:
        """World pose of each surface, (4, 4)."""
        poses = bone_poses(self.body.skeleton, q)
        carried = carrier_poses(self.body.muscles, poses)
        out = {n: poses[i] for i, n in enumerate(self.body.skeleton.names)}
        return out | {c.name: carried[k] for k, c in enumerate(self.body.muscles.frames)}

    def pierces(self, q: Array, least: float = 0.003, long: float = 0.006) -> list[Pierce]:
        """Muscles deeper than `least` [m] inside a bone, along at least `long` [m] of their path."""
        m = self.body.muscles
        points, muscle, segment = self._samples(q)
        out = []
        for name, T in self.frames(q).items():
            if name not in self.fields:
                continue
            local = (points - T[:3, 3]) @ T[:3, :3]
            depth = -self.fields[name](local)
            inside = np.flatnonzero(depth > 0.0)
            for k in np.unique(muscle[inside]):
                mine = inside[muscle[inside] == k]
                worst = mine[np.argmax(depth[mine])]
                if depth[worst] > least and STEP * len(mine) >= long:
                    out.append(
                        Pierce(
                            m.names[k], name, float(depth[worst]), STEP * len(mine), local[worst], int(segment[worst])
                        )
                    )
        return out

    def ends(self, q: Array) -> Iterable[tuple[str, str, str, float]]:
        """Muscle, "origin" or "insertion", bone and signed distance [m] of each end from its own bone's surface."""
        m, frames = self.body.muscles, self.frames(q)
        curve = path_curves(m, bone_poses(self.body.skeleton, q))
        for k, name in enumerate(m.names):
            if self.side and not name.endswith("_" + self.side):
                continue
            for p, c, word in (
                (m.offsets[k], m.curve_offsets[k], "origin"),
                (m.offsets[k + 1] - 1, m.curve_offsets[k + 1] - 1, "insertion"),
            ):
                bone = m.frames[m.riding[p]].name if m.riding[p] >= 0 else self.body.skeleton.names[m.bone[p]]
                near = []
                for part in self._parts(bone):
                    T = frames[part]
                    local = (curve[c] - T[:3, 3]) @ T[:3, :3]
                    near.append(float(self.fields[part](local[None])[0]))
                if near:
                    yield name, word, bone, min(near, key=abs)

    def _parts(self, bone: str) -> list[str]:
        both = {"Cla": ("Cla", "Sca"), "Sca": ("Cla", "Sca")}.get(bone[:-2], (bone[:-2],))
        named = [f"{b}{bone[-2:]}" for b in both] if bone[-2:] in ("_l", "_r") else [bone]
        return [b for b in named if b in self.fields]

    def _samples(self, q: Array) -> tuple[Array, Array, Array]:
        m = self.body.muscles
        curve, offsets = path_curves(m, bone_poses(self.body.skeleton, q)), m.curve_offsets
        segment_of = np.concatenate([_segments(m, k) for k in range(m.n_muscles)])
        points, muscle, segment = [], [], []
        for k, name in enumerate(m.names):
            if self.side and not name.endswith("_" + self.side):
                continue
            line = curve[offsets[k] : offsets[k + 1]]
            along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
            at = np.arange(0.5 * STEP, along[-1], STEP)
            at = at[(at > FREE) & (at < along[-1] - FREE)]
            piece = np.clip(np.searchsorted(along, at) - 1, 0, len(line) - 2)
            points.append(np.stack([np.interp(at, along, line[:, c]) for c in range(3)], axis=1))
            muscle.append(np.full(len(at), k))
            segment.append(segment_of[offsets[k] : offsets[k + 1]][piece])
        return np.concatenate(points), np.concatenate(muscle), np.concatenate(segment)


def _segments(m: MuscleModel, k: int) -> Array:
    """Segment of the path that follows each point of the drawn curve of muscle k."""
    out = []
    bent = {c.segment for c in m.cylinders[k]}
    for i in range(m.offsets[k + 1] - m.offsets[k]):
        out += [i] * (1 + ARC * (i in bent))
    return np.array(out)
