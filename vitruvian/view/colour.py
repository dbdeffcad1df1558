"""Colours: sRGB and linear light, colour maps for values on surfaces and lines.

Stage colours are sRGB in 0..1. The renderer adds light in linear space, so colours are decoded once when a drawing is
made (IEC 61966-2-1). Values are shown with one of four maps: `activation` for muscles (pale at rest, red when active),
`complexion` for the blood in a skin (it needs no bar: skin looks so), `diverging` (blue, pale, red) when
the range has zero strictly inside, and else `sequential` (dark violet to yellow, control points of the CC0 map
viridis).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_SEQUENTIAL = np.array(
    [
        (0.267, 0.005, 0.329),
        (0.283, 0.141, 0.458),
        (0.254, 0.265, 0.530),
        (0.207, 0.372, 0.553),
        (0.164, 0.471, 0.558),
        (0.128, 0.567, 0.551),
        (0.135, 0.659, 0.518),
        (0.267, 0.749, 0.441),
        (0.478, 0.821, 0.318),
        (0.741, 0.873, 0.150),
        (0.993, 0.906, 0.144),
    ]
)
_DIVERGING = np.array(
    [
        (0.130, 0.250, 0.560),
        (0.270, 0.460, 0.760),
        (0.560, 0.710, 0.880),
        (0.900, 0.905, 0.905),
        (0.910, 0.640, 0.530),
        (0.780, 0.330, 0.280),
        (0.530, 0.090, 0.150),
    ]
)
_ACTIVATION = np.array(
    [
        (0.760, 0.610, 0.550),
        (0.735, 0.460, 0.400),
        (0.720, 0.310, 0.260),
        (0.700, 0.170, 0.140),
        (0.690, 0.070, 0.060),
    ]
)
_COMPLEXION = np.array(
    [
        (0.905, 0.745, 0.650),
        (0.885, 0.700, 0.600),
        (0.860, 0.640, 0.540),
        (0.820, 0.550, 0.470),
        (0.740, 0.430, 0.380),
    ]
)
UNTOLD = ("complexion",)  # values that need no bar


@dataclass(frozen=True)
class ColourMap:
    """Values `low`..`high` to sRGB by linear interpolation between evenly spaced control colours, shape (k, 3)."""

    controls: Array
    low: float
    high: float
    title: str
    unit: str

    def __call__(self, values: Array) -> Array:
        """sRGB of each value, shape (n, 3); values outside the range take the colour at its end, NaN is grey."""
        values = np.asarray(values, dtype=float)
        span = self.high - self.low
        place = (np.clip(values, self.low, self.high) - self.low) / span if span > 0.0 else np.full(values.shape, 0.5)
        place = np.nan_to_num(place, nan=-1.0)
        knots = np.linspace(0.0, 1.0, len(self.controls))
        colours = np.stack([np.interp(place, knots, self.controls[:, k]) for k in range(3)], axis=-1)
        colours[place < 0.0] = 0.5
        return colours


def colour_map(title: str, unit: str, value_range: tuple[float, float]) -> ColourMap:
    """The map that suits a value by its name and range (see the head of this file)."""
    low, high = float(value_range[0]), float(value_range[1])
    if title.lower() in ("activation", "activations", "excitation"):
        controls = _ACTIVATION
    elif title == "complexion":
        controls = _COMPLEXION
    elif low < 0.0 < high:
        controls = _DIVERGING
    else:
        controls = _SEQUENTIAL
    return ColourMap(controls, low, high, title, unit)


def linear_from_srgb(colour: Array | tuple[float, ...]) -> Array:
    """Linear light of sRGB colours in 0..1."""
    c = np.asarray(colour, dtype=float)
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0.0) + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(light: Array) -> Array:
    """sRGB colours of linear light in 0..1."""
    c = np.clip(light, 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1.0 / 2.4) - 0.055)
