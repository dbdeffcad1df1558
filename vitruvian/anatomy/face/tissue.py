"""Soft tissue of the face as a lattice: inside the skin, outside the bone, lips cut apart, vestibule filled.

Tissue is what lies within DEEP of the skin and not behind bone. The mouth of the data package is a hollow ball: behind
lips and cheeks it is filled up to the gums, or lips would hang as free membranes. The slit between the lips is cut,
with cells of its own for each lip. Tissue is tied to bone at muscle origins and at the border of the face; elsewhere
the ties are so soft that it slides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.grids import BAND, COVER, GRID, HIGH, LOW, above_slit, face_grids, in_mouth
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.face.muscles import LID_MUSCLES, FaceMuscle, face_muscles, fibre_regions
from vitruvian.array_cache import cached_arrays
from vitruvian.flesh import (
    Attachments,
    FleshModel,
    Lattice,
    attach,
    build_flesh,
    lattice_from_values,
    mooney_rivlin,
    sample_muscles,
    sample_surface,
)
from vitruvian.mesh import LevelSet

Array = np.ndarray
# E [Pa] of skin with the fat under it, fat and fascia, muscle; soft, as living faces are
LAYERS = (("skin", 0.005, 10e3), ("fat and fascia", 0.010, 6e3), ("muscle", 1.0, 8e3))
BULK = 1.0e6  # [Pa]
STIFF, LOOSE = 1e8, 1e5  # ties [N/m per m² of bone]
TIE_PITCH = 0.003  # [m]
ORIGIN = 0.007  # [m] around a bony origin that is tied


@dataclass(frozen=True)
class FaceTissue:
    """A lattice with its muscles and ties, and what is needed to embed a skin in it."""

    model: FleshModel
    muscles: tuple[FaceMuscle, ...]
    bone: LevelSet  # of skull and jaw together, pushed under the skin
    skull: LevelSet
    jaw: LevelSet
    skin: LevelSet
    slit: Array  # height of the mouth's slit [m] over x and y at GRID from LOW, nan where there is none
    node_jaw: Array  # how much each node goes with the jaw, 0 to 1, shape (n_nodes,)

    @property
    def lattice(self) -> Lattice:
        return self.model.lattice


def face_tissue(head: HeadMesh, spacing: float = 0.006) -> FaceTissue:
    """The tissue of a head. spacing: of the lattice [m]; 6 mm for real time, 4 mm to check it."""
    given = (head.vertices, head.quads, *(v for v, _ in head.bones.values()))
    grids = cached_arrays("face-grids", face_grids.__module__, given, lambda: face_grids(head))
    levels = {k: LevelSet(grids[k], grids["origin"], GRID, BAND) for k in ("skin", "skull", "jaw", "bone")}
    samples = round(spacing / GRID)
    counts = np.ceil((HIGH - LOW) / spacing).astype(int)
    shape = counts * samples + 1
    phi = np.full(shape, BAND)
    part = grids["tissue"]
    cut = tuple(slice(0, min(a, b)) for a, b in zip(shape, part.shape))
    phi[cut] = part[cut]
    solid = levels["bone"]
    lattice = lattice_from_values(phi, LOW, spacing, samples=samples, solid=solid)
    muscles = face_muscles(head)
    skin = levels["skin"]

    def outward(x: Array) -> Array:
        g = skin.gradient(x)
        return g / np.maximum(np.linalg.norm(g, axis=1), 1e-9)[:, None]

    regions, fibres = fibre_regions(muscles, outward)
    depth = -skin(lattice.centres())
    kinds = np.searchsorted([d for _, d, _ in LAYERS], depth)
    # E = 3 mu, mu = 2 (mu10 + mu01), three quarters of it mu01 as in Lee and Si
    materials = [mooney_rivlin(e / 24.0, e / 8.0, BULK, name=name) for name, _, e in LAYERS]
    node_jaw = _node_jaw(lattice, head, grids["slit"])
    model = build_flesh(
        lattice,
        materials,
        of_cell=np.minimum(kinds, len(LAYERS) - 1),
        muscles=sample_muscles(lattice, regions, fibre=fibres),
        attachments=_ties(lattice, head, muscles, levels, float(np.nanmedian(grids["slit"]))),
    )
    return FaceTissue(
        model, muscles, levels["bone"], levels["skull"], levels["jaw"], skin, grids["slit"], node_jaw
    )  # fmt: skip


def _node_jaw(lattice: Lattice, head: HeadMesh, slit: Array) -> Array:
    """How much nodes go with the jaw: as the skin near them, each lip by itself."""
    upper = above_slit(head.vertices, slit)
    centres = lattice.centres()
    over = above_slit(centres, slit)
    node_over = np.zeros(lattice.n_nodes, bool)
    node_over[lattice.cell_nodes[over].ravel()] = True
    node_under = np.zeros(lattice.n_nodes, bool)
    node_under[lattice.cell_nodes[~over].ravel()] = True
    out = np.zeros(lattice.n_nodes)
    for mine, skin in (
        (node_over & ~node_under, upper),
        (node_under & ~node_over, ~upper),
        (node_over & node_under, None),
    ):
        at = np.flatnonzero(mine)
        own = np.arange(len(head.vertices)) if skin is None else np.flatnonzero(skin)
        far, nearest = cKDTree(head.vertices[own]).query(lattice.nodes[at], k=8)
        share = 1.0 / (far + 0.002) ** 2
        out[at] = np.sum(share * head.jaw[own][nearest], axis=1) / share.sum(axis=1)
    return out


def _ties(
    lattice: Lattice, head: HeadMesh, muscles: tuple[FaceMuscle, ...], levels: dict[str, LevelSet], slit: float
) -> Attachments:
    """Springs to skull (0) and jaw (1)."""
    origins = [path[0] for m in muscles if m.bony and m.base not in LID_MUSCLES for path in m.bundles]
    tree = cKDTree(np.array(origins))
    filled = np.argwhere(lattice.owner >= 0)
    tissue = cKDTree(lattice.origin + (filled + 0.5) * (lattice.spacing / lattice.samples))
    points, areas, bone = [], [], []
    chin = head.bones["Man"][0][:, 2].min()
    for number, name in enumerate(("Sku", "Man")):
        at, area = sample_surface(*head.bones[name], TIE_PITCH)
        # bone that was pushed under the skin takes its ties along; in the mouth's hollow none was
        outer = ~in_mouth(at, slit)
        for _ in range(3):
            out = np.where(outer, np.maximum(levels["skin"](at) + COVER, 0.0), 0.0)
            at = at - out[:, None] * levels["skin"].gradient(at)
        left = at[:, 0] > 0.0
        at, area = (np.concatenate([a[left], a[left] * m]) for a, m in ((at, np.array([-1.0, 1.0, 1.0])), (area, 1.0)))
        near = tissue.query(at, distance_upper_bound=0.0025)[0] < np.inf
        at, area = at[near], area[near]
        stiff = (at[:, 2] > HIGH[2] - 0.012) | (np.abs(at[:, 0]) > 0.062) | (at[:, 1] > -0.045)
        stiff |= tree.query(at, distance_upper_bound=ORIGIN)[0] < np.inf
        if name == "Sku":
            stiff |= (np.abs(at[:, 0]) < 0.010) & (at[:, 2] > 1.815) & (at[:, 2] < 1.845)  # bridge of the nose
        else:
            stiff |= at[:, 2] < chin + 0.012  # lower border of the jaw
        points.append(at)
        areas.append(area * np.where(stiff, 1.0, LOOSE / STIFF))
        bone.append(np.full(len(at), number))
    # the border of the face, where the lattice ends and tissue goes on, is held by the bone that carries it
    edge, _ = _border(lattice)
    points.append(edge)
    areas.append(np.full(len(edge), 0.25 * lattice.spacing**2))
    bone.append(np.zeros(len(edge), int))
    still = np.repeat(np.eye(4)[None], 2, axis=0)
    which, at, area = (np.concatenate(a) for a in (bone, points, areas))
    return attach(lattice, which, at, area, still, stiffness=STIFF)


def _border(lattice: Lattice) -> tuple[Array, Array]:
    """Nodes at the top, at the sides and at the back of the box."""
    x = lattice.nodes
    at = (x[:, 2] > HIGH[2] - 1.2 * lattice.spacing) | (x[:, 1] > HIGH[1] - 1.2 * lattice.spacing)
    return x[at], np.flatnonzero(at)
