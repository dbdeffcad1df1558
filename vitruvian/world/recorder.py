"""Writing a recording: what a `Stage` declares, frame by frame, as a Zarr 3 directory store.

    time                        [s], shape (frames,): written last, so its length says how many frames are whole
    poses                       (frames, bodies, 7): position [m] and unit quaternion w, x, y, z
    signals/NAME                (frames,) or (frames, components); attributes unit, title, components
    meshes/                     rigid meshes end to end: vertices, faces, vertex_offsets, face_offsets
    surfaces/NAME/              vertices (frames, n, 3), faces, values (frames, n); a surface whose triangles change has
                                all frames end to end, frame i being rows vertex_offsets[i] to vertex_offsets[i + 1]
    lines/NAME/                 points (frames, n, 3), values and force (frames, lines), offsets, radius
    points/NAME/                positions, all frames end to end, and offsets
    checkpoint/                 what a resumed run starts from, see `world.checkpoint`

Poses and signals are float64, vertices and values float32. Scene, parameters, quality, seed, version,
frame_rate [1/s], substeps, bodies, joints, layers, cameras and ground are attributes of the root.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from vitruvian.errors import InputError, RunFailed
from vitruvian.world.series import Series, write_array, write_group
from vitruvian.world.stage import Frame, Lines, LinesFrame, Stage, Surface, SurfaceFrame
from vitruvian.world.stage_check import check_stage
from vitruvian.world.untrusted import check_places, check_poses

FORMAT = "vitruvian recording"
FORMAT_VERSION = 1


def key(name: str) -> str:
    """A name as one component of a path: odd characters become %XX, so that it stays inside its folder."""
    escaped = quote(name, safe=" ()+,=@")
    return escaped.replace(".", "%2E") if name.startswith(".") or name == "zarr.json" else escaped


class Recorder:
    """Appends frames to the recording at `path`; use `create` or `reopen`."""

    def __init__(self, path: Path, stage: Stage) -> None:
        self.path = path
        self.stage = stage
        self._series: dict[str, Series] = {}

    @classmethod
    def create(cls, path: Path, stage: Stage, attributes: Mapping[str, Any]) -> Recorder:
        """Begin a recording in the new or empty folder `path`."""
        check_stage(stage)
        path.mkdir(parents=True, exist_ok=True)
        recorder = cls(path, stage)
        _write_still(path, stage, attributes)
        return recorder

    @classmethod
    def reopen(cls, path: Path, stage: Stage, frames: int) -> Recorder:
        """Continue the recording at `path` after its first `frames` frames; later ones are forgotten."""
        check_stage(stage)
        refuse_links(path)
        recorder = cls(path, stage)
        lengths = {"time": frames}
        for at in recorder._ragged():
            lengths[at] = frames + 1  # offsets
        for folder, rows in _ragged_rows(path, recorder._ragged(), frames).items():
            lengths[folder] = rows
        # The marker shrinks first, so that a reader never sees more frames than are there.
        time = Series.reopen(path / "time", frames)
        time.flush()
        recorder._open(
            lambda at, shape, dtype, about: time if at == "time" else Series.reopen(path / at, lengths.get(at, frames))
        )
        recorder.flush()
        for series in recorder._series.values():
            series.drop_later_chunks()
        return recorder

    def moved(self, path: Path) -> None:
        """Go on at `path`, to which the recording's folder was renamed."""
        for at, series in self._series.items():
            series.path = path / at
        self.path = path

    @property
    def frames(self) -> int:
        """Frames appended so far."""
        return self._series["time"].length if self._series else 0

    def append(self, time: float, frame: Frame) -> None:
        """Add the frame at `time` [s]; `RunFailed` if something in it is not where a recording can hold it."""
        series, stage = self._series, self.stage
        try:
            _check_frame(stage, frame)
        except ValueError as error:
            raise RunFailed(f"the frame at t = {time:.6g} s cannot be recorded: {error}") from None
        if not series:
            self._open(lambda at, shape, dtype, about: Series(self.path / at, shape, dtype, **about), frame)
        if stage.bodies:
            series["poses"].append(_shaped("poses", frame.poses, (len(stage.bodies), 7)))
        for signal in stage.signals:
            shape = (len(signal.components),) if signal.components else ()
            series[f"signals/{key(signal.name)}"].append(
                _shaped(f"signal {signal.name}", _given(frame.signals, "signal", signal.name), shape)
            )
        for surface in stage.surfaces:
            self._append_surface(surface, _given(frame.surfaces, "surface", surface.name))
        for lines in stage.lines:
            self._append_lines(lines, _given(frame.lines, "lines", lines.name))
        for points in stage.points:
            at = f"points/{key(points.name)}"
            positions = np.asarray(_given(frame.points, "points", points.name))
            series[f"{at}/positions"].extend(_shaped(f"points {points.name}", positions, (len(positions), 3)))
            series[f"{at}/offsets"].append(series[f"{at}/positions"].length)
        series["time"].append(time)

    def flush(self) -> None:
        """Put all frames on disk; from then on they are readable whatever happens."""
        for at, series in self._series.items():
            if at != "time":
                series.flush()
        if self._series:
            self._series["time"].flush()

    def _append_surface(self, surface: Surface, frame: SurfaceFrame) -> None:
        at, what = f"surfaces/{key(surface.name)}", f"surface {surface.name}"
        vertices = self._series[f"{at}/vertices"]
        if surface.faces is not None:
            vertices.append(_shaped(what, frame.vertices, vertices.row_shape))
            count = vertices.row_shape[0]
        else:
            if frame.faces is None:
                raise InputError(f"{what} declares no fixed faces, so each frame must bring its own")
            count, faces = len(frame.vertices), self._series[f"{at}/faces"]
            vertices.extend(_shaped(what, frame.vertices, (count, 3)))
            faces.extend(_shaped(f"{what}, faces", frame.faces, (len(frame.faces), 3)))
            self._series[f"{at}/vertex_offsets"].append(vertices.length)
            self._series[f"{at}/face_offsets"].append(faces.length)
        if surface.value:
            values = _shaped(f"{what}, {surface.value}", frame.values, (count,))
            series = self._series[f"{at}/values"]
            series.append(values) if surface.faces is not None else series.extend(values)

    def _append_lines(self, lines: Lines, frame: LinesFrame) -> None:
        at, what = f"lines/{key(lines.name)}", f"lines {lines.name}"
        points = self._series[f"{at}/points"]
        points.append(_shaped(what, frame.points, points.row_shape))
        if lines.value:
            values = self._series[f"{at}/values"]
            values.append(_shaped(f"{what}, {lines.value}", frame.values, values.row_shape))
        if lines.pulls:
            force = self._series[f"{at}/force"]
            force.append(_shaped(f"{what}, force", frame.force, force.row_shape))

    def _ragged(self) -> dict[str, list[str]]:
        """Offsets -> the arrays that they divide into frames."""
        ragged = {}
        for surface in self.stage.surfaces:
            if surface.faces is None:
                at = f"surfaces/{key(surface.name)}"
                ragged[f"{at}/vertex_offsets"] = [f"{at}/vertices"] + [f"{at}/values"] * bool(surface.value)
                ragged[f"{at}/face_offsets"] = [f"{at}/faces"]
        for points in self.stage.points:
            at = f"points/{key(points.name)}"
            ragged[f"{at}/offsets"] = [f"{at}/positions"]
        return ragged

    def _open(
        self, make: Callable[[str, tuple[int, ...], str, dict[str, Any]], Series], first: Frame | None = None
    ) -> None:
        """Make every series; the `first` frame says how many vertices a surface has."""

        def add(at: str, shape: tuple[int, ...], dtype: str, *dimensions: str, **attributes: Any) -> Series:
            self._series[at] = make(at, shape, dtype, {"attributes": attributes, "dimensions": dimensions})
            return self._series[at]

        stage = self.stage
        add("time", (), "f8", "frame", unit="s")
        if stage.bodies:
            add("poses", (len(stage.bodies), 7), "f8", "frame", "body", "x y z qw qx qy qz", unit="m, unit quaternion")
        for signal in stage.signals:
            about = {"unit": signal.unit, "title": signal.title or signal.name, "components": list(signal.components)}
            about["name"] = signal.name
            shape = (len(signal.components),) if signal.components else ()
            add(f"signals/{key(signal.name)}", shape, "f8", *("frame", "component")[: 1 + len(shape)], **about)
        for surface in stage.surfaces:
            at = f"surfaces/{key(surface.name)}"
            if surface.faces is not None:
                count = 0 if first is None else len(_given(first.surfaces, "surface", surface.name).vertices)
                if first is not None and count <= surface.faces.max():
                    raise InputError(f"surface {surface.name}: a face refers to a vertex that is not there")
                add(f"{at}/vertices", (count, 3), "f4", "frame", "vertex", "xyz", unit="m")
                if surface.value:
                    add(f"{at}/values", (count,), "f4", "frame", "vertex", unit=surface.unit)
            else:
                add(f"{at}/vertices", (3,), "f4", "vertex", "xyz", unit="m")
                add(f"{at}/faces", (3,), "i4", "face", "corner")
                if surface.value:
                    add(f"{at}/values", (), "f4", "vertex", unit=surface.unit)
        for lines in stage.lines:
            at = f"lines/{key(lines.name)}"
            add(f"{at}/points", (int(lines.offsets[-1]), 3), "f4", "frame", "point", "xyz", unit="m")
            if lines.value:
                add(f"{at}/values", (len(lines.offsets) - 1,), "f4", "frame", "line", unit=lines.unit)
            if lines.pulls:
                add(f"{at}/force", (len(lines.offsets) - 1,), "f4", "frame", "line", unit="N")
        for points in stage.points:
            add(f"points/{key(points.name)}/positions", (3,), "f4", "point", "xyz", unit="m")
        for at in self._ragged():
            offsets = add(at, (), "i8", "frame boundary")
            if offsets.length == 0:
                offsets.append(0)


def _write_still(path: Path, stage: Stage, attributes: Mapping[str, Any]) -> None:
    for group in ("signals", "surfaces", "lines", "points"):
        write_group(path / group, {})
    meshes = stage.meshes
    still = ("name", "body", "layer", "colour", "opacity")
    write_group(path / "meshes", {"meshes": [{k: getattr(mesh, k) for k in still} for mesh in meshes]})
    for part, dtype in (("vertices", "f4"), ("faces", "i4")):
        arrays = [np.asarray(getattr(mesh, part), dtype).reshape(-1, 3) for mesh in meshes]
        offsets = np.cumsum([0] + [len(array) for array in arrays])
        write_array(path / "meshes" / part, np.concatenate([np.zeros((0, 3), dtype), *arrays]))
        write_array(path / "meshes" / {"vertices": "vertex_offsets", "faces": "face_offsets"}[part], offsets)
    for surface in stage.surfaces:
        about = asdict(surface)
        faces = about.pop("faces")
        at = path / "surfaces" / key(surface.name)
        write_group(at, about | {"topology": "changing" if faces is None else "fixed"})
        if faces is not None:
            write_array(at / "faces", np.asarray(faces, "i4"), dimensions=("face", "corner"))
    for lines in stage.lines:
        about = asdict(lines)
        at = path / "lines" / key(lines.name)
        offsets, radius = about.pop("offsets"), about.pop("radius")
        write_group(at, about)
        write_array(at / "offsets", np.asarray(offsets, "i8"), dimensions=("line boundary",))
        write_array(at / "radius", np.asarray(radius, "f4"), {"unit": "m"}, ("line",))
    for points in stage.points:
        write_group(path / "points" / key(points.name), asdict(points))
    seen: list[Any] = [*meshes, *stage.surfaces, *stage.lines, *stage.points]
    about = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **attributes,
        "units": "SI",
        "bodies": list(stage.bodies),
        "joints": [asdict(joint) for joint in stage.joints],
        "signals": [signal.name for signal in stage.signals],
        "surfaces": [surface.name for surface in stage.surfaces],
        "lines": [lines.name for lines in stage.lines],
        "points": [points.name for points in stage.points],
        "layers": list(dict.fromkeys(item.layer for item in seen)),
        "cameras": [asdict(camera) for camera in stage.cameras],
        "ground": stage.ground,
    }
    write_group(path, about)


def _check_frame(stage: Stage, frame: Frame) -> None:
    """ValueError unless everything is in the bounds within which recordings are read."""
    poses = np.asarray(frame.poses)
    if poses.shape == (len(stage.bodies), 7):
        check_poses(poses[None])
    for name, surface in frame.surfaces.items():
        check_places(np.asarray(surface.vertices), f": surface {name}")
    for name, lines in frame.lines.items():
        check_places(np.asarray(lines.points), f": lines {name}")
    for name, points in frame.points.items():
        check_places(np.asarray(points), f": points {name}")


def refuse_links(path: Path) -> None:
    """ValueError if anything in the recording is a link: writing would go where it points."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            if os.path.islink(os.path.join(folder, name)):
                raise ValueError(f"{name} is a link")


def _ragged_rows(path: Path, ragged: Mapping[str, list[str]], frames: int) -> dict[str, int]:
    rows = {}
    for at, arrays in ragged.items():
        offsets = Series.reopen(path / at, frames + 1)
        rows.update(dict.fromkeys(arrays, int(offsets.row(frames))))
    return rows


def _given(parts: Mapping[str, Any], kind: str, name: str) -> Any:
    try:
        return parts[name]
    except KeyError:
        raise InputError(f"the stage declares {kind} {name}, but the frame does not bring it") from None


def _shaped(what: str, array: Any, shape: tuple[int, ...]) -> np.ndarray:
    if np.shape(array) != shape or array is None:
        got = "nothing" if array is None else f"shape {np.shape(array)}"
        raise InputError(f"{what}: the frame brings {got} where the stage declares {shape}")
    return array
