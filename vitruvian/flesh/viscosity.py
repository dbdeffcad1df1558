"""Tissue's own viscosity: what makes a fold take its time.

A compressed crease snaps: there is no balance near by, and in a quasi-static step tissue would have to jump. Living
tissue flows there instead. Between the shape x̂ that a step starts from and the shape x that it ends with,

    E = Σ_elements τ/(2 dt) μ V · mean ‖∇(x − x̂)‖²

over the whole element, with x̂ carried along by the bones, so that a body that moves as a whole meets
no resistance. τ is the time over which viscous and elastic stress are alike; ω τ is the loss tangent at small strain:
with our choice of 10 ms, 0.06 at 1 Hz and 0.3 at 5 Hz. The forces add up to nothing, and vanish when motion stops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.pattern import block_matrix

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
    elements, pattern = model.elements, model.pattern
    each = elements.gradient_products(model.elasticity.shear * elements.volume)
    blocks = np.bincount(pattern.slots.ravel(), each.ravel(), len(pattern.column)).astype(float)
    return Viscosity(blocks, block_matrix(pattern, blocks))
