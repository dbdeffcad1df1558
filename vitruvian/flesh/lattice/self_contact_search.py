"""Which vertices of the skin lie in which cells of the deformed lattice, and how deep below the rest body's skin.

A cell maps its unit cube to space, x = Σ N_a(ξ) x_a; ξ of a point is found by Newton's method.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.lattice.fill import CORNERS

SAME = 1e-3  # cells: a point carried back to within this of its own place is itself
AROUND = 0.3  # of a cell beyond its open faces within which vertices are looked for
LEAST = 1e-6  # det F of a cell below which nothing can be carried back through it
FARTHEST = 0.5  # that Newton's method may go in one step
BITS = np.ascontiguousarray(CORNERS.astype(np.float64))


@njit(cache=True)
def near_cells(x, cell_nodes, open_face, skin, own, free, margin, low, size, counts, keys, order):
    """(vertices, cells) such that the vertex may come to lie in the cell while no node moves by more than `margin` [m].

    keys, order: the vertices sorted by the bin of width `size` [m] that they lie in, from `low` on.
    """
    room = 1024
    vertex, cell = np.empty(room, np.int64), np.empty(room, np.int64)
    count = 0
    corner, floor, roof = np.empty((8, 3)), np.empty(3), np.empty(3)
    first, last = np.empty(3, np.int64), np.empty(3, np.int64)
    for c in range(len(cell_nodes)):
        for a in range(8):
            for i in range(3):
                corner[a, i] = x[cell_nodes[c, a], i]
        inside = True
        beyond = AROUND if open_face[c].any() else 0.0
        for i in range(3):
            a, b = corner[:, i].min(), corner[:, i].max()
            wide = beyond * (b - a + 2.0 * margin) + 2.0 * margin
            floor[i], roof[i] = a - wide, b + wide
            first[i] = max(int(np.floor((floor[i] - low[i]) / size)), 0)
            last[i] = min(int(np.floor((roof[i] - low[i]) / size)), counts[i] - 1)
            inside = inside and first[i] <= last[i]
        if not inside:
            continue
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                line = (i * counts[1] + j) * counts[2]
                begin = np.searchsorted(keys, line + first[2])
                end = np.searchsorted(keys, line + last[2], side="right")
                for at in range(begin, end):
                    v = order[at]
                    if own[v] == c or not free[v]:
                        continue
                    if (
                        skin[v, 0] < floor[0]
                        or skin[v, 0] > roof[0]
                        or skin[v, 1] < floor[1]
                        or skin[v, 1] > roof[1]
                        or skin[v, 2] < floor[2]
                        or skin[v, 2] > roof[2]
                    ):
                        continue
                    if count == room:
                        room *= 2
                        more, others = np.empty(room, np.int64), np.empty(room, np.int64)
                        more[:count], others[:count] = vertex, cell
                        vertex, cell = more, others
                    vertex[count], cell[count] = v, c
                    count += 1
    return vertex[:count].copy(), cell[:count].copy()


@njit(cache=True, parallel=True)
def sunk_vertices(x, cell_nodes, cells, lattice, level, rest, surface, vertex, cell):
    """For vertices and cells: depth −φ(X′) [m], 0 where the vertex is not in the cell's tissue or the walls do not face
    each other; u; weights of X′.

    lattice: origin, spacing, samples, owner, open faces of the cells; level: values, origin, spacing of φ; surface:
    the vertices as they are now and their outward normals.
    """
    origin, h, samples, owner, open_face = lattice
    values, corner_of_level, pitch = level
    skin, normal = surface
    n = len(vertex)
    depth, out, blend = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 8))
    for chunk in prange((n + 255) // 256):
        corner, place, f, inverse = np.empty((8, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
        at, point, slope = np.empty(3), np.empty(3), np.empty(3)
        fine = np.empty(3, np.int64)
        for m in range(256 * chunk, min(256 * chunk + 256, n)):
            v, c = vertex[m], cell[m]
            for i in range(3):
                at[i] = skin[v, i]
                for a in range(8):
                    corner[a, i] = x[cell_nodes[c, a], i]
            if not carried_back(corner, at, AROUND if open_face[c].any() else 0.0, place, f):
                continue
            away, inside = 0.0, True
            for i in range(3):
                # beyond an open face there is no other cell, and φ alone says where the tissue ends
                inside = inside and (place[i] >= 0.0 or open_face[c, 2 * i])
                inside = inside and (place[i] < 1.0 or open_face[c, 2 * i + 1])
                point[i] = origin[i] + h * (cells[c, i] + place[i])
                away += (point[i] - rest[v, i]) ** 2
                fine[i] = int((cells[c, i] + min(max(place[i], 0.0), 0.999999)) * samples)
            if not inside or away < (SAME * h) ** 2:
                continue
            held = owner[fine[0], fine[1], fine[2]]
            if held >= 0 and held != c:  # tissue of another part that shares the place
                continue
            phi, known = distance(values, corner_of_level, pitch, point, slope)
            if not known or phi >= 0.0:
                continue
            invert(f, inverse)  # ∂ξ/∂x
            facing = 0.0
            for i in range(3):
                out[m, i] = h * (inverse[0, i] * slope[0] + inverse[1, i] * slope[1] + inverse[2, i] * slope[2])
                facing += out[m, i] * normal[v, i]
            if facing >= 0.0:
                continue
            depth[m] = -phi
            for a in range(8):
                w = 1.0
                for b in range(3):
                    w *= place[b] if BITS[a, b] == 1.0 else 1.0 - place[b]
                blend[m, a] = w
    return depth, out, blend


@njit(cache=True)
def invert(f, out):
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for l in range(3):
            a, b = (l + 1) % 3, (l + 2) % 3
            out[l, i] = f[j, a] * f[k, b] - f[j, b] * f[k, a]
    det = f[0, 0] * out[0, 0] + f[0, 1] * out[1, 0] + f[0, 2] * out[2, 0]
    for i in range(3):
        for l in range(3):
            out[i, l] /= det


@njit(cache=True)
def carried_back(corner, point, beyond, place, f):
    """Find ξ of a point in a deformed cell, into `place`, with f = ∂x/∂ξ there; whether −beyond ≤ ξ < 1 + beyond."""
    for i in range(3):
        low, high = corner[:, i].min(), corner[:, i].max()
        wide = beyond * (high - low)
        if point[i] < low - wide or point[i] > high + wide:
            return False
    size = 0.0
    for i in range(3):
        place[i] = 0.5
        size = max(size, abs(corner[7, i] - corner[0, i]))
    r = np.empty(3)
    for _ in range(30):
        a, b, c = place[0], place[1], place[2]
        for i in range(3):
            r[i] = -point[i]
            f[i, 0], f[i, 1], f[i, 2] = 0.0, 0.0, 0.0
        for n in range(8):
            u, du = (a, 1.0) if n & 1 else (1.0 - a, -1.0)
            v, dv = (b, 1.0) if (n >> 1) & 1 else (1.0 - b, -1.0)
            w, dw = (c, 1.0) if n >> 2 else (1.0 - c, -1.0)
            for i in range(3):
                r[i] += u * v * w * corner[n, i]
                f[i, 0] += du * v * w * corner[n, i]
                f[i, 1] += u * dv * w * corner[n, i]
                f[i, 2] += u * v * dw * corner[n, i]
        c0 = f[1, 1] * f[2, 2] - f[1, 2] * f[2, 1]
        c1 = f[1, 2] * f[2, 0] - f[1, 0] * f[2, 2]
        c2 = f[1, 0] * f[2, 1] - f[1, 1] * f[2, 0]
        det = f[0, 0] * c0 + f[0, 1] * c1 + f[0, 2] * c2
        if det <= LEAST * size**3:
            return False
        d0 = (
            c0 * r[0] + (f[0, 2] * f[2, 1] - f[0, 1] * f[2, 2]) * r[1] + (f[0, 1] * f[1, 2] - f[0, 2] * f[1, 1]) * r[2]
        ) / det
        d1 = (
            c1 * r[0] + (f[0, 0] * f[2, 2] - f[0, 2] * f[2, 0]) * r[1] + (f[0, 2] * f[1, 0] - f[0, 0] * f[1, 2]) * r[2]
        ) / det
        d2 = (
            c2 * r[0] + (f[0, 1] * f[2, 0] - f[0, 0] * f[2, 1]) * r[1] + (f[0, 0] * f[1, 1] - f[0, 1] * f[1, 0]) * r[2]
        ) / det
        far = max(abs(d0), abs(d1), abs(d2))
        damp = 1.0 if far <= FARTHEST else FARTHEST / far
        place[0], place[1], place[2] = a - damp * d0, b - damp * d1, c - damp * d2
        if max(abs(place[0] - 0.5), abs(place[1] - 0.5), abs(place[2] - 0.5)) > 2.5:
            return False
        if abs(d0) + abs(d1) + abs(d2) < 1e-11:
            low, high = min(place[0], place[1], place[2]), max(place[0], place[1], place[2])
            return low >= -beyond and high < 1.0 + beyond
    return False


@njit(cache=True)
def distance(values, origin, pitch, point, slope):
    """(φ [m], whether the point is on the grid) by quadratic B-splines, smooth; its gradient into slope (3,)."""
    x, y, z = (point[0] - origin[0]) / pitch, (point[1] - origin[1]) / pitch, (point[2] - origin[2]) / pitch
    i, j, k = int(np.floor(x + 0.5)), int(np.floor(y + 0.5)), int(np.floor(z + 0.5))
    if not (0 < i < values.shape[0] - 1 and 0 < j < values.shape[1] - 1 and 0 < k < values.shape[2] - 1):
        return 0.0, False
    u, v, w = x - i, y - j, z - k
    total = 0.0
    slope[0], slope[1], slope[2] = 0.0, 0.0, 0.0
    for a in range(3):
        p, dp = spline(a, u)
        for b in range(3):
            q, dq = spline(b, v)
            for c in range(3):
                r, dr = spline(c, w)
                value = values[i + a - 1, j + b - 1, k + c - 1]
                total += p * q * r * value
                slope[0] += dp * q * r * value / pitch
                slope[1] += p * dq * r * value / pitch
                slope[2] += p * q * dr * value / pitch
    return total, True


@njit(cache=True)
def spline(a, u):
    """(value, slope) of the a-th of three quadratic B-splines at u from the middle one's centre, |u| <= ½."""
    if a == 0:
        return 0.5 * (0.5 - u) ** 2, u - 0.5
    if a == 1:
        return 0.75 - u * u, -2.0 * u
    return 0.5 * (0.5 + u) ** 2, u + 0.5
