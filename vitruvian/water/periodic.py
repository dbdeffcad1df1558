"""Periodic sides: what leaves by one side comes in by the other.

Along a periodic axis of n cells a field holds cells 0 to n - 1, or faces 0 to n of which the last is the first again.
Stages that look at neighbours work on a copy that is wider by a margin on both sides and give back its middle; the
pressure solve joins the ends in its matrix. Without periodic axes nothing is copied.
"""

from __future__ import annotations

import numpy as np

from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState

Array = np.ndarray


def widen(tank: Tank, field: Array, margin: int) -> Array:
    """`field` (at cells, faces or nodes) with `margin` more samples on both sides of each periodic axis."""
    for axis in tank.wrapped:
        places = np.arange(-margin, field.shape[axis] + margin) % tank.shape[axis]
        field = np.take(field, places, axis)
    return field


def narrow(tank: Tank, field: Array, margin: int) -> Array:
    """The middle of a widened field; the last face along a periodic axis is the first."""
    for axis in tank.wrapped:
        line = np.moveaxis(field, axis, 0)[margin : field.shape[axis] - margin]
        if len(line) > tank.shape[axis]:
            line[-1] = line[0]
        field = np.moveaxis(line, 0, axis)
    return np.ascontiguousarray(field)


def fold(tank: Tank, field: Array, margin: int) -> Array:
    """The middle of a widened field at cells, to which its margins are added where they belong."""
    for axis in tank.wrapped:
        line = np.moveaxis(field, axis, 0)
        out = np.zeros((tank.shape[axis], *line.shape[1:]))
        np.add.at(out, np.arange(-margin, tank.shape[axis] + margin) % tank.shape[axis], line)
        field = np.moveaxis(out, 0, axis)
    return np.ascontiguousarray(field)


def corner(tank: Tank, origin: Array, margin: int) -> Array:
    """Lowest corner [m] of fields widened by `margin`, shape (3,)."""
    out = np.array(origin, float)
    out[list(tank.wrapped)] -= margin * tank.cell
    return out


def bring_back(tank: Tank, state: WaterState, points: Array) -> Array:
    """Points [m] (n, 3) that left by a periodic side, in their place at the other one."""
    out = points.copy()
    for axis in tank.wrapped:
        out[:, axis] = state.origin[axis] + (out[:, axis] - state.origin[axis]) % tank.size[axis]
    return out


def passed(tank: Tank, state: WaterState, dt: float) -> int:
    """Cells, rounded up, that the fastest flow crosses in dt [s]."""
    if not tank.wrapped:
        return 0
    return int(np.ceil(max(float(np.abs(f).max()) for f in (state.u, state.v, state.w)) * dt / tank.cell))
