"""Which neighbours a cell sees past thin bodies, so that the surface on one side of a wall is not that on the other.

A cell sees a neighbour (of 26) if a way of open faces between cells' own pieces leads there, straight on along each
axis. What stages of the surface take from neighbours they take from those that a cell sees: a level set that is carried
comes from along a way that no wall cuts (Guendelman, Selle, Losasso and Fedkiw 2005), what is not seen is continued
with the slope of what is. The level set of a cell is that of its own piece. Where the cell's centre is not in that
piece, or a wall has just passed over it, nothing was carried there, and it is continued from the cells around:

    phi_c = mean over n of phi_n + (x_c - x_n) . grad phi_n

with n the cells seen across faces, or where there are none, across edges or corners. So are further pieces, from the
cells that they are open to. A flat surface is continued exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.mesh.distance import closest_on_triangle
from vitruvian.water.boundary import Boundary

Array = np.ndarray
FAR, NEAR = -1, -2  # cells that see all around: more than two cells from any that does not, and others
ALL = (1 << 27) - 1
OPEN = 1 << 27  # beside the bits of neighbours: a face of the cell's own piece is open
CLOSED = 1e-6  # open parts below it are rounding
SPECK = 1e-3  # cells from the surface at which a piece lies at least, on the side of all that it is open to
PASSES = 4  # by which what is hidden is continued from what is known
NOWHERE = np.full((0, 0, 0), FAR, np.int32)
NOTHING = np.zeros(0, np.int64)


@dataclass
class Sides:
    """Cells beside thin bodies and what they see."""

    number: Array  # of each cell that does not see all around, or FAR or NEAR; shape (nx, ny, nz)
    cells: Array  # shape (n, 3)
    seen: Array  # bit 9 (a + 1) + 3 (b + 1) + c + 1 for each neighbour (a, b, c) that one sees, and OPEN; shape (n,)
    hidden: Array  # whether its centre is not in its own piece, shape (n,)


def find_sides(b: Boundary, walls: Array) -> Sides | None:
    """walls: which of the pieces' thin cells to look at, shape (k,). None where there are none."""
    thin, inside, shape = b.pieces.thin[walls], b.pieces.inside[walls], b.volume.shape
    if not len(thin):
        return None
    low = np.maximum(thin.min(axis=0) - 2, 0)
    high = np.minimum(thin.max(axis=0) + 3, shape)
    region = tuple(slice(i, j) for i, j in zip(low, high))
    faces = []
    for axis, opened in enumerate((b.open_x, b.open_y, b.open_z)):
        own = opened[tuple(slice(i, j + (a == axis)) for a, (i, j) in enumerate(zip(low, high)))].copy()
        pairs = b.pieces.faces[:, 0] == axis
        np.subtract.at(own, tuple((b.pieces.faces[pairs, 1:] - low).T), b.pieces.opened[pairs])
        faces.append(own > CLOSED)
    local, cells, seen = _look(thin - low, *faces)
    number = np.full(shape, FAR, np.int32)
    number[region] = local
    hidden = np.zeros(len(cells), bool)
    _hide(thin - low, inside, local, hidden)
    return Sides(number, cells + low, seen, hidden)


def looked(sides: Sides | None) -> tuple[Array, Array]:
    """Numbers and what they see, as the kernels take them."""
    return (NOWHERE, NOTHING) if sides is None else (sides.number, sides.seen)


def uncover(phi: Array, h: float, b: Boundary, before: Boundary | None, origin: Array) -> None:
    """Continue the level set to cells that nothing was carried to, in place: those that a skin has passed since, and
    those whose centre is not in their own piece, or was not before, unless they are open to the same side still.
    """
    if b.sides is None:
        return
    s = b.sides
    unknown = s.hidden.copy()
    if before is not None and before.sides is not None:
        earlier = before.sides
        _hide(earlier.cells[earlier.hidden], np.zeros(int(earlier.hidden.sum()), bool), s.number, unknown)
    passed = np.zeros(len(s.cells), bool)
    if before is not None and b.gathered is not None and before.gathered is not None:
        now, then = b.gathered[1], before.gathered[1]
        if now.shape == then.shape and not np.array_equal(now, then):
            _passed(s.cells, b.triangle, now, then, origin, h, passed)
    unknown |= passed
    if before is not None and before.sides is not None:
        _still(s.cells, s.number, s.seen, *looked(before.sides), passed, unknown)
    _continue(phi, h, s.number, s.seen, s.cells, unknown)


def piece_levels(phi: Array, h: float, b: Boundary) -> tuple[Array, Array]:
    """Level set [m] of each further piece, continued from the cells that it is open to, and its slope per cell; shapes
    (n,) and (n, 3).
    """
    p = b.pieces
    value, slope = phi[tuple(p.cells.T)], np.zeros((len(p.cells), 3))
    if b.sides is not None and len(p.cells):
        _pieces(phi, h, b.sides.number, b.sides.seen, p.cells, p.faces, p.ends, p.opened, value, slope)
    return value, slope


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def bit(a, b, c):
    return 9 * (a + 1) + 3 * (b + 1) + c + 1


@njit(cache=True, inline="always")
def bits_at(number, seen, i, j, k):
    """What a cell sees; beyond the grid there is nothing to be seen, which kernels look after themselves."""
    if len(seen) == 0 or number[i, j, k] < 0:
        return np.int64(ALL)
    return seen[number[i, j, k]]


@njit(cache=True, inline="always")
def sees(bits, a, b, c):
    return (bits >> bit(a, b, c)) & 1 == 1


@njit(cache=True)
def _look(thin, open_x, open_y, open_z):
    nx, ny, nz = open_y.shape[0], open_x.shape[1], open_x.shape[2]
    number = np.full((nx, ny, nz), FAR, np.int32)
    for n in range(len(thin)):
        for a in range(-1, 2):
            for b in range(-1, 2):
                for c in range(-1, 2):
                    i, j, k = thin[n, 0] + a, thin[n, 1] + b, thin[n, 2] + c
                    if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz:
                        number[i, j, k] = 0
    cells = np.empty((nx * ny * nz, 3), np.int64)
    seen = np.empty(nx * ny * nz, np.int64)
    count = 0
    beside = number == 0  # cells farther off see all around, and are seen
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if number[i, j, k] != 0:
                    continue
                bits = np.int64(1) << bit(0, 0, 0)
                there = away = bits
                opened = np.int64(0)
                for steps in range(1, 4):
                    for a in range(-1, 2):
                        for b in range(-1, 2):
                            for c in range(-1, 2):
                                p, q, r = i + a, j + b, k + c
                                if abs(a) + abs(b) + abs(c) != steps:
                                    continue
                                if not (0 <= p < nx and 0 <= q < ny and 0 <= r < nz):
                                    continue
                                there |= np.int64(1) << bit(a, b, c)
                                if not beside[p, q, r]:
                                    away |= np.int64(1) << bit(a, b, c)
                                way = False
                                if a != 0 and sees(bits, 0, b, c):
                                    way |= open_x[max(p, i), q, r]
                                if b != 0 and sees(bits, a, 0, c):
                                    way |= open_y[p, max(q, j), r]
                                if c != 0 and sees(bits, a, b, 0):
                                    way |= open_z[p, q, max(r, k)]
                                if way:
                                    bits |= np.int64(1) << bit(a, b, c)
                                    opened = np.int64(OPEN)
                bits |= away
                if bits == there:
                    number[i, j, k] = FAR
                    continue
                number[i, j, k] = count
                cells[count, 0], cells[count, 1], cells[count, 2] = i, j, k
                seen[count] = bits | opened
                count += 1
    for n in range(count):
        for i in range(max(cells[n, 0] - 2, 0), min(cells[n, 0] + 3, nx)):
            for j in range(max(cells[n, 1] - 2, 0), min(cells[n, 1] + 3, ny)):
                for k in range(max(cells[n, 2] - 2, 0), min(cells[n, 2] + 3, nz)):
                    if number[i, j, k] == FAR:
                        number[i, j, k] = NEAR
    return number, cells[:count].copy(), seen[:count].copy()


@njit(cache=True)
def _hide(cells, inside, number, hidden):
    nx, ny, nz = number.shape
    for n in range(len(cells)):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        if not inside[n] and 0 <= i < nx and 0 <= j < ny and 0 <= k < nz and number[i, j, k] >= 0:
            hidden[number[i, j, k]] = True


@njit(cache=True)
def _passed(cells, triangle, corners, before, origin, h, passed):
    """Mark cells whose centre does not lie outside the nearest skin both now and before."""
    x = np.empty(3)
    for n in range(len(cells)):
        for d in range(3):
            x[d] = origin[d] + (cells[n, d] + 0.5) * h
        best, t, last = 1e30, -1, -1
        for a in range(2):
            for b in range(2):
                for c in range(2):
                    m = triangle[cells[n, 0] + a, cells[n, 1] + b, cells[n, 2] + c]
                    if m < 0 or m == last:
                        continue
                    last = m
                    e, f, _ = closest_on_triangle(x[0], x[1], x[2], corners[m, 0], corners[m, 1], corners[m, 2])
                    far = 0.0
                    for d in range(3):
                        foot = (1.0 - e - f) * corners[m, 0, d] + e * corners[m, 1, d] + f * corners[m, 2, d]
                        far += (x[d] - foot) ** 2
                    if far < best:
                        best, t = far, m
        if t >= 0:
            moved = 0.0
            for v in range(3):
                way = 0.0
                for d in range(3):
                    way += (corners[t, v, d] - before[t, v, d]) ** 2
                moved = max(moved, way)
            # no part of a triangle moves farther than its farthest corner
            passed[n] = best <= moved and not (_above(x, corners[t]) > 0.0 and _above(x, before[t]) > 0.0)


@njit(cache=True)
def _still(cells, number, seen, number_before, seen_before, passed, unknown):
    """Cells that nothing has passed are known if a cell across a face that is known was seen before and is so now, and
    they see some along each axis: others cannot tell where a surface crosses them.
    """
    doubtful = unknown.copy()
    for n in range(len(cells)):
        if not unknown[n] or passed[n]:
            continue
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        then = bits_at(number_before, seen_before, i, j, k)
        now = seen[n]
        along_x, along_y = sees(now, -1, 0, 0) or sees(now, 1, 0, 0), sees(now, 0, -1, 0) or sees(now, 0, 1, 0)
        if not (along_x and along_y and (sees(now, 0, 0, -1) or sees(now, 0, 0, 1))):
            continue
        for side in range(6):
            s, axis = 2 * (side % 2) - 1, side // 2
            a, b, c = (s if axis == 0 else 0), (s if axis == 1 else 0), (s if axis == 2 else 0)
            p, q, r = i + a, j + b, k + c
            if not (0 <= p < number.shape[0] and 0 <= q < number.shape[1] and 0 <= r < number.shape[2]):
                continue
            if sees(seen[n], a, b, c) and sees(then, a, b, c) and _known(number, doubtful, p, q, r):
                unknown[n] = False


@njit(cache=True)
def _above(x, corners):
    """Height of a point over a triangle's plane times twice its area."""
    total = 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        p, q = corners[1, e] - corners[0, e], corners[2, f] - corners[0, f]
        r, s = corners[1, f] - corners[0, f], corners[2, e] - corners[0, e]
        total += (p * q - r * s) * (x[d] - corners[0, d])
    return total


@njit(cache=True)
def _known(number, unknown, i, j, k):
    return number[i, j, k] < 0 or not unknown[number[i, j, k]]


@njit(cache=True)
def _slope_along(phi, number, seen, unknown, i, j, k, axis):
    """Slope per cell along an axis between the known cells that one sees, and whether there is any."""
    bits = bits_at(number, seen, i, j, k)
    total, count = 0.0, 0
    for s in (-1, 1):
        a, b, c = (s if axis == 0 else 0), (s if axis == 1 else 0), (s if axis == 2 else 0)
        p, q, r = i + a, j + b, k + c
        if not (0 <= p < phi.shape[0] and 0 <= q < phi.shape[1] and 0 <= r < phi.shape[2]):
            continue
        if sees(bits, a, b, c) and _known(number, unknown, p, q, r):
            total += s * (phi[p, q, r] - phi[i, j, k])
            count += 1
    return (total / count, True) if count else (0.0, False)


@njit(cache=True)
def seen_slope(phi, h, number, seen, unknown, i, j, k, out):
    """Slope per cell at a cell, from what it sees; along an axis on which it sees nothing, that of the cells across its
    other faces. A distance is no steeper than h a cell.
    """
    bits = bits_at(number, seen, i, j, k)
    for axis in range(3):
        out[axis], found = _slope_along(phi, number, seen, unknown, i, j, k, axis)
        if found:
            continue
        total, count = 0.0, 0
        for side in range(6):
            s, along = 2 * (side % 2) - 1, side // 2
            a, b, c = (s if along == 0 else 0), (s if along == 1 else 0), (s if along == 2 else 0)
            p, q, r = i + a, j + b, k + c
            if along == axis or not (0 <= p < phi.shape[0] and 0 <= q < phi.shape[1] and 0 <= r < phi.shape[2]):
                continue
            if sees(bits, a, b, c) and _known(number, unknown, p, q, r):
                value, found = _slope_along(phi, number, seen, unknown, p, q, r, axis)
                if found:
                    total += value
                    count += 1
        if count:
            out[axis] = total / count
    size = np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    if size > h:
        for axis in range(3):
            out[axis] *= h / size


@njit(cache=True, inline="always")
def _of_its_side(value, wet, weights, h):
    """A slope alone makes no water where all is dry about, nor air where all is wet."""
    if wet == 0.0:
        return max(value, SPECK * h)
    return min(value, -SPECK * h) if wet == weights else value


@njit(cache=True)
def _continue(phi, h, number, seen, cells, unknown):
    slope = np.empty(3)
    value = np.empty(len(cells))
    found = np.zeros(len(cells), np.bool_)
    for _ in range(PASSES):
        found[:] = False
        for n in range(len(cells)):
            if not unknown[n]:
                continue
            i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
            total, weights, nearest = 0.0, 0.0, 3
            for a in range(-1, 2):
                for b in range(-1, 2):
                    for c in range(-1, 2):
                        steps = abs(a) + abs(b) + abs(c)
                        if steps == 0 or steps > nearest or not sees(seen[n], a, b, c):
                            continue
                        p, q, r = i + a, j + b, k + c
                        if not _known(number, unknown, p, q, r):
                            continue
                        if steps < nearest:
                            total, weights, nearest = 0.0, 0.0, steps
                        seen_slope(phi, h, number, seen, unknown, p, q, r, slope)
                        total += phi[p, q, r] - a * slope[0] - b * slope[1] - c * slope[2]
                        weights += 1.0
            if weights > 0.0:
                value[n] = total / weights
                found[n] = True
        if not found.any():
            break
        for n in range(len(cells)):
            if found[n]:
                phi[cells[n, 0], cells[n, 1], cells[n, 2]] = value[n]
                unknown[n] = False


@njit(cache=True)
def _pieces(phi, h, number, seen, cells, faces, ends, opened, value, slope):
    unknown = np.zeros(len(seen), np.bool_)
    count = len(cells)
    told = np.zeros(count, np.bool_)
    at = np.empty(3)
    for _ in range(PASSES):
        total, weights, wet = np.zeros((count, 4)), np.zeros(count), np.zeros(count)
        for m in range(len(faces)):
            for end in range(2):
                e, other = ends[m, end], ends[m, 1 - end]
                if e < 0 or told[e] or (other >= 0 and not told[other]):
                    continue
                axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
                if end == 1:  # the cell across is the low one
                    i, j, k = i - (axis == 0), j - (axis == 1), k - (axis == 2)
                if other < 0:
                    there = phi[i, j, k]
                    seen_slope(phi, h, number, seen, unknown, i, j, k, at)
                else:
                    there = value[other]
                    at[:] = slope[other]
                total[e, 0] += opened[m] * (there + (2 * end - 1) * at[axis])
                for d in range(3):
                    total[e, 1 + d] += opened[m] * at[d]
                weights[e] += opened[m]
                wet[e] += opened[m] if there < 0.0 else 0.0
        more = False
        for e in range(count):
            if weights[e] > 0.0:
                value[e] = _of_its_side(total[e, 0] / weights[e], wet[e], weights[e], h)
                for d in range(3):
                    slope[e, d] = total[e, 1 + d] / weights[e]
                told[e] = more = True
        if not more:
            break


@njit(cache=True)
def walk(number, seen, i, j, k, x, y, z):
    """Go straight from the centre of a cell to a point (index coordinates), as far as no wall is in the way: the cell
    and the point where one arrives, and whether that is the whole way.
    """
    dx, dy, dz = x - i, y - j, z - k
    count = int(np.ceil(2.0 * max(abs(dx), max(abs(dy), abs(dz)))))
    a, b, c = i, j, k
    u, v, w = float(i), float(j), float(k)
    for s in range(1, count + 1):
        t = s / count
        p = min(max(int(np.rint(i + t * dx)), 0), number.shape[0] - 1)
        q = min(max(int(np.rint(j + t * dy)), 0), number.shape[1] - 1)
        r = min(max(int(np.rint(k + t * dz)), 0), number.shape[2] - 1)
        if number[a, b, c] >= 0 and not sees(seen[number[a, b, c]], p - a, q - b, r - c):
            return a, b, c, u, v, w, False
        a, b, c = p, q, r
        u, v, w = i + t * dx, j + t * dy, k + t * dz
    return a, b, c, u, v, w, True


@njit(cache=True)
def seen_linear(phi, h, number, seen, unknown, i, j, k, x, y, z):
    """Trilinear value at a point within a cell's half length of its centre, of what the cell sees; the rest is
    continued with its slope. unknown: all False, for each number.
    """
    bits = bits_at(number, seen, i, j, k)
    nx, ny, nz = phi.shape
    a, b, c = (1 if x >= i else -1), (1 if y >= j else -1), (1 if z >= k else -1)
    e, f, g = abs(x - i), abs(y - j), abs(z - k)
    slope = np.zeros(3)
    asked = False
    total = 0.0
    for n in range(8):
        p, q, r = (n & 1) * a, (n >> 1 & 1) * b, (n >> 2) * c
        weight = (e if p else 1.0 - e) * (f if q else 1.0 - f) * (g if r else 1.0 - g)
        there = 0 <= i + p < nx and 0 <= j + q < ny and 0 <= k + r < nz
        if there and sees(bits, p, q, r):
            total += weight * phi[i + p, j + q, k + r]
        else:
            if not asked:
                seen_slope(phi, h, number, seen, unknown, i, j, k, slope)
                asked = True
            total += weight * (phi[i, j, k] + p * slope[0] + q * slope[1] + r * slope[2])
    return total
