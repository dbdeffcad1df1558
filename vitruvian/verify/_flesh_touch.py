"""Skin on skin of the whole body, and flesh that leaves room for bone."""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import human
from vitruvian.anatomy.skin_flesh import body_flesh, bone_level_set
from vitruvian.couple.bone_flesh import BoneFlesh
from vitruvian.flesh import Loads, embed, self_contact
from vitruvian.flesh.lattice import wholly_inside
from vitruvian.mesh.overlap import overlap_parts
from vitruvian.spatial import quaternion_product
from vitruvian.verify.book import Finding, claim

SPACING = 0.03
KNEE = 0.5  # [m], above it the thighs


@claim
def thighs_pressed_together_stay_apart() -> Finding:
    """Thickness of what the thighs share with hips adducted by 7 degrees, in cells; they share 0.7 without contact."""
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=SPACING)
    skeleton, lattice = body.skeleton, flesh.model.lattice
    vertices, faces = flesh.skin.vertices, flesh.skin.faces
    contact = self_contact(lattice, vertices, faces, stiffness=2e7)
    skin, found, newton, settled = embed(lattice, vertices), [], 0, True
    for touch in (contact, None):
        pair = BoneFlesh(skeleton, flesh.model)
        state = pair.start(body.default_q)
        for degrees in (3.0, 4.5, 5.5, 6.25, 7.0):
            half = 0.5 * np.deg2rad(degrees)
            for bone, sign in (("Fe_l", 1.0), ("Fe_r", -1.0)):
                at = skeleton.q_start[skeleton.index(bone)]
                turn = np.array([np.cos(half), 0.0, sign * np.sin(half), 0.0])
                state.bones.q[at : at + 4] = quaternion_product(body.default_q[at : at + 4], turn)
            report = pair.settle(state, Loads(self_contact=touch))
            if touch is not None:
                newton, settled = max(newton, report.newton), settled and report.converged
        parts = overlap_parts(skin.positions(state.flesh.x), faces)
        thighs = [p for p in parts if p[0][2] > KNEE and abs(p[0][0]) < 0.1]
        found.append((sum(p[1] for p in thighs), max((p[2] for p in thighs), default=0.0)))
    (volume, thick), (free_volume, free_thick) = found
    detail = (
        f"{1e3 * thick:.0f} mm and {1e6 * volume:.0f} cm³ against {1e3 * free_thick:.0f} mm and "
        f"{1e6 * free_volume:.0f} cm³ without contact; most Newton steps {newton}"
    )
    return Finding.error(thick / SPACING if settled else np.inf, 0.25, detail=detail)


@claim
def no_cell_of_the_flesh_lies_wholly_in_bone() -> Finding:
    """Share of the 20 mm lattice's cells that lie wholly in bone, a millimetre deep, and of the mass lost with them."""
    body = human(pelvis="fixed")
    whole, flesh = (body_flesh(body, spacing=0.02, hollow=hollow) for hollow in (False, True))
    lattice = flesh.model.lattice
    level = bone_level_set(body)  # on another grid than the one that carved: they agree to a fraction of a millimetre
    bony = wholly_inside(lambda p: level(p) + 1e-3, lattice.origin + 0.02 * lattice.cells, 0.02)
    lost = abs(flesh.model.mass + flesh.bone_mass.sum() - whole.model.mass) / whole.model.mass
    detail = (
        f"{len(lattice.carved)} of {whole.model.lattice.n_cells} cells dropped, {flesh.bone_mass.sum():.2f} kg of "
        f"{whole.model.mass:.2f} kg are the bones' now"
    )
    return Finding.error(float(bony.mean()) + float(lost), 1e-12, detail=detail)
