"""What several themes of the flesh chapter share: tolerances, materials, small geometry."""

from __future__ import annotations

import numpy as np
from scipy.sparse import bsr_matrix, csc_matrix

from vitruvian.flesh import (
    FleshModel,
    FleshState,
    Loads,
    Material,
    Potential,
    Settings,
    corotated,
    mooney_rivlin_from_moduli,
    neo_hookean,
    rest_state,
)

TIGHT = Settings(residual=1e-10, gap=1e-12, tolerance=1e-4, krylov=4000, newton=60)


TIGHT_LIMB = Settings(residual=1e-8, gap=1e-9, tolerance=1e-3, krylov=2000, newton=60)


def materials(young: float = 1e5, poisson: float = 0.4) -> list[Material]:
    return [
        mooney_rivlin_from_moduli(young, poisson),
        neo_hookean(young, poisson),
        corotated(young, poisson),
    ]


def on_box(nodes: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.any((np.abs(nodes - low) < 1e-9) | (np.abs(nodes - high) < 1e-9), axis=1)


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    a = axis / np.linalg.norm(axis)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def end_shares(nodes: np.ndarray, length: float) -> np.ndarray:
    """How a load spread evenly over the end face falls on its nodes; sums to one."""
    share = np.where(nodes[:, 2] > length - 1e-9, 1.0, 0.0)
    for axis in (0, 1):
        edge = (nodes[:, axis] < 1e-9) | (nodes[:, axis] > nodes[:, axis].max() - 1e-9)
        share = share * np.where(edge, 0.5, 1.0)
    return share / share.sum()


def free_stiffness(model: FleshModel) -> csc_matrix:
    state = rest_state(model)
    potential = Potential(model, Loads())
    data = np.zeros((len(model.pattern.column), 9))
    potential.harden(np.inf)  # with γ = κ the condensed matrix is the exact stiffness of the displacements
    potential.stiffness(state.x, state.pressure, potential.evaluate(state.x, state.pressure), False, data)
    whole = bsr_matrix((data.reshape(-1, 3, 3), model.pattern.column, model.pattern.start)).tocsr()
    free = ~model.fixed.ravel()
    return whole[free][:, free].tocsc()


def total_energy(model: FleshModel, state: FleshState) -> float:
    """Elastic and kinetic energy [J]."""
    elastic, volume = model.elasticity, model.elements.volume
    potential = Potential(model, Loads())
    ratio = potential.evaluate(state.x, state.pressure).jbar
    pressure = elastic.bulk * (ratio - 1.0) - elastic.rest_pressure  # c = 0
    stored = float(np.sum(volume * (pressure + elastic.rest_pressure) ** 2 / (2.0 * elastic.bulk)))
    moving = 0.5 * float(np.sum(model.node_mass[:, None] * state.v**2))
    return potential.evaluate(state.x, pressure).value - stored + moving


def angular_momentum(model: FleshModel, state: FleshState) -> np.ndarray:
    """About the origin [N m s]."""
    return (model.node_mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)
