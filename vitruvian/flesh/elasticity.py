"""Elements made of the materials of `materials`: what they share, and the plain way to add up any of them.

With J̄ the mean of J = det F over an element and c = J̄ − 1 − (p + p0)/κ, an element's part of the Lagrangian is

    V Ψ + V p (J̄ − 1) + V γ/2 c²,      stress at a point: P = ∂Ψ/∂F + p̂ cof F,  p̂ = p + γ c.

Lattice cells, whose points are drawn in for bending (`lattice.bending`), have two things more. Volume that varies
within them costs ζ. And as points that are drawn in miss part of the volume of a cell that is twisted, it is
extrapolated to where they would be, with J° = det of the mean of F and J̃ the mean of J over the points:

    J̄ = J̃ + e (J̃ − J°),      L has V p0 (J̄ − J̃) + V ζ/2 mean (J − J̃)² more
    P = ∂Ψ/∂F + [p̂ + e (p̂ + p0) + ζ (J − J̃)] cof F at a point,      −e (p̂ + p0) cof F at the mean of F.

So the rest pressure p0, which only balances ∂Ψ/∂F, acts where that is taken, and pressure acts on the true volume.

`PointElasticity` takes its strain at the points that its elements name, one element after the other; where γ = κ,
which compressible tissue has (ν up to 0.46), p̂ does not depend on p, and c vanishes with the first update of p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from vitruvian.flesh.elements import Elements, Strained
from vitruvian.flesh.materials import Material
from vitruvian.flesh.muscles import MuscleFibres
from vitruvian.flesh.pattern import Pattern
from vitruvian.flesh.point_kernels import point_forces, point_pressure_forces, point_stiffness, point_volume_rates
from vitruvian.flesh.secant import secant_forces

Array = np.ndarray
PENALTY = 12.5  # γ/μ of the augmented Lagrangian: 2 MPa for the published moduli, whatever the bulk modulus


def element_moduli(materials: Sequence[Material], which: Array) -> Array:
    """μ10, μ01, μc, κ, p0, γ, ζ, μs, λs [Pa] and e of each element, shape (n, 10), ζ = e = 0; which: its material."""
    rows = [
        [
            *(m.mu10, m.mu01, m.mu_corotated, m.kappa, m.rest_pressure, min(m.kappa, PENALTY * m.shear_modulus)),
            *(0.0, m.mu_venant, m.lambda_venant, 0.0),
        ]
        for m in materials
    ]
    return np.ascontiguousarray(np.array(rows)[which])


@dataclass(frozen=True)
class MaterialElasticity(ABC):
    """What elements made of `Material` have in common, whatever their shape."""

    element_nodes: Array  # shape (n, k)
    volume: Array  # [m³], shape (n,)
    moduli: Array  # μ10, μ01, μc, κ, p0, γ, ζ, μs, λs [Pa] and e, shape (n, 10)
    muscles: MuscleFibres
    pattern: Pattern

    @property
    def shear(self) -> Array:
        return 2.0 * (self.moduli[:, 0] + self.moduli[:, 1]) + self.moduli[:, 2] + self.moduli[:, 7]

    @property
    def bulk(self) -> Array:
        return self.moduli[:, 3]

    @property
    def rest_pressure(self) -> Array:
        return self.moduli[:, 4]

    @property
    def penalty(self) -> Array:
        return self.moduli[:, 5]

    @abstractmethod
    def summed(self) -> tuple[Array, ...]:
        """Elements as sums over points, as the kernels of `point_kernels` want them."""

    def propped(self, factor: float) -> Self:
        """With `factor` times the springs that hold modes which tissue does not (`lattice.bending`)."""
        return self

    def hardened(self, factor: float) -> Self:
        moduli = self.moduli.copy()
        moduli[:, 5] = np.minimum(factor * moduli[:, 5], moduli[:, 3])
        return replace(self, moduli=moduli)

    def volumetric(self, pressure: Array, jbar: Array) -> tuple[Array, float]:
        """c of each element, and the energy that goes with volumes [J]."""
        gap = jbar - 1.0 - (pressure + self.rest_pressure) / self.bulk
        return gap, float(np.sum(self.volume * (pressure * (jbar - 1.0) + 0.5 * self.penalty * gap * gap)))


@dataclass(frozen=True)
class PointElasticity(MaterialElasticity):
    """Any elements that are a sum over points. Built by `point_elasticity`."""

    gradients: Array  # of the shape functions [1/m], shape (n, q, k, 3)
    weights: Array  # volume of each point [m³], shape (n, q)

    @property
    def steady(self) -> Array:
        return np.zeros(len(self.pattern.column))

    def forces(self, x: Array, pressure: Array, activation: Array, force: Array) -> Strained:
        energy, jbar = np.empty(len(self.volume)), np.empty(len(self.volume))
        point_forces(x, pressure, activation, self.summed(), *self._order(), self.muscles.kernel(), force, energy, jbar)
        gap, volumetric = self.volumetric(pressure, jbar)
        return Strained([float(np.sum(energy)), volumetric], jbar, gap)

    def secant_forces(self, start: Array, x: Array, pressure: Array, activation: Array, force: Array) -> Strained:
        jbar = np.empty(len(self.volume))
        secant_forces(start, x, pressure, activation, self.summed(), *self._order(), self.muscles.kernel(), force, jbar)
        return Strained([], jbar, self.volumetric(pressure, jbar)[0])

    def stiffness(
        self, x: Array, pressure: Array, activation: Array, scalar: Array, projected: bool, data: Array
    ) -> None:
        data[:] = 0.0
        data[:, [0, 4, 8]] = scalar[:, None]
        slots, fibres = self.pattern.slots, self.muscles.kernel()
        point_stiffness(x, pressure, activation, self.summed(), *self._order(), fibres, slots, projected, data)

    def volume_rates(self, x: Array, moved: Array) -> Array:
        rate = np.empty(len(self.volume))
        point_volume_rates(x, moved, self.summed(), rate)
        return rate

    def pressure_forces(self, x: Array, change: Array, force: Array) -> None:
        point_pressure_forces(x, change, self.summed(), *self._order(), force)

    def summed(self) -> tuple[Array, ...]:
        return self.element_nodes, self.gradients, self.weights, self.volume, self.moduli

    def _order(self) -> tuple[Array, Array, Array]:
        return self.pattern.colours, self.pattern.blocks, self.pattern.order


def point_elasticity(
    elements: Elements, materials: Sequence[Material], which: Array, muscles: MuscleFibres, pattern: Pattern
) -> PointElasticity:
    gradients, shares = elements.quadrature()
    return PointElasticity(
        element_nodes=elements.element_nodes,
        volume=elements.volume,
        moduli=element_moduli(materials, which),
        muscles=muscles,
        pattern=pattern,
        gradients=np.ascontiguousarray(gradients),
        weights=elements.volume[:, None] * shares,
    )
