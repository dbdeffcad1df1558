"""Skin on skin of the whole body, and flesh that leaves room for bone."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from vitruvian.anatomy import body_flesh, human
from vitruvian.anatomy.skin import bone_level_set
from vitruvian.couple import BoneFlesh
from vitruvian.errors import Diverged
from vitruvian.flesh import Loads, embed, self_contact
from vitruvian.flesh.lattice import wholly_inside
from vitruvian.mesh import capsule, isosurface, mesh_level_set
from vitruvian.mesh.overlap import overlap_parts
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import quaternion_product
from vitruvian.verify._flesh_limb import limb
from vitruvian.verify.book import Finding, claim

SPACING = 0.03
KNEE, HIP = 0.5, 1.0  # [m], between them the thighs
AROUND_ELBOW = 0.16  # [m]
AROUND_SHOULDER = 0.35  # [m]
LET_DOWN = 5.0 * np.arange(1, 18)  # of the upper arm [degrees]
FOLD = np.deg2rad(4.5 * np.arange(1, 28))  # steps of a limb that flexes to 121.5 degrees


@claim
def a_folded_limb_finds_balance_in_every_step() -> Finding:
    """Share of the steps that do not converge when a limb flexes to 121.5 degrees with self-contact in its crease."""
    newton, residual, _ = _folded(True)
    detail = f"Newton steps: mean {np.mean(newton):.1f}, most {max(newton)}; largest residual {max(residual):.2f} N"
    return Finding.error(1.0 - len(newton) / len(FOLD), 0.0, detail=detail)


@claim
def walls_of_a_fold_stay_apart() -> Finding:
    """Thickness of what the walls of that crease share, worst step, in cells; it is 2.3 without contact."""
    (newton, _, found), (_, _, free) = _folded(True), _folded(False)
    if len(newton) < len(FOLD):
        return Finding.error(np.inf, 0.25)
    thick, volume = np.max(found, axis=0)
    detail = (
        f"{1e3 * thick:.0f} mm (measured to 4) and {1e6 * volume:.1f} cm³ at the worst step against "
        f"{1e3 * np.max(free, axis=0)[0]:.0f} mm and {1e6 * np.max(free, axis=0)[1]:.0f} cm³ without contact"
    )
    return Finding.error(thick / 0.02, 0.25, detail=detail)


@lru_cache(maxsize=2)
def _folded(touching: bool) -> tuple[list[int], list[float], list[tuple[float, float]]]:
    """Newton steps, residuals [N] and overlaps (thickness [m], volume [m³]) of the steps that converge."""
    pair, q = limb()
    ends = np.zeros(3), np.array([0.4, 0.0, 0.0])
    vertices, faces = isosurface(mesh_level_set(*capsule(*ends, 0.04), 0.008, band=0.03, name="limb"))
    contact = self_contact(pair.model.lattice, vertices, faces) if touching else None
    skin, state = embed(pair.model.lattice, vertices), pair.start(q)
    newton, residual, found = [], [], []
    for angle in FOLD:
        state.bones.q[:] = angle
        try:
            report = pair.settle(state, Loads(self_contact=contact))
        except Diverged:
            break
        if not report.balanced:
            break
        parts = overlap_parts(skin.positions(state.flesh.x), faces)
        newton.append(report.newton)
        residual.append(report.residual)
        found.append((max((p[2] for p in parts), default=0.0), sum(p[1] for p in parts)))
    return newton, residual, found


@claim
def the_elbow_of_the_body_flexes_to_120_degrees() -> Finding:
    """Share of the steps without balance as the body's elbow flexes by 121.5° on 30 mm cells, its crease touching.

    The walls must stay apart as well: what they share may be a quarter of a cell thick at most.
    """
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=SPACING)
    skeleton, lattice = body.skeleton, flesh.model.lattice
    vertices, faces = flesh.skin.vertices, flesh.skin.faces
    elbow = bone_poses(skeleton, body.default_q)[skeleton.index("Ul_l"), :3, 3]
    around = np.linalg.norm(vertices - elbow, axis=1) < AROUND_ELBOW
    contact = self_contact(lattice, vertices, faces, among=around)
    pair, skin = BoneFlesh(skeleton, flesh.model), embed(lattice, vertices)
    state, at = pair.start(body.default_q), skeleton.q_start[skeleton.index("Ul_l")]
    reports, shared = [], [(0.0, 0.0)]
    for angle in FOLD:
        state.bones.q[at] = body.default_q[at] + angle
        try:
            reports.append(pair.settle(state, Loads(self_contact=contact)))
        except Diverged:
            break
        parts = overlap_parts(skin.positions(state.flesh.x), faces)
        parts = [p for p in parts if np.linalg.norm(p[0] - elbow) < AROUND_ELBOW]
        shared.append((max((p[2] for p in parts), default=0.0), sum(p[1] for p in parts)))
    thick, volume = np.max(shared, axis=0)
    missed = 1.0 - sum(r.balanced for r in reports) / len(FOLD)
    detail = (
        f"{len(reports)} of {len(FOLD)} steps; Newton steps: mean {np.mean([r.newton for r in reports]):.0f}, most "
        f"{max(r.newton for r in reports)}; largest residual {max(r.residual for r in reports):.2f} N; at most "
        f"{max(r.left_out for r in reports)} of {int(around.sum())} vertices ignored; walls share at most "
        f"{1e3 * thick:.0f} mm (measured to 4) and {1e6 * volume:.1f} cm³"
    )
    return Finding.error(missed if thick <= 0.25 * SPACING else np.inf, 0.0, detail=detail)


@claim
def thighs_pressed_together_stay_apart() -> Finding:
    """Thickness of what the thighs share with hips adducted by 7 degrees, in cells; they share 0.7 without contact."""
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=SPACING)
    skeleton, lattice = body.skeleton, flesh.model.lattice
    vertices, faces = flesh.skin.vertices, flesh.skin.faces
    inner = (np.abs(vertices[:, 0]) < 0.12) & (vertices[:, 2] > KNEE) & (vertices[:, 2] < HIP)
    contact = self_contact(lattice, vertices, faces, among=inner)
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
                newton, settled = max(newton, report.newton), settled and report.balanced
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
def an_arm_that_comes_down_stays_out_of_the_trunk() -> Finding:
    """Thickness of what arm and trunk share with the arm let down by 85 degrees, in cells, every step in balance."""
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=SPACING)
    skeleton, lattice = body.skeleton, flesh.model.lattice
    vertices, faces = flesh.skin.vertices, flesh.skin.faces
    shoulder = bone_poses(skeleton, body.default_q)[skeleton.index("Hu_l"), :3, 3]
    near = (vertices[:, 0] > 0.05) & (np.linalg.norm(vertices - shoulder, axis=1) < AROUND_SHOULDER)
    contact, skin = self_contact(lattice, vertices, faces, among=near), embed(lattice, vertices)
    at, found, newton, settled = skeleton.q_start[skeleton.index("Hu_l")], [], [], True
    for touch in (contact, None):
        pair = BoneFlesh(skeleton, flesh.model)
        state = pair.start(body.default_q)
        for degrees in LET_DOWN:
            half = 0.5 * np.deg2rad(degrees)
            turn = np.array([np.cos(half), 0.0, np.sin(half), 0.0])  # about the forward axis
            state.bones.q[at : at + 4] = quaternion_product(body.default_q[at : at + 4], turn)
            try:
                report = pair.settle(state, Loads(self_contact=touch))
            except Diverged:
                settled = settled and touch is None
                break
            if touch is not None:
                newton.append(report.newton)
                settled = settled and report.balanced
        parts = overlap_parts(skin.positions(state.flesh.x), faces)
        parts = [p for p in parts if p[0][0] > 0.05 and np.linalg.norm(p[0] - shoulder) < 0.4]
        found.append((sum(p[1] for p in parts), max((p[2] for p in parts), default=0.0)))
    (volume, thick), (free_volume, free_thick) = found
    detail = (
        f"{len(newton)} of {len(LET_DOWN)} steps; {1e3 * thick:.0f} mm (measured to 4) and {1e6 * volume:.0f} cm³ "
        f"against {1e3 * free_thick:.0f} mm and {1e6 * free_volume:.0f} cm³ without contact; Newton steps: mean "
        f"{np.mean(newton):.0f}, most {max(newton)}"
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
