"""Signed distance of a closed triangle mesh at the nodes of a grid, in a narrow band, with the nearest triangle.

Distances to the vertices bound the distance of each node from above; then only triangles whose bounding ball comes
nearer are asked for the exact distance. Its sign comes from the angle-weighted pseudonormal of the nearest feature
(face, edge or vertex; Baerentzen and Aanaes 2005), which is right for every closed mesh. Nodes farther inside take
the sign of the band that surrounds them. Planes of the grid are treated apart, so the result does not depend on the
number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from vitruvian.errors import InputError

Array = np.ndarray


@dataclass(frozen=True)
class Topology:
    """Which triangles meet at each edge and vertex of a closed mesh."""

    faces: Array  # shape (m, 3)
    edges: Array  # index of the edge that joins corners n and n + 1, shape (m, 3)
    edge_count: int
    vertex_count: int


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
    unique, index = np.unique(key, axis=0, return_inverse=True)
    index = index.reshape(-1)
    uses = np.bincount(index)
    balance = np.bincount(index, weights=order)
    if np.any(uses == 1):
        raise InputError(
            f"{name}: the mesh has a hole ({int((uses == 1).sum())} open edges); "
            "water needs a closed surface to know inside from outside"
        )
    if np.any(balance != 0):
        raise InputError(
            f"{name}: {int((balance != 0).sum())} edges join triangles that face opposite ways; orient them alike"
        )
    return Topology(faces, index.reshape(-1, 3), len(unique), vertex_count)


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
    face, edge, vertex, ball = _pseudonormals(vertices, mesh.faces, mesh.edges, mesh.edge_count)
    corner = np.asarray(origin) + box[:, 0] * h
    # nodes are visited in planes of one x: a vertex or triangle is met once for each plane it reaches
    vertex_start, vertex_near = _bins(vertices[:, 0], np.zeros(len(vertices)), corner[0], h, size[0], band)
    start, members = _bins(ball[:, 0], ball[:, 3], corner[0], h, size[0], band)
    _band_distance(
        vertices, mesh.faces, mesh.edges, face, edge, vertex, ball, corner, h, band, vertex_start, vertex_near,
        start, members, distance, triangle,
    )  # fmt: skip
    # the box may begin inside the mesh when the grid cuts it; the first node's sign must then be found from afar
    _fill(distance, band, _column_starts(vertices, mesh.faces, corner, h, size, box))
    return distance, triangle, box


def _column_starts(vertices: Array, faces: Array, corner: Array, h: float, size: tuple, box: Array) -> Array:
    """Whether each column of nodes begins inside the mesh: only possible where the grid's floor cuts the mesh."""
    inside = np.zeros(size[:2], np.uint8)
    if box[2, 0] == 0 and vertices[:, 2].min() < corner[2]:
        _winding_below(vertices, faces, corner, h, inside)
    return inside


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def closest_on_triangle(px, py, pz, a, b, c):
    """Nearest point of a triangle as barycentric coordinates (of b and c), and its feature.

    Feature: 0 face, 1-3 edge ab, bc, ca, 4-6 vertex a, b, c (Ericson 2005, section 5.1.5).
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
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return d1 / (d1 - d3), 0.0, 1
    cpx, cpy, cpz = px - c[0], py - c[1], pz - c[2]
    d5 = abx * cpx + aby * cpy + abz * cpz
    d6 = acx * cpx + acy * cpy + acz * cpz
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 1.0, 6
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return 0.0, d2 / (d2 - d6), 3
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 1.0 - t, t, 2
    s = 1.0 / (va + vb + vc)
    return vb * s, vc * s, 0


@njit(cache=True)
def _pseudonormals(vertices, faces, edges, edge_count):
    """Unit normals of faces, summed normals of edges, angle-weighted ones of vertices; balls (centre, radius) that
    hold the triangles.
    """
    face = np.zeros((faces.shape[0], 3))
    edge = np.zeros((edge_count, 3))
    vertex = np.zeros(vertices.shape)
    ball = np.empty((faces.shape[0], 4))
    e = np.empty((3, 3))
    length = np.empty(3)
    for n in range(faces.shape[0]):
        for s in range(3):
            p, q = faces[n, s], faces[n, (s + 1) % 3]
            total = 0.0
            for a in range(3):
                e[s, a] = vertices[q, a] - vertices[p, a]
                total += e[s, a] * e[s, a]
            length[s] = np.sqrt(total)
        mx = e[1, 1] * e[0, 2] - e[1, 2] * e[0, 1]
        my = e[1, 2] * e[0, 0] - e[1, 0] * e[0, 2]
        mz = e[1, 0] * e[0, 1] - e[1, 1] * e[0, 0]
        size = np.sqrt(mx * mx + my * my + mz * mz)
        if size > 0.0:
            mx, my, mz = -mx / size, -my / size, -mz / size
        face[n, 0], face[n, 1], face[n, 2] = mx, my, mz
        radius = 0.0
        for a in range(3):
            ball[n, a] = (vertices[faces[n, 0], a] + vertices[faces[n, 1], a] + vertices[faces[n, 2], a]) / 3.0
        for s in range(3):
            far = 0.0
            for a in range(3):
                far += (vertices[faces[n, s], a] - ball[n, a]) ** 2
            radius = max(radius, far)
            m = edges[n, s]
            edge[m, 0] += mx
            edge[m, 1] += my
            edge[m, 2] += mz
            last = (s + 2) % 3
            if length[s] > 0.0 and length[last] > 0.0:
                cosine = -(e[s, 0] * e[last, 0] + e[s, 1] * e[last, 1] + e[s, 2] * e[last, 2])
                angle = np.arccos(min(1.0, max(-1.0, cosine / (length[s] * length[last]))))
                v = faces[n, s]
                vertex[v, 0] += angle * mx
                vertex[v, 1] += angle * my
                vertex[v, 2] += angle * mz
        ball[n, 3] = np.sqrt(radius) * (1.0 + 1e-9)
    return face, edge, vertex, ball


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
    vertices, faces, edges, face_normal, edge_normal, vertex_normal, ball, corner, h, band, vertex_start, vertex_near,
    start, members, distance, triangle,
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
                    s, r_, feature = closest_on_triangle(x, y, z, a, b, c)
                    dx = x - (a[0] + s * (b[0] - a[0]) + r_ * (c[0] - a[0]))
                    dy = y - (a[1] + s * (b[1] - a[1]) + r_ * (c[1] - a[1]))
                    dz = z - (a[2] + s * (b[2] - a[2]) + r_ * (c[2] - a[2]))
                    d = np.sqrt(dx * dx + dy * dy + dz * dz)
                    if d >= most:
                        continue
                    if feature == 0:
                        side = plane
                    elif feature <= 3:
                        e = edge_normal[edges[t, feature - 1]]
                        side = dx * e[0] + dy * e[1] + dz * e[2]
                    else:
                        v = vertex_normal[faces[t, feature - 4]]
                        side = dx * v[0] + dy * v[1] + dz * v[2]
                    distance[i, j, k] = -d if side < 0.0 else d
                    triangle[i, j, k] = t
                    bound[j, k] = d


@njit(cache=True, parallel=True)
def _fill(distance, band, inside):
    """Give nodes beyond the band the sign of the band below them in their column."""
    nx, ny, nz = distance.shape
    for i in prange(nx):
        for j in range(ny):
            within = inside[i, j] != 0
            for k in range(nz):
                if np.isinf(distance[i, j, k]):
                    distance[i, j, k] = -band if within else band
                else:
                    within = distance[i, j, k] < 0.0


@njit(cache=True)
def _winding_below(vertices, faces, corner, h, inside):
    """Columns whose first node lies inside: signed crossings of the ray straight down from it."""
    count = np.zeros(inside.shape)
    for n in range(faces.shape[0]):
        a, b, c = vertices[faces[n, 0]], vertices[faces[n, 1]], vertices[faces[n, 2]]
        if min(a[2], min(b[2], c[2])) > corner[2]:
            continue
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0.0:
            continue
        i0 = max(0, int(np.ceil((min(a[0], min(b[0], c[0])) - corner[0]) / h)))
        i1 = min(inside.shape[0] - 1, int(np.floor((max(a[0], max(b[0], c[0])) - corner[0]) / h)))
        j0 = max(0, int(np.ceil((min(a[1], min(b[1], c[1])) - corner[1]) / h)))
        j1 = min(inside.shape[1] - 1, int(np.floor((max(a[1], max(b[1], c[1])) - corner[1]) / h)))
        for i in range(i0, i1 + 1):
            x = corner[0] + i * h + 1.2345e-7 * h  # off the grid, so that no ray runs along an edge
            for j in range(j0, j1 + 1):
                y = corner[1] + j * h + 2.3456e-7 * h
                s = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
                r = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
                if s < 0.0 or r < 0.0 or s + r > 1.0:
                    continue
                if a[2] + s * (b[2] - a[2]) + r * (c[2] - a[2]) < corner[2]:
                    count[i, j] += 1.0 if area < 0.0 else -1.0
    for i in range(inside.shape[0]):
        for j in range(inside.shape[1]):
            inside[i, j] = 1 if count[i, j] > 0.5 else 0
