"""Moving closed surfaces on the grid: which faces they close, how fast they move there, and which link carries each.

The smallest interface that a body needs: `WetSurface`, a closed triangle surface with a velocity at each vertex, and
for each triangle the rigid link that carries it. A ball is a skin on one link; a swimmer's skin is one surface on many.
The velocity of a face is that of its link at the face plus what the skin moves relative to that link at the nearest
point, so a rigid skin is rigid to the last bit and a soft one keeps its own motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from scipy.spatial import ConvexHull

from vitruvian.errors import InputError
from vitruvian.mesh import Topology, mesh_volume, topology
from vitruvian.mesh.distance import closest_on_triangle
from vitruvian.water.boundary import Boundary, Pieces, open_boundary
from vitruvian.water.boundary_rows import boundary_rows, piece_rows
from vitruvian.water.model import Tank
from vitruvian.water.placing import BAND, Cut, Placed, meet, place
from vitruvian.water.sides import find_sides
from vitruvian.water.state import WaterState

Array = np.ndarray
CONVEX = 0.95  # part of its convex hull that a body fills if it counts as convex


@dataclass(frozen=True)
class WetShape:
    """What never changes about a skin: its triangles and the link that carries each."""

    name: str
    mesh: Topology
    links: Array  # index of a link for each triangle, shape (m,)
    memory: dict[str, Placed] = field(default_factory=dict, repr=False, compare=False)  # where it lay last
    link_names: dict[int, str] = field(default_factory=dict, compare=False)  # where they differ from the skin's
    last: dict[str, Any] = field(
        default_factory=dict, repr=False, compare=False
    )  # the boundary that it was last part of
    convex: bool | None = field(default=None, compare=False)  # None until asked for

    @classmethod
    def build(
        cls, name: str, faces: Array, vertex_count: int, links: Array | int = 0, link_names: Sequence[str] = ()
    ) -> WetShape:
        mesh = topology(faces, vertex_count, name)
        carried = np.broadcast_to(np.asarray(links, np.int64), (len(mesh.faces),)).copy()
        return cls(name, mesh, carried, link_names=dict(enumerate(link_names)))

    def two_sided(self, vertices: Array, h: float) -> bool:
        """Whether the surface may differ on two sides of a wall of this body: not if several links carry it, since
        limbs keep no water from the air, nor if it is convex, as it was when it was asked first, and in the mean
        (twice its volume over its area) no thinner than a cell h [m].
        """
        if np.any(self.links != self.links[0]):
            return False
        if self.convex is None:
            hull = ConvexHull(vertices[np.unique(self.mesh.faces)]).volume
            object.__setattr__(self, "convex", mesh_volume(vertices, self.mesh.faces) > CONVEX * hull)
        if not self.convex:
            return True
        a, b, c = (vertices[self.mesh.faces[:, n]] for n in range(3))
        area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
        return 2.0 * mesh_volume(vertices, self.mesh.faces) < h * area


@dataclass
class WetSurface:
    """A skin at one instant."""

    shape: WetShape
    vertices: Array  # [m] in the world, shape (n, 3)
    drift: Array | None = None  # velocity relative to the link [m/s] of each vertex, shape (n, 3), or of each corner of
    # each triangle, shape (m, 3, 3), where triangles of several links meet; None if rigid


@dataclass
class Links:
    """Rigid links at one instant, in world axes."""

    origins: Array  # reference points [m], shape (n, 3)
    twists: Array  # (angular [rad/s], linear velocity of the origin [m/s]), shape (n, 6)
    mobility: Array | None = None  # J M^-1 J^T, twist change per impulse, shape (6 n, 6 n); None if nothing can yield
    rotations: Array | None = None  # link axes in the world, shape (n, 3, 3), for those that carry refined patches


def rasterise(tank: Tank, state: WaterState, skins: Sequence[WetSurface], origins: Array) -> Boundary:
    """Fractions, nearest triangles and links of all skins; velocities are set by `set_body_velocity`."""
    b = open_boundary(tank)
    if not skins:
        return b
    nodes = (tank.shape[0] + 1, tank.shape[1] + 1, tank.shape[2] + 1)
    h = tank.cell
    psi = np.full(nodes, BAND * h)
    triangle = np.full(nodes, -1, np.int32)
    base = 0
    there, on_grid = [], []
    for skin in skins:
        if not np.isfinite(skin.vertices).all():
            raise InputError(f"{skin.shape.name}: a vertex of the skin is not a number")
        placed = place(skin.shape.memory, skin.vertices, skin.shape.mesh, state.origin, h, nodes, tank.body_detail)
        if placed.distance.size:
            region = tuple(slice(lo, hi) for lo, hi in placed.box)
            _nearer(placed.distance, placed.triangle, base, psi[region], triangle[region])
            there.append(placed)
            on_grid.append(skin)
        base += len(skin.shape.mesh.faces)
    b.psi, b.triangle, b.origins = psi, triangle, np.asarray(origins, float)
    b.skins, b.gathered = skins, _gathered(skins)
    b.link_x, b.link_y, b.link_z = (np.full(f.shape, -1, np.int32) for f in (b.open_x, b.open_y, b.open_z))
    if there:
        # where boxes overlap the largest tells: in a small one a wall that goes on beyond it would seem to end
        largest = sorted(range(len(there)), key=lambda n: -int(np.prod(np.diff(there[n].box, axis=1))))
        there, on_grid = [there[n] for n in largest], [on_grid[n] for n in largest]
        b.boxes = np.array([np.stack([p.box[:, 0], np.minimum(p.box[:, 1], tank.shape)], axis=1) for p in there])
        b.box = np.stack([b.boxes[:, :, 0].min(axis=0), b.boxes[:, :, 1].max(axis=0)], axis=1)
        found, cuts = [], []
        for n, (placed, box) in enumerate(zip(there, b.boxes)):
            cut = placed.opened([p for p in there if p is not placed and meet(p.box, placed.box)])
            _face_links(psi, triangle, b.gathered[0], box, b.link_x, b.link_y, b.link_z)
            cuts.append(cut)
            found.append(_outside(cut.pieces, b.boxes[:n]))
        # fractions are those of the first box that holds a cell, as pieces and lengths are
        for placed, cut in zip(reversed(there), reversed(cuts)):
            _copy_fractions(placed, cut, b)
        b.pieces = _all_pieces(found)
        _set_lengths(b, cuts)
        if tank.free_surface and len(b.pieces.thin):
            two = [np.full(len(c.pieces.thin), s.shape.two_sided(s.vertices, h)) for s, c in zip(on_grid, cuts)]
            walls = np.concatenate(two)
            b.sides = find_sides(b, walls)
            b.volume[tuple(b.pieces.thin[walls].T)] = b.pieces.space[walls]
    b.cells, b.cell_link, b.rows = boundary_rows(
        b.open_x, b.open_y, b.open_z, b.link_x, b.link_y, b.link_z, b.origins, state.origin, h, b.boxes
    )
    b.row_piece = np.full(len(b.cells), -1, np.int64)
    if len(b.pieces.cells):
        p = b.pieces
        cells, links, rows, piece = piece_rows(
            p.cells, p.faces, p.ends, p.opened, b.link_x, b.link_y, b.link_z, b.origins, state.origin, h
        )
        b.cells, b.cell_link = np.concatenate([b.cells, cells]), np.concatenate([b.cell_link, links])
        b.rows, b.row_piece = np.concatenate([b.rows, rows]), np.concatenate([b.row_piece, piece])
    if tank.free_surface:
        skins[0].shape.last.update(boundary=b, grid=(h, tank.body_detail, *state.origin))
    return b


def remembered(tank: Tank, state: WaterState, skins: Sequence[WetSurface], origins: Array) -> Boundary:
    """What `rasterise` gives, and gave last time if nothing has moved since; velocities may be those of that time."""
    for skin in skins[:1]:
        b = skin.shape.last.get("boundary")
        if (
            b is not None and b.volume.shape == tank.shape and len(b.skins) == len(skins)
            and skin.shape.last["grid"] == (tank.cell, tank.body_detail, *state.origin)
            and all(old.shape is new.shape and np.array_equal(old.vertices, new.vertices)
                    for old, new in zip(b.skins, skins))
        ):  # fmt: skip
            return b
    return rasterise(tank, state, skins, origins)


def check_apart(tank: Tank, skins: Sequence[WetSurface]) -> None:
    """Raise an error that names two skins, just rasterised, which overlap by more than a cell.

    About a node as deep as a in one skin and b in the other lie balls of both, which a shift of less than a + b cannot
    part.
    """
    there = [(s.shape.name, s.shape.memory["placed"]) for s in skins if s.shape.memory["placed"].distance.size]
    for n, (name, one) in enumerate(there):
        for other, two in there[:n]:
            low = np.maximum(one.box[:, 0], two.box[:, 0])
            high = np.minimum(one.box[:, 1], two.box[:, 1])
            if np.any(low >= high):
                continue
            a, b = (
                p.distance[tuple(slice(lo, hi) for lo, hi in zip(low - p.box[:, 0], high - p.box[:, 0]))]
                for p in (one, two)
            )
            depth = float(np.where((a < 0.0) & (b < 0.0), -(a + b), 0.0).max())
            if depth > tank.cell:
                raise InputError(
                    f"{other} and {name}: overlap by {depth:.3g} m or more, over a cell; contact between bodies is not "
                    "modelled, so keep them apart"
                )


def _copy_fractions(placed: Placed, cut: Cut, b: Boundary) -> None:
    for out, part in zip((b.open_x, b.open_y, b.open_z, b.volume), cut.fractions):
        out[tuple(slice(lo, lo + n) for lo, n in zip(placed.box[:, 0], part.shape))] = part


def _set_lengths(b: Boundary, cuts: Sequence[Cut]) -> None:
    """Collect the faces whose water has a length of its own or that join several pieces."""
    faces = np.concatenate([*(c.faces for c in cuts), b.pieces.faces])
    lengths = np.concatenate([*(c.lengths for c in cuts), np.ones(len(b.pieces.faces))])
    size = np.array([s + 1 for s in b.volume.shape])
    key = ((faces[:, 0] * size[0] + faces[:, 1]) * size[1] + faces[:, 2]) * size[2] + faces[:, 3]
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    b.long_faces, b.lengths = faces[first], lengths[first]
    b.pair_face = place.reshape(-1)[len(faces) - len(b.pieces.faces) :]
    b.long_open = np.empty(len(b.long_faces))
    for axis, opened in enumerate((b.open_x, b.open_y, b.open_z)):
        own = b.long_faces[:, 0] == axis
        b.long_open[own] = opened[tuple(b.long_faces[own, 1:].T)]
    np.subtract.at(b.long_open, b.pair_face, b.pieces.opened)
    b.long_open = np.maximum(b.long_open, 0.0)


def _outside(pieces: Pieces, boxes: Array) -> Pieces:
    """Those pieces whose cells lie in none of these boxes, which have told theirs already."""
    if not len(pieces.cells) or not len(boxes):
        return pieces
    c = pieces.cells[:, None, :]
    new = ~np.all((boxes[:, :, 0] <= c) & (c < boxes[:, :, 1]), axis=2).any(axis=1)
    number = np.where(new, np.cumsum(new) - 1, -2)
    ends = np.where(pieces.ends >= 0, number[pieces.ends], -1)
    keep = np.all(ends != -2, axis=1)
    return Pieces(
        pieces.cells[new], pieces.faces[keep], ends[keep], pieces.opened[keep], pieces.lengths[keep], pieces.thin,
        pieces.inside, pieces.space, pieces.volume[new],
    )  # fmt: skip


def _all_pieces(found: Sequence[Pieces]) -> Pieces:
    if len(found) == 1:
        return found[0]
    before = np.cumsum([0, *(len(p.cells) for p in found)])
    ends = [np.where(p.ends >= 0, p.ends + n, -1) for p, n in zip(found, before)]
    return Pieces(
        np.concatenate([p.cells for p in found]),
        np.concatenate([p.faces for p in found]),
        np.concatenate(ends),
        np.concatenate([p.opened for p in found]),
        np.concatenate([p.lengths for p in found]),
        np.concatenate([p.thin for p in found]),
        np.concatenate([p.inside for p in found]),
        np.concatenate([p.space for p in found]),
        np.concatenate([p.volume for p in found]),
    )


def set_body_velocity(tank: Tank, state: WaterState, b: Boundary, skins: Sequence[WetSurface], twists: Array) -> None:
    """Fill the velocity of bodies at the faces near them."""
    if b.psi is None:
        return
    soft = any(s.drift is not None for s in skins)
    _, corners, drift = gathered(b, skins) if soft else (None, np.zeros((0, 3, 3)), np.zeros((0, 3, 3)))
    for box in b.boxes:
        _face_speed(
            b.psi, b.triangle, corners, drift, np.asarray(twists, float), b.origins, state.origin, tank.cell, box,
            b.link_x, b.link_y, b.link_z, b.body_x, b.body_y, b.body_z,
        )  # fmt: skip


def fastest_point(skins: Sequence[WetSurface], links: Links) -> float:
    """The largest speed [m/s] of any vertex of the skins, taken as part of each link that carries it."""
    most = 0.0
    for skin in skins:
        shape = skin.shape
        drift = np.zeros((0, 3, 3)) if skin.drift is None else _corner_drift(skin)
        most = max(most, _fastest(skin.vertices, shape.mesh.faces, shape.links, links.origins, links.twists, drift))
    return most


def gathered(boundary: Boundary, skins: Sequence[WetSurface]) -> tuple[Array, Array, Array]:
    """Link, corners and corner drift of every triangle of all skins; the boundary keeps those of its own."""
    return boundary.gathered if boundary.gathered is not None and skins is boundary.skins else _gathered(skins)


def _gathered(skins: Sequence[WetSurface]) -> tuple[Array, Array, Array]:
    links = [s.shape.links for s in skins]
    corners = [s.vertices[s.shape.mesh.faces] for s in skins]
    drift = [_corner_drift(s) for s in skins]
    if len(skins) == 1:
        return links[0], corners[0], drift[0]
    return np.concatenate(links), np.concatenate(corners), np.concatenate(drift)


def _corner_drift(skin: WetSurface) -> Array:
    if skin.drift is None:
        return np.zeros((len(skin.shape.mesh.faces), 3, 3))
    return skin.drift if skin.drift.ndim == 3 else skin.drift[skin.shape.mesh.faces]


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _nearest_node(axis, psi, triangle, i, j, k):
    """Triangle of that corner of a face which is nearest to a skin, -1 if none is near."""
    best = 1e30
    t = -1
    for p in range(2):
        for q in range(2):
            if axis == 0:
                a, b, c = i, j + p, k + q
            elif axis == 1:
                a, b, c = i + p, j, k + q
            else:
                a, b, c = i + p, j + q, k
            if triangle[a, b, c] >= 0 and abs(psi[a, b, c]) < best:
                best = abs(psi[a, b, c])
                t = triangle[a, b, c]
    return t


@njit(cache=True)
def _nearer(distance, nearest, base, psi, triangle):
    """Take over the distance of a skin where it is nearer than those before it."""
    for i in range(distance.shape[0]):
        for j in range(distance.shape[1]):
            for k in range(distance.shape[2]):
                if distance[i, j, k] < psi[i, j, k]:
                    psi[i, j, k] = distance[i, j, k]
                    triangle[i, j, k] = nearest[i, j, k] + base if nearest[i, j, k] >= 0 else -1


@njit(cache=True)
def _face_links(psi, triangle, links, box, lx, ly, lz):
    for axis in range(3):
        link = lx if axis == 0 else (ly if axis == 1 else lz)
        i1, j1, k1 = box[0, 1] + (axis == 0), box[1, 1] + (axis == 1), box[2, 1] + (axis == 2)
        for i in range(box[0, 0], i1):
            for j in range(box[1, 0], j1):
                for k in range(box[2, 0], k1):
                    t = _nearest_node(axis, psi, triangle, i, j, k)
                    if t >= 0:
                        link[i, j, k] = links[t]


@njit(cache=True)
def _face_speed(psi, triangle, corners, drift, twists, origins, corner, h, box, lx, ly, lz, sx, sy, sz):
    """Faces outside the box of the bodies keep the speed 0 that they were made with."""
    x = np.empty(3)
    for axis in range(3):
        link = lx if axis == 0 else (ly if axis == 1 else lz)
        speed = sx if axis == 0 else (sy if axis == 1 else sz)
        b, c = (axis + 1) % 3, (axis + 2) % 3
        i1, j1, k1 = box[0, 1] + (axis == 0), box[1, 1] + (axis == 1), box[2, 1] + (axis == 2)
        for i in range(box[0, 0], i1):
            for j in range(box[1, 0], j1):
                for k in range(box[2, 0], k1):
                    n = link[i, j, k]
                    if n < 0:
                        continue
                    x[0] = corner[0] + (i + (0.0 if axis == 0 else 0.5)) * h
                    x[1] = corner[1] + (j + (0.0 if axis == 1 else 0.5)) * h
                    x[2] = corner[2] + (k + (0.0 if axis == 2 else 0.5)) * h
                    # component of v + omega x r
                    s = twists[n, 3 + axis]
                    s += twists[n, b] * (x[c] - origins[n, c]) - twists[n, c] * (x[b] - origins[n, b])
                    if len(drift):
                        t = _nearest_node(axis, psi, triangle, i, j, k)
                        p, q, _ = closest_on_triangle(x[0], x[1], x[2], corners[t, 0], corners[t, 1], corners[t, 2])
                        s += (1.0 - p - q) * drift[t, 0, axis] + p * drift[t, 1, axis] + q * drift[t, 2, axis]
                    speed[i, j, k] = s


@njit(cache=True)
def _fastest(vertices, faces, links, origins, twists, drift):
    most = 0.0
    for t in range(faces.shape[0]):
        n = links[t]
        for s in range(3):
            v = faces[t, s]
            total = 0.0
            for axis in range(3):
                b, c = (axis + 1) % 3, (axis + 2) % 3
                arm_b, arm_c = vertices[v, b] - origins[n, b], vertices[v, c] - origins[n, c]
                speed = twists[n, 3 + axis] + twists[n, b] * arm_c - twists[n, c] * arm_b
                if len(drift):
                    speed += drift[t, s, axis]
                total += speed * speed
            most = max(most, total)
    return np.sqrt(most)
