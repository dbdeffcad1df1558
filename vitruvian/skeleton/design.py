"""Spline joints from measured frames: a joint that lets a bone pass where it was seen to pass (Lee 2008, 6.4).

Curves are fitted on SE(3) itself (`spatial.fit`). For surfaces, each frame gives the six numbers φ_j that the product
of exponentials (6.25) needs, and each φ_j is a linear least-squares fit of a tensor-product spline:

    min_C Σ_k (φ_j(q_k) - φ_j^k)² + w ∫ Σ_ab (∂²φ_j/∂q_a∂q_b)² dq.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import asin, atan2

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.skeleton.joints import CurveSpline, SurfaceSpline
from vitruvian.spatial import (
    CurveFit,
    basis,
    fit_curve,
    inverse,
    log_so3,
    natural_coordinates,
    rotation_about,
    transform,
    uniform_knots,
)

Array = np.ndarray


@dataclass(frozen=True)
class SurfaceFit:
    """A fitted spline joint and how far it stays from the frames it was made from."""

    joint: SurfaceSpline
    rotation_error: Array  # [rad], (n,)
    position_error: Array  # [m], (n,)


def design_curve(
    frames: ArrayLike,
    *,
    n_controls: int,
    q: ArrayLike | None = None,
    order: int = 4,
    periodic: bool = False,
    smoothing: float = 0.0,
    length: float = 1.0,
) -> tuple[CurveSpline, CurveFit]:
    """A curve spline joint through frames (n, 4, 4); without coordinates q they are spaced naturally (6.4.1)."""
    x = natural_coordinates(frames, length=length) if q is None else np.asarray(q, dtype=float)
    fit = fit_curve(
        x, frames, n_controls=n_controls, order=order, periodic=periodic, smoothing=smoothing, length=length
    )
    return CurveSpline(fit.spline), fit


def fit_surface(
    q: ArrayLike,
    frames: ArrayLike,
    domain: ArrayLike,
    *,
    n_controls: int | tuple[int, ...],
    order: int = 4,
    smoothing: float = 1e-9,
    home: ArrayLike | None = None,
) -> SurfaceFit:
    """A spline joint of 1, 2 or 3 degrees of freedom through frames (N, 4, 4) at coordinates q (N, n).

    domain: (low, high) of each coordinate. smoothing: w above, relative to the data; it also decides where data are
    missing. home: H of the joint, about which Euler angles z, y, x are taken, the first frame's rotation if None."""
    x = np.asarray(q, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    G = np.asarray(frames, dtype=float)
    n = x.shape[1]
    if G.shape != (len(x), 4, 4) or not (np.isfinite(x).all() and np.isfinite(G).all()):
        raise InputError("surface fit: needs one finite frame (4, 4) per coordinate row")
    bounds = np.asarray(domain, dtype=float).reshape(n, 2)
    if ((x < bounds[:, 0]) | (x > bounds[:, 1])).any():
        raise InputError("surface fit: a coordinate lies outside the domain")
    counts = (n_controls,) * n if isinstance(n_controls, int) else tuple(n_controls)
    H = transform(G[0, :3, :3]) if home is None else np.asarray(home, dtype=float)
    targets = np.array([translation_and_euler(inverse(H) @ T) for T in G])
    knots = [uniform_knots(m, order, *b) for m, b in zip(counts, bounds)]
    rows = _design_matrix(knots, order, counts, x)
    penalty = _roughness(knots, order, counts, bounds)
    normal = rows.T @ rows / len(x) + smoothing * penalty
    controls = np.linalg.lstsq(normal, rows.T @ targets / len(x), rcond=1e-14)[0]
    joint = SurfaceSpline(controls.T.reshape(6, *counts), bounds, order=order, home=H)
    reached = rows @ controls
    errors = np.array([inverse(T) @ H @ _compose(phi) for T, phi in zip(G, reached)])
    return SurfaceFit(
        joint,
        np.array([np.linalg.norm(log_so3(E[:3, :3])) for E in errors]),
        np.linalg.norm(errors[:, :3, 3], axis=1),
    )


def translation_and_euler(T: Array) -> Array:
    """(x, y, z [m], angles about z, y, x [rad]) with T = translation · R_z · R_y · R_x, (6,)."""
    R = T[:3, :3]
    sine = -R[2, 0]
    if abs(sine) > 1.0 - 1e-9:
        raise InputError("surface fit: a frame lies a quarter turn about y from home, where Euler angles fail")
    return np.concatenate([T[:3, 3], [atan2(R[1, 0], R[0, 0]), asin(sine), atan2(R[2, 1], R[2, 2])]])


def _compose(phi: Array) -> Array:
    x, y, z = np.eye(3)
    return transform(rotation_about(z, phi[3]) @ rotation_about(y, phi[4]) @ rotation_about(x, phi[5]), phi[:3])


def _design_matrix(
    knots: list[Array], order: int, counts: tuple[int, ...], x: Array, derivatives: tuple[int, ...] | None = None
) -> Array:
    """One row per point: the tensor-product basis there, each factor differentiated as often as `derivatives` says."""
    rows = np.zeros((len(x), *counts))
    for k, point in enumerate(x):
        block: Array = np.ones(())
        where: list[slice] = []
        for d, coordinate in enumerate(point):
            first, values = basis(knots[d], order, coordinate)
            block = np.multiply.outer(block, values[derivatives[d] if derivatives else 0])
            where.append(slice(first, first + order))
        rows[k][tuple(where)] = block
    return rows.reshape(len(x), -1)


def _roughness(knots: list[Array], order: int, counts: tuple[int, ...], bounds: Array) -> Array:
    """∫ Σ_ab (∂²φ/∂q_a∂q_b)² dq as a quadratic form of the controls, by Gauss points in every span."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    axes = []
    for t, m in zip(knots, counts):
        ends = t[order - 1 : m + 1]
        half = 0.5 * np.diff(ends)
        axes.append(
            (np.add.outer(0.5 * (ends[:-1] + ends[1:]), 0.0)[:, None] + half[:, None] * nodes, half[:, None] * weights)
        )
    points = np.array(list(product(*(a.ravel() for a, _ in axes))))
    volume = np.array([np.prod(w) for w in product(*(w.ravel() for _, w in axes))])
    total = np.zeros((int(np.prod(counts)),) * 2)
    n = len(counts)
    size = bounds[:, 1] - bounds[:, 0]
    for a in range(n):
        for b in range(n):
            order_of = [0] * n
            order_of[a] += 1
            order_of[b] += 1
            D = _design_matrix(knots, order, counts, points, tuple(order_of)) * (size[a] * size[b])
            total += D.T @ (D * volume[:, None]) / np.prod(size)
    return total
