"""A character as a soft body that can be stepped."""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.characters.character import Character
from vitruvian.couple.soft_body import SoftBody
from vitruvian.couple.soft_explicit import Damping
from vitruvian.flesh.posed.ground import Ground
from vitruvian.flesh.posed.model import posed_flesh
from vitruvian.flesh.posed.touching import Touching, touching
from vitruvian.skeleton import bone_poses

Array = np.ndarray


def soft_body(
    character: Character,
    *,
    young: float | None = None,
    plastic: bool = True,
    gains: tuple[Array, Array] | None = None,
    ground: Ground | None = Ground(),  # noqa: B008  # a tuple of numbers
    damping: Damping | None = None,
    gravity: tuple[float, float, float] | None = None,
    self_contact: bool = False,
) -> SoftBody:
    """young: Young's modulus [Pa] instead of the character's own; plastic False: the reference shape does not follow
    the pose but stays as drawn up; gains: kp and kd of the servos, (n_v,) each; self_contact: limbs and belly do
    not pass through each other."""
    skin = character.skin
    weights = character.weights if plastic else np.eye(len(character.bones))[np.zeros(len(character.fixed), int)]
    flesh = posed_flesh(
        character.tetrahedra, character.node_mass, character.fixed, weights,
        bone_poses(character.skeleton, character.bind_q), skin, skin_areas(character),
        character.young if young is None else young, character.poisson,
    )  # fmt: skip
    kp, kd = character.gains if gains is None else gains
    touch = touch_of(character) if self_contact else None
    return SoftBody(
        character.skeleton, flesh, kp, kd, ground=ground, flesh_damping=damping, gravity=gravity, touch=touch
    )


def touch_of(character: Character) -> Touching:
    """The skin as something that meets itself."""
    tetrahedra, n = character.tetrahedra, character.n_skin
    normals = np.zeros_like(character.vertices)
    for patch in character.patches:
        a, b, c = (character.vertices[patch.faces[:, k]] for k in range(3))
        np.add.at(normals, patch.faces, np.cross(b - a, c - a)[:, None])
    return touching(tetrahedra.nodes, tetrahedra.element_nodes, character.vertices[:n], normals[:n])


def skin_areas(character: Character) -> Array:
    """Area [m²] that each point of the skin stands for: a third of its triangles'; features have none, (n_skin,)."""
    out = np.zeros(len(character.vertices))
    for patch in character.patches:
        corners = character.vertices[patch.faces]
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        np.add.at(out, patch.faces, area[:, None] / 3.0)
    return out[: character.n_skin]
