"""Sides that swallow waves: near them the flow is drawn to the stream and the surface to its calm level.

A layer of thickness L beside each open or inflow side relaxes u and phi at the rate sigma(x) = (6 c / L) (1 - x / L)^2,
c = sqrt(g L): a wave that crosses the layer at c and comes back loses exp(-4) of its height.
"""

from __future__ import annotations

import numpy as np

from vitruvian.water.inflow import calm
from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream

STRENGTH = 6.0


def absorb(tank: Tank, state: WaterState, dt: float) -> None:
    """Relax velocity and level set in the layers beside open and inflow sides, in place."""
    if tank.sponge == 0.0:
        return
    h = tank.cell
    rate = STRENGTH * np.sqrt(abs(tank.gravity[2]) * tank.sponge) / tank.sponge
    level, along = calm(tank, state), stream(tank, state)
    for side in range(4):
        if tank.open_sides()[side] not in (1, 2):
            continue
        axis, far = divmod(side, 2)
        n = tank.shape[axis]
        for array, target in ((state.phi, level), (state.u, along[0]), (state.v, along[1]), (state.w, along[2])):
            count = array.shape[axis]
            x = (np.arange(count) + (0.5 if count == n else 0.0)) * h
            x = n * h - x if far else x
            keep = np.exp(-dt * rate * np.maximum(0.0, 1.0 - x / tank.sponge) ** 2)
            inside = np.flatnonzero(keep < 1.0)
            if not len(inside):
                continue
            region: list = [slice(None)] * 3
            region[axis] = slice(inside[0], inside[-1] + 1)
            shape = [1, 1, 1]
            shape[axis] = len(inside)
            k = keep[inside].reshape(shape)
            array[tuple(region)] = target + k * (array[tuple(region)] - target)
