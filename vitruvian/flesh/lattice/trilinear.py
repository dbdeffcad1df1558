"""Shape functions of a cubic cell: N_a(ξ) is the product of ξ or 1 − ξ along x, y and z, 1 at corner a."""

from __future__ import annotations

import numpy as np

from vitruvian.flesh.lattice.fill import CORNERS


def corner_weights(local: np.ndarray) -> np.ndarray:
    """N at points in units of their cells (n, 3), shape (n, 8)."""
    return np.prod(np.where(CORNERS[None] == 1, local[:, None, :], 1.0 - local[:, None, :]), axis=2)


def gradients(points: np.ndarray, spacing: float = 1.0) -> np.ndarray:
    """∇N at points in units of their cells (n, q, 3), shape (n, q, 8, 3), for cells of this edge."""
    up = CORNERS[None, None] == 1
    factor = np.where(up, points[:, :, None, :], 1.0 - points[:, :, None, :])
    sign = np.where(up, 1.0, -1.0) / spacing
    out = np.empty(factor.shape)
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[..., a] = sign[..., a] * factor[..., b] * factor[..., c]
    return out


def gauss_gradients() -> np.ndarray:
    """∇N of the unit cell at its eight Gauss points, shape (8 points, 8 corners, 3)."""
    return gradients((0.5 + (CORNERS - 0.5) / np.sqrt(3.0))[None])[0]
