"""What one asks of deformed flesh: reactions, stress, energy, momentum, the tangent matrix.

All of it is a function of (model, state). The pressure of an element is here that of its volume, p = κ(J̄ − 1) − p0,
as at the end of a solve, so nothing depends on how the solver got there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import bsr_matrix, csr_matrix

from vitruvian.errors import InputError
from vitruvian.flesh.checks import check_loads, check_state
from vitruvian.flesh.elasticity import MaterialElasticity
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.point_kernels import point_stress
from vitruvian.flesh.potential import Loads, Potential
from vitruvian.flesh.state import FleshState

Array = np.ndarray


@dataclass(frozen=True)
class Stress:
    """Mean stress of each element [Pa]."""

    first: Array  # first Piola–Kirchhoff, force over rest area: P, shape (n, 3, 3)
    cauchy: Array  # force over deformed area: σ = P Fᵀ/J, shape (n, 3, 3)

    @property
    def von_mises(self) -> Array:
        """√(3/2) ‖dev σ‖ [Pa], shape (n,)."""
        mean = np.einsum("nii->n", self.cauchy) / 3.0
        away = self.cauchy - mean[:, None, None] * np.eye(3)
        return np.sqrt(1.5 * np.sum(away * away, axis=(1, 2)))


@dataclass(frozen=True)
class FleshEnergy:
    elastic: float  # [J], of tissue and fibres
    kinetic: float  # [J]

    @property
    def total(self) -> float:
        return self.elastic + self.kinetic


def reactions(model: FleshModel, state: FleshState, loads: Loads | None = None) -> Array:
    """Forces [N] with which the supports hold the fixed components, shape (n_nodes, 3); zero elsewhere.

    At rest: what inertia adds is not in them.
    """
    potential, pressure = _of_volume(replace(model, fixed=np.zeros_like(model.fixed)), state, loads)
    return np.where(model.fixed, -potential.evaluate(state.x, pressure).force, 0.0)


def stress(model: FleshModel, state: FleshState, activation: Array | None = None) -> Stress:
    """Stress of tissue and fibres in each element."""
    potential, pressure = _of_volume(model, state, Loads(activation=activation))
    elastic = model.elasticity
    if not isinstance(elastic, MaterialElasticity):
        raise InputError(f"flesh stress: {type(elastic).__name__} has no stress of a material")
    n = len(elastic.volume)
    first, cauchy = np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    points, fibres = elastic.summed(), elastic.muscles.kernel()
    point_stress(state.x, pressure, potential.activation, points, fibres, first, cauchy)
    return Stress(first, cauchy)


def flesh_energy(model: FleshModel, state: FleshState, activation: Array | None = None) -> FleshEnergy:
    potential, pressure = _of_volume(model, state, Loads(activation=activation))
    elastic = model.elasticity
    # the Lagrangian has p(J̄ − 1); the energy is its value less the Legendre term (p + p0)²/2κ
    legendre = float(np.sum(model.elements.volume * (pressure + elastic.rest_pressure) ** 2 / (2.0 * elastic.bulk)))
    moving = 0.5 * float(np.sum(model.node_mass[:, None] * state.v**2))
    return FleshEnergy(potential.evaluate(state.x, pressure).value - legendre, moving)


def momentum(model: FleshModel, state: FleshState) -> Array:
    """Linear momentum [N s], shape (3,)."""
    check_state(model, state)
    return model.node_mass @ state.v


def angular_momentum(model: FleshModel, state: FleshState, about: Array | None = None) -> Array:
    """About a point [m] (3,), the origin if left out [N m s], shape (3,)."""
    check_state(model, state)
    arm = state.x - (np.zeros(3) if about is None else np.asarray(about, float))
    return (model.node_mass[:, None] * np.cross(arm, state.v)).sum(axis=0)


def tangent(model: FleshModel, state: FleshState, loads: Loads | None = None) -> csr_matrix:
    """−∂f/∂x [N/m] of tissue, fibres, springs and drag, shape (3 n_nodes, 3 n_nodes), held components included.

    Contact and pressure on the skin are left out. Rows go node by node: x, y, z.
    """
    given = loads or Loads()
    kept = Loads(targets=given.targets, activation=given.activation, drag=given.drag)
    potential, pressure = _of_volume(model, state, kept)
    data = np.zeros((len(model.pattern.column), 9))
    now = potential.evaluate(state.x, pressure)
    potential.stiffness(state.x, pressure, now, False, data)
    return bsr_matrix((data.reshape(-1, 3, 3), model.pattern.column, model.pattern.start)).tocsr()


def _of_volume(model: FleshModel, state: FleshState, loads: Loads | None) -> tuple[Potential, Array]:
    """L with γ = κ, and the pressures [Pa] of the volumes."""
    given = loads or Loads()
    check_state(model, state)
    check_loads(model, given)
    potential = Potential(model, given)
    potential.recall(state.push, state.x)
    potential.harden(np.inf)
    ratio = potential.evaluate(state.x, state.pressure).jbar
    return potential, model.elasticity.bulk * (ratio - 1.0) - model.elasticity.rest_pressure
