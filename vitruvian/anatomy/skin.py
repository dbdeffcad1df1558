"""The skin of a body in its default pose: closed, well-conditioned, with every bone inside.

    skin = body_skin(human())     # MakeHuman's surface fitted to our joints (`skin_data`, `skin_pose`)
    skin = grown_skin(body)       # grown from bones and muscles, where those data are absent (`skin_grown`)

The fitted surface becomes a level set, is united smoothly with all bones dilated by a few millimetres (so that none
can lie outside), blurred slightly, meshed again and relaxed (Lee 2008, section 5.2.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin_data import BUILDS, SkinShape, human_mesh
from vitruvian.anatomy.skin_pose import SkinLandmarks, posed_vertices
from vitruvian.anatomy.skin_swell import over_bones
from vitruvian.anatomy.surfaces import bone_surfaces
from vitruvian.array_cache import cached_arrays
from vitruvian.errors import InputError, unknown_name
from vitruvian.mesh import LevelSet, add_mesh, closed_mesh, empty_level_set, isosurface, mesh_level_set, sphere
from vitruvian.mesh.levelset import add_shell, smoothed_level_set
from vitruvian.mesh.remesh import relaxed
from vitruvian.mesh.smooth import split
from vitruvian.skeleton import bone_poses

Array = np.ndarray
Shape = tuple[Array, Array]
COVER = 0.004  # least tissue over bone [m]
MELT = 0.016  # width over which skin and covered bone melt together [m]
DIGITS = ("thumb", "index", "middle", "ring", "little", "Ha_", "Fo_")
DIGIT, FINGERTIP = 0.0033, 0.0045  # cover of finger bones and of their ends [m]: more would web the fingers
FINE = 0.006  # grids below this spacing [m] can hold so thin a cover
CROTCH = 0.10  # below the hip joints [m]
RIBS = ("Rb", "Cc", "Ste")


@dataclass(frozen=True)
class Skin:
    """A closed surface in the default pose [m], outward normals."""

    vertices: Array  # shape (n, 3)
    faces: Array  # shape (m, 3)
    spacing: float  # grid on which it was made [m]

    def level_set(self, spacing: float | None = None) -> LevelSet:
        """Its signed distance, negative inside."""
        h = self.spacing if spacing is None else spacing
        return mesh_level_set(self.vertices, self.faces, h, band=max(3.0 * h, 0.02), name="skin")


def body_skin(body: Body, build: str | SkinShape = "muscular", *, spacing: float = 0.005) -> Skin:
    """The skin of a whole body. build: a named body shape or numbers of your own; spacing: of the surface grid [m]."""
    if isinstance(build, str):
        if build not in BUILDS:
            raise unknown_name("build", build, BUILDS)
        build = BUILDS[build]
    if not 0.002 <= spacing <= 0.02:
        raise InputError(f"skin: a grid of {spacing} m; fingers need 2 to 20 mm")
    bones = world_bones(body)
    missing = [b for b in ("Sku", "Man", "Fo_l", "Ha_l", "Fe_l") if b not in bones]
    if missing:
        raise InputError(f"skin: '{body.name}' lacks {', '.join(missing)}; a part of a body takes grown_skin")
    shape = build
    given = (build, spacing, *measured(body, bones))
    found = cached_arrays("skin", __name__, given, lambda: _make(body, bones, shape, spacing))
    return Skin(found["vertices"], found["faces"], spacing)


def world_bones(body: Body) -> dict[str, Shape]:
    """Bone surfaces in the default pose [m]."""
    poses = bone_poses(body.skeleton, body.default_q)
    out = {}
    for name, (vertices, faces) in bone_surfaces(body).items():
        pose = poses[body.skeleton.index(name)]
        solid = closed_mesh(vertices @ pose[:3, :3].T + pose[:3, 3], faces, name=f"bone '{name}'", quiet=True)
        out[name] = solid
    return out


def measured(body: Body, bones: dict[str, Shape]) -> Iterator[Any]:
    """All that a skin knows of a body, as numbers to a micrometre: joints, and `bones` as `world_bones` has them."""
    yield from (body.name, body.scale, body.skeleton.names, body.default_q)
    yield np.round(bone_poses(body.skeleton, body.default_q)[:, :3, 3], 6)
    for vertices, _ in bones.values():
        yield np.round(vertices, 6)


def bone_level_set(
    body: Body, lower: Array | None = None, upper: Array | None = None, *, spacing: float = 0.005, band: float = 0.03
) -> LevelSet:
    """Signed distance [m] to all bones in the default pose, over the whole body or the box from lower to upper [m]."""
    bones = world_bones(body)
    everything = np.concatenate([v for v, _ in bones.values()])
    low = everything.min(axis=0) if lower is None else lower
    high = everything.max(axis=0) if upper is None else upper
    level = empty_level_set(low, high, spacing, band)
    for name, (vertices, faces) in bones.items():
        if (vertices.max(axis=0) > low).all() and (vertices.min(axis=0) < high).all():
            add_mesh(level, vertices, faces, crossing=True, name=name)
    return level


def bones_outside(skin: Skin, bones: dict[str, Shape]) -> dict[str, float]:
    """How far each bone reaches out of the skin [m]: largest signed distance of its vertices, negative inside; farther
    than 20 mm or three grid cells it is known to be no less than that."""
    level = skin.level_set()
    return {name: float(level(vertices).max()) for name, (vertices, _) in bones.items()}


def listed_depths(out: dict[str, float], band: float) -> str:
    """The five worst of bones that reach out of a skin [m], in words; no distance beyond the band [m] is known."""
    worst = sorted(out, key=lambda n: -out[n])[:5]
    return ", ".join(f"{n} by {'at least ' if out[n] > 0.999 * band else ''}{1e3 * out[n]:.1f} mm" for n in worst)


def closed_skin(skin: LevelSet, bones: dict[str, Shape], *, cover: float = COVER, blur: float | None = None) -> Skin:
    """A surface around a level set and all bones, covered, melted together, blurred and relaxed."""
    large, small = (
        LevelSet(np.full_like(skin.values, skin.band), skin.origin, skin.spacing, skin.band) for _ in range(2)
    )
    for name, (vertices, faces) in bones.items():
        layer = small if name.startswith(DIGITS) else large
        # a grid sees nothing thinner than its cells
        most = max(cover, 0.75 * skin.spacing)
        if name.startswith(DIGITS[:5]) and skin.spacing < FINE:
            most = FINGERTIP if "distal" in name else min(most, DIGIT)
        add_shell(layer, vertices, faces, most, name=f"bone '{name}'")
    # a wide fillet would web the fingers
    united = np.minimum(melted(skin.values, large.values, MELT), small.values)
    width = 0.7 * skin.spacing if blur is None else blur
    level = smoothed_level_set(LevelSet(united, skin.origin, skin.spacing, skin.band), width)
    # blurring eats into convex places: the bones' cover is laid on again after it, thinner but for the thin digits
    # and where there are fingers it would close the gaps between them
    apart = np.clip(4.0 - np.abs(small.values) / (0.25 * skin.band), 0.0, 1.0).astype(np.float32)
    sharper = smoothed_level_set(LevelSet(united, skin.origin, skin.spacing, skin.band), 0.4 * width)
    level = LevelSet((1.0 - apart) * level.values + apart * sharper.values, skin.origin, skin.spacing, skin.band)
    thinner = large.values + np.float32(0.4 * cover)
    values = np.minimum(melted(level.values, thinner, 0.5 * MELT), small.values)
    level = LevelSet(values, skin.origin, skin.spacing, skin.band)
    vertices, faces = largest_part(*isosurface(level))
    return Skin(relaxed(level, vertices, faces), faces, skin.spacing)


def melted(a: Array, b: Array, width: float) -> Array:
    """Smooth union: min(a, b) less a fillet where both are within `width` of each other (Quilez' polynomial)."""
    overlap = np.maximum(1.0 - np.abs(a - b) / np.float32(width), 0.0)
    # deep inside both are clamped to the same band: no fillet there, only near the surface
    near = (np.abs(a) < width) | (np.abs(b) < width)
    return np.minimum(a, b) - np.where(near, overlap * overlap * np.float32(0.25 * width), np.float32(0.0))


def largest_part(vertices: Array, faces: Array) -> Shape:
    """The connected piece with the most triangles: drops bubbles."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]]])
    graph = csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(vertices),) * 2)
    _, label = connected_components(graph, directed=False)
    part = np.bincount(label[faces[:, 0]]).argmax()
    kept = faces[label[faces[:, 0]] == part]
    used, number = np.unique(kept, return_inverse=True)
    return vertices[used], number.reshape(-1, 3)


def _make(body: Body, bones: dict[str, Shape], build: SkinShape, spacing: float) -> dict[str, Array]:
    mesh = human_mesh(build)
    marks = skin_landmarks(body, bones)
    vertices, move = posed_vertices(mesh, marks)
    vertices, skin_faces = split(vertices, mesh.faces)  # or the tip of a bone comes out between vertices
    vertices = over_bones(vertices, skin_faces, bones)
    everything = np.concatenate([vertices, *(v for v, _ in bones.values())])
    level = empty_level_set(everything.min(axis=0), everything.max(axis=0), spacing, max(2.5 * spacing, 0.02))
    add_mesh(level, vertices, skin_faces, crossing=True, name="posed skin")
    for centre, radius in mesh.eyes:  # eyeballs fill their sockets
        ball, faces = sphere(1.0)
        add_mesh(level, move(centre + radius * ball), faces, name="eye")
    hull = ConvexHull(mesh.mouth)  # teeth and tongue fill the mouth
    corners = np.unique(hull.simplices)
    number = np.full(len(mesh.mouth), -1)
    number[corners] = np.arange(len(corners))
    add_mesh(level, move(mesh.mouth[corners]), _outward(hull, number), grow=0.004, name="mouth")
    _part_thighs(level, marks.joints["Fe_l"][2] - CROTCH)
    skin = closed_skin(level, bones)
    return {"vertices": skin.vertices, "faces": skin.faces}


def skin_landmarks(body: Body, bones: dict[str, Shape]) -> SkinLandmarks:
    """What a skin is fitted to: joints, and vertices of `bones` as `world_bones` has them."""
    poses = bone_poses(body.skeleton, body.default_q)
    joints = {name: poses[i, :3, 3] for i, name in enumerate(body.skeleton.names)}
    spine = [n for n in bones if n[0] in "TL" and n[1:].isdigit()]
    trunk = [n for n in bones if n.startswith((*RIBS, "Cla", "Sca", "Pel"))] + spine
    return SkinLandmarks(
        joints,
        bones["Sku"][0],
        bones["Man"][0],
        bones["Fo_l"][0],
        np.concatenate([bones[n][0] for n in trunk]),
    )


def _part_thighs(level: LevelSet, top: float) -> None:
    """Carve a thin wedge between the thighs below `top` [m], in place, where they would touch and fuse."""
    x, _, z = (level.origin[a] + level.spacing * np.arange(level.values.shape[a]) for a in range(3))
    half = 0.005 * np.clip((top - z) / 0.03, 0.0, 1.0)
    wedge = np.where(half[None] > 0.0, half[None] - np.abs(x)[:, None], -level.band)
    np.maximum(level.values, wedge[:, None, :].astype(np.float32), out=level.values)


def _outward(hull: ConvexHull, number: Array) -> Array:
    """Triangles of a convex hull, all turned outward."""
    points = hull.points[hull.simplices]
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    inward = np.sum(normal * hull.equations[:, :3], axis=1) < 0.0
    faces = hull.simplices.copy()
    faces[inward] = faces[inward][:, ::-1]
    return number[faces]
