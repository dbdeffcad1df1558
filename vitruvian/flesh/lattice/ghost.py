"""What holds the corners of partly filled cells that their tissue hardly reaches.

In a cell filled by a few percent, bending and twisting of the cell cost next to no energy, and its outer corners would
fly off when a crease is compressed. They are held to the motion of the cell's own tissue by

    E = Σ_cells ε (1 − φ) μ h³/2 · mean ‖∇x(ξ) − ∇x̄‖²

with φ the filled fraction, ∇x̄ the mean gradient over the filled part and ξ the Gauss points of the whole cell. It
vanishes for every uniform strain, turned any way, so that it adds no stress and passes the patch test; full cells have
none of it (a ghost penalty, Burman 2010, within the cell).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vitruvian.flesh.lattice.trilinear import gauss_gradients, gradients
from vitruvian.flesh.pattern import Pattern

if TYPE_CHECKING:
    from vitruvian.flesh.lattice.cells import Lattice

SHARE = 0.1  # ε
FULL = 1.0 - 1e-9  # filled fraction from which a cell counts as full


def ghost_blocks(lattice: Lattice, shear: np.ndarray, pattern: Pattern, share: float = SHARE) -> np.ndarray:
    """∂²E/∂x² on the pattern [N/m], one number per block (x, y and z alike), shape (n_blocks,); shear: μ per cell."""
    h = lattice.spacing
    fill = lattice.volume / h**3
    cut = np.flatnonzero(fill < FULL)
    mean = gradients(lattice.points[cut]).mean(axis=1)  # (n, 8, 3), in units of 1/h
    off = gauss_gradients()[None] - mean[:, None]  # (n, 8 points, 8 corners, 3)
    weight = share * (1.0 - fill[cut]) * shear[cut] * h / 8.0
    local = weight[:, None, None] * np.einsum("nqai,nqbi->nab", off, off)
    return np.bincount(pattern.slots[cut].ravel(), local.ravel(), len(pattern.column)).astype(float)
