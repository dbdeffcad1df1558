"""Keeping the water's volume: what rough spots do not get back (`rough`) is put right evenly, with an account of it.

In a closed tank the volume is known: that of the start, less what flies. What is missing or too much shifts the whole
level set, in every sub-step. A drop of spray that comes back raises the surface around it by its own volume.

To put losses and gains right where markers saw them instead feeds fast and high water with more of it: a dam break
then took in 27 % of its volume and 45 % of its energy, and lost both again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.water.boundary import Boundary
from vitruvian.water.distance import BAND
from vitruvian.water.model import Tank
from vitruvian.water.particles import shift_markers
from vitruvian.water.periodic import corner, fold, widen
from vitruvian.water.state import WaterState, spray_total
from vitruvian.water.volume import volume_and_area, water_volume

Array = np.ndarray
LARGEST_SHIFT = 0.05  # cells by which one sub-step may shift the whole surface
SPREAD = 2.5  # cells around a point over which its volume raises the surface
WIDTH = 1.5  # cells: half width of the smeared delta function that measures the area there
MOST_RISE = 0.5  # cells by which one point may raise the surface; with less surface about it, it raises nothing


def missing_volume(tank: Tank, state: WaterState, opened: Boundary | Array) -> float:
    """Water [m^3] that a closed tank should hold and does not; negative if it holds too much."""
    return state.volume - spray_total(state) - water_volume(tank, state.phi, opened)


def shift_surface(tank: Tank, state: WaterState, opened: Boundary | Array) -> None:
    """Shift the level set by what is missing, but not where it is only known to be far from the surface (+-BAND h), so
    that depths are not read off there; `opened` as in `volume`.
    """
    volume, area = volume_and_area(tank, state.phi, opened)
    if area <= 0.0:
        return
    most = LARGEST_SHIFT * tank.cell
    shift = min(max((volume + spray_total(state) - state.volume) / area, -most), most)
    known = np.abs(state.phi) < (BAND - 1e-9) * tank.cell
    state.phi = np.where(known, state.phi + shift, state.phi)
    shift_markers(tank, state, np.full((2, 2, 2), shift))  # constant beyond its corners
    state.shifted_net -= shift * area
    state.shifted_volume += abs(shift) * area


def raise_surface(tank: Tank, state: WaterState, points: Array, volumes: Array) -> Array:
    """Raise the surface around points (in cells, (n, 3)) so that the water there gains volumes [m^3] (n,), markers
    with it. Whether each found surface enough about it, (n,); those that did not change nothing.
    """
    h = tank.cell
    margin = int(np.ceil(SPREAD))
    phi = widen(tank, state.phi, margin)
    rise = np.zeros(phi.shape)
    taken = np.zeros(len(points), bool)
    points = points - corner(tank, np.zeros(3), margin) / h
    _raise(phi, points, volumes / h**3, h, rise, taken)
    rise = fold(tank, rise, margin)
    state.phi -= rise
    shift_markers(tank, state, -rise)
    return taken


@njit(cache=True)
def _raise(phi, points, volume, h, rise, taken):
    """Rise [m] of the surface around each point that adds its volume [cells]; none where hardly any surface is near,
    which a small area would raise beyond all bounds.
    """
    nx, ny, nz = phi.shape
    reach = int(np.ceil(SPREAD))
    for n in range(points.shape[0]):
        x, y, z = points[n, 0] - 0.5, points[n, 1] - 0.5, points[n, 2] - 0.5
        i0, j0, k0 = int(np.round(x)), int(np.round(y)), int(np.round(z))
        total = 0.0
        for turn in range(2):
            taken[n] = turn == 1 and total > 0.0 and abs(volume[n]) <= MOST_RISE * total
            for i in range(max(i0 - reach, 0), min(i0 + reach + 1, nx)):
                for j in range(max(j0 - reach, 0), min(j0 + reach + 1, ny)):
                    for k in range(max(k0 - reach, 0), min(k0 + reach + 1, nz)):
                        d2 = ((x - i) ** 2 + (y - j) ** 2 + (z - k) ** 2) / SPREAD**2
                        if d2 >= 1.0:
                            continue
                        weight = (1.0 - d2) ** 2
                        if turn == 0:
                            p = abs(phi[i, j, k]) / (WIDTH * h)
                            if p < 1.0:
                                total += weight * (1.0 + np.cos(np.pi * p)) / (2.0 * WIDTH)
                        elif taken[n]:
                            rise[i, j, k] += weight * volume[n] / total * h
