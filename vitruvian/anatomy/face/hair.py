"""Hair: strands combed back over the scalp, brows, lashes.

A strand is a ribbon that runs along the scalp from its root, layered at random heights; brows and lashes are hairs that
ride on the skin (`look.Riders`).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.grids import triangles
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.face.look import Riders, Shape, ride
from vitruvian.mesh import join, vertex_normals
from vitruvian.mesh.catmull_clark import catmull_clark

Array = np.ndarray
BROW = (6983, 6980, 6996, 6998, 6982)  # of the base mesh, along the left brow from within
BROW_HAIRS = 560
FLATTER = 0.35  # of the rise of the line over its chord: the data's is peaked
LASHES = (110, 60)  # of an upper and a lower lid
# y and height [m] of the hairline, from the forehead over temple and ear to the nape
HAIRLINE = np.array(
    [
        *((-0.13, 1.905), (-0.092, 1.899), (-0.076, 1.893), (-0.062, 1.868), (-0.052, 1.846), (-0.044, 1.828)),
        *((-0.036, 1.834), (-0.028, 1.850), (-0.008, 1.850), (-0.002, 1.838), (0.010, 1.806), (0.035, 1.782)),
        (0.085, 1.760),
    ]
)
SHADES = ("hair", "hair_dark", "hair_light")
STRANDS = (2500, 2000, 1100)  # of each shade
RIBS = 6  # cross-sections of a strand
CAP, LIFT = 0.0048, 0.0052  # [m] that the scalp's own hair stands off, and strands over it


def hair(head: HeadMesh, part: float = 1.0) -> dict[str, Shape]:
    """Short hair combed back, by shade: a cap close to the scalp, and strands over it, or only `part` of them."""
    v, quads = _scalp(head)
    faces = triangles(quads)
    normal = vertex_normals(v, faces)
    over = _over_hairline(v)
    rise = np.clip((over - 0.006) / 0.014, -0.5, 1.0)  # under the skin at the hairline: strands alone are seen there
    cap = v + (CAP * rise)[:, None] * normal
    rng = np.random.default_rng(8)
    out: dict[str, Shape] = {}
    for shade, count in zip(SHADES, STRANDS):
        strands = _strands(v, faces, normal, over, round(part * count), rng)
        out[shade] = join((cap, faces), strands) if shade == "hair_dark" else strands
    return out


def _scalp(head: HeadMesh) -> tuple[Array, Array]:
    """Fine vertices [m] and quads of what hair grows on."""
    v = head.vertices
    depth = _over_hairline(v)
    quads = head.quads[(depth[head.quads] > -0.014).all(axis=1)]
    used, quads = np.unique(quads, return_inverse=True)
    quads, v = quads.reshape(-1, 4), v[used]
    for _ in range(2):
        matrix, quads = catmull_clark(quads, len(v))
        v = matrix @ v
    return v, quads


def _strands(v: Array, faces: Array, normal: Array, over: Array, count: int, rng: np.random.Generator) -> Shape:
    """Ribbons with their roots spread evenly over the scalp, denser near the hairline."""
    corner = v[faces]
    area = 0.5 * np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    depth = over[faces].mean(axis=1)
    weight = np.where(depth > -0.0005, area * np.where(depth < 0.010, 3.5, 1.0), 0.0)
    at = rng.choice(len(faces), count, p=weight / weight.sum())
    mix = rng.dirichlet((1.0, 1.0, 1.0), count)
    p = np.einsum("nk,nkd->nd", mix, corner[at])
    tree = cKDTree(v)
    depth = _over_hairline(p)
    long = rng.uniform(0.022, 0.040, count) * np.clip(0.45 + depth / 0.03, 0.45, 1.0)
    long *= np.where((np.abs(p[:, 0]) > 0.076) & (p[:, 1] < 0.0) & (p[:, 2] < 1.875), 0.55, 1.0)  # before the ears
    layer = rng.uniform(0.35, 1.0, count) * np.clip(0.15 + depth / 0.018, 0.15, 1.0)  # thin at the hairline
    wide = rng.uniform(0.0004, 0.0009, count)
    stands = np.clip(0.25 + depth / 0.02, 0.25, 1.0)
    wave = rng.uniform(-0.25, 0.25, count)
    rows = []
    for k in range(RIBS):
        t = k / (RIBS - 1)
        _, near = tree.query(p)
        n = normal[near]
        p = p - np.sum((p - v[near]) * n, axis=1)[:, None] * n
        way = _combed(p)
        side = np.cross(n, way)
        way = way + (wave * np.cos(3.0 * t))[:, None] * side
        way -= np.sum(way * n, axis=1)[:, None] * n
        way /= np.linalg.norm(way, axis=1)[:, None]
        side = np.cross(n, way)
        # up from the root, over, and down to those below
        root = 0.35 if k == 0 else 1.0
        height = root * CAP * stands + LIFT * layer * np.sin(np.pi * (0.12 + 0.70 * t))
        thick = np.sqrt(max(1.0 - t * t, 0.02)) * min(1.0, 0.3 + 2.8 * t)  # roots and tips are thin
        middle, half = p + height[:, None] * n, (wide * thick)[:, None] * side
        rows += [middle - half, middle + half]
        p = p + (long / (RIBS - 1))[:, None] * way
    points = np.stack(rows, axis=1).reshape(-1, 3)
    rib = 2 * np.arange(RIBS - 1)
    strip = np.concatenate([np.stack([rib, rib + 1, rib + 3], 1), np.stack([rib, rib + 3, rib + 2], 1)])
    return points, (strip[None] + (2 * RIBS * np.arange(count))[:, None, None]).reshape(-1, 3)


def _combed(p: Array) -> Array:
    """Which way hair lies at points [m] (n, 3): back and a little aside over the top, back and down at the sides."""
    x = p[:, 0] / 0.08
    back = np.clip((p[:, 1] + 0.01) / 0.09, 0.0, 1.0)  # 0 before the ears, 1 at the back of the head
    side = np.clip(1.0 - (p[:, 2] - 1.86) / 0.06, 0.0, 1.0)
    out = np.stack(
        [0.45 * x * (1.0 - side) + 0.12 * (1.0 - side), 1.0 - 0.6 * back, 0.25 - 1.1 * side - 1.2 * back], axis=1
    )
    return np.asarray(out / np.linalg.norm(out, axis=1)[:, None])


def _over_hairline(v: Array) -> Array:
    """How far points lie above the hairline [m], negative in the face."""
    y = v[:, 1]
    line = np.interp(y, *HAIRLINE.T)
    # the line is higher over the temples' corners and lower again at the midline of the forehead
    front = np.clip((-0.055 - y) / 0.02, 0.0, 1.0)
    line = line + front * (0.004 * np.sin(np.pi * np.clip(v[:, 0] / 0.06, -1.0, 1.0)) ** 2 - 0.001)
    out = v[:, 2] - line
    out_by, beside = np.abs(v[:, 0]), (y > -0.040) & (y < -0.002)
    ear = beside & (((out_by > 0.0865) & (v[:, 2] < 1.852)) | ((out_by > 0.0895) & (v[:, 2] < 1.865)))
    return np.where(ear, -0.02, out)


def brows(head: HeadMesh, surface: Array, faces: Array) -> Riders:
    """Hairs along both brows."""
    line = np.array([head.vertices[np.flatnonzero(head.base == b)[0]] for b in BROW])
    line = line[np.argsort(line[:, 0])]
    chord = np.interp(line[:, 0], line[[0, -1], 0], line[[0, -1], 2])
    line[:, 2] -= FLATTER * (line[:, 2] - chord)
    rng = np.random.default_rng(4)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    normals = vertex_normals(surface, faces)
    tree = cKDTree(surface)
    parts = []
    up = np.array([0.0, 0.0, 1.0])
    for _ in range(BROW_HAIRS):
        s = rng.random()
        at = np.array([np.interp(s * length[-1], length, line[:, a]) for a in range(3)])
        ahead = np.array([np.interp(min(s + 0.05, 1.0) * length[-1], length, line[:, a]) for a in range(3)])
        along = ahead - at if s < 0.95 else at - line[-2]
        along /= np.linalg.norm(along)
        thick = 0.0038 * (1.0 - 0.72 * s) * (0.5 + 0.5 * min(1.0, s / 0.2))
        off = rng.uniform(-1.0, 1.0)
        root = at + up * (off * thick + 0.0005)
        lean = np.interp(s, [0.0, 0.2, 0.6, 1.0], [0.75, 0.38, 0.08, -0.2]) - 0.25 * off  # towards the middle line
        way = along * np.cos(lean) + up * np.sin(lean)
        parts.append(_hair(root, way, rng.uniform(0.0055, 0.008) * (1.0 - 0.3 * s), 0.00019, surface, normals, tree))
    return _both_sides(parts, surface, faces)


def lashes(head: HeadMesh, surface: Array, faces: Array) -> Riders:
    """Hairs along the margins of the lids: curled above, short and fine below."""
    parts = []
    for name in ("l-eyelashes-1", "l-eyelashes-2"):
        strip = head.parts[name][0]
        near = cKDTree(surface).query(strip)[0]
        roots = strip[near < 0.0012]
        roots = roots[np.argsort(roots[:, 0])]
        upper = bool(strip[:, 2].mean() > head.eyes[0][2])
        count = LASHES[0 if upper else 1]
        x = np.linspace(roots[:, 0].min(), roots[:, 0].max(), count)
        for k, value in enumerate(x):
            weight = np.exp(-(((roots[:, 0] - value) / 0.0012) ** 2)) + 1e-12
            root = weight @ roots / weight.sum()
            out = root - head.eyes[0]
            out /= np.linalg.norm(out)
            fan = 0.75 * (value - x.mean()) / np.ptp(x)
            way = out + np.array([fan, -0.15, -0.05 if upper else -0.85])
            curl = np.array([0.3 * fan, 0.0, 1.0 if upper else 0.0])
            long = (0.0062 if upper else 0.0021) * (0.7 + 0.3 * np.sin(np.pi * k / (count - 1)))
            parts.append(_curled(root, way, curl, long, 0.00014 if upper else 0.00008))
    return _both_sides(parts, surface, faces)


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


def _curled(root: Array, way: Array, curl: Array, long: float, wide: float) -> Shape:
    """A three-sided thorn that bends towards `curl`."""
    way = way / np.linalg.norm(way)
    a = np.cross(way, [0.0, 0.0, 1.0])
    a /= np.linalg.norm(a)
    b = np.cross(way, a)
    points = []
    for t in (0.0, 0.5, 1.0):
        middle = root + long * (t * way + 0.45 * t * t * curl)
        points += [middle + wide * (1.0 - 0.85 * t) * (np.cos(s) * a + np.sin(s) * b) for s in (0.0, 2.094, 4.189)]
    k = np.arange(3)
    sides = [
        f + 3 * r
        for r in (0, 1)
        for f in (np.stack([k, (k + 1) % 3, (k + 1) % 3 + 3], 1), np.stack([k, (k + 1) % 3 + 3, k + 3], 1))
    ]
    return np.array(points), np.concatenate(sides)


def _both_sides(parts: list[Shape], surface: Array, faces: Array) -> Riders:
    v, f = join(*parts)
    points = np.concatenate([v, v * (-1.0, 1.0, 1.0)])
    return ride(points, np.concatenate([f, f[:, ::-1] + len(v)]), surface, faces)
