"""Where a spline joint comes nearest to losing a degree of freedom (Lee 2008, section 6.3: its Jacobian must not).

σ(q) is the smallest singular value of S(q) = (s_1, ..., s_n) in units in which the joint's largest rotation rate equals
its largest translation rate and every column has the largest norm 1. Samples alone would miss an isolated zero, so from
every local minimum of the samples that could hide one, σ <= Σ_b h_b |∂S/∂q_b| with the samples' spacing h, Gauss-Newton
solves uᵀ S(q) = 0 for q and the unit vector u; its steps converge quadratically to a simple zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

Array = np.ndarray
Jacobian = Callable[[Array], tuple[Array, Array]]  # q (n,) -> S (n, 6), ∂S/∂q (n, n, 6) with [a, b] = ∂s_a/∂q_b
SINGULAR = 1e-6  # σ below which a Jacobian counts as singular: its inertia is then 1e-12 of the largest
STEPS = 40


def weakest_point(jacobian: Jacobian, axes: Sequence[Array], periodic: Sequence[bool]) -> tuple[Array, float]:
    """(q, σ(q)) where σ is least. axes: ascending sample coordinates of each of the n coordinates; periodic: of each.

    A joint of which one coordinate moves nothing at all has σ = 0; S or ∂S/∂q that is not finite gives NaN."""
    shape = tuple(len(axis) for axis in axes)
    points = np.array(list(product(*axes)))
    S, H = (np.array(part) for part in zip(*(jacobian(point) for point in points)))
    if not (np.isfinite(S).all() and np.isfinite(H).all()):
        bad = ~(np.isfinite(S).all(axis=(1, 2)) & np.isfinite(H).all(axis=(1, 2, 3)))
        return points[int(np.argmax(bad))], float("nan")
    units = _units(S)
    S = S * units
    columns = np.sqrt((S * S).sum(axis=2).max(axis=0))
    if not (columns > 0.0).all():
        return points[0], 0.0
    weight = units / columns[:, None]  # (n, 6): S in the units of σ
    sigma = np.linalg.svd(S / columns[:, None], compute_uv=False)[:, -1].reshape(shape)
    spacing = np.array([np.diff(axis).max() for axis in axes])
    slope = np.sqrt(((H * weight[:, None]) ** 2).sum(axis=(1, 3)))  # |∂S/∂q_b|, (points, n)
    reach = maximum_filter((slope @ spacing).reshape(shape), size=3, mode="nearest")
    starts = (sigma == minimum_filter(sigma, size=3, mode="nearest")) & (sigma <= reach)
    low = np.array([-np.inf if p else axis[0] for p, axis in zip(periodic, axes)])
    high = np.array([np.inf if p else axis[-1] for p, axis in zip(periodic, axes)])
    at = int(np.argmin(sigma))
    best = points[at], float(sigma.ravel()[at])
    for start in points[starts.ravel()]:
        if best[1] < SINGULAR:
            break
        found = _descend(jacobian, weight, start, low, high, spacing)
        best = found if found[1] < best[1] else best
    return best


def samples(breaks: Array, per_span: int) -> Array:
    """`per_span` points of every span between `breaks`, both ends included."""
    inner = [np.linspace(a, b, per_span, endpoint=False) for a, b in pairwise(breaks)]
    return np.concatenate([*inner, breaks[-1:]])


def _units(S: Array) -> Array:
    """Factors of (angular, linear), (6,), that make the largest rates of both equal; ones if either is missing."""
    spin, shift = (np.sqrt((part**2).sum(axis=2).max()) for part in (S[..., :3], S[..., 3:]))
    length = shift / spin if spin > 0.0 and shift > 1e-9 * spin else 1.0  # less is round-off of a pure rotation
    return np.repeat([length, 1.0], 3)


def _descend(
    jacobian: Jacobian, weight: Array, q: Array, low: Array, high: Array, spacing: Array
) -> tuple[Array, float]:
    """Gauss-Newton with step halving from q towards σ = 0, within [low, high] and one spacing a step."""
    S, H = jacobian(q)
    U, sigma, _ = np.linalg.svd(S * weight, full_matrices=False)
    for _ in range(STEPS):
        if sigma[-1] < 1e-3 * SINGULAR:
            break
        u = U[:, -1]
        slopes = np.einsum("a,abk->kb", u, H * weight[:, None])
        others = (U[:, :-1].T @ (S * weight)).T  # what turning u brings
        step = np.linalg.lstsq(np.hstack([slopes, others]), -(u @ (S * weight)), rcond=None)[0][: len(q)]
        step /= max(1.0, float(np.abs(step / spacing).max()))
        for _ in range(10):
            trial = np.clip(q + step, low, high)
            trial_S, trial_H = jacobian(trial)
            trial_U, trial_sigma, _ = np.linalg.svd(trial_S * weight, full_matrices=False)
            if trial_sigma[-1] < sigma[-1]:
                break
            step *= 0.5
        else:
            break
        q, S, H, U, sigma = trial, trial_S, trial_H, trial_U, trial_sigma
    return q, float(sigma[-1])
