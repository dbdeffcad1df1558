"""The water's surface as a level set, carried by the flow: semi-Lagrangian with tricubic interpolation in a band.

`make_distance` keeps it a distance, `particles` mend what the grid cannot hold, `volume` measures it.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.distance import BAND, redistance
from vitruvian.water.interpolate import limited_cubic, velocity
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, passed, widen
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream

Array = np.ndarray


def advect_surface(tank: Tank, state: WaterState, dt: float) -> None:
    """Carry `state.phi` with the velocity for dt."""
    margin = passed(tank, state, dt) + 3
    phi, u, v, w = (widen(tank, f, margin) for f in (state.phi, state.u, state.v, state.w))
    out = phi.copy()
    _carry_phi(phi, u, v, w, dt / tank.cell, (BAND - 0.5) * tank.cell, stream(tank, state), out)
    out = narrow(tank, out, margin)
    if tank.boundary("z+") == "open":
        # what comes in over the rim is air
        part = np.clip(-state.w[:, :, -1] * dt / tank.cell, 0.0, 1.0)
        air = (1.0 - part) * state.phi[:, :, -1] + part * 0.5 * tank.cell
        out[:, :, -1] = np.where(part > 0.0, np.maximum(out[:, :, -1], air), out[:, :, -1])
    state.phi = out


def make_distance(tank: Tank, phi: Array) -> Array:
    """The signed distance [m] to the zero set of phi in the band, across periodic sides too."""
    return narrow(tank, redistance(widen(tank, phi, BAND + 2), tank.cell), BAND + 2)


@njit(cache=True, parallel=True)
def _carry_phi(phi, u, v, w, courant, reach, along, out):
    nx, ny, nz = phi.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if abs(phi[i, j, k]) >= reach:
                    continue
                x, y, z = i + 0.5, j + 0.5, k + 0.5
                a, b, c = velocity(u, v, w, x, y, z)
                s = 0.5 * courant
                a, b, c = velocity(u, v, w, x - s * (a + along[0]), y - s * (b + along[1]), z - s * (c + along[2]))
                out[i, j, k] = limited_cubic(phi, i - courant * a, j - courant * b, k - courant * c)
