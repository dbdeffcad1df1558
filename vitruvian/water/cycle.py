"""Multigrid V-cycle for the pressure equation in float32.

Red and black cells lie apart in memory, plane above plane and x fastest, so that a half sweep of Gauss-Seidel is one
long loop without branches for each plane. With s = (j + k + colour) mod 2, cell m of row (j, k) is i = 2 m + s; all its
neighbours have the other colour, those across y and z the same m, those across x the indices m - 1 + s and m + s.
Arrays have the shape (2, planes, plane), red first, where a plane holds (ny + 2) rows of `half` cells; those of all
levels follow each other in one buffer. Planes above the highest wet one are left out.

A cycle smooths red-black twice on the way down and black-red twice on the way up, so that it is symmetric. Black cells
have no residual after their half sweep and need no correction before it, which halves the work of both transfers.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

SMALL = 200_000  # cells below which threads cost more than they bring
COARSEST_SWEEPS = 16


@njit(cache=True, inline="always")
def level_view(buffer, offset, shape):
    """The array (2, planes, plane) of one level in a buffer of all; shape: rows, planes, half, wet planes, nx."""
    plane = shape[0] * shape[2]
    return buffer[offset : offset + 2 * shape[1] * plane].reshape((2, shape[1], plane))


@njit(cache=True, inline="always")
def neighbours(cx, cy, cz, x, odd, colour, k, half, t, sign):
    """t += sign sum_n c_n x_n over the neighbours of the cells of one colour in plane k; t without the outer rows.

    Views begin where t begins, since an index that could be negative would keep the loops from being vectorised.
    """
    other = 1 - colour
    a, b = half, x.shape[2] - half
    cs, cn, xs, xn = cy[colour, k, a:b], cy[other, k, 2 * half :], x[other, k, : b - half], x[other, k, 2 * half :]
    for n in range(len(t)):
        t[n] += sign * (cs[n] * xs[n] + cn[n] * xn[n])
    cb, ca, xb, xa = cz[colour, k, a:b], cz[other, k + 1, a:b], x[other, k - 1, a:b], x[other, k + 1, a:b]
    for n in range(len(t)):
        t[n] += sign * (cb[n] * xb[n] + ca[n] * xa[n])
    x0, x1, x2 = x[other, k, a - 1 : b - 1], x[other, k, a:b], x[other, k, a + 1 : b + 1]
    cw, ce, cf, shifted = cx[colour, k, a:b], cx[other, k, a:b], cx[other, k, a + 1 : b + 1], odd[(k + colour) % 2, a:b]
    for n in range(len(t)):
        before, here, after, face, next_face = x0[n], x1[n], x2[n], ce[n], cf[n]
        s = shifted[n] > np.float32(0.5)
        t[n] += sign * (cw[n] * (here if s else before) + (next_face if s else face) * (after if s else here))


def _half_sweep_py(colour, cx, cy, cz, inverse, x, b, odd, half, wet):
    """Gauss-Seidel on the cells of one colour."""
    for kk in prange(1, wet):
        k = np.int64(kk)
        first, last = half, x.shape[2] - half
        t = b[colour, k, first:last].copy()
        neighbours(cx, cy, cz, x, odd, colour, k, half, t, np.float32(1.0))
        iv, out = inverse[colour, k, first:last], x[colour, k, first:last]
        for n in range(len(t)):
            out[n] = t[n] * iv[n]


def _first_red_py(inverse, x, b, wet, ring):
    """The first half sweep from x = 0 needs no neighbours; black cells are cleared if some may neighbour each other."""
    for kk in prange(1, wet):
        k = np.int64(kk)
        bb, iv, out = b[0, k], inverse[0, k], x[0, k]
        for n in range(len(out)):
            out[n] = bb[n] * iv[n]
        if ring[0] or ring[1]:
            x[1, k] = 0.0


def _restrict_py(cx, cy, cz, diagonal, x, b, odd, half, wet, nx, coarse, coarse_half):
    """Residual of the red cells, summed over the children of each coarse cell."""
    rows, coarse_rows = x.shape[2] // half, coarse.shape[2] // coarse_half
    for kk in prange(1, coarse.shape[1] - 1):
        k = np.int64(kk)
        first, last = half, x.shape[2] - half
        total = np.zeros((coarse_rows, half + 2), np.float32)
        for p in range(2 * k - 1, min(2 * k + 1, wet)):
            t = b[0, p, first:last].copy()
            d, xx = diagonal[0, p, first:last], x[0, p, first:last]
            for n in range(len(t)):
                t[n] -= d[n] * xx[n]
            neighbours(cx, cy, cz, x, odd, 0, p, half, t, np.float32(1.0))
            for q in range(1, rows - 1):
                late, begin = (p + q) % 2, (q - 1) * half
                row, part = total[(q + 1) // 2, late:], t[begin : begin + (nx - late) // 2 + 1]
                for m in range(len(part)):
                    row[m] += part[m]
        for j in range(1, coarse_rows - 1):
            for colour in range(2):
                shift = (j + k + colour) % 2
                out = coarse[colour, k, j * coarse_half : (j + 1) * coarse_half]
                end = min(coarse_half, (half + 2 - shift + 1) // 2)
                for m in range(1 - shift, end):
                    out[m] = total[j, 2 * m + shift]


def _prolong_py(x, half, wet, coarse, coarse_half):
    """Add the coarse correction to the red cells."""
    rows, coarse_rows = x.shape[2] // half, coarse.shape[2] // coarse_half
    for kk in prange(1, wet):
        k = np.int64(kk)
        row = np.zeros(half + 2, np.float32)
        p = (k + 1) // 2
        for q in range(1, coarse_rows - 1):
            for colour in range(2):
                shift = (p + q + colour) % 2
                given = coarse[colour, p, q * coarse_half : (q + 1) * coarse_half]
                last = min(coarse_half, (half + 2 - shift + 1) // 2)
                for m in range(last):
                    row[2 * m + shift] = given[m]
            for j in range(2 * q - 1, min(2 * q + 1, rows - 1)):
                out, part = x[0, k, j * half : (j + 1) * half], row[(j + k) % 2 :]
                for m in range(len(out)):
                    out[m] += part[m]


_half_sweep = njit(cache=True, parallel=True)(_half_sweep_py)
_half_sweep_serial = njit(cache=True)(_half_sweep_py)
_first_red = njit(cache=True, parallel=True)(_first_red_py)
_first_red_serial = njit(cache=True)(_first_red_py)
_restrict = njit(cache=True, parallel=True)(_restrict_py)
_restrict_serial = njit(cache=True)(_restrict_py)
_prolong = njit(cache=True, parallel=True)(_prolong_py)
_prolong_serial = njit(cache=True)(_prolong_py)


@njit(cache=True)
def join(x, shape, ring):
    """On a level, padding of periodic axes (ring: x, y) takes the values of the other end."""
    if not (ring[0] or ring[1]):
        return
    rows, half, wet, nx = shape[0], shape[2], shape[3], shape[4]
    ny = rows - 2
    for k in range(1, wet):
        if ring[0]:
            for j in range(1, rows - 1):
                at = j * half
                x[(j + k) % 2, k, at] = x[(nx + j + k) % 2, k, at + nx // 2]
                x[(nx + 1 + j + k) % 2, k, at + (nx + 1) // 2] = x[(1 + j + k) % 2, k, at]
        if ring[1]:
            for colour in range(2):
                same = (colour + ny) % 2
                x[colour, k, :half] = x[same, k, ny * half : (ny + 1) * half]
                x[colour, k, (ny + 1) * half :] = x[same, k, half : 2 * half]


@njit(cache=True)
def cycle(cx, cy, cz, inverse, diagonal, x, b, odd, offset, shape, odd_offset, ring):
    """One V-cycle from x = 0 on the right-hand side that level 0 of b holds; the answer is level 0 of x.

    ring: whether x and y are periodic. Where an odd number of cells makes the two ends alike in colour, their half
    sweep takes each other's old values.
    """
    levels = len(shape)
    for n in range(levels - 1):
        o, s = offset[n], shape[n]
        ax, ay, az = level_view(cx, o, s), level_view(cy, o, s), level_view(cz, o, s)
        iv, dd = level_view(inverse, o, s), level_view(diagonal, o, s)
        xx, bb = level_view(x, o, s), level_view(b, o, s)
        mask = odd[odd_offset[n] : odd_offset[n + 1]].reshape((2, s[0] * s[2]))
        below = level_view(b, offset[n + 1], shape[n + 1])
        half, wet = s[2], s[3]
        if xx.size > SMALL:
            _first_red(iv, xx, bb, wet, ring)
            join(xx, s, ring)
            _half_sweep(1, ax, ay, az, iv, xx, bb, mask, half, wet)
            join(xx, s, ring)
            _half_sweep(0, ax, ay, az, iv, xx, bb, mask, half, wet)
            join(xx, s, ring)
            _half_sweep(1, ax, ay, az, iv, xx, bb, mask, half, wet)
            join(xx, s, ring)
            _restrict(ax, ay, az, dd, xx, bb, mask, half, wet, s[4], below, shape[n + 1, 2])
        else:
            _first_red_serial(iv, xx, bb, wet, ring)
            join(xx, s, ring)
            _half_sweep_serial(1, ax, ay, az, iv, xx, bb, mask, half, wet)
            join(xx, s, ring)
            _half_sweep_serial(0, ax, ay, az, iv, xx, bb, mask, half, wet)
            join(xx, s, ring)
            _half_sweep_serial(1, ax, ay, az, iv, xx, bb, mask, half, wet)
            join(xx, s, ring)
            _restrict_serial(ax, ay, az, dd, xx, bb, mask, half, wet, s[4], below, shape[n + 1, 2])
    for n in range(levels - 1, -1, -1):
        o, s = offset[n], shape[n]
        ax, ay, az = level_view(cx, o, s), level_view(cy, o, s), level_view(cz, o, s)
        iv = level_view(inverse, o, s)
        xx, bb = level_view(x, o, s), level_view(b, o, s)
        mask = odd[odd_offset[n] : odd_offset[n + 1]].reshape((2, s[0] * s[2]))
        half, wet = s[2], s[3]
        if n == levels - 1:
            xx[:] = 0.0
            for sweep in range(4 * COARSEST_SWEEPS):
                turn = sweep if sweep < 2 * COARSEST_SWEEPS else sweep + 1
                _half_sweep_serial(turn % 2, ax, ay, az, iv, xx, bb, mask, half, wet)
                join(xx, s, ring)
        elif xx.size > SMALL:
            _prolong(xx, half, wet, level_view(x, offset[n + 1], shape[n + 1]), shape[n + 1, 2])
            join(xx, s, ring)
            for sweep in range(4):
                _half_sweep(1 - sweep % 2, ax, ay, az, iv, xx, bb, mask, half, wet)
                join(xx, s, ring)
        else:
            _prolong_serial(xx, half, wet, level_view(x, offset[n + 1], shape[n + 1]), shape[n + 1, 2])
            join(xx, s, ring)
            for sweep in range(4):
                _half_sweep_serial(1 - sweep % 2, ax, ay, az, iv, xx, bb, mask, half, wet)
                join(xx, s, ring)
