"""Sides of a full tank where water comes in at a given speed: the stream of a water tunnel, still across.

The normal velocity of their faces is prescribed, as at a wall that moves; what enters within a sub-step, the part
U dt / h of a cell, has no velocity across. Another side must be open to let as much out.
"""

from __future__ import annotations

import numpy as np

from vitruvian.water.model import SIDES, Tank
from vitruvian.water.state import WaterState


def let_in(tank: Tank, state: WaterState, dt: float) -> None:
    """Set the velocity of the faces of all inflow sides, and what has entered beside them, in place."""
    for side, speed in tank.inflow.items():
        axis, far = divmod(SIDES.index(side), 2)
        part = min(speed * dt / tank.cell, 1.0)
        for a, f in enumerate((state.u, state.v, state.w)):
            edge = np.moveaxis(f, axis, 0)[-1 if far else 0]
            if a == axis:
                edge[:] = -speed if far else speed
            else:
                edge *= 1.0 - part
