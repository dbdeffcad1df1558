"""Curves on SE(3): cumulative B-splines of control frames (Lee 2008, section 6.3.1; Kim, Kim, Shin 1995).

G(q) = G_0 ∏ exp(z_j B̃_j(q)),   z_j = log(G_{j-1}⁻¹ G_j),   B̃_j = Σ_{l>=j} B_l                          (6.21)

At any q only order - 1 exponentials differ from 0 or 1 (6.24), so the cost does not grow with the number of controls.
The curve is C^{order-2}; it is closed when built with `periodic=True`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.spatial.bspline import (
    MAX_ORDER,
    basis_derivatives,
    check_knots,
    open_knots,
    periodic_knots,
    wrap_controls,
    wrap_coordinate,
)
from vitruvian.spatial.exponentials import RECORD, multiply_exponential, twist_record
from vitruvian.spatial.motion import inverse, log_se3

Array = np.ndarray
HEAD = 5  # order, number of controls, periodic, domain low, domain high


@dataclass(frozen=True, eq=False)
class Se3Spline:
    """A twice differentiable curve on SE(3).

    frames: control frames, shape (m, 4, 4); a closed curve does not repeat its first frame.
    breaks: ascending coordinates [rad or m] between which the spline is one polynomial. Open: m - order + 2 of them,
    and the curve then starts at the first and ends at the last frame; closed: m + 1, the last a period after the first.
    None spaces them by one. order: polynomial degree + 1, at least 4.
    """

    frames: Array
    breaks: Array
    order: int
    periodic: bool
    knots: Array  # shape (n + order,), n = m + order - 1 if periodic else m
    twists: Array  # z_j, shape (n - 1, 6)
    params: Array  # the same as one flat array, as kernels read it

    def __init__(
        self,
        frames: ArrayLike,
        breaks: ArrayLike | None = None,
        *,
        order: int = 4,
        periodic: bool = False,
        what: str = "spline",
    ) -> None:
        G = np.array(frames, dtype=float)
        if G.ndim != 3 or G.shape[1:] != (4, 4):
            raise InputError(f"{what}: control frames must have the shape (m, 4, 4), not {G.shape}")
        if not np.isfinite(G).all():
            raise InputError(f"{what}: a control frame holds a number that is not finite")
        R = G[:, :3, :3]
        crooked = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2)) > 1e-6
        if crooked.any() or (np.linalg.det(R) < 0.0).any():
            raise InputError(f"{what}: a control frame is not a rigid motion (its rotation is not orthonormal)")
        count = len(G) + 1 if periodic else len(G) - order + 2
        if count < 2:
            raise InputError(f"{what}: {len(G)} control frames are too few for order {order}")
        b = np.arange(count, dtype=float) if breaks is None else np.array(breaks, dtype=float)
        if b.shape != (count,):
            raise InputError(f"{what}: needs {count} breaks for {len(G)} control frames, got {b.shape}")
        if not (np.isfinite(b).all() and (np.diff(b) > 0.0).all()):
            raise InputError(f"{what}: breaks must be finite and ascend")
        knots = periodic_knots(b, order) if periodic else open_knots(b, order)
        controls = wrap_controls(G, order) if periodic else G
        check_knots(knots, len(controls), order, what)
        twists = np.array([log_se3(inverse(a) @ c) for a, c in pairwise(controls)])
        head = [order, len(controls), float(periodic), b[0], b[-1]]
        flat = np.concatenate([controls[:, :3, :3].reshape(-1, 9), controls[:, :3, 3]], axis=1)
        records = np.array([twist_record(z) for z in twists])
        for name, value in (
            ("frames", G),
            ("breaks", b),
            ("order", order),
            ("periodic", periodic),
            ("knots", knots),
            ("twists", twists),
            ("params", np.concatenate([head, knots, flat.ravel(), records.ravel()])),
        ):
            object.__setattr__(self, name, value)

    @property
    def domain(self) -> tuple[float, float]:
        """The interval of q on which the curve is defined (one period, if closed)."""
        return float(self.breaks[0]), float(self.breaks[-1])

    def evaluate(self, q: float) -> tuple[Array, Array, Array]:
        """G(q) (4, 4), its Jacobian s = (G⁻¹ dG/dq)ˇ (6,) and ds/dq (6,)."""
        G, jacobian, hessian = np.empty(12), np.empty((1, 6)), np.empty((1, 1, 6))
        curve(self.params, 0, float(q), G, jacobian, hessian, np.empty((6, MAX_ORDER)))
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = G[:9].reshape(3, 3), G[9:]
        return T, jacobian[0], hessian[0, 0]

    def __call__(self, q: float) -> Array:
        """G(q), shape (4, 4)."""
        return self.evaluate(q)[0]

    def params_with(self, j: int, frame: Array) -> Array:
        """A copy of `params` in which control frame j is `frame` (4, 4); only the twists beside it are taken anew."""
        params, n = self.params.copy(), len(self.twists) + 1
        frame0 = HEAD + n + self.order
        records = params[frame0 + 12 * n :].reshape(-1, RECORD)
        m = len(self.frames)
        for i in range(j, n, m):  # a closed curve holds its first frames twice
            params[frame0 + 12 * i : frame0 + 12 * (i + 1)] = np.concatenate([frame[:3, :3].ravel(), frame[:3, 3]])
            if i > 0:
                records[i - 1] = twist_record(log_se3(inverse(self.frames[(i - 1) % m]) @ frame))
            if i < n - 1:
                records[i] = twist_record(log_se3(inverse(frame) @ self.frames[(i + 1) % m]))
        return params

    def weights(self, q: float) -> tuple[int, Array]:
        """First alive control (of the wrapped list) and (3, order): cumulative basis B̃ with two derivatives at q."""
        low, high = self.domain
        x = float(wrap_coordinate(q, low, high)) if self.periodic else float(q)
        out = np.zeros((5, MAX_ORDER))
        first = basis_derivatives(self.knots, 0, len(self.knots) - self.order, self.order, x, out)
        return first, np.cumsum(out[:3, : self.order][:, ::-1], axis=1)[:, ::-1].copy()


@njit(cache=True)
def curve(params, p, q, G, jacobian, hessian, scratch):
    """Evaluate the spline whose numbers start at params[p]: G (12,), s (>=1, 6), ds/dq (>=1, >=1, 6).

    scratch: shape (6, MAX_ORDER)."""
    order, n = int(params[p]), int(params[p + 1])
    if params[p + 2] != 0.0:
        q = wrap_coordinate(q, params[p + 3], params[p + 4])
    knot0 = p + HEAD
    frame0 = knot0 + n + order
    record0 = frame0 + 12 * n
    first = basis_derivatives(params, knot0, n, order, q, scratch)
    for c in range(12):
        G[c] = params[frame0 + 12 * first + c]
    for c in range(6):
        jacobian[0, c] = 0.0
        hessian[0, 0, c] = 0.0
    for row in range(3):  # sums from the last to the first: B turns into the cumulative B̃
        for l in range(order - 2, 0, -1):
            scratch[row, l] += scratch[row, l + 1]
    for l in range(1, order):
        scratch[5, 0] = scratch[1, l]
        scratch[5, 1] = scratch[2, l]
        multiply_exponential(
            params,
            record0 + RECORD * (first + l - 1),
            scratch[0, l],
            scratch[5, 0:1],
            scratch[5:6, 1:2],
            1,
            G,
            jacobian,
            hessian,
        )


@njit(cache=True)
def curve_hessians(params, places, out):
    """ds/dq at each of `places`, into out (n, 6)."""
    G, jacobian, hessian = np.empty(12), np.empty((1, 6)), np.empty((1, 1, 6))
    scratch = np.empty((6, MAX_ORDER))
    for k in range(len(places)):
        curve(params, 0, places[k], G, jacobian, hessian, scratch)
        for c in range(6):
            out[k, c] = hessian[0, 0, c]
