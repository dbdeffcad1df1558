"""A simulation in the browser while it runs: the same page as for recordings, with a button that holds the run and
one for each action that the simulation can take.

    view = LiveView(stage, port=8080, title="pendulum")
    for each recorded frame:
        view.push(time, frame)
        view.wait_while_paused()
    view.become(recording)          from now on the page plays the recording
    view.close()

`push` only leaves the frame for the page to fetch, so a fast simulation is not held back.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from vitruvian.view.memory import MemoryRecording
from vitruvian.view.packing import pack, pack_frame, pack_signals
from vitruvian.view.viewer import Shown, Viewer
from vitruvian.world import Frame, Stage

MOST_ASKED = 100  # actions that wait for the next frame
KEPT = 20_000  # instants of each signal kept for the plots; then every second one is dropped


class LiveView(Viewer):
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
        actions: dict[str, str] | None = None,
    ) -> None:
        """actions: what buttons of the page do to the run, names with titles (see `world.acting`)."""
        self.stage, self.running, self.actions = stage, True, dict(actions or {})
        self._asked: list[str] = []
        self._going = threading.Event()
        self._going.set()
        self._lock = threading.Lock()
        self._newest: tuple[float, Frame] | None = None
        self._time: list[float] = []
        self._series: dict[str, list[Any]] = {signal.name: [] for signal in stage.signals}
        self._every, self._count = 1, 0
        about = {"scene": title, "parameters": parameters or {}}
        start = MemoryRecording(stage, [first] if first is not None else [], np.zeros(int(first is not None)), about)
        super().__init__(start, host=host, port=port)
        print(f"live view: {self.url}", file=sys.stderr)
        if open_browser:
            import webbrowser

            webbrowser.open(self.url)
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

    def asked(self) -> list[str]:
        """Actions that buttons asked for since the last look."""
        with self._lock:
            asked, self._asked = self._asked, []
        return asked

    def become(self, recording: Any) -> None:
        """The run has ended: the page plays its recording."""
        self._going.set()
        self.shown = [Shown(recording)]
        self.running = False

    def wait_while_paused(self, timeout: float | None = None) -> None:
        """Return when the user lets the simulation go on (at once if it is not held), or after `timeout` [s]."""
        self._going.wait(timeout)

    def close(self) -> None:
        """Stop serving, and let a held run go on."""
        self._going.set()
        super().close()

    def state(self) -> dict[str, Any]:
        if not self.running:
            return super().state()
        with self._lock:
            time = None if self._newest is None else self._newest[0]
            live = {"time": time, "count": self._count, "paused": self.paused, "actions": self.actions}
            return {"frames": [1], "live": live}

    def answer(self, method: str, parts: list[str]) -> bytes | dict[str, Any] | str | None:
        if not self.running or parts[:1] not in (["live"], ["pause"], ["signals"], ["act"]):
            return super().answer(method, parts)
        if parts[0] == "act":
            if method != "POST" or len(parts) != 2 or parts[1] not in self.actions:
                return None
            with self._lock:
                if len(self._asked) < MOST_ASKED:
                    self._asked.append(parts[1])
            return {"asked": parts[1]}
        if (method, parts) == ("POST", ["pause"]):
            self._going.clear() if self._going.is_set() else self._going.set()
            return self.state()
        with self._lock:
            newest = self._newest
            time = np.array(self._time)
            series = {s.name: _series(self._series[s.name], len(s.components)) for s in self.stage.signals}
        if parts[0] == "signals":
            return pack_signals(self.stage, time, series)
        if newest is None or method != "GET":
            return None
        return pack([np.array([newest[0]], "<f8").tobytes(), pack_frame(self.stage, newest[1])])


def _series(values: list[Any], components: int) -> np.ndarray:
    """Values as an array; a frame that lacked the signal counts as not a number."""
    if not components:
        return np.array([float(np.asarray(v)) for v in values])
    rows = [np.broadcast_to(np.asarray(v, dtype=float), (components,)) for v in values]
    return np.array(rows).reshape(len(rows), components)
