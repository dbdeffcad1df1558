"""Line charts as SVG, for a page that stands alone: no script, no font, no file beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

Array = np.ndarray
WIDTH, HEIGHT = 380, 210  # [px]
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 26, 38
COLOURS = ("#2f6f9f", "#c2553d", "#4b8b4f", "#8a63a8", "#b98a2e", "#5c6672")


@dataclass(frozen=True)
class Chart:
    """Curves over one abscissa, with a horizontal band of published peaks and shaded spans of time."""

    title: str
    unit: str
    curves: Mapping[str, Array]
    band: tuple[float, float] | None = None
    spans: Sequence[tuple[float, float, str]] = ()  # from, to [s], colour


def draw_svg(x: Array, chart: Chart, axis: str = "time [s]") -> str:
    """The chart as an `<svg>` element."""
    values = np.concatenate([np.asarray(c, dtype=float) for c in chart.curves.values()])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if chart.band is not None:
        low, high = min(low, chart.band[0]), max(high, chart.band[1])
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-9:
        high = low + 1.0
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def at_x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - x[0]) / max(x[-1] - x[0], 1e-12)

    def at_y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart.title)}">',
        f'<text x="{LEFT}" y="15" class="title">{escape(chart.title)} '
        f'<tspan class="unit">[{escape(chart.unit)}]</tspan></text>',
    ]
    rows = list(dict.fromkeys(colour for _, _, colour in chart.spans))
    for begin, end, colour in chart.spans:
        a, b, down = at_x(begin), at_x(end), HEIGHT - BOTTOM + 1 + 3 * rows.index(colour)
        parts.append(f'<rect x="{a:.1f}" y="{down}" width="{b - a:.1f}" height="2.5" fill="{colour}"/>')
    if chart.band is not None:
        top, bottom = at_y(chart.band[1]), at_y(chart.band[0])
        parts.append(
            f'<rect x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT}" height="{bottom - top:.1f}" class="band"/>'
        )
    for tick in ticks:
        y = at_y(tick)
        strong = " zero" if abs(tick) < 1e-12 else ""
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid{strong}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 3.5:.1f}" class="tick end">{tick:.4g}</text>')
    for tick in _ticks(float(x[0]), float(x[-1])):
        if x[0] - 1e-9 <= tick <= x[-1] + 1e-9:
            parts.append(f'<text x="{at_x(tick):.1f}" y="{HEIGHT - 17}" class="tick mid">{tick:.4g}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 3}" class="tick mid">{escape(axis)}</text>')
    key = WIDTH - RIGHT
    for colour, curve in zip(COLOURS, chart.curves.values()):
        points = " ".join(f"{at_x(t):.1f},{at_y(v):.1f}" for t, v in zip(x, curve) if np.isfinite(v))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    for colour, name in reversed(list(zip(COLOURS, chart.curves))):
        if len(chart.curves) > 1:
            parts.append(f'<text x="{key}" y="15" class="key end" style="fill:{colour}">{escape(name)}</text>')
            key -= 9 + round(5.6 * len(name))
    return "".join([*parts, "</svg>"])


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    step = 10.0 ** np.floor(np.log10((high - low) / count))
    step *= next(m for m in (1.0, 2.0, 5.0, 10.0) if (high - low) / (step * m) <= count)
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return [float(round(k * step, 12)) for k in np.arange(first, last + 1)]
