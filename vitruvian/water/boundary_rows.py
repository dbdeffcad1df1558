"""How each cell beside a body pushes it: g_c = sum_f s_f (1 - w_f) N_f, with w_f the open part of face f, s_f = +-1 its
outward sign and N_f the map from the twist of the face's link to the velocity along the face's normal. The pressure
solve uses it both ways (`pressure`).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def boundary_rows(ox, oy, oz, lx, ly, lz, origins, corner, h, boxes):
    """g_c of every cell with a partly closed face, one row per (cell, link)."""
    room = 64
    cells = np.empty((room, 3), np.int64)
    owner = np.empty(room, np.int64)
    rows = np.empty((room, 6))
    count = 0
    x = np.empty(3)
    for b in range(len(boxes)):
        box = boxes[b]
        for i in range(box[0, 0], box[0, 1]):
            for j in range(box[1, 0], box[1, 1]):
                for k in range(box[2, 0], box[2, 1]):
                    if len(boxes) > 1 and _met(boxes, b, i, j, k):
                        continue
                    if (
                        ox[i, j, k] + ox[i + 1, j, k] + oy[i, j, k] + oy[i, j + 1, k] + oz[i, j, k] + oz[i, j, k + 1]
                    ) in (
                        0.0,
                        6.0,
                    ):
                        continue
                    if count + 8 > room:
                        room *= 2
                        new_cells = np.empty((room, 3), np.int64)
                        new_owner = np.empty(room, np.int64)
                        new_rows = np.empty((room, 6))
                        new_cells[:count] = cells[:count]
                        new_owner[:count] = owner[:count]
                        new_rows[:count] = rows[:count]
                        cells, owner, rows = new_cells, new_owner, new_rows
                    first = count
                    cx, cy, cz = corner[0] + (i + 0.5) * h, corner[1] + (j + 0.5) * h, corner[2] + (k + 0.5) * h
                    for s in range(2):
                        sign = 2.0 * s - 1.0
                        if ox[i + s, j, k] < 1.0 and lx[i + s, j, k] >= 0:
                            x[0], x[1], x[2] = cx + 0.5 * sign * h, cy, cz
                            a = sign * (1.0 - ox[i + s, j, k])
                            count = _add_row(rows, owner, count, first, lx[i + s, j, k], 0, a, x, origins)
                        if oy[i, j + s, k] < 1.0 and ly[i, j + s, k] >= 0:
                            x[0], x[1], x[2] = cx, cy + 0.5 * sign * h, cz
                            a = sign * (1.0 - oy[i, j + s, k])
                            count = _add_row(rows, owner, count, first, ly[i, j + s, k], 1, a, x, origins)
                        if oz[i, j, k + s] < 1.0 and lz[i, j, k + s] >= 0:
                            x[0], x[1], x[2] = cx, cy, cz + 0.5 * sign * h
                            a = sign * (1.0 - oz[i, j, k + s])
                            count = _add_row(rows, owner, count, first, lz[i, j, k + s], 2, a, x, origins)
                    for n in range(first, count):
                        cells[n, 0], cells[n, 1], cells[n, 2] = i, j, k
    return cells[:count].copy(), owner[:count].copy(), rows[:count].copy()


@njit(cache=True)
def piece_rows(cells, faces, ends, opened, lx, ly, lz, origins, corner, h):
    """What further pieces of cells add: - sum_f s_f w N_f for each (piece, link), and its opposite for the cell's own.

    Returns cells, links, rows and pieces, -1 for the cell's own.
    """
    count = len(cells)
    # few links meet at a cell: a row for each (piece, face's link), found by going through the pairs of each piece
    room = 2 * len(faces)
    piece, owner, rows = np.empty(room, np.int64), np.empty(room, np.int64), np.zeros((room, 6))
    first = np.full(count, -1, np.int64)
    following = np.full(room, -1, np.int64)
    x = np.empty(3)
    one = np.empty(1, np.int64)
    made = 0
    for m in range(len(faces)):
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        link = lx[i, j, k] if axis == 0 else (ly[i, j, k] if axis == 1 else lz[i, j, k])
        if link < 0:
            continue
        x[0] = corner[0] + (i + (0.0 if axis == 0 else 0.5)) * h
        x[1] = corner[1] + (j + (0.0 if axis == 1 else 0.5)) * h
        x[2] = corner[2] + (k + (0.0 if axis == 2 else 0.5)) * h
        for end in range(2):
            e = ends[m, end]
            if e < 0:
                continue
            at = first[e]
            while at >= 0 and owner[at] != link:
                at = following[at]
            if at < 0:
                at = made
                piece[at], owner[at], following[at] = e, link, first[e]
                first[e] = at
                made += 1
            one[0] = link
            _add_row(rows[at : at + 1], one, 1, 0, link, axis, -opened[m] * (1.0 - 2.0 * end), x, origins)
    out_cells, out_owner = np.empty((2 * made, 3), np.int64), np.empty(2 * made, np.int64)
    out_rows, out_piece = np.empty((2 * made, 6)), np.empty(2 * made, np.int64)
    for n in range(made):
        for s in range(2):
            at = 2 * n + s
            out_cells[at] = cells[piece[n]]
            out_owner[at] = owner[n]
            for a in range(6):
                out_rows[at, a] = rows[n, a] * (1.0 - 2.0 * s)
            out_piece[at] = piece[n] if s == 0 else -1
    return out_cells, out_owner, out_rows, out_piece


@njit(cache=True, inline="always")
def _met(boxes, n, i, j, k):
    """Whether a box before the n-th holds the cell."""
    for m in range(n):
        b = boxes[m]
        if b[0, 0] <= i < b[0, 1] and b[1, 0] <= j < b[1, 1] and b[2, 0] <= k < b[2, 1]:
            return True
    return False


@njit(cache=True)
def _add_row(rows, owner, count, first, link, axis, amount, x, origins):
    """Add amount * (twist -> velocity along axis at x) to the row of `link` among rows first..count."""
    at = -1
    for n in range(first, count):
        if owner[n] == link:
            at = n
    if at < 0:
        at = count
        owner[at] = link
        rows[at] = 0.0
        count += 1
    b, c = (axis + 1) % 3, (axis + 2) % 3
    rows[at, 3 + axis] += amount
    rows[at, b] += amount * (x[c] - origins[link, c])
    rows[at, c] -= amount * (x[b] - origins[link, b])
    return count
