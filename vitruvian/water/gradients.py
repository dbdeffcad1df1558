"""Conjugate gradients around the V-cycle, in float32 on the red and black arrays of `cycle`, compiled as one.

Bodies that yield to the pressure add a symmetric part G S G^T of low rank to the matrix: g_c, the rows of G, turn the
pressure of a cell beside a body into the wrench on its link, S is the mobility of the links.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.cycle import SMALL, cycle, join, level_view, neighbours
from vitruvian.water.split import add_couplings, smooth, subtract_near


@njit(cache=True)
def gradients(
    cx, cy, cz, inverse, diagonal, z, r, odd, offset, shape, odd_offset, x, p, y, goal, limit,
    index, link, rows, mobility, pocket_index, pocket,
    slot, joined, one, two, amount, near, near_start, near_place, near_amount, near_diagonal, near_inverse,
    ring,
):  # fmt: skip
    """Conjugate gradients for (A + G S G^T) x = r from x = 0, until max |r| <= goal; returns turns, or -1 if a value
    is not a number.

    r, overwritten by the residual, is level 0 of the right-hand sides of the cycle, whose answer is level 0 of z.
    index, link, rows: place, link and g_c of the cells beside bodies; pocket_index, pocket: place and number of cells
    whose pressure is free up to a constant. The next line of arguments: further pieces of cells (`split.Split`). ring:
    whether x and y are periodic.
    """
    s = shape[0]
    half, wet = s[2], s[3]
    ax, ay, az, dd = level_view(cx, 0, s), level_view(cy, 0, s), level_view(cz, 0, s), level_view(diagonal, 0, s)
    zz, rr = level_view(z, 0, s), level_view(r, 0, s)
    pp, yy, xx = level_view(p, 0, s), level_view(y, 0, s), level_view(x, 0, s)
    mask = odd[: odd_offset[1]].reshape((2, s[0] * s[2]))
    partial = np.zeros(s[1])
    big = xx.size > SMALL
    old = 1.0
    saved, first = np.empty(len(near) + len(near_place), r.dtype), np.empty(len(near), r.dtype)
    for turn in range(limit):
        if len(slot):
            # smooth about the pieces from zero, cycle on what is left, smooth again in opposite order
            for n in range(len(near)):
                z[near[n]] = 0.0
            for n in range(len(near_place)):
                z[near_place[n]] = 0.0
            smooth(z, r, near, near_start, near_place, near_amount, near_inverse, False)
            for n in range(len(near)):
                first[n] = z[near[n]]
                saved[n] = r[near[n]]
            for n in range(len(near_place)):
                saved[len(near) + n] = r[near_place[n]]
            subtract_near(r, z, near, near_start, near_place, near_amount, near_diagonal)
            for n in range(len(slot)):
                r[joined[n]] += r[slot[n]]
        cycle(cx, cy, cz, inverse, diagonal, z, r, odd, offset, shape, odd_offset, ring)
        if len(slot):
            for n in range(len(near)):
                r[near[n]] = saved[n]
            for n in range(len(near_place)):
                r[near_place[n]] = saved[len(near) + n]
            for n in range(len(slot)):
                z[slot[n]] = z[joined[n]]
            for n in range(len(near)):
                z[near[n]] += first[n]
            smooth(z, r, near, near_start, near_place, near_amount, near_inverse, True)
        remove_means(z, pocket_index, pocket)
        if big:
            _dot(rr, zz, half, wet, partial)
        else:
            _dot_serial(rr, zz, half, wet, partial)
        new = _total(partial)
        if not np.isfinite(new):
            return -1
        beta = np.float32(new / old if turn else 0.0)
        if big:
            _direction(pp, zz, beta, wet)
            join(pp, s, ring)
            _apply(ax, ay, az, dd, pp, yy, mask, half, wet, partial)
        else:
            _direction_serial(pp, zz, beta, wet)
            join(pp, s, ring)
            _apply_serial(ax, ay, az, dd, pp, yy, mask, half, wet, partial)
        curvature = _total(partial) - _clear_ends(pp, yy, s, ring) + couple(p, y, index, link, rows, mobility)
        curvature += add_couplings(p, y, one, two, amount)
        remove_means(y, pocket_index, pocket)
        if curvature <= 0.0:
            return turn
        alpha = np.float32(new / curvature)
        if big:
            _advance(xx, rr, pp, yy, alpha, half, wet, partial)
        else:
            _advance_serial(xx, rr, pp, yy, alpha, half, wet, partial)
        old = new
        if partial.max() <= goal:
            return turn + 1
    return limit


@njit(cache=True)
def _clear_ends(p, y, shape, ring):
    """Set y to 0 in the padding of a periodic x axis; returns what the padding had of p . y."""
    if not ring[0]:
        return 0.0
    rows, half, wet, nx = shape[0], shape[2], shape[3], shape[4]
    total = 0.0
    for k in range(1, wet):
        for j in range(1, rows - 1):
            for i in (0, nx + 1):
                colour, at = (i + j + k) % 2, j * half + i // 2
                total += np.float64(p[colour, k, at]) * np.float64(y[colour, k, at])
                y[colour, k, at] = 0.0
            y[0, k, (j + 1) * half - 1] = y[1, k, (j + 1) * half - 1] = 0.0  # whose next is the first of another row
    return total


@njit(cache=True)
def _total(partial):
    """Sum over planes, in the same order whatever the number of threads."""
    total = 0.0
    for i in range(len(partial)):
        total += partial[i]
    return total


@njit(cache=True)
def couple(p, y, index, link, rows, mobility):
    """y += G S G^T p on flat arrays; returns p . G S G^T p."""
    if len(index) == 0:
        return 0.0
    n = mobility.shape[0]
    wrench = np.zeros(n)
    for c in range(len(index)):
        value = np.float64(p[index[c]])
        for a in range(6):
            wrench[6 * link[c] + a] += rows[c, a] * value
    twist = np.zeros(n)
    for a in range(n):
        row = mobility[a]
        amount = wrench[a]
        if amount != 0.0:
            for b in range(n):
                twist[b] += row[b] * amount
    work = 0.0
    for a in range(n):
        work += wrench[a] * twist[a]
    for c in range(len(index)):
        total = 0.0
        for a in range(6):
            total += rows[c, a] * twist[6 * link[c] + a]
        y[index[c]] += total
    return work


@njit(cache=True)
def remove_means(a, index, pocket):
    """Subtract from each numbered region of a flat array its mean."""
    if len(index) == 0:
        return
    count = np.zeros(pocket.max() + 1)
    total = np.zeros(len(count))
    for c in range(len(index)):
        count[pocket[c]] += 1.0
        total[pocket[c]] += a[index[c]]
    for c in range(len(index)):
        a[index[c]] -= total[pocket[c]] / count[pocket[c]]


def _dot_py(a, b, half, wet, partial):
    for kk in prange(1, wet):
        k = np.int64(kk)
        lanes = np.zeros(half)
        for colour in range(2):
            _product(a[colour, k], b[colour, k], lanes)
        partial[k] = lanes.sum()


@njit(cache=True, inline="always")
def _product(a, b, lanes):
    """Sums of a b over the rows of a plane, in float64."""
    half = len(lanes)
    for row in range(len(a) // half):
        aa, bb = a[row * half : (row + 1) * half], b[row * half : (row + 1) * half]
        for m in range(len(lanes)):
            lanes[m] += np.float64(aa[m]) * np.float64(bb[m])


def _direction_py(p, z, beta, wet):
    for kk in prange(1, wet):
        k = np.int64(kk)
        for colour in range(2):
            pp, zz = p[colour, k], z[colour, k]
            for n in range(len(pp)):
                pp[n] = zz[n] + beta * pp[n]


def _apply_py(cx, cy, cz, diagonal, x, y, odd, half, wet, partial):
    """y = A x; leaves x . y per plane in `partial`."""
    for kk in prange(1, wet):
        k = np.int64(kk)
        first, last = half, x.shape[2] - half
        lanes = np.zeros(half)
        for colour in range(2):
            d, xx, out = diagonal[colour, k, first:last], x[colour, k, first:last], y[colour, k, first:last]
            t = np.empty(last - first, np.float32)
            for n in range(len(t)):
                t[n] = d[n] * xx[n]
            neighbours(cx, cy, cz, x, odd, colour, k, half, t, np.float32(-1.0))
            for n in range(len(t)):
                out[n] = t[n]
            _product(t, xx, lanes)
        partial[k] = lanes.sum()


def _advance_py(x, r, p, y, alpha, half, wet, partial):
    """x += alpha p, r -= alpha y; leaves max |r| per plane in `partial`."""
    for kk in prange(1, wet):
        k = np.int64(kk)
        lanes = np.zeros(half, np.float32)
        for colour in range(2):
            xx, rr, pp, yy = x[colour, k], r[colour, k], p[colour, k], y[colour, k]
            for n in range(len(xx)):
                xx[n] += alpha * pp[n]
            for n in range(len(xx)):
                rr[n] -= alpha * yy[n]
            for row in range(len(rr) // half):
                part = rr[row * half : (row + 1) * half]
                for m in range(len(lanes)):
                    lanes[m] = max(lanes[m], abs(part[m]))
        partial[k] = lanes.max()


_dot = njit(cache=True, parallel=True)(_dot_py)
_dot_serial = njit(cache=True)(_dot_py)
_direction = njit(cache=True, parallel=True)(_direction_py)
_direction_serial = njit(cache=True)(_direction_py)
_apply = njit(cache=True, parallel=True)(_apply_py)
_apply_serial = njit(cache=True)(_apply_py)
_advance = njit(cache=True, parallel=True)(_advance_py)
_advance_serial = njit(cache=True)(_advance_py)
