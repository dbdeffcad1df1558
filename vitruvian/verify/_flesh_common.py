"""What several themes of the flesh chapter share: tolerances, materials, small geometry."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix

from vitruvian.flesh import (
    FleshModel,
    Material,
    Settings,
    corotated,
    mooney_rivlin_from_moduli,
    neo_hookean,
    rest_state,
    tangent,
    venant_kirchhoff,
)

TIGHT = Settings(residual=1e-10, gap=1e-12, tolerance=1e-4, krylov=4000, newton=60)


TIGHT_LIMB = Settings(residual=1e-8, gap=1e-9, tolerance=1e-3, krylov=2000, newton=60)


def materials(young: float = 1e5, poisson: float = 0.4) -> list[Material]:
    return [
        mooney_rivlin_from_moduli(young, poisson),
        neo_hookean(young, poisson),
        corotated(young, poisson),
        venant_kirchhoff(young, poisson),
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
    """The exact stiffness of the free components of the rest body."""
    free = ~model.fixed.ravel()
    return tangent(model, rest_state(model))[free][:, free].tocsc()
