"""A recording in the browser: play, pause, scrub, step, speed, loop.

    serve(Recording.open("run.zarr"))

A recording that is still being written may be given: its length is looked up again every second or so.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time as clock
import webbrowser
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vitruvian.view.camera import bounds_of
from vitruvian.view.drawing import Model
from vitruvian.view.memory import one_frame
from vitruvian.view.page import Page
from vitruvian.view.server import wait_for_stop
from vitruvian.world import Frame, Stage

if TYPE_CHECKING:
    from vitruvian.world import Recording

Array = np.ndarray

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
TICK = 1.0 / 30.0  # least time between frames sent to the browser [s]
PLOT_TICK = 0.1  # least time between moves of the plots' cursor [s]
GROW_TICK = 1.0  # time between looks at whether a recording has grown [s]
LOOKED_AT = 16  # frames measured to find what a run sweeps over


def serve(
    recording: Recording | Any,
    *,
    port: int = 8080,
    open_browser: bool = True,
    host: str = "127.0.0.1",
    block: bool = True,
) -> Viewer:
    """Show a recording in the browser until interrupted; with `block` False return at once, for the caller to close."""
    viewer = Viewer(recording, host=host, port=port)
    with contextlib.suppress(KeyboardInterrupt):  # a signal that comes before the wait has begun ends it as well
        print(f"viewer: {viewer.page.url}   (Ctrl-C ends it)", file=sys.stderr)
        if open_browser:
            with contextlib.suppress(Exception):
                webbrowser.open(viewer.page.url)
        if block:
            wait_for_stop()
    if block:
        viewer.close()
    return viewer


def serve_model(stage: Stage, frame: Frame, *, title: str = "", **how: Any) -> Viewer:
    """Show a model that has not run: a stage at one frame. Keywords as for `serve`."""
    return serve(one_frame(stage, frame, scene=title), **how)


class Viewer:
    """A page with a clock that plays a recording."""

    def __init__(self, recording: Recording | Any, *, host: str = "127.0.0.1", port: int = 8080) -> None:
        self.recording = recording
        self.times = np.asarray(recording.time, dtype=float)
        about = getattr(recording, "attributes", {})
        parameters = about.get("parameters")
        self.page = Page(
            recording.stage,
            bounds_of(_clouds(recording)),
            host=host,
            port=port,
            title=str(about.get("scene", "")),
            parameters=parameters if isinstance(parameters, dict) else None,
        )
        self.index = 0
        self.playing = False
        self._shown = -1
        self._wake, self._stop = threading.Event(), threading.Event()
        self._plotted = self._grown = 0.0
        self._add_controls()
        self._feed_plots()
        self._show()
        self._thread = threading.Thread(target=self._run, name="playback", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop playing and serving."""
        self._stop.set()
        self._wake.set()
        self._thread.join(timeout=5.0)
        self.page.close()

    def seek(self, index: int) -> None:
        """Show recorded frame `index`, or the nearest that there is."""
        self.index = int(np.clip(index, 0, max(len(self.times) - 1, 0)))
        self._started = (clock.monotonic(), self._now())
        self._wake.set()

    def _now(self) -> float:
        return float(self.times[self.index]) if len(self.times) else 0.0

    def _add_controls(self) -> None:
        gui = self.page.server.gui
        start, end, step = self._span()
        with self.page.playback:
            self.slider = gui.add_slider("Time [s]", start, end, step, start)
            self.play = gui.add_button("Play", icon=_icon("PLAYER_PLAY_FILLED"), hint="play or pause")
            self.steps = gui.add_button_group("Step", ["first", "back", "on", "last"])
            self.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1x")
            self.loop = gui.add_checkbox("Loop", True)
        self._started = (clock.monotonic(), start)
        self.play.on_click(lambda _: self._toggle())
        self.steps.on_click(lambda event: self._step(event.target.value))
        self.speed.on_update(lambda _: self.seek(self.index))

        @self.slider.on_update
        def _(event: Any) -> None:
            # Our own moves of the slider come back too, without a client.
            if event.client_id is not None and len(self.times):
                self.seek(int(np.abs(self.times - self.slider.value).argmin()))

    def _span(self) -> tuple[float, float, float]:
        if len(self.times) < 2:
            start = float(self.times[0]) if len(self.times) else 0.0
            return start, start + 1e-3, 1e-3
        # A round step, so that the slider shows few digits; the nearest recorded frame is what is shown.
        start, end = float(self.times[0]), float(self.times[-1])
        step = min(10.0 ** np.floor(np.log10((end - start) / (len(self.times) - 1))), 1e-3)
        return round(start / step) * step, round(end / step) * step, step

    def _toggle(self) -> None:
        self.playing = not self.playing and len(self.times) > 1
        self.play.label = "Pause" if self.playing else "Play"
        self.play.icon = _icon("PLAYER_PAUSE_FILLED" if self.playing else "PLAYER_PLAY_FILLED")
        if self.playing and self.index >= len(self.times) - 1:
            self.index = 0
        self.seek(self.index)

    def _step(self, which: str) -> None:
        if self.playing:
            self._toggle()
        where: dict[str, Callable[[], int]] = {
            "first": lambda: 0,
            "back": lambda: self.index - 1,
            "on": lambda: self.index + 1,
            "last": lambda: len(self.times) - 1,
        }
        self.seek(where[which]())

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(TICK if self.playing else 0.25)
            self._wake.clear()
            if self._stop.is_set():
                return
            self._grow()
            if self.playing:
                self._advance()
            began = clock.monotonic()
            self._show()
            # A slow frame must not starve the browser of the pauses in which it draws.
            if self.playing:
                self._stop.wait(min(0.3 * (clock.monotonic() - began), 0.2))

    def _advance(self) -> None:
        since, start = self._started
        now = start + (clock.monotonic() - since) * float(self.speed.value[:-1])
        if now > self.times[-1]:
            if self.loop.value:
                self.index = 0
                self._started = (clock.monotonic(), self._now())
            else:
                self.index = len(self.times) - 1
                self._toggle()
            return
        self.index = max(int(np.searchsorted(self.times, now, side="right")) - 1, 0)

    def _show(self) -> None:
        if self.index == self._shown or len(self.times) == 0:
            if len(self.times) == 0:
                self.page.words.content = self.page._header(None, "no frames yet")
            return
        self._shown = self.index
        now = self._now()
        self.page.show(now, self.recording.frame(self.index), f"frame {self.index + 1} of {len(self.times)}")
        self.slider.value = round(now / self.slider.step) * self.slider.step
        if self.page.plots is not None and (not self.playing or clock.monotonic() - self._plotted > PLOT_TICK):
            self._plotted = clock.monotonic()
            self.page.plots.move(now)

    def _feed_plots(self) -> None:
        if self.page.plots is not None and len(self.times):
            self.page.plots.feed(self.times, self.recording.signals)

    def _grow(self) -> None:
        """Take up frames that were recorded since the last look."""
        if clock.monotonic() - self._grown < GROW_TICK:
            return
        self._grown = clock.monotonic()
        longer = _reopened(self.recording)
        if longer is None or len(longer.time) <= len(self.times):
            return
        self.recording, self.times = longer, np.asarray(longer.time, dtype=float)
        start, end, step = self._span()
        self.slider.min, self.slider.max, self.slider.step = start, end, step
        self._shown = -1
        self._feed_plots()


def _reopened(recording: Any) -> Any:
    """The recording as it is now on disk (or in memory), None when it cannot be read at this moment."""
    path = getattr(recording, "path", None)
    if path is None:
        return recording
    try:
        return type(recording).open(path)
    except Exception:  # half-written metadata: the next look will find it whole
        return None


def _clouds(recording: Any) -> Iterator[Array]:
    n = len(recording.time)
    model = Model(recording.stage)
    looked_at = np.unique(np.linspace(0, n - 1, min(n, LOOKED_AT)).round().astype(int)) if n else np.zeros(0, int)
    return (model.draw(recording.frame(int(i))).points() for i in looked_at)


def _icon(name: str) -> Any:
    import viser

    return getattr(viser.Icon, name)
