"""The modes of a face: full solutions of its tissue, muscle by muscle and in mixtures, boiled down.

Each muscle is solved alone at half and at full activation, mixtures with both sides. The basis that
holds them best (`flesh.subspace`) is kept as one byte per number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.anatomy.face.mouth import Mouth
from vitruvian.anatomy.face.muscles import LID_MUSCLES
from vitruvian.anatomy.face.tissue import FaceTissue
from vitruvian.flesh import FleshSolver, FleshState, Loads, Settings, rest_state
from vitruvian.flesh.subspace import basis_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = np.ndarray
MODES = 64
# mixtures of both sides beside the single muscles: what expressions use together
MIXTURES: tuple[Mapping[str, float], ...] = (
    {"zygomaticus_major": 1.0, "risorius": 0.3, "levator_anguli_oris": 0.3, "orbicularis_oculi_orbital": 0.5,
     "depressor_labii_inferioris": 0.4},
    {"frontalis_medial": 1.0, "frontalis_lateral": 1.0},
    {"corrugator_supercilii": 1.0, "depressor_supercilii": 1.0, "procerus": 0.5, "orbicularis_oris_upper": 0.15,
     "orbicularis_oris_lower": 0.25, "buccinator": 0.4, "mentalis": 0.4},
    {"orbicularis_oris_upper": 1.0, "orbicularis_oris_lower": 1.0},
    {"frontalis_medial": 1.0, "corrugator_supercilii": 0.5, "depressor_anguli_oris": 1.0, "mentalis": 0.6},
    {"levator_labii_alaeque_nasi": 1.0, "levator_labii_superioris": 0.8, "procerus": 0.7,
     "corrugator_supercilii": 0.4, "depressor_labii_inferioris": 0.4},
    {"orbicularis_oris_upper": 0.5, "orbicularis_oris_lower": 0.5, "levator_labii_superioris": 0.8,
     "depressor_labii_inferioris": 0.8},
    {"mentalis": 1.0, "orbicularis_oris_lower": 0.3},
    {"zygomaticus_major": 1.0, "risorius": 0.3, "levator_labii_superioris": 0.6, "depressor_labii_inferioris": 0.5},
    {"risorius": 1.0, "platysma": 0.5, "depressor_labii_inferioris": 0.5, "frontalis_medial": 0.9,
     "frontalis_lateral": 0.5, "corrugator_supercilii": 0.5},
)  # fmt: skip
SOLVE = Settings(residual=2e-3)


def snapshots(tissue: FaceTissue, mouth: Mouth, progress: Callable[[int, int], None] | None = None) -> Array:
    """Displacements of the nodes [m], shape (k, n_nodes, 3)."""
    names = [m.name for m in tissue.muscles]
    single = [n for n in names if n[:-2] not in LID_MUSCLES]
    solver, found, done = FleshSolver(tissue.model, SOLVE), [], 0
    total = len(single) + len(MIXTURES)

    def told() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    for name in single:
        activation = np.zeros(len(names))
        activation[names.index(name)] = 1.0
        found += _ramp(solver, tissue, mouth, activation)
        told()
    for mixture in MIXTURES:
        activation = np.zeros(len(names))
        for name, value in mixture.items():
            for side in "lr":
                activation[names.index(f"{name}_{side}")] = value
        found += _ramp(solver, tissue, mouth, activation)
        told()
    return np.array(found)


def face_basis(
    tissue: FaceTissue, mouth: Mouth, progress: Callable[[int, int], None] | None = None, modes: int = MODES
) -> Array:
    """An orthonormal basis (3 n_nodes, r)."""
    return basis_of(snapshots(tissue, mouth, progress), modes, weight=tissue.lattice.node_volume)


def full_solution(tissue: FaceTissue, mouth: Mouth, activation: Array) -> Array:
    """Nodes of the tissue [m] when it is solved without modes, jaw shut."""
    return tissue.lattice.nodes + _ramp(FleshSolver(tissue.model, SOLVE), tissue, mouth, activation)[-1]


def packed(basis: Array, tissue: FaceTissue) -> dict[str, Array]:
    """The basis as bytes, with what tells whether it fits a lattice."""
    scale = np.abs(basis).max(axis=0) / 127.0
    return {"modes": np.round(basis / scale).astype(np.int8), "scale": scale, "mark": lattice_mark(tissue)}


def unpacked(stored: dict[str, Array], tissue: FaceTissue) -> Array | None:
    """The basis, or None where it belongs to another lattice."""
    mark = lattice_mark(tissue)
    if stored["mark"].shape != mark.shape or not np.allclose(stored["mark"], mark, atol=1e-6):
        return None
    basis, _ = np.linalg.qr(stored["modes"].astype(np.float32) * stored["scale"].astype(np.float32))
    return np.asarray(basis)


def lattice_mark(tissue: FaceTissue) -> Array:
    """A few numbers that no other lattice has: cells, nodes, tissue [cm³], first moments."""
    lattice = tissue.lattice
    v = 1e6 * lattice.volume
    return np.array([lattice.n_cells, lattice.n_nodes, v.sum(), *(v @ lattice.centres() / v.sum())])


def _ramp(solver: FleshSolver, tissue: FaceTissue, mouth: Mouth, activation: Array) -> list[Array]:
    """Displacements at half and at full activation."""
    state: FleshState = rest_state(tissue.model)
    out = []
    for level in (0.5, 1.0):
        solver.attempt(state, muscle_loads(tissue, mouth, level * activation))
        out.append(state.x - tissue.lattice.nodes)
    return out


def muscle_loads(tissue: FaceTissue, mouth: Mouth, activation: Array) -> Loads:
    """What acts on the tissue with the jaw shut."""
    tied = tissue.model.attachments
    return Loads(
        targets=tied.targets(np.repeat(np.eye(4)[None], 2, axis=0)),
        activation=activation,
        contacts=(mouth.teeth,),
        self_contact=mouth.lips,
    )
