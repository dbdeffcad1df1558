"""Fits a bone's template surface to a body: joints coincide, attachments come to lie on it, the shape stays natural.

The map is x ↦ B x̃ + Σ_j φ(|x − s_j|) w_j: an affine part held near the best similarity (rotation, scale, shift), and a
smooth bend made of Gaussians φ about the data points s_j. Landmarks (joint centres, named bony points) pull with full
weight; each attachment point pulls the surface point now nearest to it, less so the farther it is, since a few of the
tabulated points lie off the bone (tendons, one slip of the pen). With data rows m_i (s_i → t_i) it minimises

    Σ m_i |B s̃_i + (K W)_i − t_i|² + μ tr(Wᵀ K W) + λ |B − B₀|²  ⇔  (K + μ M⁻¹) W + S B = T,  Sᵀ W − (λ/μ) (B − B₀) = 0

(smoothing splines, Wahba 1990; iterated nearest points, Besl and McKay 1992). All lengths in metres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.surfaces.shaping import Shape, nearest_points

Array = np.ndarray


@dataclass(frozen=True)
class Fit:
    """How a surface may change."""

    reach: float = 0.35  # width of the bending Gaussians as a share of the bone's size
    affine: float = 4.0  # resistance of the affine part to leave the similarity
    bending: float = 0.02  # resistance to bending
    pull: float = 0.25  # weight of an attachment point against a landmark's 1
    trust: float = 0.010  # distance [m] at which an attachment point has lost three quarters of its weight
    rounds: int = 12


def fitted(
    shape: Shape, sources: Array, targets: Array, points: Array, fit: Fit | None = None, *, even: bool = False
) -> Array:
    """New vertices [m], shape (n, 3), of `shape`, whose landmarks `sources` go to `targets` [m], both (k, 3), k ≥ 3.

    `points`, shape (m, 3), are attachments [m] that should come to lie on it; with `even` the map is symmetric in x.
    """
    fit = fit or Fit()
    vertices, faces = shape
    if even:
        sources, targets = _both_sides(sources), _both_sides(targets)
        points = _both_sides(points)
    similar = similarity(sources, targets)
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    base = similar
    now = _apply_affine(similar, vertices)
    for turn in range(fit.rounds):
        s, t, m = sources, targets, np.ones(len(sources))
        if len(points):
            near, face, weights = nearest_points(points, (now, faces))
            distance = np.linalg.norm(near - points, axis=1)
            on_template = np.einsum("ij,ijk->ik", weights, vertices[faces[face]])
            s, t = np.concatenate([s, on_template]), np.concatenate([t, points])
            trust = fit.pull / (1.0 + (distance / fit.trust) ** 2) ** 2
            m = np.concatenate([m, np.maximum(trust, 1e-6)])
        # Stiff first, supple later: the first rounds settle place and size, the last ones the shape.
        ease = 8.0 ** max(0.0, 1.0 - turn / (0.6 * fit.rounds))
        now = _solve(s, t, m, base, size, fit, ease)(vertices)
        if even:
            now = _evened(now, vertices)
    return now


def similarity(sources: Array, targets: Array, weights: Array | None = None) -> Array:
    """The rotation, scale and shift, as an affine (4, 3), that best takes `sources` to `targets` (Umeyama 1991)."""
    w = np.ones(len(sources)) if weights is None else weights
    w = w / w.sum()
    ms, mt = w @ sources, w @ targets
    a, b = sources - ms, targets - mt
    u, d, vt = np.linalg.svd((w[:, None] * b).T @ a)
    sign = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = u @ np.diag(sign) @ vt
    scale = float(d @ sign / np.sum(w[:, None] * a**2))
    linear = scale * rotation
    return np.concatenate([linear.T, (mt - linear @ ms)[None]])


def _solve(s: Array, t: Array, m: Array, base: Array, size: float, fit: Fit, ease: float):  # type: ignore[no-untyped-def]
    n = len(s)
    sigma = fit.reach * size
    mu = fit.bending * ease
    kernel = np.exp(-0.5 * np.sum((s[:, None] - s[None]) ** 2, axis=2) / sigma**2)
    hold = fit.affine * ease * size**2 / mu * np.array([1.0, 1.0, 1.0, 0.0])
    tilde = np.c_[s, np.ones(n)]
    matrix = np.zeros((n + 4, n + 4))
    matrix[:n, :n] = kernel + np.diag(mu / m)
    matrix[:n, n:] = tilde
    matrix[n:, :n] = tilde.T
    matrix[n:, n:] = -np.diag(hold)
    right = np.concatenate([t, -hold[:, None] * base])
    solution = np.linalg.solve(matrix, right)
    weights, affine = solution[:n], solution[n:]

    def apply(x: Array) -> Array:
        bend = np.exp(-0.5 * np.sum((x[:, None] - s[None]) ** 2, axis=2) / sigma**2)
        return _apply_affine(affine, x) + bend @ weights

    return apply


def _apply_affine(affine: Array, x: Array) -> Array:
    return x @ affine[:3] + affine[3]


def _both_sides(points: Array) -> Array:
    """The points and their mirror images."""
    return np.concatenate([points, points * np.array([-1.0, 1.0, 1.0])])


def _evened(now: Array, template: Array) -> Array:
    """Vertices on the template's midline stay on x = 0."""
    middle = np.abs(template[:, 0]) < 1e-6
    now = now.copy()
    now[middle, 0] = 0.0
    return now
