"""Where strain is taken in a cell so that a beam of few cells bends as it should.

A beam of curvature κ bends its cells by u = κ(x y, −x²/2, 0) and narrows them as Poisson's ratio ν asks. A trilinear
cell follows all of it but for what is quadratic, and stores the parasitic shears γxy = κ x and γyz = −ν κ z instead.
With the volume counted by its mean, the energy of one cell about its own middle is then larger than a beam's by

    1/s² = [2 (1 + ν² − (1 − ν)²/3) + (1 + ν²)] / 2(1 + ν)        (1.19 at ν = ½, 1.13 at 0.3),

which makes a beam two cells thick too stiff by a quarter of that. This energy goes with the square of the distance at
which strain is taken from the cell's middle, so the four points are drawn in by s: the covariance C of the tissue in
the cell loses 1 − s² of its diagonal. Its other entries stay, for the mean of every gradient rests on them alone: the
forces of uniform stress are exact as before, also on cut cells (patch test). A cell whose tissue lies along a slanted
plane has little to give: it loses (1 − s²) λ, λ the least eigenvalue of its correlation matrix, so C stays definite.
"""

from __future__ import annotations

import numpy as np

from vitruvian.flesh.lattice.fill import quadrature


def strain_points(points: np.ndarray, poisson: np.ndarray) -> np.ndarray:
    """Points at which cells take their strain, shape (n, 4, 3), in units of the cell.

    points: the quadrature points of the tissue, shape (n, 4, 3); poisson: ν of each cell, shape (n,).
    """
    mean = points.mean(axis=1)
    spread = points - mean[:, None]
    covariance = np.einsum("nqi,nqj->nij", spread, spread) / 4.0
    size = np.sqrt(np.maximum(np.einsum("nii->ni", covariance), 1e-12))
    least = np.linalg.eigvalsh(covariance / (size[:, :, None] * size[:, None, :]))[:, 0]
    lost = (1.0 - drawn_in(poisson)) * np.maximum(least, 0.0)
    smaller = covariance - lost[:, None, None] * np.eye(3) * (size**2)[:, None, :]
    second = smaller + mean[:, :, None] * mean[:, None, :]
    mirrored = np.linalg.det(spread[:, 1:] - spread[:, :1]) > 0.0
    return quadrature(np.ones(len(points)), mean, second, mirrored)


def drawn_in(poisson: np.ndarray) -> np.ndarray:
    """s² of a full cell."""
    nu = poisson
    return 2.0 * (1.0 + nu) / (2.0 * (1.0 + nu**2 - (1.0 - nu) ** 2 / 3.0) + 1.0 + nu**2)
