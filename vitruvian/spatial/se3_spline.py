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
    span_polynomials,
    wrap_controls,
    wrap_coordinate,
)
from vitruvian.spatial.exponentials import RECORD, twist_record
from vitruvian.spatial.motion import inverse, log_se3

Array = np.ndarray
HEAD = 6  # order, number of controls, periodic, number of spans, domain low, domain high


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
        try:
            G = np.array(frames, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what}: control frames are not (4, 4) arrays of numbers") from None
        if G.ndim != 3 or G.shape[1:] != (4, 4):
            raise InputError(f"{what}: control frames must have the shape (m, 4, 4), not {G.shape}")
        broken = ~np.isfinite(G).all(axis=(1, 2))
        if broken.any():
            raise InputError(f"{what}: control frame {int(np.argmax(broken))} holds a number that is not finite")
        R = G[:, :3, :3]
        crooked = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0) > 1e-6
        crooked |= np.linalg.det(R) < 0.0
        if crooked.any():
            at = int(np.argmax(crooked))
            raise InputError(f"{what}: control frame {at} is not a rigid motion (its rotation is not orthonormal)")
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
        head = [order, len(controls), float(periodic), len(b) - 1, b[0], b[-1]]
        flat = np.concatenate([controls[:, :3, :3].reshape(-1, 9), controls[:, :3, 3]], axis=1)
        records = np.array([twist_record(z) for z in twists])
        # B̃_1 .. B̃_{order-1} of every span, as polynomials
        cumulative = np.cumsum(span_polynomials(knots, order)[:, ::-1], axis=1)[:, ::-1][:, 1:]
        for name, value in (
            ("frames", G),
            ("breaks", b),
            ("order", order),
            ("periodic", periodic),
            ("knots", knots),
            ("twists", twists),
            ("params", np.concatenate([head, b, flat.ravel(), records.ravel(), cumulative.ravel()])),
        ):
            object.__setattr__(self, name, value)

    @property
    def domain(self) -> tuple[float, float]:
        """The interval of q on which the curve is defined (one period, if closed)."""
        return float(self.breaks[0]), float(self.breaks[-1])

    def evaluate(self, q: float) -> tuple[Array, Array, Array]:
        """G(q) (4, 4), its Jacobian s = (G⁻¹ dG/dq)ˇ (6,) and ds/dq (6,)."""
        G, jacobian, hessian = np.empty(12), np.empty((1, 6)), np.empty((1, 1, 6))
        curve(self.params, 0, float(q), G, jacobian, hessian)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = G[:9].reshape(3, 3), G[9:]
        return T, jacobian[0], hessian[0, 0]

    def __call__(self, q: float) -> Array:
        """G(q), shape (4, 4)."""
        return self.evaluate(q)[0]

    def placed_params(self, placement: Array) -> Array:
        """A copy of `params` for the curve placement · G(q); placement: (4, 4)."""
        params, n = self.params.copy(), len(self.twists) + 1
        frame0 = HEAD + len(self.breaks)
        flat = params[frame0 : frame0 + 12 * n].reshape(n, 12)
        P, p = placement[:3, :3], placement[:3, 3]
        flat[:, 9:] = flat[:, 9:] @ P.T + p
        flat[:, :9] = (P @ flat[:, :9].reshape(n, 3, 3)).reshape(n, 9)
        return params

    def params_with(self, j: int, frame: Array) -> Array:
        """A copy of `params` in which control frame j is `frame` (4, 4); only the twists beside it are taken anew."""
        params, n = self.params.copy(), len(self.twists) + 1
        frame0 = HEAD + len(self.breaks)
        records = params[frame0 + 12 * n : frame0 + 12 * n + RECORD * (n - 1)].reshape(-1, RECORD)
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
def curve(params, p, q, G, jacobian, hessian):
    """Evaluate the spline whose numbers start at params[p]: G (12,), s (>=1, 6), ds/dq (>=1, >=1, 6).

    The recursion of `spatial.exponentials` for one coordinate, with all in registers."""
    order, n, spans = int(params[p]), int(params[p + 1]), int(params[p + 3])
    low, high = params[p + 4], params[p + 5]
    if params[p + 2] != 0.0:
        q = wrap_coordinate(q, low, high)
    breaks = p + HEAD
    # even breaks are hit at the first guess, others are reached from it
    j = min(max(int((q - low) / (high - low) * spans), 0), spans - 1)
    while j > 0 and q < params[breaks + j]:
        j -= 1
    while j < spans - 1 and q >= params[breaks + j + 1]:
        j += 1
    rate = 1.0 / (params[breaks + j + 1] - params[breaks + j])
    u = (q - params[breaks + j]) * rate
    frame0 = breaks + spans + 1
    record0 = frame0 + 12 * n
    at = frame0 + 12 * j
    g0, g1, g2, g3, g4, g5 = params[at], params[at + 1], params[at + 2], params[at + 3], params[at + 4], params[at + 5]
    g6, g7, g8, x0, x1, x2 = (
        params[at + 6],
        params[at + 7],
        params[at + 8],
        params[at + 9],
        params[at + 10],
        params[at + 11],
    )
    s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    h0, h1, h2, h3, h4, h5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    poly = record0 + RECORD * (n - 1) + j * (order - 1) * order
    r = record0 + RECORD * j
    for l in range(1, order):
        if order == 4:
            c1, c2, c3 = params[poly + 1], params[poly + 2], params[poly + 3]
            phi = params[poly] + u * (c1 + u * (c2 + u * c3))
            slope = rate * (c1 + u * (2.0 * c2 + 3.0 * u * c3))
            bend = rate * rate * (2.0 * c2 + 6.0 * u * c3)
        else:
            phi, slope, bend = 0.0, 0.0, 0.0
            for d in range(order - 1, -1, -1):
                bend = bend * u + 2.0 * slope
                slope = slope * u + phi
                phi = phi * u + params[poly + d]
            slope *= rate
            bend *= rate * rate
        poly += order
        ax, ay, az, angle = params[r], params[r + 1], params[r + 2], params[r + 3]
        vx, vy, vz = params[r + 4], params[r + 5], params[r + 6]
        half = 0.5 * angle * phi
        sine, cosine = np.sin(half), np.cos(half)
        s = 2.0 * sine * cosine
        c = 2.0 * sine * sine
        k = 2.0 * half - s  # x - sin x
        px = phi * vx + c * params[r + 7] + k * params[r + 10]
        py = phi * vy + c * params[r + 8] + k * params[r + 11]
        pz = phi * vz + c * params[r + 9] + k * params[r + 12]
        r += RECORD
        wx, wy, wz = angle * ax, angle * ay, angle * az
        e00, e01, e02 = 1.0 - c * (ay * ay + az * az), c * ax * ay - s * az, c * ax * az + s * ay
        e10, e11, e12 = c * ax * ay + s * az, 1.0 - c * (ax * ax + az * az), c * ay * az - s * ax
        e20, e21, e22 = c * ax * az - s * ay, c * ay * az + s * ax, 1.0 - c * (ax * ax + ay * ay)
        x0 += g0 * px + g1 * py + g2 * pz
        x1 += g3 * px + g4 * py + g5 * pz
        x2 += g6 * px + g7 * py + g8 * pz
        g0, g1, g2 = g0 * e00 + g1 * e10 + g2 * e20, g0 * e01 + g1 * e11 + g2 * e21, g0 * e02 + g1 * e12 + g2 * e22
        g3, g4, g5 = g3 * e00 + g4 * e10 + g5 * e20, g3 * e01 + g4 * e11 + g5 * e21, g3 * e02 + g4 * e12 + g5 * e22
        g6, g7, g8 = g6 * e00 + g7 * e10 + g8 * e20, g6 * e01 + g7 * e11 + g8 * e21, g6 * e02 + g7 * e12 + g8 * e22
        if l == 1:  # nothing to carry on yet
            s0, s1, s2, s3, s4, s5 = wx * slope, wy * slope, wz * slope, vx * slope, vy * slope, vz * slope
            h0, h1, h2, h3, h4, h5 = wx * bend, wy * bend, wz * bend, vx * bend, vy * bend, vz * bend
            continue
        # h <- h + ad_s z φ', then both through Ad⁻¹
        h0 += (s1 * wz - s2 * wy) * slope
        h1 += (s2 * wx - s0 * wz) * slope
        h2 += (s0 * wy - s1 * wx) * slope
        h3 += (s4 * wz - s5 * wy + s1 * vz - s2 * vy) * slope - (py * h2 - pz * h1)
        h4 += (s5 * wx - s3 * wz + s2 * vx - s0 * vz) * slope - (pz * h0 - px * h2)
        h5 += (s3 * wy - s4 * wx + s0 * vy - s1 * vx) * slope - (px * h1 - py * h0)
        s3 -= py * s2 - pz * s1
        s4 -= pz * s0 - px * s2
        s5 -= px * s1 - py * s0
        h0, h1, h2 = (
            wx * bend + e00 * h0 + e10 * h1 + e20 * h2,
            wy * bend + e01 * h0 + e11 * h1 + e21 * h2,
            wz * bend + e02 * h0 + e12 * h1 + e22 * h2,
        )
        h3, h4, h5 = (
            vx * bend + e00 * h3 + e10 * h4 + e20 * h5,
            vy * bend + e01 * h3 + e11 * h4 + e21 * h5,
            vz * bend + e02 * h3 + e12 * h4 + e22 * h5,
        )
        s0, s1, s2 = (
            wx * slope + e00 * s0 + e10 * s1 + e20 * s2,
            wy * slope + e01 * s0 + e11 * s1 + e21 * s2,
            wz * slope + e02 * s0 + e12 * s1 + e22 * s2,
        )
        s3, s4, s5 = (
            vx * slope + e00 * s3 + e10 * s4 + e20 * s5,
            vy * slope + e01 * s3 + e11 * s4 + e21 * s5,
            vz * slope + e02 * s3 + e12 * s4 + e22 * s5,
        )
    G[0], G[1], G[2], G[3], G[4], G[5] = g0, g1, g2, g3, g4, g5
    G[6], G[7], G[8], G[9], G[10], G[11] = g6, g7, g8, x0, x1, x2
    jacobian[0, 0], jacobian[0, 1], jacobian[0, 2] = s0, s1, s2
    jacobian[0, 3], jacobian[0, 4], jacobian[0, 5] = s3, s4, s5
    hessian[0, 0, 0], hessian[0, 0, 1], hessian[0, 0, 2] = h0, h1, h2
    hessian[0, 0, 3], hessian[0, 0, 4], hessian[0, 0, 5] = h3, h4, h5


@njit(cache=True)
def curve_hessians(params, places, out):
    """ds/dq at each of `places`, into out (n, 6)."""
    G, jacobian, hessian = np.empty(12), np.empty((1, 6)), np.empty((1, 1, 6))
    for k in range(len(places)):
        curve(params, 0, places[k], G, jacobian, hessian)
        for c in range(6):
            out[k, c] = hessian[0, 0, c]
