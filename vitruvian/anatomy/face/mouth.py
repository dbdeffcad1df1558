"""The mouth's contacts: lips against each other, and lips against the teeth behind them.

Lips lie on the teeth. The data's mouth is hollow, so each point of a lip's inner side has the dental arch, a parabola
y = a + b x² of the drawn teeth, brought to where it is at rest, and may only leave it forward or along it:

    g_i = (b x² − y − b X_i² + Y_i)/√(1 + 4 b² X_i²) ≥ 0,      X_i, Y_i: at rest

A ring muscle that shortens then pushes lips forward, since it cannot draw them back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.binding import embedding_in, from_slit
from vitruvian.anatomy.face.grids import mouth_corners, triangles
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.face.tissue import FaceTissue
from vitruvian.flesh import Contact, ContactSurface, Embedding
from vitruvian.flesh.pair_contact import PairContact
from vitruvian.mesh import vertex_normals

Array = np.ndarray
LIP_STIFFNESS, TEETH_STIFFNESS = 1.2e8, 2e7  # [Pa/m]
AREA = 1.5e-5  # [m²] of lip that a pair stands for
FACING = 0.0025  # [m] between partners at rest
MEET = 0.0006  # [m] that each lip is moved at most, to meet the other at rest
TOUCH = 0.0045  # [m] from the slit: skin that may touch the other lip
GAP = 5e-4  # [m] of depth that a solution may keep
BEHIND = 0.016  # [m] above and below the slit: lip that lies on teeth


@dataclass(frozen=True)
class Mouth:
    """What may touch."""

    lips: PairContact
    teeth: Contact


@dataclass(frozen=True)
class Backed:
    """A `Shape`: the dental arch, brought to each point where it is at rest."""

    bend: float  # b [1/m]
    rest: Array  # of the points [m], shape (n, 3)

    def distance(self, points: Array) -> tuple[Array, Array]:
        steep = np.sqrt(1.0 + (2.0 * self.bend * self.rest[:, 0]) ** 2)
        far = [self.bend * p[:, 0] ** 2 - p[:, 1] for p in (points, self.rest)]
        slope = np.stack([2.0 * self.bend * points[:, 0], np.full(len(points), -1.0), np.zeros(len(points))], axis=1)
        return (far[0] - far[1]) / steep, slope / steep[:, None]


def mouth_contact(head: HeadMesh, tissue: FaceTissue, skin: Embedding, share: Array) -> tuple[Mouth, Array]:
    """Both contacts, and the vertices of the lips' pairs, shape (n, 2); skin, share: of `skin_embedding`."""
    lips, pairs = lip_contact(head, tissue, skin)
    return Mouth(lips, tooth_contact(head, skin, share, float(np.nanmedian(tissue.slit)))), pairs


def arch_bend(head: HeadMesh) -> float:
    """b of the upper teeth [1/m]."""
    band = head.parts["upper-teeth"][0]
    front = band[band[:, 1] < np.median(band[:, 1])]
    return float(np.polyfit(front[:, 0] ** 2, front[:, 1], 1)[0])


def tooth_contact(head: HeadMesh, skin: Embedding, share: Array, slit: float) -> Contact:
    """Inner sides of both lips on their teeth; share: how much each vertex rides in tissue; slit: height of it [m]."""
    v, faces = head.vertices, triangles(head.quads)
    corner = mouth_corners(head)[0]
    normals = vertex_normals(v, faces)
    inner = (np.abs(v[:, 0]) < corner[0] + 0.004) & (np.abs(v[:, 2] - slit) < BEHIND) & (share > 0.5)
    inner &= (normals[:, 1] > 0.3) & (v[:, 1] > corner[1] - 0.012)
    at = np.flatnonzero(inner)
    area = np.linalg.norm(np.cross(v[faces[:, 1]] - v[faces[:, 0]], v[faces[:, 2]] - v[faces[:, 0]]), axis=1) / 6.0
    areas = np.bincount(faces.ravel(), np.repeat(area, 3), minlength=len(v))
    own = skin.matrix[at]
    embedded = Embedding(skin.element[at], skin.nodes[at], skin.weights[at], own, own.T.tocsr())
    shape = Backed(arch_bend(head), v[at])
    return Contact(ContactSurface(embedded, areas[at]), [shape], gap=GAP, stiffness=TEETH_STIFFNESS)


def lip_contact(head: HeadMesh, tissue: FaceTissue, skin: Embedding) -> tuple[PairContact, Array]:
    """Lips against each other, and the vertices of the pairs, shape (n, 2)."""
    v, away = head.vertices, from_slit(head, tissue)
    normals = vertex_normals(v, triangles(head.quads))
    near = (np.abs(away) < TOUCH) & (v[:, 1] < -0.098)
    upper = np.flatnonzero(near & (away > 0.0) & (normals[:, 2] < -0.3))
    lower = np.flatnonzero(near & (away < 0.0) & (normals[:, 2] > 0.3))
    far, at = cKDTree(v[lower]).query(v[upper])
    kept = far < FACING
    a, b = upper[kept], lower[at[kept]]
    first, second = (embedding_in(tissue, skin.element[i], v[i]) for i in (a, b))
    normal = np.tile([0.0, 0.0, 1.0], (len(a), 1))
    stiffness = np.full(len(a), LIP_STIFFNESS * AREA)
    start = np.sum((v[a] - v[b]) * normal, axis=1)
    return PairContact(first, second, normal, stiffness, np.minimum(start, 0.0), tissue.lattice.spacing), np.stack(
        [a, b], axis=1
    )


def met_lips(head: HeadMesh, pairs: Array) -> Array:
    """Displacement of the head's vertices [m] (n, 3) that lets the lips meet, which the data leave a little open."""
    out, count = np.zeros_like(head.vertices), np.zeros(len(head.vertices))
    gap = np.clip(head.vertices[pairs[:, 0], 2] - head.vertices[pairs[:, 1], 2], 0.0, 2.0 * MEET)
    for side, sign in ((0, -0.5), (1, 0.5)):
        np.add.at(out[:, 2], pairs[:, side], sign * gap)
        np.add.at(count, pairs[:, side], 1.0)
    return out / np.maximum(count, 1.0)[:, None]
