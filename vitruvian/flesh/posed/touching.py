"""Contact of the skin with itself, by option: a point of it inside an element of another limb is pushed out.

Each node knows its depth φ_i in the shape at rest, negative inside. At a point p in an element, with barycentric
coordinates b_i, that gives a depth which moves along with the flesh (as Fisher and Lin 2001):

    φ(p) = Σ b_i φ_i,      f_p = max(0, -A (k φ + c φ')) ∇φ,      f_i = -b_i f_p

Both sides get the same force at the same place, so no momentum is made. Implicit steps have its slopes in their matrix.
Points and elements that are near each other in the shape at rest do not meet. There is no friction here.

Elements are found by a grid of cells about as large as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.spatial import cKDTree

from vitruvian.flesh.posed.ground import skin_point

Array = np.ndarray
SPRING, DAMPER = 2e6, 2e4  # k [N/m³], [N s/m³] per area of skin
APART = 1.8  # mean lengths of an element's edges: what is nearer than that at rest does not meet
PER_ELEMENT = 40  # cells that an element may be entered in


class Touching(NamedTuple):
    """What never changes; made by `touching`."""

    present: bool
    corners: Array  # (n, 4)
    depth: Array  # φ of the nodes at rest [m] (n_nodes,)
    middle: Array  # of the elements at rest [m] (n, 3)
    point: Array  # of the skin at rest [m] (n_skin, 3)
    apart: float  # [m]
    cell: float  # [m]


def touching(nodes: Array, corners: Array, vertices: Array, normals: Array) -> Touching:
    """nodes, corners: the tetrahedra at rest; vertices, normals: of the skin at rest, outwards."""
    far, near = cKDTree(vertices).query(nodes)
    sign = np.sign(np.einsum("ni,ni->n", nodes - vertices[near], normals[near]))
    edges = np.linalg.norm(nodes[corners[:, 1:]] - nodes[corners[:, :1]], axis=2)
    size = float(edges.mean())
    return Touching(
        True, np.ascontiguousarray(corners, np.int64), far * sign, nodes[corners].mean(axis=1),
        np.ascontiguousarray(vertices), APART * size, size,
    )  # fmt: skip


def never_touching() -> Touching:
    """For skin that passes through itself."""
    return Touching(False, np.zeros((0, 4), np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), 1.0, 1.0)


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
def _inside(touch, e, x, p, m, share, slope):
    """Barycentric coordinates of p in element e and ∇φ there; whether p is inside it. m (3, 3): room."""
    o = touch.corners[e, 0]
    for k in range(3):
        for a in range(3):
            m[k, a] = x[touch.corners[e, k + 1], a] - x[o, a]
    det = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    if not abs(det) > 1e-12:
        return False
    d0, d1, d2 = p[0] - x[o, 0], p[1] - x[o, 1], p[2] - x[o, 2]
    slope[:] = 0.0
    share[0] = 1.0
    for k in range(3):  # gradient of coordinate k + 1 is the cross product of the two other edges
        i, j = (k + 1) % 3, (k + 2) % 3
        g0 = (m[i, 1] * m[j, 2] - m[i, 2] * m[j, 1]) / det
        g1 = (m[i, 2] * m[j, 0] - m[i, 0] * m[j, 2]) / det
        g2 = (m[i, 0] * m[j, 1] - m[i, 1] * m[j, 0]) / det
        share[k + 1] = g0 * d0 + g1 * d1 + g2 * d2
        if share[k + 1] < 0.0:
            return False
        share[0] -= share[k + 1]
        rise = touch.depth[touch.corners[e, k + 1]] - touch.depth[o]
        slope[0] += rise * g0
        slope[1] += rise * g1
        slope[2] += rise * g2
    return share[0] >= 0.0


@njit(cache=True)
def meetings(flesh, touch, x, pair, grip):
    """Points of the skin that are in other flesh at x: which point and element into pair (n_skin, 2), barycentric
    coordinates there, ∇φ and φ [m] into grip (n_skin, 8). Returns how many."""
    low, count, found = np.empty(3), np.empty(3, np.int64), 0
    for a in range(3):
        low[a] = x[:, a].min() - 1e-6
        count[a] = int((x[:, a].max() - low[a]) / touch.cell) + 1
    if count[0] * count[1] * count[2] > 100 * len(x):  # it has come apart
        return 0
    first, held = _grid(touch, x, low, count)
    p, m, share, slope = np.empty(3), np.empty((3, 3)), np.empty(4), np.empty(3)
    for s in range(len(touch.point)):
        skin_point(flesh, s, x, p)
        c = 0
        for a in range(3):
            c = c * count[a] + min(max(int((p[a] - low[a]) / touch.cell), 0), count[a] - 1)
        for n in range(first[c], first[c + 1]):
            e, far = held[n], 0.0
            for a in range(3):
                far += (touch.middle[e, a] - touch.point[s, a]) ** 2
            if far < touch.apart**2 or not _inside(touch, e, x, p, m, share, slope):
                continue
            phi = 0.0
            for k in range(4):
                phi += share[k] * touch.depth[touch.corners[e, k]]
            if phi < 0.0:
                pair[found, 0], pair[found, 1] = s, e
                grip[found, :4], grip[found, 4:7], grip[found, 7] = share, slope, phi
                found += 1
                break
    return found


@njit(cache=True)
def _rate(flesh, touch, pair, grip, u):
    """φ' [m/s] of one meeting when nodes move with u: the point's velocity against the element's, along ∇φ."""
    s, e, out = pair[0], pair[1], 0.0
    for k in range(4):
        i, j = flesh.skin_nodes[s, k], touch.corners[e, k]
        for a in range(3):
            out += grip[4 + a] * (flesh.skin_weights[s, k] * u[i, a] - grip[k] * u[j, a])
    return out


@njit(cache=True)
def _spread(flesh, touch, pair, grip, size, out):
    """Add a force of `size` along ∇φ on the point, and its opposite on the element, to out (n_nodes, 3)."""
    s, e = pair[0], pair[1]
    for k in range(4):
        i, j = flesh.skin_nodes[s, k], touch.corners[e, k]
        for a in range(3):
            out[i, a] += size * grip[4 + a] * flesh.skin_weights[s, k]
            out[j, a] -= size * grip[4 + a] * grip[k]


@njit(cache=True)
def add_touching(flesh, touch, x, u, h, pair, grip, force):
    """Add the forces [N] of skin in other flesh at x, moving with u, to force (n_nodes, 3). Returns how many push.

    Those are listed in pair, with -h ∂f/∂φ' [kg], springs through h u, in grip's last column."""
    count = 0
    for n in range(meetings(flesh, touch, x, pair, grip)):
        area = flesh.skin_area[pair[n, 0]]
        size = -area * (SPRING * grip[n, 7] + DAMPER * _rate(flesh, touch, pair[n], grip[n], u))
        if size > 0.0:
            _spread(flesh, touch, pair[n], grip[n], size, force)
            pair[count], grip[count] = pair[n], grip[n]
            grip[count, 7] = area * h * (SPRING * h + DAMPER)
            count += 1
    return count


@njit(cache=True)
def touching_product(flesh, touch, pair, grip, p, out):
    """Add what the slopes of the meetings listed make of velocities p (n_nodes, 3) to out: an implicit step's part."""
    for n in range(len(pair)):
        _spread(flesh, touch, pair[n], grip[n], grip[n, 7] * _rate(flesh, touch, pair[n], grip[n], p), out)
