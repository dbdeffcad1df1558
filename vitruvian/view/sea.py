"""Open water in pictures: the sheet around a swimmer carried on to the horizon, cut open towards a low camera.

A window of simulated water ends a metre from the swimmer, and so would its picture. Here its rim is joined to a calm
sheet that goes on all around. From far enough above that is all. A camera near the surface would see nothing of what
is below it, as a person on the pool's edge does not: the water is cut away then along the sides of the window that
face the camera, as by the glass of a basin, and the rim there is the waterline. A camera under the surface is in water.
Water is as clear as a pool's (`CLEAR`, `DIVER`), whatever the surface's own opacity says. Two metres below lies a
floor of half-metre tiles with a lane line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vitruvian.view.bending import apparent, beyond_window, mirrored
from vitruvian.view.colour import linear_from_srgb
from vitruvian.view.cutting import chosen, split
from vitruvian.view.drawing import FINISH, MIRRORED, Drawing, Triangles, join
from vitruvian.view.raster.types import AIR, Medium
from vitruvian.view.raster.water import DEPTH
from vitruvian.world import Frame, Stage, Surface

Array = np.ndarray
FAR = 60.0  # [m] to which the calm sheet goes on
DEEP = 12.0  # [m] of water behind the cut
CLEAR = 0.3  # fading of light per metre, mean over colours [1/m]: enough to tell wet from dry in a foot of water
DIVER = 0.1  # the same where a metre and more of it lies before the swimmer: in the water, or through the cut
STEEP = 0.12  # sine of the angle above the horizon from which one looks into the water anyway
SEAM = 0.05  # [m] of strips between the rim and the large pieces
POOL_DEPTH = 2.0  # [m]
POOL_REACH = 12.0  # [m] of tiles on each side of the window
TILE = 0.5  # [m]
LANE_LINE = 0.25  # [m] wide, as the rules of swimming want it
TILES, LANE_INK = ((0.86, 0.93, 0.95), (0.74, 0.87, 0.91)), (0.08, 0.14, 0.30)
DUSK = 0.6  # light of the depth over that of the surface


@dataclass(frozen=True)
class Rim:
    """The border of a sheet of water: its box and the edges that lie on each side of it."""

    low: Array  # [m] (2,)
    high: Array
    level: float  # [m]
    sides: tuple[tuple[int, float, Array], ...]  # axis, outward sign, ends of the edges [m] (n, 2, 3)


def open_water(stage: Stage) -> Surface | None:
    """The surface of open water that a stage shows; None where there is none, several, or a tank around it."""
    if any(lines.layer == "tank" for lines in stage.lines) or any(mesh.layer == "tank" for mesh in stage.meshes):
        return None
    found = [s for s in stage.surfaces if s.layer == "water" and s.faces is None and s.name == "water"]
    return found[0] if len(found) == 1 else None


def surround(
    drawing: Drawing, surface: Surface, frame: Frame, eye: Array, target: Array, reach: float
) -> tuple[Drawing, Medium]:
    """The drawing with open water around it, and what the camera at `eye` [m] is in, looking at `target` [m].

    reach: size [m] of what is shown, by which the renderer measures how clear water is."""
    now = frame.surfaces.get(surface.name)
    colour = linear_from_srgb(surface.colour)
    if now is None or now.faces is None or len(now.faces) == 0:
        return drawing, AIR
    rim = rim_of(np.asarray(now.vertices, dtype=float), np.asarray(now.faces))
    if rim is None:
        return drawing, AIR
    under = bool(eye[2] < rim.level)
    cut = _cut(rim, eye, target)
    vertices, faces, normals = _around(rim, cut)
    n = len(vertices)
    finish = drawing.clear.finish[drawing.clear.finish[:, 3] > 0.0]
    rest = Triangles(
        vertices,
        faces,
        normals,
        np.broadcast_to(colour.astype(np.float32), (n, 3)),
        np.broadcast_to(finish[0] if len(finish) else np.array([0.5, 0.9, 0.0, 1.0], np.float32), (len(faces), 4)),
    )
    depth = DUSK * colour
    takes = 1.5 - colour / colour.max()
    clear = join([drawing.clear, rest])
    clear.finish = np.array(clear.finish)
    clear.finish[clear.finish[:, 3] > 0.0, 0] = 1.0 - np.exp(-(DIVER if cut else CLEAR) * DEPTH * reach)
    medium = Medium(True, under, *depth.tolist(), *(DIVER * takes).tolist())
    floor, own = pool_floor(rim), drawing.solid
    if under:  # what sticks out of the water is seen in two places: through the surface, and below it
        own = split(own, rim.level - own.vertices[:, 2])
        clear = split(clear, rim.level - clear.vertices[:, 2], clear.finish[:, 3] > 0.0)
    solid, spheres = join([own, floor]), drawing.spheres
    image = _image(clear, own, eye, rim.level) if under else None
    if not cut:
        solid = replace(solid, vertices=apparent(solid.vertices, eye, rim.level))
        bent = np.zeros(len(clear.vertices), dtype=bool)
        bent[clear.faces[clear.finish[:, 3] <= 0.0]] = True
        clear.vertices = np.where(bent[:, None], apparent(clear.vertices, eye, rim.level), clear.vertices)
        spheres = replace(spheres, centres=apparent(spheres.centres, eye, rim.level))
    return Drawing(solid, clear, spheres, len(floor.faces), image), medium


def _image(clear: Triangles, solid: Triangles, eye: Array, level: float) -> Triangles:
    """What the surface mirrors to an eye below it: the skin and head where there is skin, else all that is solid.

    No triangle of these crosses the surface."""
    skin = clear.finish[:, 3] <= 0.0
    head = np.isclose(solid.finish[:, 1:4], FINISH["skin"]).all(axis=1)
    of = join([chosen(clear, skin), chosen(solid, head)]) if skin.any() else solid
    of = chosen(of, (of.vertices[:, 2][of.faces] < level).all(axis=1))
    image = replace(of, vertices=mirrored(of.vertices, level))
    image = split(image, beyond_window(image.vertices, eye))
    middle = image.vertices[image.faces].mean(axis=1)
    image = chosen(image, beyond_window(middle, eye) > 0.0)
    finish = image.finish.copy()
    finish[:, 0], finish[:, 3] = 1.0, MIRRORED
    # Normals stay those of the thing itself: light falls on it, not on its image.
    faces, normals = (np.ascontiguousarray(of[:, [0, 2, 1]]) for of in (image.faces, image.normals))
    return replace(image, faces=faces, normals=normals, finish=finish)


def outside(rim: Rim, eye: Array, target: Array) -> tuple[Array, Array]:
    """Vertices [m] and faces of the water beyond the window, cut open towards a low camera."""
    return _around(rim, _cut(rim, eye, target))[:2]


def _cut(rim: Rim, eye: Array, target: Array) -> list[tuple[int, float]]:
    """Axis and sign of the sides along which water is cut away for a camera at `eye` [m]."""
    above = eye[2] - rim.level
    if not 0.0 <= above < STEEP * np.linalg.norm(eye - target):
        return []
    ends = {-1.0: rim.low, 1.0: rim.high}
    return [(axis, sign) for axis, sign, _ in rim.sides if sign * (eye[axis] - ends[sign][axis]) > 0.0]


def pool_floor(rim: Rim) -> Triangles:
    """Tiles under the water and a dark line along the lane, fixed in the world, so that size and speed can be seen."""
    level, middle = rim.level - POOL_DEPTH, 0.5 * (rim.low + rim.high)
    first = np.floor((middle - POOL_REACH) / TILE).astype(int)
    i, j = (k.ravel() for k in np.meshgrid(*(first[c] + np.arange(int(2 * POOL_REACH / TILE)) for c in (0, 1))))
    low = np.stack([i * TILE, j * TILE, np.full(len(i), level)], axis=1)
    tiles = low[:, None] + TILE * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    pieces = TILE * np.unique(j)[:, None] + TILE * np.array([0.0, 0.0, 1.0, 1.0])  # as short as tiles: water bends it
    across = np.broadcast_to(0.5 * LANE_LINE * np.array([-1.0, 1.0, 1.0, -1.0]), pieces.shape)
    line = np.stack([across, pieces, np.full(pieces.shape, level + 0.004)], axis=2)
    corners = np.concatenate([tiles, line])
    shades = linear_from_srgb(np.array(TILES))[(i + j) % 2]
    inks = np.concatenate([shades, np.broadcast_to(linear_from_srgb(np.array(LANE_INK)), (len(line), 3))])
    start = 4 * np.arange(len(corners), dtype=np.int32)[:, None]
    faces = np.concatenate([start + np.array([0, 1, 2]), start + np.array([0, 2, 3])]).astype(np.int32)
    return Triangles(
        corners.reshape(-1, 3),
        faces,
        np.broadcast_to(np.array([0.0, 0.0, 1.0], np.float32), (len(faces), 3, 3)),
        np.repeat(inks, 4, axis=0).astype(np.float32),
        np.broadcast_to(np.array([1.0, 0.1, 0.0, 0.0], np.float32), (len(faces), 4)),
    )


def rim_of(vertices: Array, faces: Array) -> Rim | None:
    """The border of a sheet whose outermost edges lie on a box; None if it has none on some side."""
    a, b = (np.concatenate([faces[:, i] for i in order]).astype(np.int64) for order in ((0, 1, 2), (1, 2, 0)))
    edges, count = np.unique(np.minimum(a, b) * len(vertices) + np.maximum(a, b), return_counts=True)
    border = vertices[np.stack(np.divmod(edges[count == 1], len(vertices)), axis=1)]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    sides = []
    for axis in (0, 1):
        for sign, end in ((-1.0, low[axis]), (1.0, high[axis])):
            on = border[np.abs(border[:, :, axis] - end).max(axis=1) < 1e-4 * (high[axis] - low[axis])]
            if len(on) == 0:
                return None
            sides.append((axis, sign, on))
    level = float(np.median(np.concatenate([s[2] for s in sides])[:, :, 2]))
    return Rim(low[:2], high[:2], level, tuple(sides))


def _around(rim: Rim, cut: list[tuple[int, float]]) -> tuple[Array, Array, Array]:
    """Vertices, faces and normals of the sheet beyond the rim, and of the walls along the sides that are cut."""
    quads, facing = [], []
    ends = {-1.0: rim.low, 1.0: rim.high}

    def add(a: Array, b: Array, c: Array, d: Array, normal: Array) -> None:
        quads.append(np.stack(np.broadcast_arrays(a, b, c, d), axis=-2).reshape(-1, 4, 3))
        facing.append(np.broadcast_to(normal, (len(quads[-1]), 3)))

    up, down = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -DEEP])
    for axis, sign, edges in rim.sides:
        out = np.zeros(3)
        out[axis] = sign
        # Narrow strips meet the rim's own edges; beyond them one large piece is drawn much faster.
        seam, away, normal = edges.copy(), FAR * out, up
        if (axis, sign) in cut:
            seam[:, :, 2], away, normal = edges[:, :, 2].min() - SEAM, down, out
        else:
            seam[:, :, axis] += sign * SEAM
            seam[:, :, 2] = rim.level
        add(edges[:, 0], edges[:, 1], seam[:, 1], seam[:, 0], normal)
        points = seam.reshape(-1, 3)
        one, other = points[points[:, 1 - axis].argmin()], points[points[:, 1 - axis].argmax()]
        add(one, other, other + away, one + away, normal)
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            corner = np.array([ends[sx][0], ends[sy][1], rim.level])
            x, y = np.array([sx * FAR, 0.0, 0.0]), np.array([0.0, sy * FAR, 0.0])
            gone = (0, sx) in cut, (1, sy) in cut
            if not any(gone):
                add(corner, corner + x, corner + x + y, corner + y, up)
            elif gone == (True, False):  # the wall goes on along the sheet of the other side
                add(corner, corner + y, corner + y + down, corner + down, np.array([sx, 0.0, 0.0]))
            elif gone == (False, True):
                add(corner, corner + x, corner + x + down, corner + down, np.array([0.0, sy, 0.0]))
    corners = np.concatenate(quads)
    first = 4 * np.arange(len(corners))[:, None]
    faces = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])]).astype(np.int32)
    vertices, outward = corners.reshape(-1, 3), np.tile(np.concatenate(facing), (2, 1))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * outward).sum(axis=1) < 0.0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return vertices, faces, np.repeat(outward[:, None], 3, axis=1).astype(np.float32)
