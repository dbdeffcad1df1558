"""Elasticity of lattice cells: strain at four points and uneven volume for bending, cut cells held by a ghost penalty.

Forces and stiffness are made many cells at a time (`forces`, `stiffness`): far faster than `PointElasticity`, which
says the same of full cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.flesh.elasticity import MaterialElasticity, element_moduli
from vitruvian.flesh.elements import Strained
from vitruvian.flesh.embedding import times_vectors
from vitruvian.flesh.lattice.bending import checkerboard_blocks, spread_lost, strain_points, uneven_volume
from vitruvian.flesh.lattice.forces import cell_forces
from vitruvian.flesh.lattice.ghost import ghost_blocks
from vitruvian.flesh.lattice.kernels import pressure_forces, volume_rates
from vitruvian.flesh.lattice.stiffness import cell_stiffness
from vitruvian.flesh.lattice.trilinear import gradients
from vitruvian.flesh.materials import Material
from vitruvian.flesh.muscles import MuscleFibres
from vitruvian.flesh.pattern import Pattern, block_matrix
from vitruvian.flesh.secant import secant_forces

if TYPE_CHECKING:
    from vitruvian.flesh.lattice.cells import Lattice

Array = np.ndarray


@dataclass(frozen=True)
class CellElasticity(MaterialElasticity):
    """Built by `Lattice.elasticity`."""

    spacing: float  # [m]
    strain_points: Array  # where strain is taken, in units of the cell, shape (n, 4, 3)
    steady: Array  # what holds corners of cut cells (`ghost`) and checkerboards (`bending`) [N/m], shape (n_blocks,)
    held: csr_matrix  # the same, shape (n_nodes, n_nodes)

    def forces(self, x: Array, pressure: Array, activation: Array, force: Array) -> Strained:
        energy, jbar = np.empty(len(self.volume)), np.empty(len(self.volume))
        cell_forces(x, pressure, activation, self._cells(), *self._order(), self.muscles.kernel(), force, energy, jbar)
        gap, volumetric = self.volumetric(pressure, jbar)
        near = x - x[0]  # blind to where the body is: so are the springs, but for round-off
        held = times_vectors(self.held, near)
        force -= held
        return Strained([float(np.sum(energy)), volumetric, 0.5 * float(np.sum(held * near))], jbar, gap)

    def propped(self, factor: float) -> CellElasticity:
        held = factor * self.held
        held.eliminate_zeros()
        return replace(self, steady=factor * self.steady, held=held)

    def secant_forces(self, start: Array, x: Array, pressure: Array, activation: Array, force: Array) -> Strained:
        jbar = np.empty(len(self.volume))
        secant_forces(start, x, pressure, activation, self.summed(), *self._order(), self.muscles.kernel(), force, jbar)
        force -= times_vectors(self.held, 0.5 * (start - start[0] + x - x[0]))
        return Strained([], jbar, self.volumetric(pressure, jbar)[0])

    def summed(self) -> tuple[Array, ...]:
        return self.element_nodes, *self._points, self.volume, self.moduli

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        """Gradients at the strain points [1/m], shape (n, 4, 8, 3), and the volume of each [m³], shape (n, 4)."""
        slopes = np.ascontiguousarray(gradients(self.strain_points, self.spacing))
        return slopes, np.repeat(0.25 * self.volume[:, None], 4, axis=1)

    def stiffness(
        self, x: Array, pressure: Array, activation: Array, scalar: Array, projected: bool, data: Array
    ) -> None:
        fibres, slots = self.muscles.kernel(), self.pattern.slots
        cell_stiffness(x, pressure, activation, self._cells(), *self._order(), fibres, slots, scalar, projected, data)

    def volume_rates(self, x: Array, moved: Array) -> Array:
        rate = np.empty(len(self.volume))
        volume_rates(x, moved, self._cells(), rate)
        return rate

    def pressure_forces(self, x: Array, change: Array, force: Array) -> None:
        pressure_forces(x, change, self._cells(), *self._order(), force)

    def _cells(self) -> tuple:
        return self.element_nodes, self.strain_points, self.volume, self.moduli, self.spacing

    def _order(self) -> tuple[Array, Array, Array]:
        return self.pattern.colours, self.pattern.blocks, self.pattern.order


def cell_elasticity(
    lattice: Lattice, materials: Sequence[Material], which: Array, muscles: MuscleFibres, pattern: Pattern
) -> CellElasticity:
    shear = np.array([m.shear_modulus for m in materials])[which]
    moduli = element_moduli(materials, which)
    moduli[:, 6] = np.array([uneven_volume(m) for m in materials])[which]
    lost = spread_lost(lattice.points)
    moduli[:, 9] = lost / (1.0 - lost)
    held = ghost_blocks(lattice, shear, pattern) + checkerboard_blocks(lattice, shear, pattern)
    return CellElasticity(
        element_nodes=lattice.cell_nodes,
        volume=lattice.volume,
        moduli=moduli,
        muscles=muscles,
        pattern=pattern,
        spacing=lattice.spacing,
        strain_points=strain_points(lattice.points),
        steady=held,
        held=block_matrix(pattern, held),
    )
