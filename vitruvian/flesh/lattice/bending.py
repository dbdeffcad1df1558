"""Strain points and uneven volume: what makes a beam or plate of few cells bend as it should.

A plate in the plane y = 0 of curvatures κ along x and −β along z bends its cells by u = (κ x y, (β z² − κ x²)/2, −β y
z) and thins or thickens them as Poisson's ratio ν asks. A trilinear cell follows all of it but for what is quadratic,
and stores the parasitic shears γxy = κ x and γyz = −β z instead. About the cell's middle the energies are, over μ y²,

    plate   [κ² + β² − 2ν κβ] / (1 − ν)           cell   s² [3/2 (κ² + β²) + d (κ − β)²]

if strain is taken at points that are drawn in to s of their distance from the middle. d has three parts. Λ, the
material's λ at the points (K − κ − 2/3 μ; volume as such counts by the cell's mean and does not see y). ζ, a stiffness
against volume that varies within the cell, ζ/2 (J − J̄)² at the points. And what the cell gives way by: to four points
y and x z are the same, so the mode u_y ~ x y z thins the cell unevenly as far as they can tell. It is held by a spring
of π μ. With the mode at its least energy

    d = D − (1 + 2D)²/4(2 + D + π),  D = (Λ + ζ)/2μ.

The two energies are equal for every κ and β with s² = 2/3 and d = T = 3ν/2(1 − ν), so

    D = [1 + 4(2 + π) T]/4(1 + π − T),      ζ = 2μ D − Λ,

and a free beam (β = νκ), plane strain (β = 0) and a saddle (β = κ) are right at once, for every material. ζ is a few μ,
so nearly incompressible tissue does not lock. What pays is twist, which trilinear cells follow without parasites: its
part about the cell's middle is a third too soft, a twelfth of the whole with two cells across.

s² is what the covariance of the tissue in the cell loses of its diagonal. Its other entries stay, for the mean of
every gradient rests on them alone: the forces of uniform stress are exact as before, also on cut cells (patch test).
A cell whose tissue lies along a slanted plane has little to give: it loses (1 − s²) λ, λ the least eigenvalue of its
correlation matrix, so the covariance stays definite.

Volume is not to lose anything: that of a twisted or sheared cell differs from the one about its middle in proportion
to the covariance, so it is extrapolated from the points by e = lost/(1 − lost) (`elasticity`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vitruvian.flesh.lattice.fill import CORNERS, quadrature
from vitruvian.flesh.materials import Material
from vitruvian.flesh.pattern import Pattern

if TYPE_CHECKING:
    from vitruvian.flesh.lattice.cells import Lattice

DRAWN_IN = 2.0 / 3.0  # s²
HOLD = 8.0  # π; more than ½, which T − 1 reaches at ν = ½
SIGNS = np.prod(2.0 * CORNERS - 1.0, axis=1)  # of x y z at the corners


def strain_points(points: np.ndarray) -> np.ndarray:
    """Points at which cells take their strain, shape (n, 4, 3), in units of the cell.

    points: the quadrature points of the tissue, shape (n, 4, 3).
    """
    mean, covariance, size = _moments(points)
    smaller = covariance - spread_lost(points)[:, None, None] * np.eye(3) * (size**2)[:, None, :]
    second = smaller + mean[:, :, None] * mean[:, None, :]
    mirrored = np.linalg.det(points[:, 1:] - points[:, :1]) > 0.0
    return quadrature(np.ones(len(points)), mean, second, mirrored)


def spread_lost(points: np.ndarray) -> np.ndarray:
    """What the diagonal of each cell's covariance loses, as a part of it, shape (n,)."""
    _, covariance, size = _moments(points)
    least = np.linalg.eigvalsh(covariance / (size[:, :, None] * size[:, None, :]))[:, 0]
    return (1.0 - DRAWN_IN) * np.maximum(least, 0.0)


def _moments(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (n, 3), covariance (n, 3, 3) and the square roots of its diagonal (n, 3)."""
    mean = points.mean(axis=1)
    spread = points - mean[:, None]
    covariance = np.einsum("nqi,nqj->nij", spread, spread) / 4.0
    return mean, covariance, np.sqrt(np.maximum(np.einsum("nii->ni", covariance), 1e-12))


def uneven_volume(material: Material) -> float:
    """ζ [Pa]."""
    mu, nu = material.shear_modulus, material.poisson_ratio
    wanted = 1.5 * nu / (1.0 - nu)
    stiff = (1.0 + 4.0 * (2.0 + HOLD) * wanted) / (4.0 * (1.0 + HOLD - wanted))
    return 2.0 * mu * stiff - (material.point_bulk - 2.0 / 3.0 * mu)


def checkerboard_blocks(lattice: Lattice, shear: np.ndarray, pattern: Pattern) -> np.ndarray:
    """The spring against x y z on the pattern [N/m], one number per block, shape (n_blocks,); shear: μ per cell.

    With u = B x y z and r² = s² h²/12 its energy is V π μ r⁴ B², and B h³ = Σ ± u over the corners.
    """
    h = lattice.spacing
    weight = 2.0 * HOLD * shear * lattice.volume * (DRAWN_IN / 12.0) ** 2 / h**2
    each = weight[:, None, None] * SIGNS[:, None] * SIGNS
    return np.bincount(pattern.slots.ravel(), each.ravel(), len(pattern.column)).astype(float)
