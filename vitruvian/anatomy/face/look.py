"""What makes a head a person: red of the lips, colour of the skin, eyes with iris, teeth. Simple meshes, made here.

What lies on the skin rides on its triangles (`Riders`); eyes, teeth and tongue are rigid. Hair is in `hair`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.grids import triangles
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.face.posing import ridden
from vitruvian.mesh import join, vertex_normals
from vitruvian.mesh.catmull_clark import catmull_clark
from vitruvian.spatial import exp_so3

Array = np.ndarray
Shape = tuple[Array, Array]
SKIN, MOUTH, CLOTHED = range(3)
PAINT = 0.00015  # [m]
NOSTRIL = np.array([0.0103, -0.1247, 1.7916])  # [m] middle of the left one
NOSTRIL_WAY, NOSTRIL_DEEP = np.array([0.40, 0.917]), 0.007  # its long axis in x, y; [m]
IRIS = 5.9 / 12.0  # radius of a human iris over that of its globe
PUPIL = 0.36  # radius of the pupil over that of the iris
HOLE, BOWL = 0.006, 0.0006  # [m] depth of the pupil; of the iris, from rim to middle
FIBRES = 64  # of the iris that are drawn
SLIT_OVER_CORNER = 0.0025  # [m] how much higher the mouth's slit is at the midline
LIPS_END = 0.0015  # [m] from the data's corner, where the lips part
OVER = 0.0015  # [m] that the upper teeth reach below the slit
FORWARD = 0.0026  # [m] that teeth are moved before the data's bands, to where lips lie on them
ARCH, NARROW = 12.0, 1.2e4  # [1/m], [1/m³] an arch lies along the lips' inner sides, and goes back behind the canines
UNDER, BEHIND = 0.0007, 0.0024  # [m] of the lower row: its edges below and its front behind the upper one's
# [m] widths of incisors, canine, premolars and molars, upper; lower; and heights of the upper ones
TEETH = (0.0085, 0.0068, 0.0078, 0.0070, 0.0068, 0.0098, 0.0095)
LOWER_TEETH = (0.0054, 0.0059, 0.0069, 0.0070, 0.0071, 0.0110, 0.0105)
TALL = (0.0100, 0.0092, 0.0098, 0.0085, 0.0082, 0.0080, 0.0078)


@dataclass(frozen=True)
class Riders:
    """Points on the triangles of a moving surface: a mixture of three corners and a height along the normal."""

    faces: Array  # of what they make, shape (m, 3)
    mix: csr_matrix  # shape (n, n_surface)
    on: Array  # the triangle of each point, shape (n, 3)
    height: Array  # [m], shape (n,)

    def at(self, surface: Array) -> Array:
        """Where they are [m] when the surface's vertices are at `surface` [m]."""
        return np.asarray(ridden(self.mix.indptr, self.mix.indices, self.mix.data, self.on, self.height, surface))


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


def nostrils(head: HeadMesh) -> Array:
    """Displacement of the head's vertices [m] (n, 3) that hollows the nostrils, which the data have almost flat."""
    return NOSTRIL_DEEP * np.clip((1.0 - _nostril(head.vertices)) / 0.5, 0.0, 1.0)[:, None] * np.array([0.0, 0.3, 0.95])


def _nostril(v: Array) -> Array:
    """How far points [m] (n, 3) lie from the middle of a nostril, 1 at its rim."""
    off = np.stack([np.abs(v[:, 0]), v[:, 1], v[:, 2]], axis=1) - NOSTRIL
    along = off[:, :2] @ NOSTRIL_WAY
    across = off[:, :2] @ (NOSTRIL_WAY[1], -NOSTRIL_WAY[0])
    return np.asarray(np.sqrt((along / 0.0046) ** 2 + (across / 0.0031) ** 2 + (off[:, 2] / 0.004) ** 2))


def labels(head: HeadMesh, quads: Array, vertices: Array) -> Array:
    """SKIN or MOUTH (inside of it, and of the nostrils) of quads over fine vertices [m], shape (m,)."""
    at = vertices[quads].mean(axis=1)
    corner, upper, slit = _mouth(head)
    front = np.interp(np.abs(at[:, 0]), [0.0, corner[0]], [upper[1], corner[1]])
    inside = (np.abs(at[:, 0]) < 0.045) & (at[:, 1] > front + 0.0095)
    inside &= (at[:, 2] > slit - 0.05) & (at[:, 2] < slit + 0.035)
    out = np.full(len(quads), SKIN)
    out[_nostril(at) < 0.62] = MOUTH
    out[_connected(quads, inside, np.array([0.0, upper[1] + 0.05, slit]), at)] = MOUTH
    return out


def _mouth(head: HeadMesh) -> tuple[Array, Array, float]:
    """Left corner and middle of the upper lip [m], and the height of the slit at the midline [m]."""
    corner, upper = (head.vertices[np.flatnonzero(head.base == b)[0]] for b in (7139, 467))
    return corner, upper, float(corner[2]) + SLIT_OVER_CORNER


def lips(head: HeadMesh, surface: Array, quads: Array) -> Riders:
    """The red of the lips, PAINT over the skin, its border drawn exactly: the bow above, an arc below."""
    corner, upper, slit = _mouth(head)
    half = corner[0] - LIPS_END

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


def complexion(head: HeadMesh, v: Array) -> Array:
    """How much blood shows in the skin at points [m] (n, 3), 0 pale to 1 red."""
    x, y, z = np.abs(v[:, 0]), v[:, 1], v[:, 2]
    eye, (corner, upper, slit) = head.eyes[0], _mouth(head)
    out = np.full(len(v), 0.30)

    def add(amount: float, middle: tuple[float, float, float], size: tuple[float, float, float]) -> None:
        far = ((x - middle[0]) / size[0]) ** 2 + ((y - middle[1]) / size[1]) ** 2 + ((z - middle[2]) / size[2]) ** 2
        out[:] += amount * np.exp(-0.5 * far)

    cheek = (0.044, corner[1] + 0.008, eye[2] - 0.038)
    tip = float(v[np.argmin(np.where(np.abs(z - 1.80) < 0.02, y, 1.0)), 1])
    add(0.36, cheek, (0.014, 0.03, 0.013))
    add(0.30, (0.0, tip, 1.803), (0.014, 0.018, 0.011))  # tip and wings of the nose
    add(0.22, (eye[0] + 0.002, eye[1] - 0.014, eye[2]), (0.020, 0.016, 0.012))  # lids
    add(0.20, (0.0, upper[1], slit - 0.022), (0.014, 0.02, 0.008))  # chin
    add(0.12, (0.0, upper[1], slit), (0.032, 0.02, 0.014))  # about the lips
    add(0.42, (0.094, 0.0, 1.825), (0.008, 0.03, 0.030))  # ears
    add(-0.14, (0.0, -0.12, eye[2] + 0.05), (0.045, 0.05, 0.022))  # forehead
    add(-0.12, (0.028, eye[1] - 0.01, eye[2] - 0.018), (0.014, 0.02, 0.006))  # under the eyes
    # no skin is even
    out += 0.05 * np.sin(170.0 * v[:, 0] + 3.0) * np.sin(210.0 * z) + 0.03 * np.sin(410.0 * z + 250.0 * v[:, 0])
    return np.clip(out, 0.0, 1.0)


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
    """White, limbus, iris (three rings and its fibres), pupil and two glints, looking towards −y, about the globe's
    centre [m]. The pupil is a hole, so that no light comes back from it."""
    iris = np.arcsin(IRIS)
    flat = radius * np.cos(iris)  # the iris is a shallow cone inside the globe, under a clear cornea
    out = {
        "white": _cap(radius, iris * 1.06, np.pi),
        "limbus_outer": _cap(radius, iris * 1.01, iris * 1.07),
        "limbus": _cap(radius, iris * 0.96, iris * 1.02),
        "iris": _cone(radius, flat, 0.80, 0.99),
        "iris_middle": _cone(radius, flat, 0.52, 0.81),
        "iris_inner": _cone(radius, flat, PUPIL, 0.53),
        "iris_fibres": _fibres(radius, flat),
        "pupil": _cone(radius, flat, 0.0, PUPIL, deep=HOLE),
    }
    glints = []
    for size, up, aside in ((0.085, 0.20, 0.17), (0.040, -0.16, -0.14)):  # a window, and what it lights
        v, faces = _cap(radius * 1.004, 0.0, size, rings=3, sides=20)
        turn = exp_so3(np.array([0.0, 0.0, aside])) @ exp_so3(np.array([-up, 0.0, 0.0]))
        glints.append((v @ turn.T, faces))
    out["glint"] = join(*glints)
    return out


def _fibres(radius: float, flat: float) -> Shape:
    """Pale threads of the iris, from the pupil outward, just before it."""
    rng = np.random.default_rng(3)
    parts = []
    for k in range(FIBRES):
        b = (k + rng.uniform(-0.35, 0.35)) * 2.0 * np.pi / FIBRES
        inner, outer, half = rng.uniform(0.40, 0.50), rng.uniform(0.66, 0.96), rng.uniform(0.018, 0.034)
        r = np.array([inner, 0.5 * (inner + outer), 0.5 * (inner + outer), outer]) * IRIS * radius
        a = b + np.array([0.0, -half, half, rng.uniform(-0.04, 0.04)])
        y = -(flat + BOWL * (r / (IRIS * radius)) ** 2 + 0.00004)
        parts.append((np.stack([r * np.cos(a), y, r * np.sin(a)], axis=1), np.array([[0, 1, 2], [1, 3, 2]])))
    return join(*parts)


def _cap(radius: float, low: float, high: float, rings: int = 14, sides: int = 40) -> Shape:
    """Part of a sphere between two angles [rad] from −y."""
    a = np.linspace(low, high, rings + 1)
    b = np.arange(sides) * 2.0 * np.pi / sides
    v = np.stack(
        [np.outer(np.sin(a), np.cos(b)), -np.outer(np.cos(a), np.ones(sides)), np.outer(np.sin(a), np.sin(b))], axis=-1
    )
    return radius * v.reshape(-1, 3), _grid(rings, sides)


def _cone(
    radius: float, flat: float, inner: float, outer: float, rings: int = 4, sides: int = 40, deep: float = 0.0
) -> Shape:
    """A ring of the iris from `inner` to `outer` of its radius, deeper towards the middle, by `deep` [m] more there."""
    r = np.linspace(inner, outer, rings + 1) * IRIS * radius
    b = np.arange(sides) * 2.0 * np.pi / sides
    y = -(flat + BOWL * (r / (IRIS * radius)) ** 2) + deep * (1.0 - r / r[-1])
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
    """Rows of teeth along two arches; upper and lower."""
    out = {}
    for name, row in _rows(head).items():
        parts = []
        for side in (1.0, -1.0):
            for x, width, tall in zip(row.at(row.middles), row.widths, row.tall):
                turn = side * np.arctan(row.arch.deriv()(x))
                place = np.array([side * x, row.arch(x), row.edge])
                parts.append(_tooth(width * 0.96, tall, 0.0065, row.up, place, turn))
        out[name] = join(*parts)
    return out


def gums(head: HeadMesh) -> dict[str, Shape]:
    """Gums that hold the teeth, with a margin that dips between them; upper and lower."""
    out = {}
    for name, row in _rows(head).items():
        ends = np.concatenate([[0.0], np.cumsum(row.widths)])
        s = np.linspace(-ends[-1], ends[-1], 241)
        x = np.sign(s) * row.at(np.abs(s))
        slope = row.arch.deriv()(np.abs(x)) * np.sign(x)
        normal = np.stack([slope, -np.ones_like(s)], axis=1) / np.hypot(slope, 1.0)[:, None]
        k = np.clip(np.searchsorted(ends, np.abs(s), side="right") - 1, 0, len(row.widths) - 1)
        part = (np.abs(s) - ends[k]) / np.asarray(row.widths)[k]
        margin = np.asarray(row.tall)[k] * (0.84 - 0.22 * (2.0 * part - 1.0) ** 4)
        rings = []
        for rise, out_by in ((0.0, -0.0012), (0.0004, 0.0004), (0.0018, 0.0009), (0.005, 0.0006), (0.010, -0.002)):
            flat = np.stack([x, row.arch(np.abs(x))], axis=1) + out_by * normal
            rings.append(np.column_stack([flat, row.edge - row.up * (margin + rise)]))
        n = len(s)
        i, j = np.meshgrid(np.arange(len(rings) - 1), np.arange(n - 1), indexing="ij")
        first = i * n + j
        faces = triangles(np.stack([first, first + 1, first + n + 1, first + n], axis=-1).reshape(-1, 4))
        out[name] = np.concatenate(rings), faces if row.up < 0.0 else faces[:, ::-1].copy()
    return out


@dataclass(frozen=True)
class _Row:
    """One row of teeth."""

    arch: Polynomial  # y of its front [m] over |x|
    edge: float  # height of the cutting edges [m]
    up: float  # −1 for the upper row: teeth reach up from the edge
    widths: tuple[float, ...]  # [m] from the midline
    tall: tuple[float, ...]  # [m]

    @property
    def middles(self) -> Array:
        """Along the arch from the midline [m]."""
        return np.cumsum(self.widths) - 0.5 * np.asarray(self.widths)

    def at(self, along: Array) -> Array:
        """|x| of places along the arch [m]."""
        across = np.linspace(0.0, 0.05, 501)
        length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(across), np.diff(self.arch(across))))])
        return np.interp(along, length, across)


def _rows(head: HeadMesh) -> dict[str, _Row]:
    front, edge = float(head.parts["upper-teeth"][0][:, 1].min()) - FORWARD, _mouth(head)[2] - OVER
    low = tuple(0.88 * t for t in TALL)
    return {
        "upper": _Row(Polynomial([front, 0.0, ARCH, 0.0, NARROW]), edge, -1.0, TEETH, TALL),
        "lower": _Row(Polynomial([front + BEHIND, 0.0, ARCH, 0.0, NARROW]), edge - UNDER, 1.0, LOWER_TEETH, low),
    }


def _tooth(width: float, tall: float, thick: float, up: float, at: Array, turn: float) -> Shape:
    """A rounded block with its cutting edge at `at`, reaching towards the gum."""
    n = 8
    u = np.linspace(-1.0, 1.0, n + 1)
    points = []
    ring = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    for h in u:
        swell = (1.0 - 0.10 * max(0.0, abs(h) - 0.6) / 0.4) * (1.0 - 0.06 * (1.0 - h))
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
