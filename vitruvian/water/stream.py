"""The stream of a tank: its inflow, or the mean flow along periodic axes."""

from __future__ import annotations

import numpy as np

from vitruvian.water.model import SIDES, Tank
from vitruvian.water.state import WaterState

Array = np.ndarray


def stream(tank: Tank, state: WaterState) -> Array:
    """Velocity [m/s] of the stream, shape (3,); zero in a tank without inflow and periodic sides."""
    out = np.zeros(3)
    for side, speed in tank.inflow.items():
        axis, far = divmod(SIDES.index(side), 2)
        out[axis] += -speed if far else speed
    if tank.wrapped:
        wet = state.phi < 0.0
        for axis in tank.wrapped:
            first = np.take((state.u, state.v)[axis], range(tank.shape[axis]), axis)
            out[axis] = float(first[wet].mean()) if wet.any() else 0.0
    return out
