"""A head to look at, for bodies whose skin is drawn but whose face does not move: skin, eyes, brows, lips, hair.

It goes with the skull as one rigid thing, so that it costs a recording nothing. The skin reaches down to the throat,
where the skin of the body takes over: `covered` says which of that skin's vertices lie under it.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.face import hair, look
from vitruvian.anatomy.face.grids import triangles
from vitruvian.anatomy.face.head_mesh import HeadMesh, head_mesh
from vitruvian.anatomy.face.lids import AWAKE, lids, orbits
from vitruvian.anatomy.skin import measured, world_bones
from vitruvian.anatomy.skin_data import SkinShape
from vitruvian.anatomy.skin_swell import over_level
from vitruvian.array_cache import cached_arrays
from vitruvian.mesh import add_mesh, empty_level_set, join
from vitruvian.mesh.catmull_clark import catmull_clark
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin

Array = np.ndarray
Shape = tuple[Array, Array]
THIN, GRID, BAND = 0.003, 0.003, 0.03  # [m] skin over the skull; grid and band of its level set
UPPER_LIP, MOUTH = 467, 0.045  # of the base mesh; [m] around it that is left alone
LIDS = (1.3, 2.0)  # radii of the globe about its centre: skin nearer is lid, skin farther lies over the skull
BELOW = 0.014  # [m] under chin and nape to which the skin of the head reaches
HAIR = 0.4  # of the strands that a head by itself has
SKULL, MOSTLY = "Sku", 0.87  # bone that carries the head; least weight of it on skin that the head replaces, which ends
# 11 mm above the head's rim: less would leave the body's coarser mouth and cheeks in its face


def drawn_head(body: Body, build: str | SkinShape = "muscular") -> dict[str, Shape]:
    """Parts of a head by name ("skin", "lips", "brows", "lashes", "hair", those of both eyes), in the skull [m]."""
    given = (str(build), *measured(body, world_bones(body)))
    found = cached_arrays("drawn-head", __name__, given, lambda: _make(body, build))
    names = sorted({name.split(" ")[0] for name in found})
    return {name: (found[f"{name} vertices"], found[f"{name} faces"]) for name in names}


def covered(skin: BoundSkin) -> Array:
    """Which triangles of a body's skin the head replaces, bool, shape (m,)."""
    if SKULL not in skin.names:
        return np.zeros(len(skin.faces), bool)
    own = skin.dense_weights()[:, skin.names.index(SKULL)] > MOSTLY
    return np.asarray(own[skin.faces].all(axis=1))


def _make(body: Body, build: str | SkinShape) -> dict[str, Array]:
    head = head_mesh(body, build)
    skull = bone_poses(body.skeleton, body.default_q)[body.skeleton.index(SKULL)]
    refine, quads = catmull_clark(head.quads, len(head.vertices))
    bare = np.asarray(refine @ head.vertices)
    faces = triangles(quads[above_throat(head, bare[quads].mean(axis=1))])
    fine = _over_skull(head, np.asarray(refine @ _awake(head)), faces)
    parts: dict[str, Shape] = {"skin": (fine, faces)}
    for name, riders in (
        ("lips", look.lips(head, bare, quads)),
        ("brows", hair.brows(head, bare, faces)),
        ("lashes", hair.lashes(head, bare, faces)),
    ):
        parts[name] = (riders.at(fine), riders.faces)
    for name, (vertices, triangle) in hair.hair(head, HAIR).items():
        parts[name] = (_along(vertices, bare, fine - bare), triangle)
    for name, (vertices, triangle) in look.eye_meshes(head.globe).items():
        parts[name] = join(*((vertices + centre, triangle) for centre in head.eyes))
    out = {}
    for name, (vertices, triangle) in parts.items():
        used, number = np.unique(triangle, return_inverse=True)
        out[f"{name} vertices"] = (vertices[used] - skull[:3, 3]) @ skull[:3, :3]
        out[f"{name} faces"] = number.reshape(-1, 3)
    return out


def _awake(head: HeadMesh) -> Array:
    """Vertices of the head [m] with its eyes open and its nostrils hollow."""
    out = head.vertices + look.nostrils(head)
    for lid in lids(head):
        out[lid.vertex] += lid.displaced(AWAKE, 0.0)
    for orbit in orbits(head):
        orbit.keep_out(out)
    return out


def _over_skull(head: HeadMesh, vertices: Array, faces: Array) -> Array:
    """The skin, moved out where skull or jaw reach through it; lips and lids stay."""
    used = np.unique(faces)
    level = empty_level_set(vertices[used].min(axis=0), vertices[used].max(axis=0), GRID, BAND)
    for name, (points, triangle) in head.bones.items():
        add_mesh(level, points, triangle, grow=THIN, crossing=True, name=f"bone '{name}'")
    lips = head.vertices[np.flatnonzero(head.base == UPPER_LIP)[0]]
    free = np.linalg.norm(vertices - lips, axis=1) > MOUTH
    part = np.ones(len(vertices))  # of the way out that is gone: less and less towards the lids
    for eye in head.eyes:
        far = np.linalg.norm(vertices - eye, axis=1) / head.globe
        free &= far > LIDS[0]
        part = np.minimum(part, np.interp(far, LIDS, (0.0, 1.0)))
    number = np.full(len(vertices), -1)
    number[used] = np.arange(len(used))
    out = vertices.copy()
    over = over_level(vertices[used], number[faces], level, free[used])
    out[used] += part[used, None] * (over - vertices[used])
    return out


def _along(vertices: Array, points: Array, moved: Array) -> Array:
    """Vertices [m] (n, 3) that go along with the nearest of `points`, which have moved by `moved` (m, 3)."""
    far, near = cKDTree(points).query(vertices, k=4)
    weight = 1.0 / (far + 1e-4)
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(vertices + np.einsum("nk,nkc->nc", weight, moved[near]))


def above_throat(head: HeadMesh, points: Array) -> Array:
    """Which points [m] (n, 3), head upright, lie above a slope from under the chin to under the nape, bool, (n,)."""
    jaw, skull = head.bones["Man"][0], head.bones[SKULL][0]
    back = skull[skull[:, 1] > np.quantile(skull[:, 1], 0.9)]
    chin, nape = jaw[jaw[:, 2].argmin()], back[back[:, 2].argmin()]
    height = np.interp(points[:, 1], [chin[1], nape[1]], [chin[2] - BELOW, nape[2] - BELOW])
    return np.asarray(points[:, 2] > height)
