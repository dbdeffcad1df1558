"""Loops over all muscle paths; see `paths` for the meaning of the arrays and `model` for their layout."""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.muscle.wrapping import bend, carried_points, gears

Array = np.ndarray


@nb.njit(cache=True)
def path_lines(offsets, bone, local, wraps, carriers, poses, points, lines_out, length):
    """World points of all paths, the wrenches of all rows that change a length, and the lengths."""
    c = len(carriers.bones)
    frames, twists, slopes = np.empty((c, 4, 4)), np.empty((c, 6)), np.empty((c, 3))
    world_points(bone, local, poses, points)
    carried_points(carriers, poses, points, frames, twists, slopes)
    lines(offsets, points, lines_out, length)
    bend(wraps, poses, points, lines_out, length)
    gears(carriers, twists, slopes, lines_out)


@nb.njit(cache=True)
def world_points(bone: Array, local: Array, poses: Array, points: Array) -> None:
    for i in range(len(bone)):
        T = poses[bone[i]]
        x, y, z = local[i, 0], local[i, 1], local[i, 2]
        points[i, 0] = T[0, 0] * x + T[0, 1] * y + T[0, 2] * z + T[0, 3]
        points[i, 1] = T[1, 0] * x + T[1, 1] * y + T[1, 2] * z + T[1, 3]
        points[i, 2] = T[2, 0] * x + T[2, 1] * y + T[2, 2] * z + T[2, 3]


@nb.njit(cache=True)
def lines(offsets: Array, points: Array, lines: Array, length: Array) -> None:
    """Line wrenches (p x u, u) of all segments and total lengths; a segment without length has no direction."""
    s = 0
    for m in range(len(offsets) - 1):
        total = 0.0
        for i in range(offsets[m], offsets[m + 1] - 1):
            px, py, pz = points[i, 0], points[i, 1], points[i, 2]
            ux, uy, uz = points[i + 1, 0] - px, points[i + 1, 1] - py, points[i + 1, 2] - pz
            d = np.sqrt(ux * ux + uy * uy + uz * uz)
            total += d
            scale = 1.0 / d if d > 0.0 else 0.0
            ux, uy, uz = ux * scale, uy * scale, uz * scale
            lines[s, 0], lines[s, 1], lines[s, 2] = py * uz - pz * uy, pz * ux - px * uz, px * uy - py * ux
            lines[s, 3], lines[s, 4], lines[s, 5] = ux, uy, uz
            s += 1
        length[m] = total


@nb.njit(cache=True)
def moment_arms(
    segment_start: Array, entry: Array, sign: Array, column: Array, lines: Array, screws: Array, data: Array
) -> None:
    """Add every segment's share to dl/dq (data must be zero)."""
    for s in range(len(segment_start) - 1):
        a, b, c, d, e, f = lines[s, 0], lines[s, 1], lines[s, 2], lines[s, 3], lines[s, 4], lines[s, 5]
        for k in range(segment_start[s], segment_start[s + 1]):
            w = screws[column[entry[k]]]
            data[entry[k]] += sign[k] * (a * w[0] + b * w[1] + c * w[2] + d * w[3] + e * w[4] + f * w[5])


@nb.njit(cache=True)
def rates(row_start: Array, column: Array, data: Array, v: Array, out: Array) -> None:
    for m in range(len(out)):
        total = 0.0
        for k in range(row_start[m], row_start[m + 1]):
            total += data[k] * v[column[k]]
        out[m] = total


@nb.njit(cache=True)
def add_torques(row_start: Array, column: Array, data: Array, force: Array, out: Array) -> None:
    """out -= P f."""
    for m in range(len(force)):
        if force[m] != 0.0:
            for k in range(row_start[m], row_start[m + 1]):
                out[column[k]] -= data[k] * force[m]


@nb.njit(cache=True)
def add_products(row_start: Array, column: Array, data: Array, weight: Array, place: Array, out: Array) -> None:
    """Lower triangle of out += P diag(weight) P^T, with coordinate c stored at row place[c] (left out if negative)."""
    for m in range(len(weight)):
        w = weight[m]
        if w == 0.0:
            continue
        for i in range(row_start[m], row_start[m + 1]):
            ri = place[column[i]]
            wi = w * data[i]
            if ri < 0 or wi == 0.0:
                continue
            for j in range(row_start[m], i + 1):
                rj = place[column[j]]
                if rj < 0:
                    continue
                if ri >= rj:
                    out[ri, rj] += wi * data[j]
                else:
                    out[rj, ri] += wi * data[j]
