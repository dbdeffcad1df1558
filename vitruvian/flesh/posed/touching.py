"""Contact of the skin with itself, by option: a point of it inside an element of another limb is pushed out.

Each node knows its depth φ_i in the shape at rest, negative inside. At a point p in an element, with barycentric
coordinates b_i, that gives a depth which moves along with the flesh (as Fisher and Lin 2001):

    φ(p) = Σ b_i φ_i,      E = ½ k A φ²  where φ < 0,      f_p = -k A φ ∇φ,      f_i = -b_i f_p

Both sides get the same force at the same place, so no momentum is made. Pairs are met one after the other, each spring
and damper at the end of the step (Gauss-Seidel on impulses), so that stiff ones do not overshoot. Points and elements
that are near each other in the shape at rest do not meet. There is no friction here.

Elements are found by a grid of cells about as large as they are. Nodes fixed in bones pass their part on as wrenches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.spatial import cKDTree

from vitruvian.flesh.posed.model import PosedFlesh

Array = np.ndarray
SPRING, DAMPER = 2e6, 2e4  # k [N/m³], [N s/m³] per area of skin
APART = 1.8  # mean lengths of an element's edges: what is nearer than that at rest does not meet
PER_ELEMENT = 40  # cells that an element may be entered in


class Touching(NamedTuple):
    """What never changes; made by `touching`."""

    corners: Array  # (n, 4)
    depth: Array  # φ of the nodes at rest [m] (n_nodes,)
    middle: Array  # of the elements at rest [m] (n, 3)
    point: Array  # of the skin at rest [m] (n_skin, 3)
    apart: float  # [m]
    cell: float  # [m]


def touching(flesh: PosedFlesh, nodes: Array, corners: Array, vertices: Array, normals: Array) -> Touching:
    """nodes, corners: the tetrahedra at rest; vertices, normals: of the skin at rest, outwards."""
    far, near = cKDTree(vertices).query(nodes)
    sign = np.sign(np.einsum("ni,ni->n", nodes - vertices[near], normals[near]))
    edges = np.linalg.norm(nodes[corners[:, 1:]] - nodes[corners[:, :1]], axis=2)
    size = float(edges.mean())
    return Touching(
        np.ascontiguousarray(corners, np.int64), far * sign, nodes[corners].mean(axis=1),
        np.ascontiguousarray(vertices), APART * size, size,
    )  # fmt: skip


@njit(cache=True)
def _grid(touch, x, low, count):
    """Elements by cell: where each cell's begin, and their numbers."""
    n, cells = len(touch.corners), count[0] * count[1] * count[2]
    first, boxes = np.zeros(cells + 1, np.int64), np.empty((n, 6), np.int64)
    for e in range(n):
        for a in range(3):
            lo = hi = x[touch.corners[e, 0], a]
            for k in range(1, 4):
                z = x[touch.corners[e, k], a]
                lo, hi = min(lo, z), max(hi, z)
            boxes[e, a] = int((lo - low[a]) / touch.cell)
            boxes[e, 3 + a] = int((hi - low[a]) / touch.cell)
        size = (boxes[e, 3] - boxes[e, 0] + 1) * (boxes[e, 4] - boxes[e, 1] + 1) * (boxes[e, 5] - boxes[e, 2] + 1)
        if size > PER_ELEMENT:  # torn to pieces: it touches nothing
            boxes[e, 3] = boxes[e, 0] - 1
            continue
        for i in range(boxes[e, 0], boxes[e, 3] + 1):
            for j in range(boxes[e, 1], boxes[e, 4] + 1):
                for k in range(boxes[e, 2], boxes[e, 5] + 1):
                    first[(i * count[1] + j) * count[2] + k + 1] += 1
    for c in range(cells):
        first[c + 1] += first[c]
    at, held = first[:-1].copy(), np.empty(first[cells], np.int64)
    for e in range(n):
        for i in range(boxes[e, 0], boxes[e, 3] + 1):
            for j in range(boxes[e, 1], boxes[e, 4] + 1):
                for k in range(boxes[e, 2], boxes[e, 5] + 1):
                    c = (i * count[1] + j) * count[2] + k
                    held[at[c]] = e
                    at[c] += 1
    return first, held


@njit(cache=True)
def _inside(touch, e, x, p, share, slope):
    """Barycentric coordinates of p in element e and ∇φ there; whether p is inside it."""
    c = touch.corners[e]
    m = np.empty((3, 3))
    for k in range(3):
        for a in range(3):
            m[k, a] = x[c[k + 1], a] - x[c[0], a]
    det = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    if not abs(det) > 1e-12:
        return False
    slope[:] = 0.0
    share[0] = 1.0
    for k in range(3):  # gradient of coordinate k + 1 is the cross product of the two other edges
        u, v = m[(k + 1) % 3], m[(k + 2) % 3]
        g0, g1, g2 = (
            (u[1] * v[2] - u[2] * v[1]) / det,
            (u[2] * v[0] - u[0] * v[2]) / det,
            (u[0] * v[1] - u[1] * v[0]) / det,
        )
        share[k + 1] = g0 * (p[0] - x[c[0], 0]) + g1 * (p[1] - x[c[0], 1]) + g2 * (p[2] - x[c[0], 2])
        share[0] -= share[k + 1]
        rise = touch.depth[c[k + 1]] - touch.depth[c[0]]
        slope[0] += rise * g0
        slope[1] += rise * g1
        slope[2] += rise * g2
    return share[0] >= 0.0 and share[1] >= 0.0 and share[2] >= 0.0 and share[3] >= 0.0


@njit(cache=True)
def meet(flesh, touch, x, u, h, wrench):
    """Push apart what overlaps, over h [s]: velocities u of flesh nodes change, forces on fixed ones are added to the
    wrenches (n_bones, 6) of their bones about the world's origin. h = 0 only looks.

    Returns how many points are inside, and the deepest [m]."""
    low, count, inside, deepest = np.empty(3), np.empty(3, np.int64), 0, 0.0
    for a in range(3):
        low[a] = x[:, a].min() - 1e-6
        count[a] = int((x[:, a].max() - low[a]) / touch.cell) + 1
    if count[0] * count[1] * count[2] > 100 * len(x):
        return 0, 0.0
    first, held = _grid(touch, x, low, count)
    p, share, slope = np.empty(3), np.empty(4), np.empty(3)
    for s in range(len(touch.point)):
        p[:] = 0.0
        for k in range(4):
            for a in range(3):
                p[a] += flesh.skin_weights[s, k] * x[flesh.skin_nodes[s, k], a]
        c = 0
        for a in range(3):
            c = c * count[a] + min(max(int((p[a] - low[a]) / touch.cell), 0), count[a] - 1)
        for n in range(first[c], first[c + 1]):
            e, far = held[n], 0.0
            for a in range(3):
                far += (touch.middle[e, a] - touch.point[s, a]) ** 2
            if far < touch.apart**2 or not _inside(touch, e, x, p, share, slope):
                continue
            phi = 0.0
            for k in range(4):
                phi += share[k] * touch.depth[touch.corners[e, k]]
            if phi >= 0.0:
                continue
            inside += 1
            deepest = max(deepest, -phi)
            if h > 0.0:
                _push(flesh, touch, s, e, x, u, h, phi, share, slope, wrench)
            break
    return inside, deepest


@njit(cache=True)
def _push(flesh, touch, s, e, x, u, h, phi, share, slope, wrench):
    area, along, yields = flesh.skin_area[s], 0.0, 0.0
    for k in range(8):
        i = flesh.skin_nodes[s, k] if k < 4 else touch.corners[e, k - 4]
        w = flesh.skin_weights[s, k] if k < 4 else -share[k - 4]
        along += w * (slope[0] * u[i, 0] + slope[1] * u[i, 1] + slope[2] * u[i, 2])
        yields += w * w / flesh.mass[i]
    yields *= slope[0] ** 2 + slope[1] ** 2 + slope[2] ** 2
    firm = area * (SPRING * h + DAMPER)
    impulse = h * (-area * SPRING * phi - firm * along) / (1.0 + h * firm * yields)
    if impulse <= 0.0:
        return
    f = np.empty(3)
    for k in range(8):
        i = flesh.skin_nodes[s, k] if k < 4 else touch.corners[e, k - 4]
        w = impulse * (flesh.skin_weights[s, k] if k < 4 else -share[k - 4])
        for a in range(3):
            f[a] = w * slope[a]
        b = flesh.bone[i]
        if b < 0:
            for a in range(3):
                u[i, a] += f[a] / flesh.mass[i]
        else:
            o = wrench[b]
            o[0] += (x[i, 1] * f[2] - x[i, 2] * f[1]) / h
            o[1] += (x[i, 2] * f[0] - x[i, 0] * f[2]) / h
            o[2] += (x[i, 0] * f[1] - x[i, 1] * f[0]) / h
            for a in range(3):
                o[3 + a] += f[a] / h
