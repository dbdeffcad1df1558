"""Plots of signals in the page's panel: the whole run in grey, what has happened up to now in colour.

The grey and coloured curves and the dot at the present instant are three kinds of series of one chart, so moving the
time only sends numbers. Long signals are thinned to a few hundred points.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vitruvian.world import Signal

Array = np.ndarray

INKS = ("#b4382d", "#2f6f9f", "#3f8f5f", "#c08a2b", "#7a5aa6", "#4a4f59")
GREY = "#c9ced6"
SLOTS = 3  # plots shown at once
POINTS = 500  # of a curve at most
COMPONENTS = 6  # curves of a plot at most


class Plots:
    """A few charts, each of a signal that the user may choose."""

    def __init__(self, gui: Any, signals: tuple[Signal, ...]) -> None:
        self.gui = gui
        self.signals = {signal.name: signal for signal in signals}
        self.time = np.zeros(0)
        self.series: Mapping[str, Array] = {}
        self.now = 0.0
        names = list(self.signals)
        self.charts = [_Chart(gui, self, names, names[i]) for i in range(min(SLOTS, len(names)))]

    def feed(self, time: Array, series: Mapping[str, Array] | Callable[[], Mapping[str, Array]]) -> None:
        """New curves: instants [s] of shape (n,), and by name values of shape (n,) or (n, components)."""
        self.time = np.asarray(time, dtype=float)
        self.series = series() if callable(series) else series
        for chart in self.charts:
            chart.load()
            chart.draw()

    def move(self, now: float) -> None:
        """Let the present instant be `now` [s]."""
        self.now = now
        for chart in self.charts:
            chart.draw()


class _Chart:
    def __init__(self, gui: Any, plots: Plots, names: list[str], first: str) -> None:
        self.gui, self.plots, self.name = gui, plots, first
        self.x = np.zeros(0)
        self.y = np.zeros((0, 1))
        self.handle: Any = None
        if len(names) > SLOTS:
            choice = gui.add_dropdown("Signal", [self._label(n) for n in names], initial_value=self._label(first))

            @choice.on_update
            def _(_: Any) -> None:
                self.name = next(n for n in names if self._label(n) == choice.value)
                self.load()
                self.draw()

        self.handle = gui.add_uplot(**self._props())
        self.key = gui.add_html(self._key(), visible=bool(self.plots.signals[first].components))

    def load(self) -> None:
        """Take this chart's curves from the plots' series."""
        values = np.asarray(self.plots.series.get(self.name, np.zeros(0)), dtype=float)
        n = min(len(values), len(self.plots.time))
        every = max(1, -(-n // POINTS))
        pick = np.arange(0, n, every)
        if n and pick[-1] != n - 1:
            pick = np.append(pick, n - 1)
        self.x = self.plots.time[pick]
        self.y = values[:n].reshape(n, -1)[pick, :COMPONENTS] if n else np.zeros((0, 1))
        props = self._props()
        for key in ("title", "series", "scales", "axes"):
            setattr(self.handle, key, props[key])
        self.key.content = self._key()
        self.key.visible = bool(self.plots.signals[self.name].components)

    def draw(self) -> None:
        """Send the curves with the present instant marked."""
        self.handle.data = self._data()

    def _label(self, name: str) -> str:
        signal = self.plots.signals[name]
        return f"{signal.title or name} [{signal.unit or '1'}]"

    def _key(self) -> str:
        """Which component has which colour."""
        names = self.plots.signals[self.name].components
        shown = [
            f'<span style="color:{ink};margin-right:.9em">&#9679; {html.escape(name)}</span>'
            for name, ink in zip(names, INKS, strict=False)
        ]
        if len(names) > COMPONENTS:
            shown.append(f"<span>and {len(names) - COMPONENTS} more</span>")
        return f'<div style="padding:0 1em .6em 1em;font-size:.8em;line-height:1.5">{"".join(shown)}</div>'

    def _data(self) -> tuple[Array, ...]:
        if len(self.x) == 0:
            blank = np.array([np.nan, np.nan])
            return (np.array([0.0, 1.0]), *(blank for _ in range(3 * self.y.shape[1])))
        at = int(np.searchsorted(self.x, self.plots.now + 1e-9, side="right")) - 1
        at = min(max(at, 0), len(self.x) - 1)
        past = self.y.copy()
        past[at + 1 :] = np.nan
        dot = np.full_like(self.y, np.nan)
        dot[at] = self.y[at]
        return (self.x, *self.y.T.copy(), *past.T.copy(), *dot.T.copy())

    def _props(self) -> dict[str, Any]:
        signal = self.plots.signals[self.name]
        count = self.y.shape[1]
        names = signal.components[:count] if signal.components else (signal.title or signal.name,)
        names = tuple(names) + tuple(str(i) for i in range(len(names), count))
        good = self.y[np.isfinite(self.y)]
        low, high = (float(good.min()), float(good.max())) if len(good) else (0.0, 1.0)
        room = 0.08 * (high - low) or max(0.1 * abs(high), 1e-6)
        start, end = (float(self.x[0]), float(self.x[-1])) if len(self.x) else (0.0, 1.0)
        axis = {
            "stroke": "#4a4f59",
            "grid": {"stroke": "#e8ebef", "width": 1},
            "ticks": {"stroke": "#e8ebef", "width": 1},
        }
        small = "11px sans-serif"
        return {
            "data": self._data(),
            "title": self._label(self.name),
            "series": (
                {"label": "t [s]"},
                *({"label": f"{n} ", "stroke": GREY, "width": 1.5, "points": {"show": False}} for n in names),
                *(
                    {"label": n, "stroke": INKS[i], "width": 2, "points": {"show": False}, "spanGaps": False}
                    for i, n in enumerate(names)
                ),
                *(
                    {
                        "label": f"{n} now",
                        "stroke": INKS[i],
                        "width": 0,
                        "points": {"show": True, "size": 9, "fill": INKS[i]},
                    }
                    for i, n in enumerate(names)
                ),
            ),
            "scales": {
                "x": {"time": False, "auto": False, "range": (start, end if end > start else start + 1.0)},
                "y": {"auto": False, "range": (low - room, high + room)},
            },
            "axes": (
                {**axis, "font": small, "label": "time [s]", "labelFont": small, "labelSize": 16, "size": 30},
                {**axis, "font": small, "size": 52},
            ),
            "legend": {"show": False},
            "height": 178,
            "padding": (12, 12, 0, 0),  # so that the outermost numbers on the axes are whole
        }
