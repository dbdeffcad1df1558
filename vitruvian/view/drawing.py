"""A stage and a frame as flat arrays of triangles and spheres, ready to be drawn.

`Model` does once what does not change (triangles, normals of rigid meshes, colours); `Model.draw` does what each frame
needs. Triangles that let light through are kept apart from those that do not, since they are drawn in another way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numba import njit
from scipy.spatial import cKDTree

from vitruvian.errors import InputError, unknown_name
from vitruvian.mesh import Tubes, vertex_normals
from vitruvian.mesh.normals import UP
from vitruvian.view import normals
from vitruvian.view.colour import UNTOLD, ColourMap, colour_map, linear_from_srgb
from vitruvian.world import Frame, Lines, Mesh, Points, Stage, Surface

Array = np.ndarray

# How light plays on each layer: gloss (strength of the highlight), softness (how far light wraps around into the
# shade, as under skin), and 1 for what is clear like water where it lets light through, else 0.
FINISH: dict[str, tuple[float, float, float]] = {
    "bones": (0.16, 0.10, 0.0),
    "muscles": (0.34, 0.12, 0.0),
    "skin": (0.10, 0.30, 0.0),
    "flesh": (0.16, 0.25, 0.0),
    "water": (0.90, 0.00, 1.0),
    "spray": (0.30, 0.40, 0.0),
    "eyes": (0.05, 0.15, 0.0),  # what shines is the cornea: its glints are meshes of their own
    "mouth": (0.35, 0.45, 0.0),
    "lips": (0.28, 0.25, 0.0),
    "hair": (0.10, 0.20, 0.0),
}
SPRAY = "spray surface"  # name of the surface around drops that fly together
# Layers that lie within a skin; with none of them shown there is nothing to be seen through it
INNER = frozenset({"bones", "muscles", "ligaments", "elements", "belly", "diaphragm", "lattice", "mesh"})
FOAM = (0.55, 0.25, 0.9, 0.0)  # opacity and finish of that surface: water full of air is white and lets light through
FOAM_COLOUR = (0.94, 0.97, 0.99)
WITHIN = 5.0  # radii from that surface at which a drop is part of it
PLAIN = (0.18, 0.10, 0.0)
MIRRORED = -1.0  # instead of water's 1: an image in its surface
TUBE_SIDES = (14, 8)  # around each tube: when there are few lines, when there are many
MANY_LINES = 120
MOST_VERTICES = 4_000_000  # of the tubes that lines are drawn as


@dataclass
class Triangles:
    """Triangles in the world, with a normal per corner and a colour per vertex."""

    vertices: Array  # [m] (n, 3) float64
    faces: Array  # (m, 3) int32
    normals: Array  # unit, (m, 3, 3) float32
    colours: Array  # linear light, (n, 3) float32
    finish: Array  # per triangle: opacity, gloss, softness, water; (m, 4) float32
    # whether its surface is closed, so that what turns away is not seen, (m,); nowhere if nothing is said
    closed: Array = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        if len(self.closed) != len(self.faces):
            self.closed = np.zeros(len(self.faces), bool)


@dataclass
class Spheres:
    """Balls in the world."""

    centres: Array  # [m] (n, 3) float64
    radius: Array  # [m] (n,) float64
    colours: Array  # linear light, (n, 3) float32


@dataclass
class Drawing:
    """Everything to be drawn at one instant."""

    solid: Triangles
    clear: Triangles
    spheres: Spheres
    shadeless: int = 0  # triangles at the end of `solid` that cast no shade: the floor below everything
    image: Triangles | None = None  # solid, seen in the surface of water alone: `finish` says MIRRORED

    def points(self) -> Array:
        """All places that a camera should see, shape (n, 3): vertices, or sphere centres when there are none."""
        both = np.concatenate([self.solid.vertices, self.clear.vertices])
        if len(both) == 0:
            both = self.spheres.centres
        return both[np.isfinite(both).all(axis=1)]

    def box(self) -> tuple[Array, Array] | None:
        """Corners of the box around `points` [m], None without any."""
        clouds = [c for c in (self.solid.vertices, self.clear.vertices) if len(c)] or [self.spheres.centres]
        spans = [span(np.ascontiguousarray(c, dtype=np.float64)) for c in clouds]
        low, high = np.min([s[0] for s in spans], axis=0), np.max([s[1] for s in spans], axis=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):  # some are no numbers, or there are none
            seen = self.points()
            return (seen.min(axis=0), seen.max(axis=0)) if len(seen) else None
        return low, high


@njit(cache=True, nogil=True)
def span(points):
    """Least and greatest coordinates of points (n, 3), each (3,), not finite where one is not; NumPy takes 20 times as
    long along the first of two axes."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(points.shape[0]):
        for c in range(3):
            x = points[i, c]
            if not np.isfinite(x):
                high[c] = np.inf
            low[c] = min(low[c], x)
            high[c] = max(high[c], x)
    return low, high


def layer_names(stage: Stage) -> tuple[str, ...]:
    """Names of the layers of a stage, in order of first appearance."""
    things: list[Mesh | Surface | Lines | Points] = [*stage.meshes, *stage.surfaces, *stage.lines, *stage.points]
    return tuple(dict.fromkeys(thing.layer for thing in things))


def chosen_layers(stage: Stage, layers: Iterable[str] | None) -> frozenset[str]:
    """The layers to be shown; all for None. An unknown name is an `InputError`."""
    known = layer_names(stage)
    if layers is None:
        return frozenset(known)
    chosen = frozenset(layers)
    for name in sorted(chosen):
        if name not in known:
            raise unknown_name("layer", name, known)
    return chosen


def closed_skin(stage: Stage, layers: frozenset[str]) -> Stage:
    """The stage with a skin that is not seen through where nothing that lies within it is shown."""
    if layers & INNER:
        return stage
    skins = [replace(s, opacity=1.0) if s.layer == "skin" and s.opacity > 0.0 else s for s in stage.surfaces]
    return replace(stage, surfaces=tuple(skins))


class Model:
    """The unchanging half of a drawing."""

    def __init__(self, stage: Stage, layers: Iterable[str] | None = None) -> None:
        self.layers = chosen_layers(stage, layers)
        self.stage = stage = closed_skin(stage, self.layers)
        body = {name: i for i, name in enumerate(stage.bodies)}
        shown = [m for m in stage.meshes if m.layer in self.layers and m.opacity > 0.0]
        both = [m for m in shown if m.opacity >= 1.0], [m for m in shown if m.opacity < 1.0]
        self._rigid = [RigidParts(some, [body.get(m.body, -1) for m in some]) for some in both if some]
        self._surfaces = [SurfacePart(s) for s in stage.surfaces if s.layer in self.layers]
        self._lines = [LinesPart(l) for l in stage.lines if l.layer in self.layers]
        self._points = [p for p in stage.points if p.layer in self.layers]

    def colour_maps(self) -> list[ColourMap]:
        """One per shown value, without repetition."""
        parts: list[SurfacePart | LinesPart] = [*self._surfaces, *self._lines]
        maps = [p.colours for p in parts if p.colours is not None and p.colours.title not in UNTOLD]
        return list({(m.title, m.unit, m.low, m.high): m for m in maps}.values())

    def draw(self, frame: Frame) -> Drawing:
        """Everything to be drawn at `frame`."""
        solid: list[Triangles] = []
        clear: list[Triangles] = []
        parts: list[tuple[float, Triangles | None]] = []
        for rigid in self._rigid:
            parts.append((rigid.opacity, rigid.at(frame)))
        for surface in self._surfaces:
            parts.append((surface.surface.opacity, surface.at(frame)))
        for lines in self._lines:
            parts.append((lines.lines.opacity, lines.at(frame)))
        for opacity, part in parts:
            if part is not None and len(part.faces) and opacity > 0.0:
                (solid if opacity >= 1.0 else clear).append(part)
        return Drawing(join(solid), join(clear), _spheres(self._points, frame))


class RigidParts:
    """Meshes that go with bodies, all solid or all clear, moved by one kernel."""

    def __init__(self, meshes: list[Mesh], bodies: list[int]) -> None:
        parts = []
        for mesh in meshes:
            vertices = np.ascontiguousarray(mesh.vertices, dtype=np.float64)
            ring = normals.around(vertices, np.ascontiguousarray(mesh.faces, dtype=np.int32))
            faces, closed = normals.turned_outwards(vertices, mesh.faces, ring)
            parts.append(
                Triangles(
                    vertices,
                    faces,
                    normals.corner_normals(vertices, faces, ring),
                    _flat_colour(mesh.colour, len(vertices)),
                    _finish(mesh.layer, mesh.opacity, len(faces)),
                    np.full(len(faces), closed),
                )
            )
        self.opacity = max(mesh.opacity for mesh in meshes)
        self.rest = join(parts)
        self.bodies = np.array(bodies)
        self.body_of = np.repeat(self.bodies, [len(p.vertices) for p in parts])
        self.body_of_face = np.repeat(self.bodies, [len(p.faces) for p in parts])

    def at(self, frame: Frame) -> Triangles:
        """Where they are; those of a body that has no place, or no finite one, are left out."""
        poses = np.array(frame.poses, dtype=np.float64).reshape(-1, 7)
        count = max(int(self.bodies.max()) + 1, 1)
        places = np.full((count, 7), np.nan)
        places[: len(poses)] = poses[:count]
        placed = np.isfinite(places).all(axis=1)
        nowhere = np.full((3, 3), np.nan)
        rotations = np.stack(
            [rotation_of(pose[3:]) if ok else nowhere for pose, ok in zip(places, placed, strict=True)]
        )
        rest = self.rest
        vertices, turned = np.empty_like(rest.vertices), np.empty_like(rest.normals)
        _move(rest.vertices, self.body_of, rotations, places, vertices)
        _turn(rest.normals, self.body_of_face, rotations, turned)
        moved = replace(rest, vertices=vertices, normals=turned)
        absent = (self.bodies >= 0) & ~placed[self.bodies]
        if absent.any():
            kept = ~((self.body_of_face >= 0) & ~placed[self.body_of_face])
            moved = Triangles(
                vertices, rest.faces[kept], turned[kept], rest.colours, rest.finish[kept], rest.closed[kept]
            )
        return moved


@njit(cache=True, nogil=True)
def _move(vertices, bodies, rotations, places, out):
    """Each vertex with its body, -1 for one that stays where it is."""
    for i in range(vertices.shape[0]):
        b = bodies[i]
        x, y, z = vertices[i, 0], vertices[i, 1], vertices[i, 2]
        if b < 0:
            out[i, 0], out[i, 1], out[i, 2] = x, y, z
        else:
            for c in range(3):
                out[i, c] = rotations[b, c, 0] * x + rotations[b, c, 1] * y + rotations[b, c, 2] * z + places[b, c]


@njit(cache=True, nogil=True)
def _turn(vectors, bodies, rotations, out):
    """The vectors at the corners of each triangle, (m, 3, 3), with its body."""
    for f in range(vectors.shape[0]):
        b = bodies[f]
        for i in range(3):
            x, y, z = vectors[f, i, 0], vectors[f, i, 1], vectors[f, i, 2]
            if b < 0:
                out[f, i, 0], out[f, i, 1], out[f, i, 2] = x, y, z
            else:
                for c in range(3):
                    out[f, i, c] = rotations[b, c, 0] * x + rotations[b, c, 1] * y + rotations[b, c, 2] * z


class SurfacePart:
    """A surface whose vertices move."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.faces = None if surface.faces is None else np.ascontiguousarray(surface.faces, dtype=np.int32)
        self.around: normals.Around | None = None
        self.closed = False
        self.colours = colour_map(surface.value, surface.unit, surface.value_range) if surface.value else None

    def at(self, frame: Frame) -> Triangles | None:
        now = frame.surfaces.get(self.surface.name)
        if now is None or len(now.vertices) == 0:
            return None
        vertices = np.ascontiguousarray(now.vertices, dtype=np.float64)
        if self.faces is not None:
            faces = self.faces
            if self.around is None:
                self.around = normals.around(vertices, faces)
                faces, self.closed = normals.turned_outwards(vertices, faces, self.around)
                self.faces = faces
            corner = normals.corner_normals(vertices, faces, self.around)
        elif now.faces is not None:
            faces = np.ascontiguousarray(now.faces, dtype=np.int32)
            corner = vertex_normals(vertices, faces, flat=UP).astype(np.float32)[faces]
        else:
            return None
        if self.colours is not None and now.values is not None:
            colours = linear_from_srgb(self.colours(now.values)).astype(np.float32)
        else:
            colours = _flat_colour(self.surface.colour, len(vertices))
        finish = _finish(self.surface.layer, self.surface.opacity, len(faces))
        if self.surface.name.startswith(SPRAY):
            finish = np.broadcast_to(np.array(FOAM, dtype=np.float32), (len(faces), 4))
            colours = _flat_colour(FOAM_COLOUR, len(vertices))
        return Triangles(vertices, faces, corner, colours, finish, np.full(len(faces), self.closed))


class LinesPart:
    """Polylines as tubes."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        n, longest = len(lines.radius), int(np.diff(lines.offsets).max(initial=2))
        muscle = lines.layer == "muscles"
        if muscle:
            rings = min(max(longest, 12 if n > MANY_LINES else 20), 400)
        else:
            rings = min(max(2 * longest, 12), 600) if longest > 2 else 2
        sides = TUBE_SIDES[1] if n > MANY_LINES else TUBE_SIDES[0]
        if n * rings * sides > MOST_VERTICES:
            raise InputError(f"lines {lines.name}: {n} lines with up to {longest} points are too many to draw")
        self.tubes = Tubes(lines.offsets, lines.radius, rings=rings, sides=sides, tapered=muscle)
        self.finish = _finish(lines.layer, lines.opacity, len(self.tubes.faces))
        self.colours = colour_map(lines.value, lines.unit, lines.value_range) if lines.value else None

    def at(self, frame: Frame) -> Triangles | None:
        now = frame.lines.get(self.lines.name)
        if now is None or len(self.lines.radius) == 0:
            return None
        vertices, normal = self.tubes.at(now.points)
        if self.colours is not None and now.values is not None:
            each = linear_from_srgb(self.colours(now.values)).astype(np.float32)
            colours = np.repeat(each, self.tubes.per_line, axis=0)
        else:
            colours = _flat_colour(self.lines.colour, len(vertices))
        faces = self.tubes.faces
        closed = np.ones(len(faces), bool)
        return Triangles(vertices, faces, normal.astype(np.float32)[faces], colours, self.finish, closed)


def rotation_of(quaternion: Array) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z), shape (3, 3)."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _flat_colour(colour: tuple[float, float, float], n: int) -> Array:
    return np.broadcast_to(linear_from_srgb(colour).astype(np.float32), (n, 3))


def _finish(layer: str, opacity: float, n: int) -> Array:
    return np.broadcast_to(np.array([opacity, *FINISH.get(layer, PLAIN)], dtype=np.float32), (n, 4))


def join(parts: list[Triangles]) -> Triangles:
    if not parts:
        nothing = np.zeros((0, 3), dtype=np.float32)
        return Triangles(
            np.zeros((0, 3)),
            np.zeros((0, 3), dtype=np.int32),
            np.zeros((0, 3, 3), dtype=np.float32),
            nothing,
            np.zeros((0, 4), dtype=np.float32),
        )
    shift = np.cumsum([0, *(len(p.vertices) for p in parts[:-1])])
    return Triangles(
        np.concatenate([p.vertices for p in parts]),
        np.concatenate([p.faces + np.int32(s) for p, s in zip(parts, shift, strict=True)]),
        np.concatenate([p.normals for p in parts]).astype(np.float32, copy=False),
        np.concatenate([p.colours for p in parts]),
        np.concatenate([p.finish for p in parts]),
        np.concatenate([p.closed for p in parts]),
    )


def drops_apart(points: Points, frame: Frame) -> Array:
    """Places [m] (n, 3) of points that are drawn as balls: drops within a sheet of water are drawn as that sheet."""
    now = np.asarray(frame.points.get(points.name, np.zeros((0, 3))), dtype=np.float64).reshape(-1, 3)
    now = now[np.isfinite(now).all(axis=1)]
    sheets = [
        patch.vertices for name, patch in frame.surfaces.items() if name.startswith(SPRAY) and len(patch.vertices)
    ]
    if points.layer == "spray" and sheets and len(now):
        away, _ = cKDTree(np.concatenate(sheets)).query(now)
        now = now[away > WITHIN * points.radius]
    return now


def _spheres(points: list[Points], frame: Frame) -> Spheres:
    centres, radius, colours = [np.zeros((0, 3))], [np.zeros(0)], [np.zeros((0, 3), dtype=np.float32)]
    for p in points:
        now = drops_apart(p, frame)
        centres.append(now)
        radius.append(np.full(len(now), p.radius, dtype=np.float64))
        colours.append(_flat_colour(p.colour, len(now)))
    return Spheres(np.concatenate(centres), np.concatenate(radius), np.concatenate(colours))
