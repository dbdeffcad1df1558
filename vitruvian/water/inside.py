"""Velocity of faces inside a body, and of those that it has just left behind.

Such a face takes the water's velocity from beside the nearest skin, outside of it, and along the skin's normal n the
body's own, which is that of the water at the skin:

    u <- u_s + n n . (u_body - u_s),       u_s a cell's length and a quarter off the skin

A face that a thin body passes belongs to the water in front of it at first and to that behind it at last. With what it
held before, or with the mean of the water around, the water behind a plate would have to be set in motion anew each
time that the plate passes a face: it would be felt once a cell.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.mesh.distance import closest_on_triangle
from vitruvian.water.boundary import Boundary
from vitruvian.water.interpolate import linear, velocity
from vitruvian.water.model import Tank
from vitruvian.water.state import WaterState

Array = np.ndarray
OFF = 1.25  # cells from the skin at which the water is asked
THIN = 2.0  # cells within which the other side of a thin body lies


def follow_bodies(tank: Tank, state: WaterState, b: Boundary, before: Array | None = None, fall: float = 0.0) -> None:
    """Set the velocity of faces inside thin parts of bodies, in place, and of faces that were inside when the triangles
    had the corners `before` [m], shape (triangles, 3, 3). fall: the speed [m/s] that gravity has just given all w.
    """
    if b.psi is None or b.gathered is None or not len(b.pieces.thin):
        return
    corners = b.gathered[1]
    flow, body = (state.u, state.v, state.w), (b.body_x, b.body_y, b.body_z)
    links = (b.link_x, b.link_y, b.link_z)
    thin = np.zeros(tank.shape, bool)
    thin[tuple(b.pieces.thin.T)] = True
    then = corners if before is None else before
    found = [
        _inside(
            axis, box, thin, links[axis], b.psi, b.triangle, corners, then, state.origin, tank.cell, fall, *flow, *body
        )
        for axis in range(3)
        for box in b.boxes
    ]
    for n, (place, value) in enumerate(found):
        flow[n // len(b.boxes)].reshape(-1)[place] = value


@njit(cache=True, inline="always")
def _mean(f, axis, own, i, j, k):
    """Of the component `axis` at the middle of a face across `own`, from the four faces about it."""
    total = 0.0
    for s in range(2):
        for t in range(2):
            a, b, c = i, j, k
            if axis == 0:
                a += s
            elif axis == 1:
                b += s
            else:
                c += s
            if own == 0:
                a -= t
            elif own == 1:
                b -= t
            else:
                c -= t
            a, b, c = max(a, 0), max(b, 0), max(c, 0)
            total += f[min(a, f.shape[0] - 1), min(b, f.shape[1] - 1), min(c, f.shape[2] - 1)]
    return 0.25 * total


@njit(cache=True, inline="always")
def _beside(thin, axis, i, j, k):
    nx, ny, nz = thin.shape
    a, b, c = max(i - (axis == 0), 0), max(j - (axis == 1), 0), max(k - (axis == 2), 0)
    return thin[a, b, c] or thin[min(i, nx - 1), min(j, ny - 1), min(k, nz - 1)]


@njit(cache=True)
def _behind(triangle, foot, n):
    """Triangle nearest to a node on the other side of a thin body, -1 if none is near; foot: in cells."""
    i = min(max(int(np.rint(foot[0] - 1.5 * n[0])), 0), triangle.shape[0] - 1)
    j = min(max(int(np.rint(foot[1] - 1.5 * n[1])), 0), triangle.shape[1] - 1)
    k = min(max(int(np.rint(foot[2] - 1.5 * n[2])), 0), triangle.shape[2] - 1)
    return triangle[i, j, k]


@njit(cache=True)
def _before(x, now, was):
    """Distance [m] of a point above the plane of a triangle when its corners were `was`; one without area has no plane:
    nothing is above it."""
    value, size = 0.0, 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        part = (was[1, e] - was[0, e]) * (was[2, f] - was[0, f]) - (was[1, f] - was[0, f]) * (was[2, e] - was[0, e])
        value += part * (x[d] - was[0, d])
        size += part * part
    return value / np.sqrt(size) if size > 0.0 else -np.inf


@njit(cache=True)
def _inside(axis, box, thin, link, psi, triangle, corners, before, origin, h, fall, u, v, w, bx, by, bz):
    """Places and new values of the faces of one axis in a box of cells."""
    _, ny, nz = link.shape
    i1, j1, k1 = box[0, 1] + (axis == 0), box[1, 1] + (axis == 1), box[2, 1] + (axis == 2)
    room = (i1 - box[0, 0]) * (j1 - box[1, 0]) * (k1 - box[2, 0])
    place, value = np.empty(room, np.int64), np.empty(room)
    count = 0
    x, n, foot, body, flow = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(box[0, 0], i1):
        for j in range(box[1, 0], j1):
            for k in range(box[2, 0], k1):
                if link[i, j, k] < 0 or not _beside(thin, axis, i, j, k):
                    continue
                x[0] = origin[0] + (i + (0.0 if axis == 0 else 0.5)) * h
                x[1] = origin[1] + (j + (0.0 if axis == 1 else 0.5)) * h
                x[2] = origin[2] + (k + (0.0 if axis == 2 else 0.5)) * h
                best, t, last, s, r = 1e30, -1, -1, 0.0, 0.0
                deep = True
                for p in range(2):
                    for q in range(2):
                        a = i + (p if axis != 0 else 0)
                        b = j + (0 if axis == 1 else (p if axis == 0 else q))
                        c = k + (q if axis != 2 else 0)
                        deep &= psi[a, b, c] < -h
                        m = triangle[a, b, c]
                        if m < 0 or m == last or abs(psi[a, b, c]) > 1.5 * h:
                            continue
                        last = m
                        e, f, _ = closest_on_triangle(x[0], x[1], x[2], corners[m, 0], corners[m, 1], corners[m, 2])
                        far = 0.0
                        for d in range(3):
                            foot[d] = (1.0 - e - f) * corners[m, 0, d] + e * corners[m, 1, d] + f * corners[m, 2, d]
                            far += (x[d] - foot[d]) ** 2
                        if far < best:
                            best, t, s, r = far, m, e, f
                if t < 0 or deep:
                    continue
                now, then, size = 0.0, 0.0, 0.0
                for d in range(3):
                    e, f = (d + 1) % 3, (d + 2) % 3
                    o, p1, q1 = before[t, 0], before[t, 1], before[t, 2]
                    was = (p1[e] - o[e]) * (q1[f] - o[f]) - (p1[f] - o[f]) * (q1[e] - o[e])
                    then += was * (x[d] - (1.0 - s - r) * o[d] - s * p1[d] - r * q1[d])
                    o, p1, q1 = corners[t, 0], corners[t, 1], corners[t, 2]
                    n[d] = (p1[e] - o[e]) * (q1[f] - o[f]) - (p1[f] - o[f]) * (q1[e] - o[e])
                    foot[d] = (1.0 - s - r) * o[d] + s * p1[d] + r * q1[d]
                    now += n[d] * (x[d] - foot[d])
                    size += n[d] * n[d]
                if size == 0.0 or (now > 0.0 and then > 0.0):
                    continue
                size = np.sqrt(size)
                wide = 0.0
                for d in range(3):
                    n[d] /= size
                    foot[d] = (foot[d] - origin[d]) / h
                    if d != axis:
                        wide += abs(n[d])
                # only where the body is thin: two cells behind this skin there is water again
                if linear(psi, foot[0] - THIN * n[0], foot[1] - THIN * n[1], foot[2] - THIN * n[2]) <= 0.0:
                    continue
                # a face that reaches beyond this skin, and did so before with more of it than beyond the other one,
                # holds this side's water
                if now > -0.5 * wide * h * size and then > -0.5 * wide * h * size:
                    m = _behind(triangle, foot, n)
                    if m < 0 or m == t or then >= size * _before(x, corners[m], before[m]):
                        continue
                for d in range(3):
                    foot[d] += OFF * n[d]
                flow[0], flow[1], flow[2] = velocity(u, v, w, foot[0], foot[1], foot[2])
                body[0] = bx[i, j, k] if axis == 0 else _mean(bx, 0, axis, i, j, k)
                body[1] = by[i, j, k] if axis == 1 else _mean(by, 1, axis, i, j, k)
                body[2] = bz[i, j, k] if axis == 2 else _mean(bz, 2, axis, i, j, k)
                body[2] += fall
                along = 0.0
                for d in range(3):
                    along += n[d] * (body[d] - flow[d])
                place[count] = (i * ny + j) * nz + k
                value[count] = flow[axis] + n[axis] * along
                count += 1
    return place[:count].copy(), value[:count].copy()
