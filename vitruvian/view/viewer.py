"""Recordings in the browser: one, or two on one time line.

    serve(Recording.open("run.zarr"))
    serve(before, after)

The page (`view/player`) asks for frames and draws each as a whole; time, camera and choices are its own, so every tab
is a view for itself. A recording that is still being written may be given: its length is looked up every second or so.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time as clock
import webbrowser
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.view.camera import bounds_of
from vitruvian.view.drawing import Model
from vitruvian.view.memory import one_frame
from vitruvian.view.packing import pack, pack_frame, pack_signals, pack_stage
from vitruvian.view.player import page
from vitruvian.view.server import Server, wait_for_stop
from vitruvian.world import Frame, Stage

if TYPE_CHECKING:
    from vitruvian.world import Recording

Array = np.ndarray

GROW_TICK = 1.0  # time between looks at whether a recording has grown [s]
LOOKED_AT = 16  # frames measured to find what a run sweeps over
MOST_SERIES = 400  # instants of a muscle's or a bone's own plots


def serve(
    *recordings: Recording | Any,
    port: int = 8080,
    open_browser: bool = True,
    host: str = "127.0.0.1",
    block: bool = True,
) -> Viewer:
    """Show recordings in the browser until interrupted; with `block` False return at once, for the caller to close."""
    viewer = Viewer(*recordings, host=host, port=port)
    with contextlib.suppress(KeyboardInterrupt):  # a signal that comes before the wait has begun ends it as well
        print(f"viewer: {viewer.url}   (Ctrl-C ends it)", file=sys.stderr)
        if open_browser:
            with contextlib.suppress(Exception):
                webbrowser.open(viewer.url)
        if block:
            wait_for_stop()
    if block:
        viewer.close()
    return viewer


def serve_model(stage: Stage, frame: Frame, *, title: str = "", **how: Any) -> Viewer:
    """Show a model that has not run: a stage at one frame. Keywords as for `serve`."""
    return serve(one_frame(stage, frame, scene=title), **how)


class Shown:
    """One recording as the page asks for it."""

    def __init__(self, recording: Recording | Any) -> None:
        self.recording = recording
        self._looked = clock.monotonic()
        self._lock = threading.Lock()

    @property
    def frames(self) -> int:
        return len(self.recording.time)

    def grow(self) -> None:
        """Take up frames that were recorded since the last look."""
        with self._lock:
            if clock.monotonic() - self._looked < GROW_TICK:
                return
            self._looked = clock.monotonic()
            path = getattr(self.recording, "path", None)
            if path is None:
                return
            with contextlib.suppress(InputError):  # half-written metadata: the next look will find it whole
                longer = type(self.recording).open(path)
                if len(longer.time) > self.frames:
                    self.recording = longer

    def about(self) -> dict[str, Any]:
        """Title, settings and instants [s]."""
        told = getattr(self.recording, "attributes", {})
        settings = told.get("parameters")
        return {
            "title": str(told.get("scene", "") or "vitruvian"),
            "settings": dict(settings) if isinstance(settings, dict) else {},
            "time": np.asarray(self.recording.time, dtype=float).tolist(),
        }

    def stage(self) -> bytes:
        recording = self.recording
        first = recording.frame(0) if self.frames else None
        return pack_stage(recording.stage, bounds_of(_clouds(recording)), first, self.about())

    def frame(self, i: int) -> bytes:
        return pack_frame(self.recording.stage, self.recording.frame(i))

    def signals(self) -> bytes:
        return pack_signals(self.recording.stage, self.recording.time, self.recording.signals)

    def line(self, which: int, i: int) -> bytes:
        """Instants, value, length [m] and force [N] of one line over the run."""
        lines = self.recording.stage.lines[which]
        part = slice(int(lines.offsets[i]), int(lines.offsets[i + 1]))
        rows = []
        for k in self._some():
            now = self.recording.frame(k).lines[lines.name]
            length = np.linalg.norm(np.diff(np.asarray(now.points[part], float), axis=0), axis=1).sum()
            value = np.nan if now.values is None else now.values[i]
            rows.append((self.recording.time[k], value, length, np.nan if now.force is None else now.force[i]))
        return pack([np.array(rows, "<f8").reshape(-1, 4)[:, c].tobytes() for c in range(4)])

    def body(self, i: int) -> bytes:
        """Instants, position [m] of one body, and how it is turned, w x y z; then how what it hangs on is turned."""
        stage = self.recording.stage
        parent = next((j.parent for j in stage.joints if j.body == stage.bodies[i]), "")
        k_parent = stage.bodies.index(parent) if parent else -1
        rows = []
        for k in self._some():
            poses = np.asarray(self.recording.frame(k).poses)
            rows.append((self.recording.time[k], *poses[i], *(poses[k_parent, 3:] if parent else (1.0, 0.0, 0.0, 0.0))))
        return pack([np.array(rows, "<f8").reshape(-1, 12)[:, c].tobytes() for c in range(12)])

    def _some(self) -> list[int]:
        return np.unique(np.linspace(0, self.frames - 1, min(self.frames, MOST_SERIES)).round().astype(int)).tolist()


class Viewer:
    """A page that shows one recording, or two."""

    def __init__(self, *recordings: Recording | Any, host: str = "127.0.0.1", port: int = 8080) -> None:
        self.shown = [Shown(recording) for recording in recordings]
        self.server = Server(host, port, self.answer)
        self.url = self.server.url

    def close(self) -> None:
        """Stop serving."""
        self.server.close()

    def state(self) -> dict[str, Any]:
        """What may change while the page is open."""
        for one in self.shown:
            one.grow()
        return {"frames": [one.frames for one in self.shown], "live": None}

    def answer(self, method: str, parts: list[str]) -> bytes | dict[str, Any] | str | None:
        """What the page asks for by the parts of a path."""
        match method, parts:
            case "GET", []:
                return page()
            case "GET", ["state"]:
                return self.state()
            case "GET", ["stage", r]:
                return self.shown[_index(r)].stage()
            case "GET", ["time", r]:
                return self.shown[_index(r)].about()
            case "GET", ["frame", r, i]:
                return self.shown[_index(r)].frame(_index(i))
            case "GET", ["signals", r]:
                return self.shown[_index(r)].signals()
            case "GET", ["line", r, which, i]:
                return self.shown[_index(r)].line(_index(which), _index(i))
            case "GET", ["body", r, i]:
                return self.shown[_index(r)].body(_index(i))
        return None


def _index(word: str) -> int:
    if not word.isascii() or not word.isdigit() or len(word) > 9:
        raise ValueError(f"'{word[:20]}' is not a number")
    return int(word)


def _clouds(recording: Any) -> Iterator[Array]:
    n = len(recording.time)
    model = Model(recording.stage)
    looked_at = np.unique(np.linspace(0, n - 1, min(n, LOOKED_AT)).round().astype(int)) if n else np.zeros(0, int)
    return (model.draw(recording.frame(int(i))).points() for i in looked_at)
