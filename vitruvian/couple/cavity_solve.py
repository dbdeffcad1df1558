"""Bones and the soft parts of a trunk in one linear system, solved by conjugate gradients.

    A z = r,   z = (velocities gained by joints, by free points),   A = diag(A_bones, m) + Σ elements + Σ w g gᵀ

Elements (muscles between vertices) add along and across their line; each closed cavity adds a matrix of rank one along
the gradient of its volume. Vertices that ride on bones reach the joints through the twists of the bones. The
preconditioner takes bones by their factor, points strip by strip (rows of the wall, columns of the diaphragm: block
tridiagonal), and the cavities exactly on top of those.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.breath import Cavities
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
TOLERANCE = 1e-5  # of the residual, in the preconditioner's norm
MOST = 400


class Chains(NamedTuple):
    """Which bones the joint coordinates move."""

    parent: Array  # (n_bones,)
    first: Array  # coordinates of a bone's joint are first[b]:first[b + 1]
    place: Array  # row of each coordinate in the matrix, -1 if held


class Lines(NamedTuple):
    """Springs between vertices within one step, n of them."""

    ends: Array  # (n, 2)
    link: Array  # where in the strips' order the point stands that it joins to the one before, -1 for none, (n,)
    way: Array  # unit vectors from the first to the second, (n, 3)
    along: Array  # h d + h² k along it [N s/m, as a mass: kg], (n,)
    across: Array  # h² T / l across it, (n,)


class Moved(NamedTuple):
    """Scratch: what moves with what."""

    twists: Array  # of bones, (n_bones, 6), angular first, about the world's origin
    wrenches: Array  # (n_bones, 6)
    u: Array  # of vertices, (n, 3)
    f: Array  # on vertices, (n, 3)


def linked(cavities: Cavities, ends: Array) -> Array:
    """`Lines.link` of lines between the vertices `ends` (n, 2)."""
    order, before = cavities.strips
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    out = np.full(len(ends), -1)
    for a, b in cavities.carried.point[ends].T, cavities.carried.point[ends[:, ::-1]].T:
        joins = (a >= 0) & (b >= 0) & (before[place[b]] == a)
        out[joins] = place[b[joins]]
    return out


@nb.njit(cache=True)
def spread(chains, screws, carried, pos, plate, plate_bone, n_rows, z, moved):
    """Velocities of all vertices that z = (rows of the matrix, points) means."""
    _twists(chains, screws, z, moved.twists)
    _ride(carried, pos, plate, plate_bone, n_rows, z, moved)


@nb.njit(cache=True)
def spread_all(screws, chains, carried, pos, plate, plate_bone, v, x_rate, moved):
    """Velocities of all vertices at joint velocities v (n_v,) and point velocities x_rate (p + 1, 3)."""
    tw = moved.twists
    for b in range(len(chains.parent)):
        for k in range(6):
            tw[b, k] = tw[chains.parent[b], k] if chains.parent[b] >= 0 else 0.0
        for c in range(chains.first[b], chains.first[b + 1]):
            for k in range(6):
                tw[b, k] += screws[c, k] * v[c]
    _ride(carried, pos, plate, plate_bone, 0, x_rate.ravel(), moved)


@nb.njit(cache=True)
def _twists(chains, screws, z, tw):
    for b in range(len(chains.parent)):
        for k in range(6):
            tw[b, k] = tw[chains.parent[b], k] if chains.parent[b] >= 0 else 0.0
        for c in range(chains.first[b], chains.first[b + 1]):
            row = chains.place[c]
            if row >= 0:
                for k in range(6):
                    tw[b, k] += screws[c, k] * z[row]


@nb.njit(cache=True)
def _ride(carried, pos, plate, plate_bone, start, z, moved):
    u, last = moved.u, (len(z) - start) // 3 - 1
    for i in range(len(u)):
        p = carried.point[i]
        if p >= 0:
            for k in range(3):
                u[i, k] = z[start + 3 * p + k]
            if p == last:
                t = moved.twists[plate_bone]
                a, b, c = pos[i, 0] - plate[0], pos[i, 1] - plate[1], pos[i, 2] - plate[2]
                u[i, 0] += t[1] * c - t[2] * b
                u[i, 1] += t[2] * a - t[0] * c
                u[i, 2] += t[0] * b - t[1] * a
            continue
        u[i, 0], u[i, 1], u[i, 2] = 0.0, 0.0, 0.0
        for j in range(2):
            bone = carried.bone[i, j]
            if bone >= 0:
                # of the vertex, not of its own place on this bone: both differ by far less than they move
                t, w, x = moved.twists[bone], carried.share[i, j], pos[i]
                u[i, 0] += w * (t[3] + t[1] * x[2] - t[2] * x[1])
                u[i, 1] += w * (t[4] + t[2] * x[0] - t[0] * x[2])
                u[i, 2] += w * (t[5] + t[0] * x[1] - t[1] * x[0])


@nb.njit(cache=True)
def wrench_of(chains, carried, pos, plate, plate_bone, last, moved):
    """Wrenches on the bones of the forces moved.f on vertices, passed on to the parents."""
    w, f = moved.wrenches, moved.f
    w[:] = 0.0
    for i in range(len(f)):
        p = carried.point[i]
        if p >= 0:
            if p == last:
                a, b, c = pos[i, 0] - plate[0], pos[i, 1] - plate[1], pos[i, 2] - plate[2]
                w[plate_bone, 0] += b * f[i, 2] - c * f[i, 1]
                w[plate_bone, 1] += c * f[i, 0] - a * f[i, 2]
                w[plate_bone, 2] += a * f[i, 1] - b * f[i, 0]
            continue
        for j in range(2):
            bone = carried.bone[i, j]
            if bone >= 0:
                s, x = carried.share[i, j], pos[i]
                w[bone, 0] += s * (x[1] * f[i, 2] - x[2] * f[i, 1])
                w[bone, 1] += s * (x[2] * f[i, 0] - x[0] * f[i, 2])
                w[bone, 2] += s * (x[0] * f[i, 1] - x[1] * f[i, 0])
                for k in range(3):
                    w[bone, 3 + k] += s * f[i, k]
    for b in range(len(chains.parent) - 1, -1, -1):
        up = chains.parent[b]
        if up >= 0:
            for k in range(6):
                w[up, k] += w[b, k]


@nb.njit(cache=True)
def joint_part(chains, screws, moved, out):
    """out (n_v,) += generalized force of the wrenches."""
    for b in range(len(chains.parent)):
        for c in range(chains.first[b], chains.first[b + 1]):
            for k in range(6):
                out[c] += screws[c, k] * moved.wrenches[b, k]


@nb.njit(cache=True)
def point_part(carried, f, start, out):
    """out[start:] (points, flat) += forces on their vertices."""
    for i in range(len(f)):
        p = carried.point[i]
        if p >= 0:
            for k in range(3):
                out[start + 3 * p + k] += f[i, k]


@nb.njit(cache=True)
def gather(chains, screws, carried, pos, plate, plate_bone, n_rows, moved, y):
    """y += what forces moved.f on vertices do to (rows, points)."""
    last = (len(y) - n_rows) // 3 - 1
    wrench_of(chains, carried, pos, plate, plate_bone, last, moved)
    for b in range(len(chains.parent)):
        for c in range(chains.first[b], chains.first[b + 1]):
            row = chains.place[c]
            if row >= 0:
                for k in range(6):
                    y[row] += screws[c, k] * moved.wrenches[b, k]
    point_part(carried, moved.f, n_rows, y)


@nb.njit(cache=True)
def add_lines(lines, u, f):
    """f += the lines' matrix times u."""
    for e in range(len(lines.along)):
        i, j = lines.ends[e, 0], lines.ends[e, 1]
        d0, d1, d2 = lines.way[e, 0], lines.way[e, 1], lines.way[e, 2]
        a, b, c = u[j, 0] - u[i, 0], u[j, 1] - u[i, 1], u[j, 2] - u[i, 2]
        s = lines.across[e]
        t = (lines.along[e] - s) * (a * d0 + b * d1 + c * d2)
        a, b, c = s * a + t * d0, s * b + t * d1, s * c + t * d2
        f[j, 0] += a
        f[j, 1] += b
        f[j, 2] += c
        f[i, 0] -= a
        f[i, 1] -= b
        f[i, 2] -= c


@nb.njit(cache=True)
def _blocks(lines, carried, mass, strips, out, down, up):
    """The strips' factor: inverse 3 x 3 pivots D of the points; in the strips' order D C and D' C, C the block between
    a point and the one before it, whose pivot is D'."""
    down[:], taken = 0.0, np.empty((3, 3))
    for p in range(len(mass)):
        for k in range(3):
            for j in range(3):
                out[p, k, j] = mass[p] if k == j else 0.0
    for e in range(len(lines.along)):
        d = lines.way[e]
        for side in range(2):
            p = carried.point[lines.ends[e, side]]
            if p >= 0:
                for k in range(3):
                    for j in range(3):
                        out[p, k, j] += (lines.along[e] - lines.across[e]) * d[k] * d[j]
                    out[p, k, k] += lines.across[e]
        at = lines.link[e]
        if at >= 0:
            for k in range(3):
                for j in range(3):
                    down[at, k, j] -= (lines.along[e] - lines.across[e]) * d[k] * d[j]
                down[at, k, k] -= lines.across[e]
    for n in range(len(strips.order)):
        p = strips.order[n]
        last = strips.before[n]
        if last >= 0:
            _times(out[last], down[n], up[n])
            _times(down[n], up[n], taken)
            for k in range(3):
                for j in range(3):
                    out[p, k, j] -= taken[k, j]
            _invert(out[p])
            _times(out[p], down[n], taken)
            down[n] = taken
        else:
            _invert(out[p])


@nb.njit(cache=True)
def _times(a, b, out):
    """out = a b, of 3 x 3 matrices."""
    for k in range(3):
        for j in range(3):
            out[k, j] = a[k, 0] * b[0, j] + a[k, 1] * b[1, j] + a[k, 2] * b[2, j]


@nb.njit(cache=True)
def _invert(a):
    """A symmetric 3 x 3 matrix by its inverse."""
    b00, b01 = a[1, 1] * a[2, 2] - a[1, 2] ** 2, a[0, 2] * a[1, 2] - a[0, 1] * a[2, 2]
    b02 = a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1]
    b11, b12 = a[0, 0] * a[2, 2] - a[0, 2] ** 2, a[0, 1] * a[0, 2] - a[0, 0] * a[1, 2]
    b22 = a[0, 0] * a[1, 1] - a[0, 1] ** 2
    d = 1.0 / (a[0, 0] * b00 + a[0, 1] * b01 + a[0, 2] * b02)
    a[0, 0], a[1, 1], a[2, 2] = d * b00, d * b11, d * b22
    a[0, 1], a[0, 2], a[1, 2] = d * b01, d * b02, d * b12
    a[1, 0], a[2, 0], a[2, 1] = a[0, 1], a[0, 2], a[1, 2]


@nb.njit(cache=True)
def _product(chains, screws, carried, pos, plate, plate_bone, matrix, mass, lines, g, weight, z, moved, y):
    """y = A z; the matrix whole."""
    n = len(matrix)
    y[:] = 0.0
    for j in range(n):
        a, row = z[j], matrix[j]
        for i in range(n):
            y[i] += row[i] * a
    for p in range(len(mass)):
        for k in range(3):
            y[n + 3 * p + k] += mass[p] * z[n + 3 * p + k]
    spread(chains, screws, carried, pos, plate, plate_bone, n, z, moved)
    moved.f[:] = 0.0
    add_lines(lines, moved.u, moved.f)
    gather(chains, screws, carried, pos, plate, plate_bone, n, moved, y)
    for c in range(len(weight)):
        s = weight[c] * np.dot(g[c], z)
        for k in range(len(y)):
            y[k] += s * g[c, k]


@nb.njit(cache=True)
def _precondition(factor, strips, blocks, down, up, pg, small, g, r, out):
    n = len(factor)
    out[:n] = r[:n]
    solve_cholesky(factor, out[:n])
    for i in range(len(blocks)):
        p = strips.order[i]
        at, last = n + 3 * p, n + 3 * strips.before[i]
        x, y, z = r[at], r[at + 1], r[at + 2]
        for k in range(3):
            out[at + k] = blocks[p, k, 0] * x + blocks[p, k, 1] * y + blocks[p, k, 2] * z
        if last >= n:
            x, y, z = out[last], out[last + 1], out[last + 2]
            for k in range(3):
                out[at + k] -= down[i, k, 0] * x + down[i, k, 1] * y + down[i, k, 2] * z
    for i in range(len(blocks) - 1, -1, -1):
        at, last = n + 3 * strips.order[i], n + 3 * strips.before[i]
        if last >= n:
            x, y, z = out[at], out[at + 1], out[at + 2]
            for k in range(3):
                out[last + k] -= up[i, k, 0] * x + up[i, k, 1] * y + up[i, k, 2] * z
    m = len(g)
    s = np.empty(m)
    for c in range(m):
        s[c] = np.dot(g[c], out)
    for c in range(m):
        t = 0.0
        for d in range(m):
            t += small[c, d] * s[d]
        for k in range(len(out)):
            out[k] -= t * pg[c, k]


@nb.njit(cache=True, nogil=True)
def solve(
    chains, screws, carried, pos, plate, plate_bone, matrix, mass, lines, g, weight, right, tolerance, moved, strips, z
):  # fmt: skip
    """z with A z = right; returns the number of iterations, -1 if bones or points are not positive definite."""
    size, m = len(right), len(weight)
    factor = matrix.copy()
    if cholesky(factor) >= 0:
        return -1
    blocks = np.empty((3, len(mass), 3, 3))
    _blocks(lines, carried, mass, strips, blocks[0], blocks[1], blocks[2])
    blocks, down, up = blocks[0], blocks[1], blocks[2]
    pg, none = np.zeros((m, size)), np.zeros((0, 0))
    for c in range(m):
        _precondition(factor, strips, blocks, down, up, none, none, none, g[c], pg[c])
    small = np.zeros((m, m))
    for c in range(m):
        for d in range(m):
            small[c, d] = np.dot(g[c], pg[d])
        small[c, c] += 1.0 / weight[c]
    small = np.linalg.inv(small)  # type: ignore[assignment]
    whole = matrix.copy()
    for i in range(len(whole)):
        for j in range(i):
            whole[j, i] = whole[i, j]
    r, s, y = right.copy(), np.empty(size), np.empty(size)
    z[:] = 0.0
    _precondition(factor, strips, blocks, down, up, pg, small, g, r, s)
    way = s.copy()
    rs = np.dot(r, s)
    wanted = tolerance * tolerance * rs
    for count in range(MOST):
        if rs <= wanted:
            return count
        _product(chains, screws, carried, pos, plate, plate_bone, whole, mass, lines, g, weight, way, moved, y)
        dy = np.dot(way, y)
        if not dy > 0.0:
            return -1
        a = rs / dy
        for k in range(size):
            z[k] += a * way[k]
            r[k] -= a * y[k]
        _precondition(factor, strips, blocks, down, up, pg, small, g, r, s)
        new = np.dot(r, s)
        for k in range(size):
            way[k] = s[k] + new / rs * way[k]
        rs = new
    return MOST
