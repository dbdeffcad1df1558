"""How much water the level set holds: each octant of a cell below its own plane, exact for a flat surface."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.boundary import Boundary
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, widen
from vitruvian.water.sides import ALL, bits_at, looked, piece_levels

Array = np.ndarray
STEP = 0.05  # cells by which the surface is shifted to measure its area


def water_volume(tank: Tank, phi: Array, opened: Boundary | Array) -> float:
    """Volume of water [m^3]; `opened` is the open part of each cell, or the boundary, which knows the pieces of cells
    that a thin body splits as well.
    """
    more = _in_pieces(tank, phi, opened)[0] if isinstance(opened, Boundary) else 0.0
    phi, part, number, seen = _with_ends(tank, phi, opened)
    partial = np.zeros(phi.shape[0])
    _volume(phi, part, tank.cell, number, seen, partial)
    return (float(partial.sum()) + more) * tank.cell**3


def water_parts(tank: Tank, phi: Array) -> Array:
    """Part of each cell that is water, bodies left out of account; shape of the tank."""
    phi = widen(tank, phi, 1)
    out = np.empty(phi.shape)
    _parts(phi, tank.cell, out)
    return narrow(tank, out, 1)


def side_water(tank: Tank, phi: Array, side: int) -> Array:
    """Part of the face of each cell on a side (0 to 5, in the order of `SIDES`) that is water: below a line with the
    level set and the slopes that phi has at the face.
    """
    axis, far = divmod(side, 2)
    line = np.moveaxis(phi, axis, 0)
    edge, behind = (line[-1], line[-2]) if far else (line[0], line[1])
    at = edge + 0.5 * (edge - behind)
    a, b = np.gradient(at)
    size = np.sqrt(a**2 + b**2)
    out = np.empty(at.shape)
    _face_parts(at, a, b, np.maximum(size, 1e-6 * tank.cell), out)
    return out


def volume_and_area(tank: Tank, phi: Array, opened: Boundary | Array) -> tuple[float, float]:
    """Volume of water [m^3], and area of its surface [m^2] as the rate at which that changes when phi is shifted."""
    pieces = _in_pieces(tank, phi, opened) if isinstance(opened, Boundary) else np.zeros(3)
    phi, part, number, seen = _with_ends(tank, phi, opened)
    partial = np.zeros((phi.shape[0], 3))
    _volumes(phi, part, tank.cell, STEP, number, seen, partial)
    volume, more, less = (partial.sum(axis=0) + pieces) * tank.cell**3
    return float(volume), float(more - less) / (2.0 * STEP * tank.cell)


def surface_area(tank: Tank, phi: Array, opened: Boundary | Array) -> float:
    """Area of the surface [m^2]."""
    return volume_and_area(tank, phi, opened)[1]


def _with_ends(tank: Tank, phi: Array, opened: Boundary | Array) -> tuple[Array, Array, Array, Array]:
    """Level set, open parts and what cells see, with the cells beyond periodic sides, of which nothing is open and so
    nothing is counted.
    """
    number, seen = looked(opened.sides if isinstance(opened, Boundary) else None)
    part = opened.volume if isinstance(opened, Boundary) else opened
    if not tank.wrapped:
        return phi, part, number, seen
    part = np.pad(part, [(1, 1) if a in tank.wrapped else (0, 0) for a in range(3)])
    return widen(tank, phi, 1), part, number if not len(seen) else widen(tank, number, 1), seen


def _in_pieces(tank: Tank, phi: Array, b: Boundary) -> Array:
    """Water in further pieces [cells] beyond what their cells' own level gives them: as it is, and with the surface
    shifted outwards and inwards, shape (3,).
    """
    out = np.zeros(3)
    if b.sides is not None and len(b.pieces.cells):
        h = tank.cell
        value, slope = piece_levels(phi, h, b)
        _piece_water(phi, h, STEP, b.pieces.cells, b.pieces.volume, value, slope, *looked(b.sides), out)
    return out


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def plane_fraction(distance, a, b, c):
    """Part of a unit cube below a plane at signed `distance` from its centre, unit normal (a, b, c).

    Scardovelli and Zaleski 2000; positive distance means that the centre is above the plane.
    """
    a, b, c = abs(a), abs(b), abs(c)
    total = a + b + c
    if total == 0.0:
        return 1.0 if distance < 0.0 else 0.0
    m1, m2, m3 = a / total, b / total, c / total
    if m1 > m2:
        m1, m2 = m2, m1
    if m2 > m3:
        m2, m3 = m3, m2
    if m1 > m2:
        m1, m2 = m2, m1
    alpha = 0.5 - distance / total
    if alpha <= 0.0:
        return 0.0
    if alpha >= 1.0:
        return 1.0
    flip = alpha > 0.5
    if flip:
        alpha = 1.0 - alpha
    m12 = m1 + m2
    if alpha < m1:
        f = alpha**3 / max(6.0 * m1 * m2 * m3, 1e-300)
    elif alpha < m2:
        f = alpha * (alpha - m1) / (2.0 * m2 * m3) + m1 * m1 / max(6.0 * m2 * m3, 1e-300)
    elif alpha < min(m12, m3):
        f = (
            (alpha**2 * (3.0 * m12 - alpha) + m1**2 * (m1 - 3.0 * alpha) + m2**2 * (m2 - 3.0 * alpha))
            / (6.0 * max(m1, 1e-12) * m2 * m3)
            if m1 > 1e-9
            else (2.0 * alpha - m2) / (2.0 * m3)
        )
    elif m3 < m12:
        f = (
            alpha**2 * (3.0 - 2.0 * alpha)
            + m1**2 * (m1 - 3.0 * alpha)
            + m2**2 * (m2 - 3.0 * alpha)
            + m3**2 * (m3 - 3.0 * alpha)
        ) / (6.0 * m1 * m2 * m3)
    else:
        f = (2.0 * alpha - m12) / (2.0 * m3)
    return 1.0 - f if flip else f


@njit(cache=True)
def cell_water(phi, h, i, j, k, shift, bits=ALL):
    """Part of a cell that is water with the level set phi + shift; bits: the neighbours that it sees."""
    return cell_moment(phi, h, i, j, k, shift, bits)[0]


@njit(cache=True)
def cell_moment(phi, h, i, j, k, shift, bits=ALL):
    """Part of a cell that is water with the level set phi + shift, and that times the height of its centroid over the
    cell's centre [cells].

    In each octant it lies below the plane through the centre's value with one-sided slopes: exact for a flat surface,
    and right for sheets and drops thinner than a cell, whose central slope vanishes.
    """
    p = phi[i, j, k] + shift
    if p >= 0.9 * h:
        return 0.0, 0.0
    if p <= -0.9 * h:
        return 1.0, 0.0
    nx, ny, nz = phi.shape
    total = raised = 0.0
    for sx in (-1, 1):
        a = one_sided(phi, i, j, k, 0, sx, nx, bits)
        for sy in (-1, 1):
            b = one_sided(phi, i, j, k, 1, sy, ny, bits)
            for sz in (-1, 1):
                c = one_sided(phi, i, j, k, 2, sz, nz, bits)
                n = np.sqrt(a * a + b * b + c * c)
                middle = p + 0.25 * (sx * a + sy * b + sz * c)
                part = 1.0 if middle < 0.0 else 0.0
                if n >= 1e-6 * h:
                    part = plane_fraction(2.0 * middle / n, a / n, b / n, c / n)
                total += part
                raised += 0.25 * sz * part
    return 0.125 * total, 0.125 * raised


@njit(cache=True, inline="always")
def one_sided(phi, i, j, k, axis, s, n, bits=ALL):
    """Slope per cell towards one side, along the positive axis; at a wall that of the other side, between walls 0."""
    at = i if axis == 0 else (j if axis == 1 else k)
    if at + s < 0 or at + s >= n:
        s = -s
    if bits != ALL:
        step = 9 if axis == 0 else (3 if axis == 1 else 1)
        if (bits >> (13 + s * step)) & 1 == 0:
            s = -s
            if at + s < 0 or at + s >= n or (bits >> (13 + s * step)) & 1 == 0:
                return 0.0
    if axis == 0:
        return (phi[i + s, j, k] - phi[i, j, k]) * s
    if axis == 1:
        return (phi[i, j + s, k] - phi[i, j, k]) * s
    return (phi[i, j, k + s] - phi[i, j, k]) * s


@njit(cache=True, parallel=True)
def _volume(phi, opened, h, number, seen, partial):
    nx, ny, nz = phi.shape
    for ii in prange(nx):
        i = np.int64(ii)
        total = 0.0
        for j in range(ny):
            for k in range(nz):
                p = phi[i, j, k]
                if p <= -0.9 * h:
                    total += opened[i, j, k]
                elif p < 0.9 * h and opened[i, j, k] > 0.0:
                    total += opened[i, j, k] * cell_water(phi, h, i, j, k, 0.0, bits_at(number, seen, i, j, k))
        partial[i] = total


@njit(cache=True, parallel=True)
def _volumes(phi, opened, h, step, number, seen, partial):
    """Water in each layer as it is, and with the surface shifted outwards and inwards."""
    nx, ny, nz = phi.shape
    far = (0.9 + step) * h
    for ii in prange(nx):
        i = np.int64(ii)
        same = more = less = 0.0
        for j in range(ny):
            for k in range(nz):
                p = phi[i, j, k]
                part = opened[i, j, k]
                if p <= -far:
                    same += part
                    more += part
                    less += part
                elif p < far and part > 0.0:
                    bits = bits_at(number, seen, i, j, k)
                    same += part * cell_water(phi, h, i, j, k, 0.0, bits)
                    more += part * cell_water(phi, h, i, j, k, -step * h, bits)
                    less += part * cell_water(phi, h, i, j, k, step * h, bits)
        partial[i, 0], partial[i, 1], partial[i, 2] = same, more, less


@njit(cache=True)
def _piece_water(phi, h, step, cells, volume, value, slope, number, seen, out):
    for e in range(len(cells)):
        i, j, k = cells[e, 0], cells[e, 1], cells[e, 2]
        if abs(phi[i, j, k]) > 2.0 * h and abs(value[e]) > 2.0 * h and (phi[i, j, k] < 0.0) == (value[e] < 0.0):
            continue
        a, b, c = slope[e, 0], slope[e, 1], slope[e, 2]
        n = np.sqrt(a * a + b * b + c * c)
        bits = bits_at(number, seen, i, j, k)
        for s in range(3):
            shift = 0.0 if s == 0 else (-step * h if s == 1 else step * h)
            p = value[e] + shift
            part = 1.0 if p < 0.0 else 0.0
            if n >= 1e-6 * h:
                part = plane_fraction(p / n, a / n, b / n, c / n)
            out[s] += volume[e] * (part - cell_water(phi, h, i, j, k, shift, bits))


@njit(cache=True, parallel=True)
def _parts(phi, h, out):
    for ii in prange(phi.shape[0]):
        i = np.int64(ii)
        for j in range(phi.shape[1]):
            for k in range(phi.shape[2]):
                out[i, j, k] = cell_water(phi, h, i, j, k, 0.0)


@njit(cache=True)
def _face_parts(at, a, b, size, out):
    for i in range(at.shape[0]):
        for j in range(at.shape[1]):
            n = size[i, j]
            out[i, j] = plane_fraction(at[i, j] / n, a[i, j] / n, b[i, j] / n, 0.0)
