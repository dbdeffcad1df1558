"""Second order in time (`Tank(order=2)`): water is carried along with half a sub-step of its acceleration.

Advection and pressure follow each other in a sub-step. If water takes its old velocity alone along, the pressure acts
where a particle ends and not on its way there, which is an error of dt^2 a sub-step and leaves a wake behind a body in
ideal flow. With a the acceleration of the sub-step before (of gravity, friction and pressure) and B x the place of a
point before the motion of the body beside it,

    u* (x) = (u + dt/2 a)(x_b) - dt/2 a (B x),      x = x_b + dt (u + dt/2 a)(x_b)

The pressure then brings dt a(x), so a particle has received the mean of a where it was and of a where it is. Away from
bodies B x = x, less the way of the tank's stream: what is carried and what is taken back differ by the change of a
along the way alone, so waves and water at rest are as without. Beside a moving body the pressure moves along with it,
and so does what is taken back.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.boundary import Boundary
from vitruvian.water.interpolate import linear
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, passed, widen
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream

Array = np.ndarray
FADE = 3  # cells beyond the band of known distances over which a body's motion fades out


def taken_along(state: WaterState, dt: float) -> list[Array]:
    """What particles take along [m/s], at faces: u + dt/2 a."""
    flow = (state.u, state.v, state.w)
    if not state.acceleration:
        return [f.copy() for f in flow]
    return [f + 0.5 * dt * a for f, a in zip(flow, state.acceleration)]


def take_back(tank: Tank, state: WaterState, boundary: Boundary, dt: float) -> None:
    """Subtract dt/2 a, seen from the bodies near, from the advected velocity in place; bodies' velocities at faces are
    those with which they came here."""
    if not state.acceleration:
        return
    speeds = (boundary.body_x, boundary.body_y, boundary.body_z)
    links = (boundary.link_x, boundary.link_y, boundary.link_z)
    along, margin = stream(tank, state), passed(tank, state, dt) + 2
    way = [s + (0.0 if k is None else _spread(b - s, k)) for b, k, s in zip(speeds, links, along)]
    way = [widen(tank, np.broadcast_to(s, b.shape), margin) for s, b in zip(way, speeds)]
    flow = [widen(tank, f, margin) for f in (state.u, state.v, state.w)]
    for axis, (f, a) in enumerate(zip(flow, state.acceleration)):
        _take_back(f, widen(tank, a, margin), axis, way[0], way[1], way[2], dt / tank.cell, 0.5 * dt)
    state.u, state.v, state.w = (narrow(tank, f, margin) for f in flow)


def remember(state: WaterState, before: tuple[Array, Array, Array], dt: float) -> None:
    """Keep the acceleration of the sub-step; before: the velocity before gravity, friction and pressure."""
    state.acceleration = [(f - b) / dt for f, b in zip((state.u, state.v, state.w), before)]


def _spread(speed: Array, link: Array) -> Array:
    """Bodies' velocity at faces near them, handed outwards and fading."""
    known = link >= 0
    out = np.where(known, speed, 0.0)
    for layer in range(FADE):
        total, count = np.zeros_like(out), np.zeros(out.shape)
        for axis in range(3):
            for side in (-1, 1):
                to = tuple(slice(max(side, 0), min(side, 0) or None) if d == axis else slice(None) for d in range(3))
                of = tuple(slice(max(-side, 0), min(-side, 0) or None) if d == axis else slice(None) for d in range(3))
                total[to] += np.where(known[of], out[of], 0.0)
                count[to] += known[of]
        new = ~known & (count > 0)
        out[new] = total[new] / count[new] * (FADE - layer) / (FADE + 1 - layer)
        known |= new
    return out


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, parallel=True)
def _take_back(f, a, axis, bx, by, bz, courant, half):
    nx, ny, nz = f.shape
    ox, oy, oz = (0.0 if axis == 0 else 0.5), (0.0 if axis == 1 else 0.5), (0.0 if axis == 2 else 0.5)
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                x, y, z = i + ox, j + oy, k + oz
                p = linear(bx, x, y - 0.5, z - 0.5)
                q = linear(by, x - 0.5, y, z - 0.5)
                r = linear(bz, x - 0.5, y - 0.5, z)
                if p == 0.0 and q == 0.0 and r == 0.0:
                    f[i, j, k] -= half * a[i, j, k]
                else:
                    f[i, j, k] -= half * linear(a, i - courant * p, j - courant * q, k - courant * r)
