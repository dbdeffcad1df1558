"""Springs between bones (cartilage) within a step.

A spring with a rest length pulls along its line; one without pulls its two points together in every direction alike.
They act on points, so their K and D reach the joints through the points' Jacobians.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.couple.step import BoneStep, System
from vitruvian.skeleton import Skeleton

Array = np.ndarray


class LinkArrays(NamedTuple):
    """Points, numbers, and the coordinates that matter."""

    bones: Array  # (n, 2)
    points: Array  # (n, 2, 3)
    numbers: Array  # (n, 3): stiffness, damping, rest length
    start: Array  # (n + 1,)
    column: Array
    sign: Array


class BoneLinks:
    """A contributor: cartilage springs of one body; holds scratch memory, no state."""

    account = "links"

    def __init__(self, step: BoneStep):
        self.arrays = _arrays(step.skeleton)
        self.force = np.zeros((len(self.arrays.bones), 3))  # on the second end at the latest step, world axes [N]
        self.rows = np.zeros((max(1, int(np.diff(self.arrays.start).max(initial=1))), 3))

    def add(self, system: System) -> None:
        if len(self.force):
            link_terms(
                self.arrays, system.step.place, system.poses, system.screws, system.v, system.dt,
                self.rows, self.force, system.force, system.matrix,
            )  # fmt: skip

    def work(self, system: System, gained: Array, middle: Array) -> float:
        """Of the springs' damping: what springs store is the bones' own energy."""
        if not len(self.force):
            return 0.0
        return float(
            link_work(self.arrays, system.poses, system.screws, system.v, gained, middle, system.dt, self.rows)
        )


def _arrays(skeleton: Skeleton) -> LinkArrays:
    springs = skeleton.springs
    n = len(springs)
    bones = [tuple(b) for b in springs.bones]
    numbers = np.column_stack([springs.stiffness, springs.damping, springs.rest_length]) if n else np.zeros((0, 3))
    start, column, sign = [0], [], []
    moved = np.concatenate([skeleton.supports, np.zeros((1, skeleton.n_v), dtype=bool)])  # bone -1 is the world
    for a, b in bones:
        far, near = np.flatnonzero(moved[b] & ~moved[a]), np.flatnonzero(moved[a] & ~moved[b])
        column += [*far, *near]
        sign += [1.0] * len(far) + [-1.0] * len(near)
        start.append(len(column))
    return LinkArrays(
        bones=np.array(bones, dtype=np.int64).reshape(-1, 2),
        points=springs.points if n else np.zeros((0, 2, 3)),
        numbers=numbers,
        start=np.array(start, dtype=np.int64),
        column=np.array(column, dtype=np.int64),
        sign=np.array(sign),
    )


# --- kernels -------------------------------------------------------------------------------------------------------


@nb.njit(cache=True)
def link_terms(links, place, poses, screws, v, h, rows, link_force, force, matrix):
    """Force and matrix of all springs through their points' Jacobians."""
    a, b, u, rate, f, g = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    K, D = np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(links.bones)):
        _rows_and_rate(links, n, poses, screws, v, a, b, rows, rate)
        first, end = links.start[n], links.start[n + 1]
        f[:], K[:], D[:] = 0.0, 0.0, 0.0
        for k in range(3):
            u[k] = b[k] - a[k]
        _spring(links.numbers[n], u, rate, f, K, D)
        for k in range(3):
            link_force[n, k] = f[k]
            g[k] = f[k] - h * (K[k, 0] * rate[0] + K[k, 1] * rate[1] + K[k, 2] * rate[2])
        for e in range(first, end):
            c = links.column[e]
            row = rows[e - first]
            force[c] += row[0] * g[0] + row[1] * g[1] + row[2] * g[2]
            rc = place[c]
            if rc < 0:
                continue
            for k in range(3):
                u[k] = 0.0
                for j in range(3):
                    u[k] += h * (D[k, j] + h * K[k, j]) * row[j]
            for k in range(first, e + 1):
                rk = place[links.column[k]]
                if rk >= 0:
                    other = rows[k - first]
                    value = u[0] * other[0] + u[1] * other[1] + u[2] * other[2]
                    if rc >= rk:
                        matrix[rc, rk] += value
                    else:
                        matrix[rk, rc] += value


@nb.njit(cache=True)
def link_work(links, poses, screws, v, gained, middle, h, rows):
    """Work [J] of the springs' damping along the mean velocity, -h D (x' + dx')."""
    a, b, u, rate, f = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    K, D = np.empty((3, 3)), np.empty((3, 3))
    after, mean = np.empty(3), np.empty(3)
    total = 0.0
    for n in range(len(links.bones)):
        _rows_and_rate(links, n, poses, screws, v, a, b, rows, rate)
        f[:], K[:], D[:] = 0.0, 0.0, 0.0
        for k in range(3):
            u[k] = b[k] - a[k]
        _spring(links.numbers[n], u, rate, f, K, D)
        mean[:] = 0.0
        for k in range(3):
            after[k] = rate[k]
        first = links.start[n]
        for e in range(first, links.start[n + 1]):
            for k in range(3):
                after[k] += rows[e - first, k] * gained[links.column[e]]
                mean[k] += rows[e - first, k] * middle[links.column[e]]
        for k in range(3):
            total -= h * mean[k] * (D[k, 0] * after[0] + D[k, 1] * after[1] + D[k, 2] * after[2])
    return total


@nb.njit(cache=True)
def _rows_and_rate(links, n, poses, screws, v, a, b, rows, rate):
    """Ends a, b [m] of link n, its Jacobian's rows, and how fast b moves against a [m/s]."""
    _point(poses, links.bones[n, 0], links.points[n, 0], a)
    _point(poses, links.bones[n, 1], links.points[n, 1], b)
    first = links.start[n]
    rate[:] = 0.0
    for e in range(first, links.start[n + 1]):
        c = links.column[e]
        x = b if links.sign[e] > 0.0 else a
        row, t = rows[e - first], screws[c]
        row[0] = links.sign[e] * (t[3] + t[1] * x[2] - t[2] * x[1])
        row[1] = links.sign[e] * (t[4] + t[2] * x[0] - t[0] * x[2])
        row[2] = links.sign[e] * (t[5] + t[0] * x[1] - t[1] * x[0])
        for k in range(3):
            rate[k] += row[k] * v[c]


@nb.njit(cache=True)
def _spring(numbers, gap, rate, f, K, D):
    """A spring with rest length pulls and damps along its line; one without (cartilage) in every direction alike."""
    k, d, rest = numbers[0], numbers[1], numbers[2]
    if rest == 0.0:
        for i in range(3):
            f[i] = -k * gap[i] - d * rate[i]
            K[i, i], D[i, i] = k, d
        return
    length = np.sqrt(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2])
    if length == 0.0:
        return  # no direction to push in
    along = (gap[0] * rate[0] + gap[1] * rate[1] + gap[2] * rate[2]) / length
    pull = k * (length - rest) + d * along
    across = max(0.0, k * (1.0 - rest / length))
    for i in range(3):
        f[i] = -pull * gap[i] / length
        K[i, i] = across
        for j in range(3):
            uu = gap[i] * gap[j] / (length * length)
            K[i, j] += (k - across) * uu
            D[i, j] = d * uu


@nb.njit(cache=True)
def _point(poses, bone, local, out):
    if bone < 0:
        out[0], out[1], out[2] = local[0], local[1], local[2]
        return
    T = poses[bone]
    for k in range(3):
        out[k] = T[k, 0] * local[0] + T[k, 1] * local[1] + T[k, 2] * local[2] + T[k, 3]
