"""Reading a recording: a Zarr 3 directory store laid out as `world.recorder` says.

A recording is untrusted input: everything read from it is checked, sizes are bounded, names never become paths
unescaped, and whatever is wrong ends in an `InputError` that names the recording and the array. One that is still being
written, or whose run was killed, is read up to its last flushed frame.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vitruvian.errors import InputError, MissingExtra, unknown_name
from vitruvian.world.recorder import FORMAT, FORMAT_VERSION, key
from vitruvian.world.stage import (
    Camera,
    Frame,
    Joint,
    Lines,
    LinesFrame,
    Mesh,
    Points,
    Signal,
    Stage,
    Surface,
    SurfaceFrame,
)
from vitruvian.world.stage_check import check_stage
from vitruvian.world.store import Store
from vitruvian.world.untrusted import (
    FARTHEST,
    LONGEST,
    MOST_LETTERS,
    check,
    check_places,
    check_poses,
    is_number,
    made,
)

if TYPE_CHECKING:
    import pandas

MOST_PARTS = 20_000  # bodies, meshes, signals, settings
MOST_FRAMES = 20_000_000
MOST_TRIANGLES = 4_000_000  # seen at one instant
KEPT_BYTES = 256 << 20  # of signals
SHOWN = 12  # signals in the printed form


class NoSignal(InputError, KeyError):
    """A recording does not hold a signal of this name."""

    def __init__(self, path: Path, name: str, known: Iterable[str]) -> None:
        super().__init__(
            f"{path}: {unknown_name('signal', name, known)} (a recording holds what was recorded when it was made; "
            "run the scene again for signals that came later)"
        )

    __str__ = Exception.__str__  # a KeyError would put it in quotes


class Recording:
    """What a run left behind; use `Recording.open(path)`.

    `recording["speed"]` is a signal over time, `recording.time` its instants, `recording.to_pandas()` all of them.
    """

    def __init__(self, path: Path, attributes: dict[str, Any]) -> None:
        self.path = path
        self.attributes = attributes
        self._store = Store(path)

    @classmethod
    def open(cls, path: str | Path) -> Recording:
        """Open the recording at `path`, with its stage and the length that it has now."""
        path = Path(path)
        if not path.exists():
            raise InputError(f"{path} does not exist")
        if not (path / "zarr.json").is_file():
            raise InputError(f"{path} is not a recording (it has no zarr.json)")
        recording = cls(path, {})
        about = recording._store.metadata("")
        recording.attributes = about
        if about.get("format") != FORMAT:
            raise InputError(f"{path} is a Zarr store, but not a recording of vitruvian")
        if about.get("format_version") != FORMAT_VERSION:
            raise InputError(
                f"{path} has recording format {about.get('format_version')!r}; this version reads {FORMAT_VERSION}"
            )
        with recording._store.trouble("attributes"):
            for name in ("bodies", "signals", "surfaces", "lines", "points", "layers"):
                check(isinstance(about[name], list) and all(isinstance(item, str) for item in about[name]), name)
                check(len(about[name]) <= MOST_PARTS, f"too many {name}")
                check(all(len(item) <= MOST_LETTERS for item in about[name]), f"long names of {name}")
            joints = about.get("joints", [])
            check(isinstance(joints, list) and len(joints) <= MOST_PARTS, "joints")
            _check_attributes(about)
        _ = recording.time, recording.stage
        return recording

    @property
    def frame_rate(self) -> float:
        """Frames per second of recorded time [1/s]."""
        return float(self.attributes["frame_rate"])

    @property
    def layers(self) -> list[str]:
        """Layers that something belongs to."""
        return list(self.attributes["layers"])

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.stage.bodies

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, name: str) -> np.ndarray:
        """A signal over time, shape (frames,) or (frames, components); `force.x` is one component, (frames,)."""
        if name in self.signals:
            return self.signals[name]
        if (part := self._component(name)) is not None:
            return self.signals[part[0]][:, part[1]]
        known = [*self.signals, *(f"{s.name}.{part}" for s in self.stage.signals for part in s.components)]
        raise NoSignal(self.path, name, known)

    def __contains__(self, name: object) -> bool:
        return name in self.signals or (isinstance(name, str) and self._component(name) is not None)

    def _component(self, name: str) -> tuple[str, int] | None:
        """The signal and the column that a name such as `force.x` means."""
        for signal in self.stage.signals:
            part = name.removeprefix(f"{signal.name}.")
            if part != name and part in signal.components:
                return signal.name, signal.components.index(part)
        return None

    __iter__ = None  # it is no sequence: ask for `time`, `signals` or `frame(i)`

    def __repr__(self) -> str:
        scene, parameters = self.attributes.get("scene") or "a world", self.attributes.get("parameters", {})
        lines = [f"Recording {self.path}: {scene}, {self.duration:.6g} s in {len(self)} frames"]
        if parameters:
            lines.append("  " + ", ".join(f"{name}={value}" for name, value in parameters.items()))
        lines.append(f"  layers: {', '.join(self.layers) or 'none'}; bodies: {len(self.bodies)}; signals:")
        for signal in self.stage.signals[:SHOWN]:
            parts = f".({'|'.join(signal.components)})" if signal.components else ""
            parts = parts if len(parts) < 40 else f" ({len(signal.components)} components)"
            unit = f" [{signal.unit}]" if signal.unit else ""
            lines.append(f"    {signal.name}{parts}{unit} {signal.title}".rstrip())
        if (more := len(self.stage.signals) - SHOWN) > 0:
            lines.append(f"    and {more} more")
        return "\n".join(lines)

    def to_pandas(self) -> pandas.DataFrame:
        """All signals as a table with one row per frame, by time [s].

        A column is named after its signal, `speed`, or `force.x` where that has components; `.attrs["units"]` holds
        the units by column.
        """
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "pip install 'vitruvian[table]'") from None
        columns: dict[str, np.ndarray] = {}
        units: dict[str, str] = {}
        for signal in self.stage.signals:
            names = [f"{signal.name}.{part}" for part in signal.components] or [signal.name]
            columns |= dict(zip(names, self.signals[signal.name].reshape(len(self), -1).T, strict=True))
            units |= dict.fromkeys(names, signal.unit)
        table = pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))
        table.attrs["units"] = units
        return table

    @property
    def n_frames(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """From the first frame to the last [s]."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    @cached_property
    def time(self) -> np.ndarray:
        """Instants of the frames [s], shape (frames,)."""
        if not (self.path / "time" / "zarr.json").is_file():
            raise InputError(f"{self.path} holds no frames yet")
        time = self._store.read("time", ndim=1)
        with self._store.trouble("time"):
            check(len(time) <= MOST_FRAMES, f"{len(time)} frames")
            bad = np.flatnonzero(~(np.abs(time) <= LONGEST))
            check(not len(bad), f"not a time at frame {bad[0] if len(bad) else 0}")
            check(bool((np.diff(time) > 0).all()), "not increasing")
        return time

    @cached_property
    def poses(self) -> np.ndarray:
        """Poses of the bodies, shape (frames, bodies, 7): position [m] and unit quaternion (w, x, y, z)."""
        count = len(self.stage.bodies)
        if not count:
            return np.zeros((len(self), 0, 7))
        poses = self._store.read("poses", stop=len(self), shape=(count, 7))
        with self._store.trouble("poses"):
            for first in range(0, len(poses), 1024):
                check_poses(poses[first : first + 1024], first)
        return poses

    @cached_property
    def signals(self) -> Mapping[str, np.ndarray]:
        """Signals by name, each (frames,) or (frames, components); read when asked for."""
        return _Signals(self)

    @cached_property
    def stage(self) -> Stage:
        """What never changes, as the simulation declared it."""
        about = self.attributes
        with self._store.trouble("stage"):
            stage = Stage(
                bodies=tuple(about["bodies"]),
                joints=tuple(made(Joint, joint) for joint in about.get("joints", [])),
                meshes=tuple(self._meshes()),
                surfaces=tuple(self._surface(name) for name in about["surfaces"]),
                lines=tuple(self._lines(name) for name in about["lines"]),
                points=tuple(made(Points, self._store.metadata(f"points/{key(name)}")) for name in about["points"]),
                signals=tuple(self._signal(name) for name in about["signals"]),
                cameras=tuple(made(Camera, camera) for camera in about["cameras"]),
                ground=None if about["ground"] is None else float(about["ground"]),
            )
            check_stage(stage)
            seen: list[Mesh | Surface] = [*stage.meshes, *stage.surfaces]
            check(sum(len(part.faces) for part in seen if part.faces is not None) <= MOST_TRIANGLES, "too many faces")
            check(sum(int(lines.offsets[-1]) for lines in stage.lines) <= MOST_TRIANGLES, "too many points of lines")
            for mesh in stage.meshes:
                check_places(mesh.vertices, f": mesh {mesh.name}")
        return stage

    def signal(self, name: str) -> Signal:
        """What is known about a signal: unit, title, components."""
        if name not in self.signals:
            raise NoSignal(self.path, name, self.signals)
        return next(signal for signal in self.stage.signals if signal.name == name)

    def frame(self, i: int) -> Frame:
        """Everything at frame `i`, counted from the end where it is negative."""
        stage, i = self.stage, self._row(i)
        surfaces = {surface.name: self.surface(surface.name, i) for surface in stage.surfaces}
        with self._store.trouble("surfaces"):
            count = sum(len(now.faces) for now in surfaces.values() if now.faces is not None)
            check(count <= MOST_TRIANGLES, f"{count} triangles at frame {i}")
        return Frame(
            poses=self._poses_at(i),
            signals={signal.name: self._signal_at(signal, i) for signal in stage.signals},
            surfaces=surfaces,
            lines={lines.name: self.lines(lines.name, i) for lines in stage.lines},
            points={points.name: self.points(points.name, i) for points in stage.points},
        )

    def surface(self, name: str, i: int) -> SurfaceFrame:
        """A moving surface at frame `i`; its faces are None when they are those of the stage."""
        surface, i = next(s for s in self.stage.surfaces if s.name == name), self._row(i)
        at = f"surfaces/{key(name)}"
        if surface.faces is not None:
            vertices = self._store.read(f"{at}/vertices", i, i + 1, ndim=3)[0]
            with self._store.trouble(f"{at}/vertices"):
                check(vertices.shape[1] == 3 and len(vertices) > surface.faces.max(), "too few vertices")
                check_places(vertices, f" at frame {i}")
            values = self._store.read(f"{at}/values", i, i + 1, shape=(len(vertices),))[0] if surface.value else None
            return SurfaceFrame(vertices, None, values)
        first, last = self._bounds(f"{at}/vertex_offsets", i)
        vertices = self._store.read(f"{at}/vertices", first, last, shape=(3,))
        faces = self._store.read(f"{at}/faces", *self._bounds(f"{at}/face_offsets", i), shape=(3,))
        with self._store.trouble(f"{at}/vertices"):
            check_places(vertices, f" at frame {i}")
        with self._store.trouble(f"{at}/faces"):
            check(faces.dtype.kind in "iu", f"type {faces.dtype}")
            check(not faces.size or (faces.min() >= 0 and faces.max() < len(vertices)), "refer to absent vertices")
        values = self._store.read(f"{at}/values", first, last, shape=()) if surface.value else None
        return SurfaceFrame(vertices, faces, values)

    def lines(self, name: str, i: int) -> LinesFrame:
        """Polylines at frame `i`."""
        lines, i = next(s for s in self.stage.lines if s.name == name), self._row(i)
        at = f"lines/{key(name)}"
        points = self._store.read(f"{at}/points", i, i + 1, shape=(int(lines.offsets[-1]), 3))[0]
        with self._store.trouble(f"{at}/points"):
            check_places(points, f" at frame {i}")
        shape = (len(lines.offsets) - 1,)
        values = self._store.read(f"{at}/values", i, i + 1, shape=shape)[0] if lines.value else None
        force = self._store.read(f"{at}/force", i, i + 1, shape=shape)[0] if lines.pulls else None
        return LinesFrame(points, values, force)

    def points(self, name: str, i: int) -> np.ndarray:
        """A cloud of points at frame `i` [m], shape (any, 3)."""
        at, i = f"points/{key(name)}", self._row(i)
        points = self._store.read(f"{at}/positions", *self._bounds(f"{at}/offsets", i), shape=(3,))
        with self._store.trouble(f"{at}/positions"):
            check(len(points) <= MOST_TRIANGLES, f"{len(points)} points at frame {i}")
            check_places(points, f" at frame {i}")
        return points

    def _row(self, i: int) -> int:
        """The row of frame `i`, which counts from the end where it is negative."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"frame {i} of {len(self)}")
        return int(i) % len(self)

    def _poses_at(self, i: int) -> np.ndarray:
        count = len(self.stage.bodies)
        if not count:
            return np.zeros((0, 7))
        poses = self._store.read("poses", i, i + 1, shape=(count, 7))
        with self._store.trouble("poses"):
            check_poses(poses, i)
        return poses[0]

    def _signal_at(self, signal: Signal, i: int) -> np.ndarray:
        shape = (len(signal.components),) if signal.components else ()
        return self._store.read(f"signals/{key(signal.name)}", i, i + 1, shape=shape)[0]

    def _bounds(self, at: str, i: int) -> tuple[int, int]:
        first, last = (int(n) for n in self._store.read(at, i, i + 2, shape=()))
        with self._store.trouble(at):
            check(0 <= first <= last <= first + 3 * MOST_TRIANGLES, f"{first} to {last} at frame {i}")
        return first, last

    def _meshes(self) -> Iterator[Mesh]:
        listed = self._store.metadata("meshes")["meshes"]
        check(len(listed) <= MOST_PARTS, "too many meshes")
        vertices, faces = (self._store.read(f"meshes/{part}", shape=(3,)) for part in ("vertices", "faces"))
        at_vertex, at_face = (self._store.read(f"meshes/{part}_offsets", shape=()) for part in ("vertex", "face"))
        for offsets, total in ((at_vertex, len(vertices)), (at_face, len(faces))):
            check(len(offsets) == len(listed) + 1 and offsets[0] == 0 and offsets[-1] == total, "mesh offsets")
            check(bool((np.diff(offsets) >= 0).all()), "mesh offsets")
        for i, about in enumerate(listed):
            part = {
                "vertices": vertices[at_vertex[i] : at_vertex[i + 1]].astype(np.float64),
                "faces": faces[at_face[i] : at_face[i + 1]],
            }
            yield made(Mesh, about | part)

    def _surface(self, name: str) -> Surface:
        at = f"surfaces/{key(name)}"
        about = self._store.metadata(at)
        fixed = about.pop("topology") == "fixed"
        return made(Surface, about | {"faces": self._store.read(f"{at}/faces", shape=(3,)) if fixed else None})

    def _lines(self, name: str) -> Lines:
        at = f"lines/{key(name)}"
        arrays = {part: self._store.read(f"{at}/{part}", shape=()) for part in ("offsets", "radius")}
        return made(Lines, self._store.metadata(at) | arrays)

    def _signal(self, name: str) -> Signal:
        about = self._store.metadata(f"signals/{key(name)}")
        return made(Signal, {field: about[field] for field in ("name", "unit", "title", "components")})

    def close(self) -> None:
        """Forget what was read; the recording may be opened again."""
        self._store.close()


def _check_attributes(about: dict[str, Any]) -> None:
    """What a run wrote down about itself; only the frame rate must be there."""
    rate, ground = about["frame_rate"], about["ground"]
    check(is_number(rate, 0.0, 1e6) and rate > 0, f"frame_rate {rate!r:.40}")
    check(ground is None or is_number(ground, -FARTHEST, FARTHEST), f"ground {ground!r:.40}")
    for name in ("scene", "quality", "version"):
        word = about.get(name, "")
        check(isinstance(word, str) and len(word) <= MOST_LETTERS, f"{name} {word!r:.40}")
    seconds, substeps, seed = about.get("seconds", 0.0), about.get("substeps", 1), about.get("seed", 0)
    check(is_number(seconds, 0.0, LONGEST), f"seconds {seconds!r:.40}")
    check(type(substeps) is int and substeps >= 1, f"substeps {substeps!r:.40}")
    check(type(seed) is int and seed >= 0, f"seed {seed!r:.40}")
    check(isinstance(about["cameras"], list) and len(about["cameras"]) <= MOST_LETTERS, "cameras")
    parameters = about.get("parameters", {})
    check(isinstance(parameters, dict) and len(parameters) <= MOST_PARTS, f"parameters {parameters!r:.40}")
    for name, value in parameters.items():
        check(is_number(value) or isinstance(value, str | bool), f"parameter {name:.40} {value!r:.40}")
        check(len(name) <= MOST_LETTERS and len(str(value)) <= 20 * MOST_LETTERS, f"parameter {name:.40} is too long")


class _Signals(Mapping[str, np.ndarray]):
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._shapes = {
            signal.name: (len(signal.components),) if signal.components else () for signal in recording.stage.signals
        }
        self._read: OrderedDict[str, np.ndarray] = OrderedDict()  # those read last

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._read:
            if name not in self._shapes:
                raise NoSignal(self._recording.path, name, self._shapes)
            shape = self._shapes[name]
            self._read[name] = self._recording._store.read(
                f"signals/{key(name)}", stop=len(self._recording), shape=shape
            )
            held = sum(kept.nbytes for kept in self._read.values())
            while held > KEPT_BYTES and len(self._read) > 1:
                held -= self._read.popitem(last=False)[1].nbytes
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)
