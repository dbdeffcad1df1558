"""Spray: water that the level set has left behind flies as drops, and its volume is counted all the while.

A water marker farther than half a diagonal of a cell outside the mended, redistanced surface has no water left about
it that the grid could hold: it flies on under gravity, without drag. Its volume is its share of a cell, h^3 /
particles, but all that are released together take no more than the surface has lost in this sub-step (in a closed
tank, where that is known); a marker that took nothing along was a stray. Where a drop comes back to the water the
surface around it is raised by just its volume, markers with it. A drop on a dry floor or wall stays there until water
meets it. Air markers as deep in the water, or in a closed pocket, are given up: this fluid has no air that could hold
a bubble open, and markers that went on carving it would eat the water around.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import binary_dilation, label

from vitruvian.water.interpolate import sample_linear, sample_velocity, to_cells
from vitruvian.water.keep import missing_volume, raise_surface
from vitruvian.water.model import Tank
from vitruvian.water.particles import keep_markers, marker_values
from vitruvian.water.periodic import bring_back, corner, narrow, widen
from vitruvian.water.state import WaterState

Array = np.ndarray
ESCAPE = 0.5 * np.sqrt(3.0)  # cells beyond the surface at which a marker has left it for good: half a cell's diagonal
TOUCH = 0.5  # cells from the surface at which a drop rejoins it


def fly(tank: Tank, state: WaterState, dt: float) -> None:
    """Move drops on their parabolas; those that meet a wall stop there and slide down it.

    Over an open top they fly on. Those that pass an open side, or a wall above its rim, are gone.
    """
    if not len(state.spray):
        return
    g = np.asarray(tank.gravity)
    state.spray = state.spray + dt * state.spray_velocity + 0.5 * dt * dt * g
    state.spray_velocity = state.spray_velocity + dt * g
    state.spray = bring_back(tank, state, state.spray)
    low = state.origin + 0.05 * tank.cell
    high = state.origin + np.asarray(tank.size) - 0.05 * tank.cell
    opened = np.isin(tank.open_sides(), (1, 2)).reshape(3, 2)
    above = (state.spray[:, 2] > high[2]) & opened[2, 1]
    beyond = np.stack([state.spray < low, state.spray > high], axis=2)
    beyond[:, 2, 1] &= not opened[2, 1]
    beyond[:, list(tank.wrapped)] = False
    gone = np.any(beyond & (opened | above[:, None, None]), axis=(1, 2))
    if gone.any():
        lost = float(state.spray_volume[gone].sum())
        state.volume -= lost
        state.exchanged_volume -= lost
        keep_spray(state, ~gone)
        beyond = beyond[~gone]
    state.spray_velocity[beyond.any(axis=2)] = 0.0
    state.spray = np.where(beyond[:, :, 0], low, np.where(beyond[:, :, 1], high, state.spray))


def release(tank: Tank, state: WaterState, opened: Array) -> None:
    """Markers that the surface has left for good become spray (water) or are given up (air); phi must be a distance.

    opened: open part of each cell, shape of the tank.
    """
    if not len(state.markers):
        return
    h = tank.cell
    value = marker_values(tank, state)
    away = (state.marker_side < 0) & (value > ESCAPE * h)
    lost = (state.marker_side > 0) & ((value < -ESCAPE * h) | _in_pockets(tank, state))
    count = int(away.sum())
    volume = h**3 / tank.particles
    if count and tank.closed:
        volume = min(volume, max(0.0, missing_volume(tank, state, opened)) / count)
    if count and volume > 0.0:
        speed = np.empty((count, 3))
        u, v, w = (widen(tank, f, 1) for f in (state.u, state.v, state.w))
        sample_velocity(u, v, w, to_cells(state.markers[away], corner(tank, state.origin, 1), h), speed)
        state.spray = np.concatenate([state.spray, state.markers[away]])
        state.spray_velocity = np.concatenate([state.spray_velocity, speed])
        state.spray_volume = np.concatenate([state.spray_volume, np.full(count, volume)])
    keep_markers(state, ~(away | lost))


def rejoin(tank: Tank, state: WaterState, psi: Array | None = None) -> None:
    """Drops that have come back to the water, or that a body (nodal distance psi [m]) has met beside it, raise its
    surface.

    A drop that met a body in the air falls on through it. One that is deep in the water already is part of it.
    """
    if not len(state.spray):
        return
    h = tank.cell
    points = to_cells(state.spray, state.origin, h)
    value = np.empty(len(points))
    sample_linear(widen(tank, state.phi, 1), to_cells(state.spray, corner(tank, state.origin, 1), h), 0.5, value)
    back = value < TOUCH * h
    if psi is not None:
        distance = np.empty(len(points))
        sample_linear(psi, points, 0.0, distance)
        back |= distance < 0.0
    back &= points[:, 2] < tank.shape[2]  # over the rim there is nothing to meet
    if not back.any():
        return
    taken = raise_surface(tank, state, points[back], state.spray_volume[back])
    back[back] = taken | (value[back] < -TOUCH * h)
    keep_spray(state, ~back)


def keep_spray(state: WaterState, kept: Array) -> None:
    """Forget all drops but those `kept`, (n,)."""
    state.spray, state.spray_velocity = state.spray[kept], state.spray_velocity[kept]
    state.spray_volume = state.spray_volume[kept]


def _in_pockets(tank: Tank, state: WaterState) -> Array:
    """Whether each marker has no cell of open air within a cell's reach; (n,)."""
    air = state.phi >= 0.0
    some: Array = np.any(air, axis=(0, 1))
    only: Array = np.all(air, axis=(0, 1))
    # from the lowest layer with air to the one above the highest with water; pockets cannot be elsewhere
    low, high = int(np.argmax(some)), tank.shape[2] - int(np.argmin(only[::-1])) + 1
    regions, count = label(air[:, :, low:high])
    if count <= 1:
        return np.zeros(len(state.markers), bool)
    # the layer above all water is open air; where water reaches the rim, the largest region is
    outside = int(regions[0, 0, -1]) if high <= tank.shape[2] else int(np.bincount(regions.ravel())[1:].argmax()) + 1
    near = air
    near[:, :, low:high] = np.isin(regions, _joined(tank, regions, outside))
    near = narrow(tank, binary_dilation(widen(tank, near, 1), np.ones((3, 3, 3), bool)), 1)
    cells = np.clip(to_cells(state.markers, state.origin, tank.cell).astype(np.int64), 0, np.asarray(tank.shape) - 1)
    return ~near[cells[:, 0], cells[:, 1], cells[:, 2]]


def _joined(tank: Tank, regions: Array, first: int) -> list[int]:
    """Numbers of the regions that are one with region `first` across periodic sides."""
    found, count = {first}, 0
    while len(found) > count:
        count = len(found)
        for axis in tank.wrapped:
            ends = np.take(regions, (0, -1), axis).swapaxes(0, axis).reshape(2, -1)
            touching = np.isin(ends, list(found)).any(axis=0) & ends.all(axis=0)
            found |= {int(n) for n in ends[:, touching].ravel()}
    return sorted(found)
