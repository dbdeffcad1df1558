"""Skin within a cell, the volume of a piece, and the length of the water that moves with a face.

The skin's area that faces down and up each axis says how much of a cross-section a sheet takes and where it lies in its
cell; with the open parts of a piece's faces it gives the piece's volume by the divergence theorem.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.water.fractions import SLIVER
from vitruvian.water.piece_kinds import row_cut

SHORTEST = 0.125  # half length of a sliver


@njit(cache=True)
def _clip(triangle, i, j, k, work, other):
    """Part of a triangle inside a cell, as a polygon in `work`; returns its corners."""
    n = 3
    for c in range(3):
        for d in range(3):
            work[c, d] = triangle[c, d]
    for side in range(6):
        axis, up = side // 2, side % 2
        bound = (i if axis == 0 else (j if axis == 1 else k)) + up
        sign = 1.0 - 2.0 * up
        m = 0
        for c in range(n):
            p, q = work[c], work[(c + 1) % n]
            a, b = sign * (p[axis] - bound), sign * (q[axis] - bound)
            if a >= 0.0:
                other[m] = p
                m += 1
            if (a >= 0.0) != (b >= 0.0):
                t = a / (a - b)
                for d in range(3):
                    other[m, d] = p[d] + t * (q[d] - p[d])
                m += 1
        n = m
        if n == 0:
            return 0
        work[:n] = other[:n]
    return n


@njit(cache=True)
def walls(corners, number, area, moment):
    """Projected area of the skin in each numbered cell that faces down and up each axis, and its first moment along
    that axis from the cell's low side; (cells, axis, side).
    """
    work, other = np.empty((12, 3)), np.empty((12, 3))
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for t in range(corners.shape[0]):
        tri = corners[t]
        for d in range(3):
            low[d] = max(0, int(np.floor(min(tri[0, d], min(tri[1, d], tri[2, d])))))
            high[d] = min(number.shape[d] - 1, int(np.floor(max(tri[0, d], max(tri[1, d], tri[2, d])))))
        for i in range(low[0], high[0] + 1):
            for j in range(low[1], high[1] + 1):
                for k in range(low[2], high[2] + 1):
                    n = number[i, j, k]
                    if n < 0:
                        continue
                    m = _clip(tri, i, j, k, work, other)
                    for c in range(1, m - 1):
                        for axis in range(3):
                            e, f = (axis + 1) % 3, (axis + 2) % 3
                            part = 0.5 * (
                                (work[c, e] - work[0, e]) * (work[c + 1, f] - work[0, f])
                                - (work[c, f] - work[0, f]) * (work[c + 1, e] - work[0, e])
                            )
                            side = 1 if part > 0.0 else 0
                            place = (work[0, axis] + work[c, axis] + work[c + 1, axis]) / 3.0
                            area[n, axis, side] += abs(part)
                            moment[n, axis, side] += abs(part) * (place - (i if axis == 0 else (j if axis == 1 else k)))


@njit(cache=True)
def same_piece(wet, low, r, i, j, k, label, axis, share):
    """Parts of the rows of a cell along an axis that are cut between two ends of the same piece, by piece."""
    share[:] = 0.0
    total = 0.0
    x, y, z = r * i, r * j, r * k
    for a in range(r + 1):
        for b in range(r + 1):
            if axis == 0:
                p, q = label[0, a, b], label[r, a, b]
            elif axis == 1:
                p, q = label[a, 0, b], label[a, r, b]
            else:
                p, q = label[a, b, 0], label[a, b, r]
            if p < 0 or q < 0 or not row_cut(low, axis, x, y, z, a, b, r):
                continue
            weight = (0.5 if a == 0 or a == r else 1.0) * (0.5 if b == 0 or b == r else 1.0)
            total += weight
            if p == q:
                share[p] += weight
    if total > 0.0:
        for m in range(len(share)):
            share[m] /= total


@njit(cache=True)
def piece_volume(sides, area, moment, pieces):
    """Volume of a piece by the divergence theorem, the mean over the axes: of x n_x over faces and walls."""
    total = 0.0
    for axis in range(3):
        v = 0.5 * (sides[axis, 0] + sides[axis, 1])
        if pieces == 1:
            for side in range(2):
                v += (1.0 - 2.0 * side) * (moment[axis, side] - 0.5 * area[axis, side])
        else:  # of the walls that face this piece
            wall = sides[axis, 0] - sides[axis, 1]
            side = 0 if wall > 0.0 else 1
            if area[axis, side] > 1e-9:
                v += wall * (moment[axis, side] / area[axis, side] - 0.5)
        total += v / 3.0
    return min(max(total, 0.0), 1.0)


@njit(cache=True, inline="always")
def half_length(volume, opened):
    """Length of a cell's water that moves with each of its faces along an axis, which are open by `opened` in sum: half
    of what reaches both, all of what ends at a wall.
    """
    return min(max(volume / opened, SHORTEST), 1.0) if opened > SLIVER else 0.5


@njit(cache=True, inline="always")
def half_at(half, axis, i, j, k):
    _, nx, ny, nz = half.shape
    return half[axis, i, j, k] if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else 0.5


@njit(cache=True)
def long_faces(half, ox, oy, oz):
    """Faces between whose cells' centres lies water of a length other than 1: axis, i, j, k and it."""
    room = 64
    faces, lengths = np.empty((room, 4), np.int64), np.empty(room)
    count = 0
    for axis in range(3):
        opened = ox if axis == 0 else (oy if axis == 1 else oz)
        for i in range(opened.shape[0]):
            for j in range(opened.shape[1]):
                for k in range(opened.shape[2]):
                    if opened[i, j, k] <= 0.0:
                        continue
                    length = half_at(half, axis, i - (axis == 0), j - (axis == 1), k - (axis == 2))
                    length += half_at(half, axis, i, j, k)
                    if abs(length - 1.0) < 1e-9:
                        continue
                    if count == room:
                        room *= 2
                        more_faces, more = np.empty((room, 4), np.int64), np.empty(room)
                        more_faces[:count], more[:count] = faces, lengths
                        faces, lengths = more_faces, more
                    faces[count, 0], faces[count, 1], faces[count, 2], faces[count, 3] = axis, i, j, k
                    lengths[count] = length
                    count += 1
    return faces[:count].copy(), lengths[:count].copy()
