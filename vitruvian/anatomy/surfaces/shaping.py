"""Small operations on triangle surfaces: smoothing subdivision, mirroring, splitting, nearest points, swept tubes.

Coarse bones (a hip bone has 244 triangles) are refined by Loop's scheme (Loop 1987): an edge's new vertex is
3/8 (a + b) + 1/8 (c + d), an old vertex moves to (1 − nβ) v + β Σ neighbours. The scheme shrinks a shape, so control
vertices are first pushed out until the refined ones lie near the given ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

Array = np.ndarray
Shape = tuple[Array, Array]


def refined(shape: Shape, passes: int, keep: float = 1.0) -> Shape:
    """The surface after `passes` of Loop subdivision; `keep` 0…1 says how closely it follows the given vertices."""
    vertices, faces = shape
    for _ in range(passes):
        control = vertices + keep * (vertices - _loop(vertices, faces)[0][: len(vertices)])
        vertices, faces = _loop(control, faces)
    return vertices, faces


def coarsened(shape: Shape, spacing: float) -> Shape:
    """The surface with vertices about `spacing` [m] apart: the dual of their cells of nearest points on the surface."""
    vertices, faces = shape
    taken = np.zeros(len(vertices), bool)
    seeds = []
    for i, near in enumerate(cKDTree(vertices).query_ball_point(vertices, spacing)):
        if not taken[i]:
            seeds.append(i)
            taken[near] = True
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
    graph = coo_matrix((length + 1e-12, (edges[:, 0], edges[:, 1])), shape=(len(vertices), len(vertices))).tocsr()
    source = dijkstra(graph, directed=False, indices=seeds, min_only=True, return_predecessors=True)[2]
    cell = np.searchsorted(seeds, source)
    few = cell[faces]
    few = few[(few[:, 0] != few[:, 1]) & (few[:, 1] != few[:, 2]) & (few[:, 2] != few[:, 0])]
    few = few[np.unique(np.sort(few, axis=1), axis=0, return_index=True)[1]]
    used, index = np.unique(few, return_inverse=True)
    return vertices[np.array(seeds)[used]], index.reshape(-1, 3)


def mirrored(shape: Shape) -> Shape:
    """The mirror image in x = 0, its faces turned so that they still point outwards."""
    vertices, faces = shape
    return vertices * np.array([-1.0, 1.0, 1.0]), np.ascontiguousarray(faces[:, ::-1])


def joined(shapes: list[Shape]) -> Shape:
    """Several surfaces as one."""
    start = np.cumsum([0] + [len(v) for v, _ in shapes])
    return np.concatenate([v for v, _ in shapes]), np.concatenate([f + n for (_, f), n in zip(shapes, start)])


def components(shape: Shape, least_faces: int = 1) -> list[Shape]:
    """The connected parts with at least `least_faces` triangles, in the order of their first face."""
    vertices, faces = shape
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]]])
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(vertices), len(vertices)))
    label = connected_components(graph, directed=False)[1][faces[:, 0]]
    parts = []
    for value in dict.fromkeys(label.tolist()):
        chosen = faces[label == value]
        if len(chosen) >= least_faces:
            used, index = np.unique(chosen, return_inverse=True)
            parts.append((vertices[used], index.reshape(-1, 3)))
    return parts


def swept(path: Array, across: Array, width: Array, depth: Array, sides: int = 14, power: float = 2.0) -> Shape:
    """A tube with a superelliptic cross-section along `path` [m], shape (n, 3), its ends rounded.

    `across`, shape (n, 3), points roughly along the wide axis of the section; `width` and `depth` [m], shape (n,), are
    the full sizes along and square to it; `power` 2 is an ellipse, larger is squarer.
    """
    tangent = np.gradient(path, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    wide = across - np.sum(across * tangent, axis=1, keepdims=True) * tangent
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    thick = np.cross(tangent, wide)
    # Round ends: three rings beyond each end on an ellipse whose length is half the depth.
    cap = np.sin(np.linspace(0.0, 0.5 * np.pi, 5))[1:4]
    shrink = np.sqrt(1.0 - cap**2)
    rows_path = np.concatenate(
        [
            path[0] - 0.5 * depth[0] * cap[::-1, None] * tangent[0],
            path,
            path[-1] + 0.5 * depth[-1] * cap[:, None] * tangent[-1],
        ]
    )
    scale = np.concatenate([shrink[::-1], np.ones(len(path)), shrink])
    pick = np.concatenate([np.zeros(3, int), np.arange(len(path)), np.full(3, len(path) - 1)])
    angle = 2.0 * np.pi * np.arange(sides) / sides
    c, s = np.cos(angle), np.sin(angle)
    round_by = (np.abs(c) ** power + np.abs(s) ** power) ** (-1.0 / power)
    c, s = c * round_by, s * round_by
    rings = (
        rows_path[:, None]
        + 0.5 * (scale * width[pick])[:, None, None] * c[None, :, None] * wide[pick][:, None]
        + 0.5 * (scale * depth[pick])[:, None, None] * s[None, :, None] * thick[pick][:, None]
    )
    n = len(rows_path)
    tips = np.array([path[0] - 0.5 * depth[0] * tangent[0], path[-1] + 0.5 * depth[-1] * tangent[-1]])
    row, column = np.meshgrid(np.arange(n - 1), np.arange(sides), indexing="ij")
    a = (row * sides + column).ravel()
    b = (row * sides + (column + 1) % sides).ravel()
    body = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    k = np.arange(sides)
    start = np.stack([np.full(sides, n * sides), (k + 1) % sides, k], 1)
    last = (n - 1) * sides
    end = np.stack([np.full(sides, n * sides + 1), last + k, last + (k + 1) % sides], 1)
    return np.concatenate([rings.reshape(-1, 3), tips]), np.concatenate([body, start, end])


def nearest_points(points: Array, shape: Shape) -> tuple[Array, Array, Array]:
    """For each of `points` [m] (n, 3): nearest surface point [m] (n, 3), its face (n,), barycentric weights (n, 3)."""
    vertices, faces = shape
    found = np.empty((len(points), 3))
    face = np.empty(len(points), np.int64)
    weights = np.empty((len(points), 3))
    _nearest(np.ascontiguousarray(points, float), np.ascontiguousarray(vertices, float), faces, found, face, weights)
    return found, face, weights


def _loop(vertices: Array, faces: Array) -> Shape:
    n = len(vertices)
    half = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    opposite = np.concatenate([faces[:, 2], faces[:, 0], faces[:, 1]])
    edges, index, count = np.unique(np.sort(half, axis=1), axis=0, return_inverse=True, return_counts=True)
    index = index.ravel()
    middle = 0.5 * (vertices[edges[:, 0]] + vertices[edges[:, 1]])
    wings = np.zeros_like(middle)
    np.add.at(wings, index, vertices[opposite])
    inner = count == 2
    middle[inner] = 0.75 * middle[inner] + 0.125 * wings[inner]
    # Old vertices: inner ones by Warren's weights, those on a border as on a cubic curve, odd ones stay.
    degree = np.bincount(edges.ravel(), minlength=n)
    around = np.zeros_like(vertices)
    np.add.at(around, edges[:, 0], vertices[edges[:, 1]])
    np.add.at(around, edges[:, 1], vertices[edges[:, 0]])
    beta = np.where(degree == 3, 3.0 / 16.0, 3.0 / (8.0 * np.maximum(degree, 1)))[:, None]
    moved = (1.0 - degree[:, None] * beta) * vertices + beta * around
    rim = edges[count == 1]
    on_rim = np.bincount(rim.ravel(), minlength=n)
    along = np.zeros_like(vertices)
    np.add.at(along, rim[:, 0], vertices[rim[:, 1]])
    np.add.at(along, rim[:, 1], vertices[rim[:, 0]])
    border = on_rim == 2
    moved[border] = 0.75 * vertices[border] + 0.125 * along[border]
    odd = (on_rim > 0) & (on_rim != 2)
    odd[edges[count > 2].ravel()] = True
    moved[odd] = vertices[odd]
    m = len(faces)
    ab, bc, ca = index[:m] + n, index[m : 2 * m] + n, index[2 * m :] + n
    a, b, c = faces.T
    fine = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    return np.concatenate([moved, middle]), fine


@njit(cache=True)
def _nearest(points: Array, vertices: Array, faces: Array, found: Array, face: Array, weights: Array) -> None:
    """Nearest point on each triangle after Ericson, Real-Time Collision Detection (2005), section 5.1.5."""
    for i in range(points.shape[0]):
        best = np.inf
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        for f in range(faces.shape[0]):
            ia, ib, ic = faces[f, 0], faces[f, 1], faces[f, 2]
            apx, apy, apz = px - vertices[ia, 0], py - vertices[ia, 1], pz - vertices[ia, 2]
            ux, uy, uz = (
                vertices[ib, 0] - vertices[ia, 0],
                vertices[ib, 1] - vertices[ia, 1],
                vertices[ib, 2] - vertices[ia, 2],
            )
            wx, wy, wz = (
                vertices[ic, 0] - vertices[ia, 0],
                vertices[ic, 1] - vertices[ia, 1],
                vertices[ic, 2] - vertices[ia, 2],
            )
            uu, uw, ww = ux * ux + uy * uy + uz * uz, ux * wx + uy * wy + uz * wz, wx * wx + wy * wy + wz * wz
            d1, d2 = ux * apx + uy * apy + uz * apz, wx * apx + wy * apy + wz * apz
            d3, d4, d5, d6 = d1 - uu, d2 - uw, d1 - uw, d2 - ww
            vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
            if d1 <= 0.0 and d2 <= 0.0:
                v, w = 0.0, 0.0
            elif d3 >= 0.0 and d4 <= d3:
                v, w = 1.0, 0.0
            elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
                v, w = d1 / (d1 - d3), 0.0
            elif d6 >= 0.0 and d5 <= d6:
                v, w = 0.0, 1.0
            elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
                v, w = 0.0, d2 / (d2 - d6)
            elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
                w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
                v = 1.0 - w
            else:
                total = va + vb + vc
                v, w = (vb / total, vc / total) if total != 0.0 else (0.0, 0.0)
            qx, qy, qz = apx - v * ux - w * wx, apy - v * uy - w * wy, apz - v * uz - w * wz
            distance = qx * qx + qy * qy + qz * qz
            if distance < best:
                best = distance
                face[i] = f
                found[i, 0], found[i, 1], found[i, 2] = px - qx, py - qy, pz - qz
                weights[i, 0], weights[i, 1], weights[i, 2] = 1.0 - v - w, v, w
