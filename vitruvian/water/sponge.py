"""Open sides that swallow waves: near them the flow is drawn to rest and the surface to its calm level.

A layer of thickness L beside each open side relaxes u and phi at the rate sigma(x) = (6 c / L) (1 - x / L)^2, c =
sqrt(g L): a wave that crosses the layer at c and comes back loses exp(-4) of its height.
"""

from __future__ import annotations

import numpy as np

from vitruvian.water.model import SIDES, Tank
from vitruvian.water.state import WaterState

STRENGTH = 6.0


def absorb(tank: Tank, state: WaterState, dt: float) -> None:
    """Relax velocity and level set in the layers beside the open sides, in place."""
    if tank.sponge == 0.0:
        return
    h = tank.cell
    rate = STRENGTH * np.sqrt(abs(tank.gravity[2]) * tank.sponge) / tank.sponge
    calm = state.origin[2] + (np.arange(tank.shape[2]) + 0.5) * h - tank.rest_level
    calm = np.clip(calm, -5.0 * h, 5.0 * h)
    for side, name in enumerate(SIDES[:4]):
        if tank.boundary(name) != "open":
            continue
        axis, far = divmod(side, 2)
        n = tank.shape[axis]
        for array, shift in ((state.phi, 0.5), (state.u, 0.5), (state.v, 0.5), (state.w, 0.5)):
            count = array.shape[axis]
            x = (np.arange(count) + (shift if count == n else 0.0)) * h
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
            target = calm if array is state.phi else 0.0
            array[tuple(region)] = target + k * (array[tuple(region)] - target)
