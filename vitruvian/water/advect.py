"""Advection of velocity: semi-Lagrangian, and MacCormack's second-order correction with a limiter (Selle et al. 2008).

A value comes from the point that the flow carries here, x_b = x - dt u(x - dt/2 (u(x) + U)). U is the tank's stream
(`stream`): the velocity field is taken as frozen for dt in axes that move with it, so that a flow goes on alike in a
stream and in still water. Frozen in those of the tank, waves that run with a stream grow and those against it die.
With `Tank(order=2)` a particle keeps the mean velocity that it starts with (`inertia`): x = x_b + dt u(x_b).
MacCormack carries the result back again, takes half of what is missing as its error, and falls back to the plain value
where the correction would leave the range of the eight values it came from. Only faces within `BAND` cells of water are
carried; others are zero until extended.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.inertia import taken_along
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, passed, widen
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream

BAND = 3.0  # cells of air beside the water that are carried along
ITERATIONS = 2  # by which a particle's departure is found from its velocity there

Array = np.ndarray


def advect_velocity(
    tank: Tank, state: WaterState, dt: float, carried: tuple[Array, Array, Array] | None = None
) -> None:
    """Replace the velocity by the advected one. `carried`: the fields to carry, if not the velocity itself."""
    courant = dt / tank.cell
    reach = BAND * tank.cell
    margin = 2 * passed(tank, state, dt) + 3
    phi = widen(tank, state.phi, margin)
    second = tank.order == 2
    flow = taken_along(state, dt) if second else [state.u, state.v, state.w]
    u, v, w = (widen(tank, f, margin) for f in flow)
    fields = (u, v, w) if carried is None else tuple(widen(tank, f, margin) for f in carried)
    along = np.zeros(3) if second else stream(tank, state)
    results = []
    for axis, f in enumerate(fields):
        forward, low, high = np.zeros_like(f), np.empty_like(f), np.empty_like(f)
        _forward(f, axis, u, v, w, phi, reach, courant, along, second, forward, low, high)
        if tank.advection == "maccormack":
            out = np.zeros_like(f)
            _correct(f, axis, u, v, w, phi, reach, courant, along, second, forward, low, high, out)
            forward = out
        results.append(forward)
    state.u, state.v, state.w = (narrow(tank, f, margin) for f in results)


# --- kernels -------------------------------------------------------------------------------------------------------


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


@njit(cache=True, inline="always")
def _at_face(u, v, w, axis, i, j, k):
    """Velocity at the middle of a face: its own component, and the means of the four nearest of the others."""
    nx, ny, nz = u.shape[0] - 1, v.shape[1] - 1, w.shape[2] - 1
    if axis == 0:
        p, q = max(i - 1, 0), min(i, nx - 1)
        return (
            u[i, j, k],
            0.25 * (v[p, j, k] + v[p, j + 1, k] + v[q, j, k] + v[q, j + 1, k]),
            0.25 * (w[p, j, k] + w[p, j, k + 1] + w[q, j, k] + w[q, j, k + 1]),
        )
    if axis == 1:
        p, q = max(j - 1, 0), min(j, ny - 1)
        return (
            0.25 * (u[i, p, k] + u[i + 1, p, k] + u[i, q, k] + u[i + 1, q, k]),
            v[i, j, k],
            0.25 * (w[i, p, k] + w[i, p, k + 1] + w[i, q, k] + w[i, q, k + 1]),
        )
    p, q = max(k - 1, 0), min(k, nz - 1)
    return (
        0.25 * (u[i, j, p] + u[i + 1, j, p] + u[i, j, q] + u[i + 1, j, q]),
        0.25 * (v[i, j, p] + v[i, j + 1, p] + v[i, j, q] + v[i, j + 1, q]),
        w[i, j, k],
    )


@njit(cache=True, inline="always")
def _corner(f, x, y, z):
    """Place in the flat array of the lowest of the eight samples about a point, and the point's place among them."""
    nx, ny, nz = f.shape
    x = min(max(x, 0.0), nx - 1.0)
    y = min(max(y, 0.0), ny - 1.0)
    z = min(max(z, 0.0), nz - 1.0)
    p, q, r = min(int(x), nx - 2), min(int(y), ny - 2), min(int(z), nz - 2)
    # unsigned, so that no load asks whether its index counts from the end
    return np.uint64((p * ny + q) * nz + r), x - p, y - q, z - r


@njit(cache=True, inline="always")
def _linear(f, flat, x, y, z):
    """Trilinear value at index coordinates; constant beyond the outermost samples."""
    at, a, b, c = _corner(f, x, y, z)
    one, row, slab = np.uint64(1), np.uint64(f.shape[2]), np.uint64(f.shape[1] * f.shape[2])
    f00 = flat[at] + c * (flat[at + one] - flat[at])
    f01 = flat[at + row] + c * (flat[at + row + one] - flat[at + row])
    at += slab
    f10 = flat[at] + c * (flat[at + one] - flat[at])
    f11 = flat[at + row] + c * (flat[at + row + one] - flat[at + row])
    f0 = f00 + b * (f01 - f00)
    f1 = f10 + b * (f11 - f10)
    return f0 + a * (f1 - f0)


@njit(cache=True, parallel=True)
def _forward(f, axis, u, v, w, phi, reach, courant, along, second, out, low, high):
    nx, ny, nz = f.shape
    flat, fu, fv, fw = f.ravel(), u.ravel(), v.ravel(), w.ravel()
    ox, oy, oz = (0.0 if axis == 0 else 0.5), (0.0 if axis == 1 else 0.5), (0.0 if axis == 2 else 0.5)
    one, row, slab = np.uint64(1), np.uint64(nz), np.uint64(ny * nz)
    for ii in prange(nx):
        i = np.int64(ii)
        s = 0.5 * courant
        for j in range(ny):
            for k in range(nz):
                if not _near(phi, axis, i, j, k, reach):
                    continue
                a, b, c = _at_face(u, v, w, axis, i, j, k)
                x, y, z = i + ox - s * (a + along[0]), j + oy - s * (b + along[1]), k + oz - s * (c + along[2])
                a = _linear(u, fu, x, y - 0.5, z - 0.5)
                b = _linear(v, fv, x - 0.5, y, z - 0.5)
                c = _linear(w, fw, x - 0.5, y - 0.5, z)
                if second:
                    for _ in range(ITERATIONS):
                        x, y, z = i + ox - courant * a, j + oy - courant * b, k + oz - courant * c
                        a = _linear(u, fu, x, y - 0.5, z - 0.5)
                        b = _linear(v, fv, x - 0.5, y, z - 0.5)
                        c = _linear(w, fw, x - 0.5, y - 0.5, z)
                at, a, b, c = _corner(f, i - courant * a, j - courant * b, k - courant * c)
                f000, f001, f010, f011 = flat[at], flat[at + one], flat[at + row], flat[at + row + one]
                at += slab
                f100, f101, f110, f111 = flat[at], flat[at + one], flat[at + row], flat[at + row + one]
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
def _correct(f, axis, u, v, w, phi, reach, courant, along, second, forward, low, high, out):
    nx, ny, nz = f.shape
    flat, fu, fv, fw = forward.ravel(), u.ravel(), v.ravel(), w.ravel()
    ox, oy, oz = (0.0 if axis == 0 else 0.5), (0.0 if axis == 1 else 0.5), (0.0 if axis == 2 else 0.5)
    for ii in prange(nx):
        i = np.int64(ii)
        s = 0.5 * courant
        for j in range(ny):
            for k in range(nz):
                if not _near(phi, axis, i, j, k, reach):
                    continue
                a, b, c = _at_face(u, v, w, axis, i, j, k)
                if not second:
                    x, y, z = i + ox + s * (a - along[0]), j + oy + s * (b - along[1]), k + oz + s * (c - along[2])
                    a = _linear(u, fu, x, y - 0.5, z - 0.5)
                    b = _linear(v, fv, x - 0.5, y, z - 0.5)
                    c = _linear(w, fw, x - 0.5, y - 0.5, z)
                back = _linear(forward, flat, i + courant * a, j + courant * b, k + courant * c)
                value = forward[i, j, k] + 0.5 * (f[i, j, k] - back)
                inside = low[i, j, k] <= value <= high[i, j, k]
                out[i, j, k] = value if inside else forward[i, j, k]
