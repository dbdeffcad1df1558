"""Strain points and uneven volume: what makes a beam or plate of few cells bend as it should.

A plate in the plane y = 0 of curvatures κ along x and −β along z bends its cells by u = (κ x y, (β z² − κ x²)/2, −β y z)
and thins or thickens them as Poisson's ratio ν asks. A trilinear cell follows all of it but for what is quadratic, and
stores the parasitic shears γxy = κ x and γyz = −β z instead. About the cell's middle the energies are, over μ y²,

    plate   [κ² + β² − 2ν κβ] / (1 − ν)           cell   s² [3/2 (κ² + β²) + d (κ − β)²]

if strain is taken at points that are drawn in to s of their distance from the middle, d = (Λ + ζ)/2μ, Λ the material's
λ at the points (K − κ − 2/3 μ; volume as such counts by the cell's mean and does not see y), and ζ a stiffness against
volume that varies within the cell, ζ/2 (J − J̄)² at the points. The two are equal for every κ and β with

    s² = 2/3,      ζ = 3μ ν/(1 − ν) − Λ,

so a free beam (β = νκ), plane strain (β = 0) and a saddle (β = κ) are right at once, for every material. ζ is of the
size of μ, so nearly incompressible tissue does not lock. What pays is twist, which trilinear cells follow without
parasites: its part about the cell's middle is a third too soft, a twelfth of the whole with two cells across.

s² is what the covariance of the tissue in the cell loses of its diagonal. Its other entries stay, for the mean of
every gradient rests on them alone: the forces of uniform stress are exact as before, also on cut cells (patch test).
A cell whose tissue lies along a slanted plane has little to give: it loses (1 − s²) λ, λ the least eigenvalue of its
correlation matrix, so the covariance stays definite.
"""

from __future__ import annotations

import numpy as np

from vitruvian.flesh.lattice.fill import quadrature
from vitruvian.flesh.materials import Material

DRAWN_IN = 2.0 / 3.0  # s²


def strain_points(points: np.ndarray) -> np.ndarray:
    """Points at which cells take their strain, shape (n, 4, 3), in units of the cell.

    points: the quadrature points of the tissue, shape (n, 4, 3).
    """
    mean = points.mean(axis=1)
    spread = points - mean[:, None]
    covariance = np.einsum("nqi,nqj->nij", spread, spread) / 4.0
    size = np.sqrt(np.maximum(np.einsum("nii->ni", covariance), 1e-12))
    least = np.linalg.eigvalsh(covariance / (size[:, :, None] * size[:, None, :]))[:, 0]
    lost = (1.0 - DRAWN_IN) * np.maximum(least, 0.0)
    smaller = covariance - lost[:, None, None] * np.eye(3) * (size**2)[:, None, :]
    second = smaller + mean[:, :, None] * mean[:, None, :]
    mirrored = np.linalg.det(spread[:, 1:] - spread[:, :1]) > 0.0
    return quadrature(np.ones(len(points)), mean, second, mirrored)


def uneven_volume(material: Material) -> float:
    """ζ [Pa]."""
    mu, nu = material.shear_modulus, material.poisson_ratio
    return 3.0 * mu * nu / (1.0 - nu) - (material.point_bulk - 2.0 / 3.0 * mu)
