"""Regions of water that nothing connects to a known pressure: closed tanks, and pockets that bodies cut off.

Pressure there is free up to a constant, which the solver must be told. Almost always there are none, and sweeps along
the axes, from cells beside air through open faces, reach every wet cell in a round or two.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.multigrid import System

Array = np.ndarray
MOST_ROUNDS = 4


def find_pockets(system: System) -> Array | None:
    """Number of each cell's pocket, 0 for none, in the padded shape of the system; None if there are no pockets."""
    s = system
    reached = np.zeros(s.diagonal.shape, np.uint8)
    missing = np.zeros(s.diagonal.shape[0], np.int64)
    _start(s.cx, s.cy, s.cz, s.diagonal, s.top, reached)
    for _ in range(MOST_ROUNDS):
        _sweep(s.cx, s.cy, s.cz, s.diagonal, s.top, reached, missing)
        if not missing.any():
            return None
    label = np.zeros(s.diagonal.shape, np.int64)
    count = _flood(s.cx, s.cy, s.cz, s.diagonal, label)
    return label if count else None


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, parallel=True)
def _start(cx, cy, cz, diagonal, top, reached):
    """Cells whose diagonal exceeds the sum of their couplings touch air or an open side."""
    for ii in prange(1, diagonal.shape[0] - 1):
        i = np.int64(ii)
        for j in range(1, diagonal.shape[1] - 1):
            for k in range(1, top[i, j]):
                d = diagonal[i, j, k]
                s = cx[i, j, k] + cx[i + 1, j, k] + cy[i, j, k] + cy[i, j + 1, k] + cz[i, j, k] + cz[i, j, k + 1]
                reached[i, j, k] = d > 0.0 and d - s > 1e-9 * d


@njit(cache=True, parallel=True)
def _sweep(cx, cy, cz, diagonal, top, reached, missing):
    """Spread along z and y in each slab, then along x; count what is left."""
    sx, sy, _ = diagonal.shape
    for ii in prange(1, sx - 1):
        i = np.int64(ii)
        for j in range(1, sy - 1):
            for k in range(top[i, j] - 2, 0, -1):
                if reached[i, j, k + 1] and cz[i, j, k + 1] > 0.0:
                    reached[i, j, k] = 1
            for k in range(2, top[i, j]):
                if reached[i, j, k - 1] and cz[i, j, k] > 0.0:
                    reached[i, j, k] = 1
        for j in range(2, sy - 1):
            for k in range(1, top[i, j]):
                if reached[i, j - 1, k] and cy[i, j, k] > 0.0:
                    reached[i, j, k] = 1
        for j in range(sy - 3, 0, -1):
            for k in range(1, top[i, j]):
                if reached[i, j + 1, k] and cy[i, j + 1, k] > 0.0:
                    reached[i, j, k] = 1
        missing[i] = _missing(diagonal, top, reached, i)
    if missing.any():
        for row in prange(1, sy - 1):
            q = np.int64(row)
            for p in range(2, sx - 1):
                for k in range(1, top[p, q]):
                    if reached[p - 1, q, k] and cx[p, q, k] > 0.0:
                        reached[p, q, k] = 1
            for p in range(sx - 3, 0, -1):
                for k in range(1, top[p, q]):
                    if reached[p + 1, q, k] and cx[p + 1, q, k] > 0.0:
                        reached[p, q, k] = 1
        for p in range(1, sx - 1):
            if missing[p]:
                missing[p] = _missing(diagonal, top, reached, p)


@njit(cache=True)
def _missing(diagonal, top, reached, i):
    count = 0
    for j in range(1, diagonal.shape[1] - 1):
        for k in range(1, top[i, j]):
            count += diagonal[i, j, k] > 0.0 and reached[i, j, k] == 0
    return count


@njit(cache=True)
def _flood(cx, cy, cz, diagonal, label):
    """Mark cells connected to a known pressure with -1, then number the remaining regions; returns their count."""
    sx, sy, sz = diagonal.shape
    stack = np.empty((diagonal.size, 3), np.int32)
    size = 0
    for i in range(1, sx - 1):
        for j in range(1, sy - 1):
            for k in range(1, sz - 1):
                d = diagonal[i, j, k]
                if d > 0.0:
                    s = cx[i, j, k] + cx[i + 1, j, k] + cy[i, j, k] + cy[i, j + 1, k] + cz[i, j, k] + cz[i, j, k + 1]
                    if d - s > 1e-9 * d:
                        label[i, j, k] = -1
                        stack[size, 0], stack[size, 1], stack[size, 2] = i, j, k
                        size += 1
    _spread(cx, cy, cz, label, stack, size, -1)
    count = 0
    for i in range(1, sx - 1):
        for j in range(1, sy - 1):
            for k in range(1, sz - 1):
                if diagonal[i, j, k] > 0.0 and label[i, j, k] == 0:
                    count += 1
                    label[i, j, k] = count
                    stack[0, 0], stack[0, 1], stack[0, 2] = i, j, k
                    _spread(cx, cy, cz, label, stack, 1, count)
    for i in range(sx):
        for j in range(sy):
            for k in range(sz):
                if label[i, j, k] < 0:
                    label[i, j, k] = 0
    return count


@njit(cache=True)
def _spread(cx, cy, cz, label, stack, size, mark):
    while size > 0:
        size -= 1
        i, j, k = stack[size, 0], stack[size, 1], stack[size, 2]
        for n in range(6):
            a, b, c = i, j, k
            if n == 0:
                open_ = cx[i, j, k]
                a -= 1
            elif n == 1:
                open_ = cx[i + 1, j, k]
                a += 1
            elif n == 2:
                open_ = cy[i, j, k]
                b -= 1
            elif n == 3:
                open_ = cy[i, j + 1, k]
                b += 1
            elif n == 4:
                open_ = cz[i, j, k]
                c -= 1
            else:
                open_ = cz[i, j, k + 1]
                c += 1
            # a coupling beyond the last cell is that of a periodic axis
            a = label.shape[0] - 2 if a == 0 else (1 if a == label.shape[0] - 1 else a)
            b = label.shape[1] - 2 if b == 0 else (1 if b == label.shape[1] - 1 else b)
            if open_ > 0.0 and label[a, b, c] == 0:
                label[a, b, c] = mark
                stack[size, 0], stack[size, 1], stack[size, 2] = a, b, c
                size += 1
