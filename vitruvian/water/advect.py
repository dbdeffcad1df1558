"""Advection of velocity: semi-Lagrangian, and MacCormack's second-order correction with a limiter (Selle et al. 2008).

A value comes from the point that the flow carries here, x_b = x - dt u(x - dt/2 u(x)). MacCormack carries the result
back again, takes half of what is missing as its error, and falls back to the plain value where the correction would
leave the range of the eight values it came from. Only faces within `BAND` cells of water are carried; others are zero
until extended.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.interpolate import linear, velocity
from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState

BAND = 3.0  # cells of air beside the water that are carried along

Array = np.ndarray


def advect_velocity(
    tank: Tank, state: WaterState, dt: float, carried: tuple[Array, Array, Array] | None = None
) -> None:
    """Replace the velocity by the advected one. `carried`: the fields to carry, if not the velocity itself."""
    courant = dt / tank.cell
    reach = BAND * tank.cell
    fields = (state.u, state.v, state.w) if carried is None else carried
    flow = (state.u, state.v, state.w)
    results = []
    for axis, f in enumerate(fields):
        offset = np.full(3, 0.5)
        offset[axis] = 0.0
        forward, low, high = np.zeros_like(f), np.empty_like(f), np.empty_like(f)
        _forward(f, axis, offset, *flow, state.phi, reach, courant, forward, low, high)
        if tank.advection == "maccormack":
            out = np.zeros_like(f)
            _correct(f, axis, offset, *flow, state.phi, reach, courant, forward, low, high, out)
            forward = out
        results.append(forward)
    state.u, state.v, state.w = results


@njit(cache=True, inline="always")
def _near(phi, axis, i, j, k, reach):
    """A face is carried if one of its cells is water or close to it."""
    nx, ny, nz = phi.shape
    if phi[min(i, nx - 1), min(j, ny - 1), min(k, nz - 1)] < reach:
        return True
    if axis == 0:
        return i > 0 and phi[i - 1, j, k] < reach
    if axis == 1:
        return j > 0 and phi[i, j - 1, k] < reach
    return k > 0 and phi[i, j, k - 1] < reach


@njit(cache=True, parallel=True)
def _forward(f, axis, offset, u, v, w, phi, reach, courant, out, low, high):
    nx, ny, nz = f.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if not _near(phi, axis, i, j, k, reach):
                    continue
                x, y, z = i + offset[0], j + offset[1], k + offset[2]
                a, b, c = velocity(u, v, w, x, y, z)
                s = 0.5 * courant
                a, b, c = velocity(u, v, w, x - s * a, y - s * b, z - s * c)
                x = min(max(i - courant * a, 0.0), nx - 1.0)
                y = min(max(j - courant * b, 0.0), ny - 1.0)
                z = min(max(k - courant * c, 0.0), nz - 1.0)
                p = min(int(x), nx - 2)
                q = min(int(y), ny - 2)
                r = min(int(z), nz - 2)
                a, b, c = x - p, y - q, z - r
                f000, f001 = f[p, q, r], f[p, q, r + 1]
                f010, f011 = f[p, q + 1, r], f[p, q + 1, r + 1]
                f100, f101 = f[p + 1, q, r], f[p + 1, q, r + 1]
                f110, f111 = f[p + 1, q + 1, r], f[p + 1, q + 1, r + 1]
                f00 = f000 + c * (f001 - f000)
                f01 = f010 + c * (f011 - f010)
                f10 = f100 + c * (f101 - f100)
                f11 = f110 + c * (f111 - f110)
                f0 = f00 + b * (f01 - f00)
                f1 = f10 + b * (f11 - f10)
                out[i, j, k] = f0 + a * (f1 - f0)
                low[i, j, k] = min(min(min(f000, f001), min(f010, f011)), min(min(f100, f101), min(f110, f111)))
                high[i, j, k] = max(max(max(f000, f001), max(f010, f011)), max(max(f100, f101), max(f110, f111)))


@njit(cache=True, parallel=True)
def _correct(f, axis, offset, u, v, w, phi, reach, courant, forward, low, high, out):
    nx, ny, nz = f.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if not _near(phi, axis, i, j, k, reach):
                    continue
                x, y, z = i + offset[0], j + offset[1], k + offset[2]
                a, b, c = velocity(u, v, w, x, y, z)
                s = 0.5 * courant
                a, b, c = velocity(u, v, w, x + s * a, y + s * b, z + s * c)
                back = linear(forward, i + courant * a, j + courant * b, k + courant * c)
                value = forward[i, j, k] + 0.5 * (f[i, j, k] - back)
                inside = low[i, j, k] <= value <= high[i, j, k]
                out[i, j, k] = value if inside else forward[i, j, k]
