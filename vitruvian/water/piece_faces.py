"""Open parts of a face between the pieces on its two sides, clipped where the skin crosses the lattice's edges."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _square(wet, low, high, axis, i, j, k, area, first):
    """Open parts of the fine square that begins at a node, one for each set of joined corners: their areas and one
    corner of each; returns their count.
    """
    e, f = (axis + 1) % 3, (axis + 2) % 3
    w = np.empty(4, np.bool_)
    ahead = np.empty(4)  # free length of edge c from corner c
    back = np.empty(4)  # free length of edge c from corner c + 1
    at = np.empty(3, np.int64)
    for c in range(4):
        at[0], at[1], at[2] = i, j, k
        at[e] += 1 if c == 1 or c == 2 else 0
        at[f] += 1 if c >= 2 else 0
        w[c] = wet[at[0], at[1], at[2]]
        at[0], at[1], at[2] = i, j, k
        if c == 1:
            at[e] += 1
        elif c == 2:
            at[f] += 1
        along = e if c % 2 == 0 else f
        lo, hi = low[along, at[0], at[1], at[2]], high[along, at[0], at[1], at[2]]
        ahead[c], back[c] = (lo, hi) if c < 2 else (hi, lo)
    joined = np.empty(4, np.bool_)
    breaks = 0
    for c in range(4):
        n = (c + 1) % 4
        joined[c] = w[c] and w[n] and ahead[c] > 1.0
        if not joined[c]:
            breaks += 1
        if ahead[c] > 1.0:  # two lines that round off differently
            ahead[c] = back[c] = 0.5
    if breaks <= 1:
        area[0], first[0] = 1.0, 0
        return 1
    count = 0
    for c in range(4):
        if not w[c] or joined[(c + 3) % 4]:
            continue
        last, m = c, 1
        while joined[last]:
            last = (last + 1) % 4
            m += 1
        a, b = back[(c + 3) % 4], ahead[last]
        if m == 1:
            area[count] = 0.5 * a * b
        elif m == 2:
            area[count] = 0.5 * (a + b)
        else:
            area[count] = 1.0 - 0.5 * (1.0 - a) * (1.0 - b)
        first[count] = c
        count += 1
    return count


@njit(cache=True)
def face_pairs(wet, low, high, r, axis, i, j, k, lower, upper, labels, ends, opened, middle, count):
    """Add the pairs of pieces that a face joins; cells without a number are one piece, 0."""
    first = count
    area, corner = np.empty(4), np.empty(4, np.int64)
    e, f = (axis + 1) % 3, (axis + 2) % 3
    at = np.empty(3, np.int64)
    for a in range(r):
        for b in range(r):
            at[0], at[1], at[2] = r * i, r * j, r * k
            at[e] += a
            at[f] += b
            groups = _square(wet, low, high, axis, at[0], at[1], at[2], area, corner)
            for g in range(groups):
                c = corner[g]
                at[axis], at[e], at[f] = 0, a + (1 if c == 1 or c == 2 else 0), b + (1 if c >= 2 else 0)
                hi = int(labels[upper, at[0], at[1], at[2]]) if upper >= 0 else 0
                at[axis] = r
                lo = int(labels[lower, at[0], at[1], at[2]]) if lower >= 0 else 0
                if lo < 0 or hi < 0:
                    continue
                found = -1
                for p in range(first, count):
                    if ends[p, 0] == lo and ends[p, 1] == hi:
                        found = p
                if found < 0:
                    found = count
                    ends[found, 0], ends[found, 1], opened[found] = lo, hi, 0.0
                    middle[found, 0] = middle[found, 1] = 0.0
                    count += 1
                opened[found] += area[g] / (r * r)
                # a corner stands for its part of the square, which is near enough to tell sides
                middle[found, 0] += area[g] * at[e]
                middle[found, 1] += area[g] * at[f]
    for p in range(first, count):
        middle[p] /= max(opened[p], 1e-12) * r**3
    return count


@njit(cache=True)
def longer(faces, ends, opened, middle, room):
    f, e, o, m = np.empty((room, 4), np.int64), np.empty((room, 2), np.int64), np.empty(room), np.zeros((room, 2))
    f[: len(faces)], e[: len(ends)], o[: len(opened)], m[: len(middle)] = faces, ends, opened, middle
    return f, e, o, m


@njit(cache=True, inline="always")
def number_at(number, i, j, k):
    nx, ny, nz = number.shape
    return number[i, j, k] if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else -1
