"""Sides where water comes in at a given speed: the stream of a water tunnel or, below a free surface, of a channel.

The normal velocity of their faces is prescribed, as at a wall that moves; what enters within a sub-step, the part
U dt / h of a cell, has no velocity across and its surface at the rest level. Another side must be open to let as much
out.
"""

from __future__ import annotations

import numpy as np

from vitruvian.water.distance import BAND
from vitruvian.water.model import SIDES, Tank
from vitruvian.water.state import WaterState


def let_in(tank: Tank, state: WaterState, dt: float) -> None:
    """Set the velocity of the faces of all inflow sides, and what has entered beside them, in place."""
    for side, speed in tank.inflow.items():
        axis, far = divmod(SIDES.index(side), 2)
        part = min(speed * dt / tank.cell, 1.0)
        end = -1 if far else 0
        for a, f in enumerate((state.u, state.v, state.w)):
            edge = np.moveaxis(f, axis, 0)[end]
            if a == axis:
                edge[:] = -speed if far else speed
            else:
                edge *= 1.0 - part
        if tank.free_surface:
            edge = np.moveaxis(state.phi, axis, 0)[end]
            edge += part * (calm(tank, state) - edge)


def calm(tank: Tank, state: WaterState) -> np.ndarray:
    """Level set [m] of calm water at the rest level at the heights of the cells, shape (nz,)."""
    z = state.origin[2] + (np.arange(tank.shape[2]) + 0.5) * tank.cell
    return np.clip(z - tank.rest_level, -BAND * tank.cell, BAND * tank.cell)
