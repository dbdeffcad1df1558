"""What a patch takes from the window and what it gives back.

Taken at any point by trilinear interpolation: velocity, level set, and pressure as the sum of the weight of the water
above, rho g depth, and the rest, which is interpolated between cells that hold water alone. Given back: impulses at
points, each shared between the eight faces about it in proportion to their trilinear weight and their mass
rho h^3 w (w the open part). Where all eight are wet and open the shares have the same sum and the same moment as what
is given, to rounding; elsewhere the same sum.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.water.boundary import Boundary
from vitruvian.water.interpolate import linear, linear_beyond, velocity
from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState

Array = np.ndarray
THETA_MIN = 1e-3  # as in `water.pressure`
MOST_CELLS = 64  # how far from a patch water is looked for that can take what it gives


def corners_of(fine: Tank, o: Array, A: Array) -> Array:
    """World coordinates [m] of a patch's eight corners, shape (8, 3); o, A: where it is."""
    ends = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    return np.asarray(o + (np.asarray(fine.origin) + ends * np.asarray(fine.size)) @ A.T)


def give(tank: Tank, state: WaterState, boundary: Boundary, points: Array, impulses: Array) -> None:
    """Add impulses [N s] (n, 3) at world points [m] (n, 3) to the window's velocity."""
    mass = tank.density * tank.cell**3
    places = (points - state.origin) / tank.cell
    lost = np.zeros(3)
    for axis, (f, opened) in enumerate(
        zip((state.u, state.v, state.w), (boundary.open_x, boundary.open_y, boundary.open_z))
    ):
        lost[axis] = _give(f, axis, opened, state.phi, places, impulses[:, axis] / mass)
        if lost[axis] != 0.0:
            _give_near(f, axis, opened, state.phi, places, float(lost[axis]))


def _give_near(f: Array, axis: int, opened: Array, phi: Array, places: Array, amount: float) -> None:
    """Share an impulse over rho h^3 evenly between the wet faces of the smallest box about the points that has any."""
    reach = 2
    while reach <= MOST_CELLS:
        low = np.maximum(np.floor(places.min(axis=0)).astype(int) - reach, 0)
        high = np.minimum(np.ceil(places.max(axis=0)).astype(int) + reach, f.shape)
        total = _share_in(f, axis, opened, phi, low, high, 0.0)
        if total > 0.0:
            _share_in(f, axis, opened, phi, low, high, amount / total)
            return
        reach *= 2


def hand_up(
    tank: Tank, state: WaterState, opened: tuple[Array, Array, Array], flux: tuple[Array, Array, Array], fine: Tank,
    o: Array, A: Array,
) -> None:  # fmt: skip
    """Draw the window's velocity to that of a patch inside it, without changing the window's momentum.

    opened: open parts of the window's faces; flux: what passes the patch's faces, solids included [m/s]; o, A: where
    the patch is.
    """
    corner, size = np.asarray(fine.origin), np.asarray(fine.size)
    ends = (corners_of(fine, o, A) - state.origin) / tank.cell
    low, high = np.floor(ends.min(axis=0)).astype(int), np.ceil(ends.max(axis=0)).astype(int) + 1
    for axis, f in enumerate((state.u, state.v, state.w)):
        first, last = np.maximum(low, 0), np.minimum(high, f.shape)
        if np.any(first >= last):
            continue
        change = np.zeros(tuple(last - first))
        ramp = np.zeros_like(change)
        mass = np.zeros_like(change)
        _differences(
            f, axis, opened[axis], state.phi, first, *flux, corner, fine.cell, state.origin, tank.cell, o, A,
            size, change, ramp, mass,
        )  # fmt: skip
        held = float((ramp * mass).sum())
        if held > 0.0:
            change -= ramp * (float((change * mass).sum()) / held)
            f[tuple(slice(a, b) for a, b in zip(first, last))] += change


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _differences(f, axis, opened, phi, first, fu, fv, fw, corner, h, origin, big, o, A, size, change, ramp, mass):
    for i in range(change.shape[0]):
        for j in range(change.shape[1]):
            for k in range(change.shape[2]):
                a, b, c = first[0] + i, first[1] + j, first[2] + k
                m = _takes(axis, opened, phi, a, b, c)
                if m < 1.0:
                    continue
                x0 = origin[0] + (a + (0.0 if axis == 0 else 0.5)) * big - o[0]
                x1 = origin[1] + (b + (0.0 if axis == 1 else 0.5)) * big - o[1]
                x2 = origin[2] + (c + (0.0 if axis == 2 else 0.5)) * big - o[2]
                inside = 1e30
                for d in range(3):
                    y = A[0, d] * x0 + A[1, d] * x1 + A[2, d] * x2 - corner[d]
                    inside = min(inside, min(y, size[d] - y))
                if inside <= 0.0:
                    continue
                mean = 0.0
                for n in range(8):
                    p0 = x0 + (0.25 if n & 1 else -0.25) * big
                    p1 = x1 + (0.25 if n & 2 else -0.25) * big
                    p2 = x2 + (0.25 if n & 4 else -0.25) * big
                    y0 = (A[0, 0] * p0 + A[1, 0] * p1 + A[2, 0] * p2 - corner[0]) / h
                    y1 = (A[0, 1] * p0 + A[1, 1] * p1 + A[2, 1] * p2 - corner[1]) / h
                    y2 = (A[0, 2] * p0 + A[1, 2] * p1 + A[2, 2] * p2 - corner[2]) / h
                    r0, r1, r2 = velocity(fu, fv, fw, y0, y1, y2)
                    mean += 0.125 * (A[axis, 0] * r0 + A[axis, 1] * r1 + A[axis, 2] * r2)
                ramp[i, j, k] = min(1.0, inside / big)
                mass[i, j, k] = m
                change[i, j, k] = ramp[i, j, k] * (mean - f[a, b, c])


@njit(cache=True, inline="always")
def _takes(axis, opened, phi, i, j, k):
    """Mass of a face in parts of a cell's: its open part, less what lies beyond the surface; 0 on the sides of the grid
    and in air.
    """
    if (i, j, k)[axis] == 0 or (i, j, k)[axis] == phi.shape[axis]:
        return 0.0
    high = phi[i, j, k]
    low = phi[i - (axis == 0), j - (axis == 1), k - (axis == 2)]
    if low < 0.0 and high < 0.0:
        return opened[i, j, k]
    if low >= 0.0 and high >= 0.0:
        return 0.0
    inner, outer = min(low, high), max(low, high)
    return opened[i, j, k] * max(THETA_MIN, inner / (inner - outer))


@njit(cache=True)
def _give(f, axis, opened, phi, places, amounts):
    """Share amounts (n,) [m/s], impulses over rho h^3, at points given in cells; returns what found no water."""
    lost = 0.0
    weight = np.empty(8)
    for n in range(places.shape[0]):
        x = places[n, 0] - (0.0 if axis == 0 else 0.5)
        y = places[n, 1] - (0.0 if axis == 1 else 0.5)
        z = places[n, 2] - (0.0 if axis == 2 else 0.5)
        i, j, k = int(np.floor(x)), int(np.floor(y)), int(np.floor(z))
        total = 0.0
        for m in range(8):
            a, b, c = i + (m >> 2), j + ((m >> 1) & 1), k + (m & 1)
            weight[m] = 0.0
            if 0 <= a < f.shape[0] and 0 <= b < f.shape[1] and 0 <= c < f.shape[2]:
                weight[m] = (1.0 - abs(x - a)) * (1.0 - abs(y - b)) * (1.0 - abs(z - c))
                weight[m] *= 1.0 if _takes(axis, opened, phi, a, b, c) > 0.0 else 0.0
                total += weight[m] * _takes(axis, opened, phi, a, b, c)
        if total < 1e-3:
            lost += amounts[n]
            continue
        for m in range(8):
            if weight[m] > 0.0:
                f[i + (m >> 2), j + ((m >> 1) & 1), k + (m & 1)] += amounts[n] * weight[m] / total
    return lost


@njit(cache=True)
def _share_in(f, axis, opened, phi, low, high, change):
    """Add a change to the wet faces in a box; returns their mass in cells."""
    total = 0.0
    for i in range(low[0], high[0]):
        for j in range(low[1], high[1]):
            for k in range(low[2], high[2]):
                mass = _takes(axis, opened, phi, i, j, k)
                if mass > 0.0:
                    total += mass
                    f[i, j, k] += change
    return total


@njit(cache=True)
def take_surface(phi, origin, big, o, A, corner, h, out):
    """Level set [m] at the centres of a patch's cells and of one ring about them, out (nx + 2, ny + 2, nz + 2)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                y0, y1, y2 = corner[0] + (i - 0.5) * h, corner[1] + (j - 0.5) * h, corner[2] + (k - 0.5) * h
                x0 = (o[0] + A[0, 0] * y0 + A[0, 1] * y1 + A[0, 2] * y2 - origin[0]) / big
                x1 = (o[1] + A[1, 0] * y0 + A[1, 1] * y1 + A[1, 2] * y2 - origin[1]) / big
                x2 = (o[2] + A[2, 0] * y0 + A[2, 1] * y1 + A[2, 2] * y2 - origin[2]) / big
                value = linear_beyond(phi, x0 - 0.5, x1 - 0.5, x2 - 0.5)
                above = x2 - phi.shape[2]
                out[i, j, k] = value + max(0.0, above) * big  # over the open top there is air


@njit(cache=True)
def take_flow(u, v, w, origin, big, o, A, corner, h, axis, frame, inflow, ease, out):
    """Velocity along a patch's axis at its faces [m/s].

    inflow: only on the outermost layer of faces: all of it where the flow enters, elsewhere drawn to it over the time
    that the flow needs to cross a cell, so that patch and window part company smoothly; frame: (angular, linear)
    velocity of the patch, in its own axes; ease: sub-step over cell [s/m].
    """
    nx, ny, nz = out.shape
    sx, sy, sz = (0.0 if axis == 0 else 0.5), (0.0 if axis == 1 else 0.5), (0.0 if axis == 2 else 0.5)
    for i in range(nx):
        for j in range(ny):
            inner = inflow and 0 < i < nx - 1 and 0 < j < ny - 1
            for k in range(0, nz, nz - 1 if inner else 1):
                y0, y1, y2 = corner[0] + (i + sx) * h, corner[1] + (j + sy) * h, corner[2] + (k + sz) * h
                x0 = (o[0] + A[0, 0] * y0 + A[0, 1] * y1 + A[0, 2] * y2 - origin[0]) / big
                x1 = (o[1] + A[1, 0] * y0 + A[1, 1] * y1 + A[1, 2] * y2 - origin[1]) / big
                x2 = (o[2] + A[2, 0] * y0 + A[2, 1] * y1 + A[2, 2] * y2 - origin[2]) / big
                a, b, c = velocity(u, v, w, x0, x1, x2)
                f0 = A[0, 0] * a + A[1, 0] * b + A[2, 0] * c
                f1 = A[0, 1] * a + A[1, 1] * b + A[2, 1] * c
                f2 = A[0, 2] * a + A[1, 2] * b + A[2, 2] * c
                share = 1.0
                if inflow:
                    r0 = f0 - frame[3] - (frame[1] * y2 - frame[2] * y1)
                    r1 = f1 - frame[4] - (frame[2] * y0 - frame[0] * y2)
                    r2 = f2 - frame[5] - (frame[0] * y1 - frame[1] * y0)
                    enters = (
                        (i == 0 and r0 > 0.0) or (i == nx - 1 and r0 < 0.0)
                        or (j == 0 and r1 > 0.0) or (j == ny - 1 and r1 < 0.0)
                        or (k == 0 and r2 > 0.0) or (k == nz - 1 and r2 < 0.0)
                    )  # fmt: skip
                    if not enters:
                        share = 1.0 - np.exp(-ease * np.sqrt(r0 * r0 + r1 * r1 + r2 * r2))
                value = f0 if axis == 0 else (f1 if axis == 1 else f2)
                out[i, j, k] += share * (value - out[i, j, k])


@njit(cache=True, inline="always")
def _depth(phi, lid, x, y, z, big):
    """Depth [m] below the surface at a point in cells, as `pseudo.depths`; lid: height of a full tank's, in cells."""
    if lid > 0.0:
        return (lid - z) * big
    nz = phi.shape[2]
    zc = min(max(z - 0.5, 0.5), nz - 1.5)
    p = linear(phi, x - 0.5, y - 0.5, zc)
    slope = (linear(phi, x - 0.5, y - 0.5, zc + 0.5) - linear(phi, x - 0.5, y - 0.5, zc - 0.5)) / big
    return -p * min(max(slope, 0.0), 1.0) - (z - 0.5 - zc) * big


@njit(cache=True)
def take_depth(phi, lid, origin, big, o, A, corner, h, cells, out):
    """Depth [m] of the centres of some of a patch's cells (n, 3) below the window's surface."""
    for n in range(cells.shape[0]):
        y0 = corner[0] + (cells[n, 0] + 0.5) * h
        y1 = corner[1] + (cells[n, 1] + 0.5) * h
        y2 = corner[2] + (cells[n, 2] + 0.5) * h
        x0 = (o[0] + A[0, 0] * y0 + A[0, 1] * y1 + A[0, 2] * y2 - origin[0]) / big
        x1 = (o[1] + A[1, 0] * y0 + A[1, 1] * y1 + A[1, 2] * y2 - origin[1]) / big
        x2 = (o[2] + A[2, 0] * y0 + A[2, 1] * y1 + A[2, 2] * y2 - origin[2]) / big
        out[n] = _depth(phi, lid, x0, x1, x2, big)


@njit(cache=True)
def take_pressure(pressure, volume, phi, lid, weight, origin, big, o, A, corner, h, everywhere, out):
    """Pressure [Pa] in the ring about a patch's cells, or in all of them; out (nx + 2, ny + 2, nz + 2).

    weight: rho g [N/m^3]; volume: open part of the window's cells.
    """
    mx, my, mz = out.shape
    nx, ny, nz = phi.shape
    for i in range(mx):
        for j in range(my):
            inner = not everywhere and 0 < i < mx - 1 and 0 < j < my - 1
            for k in range(0, mz, mz - 1 if inner else 1):
                y0, y1, y2 = corner[0] + (i - 0.5) * h, corner[1] + (j - 0.5) * h, corner[2] + (k - 0.5) * h
                x = (o[0] + A[0, 0] * y0 + A[0, 1] * y1 + A[0, 2] * y2 - origin[0]) / big
                y = (o[1] + A[1, 0] * y0 + A[1, 1] * y1 + A[1, 2] * y2 - origin[1]) / big
                z = (o[2] + A[2, 0] * y0 + A[2, 1] * y1 + A[2, 2] * y2 - origin[2]) / big
                a, b, c = int(np.floor(x - 0.5)), int(np.floor(y - 0.5)), int(np.floor(z - 0.5))
                total = 0.0
                rest = 0.0
                for m in range(8):
                    p, q, r = a + (m >> 2), b + ((m >> 1) & 1), c + (m & 1)
                    if not (0 <= p < nx and 0 <= q < ny and 0 <= r < nz):
                        continue
                    if phi[p, q, r] >= 0.0 or volume[p, q, r] == 0.0:
                        continue
                    share = (1.0 - abs(x - 0.5 - p)) * (1.0 - abs(y - 0.5 - q)) * (1.0 - abs(z - 0.5 - r))
                    still = weight * _depth(phi, lid, p + 0.5, q + 0.5, r + 0.5, big)
                    total += share
                    rest += share * (pressure[p, q, r] - still)
                value = weight * max(0.0, _depth(phi, lid, x, y, z, big))
                if total > 0.0:
                    value += rest / total
                out[i, j, k] = value
