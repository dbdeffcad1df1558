"""A piece of flesh that never changes: lattice, tissue, muscle fibres, attachments to bone, what is held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.errors import InputError
from vitruvian.flesh.attachments import Attachments, no_attachments
from vitruvian.flesh.bending import strain_points
from vitruvian.flesh.ghost import block_matrix, ghost_blocks
from vitruvian.flesh.lattice import Lattice
from vitruvian.flesh.materials import Material
from vitruvian.flesh.muscles import MuscleFibres, no_muscles
from vitruvian.flesh.pattern import Pattern, build_pattern, spring_blocks

PENALTY = 12.5  # γ/μ of the augmented Lagrangian: 2 MPa for the published moduli, whatever the bulk modulus


@dataclass(frozen=True)
class FleshModel:
    """Built by `build_flesh`."""

    lattice: Lattice
    moduli: np.ndarray  # μ10, μ01, μc, κ, p0, γ [Pa] of each cell, shape (n_cells, 6)
    strain_points: np.ndarray  # where strain is taken, in units of the cell, shape (n_cells, 4, 3)
    node_mass: np.ndarray  # [kg], shape (n_nodes,)
    muscles: MuscleFibres
    attachments: Attachments
    fixed: np.ndarray  # components held where the state has them, shape (n_nodes, 3)
    pattern: Pattern
    springs: np.ndarray  # stiffness of the attachments on the pattern [N/m], shape (n_blocks,)
    ghost: np.ndarray  # what holds the corners of cut cells, on the pattern [N/m], shape (n_blocks,)
    ghost_matrix: csr_matrix  # the same, shape (n_nodes, n_nodes)

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self.node_mass.sum())

    @property
    def volume(self) -> float:
        """Rest volume [m³]."""
        return float(self.lattice.volume.sum())

    @cached_property
    def node_stiffness(self) -> np.ndarray:
        """μ h of the tissue around each node [N/m], shape (n_nodes,)."""
        lattice = self.lattice
        shear = 2.0 * (self.moduli[:, 0] + self.moduli[:, 1]) + self.moduli[:, 2]
        share = shear * lattice.volume / lattice.spacing**2 / 8.0
        return np.bincount(lattice.cell_nodes.ravel(), np.repeat(share, 8), lattice.n_nodes)

    def kernel_cells(self) -> tuple:
        """What every kernel wants to know of the cells."""
        lattice = self.lattice
        return (lattice.cell_nodes, self.strain_points, lattice.volume, self.moduli, lattice.spacing)

    def kernel_fibres(self) -> tuple:
        m = self.muscles
        return (m.offset, m.muscle, m.density, m.direction, m.peak_stress, m.optimal_stretch)


def build_flesh(
    lattice: Lattice,
    material: Material | Sequence[Material],
    *,
    of_cell: np.ndarray | None = None,
    muscles: MuscleFibres | None = None,
    attachments: Attachments | None = None,
    fixed: np.ndarray | None = None,
) -> FleshModel:
    """Put tissue into a lattice.

    material: one, or several with `of_cell` (n_cells,) naming the one of each cell by number. fixed: nodes (n_nodes,)
    or components (n_nodes, 3) that are held.
    """
    materials = [material] if isinstance(material, Material) else list(material)
    which = np.zeros(lattice.n_cells, int) if of_cell is None else np.asarray(of_cell, int)
    if which.shape != (lattice.n_cells,) or which.min() < 0 or which.max() >= len(materials):
        raise InputError(
            f"flesh: of_cell must name one of {len(materials)} materials for each of {lattice.n_cells} cells"
        )
    rows = np.array(
        [
            [
                m.mu10,
                m.mu01,
                m.mu_corotated,
                m.kappa,
                m.rest_pressure,
                min(m.kappa, PENALTY * m.shear_modulus),
            ]
            for m in materials
        ]
    )
    density = np.array([m.density for m in materials])[which]
    # mass goes to the corners as the tissue's volume does; cells of different density share their corners' volume
    # evenly
    cell_mass = density * lattice.volume
    share = np.bincount(lattice.cell_nodes.ravel(), np.repeat(lattice.volume, 8), lattice.n_nodes)
    heavy = np.bincount(lattice.cell_nodes.ravel(), np.repeat(cell_mass, 8), lattice.n_nodes)
    node_mass = lattice.node_volume * heavy / share
    held = np.zeros((lattice.n_nodes, 3), bool)
    if fixed is not None:
        mask = np.asarray(fixed, bool)
        if mask.shape not in ((lattice.n_nodes,), (lattice.n_nodes, 3)):
            raise InputError(
                f"flesh: fixed must have shape ({lattice.n_nodes},) or ({lattice.n_nodes}, 3), one entry for each node "
                f"or each of its components, not {mask.shape}"
            )
        held |= mask[:, None] if mask.ndim == 1 else mask
    pattern = build_pattern(lattice)
    tied = attachments if attachments is not None else no_attachments(lattice)
    points = tied.embedding
    shear = np.array([m.shear_modulus for m in materials])[which]
    ghost = ghost_blocks(lattice, shear, pattern)
    return FleshModel(
        lattice=lattice,
        moduli=np.ascontiguousarray(rows[which]),
        strain_points=strain_points(lattice.points, np.array([m.poisson_ratio for m in materials])[which]),
        node_mass=node_mass,
        muscles=muscles if muscles is not None else no_muscles(lattice.n_cells),
        attachments=tied,
        fixed=held,
        pattern=pattern,
        springs=spring_blocks(pattern, points.cell, points.weights, tied.stiffness),
        ghost=ghost,
        ghost_matrix=block_matrix(pattern, ghost),
    )
