"""The water's surface as a level set, carried by the flow: semi-Lagrangian with tricubic interpolation in a band.

`make_distance` keeps it a distance, `particles` mend what the grid cannot hold, `volume` measures it.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.boundary import Boundary
from vitruvian.water.distance import BAND, redistance
from vitruvian.water.interpolate import limited_cubic, velocity
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, passed, widen
from vitruvian.water.sides import FAR, Sides, looked, seen_linear, walk
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream

Array = np.ndarray


def advect_surface(tank: Tank, state: WaterState, dt: float, boundary: Boundary | None = None) -> None:
    """Carry `state.phi` with the velocity for dt, not through thin bodies: boundary, where these are."""
    margin = passed(tank, state, dt) + 3
    phi, u, v, w = (widen(tank, f, margin) for f in (state.phi, state.u, state.v, state.w))
    out = phi.copy()
    number, seen = looked(None if boundary is None else boundary.sides)
    bx, by, bz = u, v, w
    if boundary is not None and len(seen):
        number = widen(tank, number, margin)
        bx, by, bz = (widen(tank, f, margin) for f in (boundary.body_x, boundary.body_y, boundary.body_z))
    along = stream(tank, state)
    _carry_phi(phi, u, v, w, bx, by, bz, tank.cell, dt / tank.cell, (BAND - 0.5) * tank.cell, along, number, seen, out)
    out = narrow(tank, out, margin)
    if tank.boundary("z+") == "open":
        # what comes in over the rim is air
        part = np.clip(-state.w[:, :, -1] * dt / tank.cell, 0.0, 1.0)
        air = (1.0 - part) * state.phi[:, :, -1] + part * 0.5 * tank.cell
        out[:, :, -1] = np.where(part > 0.0, np.maximum(out[:, :, -1], air), out[:, :, -1])
    state.phi = out


def make_distance(tank: Tank, phi: Array, sides: Sides | None = None) -> Array:
    """The signed distance [m] to the zero set of phi in the band, across periodic sides too, but not through thin
    bodies.
    """
    number, seen = looked(sides)
    if sides is not None:
        number = widen(tank, number, BAND + 2)
    return narrow(tank, redistance(widen(tank, phi, BAND + 2), tank.cell, number, seen), BAND + 2)


@njit(cache=True, inline="always")
def _between(low, high, body_low, body_high, bits, step, s, along):
    """Velocity along an axis half a way upstream of a cell's centre, between those of its two faces; of one that is
    shut to the cell's own piece it is the body's, since the other side may own the face. step: between bits (`sides`).
    """
    low = low if bits >> (13 - step) & 1 else body_low
    high = high if bits >> (13 + step) & 1 else body_high
    mean = 0.5 * (low + high)
    at = min(max(0.5 - s * (mean + along), 0.0), 1.0)
    return low + at * (high - low)


@njit(cache=True, parallel=True)
def _carry_phi(phi, u, v, w, bx, by, bz, h, courant, reach, along, number, seen, out):
    nx, ny, nz = phi.shape
    walled = len(seen) > 0
    known = np.zeros(len(seen), np.bool_)
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if abs(phi[i, j, k]) >= reach:
                    continue
                x, y, z = i + 0.5, j + 0.5, k + 0.5
                s = 0.5 * courant
                if walled and number[i, j, k] >= 0:
                    bits = seen[number[i, j, k]]
                    a = _between(u[i, j, k], u[i + 1, j, k], bx[i, j, k], bx[i + 1, j, k], bits, 9, s, along[0])
                    b = _between(v[i, j, k], v[i, j + 1, k], by[i, j, k], by[i, j + 1, k], bits, 3, s, along[1])
                    c = _between(w[i, j, k], w[i, j, k + 1], bz[i, j, k], bz[i, j, k + 1], bits, 1, s, along[2])
                else:
                    a, b, c = velocity(u, v, w, x, y, z)
                    a, b, c = velocity(u, v, w, x - s * (a + along[0]), y - s * (b + along[1]), z - s * (c + along[2]))
                x, y, z = i - courant * a, j - courant * b, k - courant * c
                if walled:
                    p, q, r, x, y, z, _ = walk(number, seen, i, j, k, x, y, z)
                    if number[p, q, r] != FAR:
                        out[i, j, k] = seen_linear(phi, h, number, seen, known, p, q, r, x, y, z)
                        continue
                out[i, j, k] = limited_cubic(phi, x, y, z)
