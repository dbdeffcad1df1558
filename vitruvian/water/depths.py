"""Depth below the water surface: of any point, and of points on the skin of a thin body, each on its own side.

The depth of a point is the vertical part of the way to the nearest point of the surface, -phi (grad phi)_z. Beside a
thin body it is asked of the cell that lies before the skin, with what that cell sees. Farther down, where the way to
the surface is cut off by a vessel, the surface above keeps the height that it has about the vessel: what is found near
it is handed on from wet cell to wet cell.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.water.boundary import Boundary
from vitruvian.water.interpolate import linear
from vitruvian.water.model import Tank
from vitruvian.water.sides import FAR, Sides, bits_at, piece_levels, seen_slope, sees
from vitruvian.water.state import WaterState

Array = np.ndarray
MARGIN = 3  # cells about a body through which heights are handed on
CLOSE = 1.5  # cells from the surface within which it is a plane
LIFT = 1e-4  # cells before a skin from which one looks for cells on its side
AHEAD = 0.5  # cells before a skin at which one asks, and towards the middle of its triangle


def depths(tank: Tank, state: WaterState, points: Array) -> Array:
    """Depth [m] of world points below the (pseudo) water surface, negative above it; shape (n,).

    In a full tank the depth below its lid.
    """
    if not tank.free_surface:
        return state.origin[2] + tank.size[2] - points[:, 2]
    out = np.empty(len(points))
    _depths(state.phi, np.ascontiguousarray(points), state.origin, tank.cell, out)
    return out


def skin_depths(tank: Tank, state: WaterState, b: Boundary, corners: Array, height: Array | None) -> Array:
    """Depth [m] of the corners of triangles ((n, 3, 3), [m]) below the surface on their own side, shape (n, 3); height:
    of `heights`.
    """
    out = depths(tank, state, corners.reshape(-1, 3)).reshape(-1, 3)
    if height is not None:
        skins = corners if b.gathered is None else b.gathered[1]
        _corner_depths(
            state.phi,
            tank.cell,
            *_looked(b.sides),
            b.sides.hidden,
            height,
            state.origin,
            b.triangle,
            skins,
            corners,
            out,
        )
    return out


def short_parts(corners: Array, longest: float, which: Array) -> tuple[Array, Array]:
    """Equal parts of triangles ((n, 3, 3), [m]) with no edge over `longest` [m], shape (m, 3, 3), and the triangle of
    each, shape (m,); those that `which` (n,) leaves out stay whole.
    """
    edge = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    count = np.where(which, np.maximum(np.ceil(edge / longest - 1e-9), 1.0), 1.0).astype(np.int64)
    if (count == 1).all():
        return corners, np.arange(len(corners))
    parts, of = [], []
    for m in np.unique(count):
        own = np.flatnonzero(count == m)
        i, j = (a.ravel() for a in np.meshgrid(np.arange(m), np.arange(m), indexing="ij"))
        up, down = i + j < m, i + j < m - 1
        first = np.stack([np.stack([i + a, j + b], -1)[up] for a, b in ((0, 0), (1, 0), (0, 1))], 1)
        second = np.stack([np.stack([i + a, j + b], -1)[down] for a, b in ((1, 1), (0, 1), (1, 0))], 1)
        far = np.concatenate([first, second]) / m  # weights of a triangle's second and third corner
        weights = np.concatenate([1.0 - far.sum(axis=-1, keepdims=True), far], axis=-1)
        parts.append(np.einsum("pvc,tcd->tpvd", weights, corners[own]).reshape(-1, 3, 3))
        of.append(np.repeat(own, m * m))
    return np.concatenate(parts), np.concatenate(of)


def row_depths(tank: Tank, state: WaterState, b: Boundary, height: Array | None) -> Array:
    """Depth [m] at the centre of the cell of each of the boundary's rows below the surface of its piece, 0 where that
    is dry; shape (rows,). height: of `heights`.
    """
    c = b.cells
    out = depths(tank, state, state.origin + (c + 0.5) * tank.cell)
    wet = state.phi[c[:, 0], c[:, 1], c[:, 2]] < 0.0
    if height is not None:
        level, slope = piece_levels(state.phi, tank.cell, b)
        above = np.full(len(level), np.nan)
        _piece_heights(height, b.pieces.faces, b.pieces.ends, above)
        number, seen, known = _looked(b.sides)
        z = state.origin[2] + (c[:, 2] + 0.5) * tank.cell
        _row_depths(state.phi, tank.cell, number, seen, known, height, c, z, b.row_piece, level, slope, above, out, wet)
    return np.where(wet & (out > 0.0), out, 0.0)


def _looked(sides: Sides) -> tuple[Array, Array, Array]:
    return sides.number, sides.seen, np.zeros(len(sides.seen), bool)


def heights(tank: Tank, state: WaterState, b: Boundary) -> Array | None:
    """Height [m] of the surface above each wet cell about the bodies, NaN elsewhere, shape of the tank; None where no
    body is thin.
    """
    if b.sides is None:
        return None
    out = np.full(tank.shape, np.nan)
    low = np.maximum(b.box[:, 0] - MARGIN, 0)
    high = np.minimum(b.box[:, 1] + MARGIN, tank.shape)
    _hand_down(state.phi, tank.cell, *_looked(b.sides), float(state.origin[2]), low, high, out)
    return out


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _depths(phi, points, origin, h, out):
    _nx, _ny, nz = phi.shape
    for n in range(points.shape[0]):
        x = (points[n, 0] - origin[0]) / h - 0.5
        y = (points[n, 1] - origin[1]) / h - 0.5
        z = (points[n, 2] - origin[2]) / h - 0.5
        # above or below the grid the depth goes on changing with height
        zc = min(max(z, 0.5), nz - 1.5)
        p = linear(phi, x, y, zc)
        slope = (linear(phi, x, y, zc + 0.5) - linear(phi, x, y, zc - 0.5)) / h
        out[n] = -p * min(max(slope, 0.0), 1.0) - (z - zc) * h


@njit(cache=True)
def _hand_down(phi, h, number, seen, known, base, low, high, height):
    nz = phi.shape[2]
    slope = np.empty(3)
    room = (high[0] - low[0]) * (high[1] - low[1]) * nz
    front, following = np.empty((room, 3), np.int32), np.empty((room, 3), np.int32)
    layer = np.zeros(phi.shape, np.int32)
    count = 0
    for i in range(low[0], high[0]):
        for j in range(low[1], high[1]):
            for k in range(nz):
                if -CLOSE * h < phi[i, j, k] < 0.0:
                    seen_slope(phi, h, number, seen, known, i, j, k, slope)
                    part = min(max(slope[2] / h, 0.0), 1.0)
                    height[i, j, k] = base + (k + 0.5) * h - phi[i, j, k] * part
                    layer[i, j, k] = 1
                    front[count] = i, j, k
                    count += 1
    mark = 1
    while count:
        mark += 1
        found = 0
        for n in range(count):
            i, j, k = front[n]
            bits = bits_at(number, seen, i, j, k)
            for side in range(6):
                s, axis = 2 * (side % 2) - 1, side // 2
                a, b, c = (s if axis == 0 else 0), (s if axis == 1 else 0), (s if axis == 2 else 0)
                p, q, r = i + a, j + b, k + c
                if not (low[0] <= p < high[0] and low[1] <= q < high[1] and 0 <= r < nz):
                    continue
                if phi[p, q, r] >= 0.0 or not sees(bits, a, b, c) or 0 < layer[p, q, r] < mark:
                    continue
                if layer[p, q, r] == 0:
                    layer[p, q, r] = mark
                    height[p, q, r] = 0.0
                    following[found] = p, q, r
                    found += 1
        for n in range(found):
            i, j, k = following[n]
            bits = bits_at(number, seen, i, j, k)
            total, times = 0.0, 0
            for side in range(6):
                s, axis = 2 * (side % 2) - 1, side // 2
                a, b, c = (s if axis == 0 else 0), (s if axis == 1 else 0), (s if axis == 2 else 0)
                p, q, r = i + a, j + b, k + c
                if not (low[0] <= p < high[0] and low[1] <= q < high[1] and 0 <= r < nz):
                    continue
                if 0 < layer[p, q, r] < mark and sees(bits, a, b, c):
                    total += height[p, q, r]
                    times += 1
            height[i, j, k] = total / times
        front, following = following, front
        count = found


@njit(cache=True)
def _depth(level, slope_z, height, z, h, at):
    """Depth at height z; level: the level set there, at: that at the cell which was asked."""
    if at < 0.0 and at <= -CLOSE * h and not np.isnan(height):
        return height - z
    depth = -level * min(max(slope_z / h, 0.0), 1.0)
    return depth if at < CLOSE * h else min(depth, 0.0)


@njit(cache=True)
def _walled(number, point, origin, h):
    """Whether a cell about a point, of those that `depths` asks, does not see all around."""
    nx, ny, nz = number.shape
    x, y, z = (point[0] - origin[0]) / h - 0.5, (point[1] - origin[1]) / h - 0.5, (point[2] - origin[2]) / h - 0.5
    for i in range(max(int(np.floor(x)), 0), min(int(np.floor(x)) + 2, nx)):
        for j in range(max(int(np.floor(y)), 0), min(int(np.floor(y)) + 2, ny)):
            for k in range(max(int(np.floor(z - 0.5)), 0), min(int(np.floor(z + 0.5)) + 2, nz)):
                if number[i, j, k] >= 0:
                    return True
    return False


@njit(cache=True)
def _crosses(start, end, corners, origin, h):
    """Whether the way between two points (index coordinates) goes through a triangle."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    e = np.empty((3, 3))  # from the start to the triangle's corners
    for v in range(3):
        for m in range(3):
            e[v, m] = (corners[v, m] - origin[m]) / h - 0.5 - start[m]
    # volumes of the way with each edge, and heights of both ends over the plane
    for m in range(3):
        n, o = (m + 1) % 3, (m + 2) % 3
        way = end[m] - start[m]
        a += way * (e[0, n] * e[1, o] - e[0, o] * e[1, n])
        b += way * (e[1, n] * e[2, o] - e[1, o] * e[2, n])
        c += way * (e[2, n] * e[0, o] - e[2, o] * e[0, n])
        d += e[0, m] * (e[1, n] * e[2, o] - e[1, o] * e[2, n])
    total = a + b + c
    if total == 0.0 or (min(a, b, c) < 0.0 and max(a, b, c) > 0.0):
        return False
    return 0.0 <= d / total <= 1.0


@njit(cache=True)
def _in_sight(start, end, i, j, k, triangle, skins, origin, h):
    """Whether the way from a point to the centre of a cell near it, both in index coordinates, meets no skin. Those are
    looked at that are nearest to a node about the way; i, j, k: of the cell that holds the start."""
    a, b, c = int(end[0]), int(end[1]), int(end[2])
    for p in range(max(min(i, a), 0), min(max(i, a) + 2, triangle.shape[0])):
        for q in range(max(min(j, b), 0), min(max(j, b) + 2, triangle.shape[1])):
            last = -1
            for r in range(max(min(k, c), 0), min(max(k, c) + 2, triangle.shape[2])):
                m = triangle[p, q, r]
                if m < 0 or m == last:
                    continue
                last = m
                if _crosses(start, end, skins[m], origin, h):
                    return False
    return True


@njit(cache=True)
def _corner_depths(phi, h, number, seen, known, hidden, height, origin, triangle, skins, corners, out):
    nx, ny, nz = phi.shape
    x, ask, normal, slope = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    start, end = np.empty(3), np.empty(3)
    for t in range(corners.shape[0]):
        if not (
            _walled(number, corners[t, 0], origin, h)
            or _walled(number, corners[t, 1], origin, h)
            or _walled(number, corners[t, 2], origin, h)
        ):
            continue
        size = 0.0
        for d in range(3):
            e, f = (d + 1) % 3, (d + 2) % 3
            p, q = corners[t, 1, e] - corners[t, 0, e], corners[t, 2, f] - corners[t, 0, f]
            r, s = corners[t, 1, f] - corners[t, 0, f], corners[t, 2, e] - corners[t, 0, e]
            normal[d] = p * q - r * s
            size += normal[d] ** 2
        size = np.sqrt(size)
        if size == 0.0:
            continue
        for v in range(3):
            way = 0.0
            for d in range(3):
                x[d] = (corners[t, v, d] - origin[d]) / h - 0.5
                ask[d] = (corners[t, 0, d] + corners[t, 1, d] + corners[t, 2, d]) / 3.0 - corners[t, v, d]
                way += ask[d] ** 2
            way = np.sqrt(way)
            inwards = min(AHEAD * h, 0.5 * way) / (h * max(way, 1e-300))
            for d in range(3):
                start[d] = x[d] + inwards * ask[d] + LIFT * normal[d] / size
                ask[d] = x[d] + inwards * ask[d] + AHEAD * normal[d] / size
            i, j, k = int(np.rint(ask[0])), int(np.rint(ask[1])), int(np.rint(ask[2]))
            if not (0 <= i < nx and 0 <= j < ny and 0 <= k < nz) or number[i, j, k] == FAR:
                continue
            # the cell that holds the point if no wall is in it, or else the nearest one in sight before the skin
            e, f, g = int(np.rint(start[0])), int(np.rint(start[1])), int(np.rint(start[2]))
            p, q, r = i, j, k
            best = 0.0 if number[i, j, k] < 0 else 1e30
            for a in range(max(i - 1, 0), min(i + 2, nx) if best > 0.0 else 0):
                for b in range(max(j - 1, 0), min(j + 2, ny)):
                    for c in range(max(k - 1, 0), min(k + 2, nz)):
                        before = (a - x[0]) * normal[0] + (b - x[1]) * normal[1] + (c - x[2]) * normal[2]
                        if before <= 0.0 or (number[a, b, c] >= 0 and hidden[number[a, b, c]]):
                            continue
                        d2 = (a - ask[0]) ** 2 + (b - ask[1]) ** 2 + (c - ask[2]) ** 2
                        end[0], end[1], end[2] = a, b, c
                        if d2 < best and _in_sight(start, end, e, f, g, triangle, skins, origin, h):
                            best = d2
                            p, q, r = a, b, c
            if best > 1e29:
                continue
            seen_slope(phi, h, number, seen, known, p, q, r, slope)
            level = phi[p, q, r] + slope[0] * (x[0] - p) + slope[1] * (x[1] - q) + slope[2] * (x[2] - r)
            out[t, v] = _depth(level, slope[2], height[p, q, r], corners[t, v, 2], h, phi[p, q, r])


@njit(cache=True)
def _piece_heights(height, faces, ends, above):
    for m in range(len(faces)):
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        for end in range(2):
            e = ends[m, end]
            if e < 0 or ends[m, 1 - end] >= 0 or not np.isnan(above[e]):
                continue
            if end == 0:
                above[e] = height[i, j, k]
            else:
                above[e] = height[i - (axis == 0), j - (axis == 1), k - (axis == 2)]


@njit(cache=True)
def _row_depths(phi, h, number, seen, known, height, cells, z, piece, level, slopes, above, out, wet):
    slope = np.empty(3)
    for n in range(len(cells)):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        e = piece[n]
        if e >= 0:
            out[n] = _depth(level[e], slopes[e, 2], above[e], z[n], h, level[e])
            wet[n] = level[e] < 0.0
        elif number[i, j, k] >= 0:
            seen_slope(phi, h, number, seen, known, i, j, k, slope)
            out[n] = _depth(phi[i, j, k], slope[2], height[i, j, k], z[n], h, phi[i, j, k])
