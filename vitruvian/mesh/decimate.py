"""Fewer triangles for the same shape: edges are collapsed in the order of least error (quadrics, Garland and Heckbert
1997).

Each vertex carries Q, the sum of squared distances to the planes of its triangles; an edge is collapsed to the point
of least Q_a + Q_b. A collapse that would pinch the surface (the ends share other than two neighbours) or turn a
triangle over is left out, so that a closed surface stays closed and oriented.
"""

from __future__ import annotations

import heapq

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray
ROUND = 1e-3  # of an edge's squared length, added to its cost: among flat places the shortest edges go first


def decimated(vertices: Array, faces: Array, triangles: int) -> tuple[Array, Array]:
    """A closed surface of about `triangles` triangles: vertices [m] (n, 3) and faces (m, 3)."""
    if triangles < 4:
        raise InputError(f"a closed surface needs at least 4 triangles, not {triangles}")
    x = [tuple(p) for p in np.asarray(vertices, float).tolist()]
    tris: list[tuple[int, int, int] | None] = [(a, b, c) for a, b, c in np.asarray(faces).tolist()]
    around: list[set[int]] = [set() for _ in x]
    for n, t in enumerate(tris):
        for a in t:  # type: ignore[union-attr]
            around[a].add(n)
    quadrics = _quadrics(np.asarray(vertices, float), np.asarray(faces))
    stamp = [0] * len(x)
    heap: list[tuple[float, int, int, int, int, tuple[float, float, float]]] = []

    def push(a: int, b: int) -> None:
        cost, where = _best(quadrics[a], quadrics[b], x[a], x[b])
        heapq.heappush(heap, (cost, a, b, stamp[a], stamp[b], where))

    def neighbours(a: int) -> set[int]:
        return {c for n in around[a] for c in tris[n]} - {a}  # type: ignore[union-attr]

    for a in range(len(x)):
        for b in neighbours(a):
            if a < b:
                push(a, b)
    count = len(tris)
    while count > triangles and heap:
        _, a, b, sa, sb, where = heapq.heappop(heap)
        if stamp[a] != sa or stamp[b] != sb or len(neighbours(a) & neighbours(b)) != 2:
            continue
        gone = around[a] & around[b]
        if _turns_over(x, tris, (around[a] | around[b]) - gone, a, b, where):
            continue
        for n in gone:
            for c in tris[n]:  # type: ignore[union-attr]
                around[c].discard(n)
            tris[n] = None
        for n in around[b]:
            tris[n] = tuple(a if c == b else c for c in tris[n])  # type: ignore[union-attr, assignment]
        around[a] |= around[b]
        around[b] = set()
        x[a] = where
        quadrics[a] = quadrics[a] + quadrics[b]
        stamp[a] += 1
        stamp[b] = -1
        count -= len(gone)
        for c in neighbours(a):
            push(min(a, c), max(a, c))
    kept = np.array([t for t in tris if t is not None], dtype=np.int64)
    used, number = np.unique(kept, return_inverse=True)
    return np.array([x[n] for n in used]), number.reshape(-1, 3)


def _quadrics(vertices: Array, faces: Array) -> list[Array]:
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    unit = normal / np.maximum(area, 1e-300)[:, None]
    plane = np.concatenate([unit, -np.sum(unit * corners[:, 0], axis=1, keepdims=True)], axis=1)
    products = (0.5 * area)[:, None, None] * plane[:, :, None] * plane[:, None, :]
    total = np.zeros((len(vertices), 4, 4))
    for k in range(3):
        np.add.at(total, faces[:, k], products)
    return list(total)


def _best(
    first: Array, second: Array, a: tuple[float, ...], b: tuple[float, ...]
) -> tuple[float, tuple[float, float, float]]:
    """Least error of a collapse and the point where it is; the middle of the edge where the planes do not fix one."""
    q = (first + second).tolist()
    length2 = sum((p - r) ** 2 for p, r in zip(a, b))
    best = None
    (m00, m01, m02, r0), (_, m11, m12, r1), (_, _, m22, r2), (_, _, _, c) = q
    d00, d01, d02 = m11 * m22 - m12 * m12, m02 * m12 - m01 * m22, m01 * m12 - m02 * m11
    det = m00 * d00 + m01 * d01 + m02 * d02
    trace = m00 + m11 + m22
    if det > 1e-4 * trace**3:
        d11, d12, d22 = m00 * m22 - m02 * m02, m01 * m02 - m00 * m12, m00 * m11 - m01 * m01
        best = (
            -(d00 * r0 + d01 * r1 + d02 * r2) / det,
            -(d01 * r0 + d11 * r1 + d12 * r2) / det,
            -(d02 * r0 + d12 * r1 + d22 * r2) / det,
        )
        if sum((p - 0.5 * (s + t)) ** 2 for p, s, t in zip(best, a, b)) > length2:
            best = None
    if best is None:
        best = tuple(0.5 * (p + r) for p, r in zip(a, b))  # type: ignore[assignment]
    x, y, z = best  # type: ignore[misc]
    error = (
        x * (m00 * x + 2.0 * (m01 * y + m02 * z + r0))
        + y * (m11 * y + 2.0 * (m12 * z + r1))
        + z * (m22 * z + 2.0 * r2)
        + c
    )
    return error + ROUND * length2 * trace, (x, y, z)


def _turns_over(x: list, tris: list, touched: set[int], a: int, b: int, where: tuple[float, float, float]) -> bool:
    """Whether a triangle around the collapsed edge would turn by more than about 75 degrees or lose its area."""
    for n in touched:
        old = [x[c] for c in tris[n]]
        new = [where if c in (a, b) else x[c] for c in tris[n]]
        p, q = _normal(*old), _normal(*new)
        along = p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
        size = (p[0] ** 2 + p[1] ** 2 + p[2] ** 2) * (q[0] ** 2 + q[1] ** 2 + q[2] ** 2)
        if along <= 0.0 or along * along < 0.06 * size:
            return True
    return False


def _normal(a: tuple, b: tuple, c: tuple) -> tuple[float, float, float]:
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
