"""Marker particles that keep the level set sharp (particle level set method: Enright et al. 2002, Si 3.3).

Particles of both sides are strewn near the surface, each a ball that touches it. They move with the flow; one that
ends up on the wrong side by more than its radius has seen what the grid could not, and its ball is used to mend the
level set. A ball is at least 0.1 h (Enright) and at most as large as the share of a cell that a particle stands for,
4/3 pi r^3 = h^3 / particles (0.25 h for 16 of them; Enright, with 64, let it grow to 0.5 h). Water particles that the
level set has left behind altogether fly on as spray (`spray`).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.interpolate import gradient, linear, linear_beyond, sample_linear, to_cells, velocity
from vitruvian.water.model import Tank
from vitruvian.water.periodic import bring_back, corner, passed, widen
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream

Array = np.ndarray
SMALLEST = 0.1  # radius of a particle in cells (Enright et al. 2002)
REACH = 2.0  # cells from the surface in which particles are kept


def largest_radius(particles: int) -> float:
    """Radius in cells of a ball that holds a particle's share of its cell."""
    return float(np.cbrt(3.0 / (4.0 * np.pi * particles)))


def move_particles(tank: Tank, state: WaterState, dt: float, psi: Array | None) -> None:
    """Carry markers with the flow."""
    if len(state.markers):
        keep = np.empty(len(state.markers), np.bool_)
        state.markers = state.markers.copy()
        margin = passed(tank, state, dt) + 2
        u, v, w = (widen(tank, f, margin) for f in (state.u, state.v, state.w))
        low, along = corner(tank, state.origin, margin), stream(tank, state)
        _carry(state.markers, low, tank.cell, u, v, w, dt / tank.cell, along, keep)
        state.markers = bring_back(tank, state, state.markers)
        if psi is not None:
            distance = np.empty(len(keep))
            sample_linear(psi, to_cells(state.markers, state.origin, tank.cell), 0.0, distance)
            keep &= distance > 0.0
        keep_markers(state, keep)


def correct_surface(tank: Tank, state: WaterState) -> None:
    """Mend phi with the balls of particles that are on the wrong side of it."""
    value = marker_values(tank, state)
    wrong = np.flatnonzero(value * state.marker_side <= -state.marker_radius)
    if len(wrong):
        points, of = _with_images(tank, to_cells(state.markers[wrong], state.origin, tank.cell))
        wrong = wrong[of]
        _mend(state.phi, points, state.marker_side[wrong], state.marker_radius[wrong], tank.cell)


def adjust_radii(tank: Tank, state: WaterState) -> None:
    """Let each particle that is on its own side touch the surface again."""
    own = marker_values(tank, state) * state.marker_side
    touching = np.clip(own, SMALLEST * tank.cell, largest_radius(tank.particles) * tank.cell)
    escaped = own <= -state.marker_radius
    state.marker_radius = np.where(escaped, state.marker_radius, touching)


def marker_values(tank: Tank, state: WaterState) -> Array:
    """phi [m] at the markers, shape (n,)."""
    value = np.empty(len(state.markers))
    _sample(widen(tank, state.phi, 1), state.markers, corner(tank, state.origin, 1), tank.cell, value)
    return value


def shift_markers(tank: Tank, state: WaterState, shift: Array) -> None:
    """Move markers with a surface that was shifted by phi += shift [m] (at cell centres), so that they do not take it
    for an error.
    """
    if len(state.markers):
        if shift.shape == tank.shape:
            shift = widen(tank, shift, 2)
        _shift(state.markers, widen(tank, state.phi, 2), corner(tank, state.origin, 2), tank.cell, shift)
        state.markers = bring_back(tank, state, state.markers)


def reseed(tank: Tank, state: WaterState, opened: Array | None = None) -> None:
    """Top up sparse cells near the surface and drop markers that have drifted away from it; escaped ones stay."""
    if tank.particles == 0:
        return
    h = tank.cell
    if len(state.markers):
        points = to_cells(state.markers, state.origin, h)
        own = marker_values(tank, state) * state.marker_side
        keep = own < (REACH + 1.0) * h
        # where the flow converges markers pile up; a cell needs no more than it is given
        surplus = np.zeros(len(points), bool)
        _surplus(points, state.marker_side, np.zeros((2, *tank.shape), np.int32), tank.particles, surplus)
        keep_markers(state, keep & ~surplus)
    points = to_cells(state.markers, state.origin, h)
    count = np.zeros((2, *tank.shape), np.int32)
    _count(points, state.marker_side, count)
    near = np.abs(state.phi) < (REACH + 0.5) * h
    if opened is not None:
        near &= opened > 0.5
    cells = np.argwhere(near)
    if not len(cells):
        return
    wanted = tank.particles
    # a cell crossed by the surface is shared by both sides; others belong to one
    have = count[:, near].sum(axis=0)
    missing = np.where(have < wanted // 2, wanted - have, 0)
    cells = np.repeat(cells, missing, axis=0)
    if not len(cells):
        return
    rng = np.random.default_rng([int(state.rng[0]), int(state.rng[1])])
    state.rng[1] += 1
    new = cells + rng.random(cells.shape)
    value = np.empty(len(new))
    _sample(widen(tank, state.phi, 1), new * h + state.origin, corner(tank, state.origin, 1), h, value)
    good = (np.abs(value) < REACH * h) & (value != 0.0)
    new, value = new[good], value[good]
    state.markers = np.concatenate([state.markers, new * h + state.origin])
    state.marker_side = np.concatenate([state.marker_side, np.sign(value).astype(np.int8)])
    radius = np.clip(np.abs(value), SMALLEST * h, largest_radius(tank.particles) * h)
    state.marker_radius = np.concatenate([state.marker_radius, radius])


def _with_images(tank: Tank, points: Array) -> tuple[Array, Array]:
    """Points (in cells, (n, 3)) with copies of those within a cell of a periodic side beyond the other one, and the
    number of the point that each is.
    """
    of = np.arange(len(points))
    for axis in tank.wrapped:
        n = tank.shape[axis]
        place = points[:, axis]
        near = np.concatenate([np.flatnonzero(place < 1.0), np.flatnonzero(place > n - 1.0)])
        more = points[near]
        more[:, axis] += np.where(more[:, axis] < 1.0, n, -n)
        points, of = np.concatenate([points, more]), np.concatenate([of, of[near]])
    return points, of


def keep_markers(state: WaterState, keep: Array) -> None:
    if keep.all():
        return
    state.markers = state.markers[keep]
    state.marker_side = state.marker_side[keep]
    state.marker_radius = state.marker_radius[keep]


@njit(cache=True, parallel=True)
def _carry(markers, origin, h, u, v, w, courant, along, keep):
    """Move markers [m] with the flow, second order; `keep` tells which are still on the grid."""
    nx, ny, nz = u.shape[0] - 1, v.shape[1] - 1, w.shape[2] - 1
    for n in prange(markers.shape[0]):
        x, y, z = (markers[n, 0] - origin[0]) / h, (markers[n, 1] - origin[1]) / h, (markers[n, 2] - origin[2]) / h
        a, b, c = velocity(u, v, w, x, y, z)
        s = 0.5 * courant
        a, b, c = velocity(u, v, w, x + s * (a - along[0]), y + s * (b - along[1]), z + s * (c - along[2]))
        x, y, z = x + courant * a, y + courant * b, z + courant * c
        keep[n] = 0.0 < x < nx and 0.0 < y < ny and 0.0 < z < nz
        markers[n, 0], markers[n, 1], markers[n, 2] = x * h + origin[0], y * h + origin[1], z * h + origin[2]


@njit(cache=True, parallel=True)
def _sample(phi, markers, origin, h, out):
    for n in prange(markers.shape[0]):
        x, y, z = (markers[n, 0] - origin[0]) / h, (markers[n, 1] - origin[1]) / h, (markers[n, 2] - origin[2]) / h
        out[n] = linear_beyond(phi, x - 0.5, y - 0.5, z - 0.5)


@njit(cache=True, parallel=True)
def _shift(markers, phi, origin, h, shift):
    for n in prange(markers.shape[0]):
        x = (markers[n, 0] - origin[0]) / h - 0.5
        y = (markers[n, 1] - origin[1]) / h - 0.5
        z = (markers[n, 2] - origin[2]) / h - 0.5
        way = linear(shift, x, y, z)
        if way == 0.0:
            continue
        a, b, c = gradient(phi, x, y, z)
        size = np.sqrt(a * a + b * b + c * c)
        if size > 1e-3 * h:
            markers[n, 0] -= way * a / size
            markers[n, 1] -= way * b / size
            markers[n, 2] -= way * c / size


@njit(cache=True)
def _mend(phi, points, side, radius, h):
    """Escaped balls rebuild both sides apart; the value nearer to the surface wins. Extrema do not depend on order."""
    nx, ny, nz = phi.shape
    place = np.full(phi.shape, -1, np.int32)
    cells = np.empty((8 * points.shape[0], 3), np.int64)
    both = np.empty((8 * points.shape[0], 2))  # what particles of the air and of the water make of each cell
    count = 0
    for n in range(points.shape[0]):
        x, y, z = points[n, 0] - 0.5, points[n, 1] - 0.5, points[n, 2] - 0.5
        i0, j0, k0 = int(np.floor(x)), int(np.floor(y)), int(np.floor(z))
        for i in range(max(i0, 0), min(i0 + 2, nx)):
            for j in range(max(j0, 0), min(j0 + 2, ny)):
                for k in range(max(k0, 0), min(k0 + 2, nz)):
                    m = place[i, j, k]
                    if m < 0:
                        m = place[i, j, k] = count
                        cells[m, 0], cells[m, 1], cells[m, 2] = i, j, k
                        both[m, 0] = both[m, 1] = phi[i, j, k]
                        count += 1
                    d = h * np.sqrt((x - i) ** 2 + (y - j) ** 2 + (z - k) ** 2)
                    ball = side[n] * (radius[n] - d)
                    if side[n] > 0:
                        both[m, 0] = max(both[m, 0], ball)
                    else:
                        both[m, 1] = min(both[m, 1], ball)
    for m in range(count):
        a, b = both[m, 0], both[m, 1]
        phi[cells[m, 0], cells[m, 1], cells[m, 2]] = a if abs(a) <= abs(b) else b


@njit(cache=True)
def _surplus(points, side, count, most, surplus):
    """Mark those markers of a side that come after the first `most` of their cell."""
    _, nx, ny, nz = count.shape
    for n in range(points.shape[0]):
        i, j, k = int(points[n, 0]), int(points[n, 1]), int(points[n, 2])
        if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz:
            s = 0 if side[n] < 0 else 1
            count[s, i, j, k] += 1
            surplus[n] = count[s, i, j, k] > most


@njit(cache=True)
def _count(points, side, count):
    _s, nx, ny, nz = count.shape
    for n in range(points.shape[0]):
        i, j, k = int(points[n, 0]), int(points[n, 1]), int(points[n, 2])
        if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz:
            count[0 if side[n] < 0 else 1, i, j, k] += 1
