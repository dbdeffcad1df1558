"""A face: skin that rides on soft tissue, lids, jaw, eyes, teeth, hair; and its shape for given modes, gaze and lids.

    face = make_face()
    meshes = face.shape(q, jaw, gaze, lids)     # vertices in the frame of the default pose [m]

The tissue and its modes are `tissue` and `basis`; who finds q for given activations is `control.face.FaceDriver`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.anatomy.face import clothes, hair, look
from vitruvian.anatomy.face.basis import face_basis, packed, unpacked
from vitruvian.anatomy.face.binding import skin_embedding
from vitruvian.anatomy.face.folds import Folds, skin_folds
from vitruvian.anatomy.face.folds import edges as fold_edges
from vitruvian.anatomy.face.grids import triangles
from vitruvian.anatomy.face.head_mesh import HeadMesh, head_mesh
from vitruvian.anatomy.face.jaw import carried, jaw_pose
from vitruvian.anatomy.face.lids import Lids, Orbit, lids, orbits
from vitruvian.anatomy.face.mouth import Mouth, met_lips, mouth_contact
from vitruvian.anatomy.face.posing import skinned
from vitruvian.anatomy.face.tissue import FaceTissue, face_tissue
from vitruvian.anatomy.human import human
from vitruvian.anatomy.skin_data import SkinShape
from vitruvian.array_cache import cached_arrays
from vitruvian.flesh import Embedding
from vitruvian.flesh.subspace import Subspace
from vitruvian.mesh import vertex_normals
from vitruvian.mesh.catmull_clark import catmull_clark, refined_part
from vitruvian.skeleton import bone_poses

Array = np.ndarray
log = logging.getLogger("vitruvian.face")
SHIPPED = Path(__file__).parent / "average.npz"
CHAIN = ("T1", "C7", "C6", "C5", "C4", "C3", "C2", "C1", "Sku")  # bones that carry the skin, from below
# y, and heights above which skin goes with the skull and below which with T1 [m]: throat, nape
NECK_ENDS = np.array([(-0.095, 1.698, 1.622), (0.045, 1.768, 1.645)])
# where each of CHAIN has the skin for itself, parts of the way up: the skin spreads the turn that atlas and axis take
BONES_ALONG = (0.0, 0.08, 0.16, 0.25, 0.34, 0.44, 0.55, 0.78, 1.0)


@dataclass(frozen=True)
class Face:
    """One head; nothing in it changes."""

    head: HeadMesh
    tissue: FaceTissue
    mouth: Mouth
    subspace: Subspace
    embedding: Embedding  # of the head's vertices in the tissue
    skin_modes: Array  # displacement of the head's vertices by the modes, shape (3 n, r), float32
    skin_rest: Array  # where the tissue has them at rest [m], shape (n, 3)
    share: Array  # how much each rides in the tissue, shape (n,)
    lip_pairs: Array  # vertices of upper and lower lip that face each other, shape (k, 2)
    closed: Array  # by how much lips are moved to meet at rest, and nostrils to be hollow [m], shape (n, 3)
    lids: tuple[Lids, Lids]
    orbits: tuple[Orbit, Orbit]
    refine: csr_matrix  # from the head's vertices to the fine skin's
    quads: Array  # of the fine skin, shape (m, 4)
    label: Array  # look.SKIN, MOUTH or CLOTHED of each, shape (m,)
    folds: Folds
    neck: Array  # weights of CHAIN on the head's vertices, shape (n, 9)
    rest_poses: dict[str, Array]  # of CHAIN in the default pose, (4, 4)

    @property
    def n_modes(self) -> int:
        return self.subspace.n_modes

    @cached_property
    def faces(self) -> Array:
        """Triangles of the whole fine skin."""
        return triangles(self.quads)

    @cached_property
    def fine_rest(self) -> Array:
        """The fine skin at rest [m]."""
        return np.asarray(self.refine @ (self.head.vertices + self.closed))

    @cached_property
    def parts(self) -> dict[str, Array]:
        """Triangles of the fine skin by what they are."""
        return {
            name: triangles(self.quads[self.label == kind])
            for name, kind in (("skin", look.SKIN), ("mouth", look.MOUTH))
        }

    @cached_property
    def riders(self) -> dict[str, look.Riders]:
        """Red of the lips, brows, lashes and a shirt."""
        faces = self.parts["skin"]
        return {
            "lips": look.lips(self.head, self.fine_rest, self.quads),
            "brows": hair.brows(self.head, self.fine_rest, faces),
            "lashes": hair.lashes(self.head, self.fine_rest, faces),
            "shirt": clothes.shirt(self.fine_rest, self.quads),
        }

    @cached_property
    def hair(self) -> dict[str, tuple[Array, Array]]:
        """By shade."""
        return hair.hair(self.head)

    @cached_property
    def complexion(self) -> Array:
        """How much blood shows in the fine skin, 0 to 1."""
        return look.complexion(self.head, self.fine_rest)

    @cached_property
    def teeth(self) -> dict[str, tuple[Array, Array]]:
        return look.teeth(self.head)

    @cached_property
    def gums(self) -> dict[str, tuple[Array, Array]]:
        return look.gums(self.head)

    @cached_property
    def tongue(self) -> tuple[Array, Array]:
        return look.tongue(self.head)

    def control_points(self, q: Array, jaw: float = 0.0, shut: Array | None = None) -> Array:
        """Vertices of the head [m] (n, 3), head upright. jaw: [rad]; shut: upper and lower lid of each eye, (2, 2)."""
        moved = (self.skin_modes @ q.astype(np.float32)).reshape(-1, 3)
        out = carried(self.head.vertices + self.closed + self.share[:, None] * moved, self.head.jaw, jaw)
        if shut is not None:
            for lid, (upper, lower) in zip(self.lids, shut):
                out[lid.vertex] += lid.displaced(float(upper), float(lower))
        for orbit in self.orbits:
            orbit.keep_out(out)
        return out

    def skin(self, q: Array, jaw: float = 0.0, shut: Array | None = None, *, folds: bool = True) -> Array:
        """The fine skin [m], head upright."""
        fine = np.asarray(self.refine @ self.control_points(q, jaw, shut))
        return self._folded(fine, q) if folds else fine

    def posed(self, q: Array, jaw: float, shut: Array, poses: Mapping[str, Array]) -> Array:
        """The fine skin [m] on a neck; poses: of CHAIN in the world, (4, 4)."""
        upright = self.control_points(q, jaw, shut)
        moves = np.array([(poses[name] @ back)[:3] for name, back in self._back.items()])
        return self._folded(np.asarray(self.refine @ skinned(upright, self.neck, moves)), q)

    @cached_property
    def _back(self) -> dict[str, Array]:
        """From the world of the default pose into each of CHAIN."""
        return {name: np.linalg.inv(self.rest_poses[name]) for name in CHAIN}

    def _folded(self, fine: Array, q: Array) -> Array:
        rest, modes = self._fold_modes
        depth = self.folds.depth(rest + (modes @ q.astype(np.float32)).reshape(-1, 3))
        if len(depth) and np.abs(depth).max() > 1e-6:
            around, faces, own = self._about_folds
            fine[self.folds.vertex] -= depth[:, None] * vertex_normals(fine[around], faces)[own]
        return fine

    @cached_property
    def _fold_modes(self) -> tuple[Array, Array]:
        """What `Folds.depth` asks of the nodes, at rest (m, 3), and how modes change it (3 m, r)."""
        stretch, n = self.folds.stretch, len(self.tissue.lattice.nodes)
        modes = np.asarray(stretch @ self.subspace.basis.reshape(n, -1), np.float32)
        return np.asarray(stretch @ self.subspace.rest.x), modes.reshape(-1, self.n_modes)

    @cached_property
    def _about_folds(self) -> tuple[Array, Array, Array]:
        """Vertices of all triangles about those that may fold, these triangles among them, and where the folds' are."""
        touched = np.isin(self.faces, self.folds.vertex).any(axis=1)
        around, local = np.unique(self.faces[touched], return_inverse=True)
        return around, local.reshape(-1, 3), np.searchsorted(around, self.folds.vertex)

    @cached_property
    def _slopes(self) -> Array:
        return self.tissue.lattice.quadrature()[0]

    @cached_property
    def rest_volume(self) -> float:
        """Of the tissue [m³]."""
        return self.tissue_volume(self.tissue.lattice.nodes)

    def tissue_volume(self, x: Array) -> float:
        """Volume of the tissue [m³] with its nodes at x [m]: `flesh.tissue_volume`, with what it needs kept."""
        lattice = self.tissue.lattice
        f = x[lattice.cell_nodes].transpose(0, 2, 1)[:, None] @ self._slopes
        each = np.einsum("nqi,nqi->nq", f[..., 0], np.cross(f[..., 1], f[..., 2]))
        return float(lattice.volume @ each.mean(axis=1))

    def depth_in_bone(self, q: Array, jaw: float = 0.0) -> float:
        """How far the skin outside the mouth reaches into skull and jaw [m], beyond what it does at rest."""
        kept = np.unique(self.parts["skin"])
        pose = np.linalg.inv(jaw_pose(jaw))
        now, rest = self.skin(q, jaw, folds=False)[kept], self.fine_rest[kept]
        skull, mandible = self.tissue.skull, self.tissue.jaw
        deep = np.maximum(-skull(now), -mandible(now @ pose[:3, :3].T + pose[:3, 3]))
        return float((deep - np.maximum(np.maximum(-skull(rest), -mandible(rest)), 0.0)).max())

    def eye_seen(self, shut: Array) -> float:
        """Area of the left globe that is seen from the front between the lids [m²]; shut: lids, (2, 2)."""
        skin = np.asarray(self.refine @ self.control_points(np.zeros(self.n_modes), 0.0, shut))
        eye, r = self.head.eyes[0], self.head.globe
        pitch = 0.0005
        side = np.arange(-0.85 * r, 0.85 * r, pitch)
        x, z = (a.ravel() for a in np.meshgrid(side, side, indexing="ij"))
        inside = x * x + z * z < (0.85 * r) ** 2
        x, z = x[inside], z[inside]
        depth = -np.sqrt(r * r - x * x - z * z)
        a, b, c = (skin[self.parts["skin"][:, k]] - eye for k in range(3))
        near = np.flatnonzero((np.abs(a[:, 0]) < 1.6 * r) & (np.abs(a[:, 2]) < 1.6 * r) & (a[:, 1] < 0.0))
        seen = np.ones(len(x), bool)
        for k in near:
            det = (b[k, 0] - a[k, 0]) * (c[k, 2] - a[k, 2]) - (b[k, 2] - a[k, 2]) * (c[k, 0] - a[k, 0])
            if abs(det) < 1e-14:
                continue
            s = ((x - a[k, 0]) * (c[k, 2] - a[k, 2]) - (z - a[k, 2]) * (c[k, 0] - a[k, 0])) / det
            t = ((b[k, 0] - a[k, 0]) * (z - a[k, 2]) - (b[k, 2] - a[k, 2]) * (x - a[k, 0])) / det
            over = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
            front = a[k, 1] + s * (b[k, 1] - a[k, 1]) + t * (c[k, 1] - a[k, 1]) < depth
            seen &= ~(over & front)
        return float(seen.sum()) * pitch**2

    def nodes(self, q: Array, jaw: float = 0.0) -> Array:
        """Nodes of the tissue [m]."""
        return carried(self.subspace.positions(q), self.tissue.node_jaw, jaw)


@dataclass(frozen=True)
class Modes:
    """Modes of a face as they are kept."""

    arrays: dict[str, Array]

    @property
    def count(self) -> int:
        return int(self.arrays["modes"].shape[1])

    def save(self, path: Path) -> None:
        """Write them to a file of NumPy arrays."""
        with path.open("wb") as file:
            np.savez_compressed(file, **self.arrays)  # type: ignore[arg-type]


def solved_modes(
    build: str | SkinShape = "average", *, spacing: float = 0.006, progress: Callable[[int, int], None] | None = None
) -> Modes:
    """The modes of a face, solved anew: minutes."""
    head = head_mesh(human(), build)
    tissue = face_tissue(head, spacing)
    contact, _ = mouth_contact(head, tissue, *skin_embedding(head, tissue))
    return Modes(packed(face_basis(tissue, contact, progress), tissue))


@lru_cache(maxsize=2)
def make_face(
    build: str | SkinShape = "average", *, spacing: float = 0.006, progress: Callable[[int, int], None] | None = None
) -> Face:
    """The face of `human()` of that build. spacing: of the tissue's lattice [m].

    The modes of the average build are shipped; those of others are solved once (some minutes) and kept."""
    body = human()
    head = head_mesh(body, build)
    tissue = face_tissue(head, spacing)
    embedding, share = skin_embedding(head, tissue)
    contact, pairs = mouth_contact(head, tissue, embedding, share)
    basis = None
    if SHIPPED.exists():
        with np.load(SHIPPED) as stored:
            basis = unpacked(dict(stored), tissue)
    if basis is None:
        given = (tissue.lattice.nodes, head.vertices)
        progress = progress or _told
        stored = cached_arrays(
            "face-basis", __name__, given, lambda: packed(face_basis(tissue, contact, progress), tissue)
        )
        basis = unpacked(stored, tissue)
    assert basis is not None
    space = Subspace(tissue.model, basis, (contact.teeth,), contact.lips)
    both = lids(head)
    for lid in both:
        share[lid.vertex] *= 1.0 - lid.share
    shaken = np.asarray(embedding.matrix @ basis.reshape(len(tissue.lattice.nodes), -1))
    refine, quads, label = _fine(head)
    fine = np.asarray(refine @ head.vertices)
    poses = bone_poses(body.skeleton, body.default_q)
    rest = {name: poses[body.skeleton.index(name)] for name in CHAIN}
    return Face(
        head=head,
        tissue=tissue,
        mouth=contact,
        subspace=space,
        embedding=embedding,
        skin_modes=np.ascontiguousarray(shaken.reshape(-1, basis.shape[1]), np.float32),
        skin_rest=embedding.positions(tissue.lattice.nodes),
        share=share,
        lip_pairs=pairs,
        closed=met_lips(head, pairs) + look.nostrils(head),
        lids=both,
        orbits=orbits(head),
        refine=refine,
        quads=quads,
        label=label,
        folds=skin_folds(head, tissue, fine, vertex_normals(fine, triangles(quads))),
        neck=_neck_weights(head.vertices),
        rest_poses=rest,
    )


def _told(done: int, total: int) -> None:
    """Says how far the modes are."""
    if done == 1 or done % 10 == 0:
        log.warning("vitruvian: solving the modes of this face, once: %d of %d", done, total)


def _fine(head: HeadMesh) -> tuple[csr_matrix, Array, Array]:
    """One level of Catmull–Clark, two more where folds may come."""
    matrix, quads = catmull_clark(head.quads, len(head.vertices))
    v = matrix @ head.vertices
    label = look.labels(head, quads, v)
    for _ in range(2):
        long = np.linalg.norm(v[quads] - v[np.roll(quads, 1, axis=1)], axis=2).max(axis=1)
        part = (long > fold_edges(head, v)[quads].min(axis=1)) & (label == look.SKIN)
        more, quads, parent = refined_part(quads, len(v), part)
        matrix, label = (more @ matrix).tocsr(), label[parent]
        v = matrix @ head.vertices
    label[clothes.hidden(v, quads)] = look.CLOTHED
    return matrix, quads, label


def _neck_weights(v: Array) -> Array:
    """Hats along the neck: each place between two bones is shared by them. The neck's ends slope: the head's runs from
    the angle of throat and chin up to the nape, so that the whole chin turns with the skull."""
    top, bottom = (np.interp(v[:, 1], NECK_ENDS[:, 0], NECK_ENDS[:, k]) for k in (1, 2))
    at = np.interp((v[:, 2] - bottom) / (top - bottom), BONES_ALONG, np.arange(len(CHAIN)))
    low = np.minimum(at.astype(int), len(CHAIN) - 2)
    out = np.zeros((len(v), len(CHAIN)))
    rows = np.arange(len(v))
    out[rows, low] = 1.0 - (at - low)
    out[rows, low + 1] = at - low
    return out
