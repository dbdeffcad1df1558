"""Water: standing waves of few cells, wherever the level lies in its cell. omega^2 = g k tanh(k d) (Airy 1845)."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import curve_fit

from vitruvian.verify._water_common import Array, G
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import Tank, fill, step

FRACTIONS = (0.02, 0.2, 0.4, 0.6, 0.8)  # of its cell at which the level lies
LENGTH, HEIGHT, STEPS, PERIODS = 0.5, 0.01, 32, 3  # wavelength [m], height over it, steps a period


@claim
def waves_of_16_cells_keep_their_period() -> Finding:
    """Period of a standing wave of 16 cells over the linear one, for five heights of the level in its cell; worst."""
    found = [_standing(16, f) for f in FRACTIONS]
    detail = ", ".join(f"{100 * (p - 1.0):+.2f} %" for p, _ in found)
    return Finding(worst([p for p, _ in found], 1.0), 1.0, 0.005, detail=f"level at {FRACTIONS} of its cell: {detail}")


@claim
def waves_of_11_cells_lose_little() -> Finding:
    """Height that a standing wave of 11 cells loses in a period, for five heights of the level in its cell; worst."""
    found = [_standing(11, f) for f in FRACTIONS]
    detail = ", ".join(f"{100 * loss:.2f} %" for _, loss in found)
    periods = ", ".join(f"{100 * (p - 1.0):+.2f} %" for p, _ in found)
    return Finding.error(worst([loss for _, loss in found]), 0.05, detail=f"{detail}; periods {periods}")


@cache
def _standing(cells: int, fraction: float) -> tuple[float, float]:
    """Period over the linear one, and part of the height lost in it, of one wave between two walls."""
    h = LENGTH / cells
    depth = (round(0.75 * cells) + fraction) * h
    k = 2.0 * np.pi / LENGTH
    omega = np.sqrt(G * k * np.tanh(k * depth))
    tank = Tank((cells, 4, int(depth / h) + 6), h)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, z - depth - HEIGHT * LENGTH * np.cos(k * x))
    dt = 2.0 * np.pi / omega / STEPS
    heights = []
    for _ in range(STEPS * PERIODS):
        step(tank, state, dt)
        level = _level(tank, state.phi)
        heights.append(2.0 * np.mean((level - level.mean()) * np.cos(k * x[:, 0, 0])) / (HEIGHT * LENGTH))
    time = dt * np.arange(1, len(heights) + 1)
    (_, rate, found, _), _ = curve_fit(_decaying, time, np.array(heights), p0=(1.0, 0.01, omega, 0.0))
    return float(omega / found), float(1.0 - np.exp(-rate * 2.0 * np.pi / omega))


def _decaying(t: Array, height: float, rate: float, omega: float, phase: float) -> Array:
    return height * np.exp(-rate * t) * np.cos(omega * t + phase)


def _level(tank: Tank, phi: Array) -> Array:
    """Height of the surface [m] in each column, mean over y, shape (nx,)."""
    mean = phi.mean(axis=1)
    k = (mean < 0.0).sum(axis=1) - 1
    i = np.arange(len(mean))
    below, above = mean[i, k], mean[i, k + 1]
    return tank.centres()[2][k] + tank.cell * below / (below - above)
