"""Simple closed surfaces as plain arrays: vertices [m], shape (n, 3), and outward faces of indices, shape (m, 3).

Everything round is a `lathe` (a profile turned about z) or a `tube` (a circle swept along a curve with a frame that
does not twist more than it must); letters and plates are an `extrude`d outline with a rounded edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from vitruvian.errors import InputError
from vitruvian.mesh.outline import signed_area, triangulate
from vitruvian.mesh.smooth import split

Array = np.ndarray
Shape = tuple[Array, Array]


def box(size: tuple[float, float, float], centre: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Shape:
    """A box with the given edge lengths [m] along x, y, z."""
    _positive("box", *size)
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = np.array([triangle for a, b, c, d in sides for triangle in ((a, b, c), (a, c, d))])
    return corners * np.asarray(size) + np.asarray(centre), faces


def open_box(size: Sequence[float] | Array, wall: float) -> Shape:
    """A box with these outer edge lengths [m], open at the top, with walls and floor of a thickness [m]; its outer
    middle at 0."""
    _positive("open box", *size, wall)
    if 2.0 * wall >= min(size[:2]) or wall >= size[2]:
        raise InputError(f"open box: walls of {wall:g} m leave no room in {size[0]:g} x {size[1]:g} x {size[2]:g} m")
    a = np.asarray(size, float) / 2.0
    b = a - wall
    rings = ((a[0], a[1], -a[2]), (a[0], a[1], a[2]), (b[0], b[1], a[2]), (b[0], b[1], wall - a[2]))
    vertices = [(x * sx, y * sy, z) for x, y, z in rings for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    squares = [(3, 2, 1, 0), (12, 13, 14, 15)]
    for n in range(4):
        m = (n + 1) % 4
        squares += [(r + n, r + m, r + m + 4, r + n + 4) for r in (0, 4, 8)]
    return np.array(vertices), np.array([t for p, q, r, s in squares for t in ((p, q, r), (p, r, s))])


def sphere(radius: float, centre: tuple[float, float, float] = (0.0, 0.0, 0.0), subdivisions: int = 3) -> Shape:
    """A sphere of even triangles: an icosahedron, subdivided."""
    return ellipsoid((radius, radius, radius), centre, subdivisions)


def ellipsoid(
    radii: tuple[float, float, float], centre: tuple[float, float, float] = (0.0, 0.0, 0.0), subdivisions: int = 3
) -> Shape:
    """An ellipsoid with semi-axes [m] along x, y, z."""
    _positive("ellipsoid", *radii)
    vertices, faces = _icosphere(subdivisions)
    return vertices * np.asarray(radii) + np.asarray(centre), faces


def cylinder(radius: float, length: float, *, edge: float = 0.0, sides: int = 48) -> Shape:
    """A cylinder about z, centred, whose rims are rounded with radius `edge` [m]."""
    _positive("cylinder", radius, length)
    if not 0.0 <= edge <= min(radius, 0.5 * length):
        raise InputError(f"cylinder: edge radius {edge} does not fit")
    angle = np.linspace(0.0, 0.5 * np.pi, 5 if edge > 0.0 else 1)
    r = radius - edge + edge * np.cos(angle) if edge > 0.0 else np.array([radius])
    z = 0.5 * length - edge + edge * np.sin(angle) if edge > 0.0 else np.array([0.5 * length])
    upper = np.column_stack([r, z])
    lower = upper[::-1] * (1.0, -1.0)
    ends = np.array([[0.0, 0.5 * length]])
    return lathe(np.vstack([ends * (1.0, -1.0), lower, upper, ends]), sides=sides)


def capsule(start: Array, end: Array, radius: float, *, sides: int = 24) -> Shape:
    """A round rod from `start` to `end` [m], shape (3,), with hemispherical ends of `radius` [m] about both."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    _positive("capsule", radius, length)
    angle = np.linspace(0.0, 0.5 * np.pi, 9)
    cap = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    profile = np.vstack([cap[::-1] * (1.0, -1.0), cap + np.array([0.0, length])])
    vertices, faces = lathe(profile, sides=sides)
    return vertices @ _axes_along((end - start) / length).T + start, faces


def lathe(profile: Array, *, sides: int = 48) -> Shape:
    """Turn a `profile` of (radius, z) points [m], listed upwards, about z; it must start and end on the axis."""
    profile = np.asarray(profile, float)
    if profile[0, 0] > 1e-12 or profile[-1, 0] > 1e-12:
        raise InputError("lathe: the profile must start and end on the axis")
    angle = 2.0 * np.pi * np.arange(sides) / sides
    inner = profile[1:-1]
    rings = np.stack([inner[:, :1] * np.cos(angle), inner[:, :1] * np.sin(angle), inner[:, 1:] + 0.0 * angle], axis=2)
    vertices = np.vstack([[0.0, 0.0, profile[0, 1]], rings.reshape(-1, 3), [0.0, 0.0, profile[-1, 1]]])
    faces = [_band(1 + k * sides, 1 + (k + 1) * sides, sides) for k in range(len(inner) - 1)]
    here = np.arange(sides)
    after = (here + 1) % sides
    last = len(vertices) - 1
    top = last - sides
    faces.append(np.column_stack([np.zeros(sides, int), 1 + after, 1 + here]))
    faces.append(np.column_stack([np.full(sides, last), top + here, top + after]))
    return vertices, np.vstack(faces)


def tube(points: Array, radius: float, *, closed: bool = False, sides: int = 12) -> Shape:
    """A round tube of `radius` [m] along `points` [m], shape (n, 3); an open one is closed by flat ends.

    Its frame is carried along the curve by the smallest turn from one tangent to the next, and what a closed curve
    has twisted by on return is spread evenly over its length.
    """
    points = np.asarray(points, float)
    n = len(points)
    _positive("tube", radius)
    tangents = _tangents(points, closed)
    normals = np.empty_like(points)
    normals[0] = _axes_along(tangents[0])[:, 0]
    for k in range(1, n):
        normals[k] = _carry(normals[k - 1], tangents[k - 1], tangents[k])
    binormals = np.cross(tangents, normals)
    twist = np.zeros(n)
    if closed:
        back = _carry(normals[-1], tangents[-1], tangents[0])
        twist = -np.arctan2(back @ binormals[0], back @ normals[0]) * np.arange(n) / n
    angle = 2.0 * np.pi * np.arange(sides) / sides + twist[:, None]
    ring = np.cos(angle)[..., None] * normals[:, None] + np.sin(angle)[..., None] * binormals[:, None]
    vertices = (points[:, None] + radius * ring).reshape(-1, 3)
    last = n if closed else n - 1
    faces = [_band(k * sides, (k + 1) % n * sides, sides) for k in range(last)]
    if not closed:
        here, after = np.arange(sides), (np.arange(sides) + 1) % sides
        first, end = len(vertices), len(vertices) + 1
        vertices = np.vstack([vertices, points[0], points[-1]])
        faces.append(np.column_stack([np.full(sides, first), after, here]))
        base = (n - 1) * sides
        faces.append(np.column_stack([np.full(sides, end), base + here, base + after]))
    return vertices, np.vstack(faces)


def extrude(outline: Array, depth: float, *, bevel: float = 0.0, holes: tuple[Array, ...] = ()) -> Shape:
    """A plate of thickness `depth` [m] in the x–z plane, centred on y = 0, its edges rounded with radius `bevel` [m].

    outline: closed smooth curve (x, z) [m], shape (n, 2), either way round; `holes` likewise.
    """
    _positive("extrude", depth)
    if not 0.0 <= bevel <= 0.5 * depth:
        raise InputError(f"extrude: bevel {bevel} does not fit depth {depth}")
    loops = [_oriented(outline, 1.0)] + [_oriented(hole, -1.0) for hole in holes]
    inward = [_inward_normals(loop) for loop in loops]
    angle = np.linspace(0.0, 0.5 * np.pi, 5) if bevel > 0.0 else np.zeros(1)
    inset, lift = bevel * (1.0 - np.cos(angle)), 0.5 * depth - bevel + bevel * np.sin(angle)
    # From the front (y < 0, facing the reader) to the back.
    layers = [(d, -y) for d, y in zip(inset[::-1], lift[::-1])] + list(zip(inset, lift))
    counts = [len(loop) for loop in loops]
    starts = np.concatenate([[0], np.cumsum(counts)])
    total = int(starts[-1])
    rings, faces = [], []
    for level, (distance, y) in enumerate(layers):
        flat = np.vstack([loop + distance * normal for loop, normal in zip(loops, inward)])
        rings.append(np.column_stack([flat[:, 0], np.full(total, y), flat[:, 1]]))
        if level + 1 < len(layers):
            base = level * total
            faces += [_band(base + total + s, base + s, c) for s, c in zip(starts, counts)]
    front = rings[0][:, [0, 2]]
    cap = triangulate(front[: counts[0]], tuple(front[a:b] for a, b in pairwise(starts[1:])))
    faces += [cap, cap[:, ::-1] + (len(layers) - 1) * total]
    return np.vstack(rings), np.vstack(faces)


def grid_faces(rows: int, columns: int) -> Array:
    """Triangles over a grid of vertices numbered row by row, facing row × column."""
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    return np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], 2).reshape(-1, 3)


def join(*shapes: Shape) -> Shape:
    """Several shapes as one."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in shapes])
    return np.vstack([v for v, _ in shapes]), np.vstack([f + s for (_, f), s in zip(shapes, starts)])


def moved(shape: Shape, transform: Array) -> Shape:
    """The shape carried by a rigid motion, shape (4, 4)."""
    vertices, faces = shape
    return vertices @ transform[:3, :3].T + transform[:3, 3], faces


def volume(shape: Shape) -> float:
    """Enclosed volume [m³] of a closed surface (divergence theorem); positive when its faces point outwards."""
    a, b, c = (shape[0][shape[1][:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def _band(lower: int, upper: int, sides: int) -> Array:
    here, after = np.arange(sides), (np.arange(sides) + 1) % sides
    first = np.column_stack([lower + here, lower + after, upper + after])
    return np.vstack([first, np.column_stack([lower + here, upper + after, upper + here])])


def _tangents(points: Array, closed: bool) -> Array:
    if closed:
        step = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    else:
        step = np.gradient(points, axis=0)
    return step / np.linalg.norm(step, axis=1, keepdims=True)


def _carry(vector: Array, before: Array, after: Array) -> Array:
    """`vector` turned as the tangent turns from `before` to `after`, made orthogonal to `after` again."""
    axis = np.cross(before, after)
    turned = vector + np.cross(axis, vector) + np.cross(axis, np.cross(axis, vector)) / (1.0 + before @ after)
    turned -= after * (after @ turned)
    return turned / np.linalg.norm(turned)


def _axes_along(direction: Array) -> Array:
    """A rotation, shape (3, 3), whose third column is the unit vector `direction`."""
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    first = np.cross(helper, direction)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(direction, first), direction])


def _oriented(loop: Array, sign: float) -> Array:
    loop = np.asarray(loop, float)
    return loop if signed_area(loop) * sign > 0.0 else loop[::-1]


def _inward_normals(loop: Array) -> Array:
    step = np.roll(loop, -1, axis=0) - np.roll(loop, 1, axis=0)
    normal = np.column_stack([-step[:, 1], step[:, 0]])
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def _icosphere(subdivisions: int) -> Shape:
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    edges = [(s, t) for s in (-1.0, 1.0) for t in (-golden, golden)]
    corners = [corner for s, t in edges for corner in ((0.0, s, t), (s, t, 0.0), (t, 0.0, s))]
    vertices = np.array(corners)
    vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    distance = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)
    near = np.isclose(distance, np.min(distance[distance > 1e-9]))
    triples = [t for t in combinations(range(12), 3) if near[t[0], t[1]] and near[t[1], t[2]] and near[t[0], t[2]]]
    faces = np.array([t if np.linalg.det(vertices[list(t)]) > 0.0 else t[::-1] for t in triples])
    for _ in range(subdivisions):
        vertices, faces = split(vertices, faces)
        vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    return vertices, faces


def _positive(what: str, *values: float) -> None:
    if not all(np.isfinite(v) and v > 0.0 for v in values):
        raise InputError(f"{what}: sizes must be positive, got {', '.join(f'{v:g}' for v in values)}")
