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

from vitruvian.water.interpolate import carry, gradient, linear, sample_linear, to_cells
from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState

Array = np.ndarray
SMALLEST = 0.1  # radius of a particle in cells (Enright et al. 2002)
REACH = 2.0  # cells from the surface in which particles are kept


def largest_radius(particles: int) -> float:
    """Radius in cells of a ball that holds a particle's share of its cell."""
    return float(np.cbrt(3.0 / (4.0 * np.pi * particles)))


def move_particles(tank: Tank, state: WaterState, dt: float, psi: Array | None) -> None:
    """Carry markers with the flow."""
    if len(state.markers):
        points = to_cells(state.markers, state.origin, tank.cell)
        carry(points, state.u, state.v, state.w, dt / tank.cell)
        keep = _inside(points, tank.shape)
        if psi is not None:
            distance = np.empty(len(points))
            sample_linear(psi, points, 0.0, distance)
            keep &= distance > 0.0
        state.markers = points * tank.cell + state.origin
        keep_markers(state, keep)


def correct_surface(tank: Tank, state: WaterState) -> None:
    """Mend phi with the balls of particles that are on the wrong side of it."""
    if not len(state.markers):
        return
    points = to_cells(state.markers, state.origin, tank.cell)
    value = np.empty(len(points))
    sample_linear(state.phi, points, 0.5, value)
    _mend(state.phi, points, value, state.marker_side, state.marker_radius, tank.cell)


def adjust_radii(tank: Tank, state: WaterState) -> None:
    """Let each particle that is on its own side touch the surface again."""
    if not len(state.markers):
        return
    points = to_cells(state.markers, state.origin, tank.cell)
    value = np.empty(len(points))
    sample_linear(state.phi, points, 0.5, value)
    own = value * state.marker_side
    touching = np.clip(own, SMALLEST * tank.cell, largest_radius(tank.particles) * tank.cell)
    state.marker_radius = np.where(own > -state.marker_radius, touching, state.marker_radius)


def shift_markers(tank: Tank, state: WaterState, shift: Array) -> None:
    """Move markers with a surface that was shifted by phi += shift [m] (at cell centres), so that they do not take it
    for an error.
    """
    if len(state.markers):
        _shift(state.markers, state.phi, state.origin, tank.cell, shift)


def reseed(tank: Tank, state: WaterState, opened: Array | None = None) -> None:
    """Top up sparse cells near the surface and drop markers that have drifted away from it; escaped ones stay."""
    if tank.particles == 0:
        return
    h = tank.cell
    if len(state.markers):
        points = to_cells(state.markers, state.origin, h)
        value = np.empty(len(points))
        sample_linear(state.phi, points, 0.5, value)
        own = value * state.marker_side
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
    sample_linear(state.phi, new, 0.5, value)
    good = (np.abs(value) < REACH * h) & (value != 0.0)
    new, value = new[good], value[good]
    state.markers = np.concatenate([state.markers, new * h + state.origin])
    state.marker_side = np.concatenate([state.marker_side, np.sign(value).astype(np.int8)])
    radius = np.clip(np.abs(value), SMALLEST * h, largest_radius(tank.particles) * h)
    state.marker_radius = np.concatenate([state.marker_radius, radius])


def keep_markers(state: WaterState, keep: Array) -> None:
    state.markers = state.markers[keep]
    state.marker_side = state.marker_side[keep]
    state.marker_radius = state.marker_radius[keep]


def _inside(points: Array, shape: tuple[int, int, int]) -> Array:
    return np.all((points > 0.0) & (points < np.asarray(shape)), axis=1)


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
def _mend(phi, points, value, side, radius, h):
    """Escaped balls rebuild both sides apart; the value nearer to the surface wins. Extrema do not depend on order."""
    nx, ny, nz = phi.shape
    plus = phi.copy()
    minus = phi.copy()
    for n in range(points.shape[0]):
        if value[n] * side[n] > -radius[n]:
            continue
        x, y, z = points[n, 0] - 0.5, points[n, 1] - 0.5, points[n, 2] - 0.5
        i0, j0, k0 = int(np.floor(x)), int(np.floor(y)), int(np.floor(z))
        for i in range(max(i0, 0), min(i0 + 2, nx)):
            for j in range(max(j0, 0), min(j0 + 2, ny)):
                for k in range(max(k0, 0), min(k0 + 2, nz)):
                    d = h * np.sqrt((x - i) ** 2 + (y - j) ** 2 + (z - k) ** 2)
                    ball = side[n] * (radius[n] - d)
                    if side[n] > 0:
                        plus[i, j, k] = max(plus[i, j, k], ball)
                    else:
                        minus[i, j, k] = min(minus[i, j, k], ball)
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                a, b = plus[i, j, k], minus[i, j, k]
                phi[i, j, k] = a if abs(a) <= abs(b) else b


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
