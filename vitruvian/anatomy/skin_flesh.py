"""Flesh for a body: a lattice inside its skin, tied to its bones, with its muscles' fibres in it.

    flesh = body_flesh(human(), spacing=0.02)
    pair = BoneFlesh(body.skeleton, flesh.model)

Everything is in the body's default pose. A part of a body (an arm) is cut out of the skin by a level set of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.bellies import Belly
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import Skin, body_skin, world_bones
from vitruvian.errors import InputError
from vitruvian.flesh import (
    FleshModel,
    Material,
    attach,
    build_flesh,
    lattice_from_level_set,
    preset,
    sample_muscles,
    sample_surface,
)
from vitruvian.mesh.levelset import LevelSet
from vitruvian.skeleton import bone_poses

Array = np.ndarray
QUALITY_SPACING = {"draft": 0.03, "standard": 0.02, "seed": 0.01}  # [m]


@dataclass(frozen=True)
class BodyFlesh:
    """Flesh in the default pose, and the skin around it."""

    model: FleshModel
    skin: Skin
    bones: dict[str, tuple[Array, Array]]  # surfaces in the default pose [m]


def body_flesh(
    body: Body,
    *,
    spacing: float = 0.02,
    skin: Skin | None = None,
    material: Material | None = None,
    bellies: Sequence[Belly] = (),
    within: Callable[[Array], Array] | None = None,
    reach: tuple[Array, Array] | None = None,
) -> BodyFlesh:
    """Fill a body's skin with tissue.

    spacing: of the lattice [m]; bellies: muscles whose fibres are alive; within: a level set (points (n, 3) -> (n,),
    negative inside) that cuts a part out, `reach` its box [m].
    """
    skin = body_skin(body) if skin is None else skin
    level = skin.level_set(max(skin.spacing, spacing / 3.0))
    bones = world_bones(body)
    require_fit(level, bones, spacing)

    def tissue(points: Array) -> Array:
        inside = level(points)
        return inside if within is None else np.maximum(inside, within(points))

    lower, upper = (skin.vertices.min(axis=0), skin.vertices.max(axis=0)) if reach is None else reach
    lattice = lattice_from_level_set(tissue, lower - 0.5 * spacing, upper + 0.5 * spacing, spacing)
    poses = bone_poses(body.skeleton, body.default_q)
    bone, points, areas = [], [], []
    for name, (vertices, faces) in bones.items():
        at, area = sample_surface(vertices, faces, 0.5 * spacing)
        kept = (tissue(at) < 0.0) & np.all((at > lower) & (at < upper), axis=1)
        bone.append(np.full(int(kept.sum()), body.skeleton.index(name)))
        points.append(at[kept])
        areas.append(area[kept])
    if sum(map(len, points)) == 0:
        raise InputError("body flesh: no bone lies in the part that was cut out")
    tied = attach(lattice, np.concatenate(bone), np.concatenate(points), np.concatenate(areas), poses)
    muscles = sample_muscles(lattice, [(b.name, b.region) for b in bellies], samples=3) if bellies else None
    model = build_flesh(lattice, material or preset("si-paper"), muscles=muscles, attachments=tied)
    return BodyFlesh(model, skin, bones)


def require_fit(level: LevelSet, bones: dict[str, tuple[Array, Array]], spacing: float) -> None:
    """Errors that name the bones that stick out of the skin, and a lattice coarser than a limb."""
    out = {name: float(level(vertices).max()) for name, (vertices, _) in bones.items()}
    bad = sorted((n for n in out if out[n] > 0.3 * level.spacing), key=lambda n: -out[n])
    if bad:
        listed = ", ".join(f"{n} by {1e3 * out[n]:.1f} mm" for n in bad[:5])
        raise InputError(f"body flesh: {len(bad)} bones reach out of the skin: {listed}")
    if spacing > 0.045:
        raise InputError(
            f"body flesh: a lattice of {1e3 * spacing:.0f} mm is coarser than a forearm; take 45 mm or less"
        )
