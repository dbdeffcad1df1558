"""Which cells a thin body splits, and the pieces of their wet nodes.

A cell is split where its wet nodes fall into several pieces, crossed where a row of it is wet at both ends and cut
between them; so are cells on either side of a body of one or two cells. Their neighbours that the skin cuts are at the
rim of it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MOST_PIECES = 8  # in a cell
OPEN, CUT, RIM, THIN = 0, 1, 2, 3  # kinds of cells


@njit(cache=True)
def cell_kinds(wet, low, high, r, kind):
    """Mark cells that the skin cuts, those that it splits or crosses with water on both sides, and their neighbours;
    returns the number of split or crossed ones.
    """
    nx, ny, nz = kind.shape
    for axis in range(3):
        for i in range(wet.shape[0]):
            for j in range(wet.shape[1]):
                for k in range(wet.shape[2]):
                    if low[axis, i, j, k] <= 1.0:
                        i0 = i // r if axis == 0 else max(0, (i - 1) // r)
                        j0 = j // r if axis == 1 else max(0, (j - 1) // r)
                        k0 = k // r if axis == 2 else max(0, (k - 1) // r)
                        for a in range(i0, min(nx, i // r + 1)):
                            for b in range(j0, min(ny, j // r + 1)):
                                for c in range(k0, min(nz, k // r + 1)):
                                    kind[a, b, c] = CUT
    label = np.empty((r + 1, r + 1, r + 1), np.int8)
    stack = np.empty(((r + 1) ** 3, 3), np.int64)
    found = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if kind[i, j, k] != OPEN:
                    count = label_nodes(wet, low, r, i, j, k, label, stack)
                    if count > 1 or (count == 1 and _crossed(wet, low, r, i, j, k)):
                        kind[i, j, k] = THIN
                        found += 1
                    for axis in range(3):
                        p, q, s = i + (axis == 0), j + (axis == 1), k + (axis == 2)
                        if p < nx and q < ny and s < nz and kind[p, q, s] and _across(wet, r, i, j, k, axis, 2):
                            found += (kind[i, j, k] == CUT) + (kind[p, q, s] == CUT)
                            kind[i, j, k] = kind[p, q, s] = THIN
                        p, q, s = p + (axis == 0), q + (axis == 1), s + (axis == 2)
                        if p < nx and q < ny and s < nz and kind[p, q, s] and _across(wet, r, i, j, k, axis, 3):
                            found += (kind[i, j, k] == CUT) + (kind[p, q, s] == CUT)
                            kind[i, j, k] = kind[p, q, s] = THIN
    if found:
        for i in range(nx):
            for j in range(ny):
                for k in range(nz):
                    if kind[i, j, k] == CUT and (
                        (i > 0 and kind[i - 1, j, k] == THIN)
                        or (i < nx - 1 and kind[i + 1, j, k] == THIN)
                        or (j > 0 and kind[i, j - 1, k] == THIN)
                        or (j < ny - 1 and kind[i, j + 1, k] == THIN)
                        or (k > 0 and kind[i, j, k - 1] == THIN)
                        or (k < nz - 1 and kind[i, j, k + 1] == THIN)
                    ):
                        kind[i, j, k] = RIM
    return found


@njit(cache=True)
def label_nodes(wet, low, r, i, j, k, label, stack):
    """Number the pieces of a cell's wet nodes from 0, dry ones -1; returns their count."""
    label[:] = -1
    count = 0
    for a in range(r + 1):
        for b in range(r + 1):
            for c in range(r + 1):
                if label[a, b, c] >= 0 or not wet[r * i + a, r * j + b, r * k + c]:
                    continue
                if count == MOST_PIECES:
                    return count
                stack[0, 0], stack[0, 1], stack[0, 2] = a, b, c
                label[a, b, c] = count
                size = 1
                while size:
                    size -= 1
                    p, q, s = stack[size, 0], stack[size, 1], stack[size, 2]
                    for side in range(6):
                        axis, up = side // 2, side % 2
                        e = p + (2 * up - 1 if axis == 0 else 0)
                        f = q + (2 * up - 1 if axis == 1 else 0)
                        g = s + (2 * up - 1 if axis == 2 else 0)
                        if not (0 <= e <= r and 0 <= f <= r and 0 <= g <= r) or label[e, f, g] >= 0:
                            continue
                        x, y, z = r * i + min(p, e), r * j + min(q, f), r * k + min(s, g)
                        if wet[r * i + e, r * j + f, r * k + g] and low[axis, x, y, z] > 1.0:
                            label[e, f, g] = count
                            stack[size, 0], stack[size, 1], stack[size, 2] = e, f, g
                            size += 1
                count += 1
    return count


@njit(cache=True)
def _crossed(wet, low, r, i, j, k):
    """Whether a row of the cell is wet at both ends and cut between them."""
    x, y, z = r * i, r * j, r * k
    for a in range(r + 1):
        for b in range(r + 1):
            for axis in range(3):
                if axis == 0:
                    both = wet[x, y + a, z + b] and wet[x + r, y + a, z + b]
                elif axis == 1:
                    both = wet[x + a, y, z + b] and wet[x + a, y + r, z + b]
                else:
                    both = wet[x + a, y + b, z] and wet[x + a, y + b, z + r]
                if both and row_cut(low, axis, x, y, z, a, b, r):
                    return True
    return False


@njit(cache=True)
def _across(wet, r, i, j, k, axis, count):
    """Whether a row along an axis is dry between `count` cells from this one on and wet at the far ends of both, and
    none is dry at these too: the cap of a thick body is no thin one.
    """
    m = r * (count - 1)
    x, y, z = r * i, r * j, r * k
    found = False
    for a in range(r + 1):
        for b in range(r + 1):
            if axis == 0:
                row = wet[x : x + m + r + 1, y + a, z + b]
            elif axis == 1:
                row = wet[x + a, y : y + m + r + 1, z + b]
            else:
                row = wet[x + a, y + b, z : z + m + r + 1]
            low, mid, beyond, high = row[0], row[r], row[m], row[m + r]
            if mid or beyond:
                continue
            if not (low or high):
                return False
            found |= low and high
    return found


@njit(cache=True)
def row_cut(low, axis, x, y, z, a, b, r):
    for m in range(r):
        if axis == 0:
            cut = low[0, x + m, y + a, z + b] <= 1.0
        elif axis == 1:
            cut = low[1, x + a, y + m, z + b] <= 1.0
        else:
            cut = low[2, x + a, y + b, z + m] <= 1.0
        if cut:
            return True
    return False
