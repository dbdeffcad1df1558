"""The face: volume, bone, lips, lids, modes against the full solution, and units against an artist's shapes."""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.anatomy.face import Face, make_face
from vitruvian.anatomy.face.basis import full_solution
from vitruvian.anatomy.face.binding import skin_embedding
from vitruvian.anatomy.face.compare import SHAPES, likeness
from vitruvian.anatomy.face.grids import mouth_corners
from vitruvian.anatomy.face.lids import AWAKE
from vitruvian.anatomy.face.mouth import mouth_contact
from vitruvian.anatomy.face.tissue import face_tissue
from vitruvian.control.face import FaceDriver, FaceState, effort, expressions
from vitruvian.flesh import tissue_volume
from vitruvian.verify.book import Finding, claim, worst

Array = np.ndarray


@cache
def _face() -> Face:
    return make_face()


@cache
def _settled() -> dict[str, FaceState]:
    driver = FaceDriver(_face())
    return {name: driver.settled(units) for name, units in expressions().items()}


@claim
def face_keeps_its_volume() -> Finding:
    """Volume of the face's tissue in every expression over that at rest."""
    face = _face()
    lattice = face.tissue.lattice
    rest = tissue_volume(lattice, lattice.nodes)
    off = {n: tissue_volume(lattice, face.nodes(s.q, s.jaw)) / rest - 1.0 for n, s in _settled().items()}
    name = max(off, key=lambda n: abs(off[n]))
    return Finding.error(worst(off.values()), 0.01, "", f"{len(off)} expressions, worst {name}")


@claim
def no_skin_in_bone() -> Finding:
    """How far skin reaches into skull or jaw in any expression, beyond what it does at rest."""
    face = _face()
    deep = {}
    for name, state in _settled().items():
        deep[name] = face.depth_in_bone(state.q, state.jaw)
    name = max(deep, key=lambda n: deep[n])
    return Finding.error(1e3 * max(worst(deep.values()), 0.0), 0.5, "mm", f"{len(deep)} expressions, worst {name}")


@claim
def lips_do_not_cross() -> Finding:
    """How far one lip reaches into the other in any expression, at their facing pairs."""
    face = _face()
    deep = {n: float(-face.mouth.lips.gaps(face.nodes(s.q, s.jaw)).min()) for n, s in _settled().items()}
    name = max(deep, key=lambda n: deep[n])
    return Finding.error(1e3 * max(deep[name], 0.0), 0.5, "mm", f"{face.mouth.lips.n_vertices} pairs, worst {name}")


@claim
def lips_close() -> Finding:
    """Gap between the lips of a calm face, narrowest of each column of 4 mm, widest of all columns."""
    face = _face()
    at = face.control_points(np.zeros(face.n_modes))
    upper, lower = (at[face.lip_pairs[:, k]] for k in (0, 1))
    column, gap = np.floor(upper[:, 0] / 0.004).astype(int), upper[:, 2] - lower[:, 2]
    narrow = [float(gap[column == c].min()) for c in np.unique(column)]
    return Finding.error(1e3 * max(worst(narrow), 0.0), 0.3, "mm", f"{len(narrow)} columns")


@claim
def lids_close() -> Finding:
    """Part of the globe seen between the lids when they are shut, over that when they are open."""
    face = _face()
    seen = [face.eye_seen(np.tile([shut, 0.0], (2, 1))) for shut in (AWAKE, 0.5, 1.0)]
    return Finding.error(seen[2] / seen[0], 0.01, "", ", ".join(f"{1e6 * a:.0f} mm²" for a in seen))


@claim
def lids_stay_outside_the_globe() -> Finding:
    """How far lids reach into the globes from open to shut, beyond what they do at rest."""
    face = _face()
    deep = []
    for shut in np.linspace(-0.3, 1.0, 14):
        for lid in face.lids:
            at = np.linalg.norm(lid.radius[:, None] * lid.direction + lid.displaced(shut, 0.3), axis=1)
            deep.append(float((np.minimum(lid.radius, face.head.globe) - at).max()))
    return Finding.error(1e3 * max(worst(deep), 0.0), 0.1, "mm", "14 positions")


@claim
def modes_hold_the_full_solution() -> Finding:
    """Skin by the modes against the tissue solved in full, rms over skin that moves by 1 mm; three expressions."""
    face, driver = _face(), FaceDriver(_face())
    off, told = [], []
    for name in ("joy", "anger", "sadness"):
        asked = effort(expressions()[name])
        x = full_solution(face.tissue, face.mouth, asked.activation)
        state = driver.settled(expressions()[name])
        full = face.embedding.positions(x) - face.skin_rest
        ours = face.embedding.positions(face.nodes(state.q)) - face.skin_rest
        moved = (np.linalg.norm(full, axis=1) > 1e-3) & (face.share > 0.5)
        miss = np.linalg.norm(full - ours, axis=1)[moved]
        off.append(float(np.sqrt(np.mean(miss**2))))
        told.append(f"{name} {1e3 * off[-1]:.2f} (moves {1e3 * np.linalg.norm(full[moved], axis=1).max():.1f})")
    return Finding.error(1e3 * worst(off), 0.6, "mm", ", ".join(told))


@claim
def finer_cells_smile_alike() -> Finding:
    """Way of the mouth's corners in a smile on cells of 6 mm over that on cells of 4 mm, both solved in full."""
    head = _face().head
    asked = effort({"AU12": 1.0}).activation
    ways = []
    for spacing in (0.006, 0.004):
        tissue = face_tissue(head, spacing)
        skin, share = skin_embedding(head, tissue)
        x = full_solution(tissue, mouth_contact(head, tissue, skin, share)[0], asked)
        moved = skin.positions(x) - skin.positions(tissue.lattice.nodes)
        near = [int(np.linalg.norm(head.vertices - c, axis=1).argmin()) for c in mouth_corners(head)]
        ways.append(moved[near].mean(axis=0) * (0.0, 1.0, 1.0) + np.abs(moved[near]).mean(axis=0) * (1.0, 0.0, 0.0))
    told = " and ".join("(" + ", ".join(f"{1e3 * c:.1f}" for c in way) + ") mm" for way in ways)
    return Finding.within(float(np.linalg.norm(ways[0]) / np.linalg.norm(ways[1])), 0.8, 1.25, "", told)


@claim
def units_move_the_skin_as_an_artist_would() -> Finding:
    """Median over action units of the cosine between our motion and that of the data package's shape."""
    face, driver = _face(), FaceDriver(_face())
    calm, found = driver.start(), {}
    rest = face.control_points(calm.q, calm.jaw, calm.lid_positions)
    for unit in SHAPES:
        state = driver.settled({unit: 1.0})
        moved = face.control_points(state.q, state.jaw, state.lid_positions) - rest
        found[unit] = likeness(face, moved, unit).cosine
    told = ", ".join(f"{u} {c:.2f}" for u, c in found.items())
    return Finding.within(float(np.median(list(found.values()))), 0.5, 1.0, "", told)
