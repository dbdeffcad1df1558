"""What makes a head a person: eyes with iris, teeth, hair, brows, lashes. Simple meshes, made here.

Brows and lashes are hairs that ride on the skin's triangles (`Riders`); eyes, teeth, tongue and hair are rigid.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.grids import triangles
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.mesh import join, vertex_normals
from vitruvian.mesh.catmull_clark import catmull_clark

Array = np.ndarray
Shape = tuple[Array, Array]
BROW = (6983, 6980, 6996, 6998, 6982)  # of the base mesh, along the left brow from within
BROW_HAIRS, LASHES = 260, 70
SKIN, MOUTH = range(2)
PAINT = 0.00015  # [m]
IRIS = 5.9 / 12.0  # radius of a human iris over that of its globe
# y and height [m] of the hairline, from the forehead over temple and ear to the nape
HAIRLINE = np.array(
    [
        *((-0.13, 1.905), (-0.092, 1.899), (-0.076, 1.893), (-0.062, 1.868), (-0.050, 1.848), (-0.036, 1.838)),
        *((-0.022, 1.850), (0.000, 1.858), (0.022, 1.845), (0.034, 1.800), (0.085, 1.764)),
    ]
)
SLIT_OVER_CORNER = 0.0025  # [m] how much higher the mouth's slit is at the midline
OVER = 0.0015  # [m] that the upper teeth reach below the slit
COLLAR, CLOTH = 1.655, 0.003  # [m] height at the midline, distance from the skin
TEETH = (0.0085, 0.0068, 0.0078, 0.0070, 0.0068, 0.0098)  # [m] widths of incisors, canine, premolars, molar, upper
LOWER_TEETH = (0.0054, 0.0059, 0.0069, 0.0070, 0.0071, 0.0110)


@dataclass(frozen=True)
class Riders:
    """Points on the triangles of a moving surface: a mixture of three corners and a height along the normal."""

    faces: Array  # of what they make, shape (m, 3)
    mix: csr_matrix  # shape (n, n_surface)
    on: Array  # the triangle of each point, shape (n, 3)
    height: Array  # [m], shape (n,)

    def at(self, surface: Array) -> Array:
        """Where they are [m] when the surface's vertices are at `surface` [m]."""
        a, b, c = (surface[self.on[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-12)[:, None]
        return self.mix @ surface + self.height[:, None] * normal


def ride(points: Array, faces: Array, surface: Array, on: Array) -> Riders:
    """Bind points [m] (n, 3) to the nearest of the triangles `on` (k, 3) of a surface [m]; faces: what they make."""
    _, near = cKDTree(surface[on].mean(axis=1)).query(points)
    return ride_on(points, faces, surface, on[near])


def ride_on(points: Array, faces: Array, surface: Array, triangle: Array) -> Riders:
    """Bind points [m] (n, 3) to a triangle each, (n, 3) corners."""
    a, b, c = (surface[triangle[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    height = np.sum((points - a) * normal, axis=1)
    flat = points - height[:, None] * normal
    e1, e2, p = b - a, c - a, flat - a
    d11, d12, d22 = (np.sum(x * y, axis=1) for x, y in ((e1, e1), (e1, e2), (e2, e2)))
    p1, p2 = np.sum(p * e1, axis=1), np.sum(p * e2, axis=1)
    det = d11 * d22 - d12 * d12
    s, t = (d22 * p1 - d12 * p2) / det, (d11 * p2 - d12 * p1) / det
    rows = np.repeat(np.arange(len(points)), 3)
    mix = csr_matrix(
        (np.stack([1.0 - s - t, s, t], axis=1).ravel(), (rows, triangle.ravel())), shape=(len(points), len(surface))
    )
    return Riders(faces, mix, triangle, height)


def labels(head: HeadMesh, quads: Array, vertices: Array) -> Array:
    """SKIN or MOUTH (its inside) of quads over fine vertices [m], shape (m,)."""
    at = vertices[quads].mean(axis=1)
    corner, upper, slit = _mouth(head)
    front = np.interp(np.abs(at[:, 0]), [0.0, corner[0]], [upper[1], corner[1]])
    inside = (np.abs(at[:, 0]) < 0.045) & (at[:, 1] > front + 0.0095)
    inside &= (at[:, 2] > slit - 0.05) & (at[:, 2] < slit + 0.035)
    out = np.full(len(quads), SKIN)
    out[_connected(quads, inside, np.array([0.0, upper[1] + 0.05, slit]), at)] = MOUTH
    return out


def _mouth(head: HeadMesh) -> tuple[Array, Array, float]:
    """Left corner and middle of the upper lip [m], and the height of the slit at the midline [m]."""
    corner, upper = (head.vertices[np.flatnonzero(head.base == b)[0]] for b in (7139, 467))
    return corner, upper, float(corner[2]) + SLIT_OVER_CORNER


def lips(head: HeadMesh, surface: Array, quads: Array) -> Riders:
    """The red of the lips, PAINT over the skin, its border drawn exactly: the bow above, an arc below."""
    corner, upper, slit = _mouth(head)
    half = corner[0] + 0.0012

    def border(v: Array) -> tuple[Array, Array]:
        s = np.clip(np.abs(v[:, 0]) / half, 0.0, 1.0)
        middle = -SLIT_OVER_CORNER * 0.6 * s**2
        bow = 0.0088 * (1.0 - s**2) ** 0.8 - 0.0012 * np.exp(-((v[:, 0] / 0.004) ** 2)) * (1.0 - s)
        return slit + middle - 0.0100 * (1.0 - s**2.2) ** 0.8, slit + middle + bow

    low, high = border(surface)
    front = np.interp(np.abs(surface[:, 0]), [0.0, corner[0]], [upper[1], corner[1]])
    red = (np.abs(surface[:, 0]) < half) & (surface[:, 1] < front + 0.011)
    red &= (surface[:, 2] > low) & (surface[:, 2] < high)
    own = quads[red[quads].any(axis=1)]
    used, local = np.unique(own, return_inverse=True)
    points = surface[used].copy()
    points[:, 0] = np.clip(points[:, 0], -half, half)
    low, high = border(points)
    # behind the lips, in the mouth, there is no border
    outside = points[:, 1] < np.interp(np.abs(points[:, 0]), [0.0, corner[0]], [upper[1], corner[1]]) + 0.008
    points[outside, 2] = np.clip(points[outside, 2], low[outside], high[outside])
    faces = triangles(own)
    first = np.zeros(len(surface), int)
    first[faces.ravel()] = np.repeat(np.arange(len(faces)), 3)
    points += PAINT * vertex_normals(surface, triangles(quads))[used]
    return ride_on(points, triangles(local.reshape(-1, 4)), surface, faces[first[used]])


def _connected(quads: Array, inside: Array, seed: Array, at: Array) -> Array:
    """Those of `inside` that hang together with the one nearest to a seed."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    own = np.flatnonzero(inside)
    if len(own) == 0:
        return own
    n = int(quads.max()) + 1
    rows = np.repeat(own, 4)
    links = coo_matrix((np.ones(4 * len(own)), (rows, quads[own].ravel())), shape=(len(quads), n)).tocsr()
    _, part = connected_components(links @ links.T, directed=False)
    first = own[np.argmin(np.linalg.norm(at[own] - seed, axis=1))]
    return own[part[own] == part[first]]


# --- eyes ----------------------------------------------------------------------------------------------------------


def eye_meshes(radius: float) -> dict[str, Shape]:
    """White, limbus, iris (two rings), pupil and a glint, looking towards −y, about the globe's centre [m]."""
    iris = np.arcsin(IRIS)
    flat = radius * np.cos(iris)  # the iris is a shallow cone inside the globe, under a clear cornea
    out = {
        "white": _cap(radius, iris * 1.04, np.pi),
        "limbus": _cap(radius, iris * 0.94, iris * 1.06),
        "iris": _cone(radius, flat, 0.55, 0.97),
        "iris_inner": _cone(radius, flat, 0.33, 0.56),
        "pupil": _cone(radius, flat, 0.0, 0.36),
    }
    glint, faces = _cap(radius * 1.004, 0.0, 0.06)
    turn = 0.24
    c, s = np.cos(turn), np.sin(turn)
    tilt = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    out["glint"] = (glint @ tilt.T, faces)
    return out


def _cap(radius: float, low: float, high: float, rings: int = 14, sides: int = 40) -> Shape:
    """Part of a sphere between two angles [rad] from −y."""
    a = np.linspace(low, high, rings + 1)
    b = np.arange(sides) * 2.0 * np.pi / sides
    v = np.stack(
        [np.outer(np.sin(a), np.cos(b)), -np.outer(np.cos(a), np.ones(sides)), np.outer(np.sin(a), np.sin(b))], axis=-1
    )
    return radius * v.reshape(-1, 3), _grid(rings, sides)


def _cone(radius: float, flat: float, inner: float, outer: float, rings: int = 4, sides: int = 40) -> Shape:
    """A ring of the iris from `inner` to `outer` of its radius, deeper towards the middle."""
    r = np.linspace(inner, outer, rings + 1) * IRIS * radius
    b = np.arange(sides) * 2.0 * np.pi / sides
    y = -(flat + 0.0006 * (r / (IRIS * radius)) ** 2)
    v = np.stack(
        [np.outer(r, np.cos(b)), np.outer(y, np.ones(sides)), np.outer(r, np.sin(b))], axis=-1
    )  # fmt: skip
    return v.reshape(-1, 3), _grid(rings, sides)


def _grid(rings: int, sides: int) -> Array:
    i, j = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    a, b = i * sides + j, i * sides + (j + 1) % sides
    quads = np.stack([a, a + sides, b + sides, b], axis=-1).reshape(-1, 4)
    return triangles(quads)[:, ::-1].copy()


# --- teeth and tongue ----------------------------------------------------------------------------------------------


def teeth(head: HeadMesh) -> dict[str, Shape]:
    """Rows of teeth along the bands of the data package; upper and lower."""
    out = {}
    slit = _mouth(head)[2]
    for name, widths, up in (("upper", TEETH, -1.0), ("lower", LOWER_TEETH, 1.0)):
        band = head.parts[f"{name}-teeth"][0]
        edge = slit - (OVER if name == "upper" else OVER + 0.002)
        angle = np.arctan2(band[:, 0], -(band[:, 1] - band[:, 1].max()))
        bins = np.linspace(-1.3, 1.3, 27)
        line = []
        for a, b in pairwise(bins):
            own = band[(angle >= a) & (angle < b)]
            if len(own):
                line.append(own[np.argmin(own[:, 1] - 0.3 * np.abs(own[:, 0]))][:2])
        half = np.array([p for p in line if p[0] >= 0.0] or [[0.0, band[:, 1].min()], [0.02, band[:, 1].min() + 0.02]])
        depth = np.polyfit(half[:, 0] ** 2, half[:, 1], 1)
        parts = []
        for side in (1.0, -1.0):
            at = 0.0
            for k, width in enumerate(widths):
                middle = at + 0.5 * width
                # arc length along y = d0 x² + d1, by its own slope
                x = middle / np.sqrt(1.0 + (1.2 * depth[0] * middle) ** 2)
                slope = 2.0 * depth[0] * x
                tall = (0.0100, 0.0092, 0.0098, 0.0085, 0.0082, 0.0080)[k] * (1.0 if name == "upper" else 0.88)
                parts.append(
                    _tooth(
                        width * 0.95,
                        tall,
                        0.0065,
                        up,
                        np.array([side * x, np.polyval(depth, x * x), edge]),
                        side * np.arctan(slope),
                    )
                )
                at += width
        out[name] = join(*parts)
    return out


def _tooth(width: float, tall: float, thick: float, up: float, at: Array, turn: float) -> Shape:
    """A rounded block with its cutting edge at `at`, reaching towards the gum."""
    n = 8
    u = np.linspace(-1.0, 1.0, n + 1)
    points = []
    ring = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    for h in u:
        swell = (1.0 - 0.30 * max(0.0, abs(h) - 0.6) / 0.4) * (1.0 - 0.06 * (1.0 - h))
        c, s = np.cos(ring), np.sin(ring)
        x = 0.5 * width * swell * np.sign(c) * np.abs(c) ** 0.45
        y = 0.5 * thick * (1.0 - 0.55 * (0.5 * (1.0 - h))) * np.sign(s) * np.abs(s) ** 0.6
        z = -up * 0.5 * tall * (h + 1.0)
        points.append(np.stack([x, y + 0.5 * thick, np.full(24, z)], axis=1))
    rings = len(points)
    v = np.concatenate([*points, [points[0].mean(axis=0), points[-1].mean(axis=0)]])
    i, j = np.meshgrid(np.arange(rings - 1), np.arange(24), indexing="ij")
    a, b = i * 24 + j, i * 24 + (j + 1) % 24
    quads = np.stack([a, b, b + 24, a + 24], axis=-1).reshape(-1, 4)
    side = triangles(quads)
    k = np.arange(24)
    ends = [np.stack([np.full(24, rings * 24), (k + 1) % 24, k], axis=1)]
    ends.append(np.stack([np.full(24, rings * 24 + 1), (rings - 1) * 24 + k, (rings - 1) * 24 + (k + 1) % 24], axis=1))
    faces = np.concatenate([side, *ends])
    if up > 0.0:
        faces = faces[:, ::-1]
    c, s = np.cos(turn), np.sin(turn)
    return v @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T + at, faces


def tongue(head: HeadMesh) -> Shape:
    v, quads = head.parts["tongue"]
    matrix, fine = catmull_clark(quads, len(v))
    return matrix @ v, triangles(fine)


# --- hair, brows, lashes -------------------------------------------------------------------------------------------


def hair(head: HeadMesh, rounds: int = 3) -> Shape:
    """Short hair combed from the crown: the scalp, refined in `rounds`, raised, with furrows along the strands."""
    v = head.vertices
    depth = _over_hairline(v)
    quads = head.quads[(depth[head.quads] > -0.014).all(axis=1)]
    used, quads = np.unique(quads, return_inverse=True)
    quads, v = quads.reshape(-1, 4), v[used]
    for _ in range(rounds):
        matrix, quads = catmull_clark(quads, len(v))
        v = matrix @ v
    faces = triangles(quads)
    normal = vertex_normals(v, faces)
    over = _over_hairline(v)
    rise = np.clip(over / 0.022, -0.3, 1.0)
    rise = np.where(rise > 0.0, np.sqrt(np.maximum(rise, 0.0)), rise)
    crown = np.array([0.0, 0.045, 1.945])
    way = v - crown
    round_crown = np.arctan2(way[:, 0], way[:, 1])
    far = np.linalg.norm(way, axis=1)
    wave = round_crown + 2.2 * far  # strands lie a little aslant
    strands = sum(
        a * np.sin(f * wave + 9.0 * far * k + 1.7 * k)
        for k, (f, a) in enumerate(((47, 1.0), (83, 0.7), (131, 0.5), (23, 0.8)))
    )
    lift = 0.0105 * rise + 0.0006 * np.clip(rise, 0.0, 1.0) * strands
    return v + lift[:, None] * normal, faces


def _over_hairline(v: Array) -> Array:
    """How far points lie above the hairline [m], negative in the face."""
    y = v[:, 1]
    line = np.interp(y, *HAIRLINE.T)
    out = v[:, 2] - line
    ear = (np.abs(v[:, 0]) > 0.0875) & (v[:, 2] < 1.856) & (y > -0.045) & (y < 0.045)
    return np.where(ear, -0.02, out)


def brows(head: HeadMesh, surface: Array, faces: Array) -> Riders:
    """Hairs along both brows."""
    line = np.array([head.vertices[np.flatnonzero(head.base == b)[0]] for b in BROW])
    line = line[np.argsort(line[:, 0])]
    rng = np.random.default_rng(4)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    normals = vertex_normals(surface, faces)
    tree = cKDTree(surface)
    parts = []
    for _ in range(BROW_HAIRS):
        s = rng.random()
        at = np.array([np.interp(s * length[-1], length, line[:, a]) for a in range(3)])
        ahead = np.array([np.interp(min(s + 0.05, 1.0) * length[-1], length, line[:, a]) for a in range(3)])
        along = ahead - at if s < 0.95 else at - line[-2]
        along /= np.linalg.norm(along)
        thick = 0.0042 * (1.0 - 0.75 * s) * (0.55 + 0.45 * min(1.0, s / 0.15))
        root = at + np.array([0.0, 0.0, 1.0]) * (rng.uniform(-1.0, 1.0) * thick + 0.0005)
        lean = np.interp(s, [0.0, 0.25, 0.7, 1.0], [1.1, 0.55, 0.1, -0.25])
        way = along * np.cos(lean) + np.array([0.0, 0.0, 1.0]) * np.sin(lean)
        parts.append(_hair(root, way, rng.uniform(0.005, 0.0075) * (1.0 - 0.35 * s), 0.00042, surface, normals, tree))
    return _both_sides(parts, surface, faces)


def lashes(head: HeadMesh, surface: Array, faces: Array) -> Riders:
    """Hairs along the margins of the lids, longer above."""
    parts = []
    for name in ("l-eyelashes-1", "l-eyelashes-2"):
        strip = head.parts[name][0]
        near = cKDTree(surface).query(strip)[0]
        roots = strip[near < 0.0012]
        roots = roots[np.argsort(roots[:, 0])]
        upper = strip[:, 2].mean() > head.eyes[0][2]
        x = np.linspace(roots[:, 0].min(), roots[:, 0].max(), LASHES)
        for k, value in enumerate(x):
            weight = np.exp(-(((roots[:, 0] - value) / 0.0012) ** 2)) + 1e-12
            root = weight @ roots / weight.sum()
            out = root - head.eyes[0]
            out /= np.linalg.norm(out)
            fan = 0.55 * (value - x.mean()) / np.ptp(x)
            way = out + np.array([fan, -0.15, 0.55 if upper else -0.65])
            way /= np.linalg.norm(way)
            long = (0.0068 if upper else 0.0036) * (0.75 + 0.25 * np.sin(np.pi * k / (LASHES - 1)))
            parts.append(_spike(root, way, long, 0.00028))
    return _both_sides(parts, surface, faces)


def shirt(surface: Array, quads: Array) -> Riders:
    """A shirt over the shoulders: the skin below the collar, CLOTH over it."""

    def collar(v: Array) -> Array:
        return COLLAR + 0.25 * v[:, 1] - 0.05 * np.abs(v[:, 0])

    under = surface[:, 2] < collar(surface)
    own, local = np.unique(quads[under[quads].any(axis=1)], return_inverse=True)
    faces = triangles(local.reshape(-1, 4))
    points = surface[own].copy()
    points[:, 2] = np.minimum(points[:, 2], collar(points))
    points += CLOTH * vertex_normals(surface, triangles(quads))[own]
    return ride(points, faces, surface, triangles(quads))


def _hair(root: Array, way: Array, long: float, wide: float, surface: Array, normals: Array, tree: cKDTree) -> Shape:
    """A hair that lies on the skin."""
    points = []
    for t in (0.0, 0.5, 1.0):
        p = root + t * long * way
        _, near = tree.query(p, k=6)
        n = normals[near].mean(axis=0)
        n /= np.linalg.norm(n)
        at = surface[near].mean(axis=0)
        p = p - ((p - at) @ n) * n + (0.0005 + 0.0006 * t) * n
        side = np.cross(n, way)
        side /= np.linalg.norm(side)
        points += [p - wide * (1.0 - 0.9 * t) * side, p + wide * (1.0 - 0.9 * t) * side]
    return np.array(points), np.array([[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]])


def _spike(root: Array, way: Array, long: float, wide: float) -> Shape:
    """A three-sided thorn."""
    a = np.cross(way, [0.0, 0.0, 1.0])
    a /= np.linalg.norm(a)
    b = np.cross(way, a)
    ring = [root + wide * (np.cos(t) * a + np.sin(t) * b) for t in (0.0, 2.094, 4.189)]
    return np.array([*ring, root + long * way]), np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]])


def _both_sides(parts: list[Shape], surface: Array, faces: Array) -> Riders:
    v, f = join(*parts)
    points = np.concatenate([v, v * (-1.0, 1.0, 1.0)])
    return ride(points, np.concatenate([f, f[:, ::-1] + len(v)]), surface, faces)
