"""A recording as a folder of plain frames that a program without this package can read: JSON and NumPy arrays.

    scene.json        what there is: layers, colours, cameras by frame, pool, sun
    still.npz         rigid meshes in their bodies' frames, triangles that do not change
    frame-000012.npz  poses, moving surfaces, tubes of muscles, drops

`in_blender/` reads it, within Blender's own Python; it is also what is carried to another machine to be rendered there.
Places are kept to 0.05 mm (tubes 0.2 mm), or 1/65535 of their box, colours to a byte. The water of a pool is carried on
to its walls, and cut open towards a low camera, as in the pictures of our own renderer (`view.sea`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.view.camera import FIELD_OF_VIEW, Place, follow_shift, pinhole, view_of
from vitruvian.view.drawing import LinesPart, Model, SurfacePart, drops_apart
from vitruvian.view.raster.shadow import light_axes
from vitruvian.view.render import swept
from vitruvian.view.sea import DEEP, FAR, POOL_DEPTH, open_water, outside, rim_of
from vitruvian.world import Frame, Stage

Array = np.ndarray
VERSION = 1
STEPS = 65535  # in which a box is told, at most
FINEST = 5e-5  # [m] that a place is told to
TUBE_FINEST = 2e-4  # the same of muscles and other tubes, which are many
POOL_MARGIN = (5.0, 6.0)  # [m] from the window of water to the pool's walls, across and along


class FolderWriter:
    """Writes frames of a recording, one after the other; `close` writes scene.json."""

    def __init__(
        self,
        recording: Any,
        folder: str | Path,
        *,
        size: tuple[int, int] = (1280, 720),
        layers: Iterable[str] | None = None,
        camera: str | None = None,
        place: Place | None = None,
        all_cameras: bool = False,
    ) -> None:
        self.recording, self.folder, self.size = recording, Path(folder), size
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model = Model(recording.stage, layers)
        stage: Stage = self.model.stage
        self.bounds = swept(recording, self.model)
        self.place = place or Place()
        self.first = recording.frame(0)
        self.views = {camera or "picture": view_of(stage, camera, self.bounds, size)}
        if all_cameras:
            self.views = {c.name: view_of(stage, c.name, self.bounds, size) for c in stage.cameras}
            self.views["auto"] = view_of(stage, "auto", self.bounds, size)
            if camera is not None:  # the asked one first: it is the one that looks
                self.views = {camera: view_of(stage, camera, self.bounds, size), **self.views}
        self.cameras: dict[str, list[list[float]]] = {name: [] for name in self.views}
        self.water = open_water(stage) if "water" in self.model.layers else None
        self.surfaces = [SurfacePart(s) for s in stage.surfaces if s.layer in self.model.layers and s.opacity > 0.0]
        self.lines = [LinesPart(l) for l in stage.lines if l.layer in self.model.layers and l.opacity > 0.0]
        self.points = [p for p in stage.points if p.layer in self.model.layers]
        self.meshes = [m for m in stage.meshes if m.layer in self.model.layers and m.opacity > 0.0]
        self.frames: list[dict[str, Any]] = []
        self.pool: dict[str, Any] | None = None
        self._write_still()

    def add(self, i: int) -> str:
        """Write recorded frame i; returns the file's name."""
        frame: Frame = self.recording.frame(i)
        arrays: dict[str, Array] = {"poses": np.asarray(frame.poses, dtype=np.float32).reshape(-1, 7)}
        eye, target = self._look(frame, i)
        for s, part in enumerate(self.surfaces):
            seen = part.at(frame)
            if seen is None or not np.isfinite(seen.vertices).all():
                continue
            faces = seen.faces
            arrays |= _places(f"surface {s}", seen.vertices)
            if self.water is not None and part.surface.name == self.water.name:
                rest, more = self._pool_around(seen.vertices, faces, eye, target)
                arrays[f"surface {s} rest"] = rest.astype(np.float32)
                faces = np.concatenate([faces, more + np.int32(len(seen.vertices))])
            if part.surface.faces is None:
                arrays[f"surface {s} faces"] = _triangles(faces)
            now = frame.surfaces[part.surface.name]
            if part.colours is not None and now.values is not None:
                arrays[f"surface {s} colours"] = _bytes(part.colours(now.values))
        for k, tubes in enumerate(self.lines):
            now_lines = frame.lines.get(tubes.lines.name)
            if now_lines is None or not np.isfinite(now_lines.points).all() or not len(tubes.lines.radius):
                continue
            arrays |= _places(f"lines {k}", tubes.tubes.at(now_lines.points)[0], TUBE_FINEST)
            if tubes.colours is not None and now_lines.values is not None:
                arrays[f"lines {k} colours"] = _bytes(tubes.colours(now_lines.values))
        for k, points in enumerate(self.points):
            arrays[f"points {k}"] = drops_apart(points, frame).astype(np.float32)
        name = f"frame-{i:06d}.npz"
        np.savez_compressed(self.folder / name, **arrays)  # type: ignore[arg-type]
        self.frames.append({"file": name, "index": int(i), "time": float(self.recording.time[i])})
        return name

    def seen_from(self, k: int) -> list[float]:
        """The camera's place at the k-th frame that was added."""
        return next(iter(self.cameras.values()))[k]

    def close(self, rate: float = 30.0) -> Path:
        """Write scene.json; `rate`: frames per second."""
        stage: Stage = self.recording.stage
        eye, target, _ = next(iter(self.views.values()))
        about = {
            "version": VERSION,
            "title": str(getattr(self.recording, "attributes", {}).get("scene", "")),
            "rate": rate,
            "size": list(self.size),
            "field_of_view": float(FIELD_OF_VIEW),
            "reach": self.bounds.reach,
            "middle": self.bounds.centre.tolist(),
            "sun": light_axes(pinhole(eye, target, self.size).axes[2])[2].tolist(),
            "ground": None if self.water is not None else stage.ground,
            "pool": self.pool,
            "bodies": list(stage.bodies),
            "meshes": [_told(m) | {"body": _index(stage, m.body)} for m in self.meshes],
            "surfaces": [
                _told(p.surface) | {"fixed": p.surface.faces is not None, "painted": p.colours is not None}
                for p in self.surfaces
            ],
            "lines": [
                _told(p.lines) | {"per_line": p.tubes.per_line, "painted": p.colours is not None} for p in self.lines
            ],
            "points": [_told(p) | {"radius": p.radius} for p in self.points],
            "cameras": [{"name": name, "places": places} for name, places in self.cameras.items()],
            "frames": self.frames,
        }
        path = self.folder / "scene.json"
        path.write_text(json.dumps(about, indent=1), encoding="utf-8")
        return path

    def _write_still(self) -> None:
        arrays: dict[str, Array] = {}
        for m, mesh in enumerate(self.meshes):
            arrays |= _places(f"mesh {m}", mesh.vertices)
            arrays[f"mesh {m} faces"] = _triangles(mesh.faces)
        for s, part in enumerate(self.surfaces):
            if part.surface.faces is not None:
                arrays[f"surface {s} faces"] = _triangles(part.surface.faces)
        for k, tubes in enumerate(self.lines):
            arrays[f"lines {k} faces"] = _triangles(tubes.tubes.faces)
        np.savez_compressed(self.folder / "still.npz", **arrays)  # type: ignore[arg-type]

    def _look(self, frame: Frame, i: int) -> tuple[Array, Array]:
        """Keep each camera's place at frame i; eye and target [m] of the first."""
        time = self.recording.time
        part = float((time[i] - time[0]) / (time[-1] - time[0])) if len(time) > 1 else 0.0
        first = None
        for name, (eye, target, follow) in self.views.items():
            if first is None:
                eye, target = self.place.turned(*self.place.instead_of(eye, target), part)
            shift = follow_shift(self.recording.stage, follow, self.first, frame)
            eye, target = eye + shift, target + shift
            first = first or (eye, target)
            right, down, forward = pinhole(eye, target, self.size).axes
            place = np.eye(4)
            place[:3] = np.stack([right, -down, -forward, eye], axis=1)
            self.cameras[name].append(place.ravel().tolist())
        assert first is not None
        return first

    def _pool_around(self, vertices: Array, faces: Array, eye: Array, target: Array) -> tuple[Array, Array]:
        """Water beyond the window: vertices [m] and faces; the first call also lays out the pool."""
        rim = rim_of(vertices, np.asarray(faces))
        if rim is None:
            return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32)
        if self.pool is None:
            low, high = np.minimum(rim.low, self.bounds.low[:2]), np.maximum(rim.high, self.bounds.high[:2])
            self.pool = {
                "low": np.floor(low - POOL_MARGIN).tolist(),
                "high": np.ceil(high + POOL_MARGIN).tolist(),
                "level": rim.level,
                "depth": POOL_DEPTH,
                "lane": round(0.5 * float(rim.low[0] + rim.high[0]), 2),
            }
        vertices, faces = outside(rim, eye, target)
        # A bottom far below the pool's: a path tracer takes a camera to be in the water only within the water's box.
        low, high = np.append(rim.low - FAR, rim.level - DEEP), np.append(rim.high + FAR, rim.level - DEEP)
        bottom = np.array([low, [low[0], high[1], low[2]], high, [high[0], low[1], low[2]]])
        more = len(vertices) + np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
        return np.concatenate([vertices, bottom]), np.concatenate([faces, more])


def write_folder(
    recording: Any,
    folder: str | Path,
    frames: Iterable[int],
    *,
    rate: float = 30.0,
    progress: Callable[[int, int], None] | None = None,
    **how: Any,
) -> Path:
    """Write these recorded frames; `how`: size, layers, camera, place, all_cameras."""
    writer, chosen = FolderWriter(recording, folder, **how), list(frames)
    for done, i in enumerate(chosen):
        writer.add(int(i))
        if progress is not None:
            progress(done + 1, len(chosen))
    writer.close(rate)
    return Path(folder)


def _places(name: str, vertices: Array, finest: float = FINEST) -> dict[str, Array]:
    at = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    low = at.min(axis=0, initial=0.0) if len(at) == 0 else at.min(axis=0)
    step = np.maximum((at.max(axis=0) - low) / STEPS, finest) if len(at) else np.full(3, finest)
    whole = np.round((at - low) / step).astype(np.uint16).T
    told = np.diff(whole, axis=1, prepend=np.zeros((3, 1), dtype=np.uint16))
    planes = np.stack([told & 255, told >> 8]).astype(np.uint8)
    return {name: planes, f"{name} box": np.stack([low, step])}


def _triangles(faces: Array) -> Array:
    return np.diff(np.asarray(faces, dtype=np.int32).ravel(), prepend=np.int32(0))


def _bytes(colours: Array) -> Array:
    return np.round(255.0 * np.clip(colours, 0.0, 1.0)).astype(np.uint8)


def _told(part: Any) -> dict[str, Any]:
    opacity = float(getattr(part, "opacity", 1.0))
    return {"name": part.name, "layer": part.layer, "colour": list(part.colour), "opacity": opacity}


def _index(stage: Stage, body: str) -> int:
    return stage.bodies.index(body) if body in stage.bodies else -1
