"""A simulation in the browser while it runs: the same page as for recordings, with a pause button.

    view = LiveView(stage, port=8080, title="pendulum")
    for each recorded frame:
        view.push(time, frame)
        view.wait_while_paused()
    view.close()

`push` only leaves the frame for the page's own thread, which shows the newest one up to thirty times a second, so a
fast simulation is not held back.
"""

from __future__ import annotations

import sys
import threading
import time as clock
from typing import Any

import numpy as np

from vitruvian.view.camera import bounds_of
from vitruvian.view.drawing import Model
from vitruvian.view.page import Page
from vitruvian.world import Frame, Stage

Array = np.ndarray

TICK = 1.0 / 30.0  # least time between frames sent to the browser [s]
PLOT_TICK = 0.25  # least time between renewals of the plots [s]
KEPT = 20_000  # instants of each signal kept for the plots; then every second one is dropped


class LiveView:
    """A page that shows the newest frame it was given."""

    def __init__(
        self,
        stage: Stage,
        port: int = 8080,
        title: str = "",
        *,
        host: str = "127.0.0.1",
        open_browser: bool = False,
        first: Frame | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        clouds = [Model(stage).draw(first).points()] if first is not None else []
        self.stage = stage
        self.page = Page(stage, bounds_of(clouds), host=host, port=port, title=title, parameters=parameters)
        self._going, self._stop, self._news = threading.Event(), threading.Event(), threading.Event()
        self._going.set()
        self._lock = threading.Lock()
        self._newest: tuple[float, Frame] | None = None
        self._time: list[float] = []
        self._series: dict[str, list[Any]] = {signal.name: [] for signal in stage.signals}
        self._every, self._count = 1, 0
        with self.page.playback:
            self.button = self.page.server.gui.add_button("Pause", hint="hold or continue the simulation")
        self.button.on_click(lambda _: self._toggle())
        print(f"live view: {self.page.url}", file=sys.stderr)
        if open_browser:
            import webbrowser

            webbrowser.open(self.page.url)
        self._thread = threading.Thread(target=self._run, name="live view", daemon=True)
        self._thread.start()
        if first is not None:
            self.push(0.0, first)

    @property
    def paused(self) -> bool:
        """Whether the user holds the simulation."""
        return not self._going.is_set()

    def push(self, time: float, frame: Frame) -> None:
        """Leave the frame at `time` [s] to be shown. Its arrays must not be changed afterwards."""
        with self._lock:
            self._newest = (time, frame)
            if self._count % self._every == 0:
                self._time.append(time)
                for name, series in self._series.items():
                    series.append(frame.signals.get(name, np.nan))
                if len(self._time) > KEPT:
                    self._time = self._time[::2]
                    self._series = {name: series[::2] for name, series in self._series.items()}
                    self._every *= 2
            self._count += 1
        self._news.set()

    def wait_while_paused(self, timeout: float | None = None) -> None:
        """Return when the user lets the simulation go on (at once if it is not held), or after `timeout` [s]."""
        self._going.wait(timeout)

    def close(self) -> None:
        """Show the last frame and stop serving."""
        self._going.set()
        self._stop.set()
        self._news.set()
        self._thread.join(timeout=5.0)
        self.page.close()

    def _toggle(self) -> None:
        if self._going.is_set():
            self._going.clear()
        else:
            self._going.set()
        self.button.label = "Pause" if self._going.is_set() else "Continue"

    def _run(self) -> None:
        plotted = 0.0
        while True:
            self._news.wait()
            self._news.clear()
            with self._lock:
                newest = self._newest
            if newest is not None:
                self.page.show(*newest, "running" if not self._stop.is_set() else "ended")
                if self.page.plots is not None and (clock.monotonic() - plotted > PLOT_TICK or self._stop.is_set()):
                    plotted = clock.monotonic()
                    self._plot(newest[0])
            if self._stop.is_set():
                return
            self._stop.wait(TICK)

    def _plot(self, now: float) -> None:
        with self._lock:
            time = np.array(self._time)
            series = {s.name: _series(self._series[s.name], len(s.components)) for s in self.stage.signals}
        assert self.page.plots is not None
        self.page.plots.now = now
        self.page.plots.feed(time, series)


def _series(values: list[Any], components: int) -> Array:
    """Values as an array; a frame that lacked the signal counts as not a number."""
    if not components:
        return np.array([float(np.asarray(v)) for v in values])
    return np.array([np.broadcast_to(np.asarray(v, dtype=float), (components,)) for v in values])
