"""Signed distance of a closed triangle mesh at the nodes of a grid, in a narrow band, with the nearest triangle.

Distances to the vertices bound the distance of each node from above; then only triangles whose bounding ball comes
nearer are asked for the exact distance. Its sign is that of the winding number: a column of nodes counts the triangles
that it enters and leaves by, and a node is inside where it has entered more often. So a mesh that passes through itself
stands for the union of its parts (a normal of the nearest triangle would call the overlap outside). Two triangles
agree exactly about which of them a column goes through at their common edge. Planes of the grid are treated apart, so
the result does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from vitruvian.errors import InputError

Array = np.ndarray
ASIDE = (1.2345e-7, 2.3456e-7)  # of a cell: columns run beside the nodes, so that none meets a vertex of a neat mesh
FLAT = 1e-13  # squared sine of a triangle's angle at a, below which it is round-off of none


@dataclass(frozen=True)
class Topology:
    """The triangles of a mesh that was found to be closed."""

    faces: Array  # shape (m, 3)


def topology(faces: Array, vertex_count: int, name: str = "mesh") -> Topology:
    """Check that a mesh is closed and consistently oriented; an error names the mesh and counts what is wrong."""
    faces = np.ascontiguousarray(faces, dtype=np.int64)
    if faces.ndim != 2 or faces.shape[1] != 3 or len(faces) < 4:
        raise InputError(f"{name}: a closed mesh needs at least four triangles, shape (m, 3), not {faces.shape}")
    if faces.min() < 0 or faces.max() >= vertex_count:
        raise InputError(f"{name}: a triangle names vertex {int(faces.max())}, but there are {vertex_count}")
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    key = np.sort(ends, axis=1)
    order = np.where(ends[:, 0] < ends[:, 1], 1, -1)
    _, index = np.unique(key[:, 0] * vertex_count + key[:, 1], return_inverse=True)
    uses = np.bincount(index)
    balance = np.bincount(index, weights=order)
    if np.any(uses == 1):
        raise InputError(
            f"{name}: the mesh has a hole ({int((uses == 1).sum())} open edges); "
            "only a closed surface tells inside from outside"
        )
    if np.any(balance != 0):
        raise InputError(
            f"{name}: {int((balance != 0).sum())} edges join triangles that face opposite ways; orient them alike"
        )
    return Topology(faces)


def mesh_volume(vertices: Array, faces: Array) -> float:
    """Enclosed volume [m^3], positive when triangles face outwards."""
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def mesh_distance(
    vertices: Array, mesh: Topology, origin: Array, h: float, shape: tuple[int, int, int], band: float
) -> tuple[Array, Array, Array]:
    """Signed distance [m] (negative inside, clamped to +-band) and nearest triangle (-1 beyond the band) on grid
    nodes.

    origin [m] and h [m] place the nodes, shape counts them. Returns distance and triangle over the index box, and the
    box itself ((3, 2), low and high node index) in which alone the mesh matters; it is empty when the mesh misses the
    grid.
    """
    vertices = np.ascontiguousarray(vertices, dtype=float)
    if not np.isfinite(vertices).all():
        raise InputError("mesh distance: a vertex is not a number")
    low = np.floor((vertices.min(axis=0) - band - origin) / h).astype(np.int64)
    high = np.ceil((vertices.max(axis=0) + band - origin) / h).astype(np.int64) + 1
    box = np.stack([np.clip(low, 0, shape), np.clip(high, 0, shape)], axis=1)
    size = tuple(int(n) for n in np.maximum(box[:, 1] - box[:, 0], 0))
    distance = np.full(size, np.inf)
    triangle = np.full(size, -1, np.int32)
    if min(size) == 0:
        return distance, triangle, np.zeros((3, 2), np.int64)
    face, ball = _planes(vertices, mesh.faces)
    corner = np.asarray(origin) + box[:, 0] * h
    # nodes are visited in planes of one x: a vertex or triangle is met once for each plane it reaches
    vertex_start, vertex_near = _bins(vertices[:, 0], np.zeros(len(vertices)), corner[0], h, size[0], band)
    start, members = _bins(ball[:, 0], ball[:, 3], corner[0], h, size[0], band)
    _band_distance(
        vertices, mesh.faces, face, ball, corner, h, band, vertex_start, vertex_near, start, members, distance,
        triangle,
    )  # fmt: skip
    entered = np.zeros((size[0], size[1], size[2] + 1), np.int32)
    _cross(vertices, mesh.faces, corner, h, entered)
    _sign(distance, band, entered)
    return distance, triangle, box


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def closest_on_triangle(px, py, pz, a, b, c):
    """Nearest point of a triangle as barycentric coordinates (of b and c), and its feature.

    Feature: 0 face, 1-3 edge ab, bc, ca, 4-6 vertex a, b, c (Ericson 2005, section 5.1.5). A triangle without area is
    the longest of its edges, or a point.
    """
    abx, aby, abz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    acx, acy, acz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    apx, apy, apz = px - a[0], py - a[1], pz - a[2]
    d1 = abx * apx + aby * apy + abz * apz
    d2 = acx * apx + acy * apy + acz * apz
    if d1 <= 0.0 and d2 <= 0.0:
        return 0.0, 0.0, 4
    bpx, bpy, bpz = px - b[0], py - b[1], pz - b[2]
    d3 = abx * bpx + aby * bpy + abz * bpz
    d4 = acx * bpx + acy * bpy + acz * bpz
    if d3 >= 0.0 and d4 <= d3:
        return 1.0, 0.0, 5
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        return d1 / (d1 - d3), 0.0, 1
    cpx, cpy, cpz = px - c[0], py - c[1], pz - c[2]
    d5 = abx * cpx + aby * cpy + abz * cpz
    d6 = acx * cpx + acy * cpy + acz * cpz
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 1.0, 6
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0 and d2 > d6:
        return 0.0, d2 / (d2 - d6), 3
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0 and (d4 - d3) + (d5 - d6) > 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 1.0 - t, t, 2
    ab, ac = abx * abx + aby * aby + abz * abz, acx * acx + acy * acy + acz * acz
    if not va + vb + vc > FLAT * ab * ac:  # the longest edge is all of it
        bc = (c[0] - b[0]) ** 2 + (c[1] - b[1]) ** 2 + (c[2] - b[2]) ** 2
        if bc > max(ab, ac):
            t = min(max((d4 - d3) / bc, 0.0), 1.0)
            return 1.0 - t, t, 2
        if ab >= ac:
            return min(max(d1 / ab, 0.0), 1.0), 0.0, 1
        return 0.0, min(max(d2 / ac, 0.0), 1.0), 3
    s = 1.0 / (va + vb + vc)
    return vb * s, vc * s, 0


@njit(cache=True)
def _planes(vertices, faces):
    """Unit normals of triangles, and balls (centre, radius) that hold them."""
    face = np.zeros((faces.shape[0], 3))
    ball = np.empty((faces.shape[0], 4))
    for n in range(faces.shape[0]):
        a, b, c = vertices[faces[n, 0]], vertices[faces[n, 1]], vertices[faces[n, 2]]
        ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        wx, wy, wz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        mx, my, mz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        size = np.sqrt(mx * mx + my * my + mz * mz)
        if size > 0.0:
            face[n, 0], face[n, 1], face[n, 2] = mx / size, my / size, mz / size
        for s in range(3):
            ball[n, s] = (a[s] + b[s] + c[s]) / 3.0
        radius = 0.0
        for s in range(3):
            far = 0.0
            for d in range(3):
                far += (vertices[faces[n, s], d] - ball[n, d]) ** 2
            radius = max(radius, far)
        ball[n, 3] = np.sqrt(radius) * (1.0 + 1e-9)
    return face, ball


@njit(cache=True)
def _bins(centre, radius, x0, h, planes, band):
    """Things at x = centre of the given radius that reach each plane of nodes, as a compressed list in their order."""
    count = np.zeros(planes + 1, np.int64)
    first = np.empty(len(centre), np.int64)
    last = np.empty(len(centre), np.int64)
    for n in range(len(centre)):
        first[n] = max(0, int(np.ceil((centre[n] - radius[n] - band - x0) / h)))
        last[n] = min(planes - 1, int(np.floor((centre[n] + radius[n] + band - x0) / h)))
        for i in range(first[n], last[n] + 1):
            count[i + 1] += 1
    start = np.cumsum(count)
    members = np.empty(start[planes], np.int64)
    at = start[:-1].copy()
    for n in range(len(centre)):
        for i in range(first[n], last[n] + 1):
            members[at[i]] = n
            at[i] += 1
    return start, members


@njit(cache=True, inline="always")
def _nodes_within(middle, half, x0, per, count):
    """First and one past the last of `count` nodes, `per` of them a metre, within `half` of `middle`."""
    return max(0, int((middle - half - x0) * per)), min(count, int((middle + half - x0) * per) + 1)


@njit(cache=True, parallel=True)
def _band_distance(
    vertices, faces, face_normal, ball, corner, h, band, vertex_start, vertex_near, start, members, distance, triangle
):  # fmt: skip
    nx, ny, nz = distance.shape
    for ii in prange(nx):
        i = np.int64(ii)
        x = corner[0] + i * h
        per = 1.0 / h
        bound = np.full((ny, nz), band * band)
        for m in range(vertex_start[i], vertex_start[i + 1]):
            v = vertex_near[m]
            ax, ay, az = vertices[v, 0], vertices[v, 1], vertices[v, 2]
            left = band * band - (x - ax) ** 2
            if left <= 0.0:
                continue
            half = np.sqrt(left)
            j0, j1 = _nodes_within(ay, half, corner[1], per, ny)
            k0, k1 = _nodes_within(az, half, corner[2], per, nz)
            for j in range(j0, j1):
                aside = (x - ax) ** 2 + (corner[1] + j * h - ay) ** 2
                row = bound[j]
                for k in range(k0, k1):
                    row[k] = min(row[k], aside + (corner[2] + k * h - az) ** 2)
        for j in range(ny):
            for k in range(nz):
                # a little more, so that the triangle of the nearest vertex still comes below it
                bound[j, k] = min(band, np.sqrt(bound[j, k]) * (1.0 + 1e-9) + 1e-9 * h)
        for m in range(start[i], start[i + 1]):
            t = members[m]
            r = ball[t, 3]
            left = (band + r) ** 2 - (x - ball[t, 0]) ** 2
            if left <= 0.0:
                continue
            half = np.sqrt(left)
            j0, j1 = _nodes_within(ball[t, 1], half, corner[1], per, ny)
            k0, k1 = _nodes_within(ball[t, 2], half, corner[2], per, nz)
            bx, by, bz = ball[t, 0], ball[t, 1], ball[t, 2]
            a, b, c = vertices[faces[t, 0]], vertices[faces[t, 1]], vertices[faces[t, 2]]
            f = face_normal[t]
            for j in range(j0, j1):
                y = corner[1] + j * h
                aside = (x - bx) ** 2 + (y - by) ** 2
                for k in range(k0, k1):
                    z = corner[2] + k * h
                    most = bound[j, k]
                    if aside + (z - bz) ** 2 > (most + r) ** 2:
                        continue
                    plane = (x - a[0]) * f[0] + (y - a[1]) * f[1] + (z - a[2]) * f[2]
                    if abs(plane) > most:
                        continue
                    s, r_, _ = closest_on_triangle(x, y, z, a, b, c)
                    dx = x - (a[0] + s * (b[0] - a[0]) + r_ * (c[0] - a[0]))
                    dy = y - (a[1] + s * (b[1] - a[1]) + r_ * (c[1] - a[1]))
                    dz = z - (a[2] + s * (b[2] - a[2]) + r_ * (c[2] - a[2]))
                    d = np.sqrt(dx * dx + dy * dy + dz * dz)
                    if d >= most:
                        continue
                    distance[i, j, k] = d
                    triangle[i, j, k] = t
                    bound[j, k] = d


@njit(cache=True)
def _cross(vertices, faces, corner, h, entered):
    """Count at the first node above each crossing of a column: +1 where it enters the mesh, -1 where it leaves."""
    nx, ny, nz = entered.shape[0], entered.shape[1], entered.shape[2] - 1
    for n in range(faces.shape[0]):
        p, q, r = faces[n, 0], faces[n, 1], faces[n, 2]
        a, b, c = vertices[p], vertices[q], vertices[r]
        i0 = max(0, int(np.ceil((min(a[0], min(b[0], c[0])) - corner[0]) / h - 1e-6)))
        i1 = min(nx - 1, int(np.floor((max(a[0], max(b[0], c[0])) - corner[0]) / h + 1e-6)))
        j0 = max(0, int(np.ceil((min(a[1], min(b[1], c[1])) - corner[1]) / h - 1e-6)))
        j1 = min(ny - 1, int(np.floor((max(a[1], max(b[1], c[1])) - corner[1]) / h + 1e-6)))
        for i in range(i0, i1 + 1):
            x = corner[0] + (i + ASIDE[0]) * h
            for j in range(j0, j1 + 1):
                y = corner[1] + (j + ASIDE[1]) * h
                left = _left(vertices, p, q, x, y)
                if left != _left(vertices, q, r, x, y) or left != _left(vertices, r, p, x, y):
                    continue
                area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
                z = a[2]
                if area != 0.0:
                    s = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
                    t = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
                    z += s * (b[2] - a[2]) + t * (c[2] - a[2])
                k = min(nz, max(0, int(np.ceil((z - corner[2]) / h))))
                entered[i, j, k] += -1 if left else 1


@njit(cache=True, inline="always")
def _left(vertices, p, q, x, y):
    """Whether a point lies left of the line from p to q seen from above; exactly one of (p, q) and (q, p) says so."""
    first, last = min(p, q), max(p, q)
    a, b = vertices[first], vertices[last]
    return ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0.0) == (p < q)


@njit(cache=True, parallel=True)
def _sign(distance, band, entered):
    """Negative where a column has entered the mesh more often than left it."""
    nx, ny, nz = distance.shape
    for i in prange(nx):
        for j in range(ny):
            within = 0
            for k in range(nz):
                within += entered[i, j, k]
                far = min(band, distance[i, j, k])
                distance[i, j, k] = -far if within > 0 else far
