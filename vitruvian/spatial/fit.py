"""Designing curves on SE(3) from measured frames: natural parameterisation, fitting, smoothing (Lee 2008, section 6.4).

Natural parameterisation: q_j = q_{j-1} + ‖log(G_{j-1}⁻¹ G_j)‖, so that ‖s(q)‖ ≈ 1                          (6.4.1)
Fit and smoothing: control frames move with body velocities ŭ_j so as to minimise

    (1 - w) Σ_k ‖log(G(q_k)⁻¹ G_k)‖² + w Σ_i ‖h(q_i)‖²,   h = ds/dq the joint Hessian                   (6.32, 6.42)

by Gauss-Newton steps  ((1-w) MᵀM + w NᵀN) ŭ = (1-w) Mᵀu_d - w Nᵀh,  Ğ_j ← Ğ_j exp(ŭ_j).

M is Lee's matrix (6.35), but exact where (6.33) approximates: with z_l = log(Ğ_{l-1}⁻¹ Ğ_l) and E_l = exp(B̃_l z_l),
E_l⁻¹ dE_l = B̃_l J_r(B̃_l z_l) J_r(z_l)⁻¹ (ŭ_l - Ad⁻¹_{exp z_l} ŭ_{l-1}). N is a central difference, as Lee suggests.
Twists are measured with lengths divided by `length` [m], so that one number weighs turning against sliding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.spatial.motion import adjoint, exp_se3, inverse, log_se3, right_jacobian_se3
from vitruvian.spatial.se3_spline import Se3Spline, curve_hessians

Array = np.ndarray


@dataclass(frozen=True)
class CurveFit:
    """A fitted curve and how far it stays from the frames it was made from."""

    spline: Se3Spline
    rotation_error: Array  # [rad] at each given frame, (n,)
    position_error: Array  # [m] at each given frame, (n,)
    roughness: float  # root mean square of ‖h‖ over the domain, lengths divided by `length`
    iterations: int


def natural_coordinates(frames: ArrayLike, *, length: float = 1.0, start: float = 0.0) -> Array:
    """Coordinates (n,) at which neighbouring frames (n, 4, 4) are as far apart as the frames are (section 6.4.1).

    length [m]: the displacement that counts as much as one radian."""
    G = _frames(frames)
    steps = [np.linalg.norm(log_se3(inverse(a) @ b) / _scale(length)) for a, b in pairwise(G)]
    if min(steps, default=1.0) <= 0.0:
        raise InputError("natural parameterisation: two neighbouring frames are the same")
    return start + np.concatenate([[0.0], np.cumsum(steps)])


def fit_curve(
    q: ArrayLike,
    frames: ArrayLike,
    *,
    n_controls: int,
    order: int = 4,
    periodic: bool = False,
    period: float | None = None,
    smoothing: float = 0.0,
    length: float = 1.0,
    iterations: int = 50,
) -> CurveFit:
    """The curve with `n_controls` control frames that passes best by `frames` (n, 4, 4) at ascending q (n,).

    smoothing: w in 0..1, the weight of a steady axis against passing through the frames. A periodic curve has the
    `period` given (by default the range of q, whose last frame then equals the first). length [m] as in
    `natural_coordinates`."""
    x, G = np.asarray(q, dtype=float), _frames(frames)
    if x.shape != (len(G),) or not (np.diff(x) > 0.0).all():
        raise InputError("curve fit: needs one coordinate per frame, ascending")
    if not 0.0 <= smoothing < 1.0:
        raise InputError("curve fit: smoothing must be at least 0 and less than 1")
    span = (x[-1] - x[0]) if period is None else period
    breaks = np.linspace(x[0], x[0] + span, n_controls + 1 if periodic else n_controls - order + 2)
    if len(breaks) < 2:
        raise InputError(f"curve fit: {n_controls} controls are too few for order {order}")
    spline = Se3Spline(_first_guess(x, G, breaks, order, periodic, span), breaks, order=order, periodic=periodic)
    places = np.linspace(breaks[0], breaks[-1], 4 * n_controls, endpoint=not periodic)
    # the sum over places is an integral over the domain
    metric = np.tile(1.0 / _scale(length), len(places)) * np.sqrt(smoothing * (breaks[-1] - breaks[0]) / len(places))
    scale = np.tile(np.sqrt(1.0 - smoothing) / _scale(length), len(G))

    def residual(curve: Se3Spline) -> Array:
        h = np.empty((len(places), 6))
        curve_hessians(curve.params, places, h)
        u = np.concatenate([log_se3(inverse(curve(a)) @ b) for a, b in zip(x, G)])
        return np.concatenate([scale * u, -metric * h.ravel()])

    right = residual(spline)
    n = 0
    for n in range(1, iterations + 1):  # noqa: B007
        rows = [scale[:, None] * np.concatenate([control_influence(spline, a) for a in x])]
        rows.append(
            metric[:, None] * _hessian_rows(spline, places)
            if smoothing > 0.0
            else np.zeros((len(metric), 6 * n_controls))
        )
        change = np.linalg.lstsq(np.concatenate(rows), right, rcond=1e-8)[0].reshape(-1, 6)
        for _ in range(20):  # Gauss-Newton may overshoot where data are sparse
            moved = np.array([F @ exp_se3(d) for F, d in zip(spline.frames, change)])
            trial = Se3Spline(moved, breaks, order=order, periodic=periodic)
            new_right = residual(trial)
            if new_right @ new_right <= right @ right:
                break
            change = 0.5 * change
        else:
            break
        spline, right = trial, new_right
        if np.abs(change / _scale(length)).max() < 1e-9:
            break
    errors = np.array([log_se3(inverse(spline(a)) @ b) for a, b in zip(x, G)])
    h = np.array([spline.evaluate(a)[2] for a in places]) / _scale(length)
    return CurveFit(
        spline,
        np.linalg.norm(errors[:, :3], axis=1),
        np.array([np.linalg.norm(spline(a)[:3, 3] - b[:3, 3]) for a, b in zip(x, G)]),
        float(np.sqrt((h * h).sum(axis=1).mean())),
        n,
    )


def control_influence(spline: Se3Spline, q: float) -> Array:
    """M(q), shape (6, 6 m): body velocity of G(q) for body velocities of the m control frames (exact 6.34)."""
    first, cumulative = spline.weights(q)
    order, m, n = spline.order, len(spline.frames), len(spline.twists) + 1
    blocks = np.zeros((n, 6, 6))
    blocks[first] = np.eye(6)
    for l in range(1, order):
        z = spline.twists[first + l - 1]
        B = cumulative[0, l]
        back = adjoint(exp_se3(-B * z))
        blocks[first : first + l] = back @ blocks[first : first + l]
        push = B * right_jacobian_se3(B * z) @ np.linalg.inv(right_jacobian_se3(z))
        blocks[first + l] += push
        blocks[first + l - 1] -= push @ adjoint(exp_se3(-z))
    M = np.zeros((6, m, 6))
    for j in range(first, first + order):  # wrapped controls of a closed curve are the same frames again
        M[:, j % m] += blocks[j]
    return M.reshape(6, 6 * m)


def _hessian_rows(spline: Se3Spline, places: Array) -> Array:
    """N (6 n, 6 m): how the joint Hessian at `places` changes with the control frames."""
    N = np.empty((6 * len(places), 6 * len(spline.frames)))
    step, sides = 1e-6, np.empty((2, len(places), 6))
    for j, frame in enumerate(spline.frames):
        for k in range(6):
            for side, sign in enumerate((1.0, -1.0)):
                moved = spline.params_with(j, frame @ exp_se3(sign * step * np.eye(6)[k]))
                curve_hessians(moved, places, sides[side])
            N[:, 6 * j + k] = ((sides[0] - sides[1]) / (2.0 * step)).ravel()
    return N


def _first_guess(x: Array, G: Array, breaks: Array, order: int, periodic: bool, span: float) -> Array:
    """Control frames on the given ones, at the places where each control acts most."""
    degree = order - 1
    if periodic:
        step = breaks[1] - breaks[0]
        # control j's basis function is centred order/2 spans after knot j - degree
        places = breaks[0] + (np.arange(len(breaks) - 1) - degree + 0.5 * order) * step
        places = x[0] + (places - x[0]) % span
    else:
        knots = np.concatenate([np.full(degree, breaks[0]), breaks, np.full(degree, breaks[-1])])
        places = np.array([knots[j + 1 : j + order].mean() for j in range(len(knots) - order)])
    return np.array([_along(x, G, place) for place in places])


def _along(x: Array, G: Array, place: float) -> Array:
    """The frame at `place` on the geodesics between the given ones."""
    j = int(np.clip(np.searchsorted(x, place) - 1, 0, len(x) - 2))
    share = min((place - x[j]) / (x[j + 1] - x[j]), 1.0)
    return G[j] @ exp_se3(share * log_se3(inverse(G[j]) @ G[j + 1]))


def _frames(frames: ArrayLike) -> Array:
    G = np.asarray(frames, dtype=float)
    if G.ndim != 3 or G.shape[1:] != (4, 4) or len(G) < 2:
        raise InputError(f"needs at least two frames of the shape (4, 4), got {G.shape}")
    if not np.isfinite(G).all():
        raise InputError("a frame holds a number that is not finite")
    return G


def _scale(length: float) -> Array:
    if not length > 0.0:
        raise InputError(f"length must be positive, not {length}")
    return np.array([1.0, 1.0, 1.0, length, length, length])
