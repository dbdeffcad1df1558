"""Tissue's own viscosity: what makes a fold take its time.

A compressed crease snaps: there is no balance near by, and in a quasi-static step tissue would have to jump. Living
tissue flows there instead. Between the shape x̂ that a step starts from and the shape x that it ends with,

    E = Σ_cells τ/(2 dt) μ V · mean ‖∇(x − x̂)‖²

over the Gauss points of the whole cell, with x̂ carried along by the bones, so that a body that moves as a whole meets
no resistance. τ is the time over which viscous and elastic stress are alike; ω τ is the loss tangent at small strain:
with our choice of 10 ms, 0.06 at 1 Hz and 0.3 at 5 Hz. The forces add up to nothing, and vanish when motion stops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.flesh.fill import CORNERS
from vitruvian.flesh.ghost import block_matrix, gradients
from vitruvian.flesh.model import FleshModel

TISSUE = 0.01  # τ [s]


@dataclass(frozen=True)
class Viscosity:
    """∂²E/∂x² for τ/dt = 1, on the pattern of a model."""

    blocks: np.ndarray  # [N/m], shape (n_blocks,)
    matrix: csr_matrix  # the same, shape (n_nodes, n_nodes)


@dataclass(frozen=True)
class Drag:
    """Viscosity in one step."""

    viscosity: Viscosity
    share: float  # τ/dt
    start: np.ndarray  # x̂ [m], shape (n_nodes, 3)


def viscosity(model: FleshModel) -> Viscosity:
    lattice, pattern = model.lattice, model.pattern
    shear = 2.0 * (model.moduli[:, 0] + model.moduli[:, 1]) + model.moduli[:, 2]
    at = 0.5 + (CORNERS - 0.5) / np.sqrt(3.0)
    slope = gradients(at[None])[0]  # (8 points, 8 corners, 3), in units of 1/h
    local = np.einsum("qai,qbi->ab", slope, slope) / 8.0
    weight = shear * lattice.volume / lattice.spacing**2
    each = weight[:, None, None] * local
    blocks = np.bincount(pattern.slots.ravel(), each.ravel(), len(pattern.column)).astype(float)
    return Viscosity(blocks, block_matrix(pattern, blocks))
