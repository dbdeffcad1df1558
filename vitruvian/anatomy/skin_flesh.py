"""Flesh for a body: a lattice inside its skin, tied to its bones, with its muscles' fibres in it.

    flesh = body_flesh(human(), spacing=0.02)
    pair = BoneFlesh(body.skeleton, flesh.model)

Everything is in the body's default pose. A part of a body (an arm) is cut out of the skin by a level set of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.bellies import Belly
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import Skin, body_skin, bone_level_set, listed_depths, world_bones
from vitruvian.errors import InputError, unknown_name
from vitruvian.flesh import (
    FleshModel,
    Lattice,
    Material,
    attach,
    build_flesh,
    lattice_from_level_set,
    preset,
    sample_muscles,
    sample_surface,
)
from vitruvian.flesh.lattice import wholly_inside
from vitruvian.mesh import LevelSet, closed_mesh
from vitruvian.muscle import path_points
from vitruvian.skeleton import bone_poses

Array = np.ndarray
FOOTPRINT = 0.010  # [m] radius in which a muscle grows to bone: tendons' footprints measure 1 to 5 cm²
LOOSE = 0.01  # of the full tie elsewhere: 1e6 N/m³, a millimetre of loose connective tissue of 1 kPa
WHOLE = {"Sku", "Pel", "Fo_l", "Fo_r", "Ha_l", "Ha_r"}  # bones that a whole body has
COARSEST = 0.045  # [m] of a lattice: a forearm is two cells thick
QUALITY_SPACING = {"draft": 0.03, "standard": 0.02, "fine": 0.01}  # [m]


@dataclass(frozen=True)
class BodyFlesh:
    """Flesh in the default pose, and the skin around it."""

    model: FleshModel
    skin: Skin
    bones: dict[str, tuple[Array, Array]]  # surfaces in the default pose [m]
    bone_mass: Array  # tissue's mass in place of which there is bone [kg], shape (n_bones,): the bones' own to carry


def body_flesh(
    body: Body,
    *,
    spacing: float = 0.02,
    skin: Skin | None = None,
    material: Material | None = None,
    bellies: Sequence[Belly] = (),
    within: Callable[[Array], Array] | None = None,
    reach: tuple[Array, Array] | None = None,
    ties: str = "surface",
    hollow: bool = True,
    mass: float | None = None,
    organs: Sequence[tuple[Callable[[Array], Array], Material]] = (),
) -> BodyFlesh:
    """Fill a body's skin with tissue.

    spacing: of the lattice [m]; bellies: muscles whose fibres are alive; within: a level set (points (n, 3) -> (n,),
    negative inside) that cuts a part out, `reach` its box [m]. ties: "surface" grows the flesh to the whole surface of
    every bone (Lee 2008 and Si 2013); "footprints" only to where muscles end on it, and lets it slide elsewhere.
    hollow: leave out cells that lie wholly in bone; what they would weigh is `bone_mass`. mass: [kg] of everything in
    the whole skin, from which the tissue's mean density follows (there is air in it, and the skin is wider than the
    body of the mass table); the body's own if left out, the material's density for a part of a body. organs: level
    sets, and what cells are made of whose middles lie in them; they keep the density of the flesh.
    """
    if ties not in ("surface", "footprints"):
        raise unknown_name("ties", ties, ("surface", "footprints"))
    if not 0.0 < spacing <= COARSEST:
        raise InputError(
            f"body flesh: a lattice of {1e3 * spacing:.0f} mm; a forearm asks for {1e3 * COARSEST:.0f} mm or less"
        )
    if skin is None:
        skin = body_skin(body)
    else:  # from anywhere: closed, turned outward, with a warning that says what was done
        skin = Skin(*closed_mesh(skin.vertices, skin.faces, name="skin"), skin.spacing)
    level = skin.level_set(max(skin.spacing, spacing / 3.0))
    bones = world_bones(body)
    require_fit(level, bones)

    def tissue(points: Array) -> Array:
        inside = level(points)
        return inside if within is None else np.maximum(inside, within(points))

    lower, upper = (skin.vertices.min(axis=0), skin.vertices.max(axis=0)) if reach is None else reach
    solid = bone_level_set(body, lower - spacing, upper + spacing, band=0.01) if hollow else None
    lattice = lattice_from_level_set(
        tissue, lower - 0.5 * spacing, upper + 0.5 * spacing, spacing, solid=solid, warn=False
    )  # fingers and toes are thin on any lattice of a body
    poses = bone_poses(body.skeleton, body.default_q)
    bone, points, areas = [], [], []
    ends = muscle_ends(body) if ties == "footprints" else {}
    for name, (vertices, faces) in bones.items():
        at, area = sample_surface(vertices, faces, 0.5 * spacing)
        kept = (tissue(at) < 0.0) & np.all((at > lower) & (at < upper), axis=1)
        if solid is not None:  # where bones cross each other there is no flesh to tie
            cell = np.floor((at - lattice.origin) / spacing)
            kept &= ~wholly_inside(solid, lattice.origin + spacing * cell, spacing)
        bone.append(np.full(int(kept.sum()), body.skeleton.index(name)))
        points.append(at[kept])
        # a looser tie counts as less bone
        areas.append(area[kept] * (tightness(at, ends.get(name)) if ties == "footprints" else np.ones(len(at)))[kept])
    if sum(map(len, points)) == 0:
        raise InputError("body flesh: no bone lies in the part that was cut out")
    tied = attach(lattice, np.concatenate(bone), np.concatenate(points), np.concatenate(areas), poses)
    muscles = sample_muscles(lattice, [(b.name, b.region) for b in bellies], samples=3) if bellies else None
    material = material or preset("si-paper")
    if mass is None and set(bones) >= WHOLE:
        mass = body.skeleton.mass
    if mass is not None:
        if not 0.0 < mass < np.inf:
            raise InputError(f"body flesh: the mass must be positive and finite, not {mass} kg")
        material = replace(material, density=mass / enclosed_volume(skin))
    middles = lattice.nodes[lattice.element_nodes].mean(axis=1)
    of_cell = np.zeros(len(middles), int)
    for number, (inside, _) in enumerate(organs, 1):
        of_cell[inside(middles) < 0.0] = number
    materials = [material, *(replace(m, density=material.density) for _, m in organs)]
    model = build_flesh(lattice, materials, of_cell=of_cell, muscles=muscles, attachments=tied)
    return BodyFlesh(model, skin, bones, material.density * carved_volumes(lattice, body, bones))


def enclosed_volume(skin: Skin) -> float:
    """What a skin holds [m³], by the divergence theorem."""
    a, b, c = (skin.vertices[skin.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def carved_volumes(lattice: Lattice, body: Body, bones: dict[str, tuple[Array, Array]]) -> Array:
    """Volume of the lattice's cells in bone [m³] by the bone whose surface is nearest, shape (n_bones,)."""
    number = np.concatenate([np.full(len(v), body.skeleton.index(name)) for name, (v, _) in bones.items()])
    nearest = cKDTree(np.concatenate([v for v, _ in bones.values()])).query(lattice.carved[:, :3])[1]
    return np.bincount(number[nearest], lattice.carved[:, 3], body.skeleton.n_bones)


def muscle_ends(body: Body) -> dict[str, Array]:
    """Where muscles begin and end on each bone in the default pose [m], by bone."""
    model = body.muscles
    at = path_points(model, bone_poses(body.skeleton, body.default_q))
    ends = np.concatenate([model.offsets[:-1], model.offsets[1:] - 1])
    return {body.skeleton.names[b]: at[ends[model.bone[ends] == b]] for b in np.unique(model.bone[ends])}


def tightness(points: Array, ends: Array | None) -> Array:
    """How firmly flesh holds to points (n, 3) of one bone, shape (n,): 1 about the muscles' ends, else `LOOSE`."""
    out = np.full(len(points), LOOSE)
    if ends is not None and len(points):
        feet = points[cKDTree(points).query(ends)[1]]  # paths end near the surface, not on it
        out[cKDTree(feet).query(points)[0] <= FOOTPRINT] = 1.0
    return out


def require_fit(level: LevelSet, bones: dict[str, tuple[Array, Array]]) -> None:
    """An error that names the bones that stick out of the skin."""
    out = {name: float(level(vertices).max()) for name, (vertices, _) in bones.items()}
    bad = {n: depth for n, depth in out.items() if depth > 0.3 * level.spacing}
    if bad:
        raise InputError(f"body flesh: {len(bad)} bones reach out of the skin: {listed_depths(bad, level.band)}")
