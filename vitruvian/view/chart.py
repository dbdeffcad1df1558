"""A small chart as a picture: points, and lines through them, over labelled axes, with a key of colours.

Drawn with Pillow at twice the size and reduced, so that edges are smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageColor, ImageDraw

from vitruvian.view.lettering import fitted, length, split_runs, write

Array = np.ndarray
Colour = tuple[int, int, int]
FINE = 2  # pixels drawn for each one shown, along each side
TEXT, FAINT, GRID = (44, 52, 64), (92, 102, 116), (228, 232, 237)
INKS = ("#b4382d", "#2f6f9f", "#3f8f5f", "#c08a2b", "#7a5aa6", "#4a4f59")
RAMP = ((38, 70, 120), (70, 150, 160), (232, 180, 80), (190, 60, 45))  # of colours where there are more than inks
KEY_LINES = 14
LETTERS, SMALL = 16, 14  # [pixel]


@dataclass(frozen=True)
class Series:
    """Points (n,) of one colour and, if there is one, the line (m,) among them; `name` is for the key."""

    name: str
    x: Array
    y: Array
    line: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Axis:
    """What stands along an axis; `words` are those of the positions 0, 1, 2, … where it has no numbers."""

    title: str
    words: Sequence[str] = ()


def draw_chart(
    series: Sequence[Series], x: Axis, y: Axis, *, title: str = "", key: str = "", size: tuple[int, int] = (960, 600)
) -> Array:
    """The chart as bytes, shape (height, width, 3). `key` heads the key, which is drawn for more than one series."""
    width, height = (FINE * side for side in size)
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    colours = _colours(len(series))
    right = width - FINE * 30
    if len(series) > 1:
        right -= _draw_key(pen, series, colours, key, right, FINE * 78)
    lows, highs = _extent([part for one in series for part in (one.y, *(one.line[1:] if one.line else ()))])
    ticks = _ticks(lows, highs)
    left = FINE * 34 + max(round(_wide(label, SMALL)) for label in ticks.values())
    frame = _Frame(left, FINE * 78, right, height - FINE * 72)
    frame.y = (min(lows, *ticks), max(highs, *ticks))
    if x.words:
        frame.x = (-0.5, len(x.words) - 0.5)
        marks = {float(k): word for k, word in enumerate(x.words)}
    else:
        low, high = _extent([one.x for one in series])
        marks = _ticks(low, high)
        room = 0.03 * (high - low)
        frame.x = (low - room, high + room)
        marks = {value: label for value, label in marks.items() if frame.x[0] <= value <= frame.x[1]}
    _draw_axes(pen, frame, marks, ticks, x.title, y.title)
    for one, colour in zip(series, colours):
        _draw_series(pen, frame, one, colour)
    write(pen, FINE * 24, FINE * 30, title, FINE * LETTERS, TEXT, most=width - FINE * 48)
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS))


class _Frame:
    """Where the axes lie [pixel], and what numbers they span."""

    x: tuple[float, float]
    y: tuple[float, float]

    def __init__(self, left: int, top: int, right: int, bottom: int) -> None:
        self.left, self.top, self.right, self.bottom = left, top, max(right, left + 1), bottom

    def across(self, value: float) -> float:
        return self.left + (value - self.x[0]) / (self.x[1] - self.x[0]) * (self.right - self.left)

    def up(self, value: float) -> float:
        return self.bottom - (value - self.y[0]) / (self.y[1] - self.y[0]) * (self.bottom - self.top)


def _draw_axes(
    pen: ImageDraw.ImageDraw, frame: _Frame, marks: dict[float, str], ticks: dict[float, str], across: str, up: str
) -> None:
    for value, label in ticks.items():
        level = frame.up(value)
        pen.line([(frame.left, level), (frame.right, level)], fill=GRID, width=FINE)
        write(pen, frame.left - FINE * 8 - _wide(label, SMALL), level + FINE * 5, label, FINE * SMALL, FAINT)
    room = (frame.right - frame.left) / max(len(marks), 1) - FINE * 8
    for value, label in marks.items():
        place = frame.across(value)
        pen.line([(place, frame.bottom), (place, frame.bottom + FINE * 5)], fill=FAINT, width=FINE)
        wide = min(_wide(label, SMALL), room)
        write(pen, place - 0.5 * wide, frame.bottom + FINE * 22, label, FINE * SMALL, FAINT, most=max(room, 1.0))
    pen.line([(frame.left, frame.bottom), (frame.right, frame.bottom)], fill=FAINT, width=FINE)
    write(pen, FINE * 24, frame.top - FINE * 16, up, FINE * LETTERS, TEXT)
    middle = 0.5 * (frame.left + frame.right) - 0.5 * _wide(across, LETTERS)
    write(pen, middle, frame.bottom + FINE * 50, across, FINE * LETTERS, TEXT)


def _draw_series(pen: ImageDraw.ImageDraw, frame: _Frame, series: Series, colour: Colour) -> None:
    if series.line is not None and len(series.line[0]) > 1:
        points = [(frame.across(float(a)), frame.up(float(b))) for a, b in zip(*series.line)]
        pen.line(points, fill=colour, width=round(FINE * 1.8), joint="curve")
    radius = FINE * 4
    for a, b in zip(series.x, series.y):
        centre = (frame.across(float(a)), frame.up(float(b)))
        box = (centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius)
        pen.ellipse(box, fill=colour, outline="white", width=FINE)


def _draw_key(
    pen: ImageDraw.ImageDraw, series: Sequence[Series], colours: Sequence[Colour], head: str, right: int, top: int
) -> int:
    """Draw the key so that it ends at `right`; returns the room that it takes [pixel]."""
    most = FINE * 240
    names = [one.name for one in series[:KEY_LINES]]
    more = [f"and {len(series) - KEY_LINES} more"] if len(series) > KEY_LINES else []
    wide = max(
        fitted(head, FINE * LETTERS, most)[2],
        *(fitted(name, FINE * SMALL, most)[2] + FINE * 18 for name in [*names, *more]),
    )
    left = round(right - wide)
    write(pen, left, top - FINE * 16, head, FINE * LETTERS, TEXT, most=most)
    for k, name in enumerate([*names, *more]):
        level = top + FINE * (10 + 24 * k)
        if k < len(names):
            pen.ellipse((left, level - FINE * 9, left + FINE * 9, level), fill=colours[k])
        write(pen, left + FINE * 18, level, name, FINE * SMALL, FAINT, most=most)
    return round(wide) + FINE * 28


def _extent(parts: Sequence[Array]) -> tuple[float, float]:
    values = np.concatenate([np.asarray(part, dtype=float) for part in parts])
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = 0.1 * abs(high) or 1.0
        return low - room, high + room
    return low, high


def _ticks(low: float, high: float, about: int = 6) -> dict[float, str]:
    """Round numbers that span [low, high], each with its label."""
    rough = (high - low) / about
    scale = 10.0 ** np.floor(np.log10(rough))
    step = float(scale * next(m for m in (1.0, 2.0, 5.0, 10.0) if m * scale >= rough * (1.0 - 1e-9)))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    most = max(abs(first), abs(last)) * step
    digits = max(0, int(np.ceil(np.log10(most / step)))) + 1 if most else 1
    return {k * step: f"{k * step:.{min(digits, 15)}g}" if k else "0" for k in range(first, last + 1)}


def _colours(count: int) -> list[Colour]:
    if count <= len(INKS):
        return [ImageColor.getrgb(ink)[:3] for ink in INKS[:count]]
    at = np.linspace(0.0, len(RAMP) - 1.0, count)
    mixed = [np.interp(at, np.arange(len(RAMP)), [colour[k] for colour in RAMP]) for k in range(3)]
    return [(int(r), int(g), int(b)) for r, g, b in zip(*mixed)]


def _wide(words: str, size: int) -> float:
    return length(split_runs(words), FINE * size)
