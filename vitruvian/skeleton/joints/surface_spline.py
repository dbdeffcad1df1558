"""Multi-DOF spline joint: a product of exponentials of six constant twists times spline functions (Lee 2008, 6.3.2).

G(q, t) = H ∏_{j=1..6} exp(e_j φ_j(q, t)),   φ_j(q, t) = Σ_a C_{j,a}(t) B_{a_1}(q_1) ... B_{a_n}(q_n),   n <= 3   (6.25)

Surfaces may move: given the controls' first and second time derivatives, time enters the recursion of section 6.3.3
as one more coordinate whose velocity is 1. Its Jacobian s_t is the drift of the child, and its Hessian entries enter
the bias acceleration; no virtual force is needed. By default translations come first, then Euler angles about z, y, x.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.skeleton.joints.base import SURFACE, Array, Joint, check_finite
from vitruvian.skeleton.joints.regularity import SINGULAR, samples, weakest_point
from vitruvian.spatial import open_knots, periodic_knots, uniform_knots
from vitruvian.spatial.bspline import MAX_ORDER, basis_derivatives, check_knots, wrap_coordinate
from vitruvian.spatial.exponentials import RECORD, multiply_exponential, twist_record

_E = np.eye(6)
TRANSLATIONS_THEN_ZYX = np.array([_E[3], _E[4], _E[5], _E[2], _E[1], _E[0]])
HEAD = 5  # per coordinate: order, controls, periodic, domain low, domain high
LEAST_SAMPLES = 8  # of the Jacobian along each coordinate


class SurfaceSpline(Joint):
    """n = 1, 2 or 3 degrees of freedom on a spline manifold.

    controls: C, shape (6, m_1, ..., m_n), [m or rad] by twist. domain: (low, high) of each coordinate; knots are
    uniform unless `breaks` gives them per coordinate (open: m - order + 2, with the ends repeated; periodic: m + 1).
    periodic: one flag per coordinate. winding: what each φ_j gains over one period of each coordinate, shape (6, n),
    e.g. 2π for an angle that turns once. twists: e_j, shape (6, 6). home: H, shape (4, 4).
    moving: whether controls may change in time (`Skeleton.with_moving_surfaces`).
    """

    code = SURFACE

    def __init__(
        self,
        controls: ArrayLike,
        domain: ArrayLike,
        *,
        order: int = 4,
        periodic: bool | tuple[bool, ...] = False,
        breaks: tuple[ArrayLike | None, ...] | None = None,
        winding: ArrayLike | None = None,
        twists: ArrayLike = TRANSLATIONS_THEN_ZYX,
        home: ArrayLike | None = None,
        moving: bool = False,
    ) -> None:
        check_finite(controls, "spline joint: controls")
        self.controls = np.array(controls, dtype=float)
        n = self.controls.ndim - 1
        if n not in (1, 2, 3) or self.controls.shape[0] != 6:
            raise InputError(
                f"spline joint: controls must have the shape (6, m_1, ..., m_n), not {self.controls.shape}"
            )
        self.n_v = n
        self.bounds = np.array(domain, dtype=float).reshape(n, 2)
        self.order = order
        self.periodic = (periodic,) * n if isinstance(periodic, bool) else tuple(periodic)
        self.winding = np.zeros((6, n)) if winding is None else np.array(winding, dtype=float).reshape(6, n)
        self.twists = np.array(twists, dtype=float).reshape(6, 6)
        self.home = np.eye(4) if home is None else np.array(home, dtype=float).reshape(4, 4)
        self.moving = moving
        for part in ("bounds", "winding", "twists", "home"):
            check_finite(getattr(self, part), f"spline joint: {part}")
        self.knots = [self._knots(d, None if breaks is None else breaks[d]) for d in range(n)]

    def _knots(self, d: int, breaks: ArrayLike | None) -> Array:
        m, k = self.controls.shape[d + 1], self.order
        low, high = self.bounds[d]
        if not high > low:
            raise InputError(f"spline joint: coordinate {d} has an empty domain")
        if not self.periodic[d] and m < k:
            raise InputError(f"spline joint: coordinate {d} has {m} controls, too few for order {k}")
        if self.periodic[d]:
            b = np.linspace(low, high, m + 1) if breaks is None else np.asarray(breaks, dtype=float)
            knots = periodic_knots(b, k)
        else:
            knots = uniform_knots(m, k, low, high) if breaks is None else open_knots(breaks, k)
        check_knots(knots, m + k - 1 if self.periodic[d] else m, k, f"spline joint: coordinate {d}")
        return knots

    @property
    def domain(self) -> tuple[tuple[float, float], ...] | None:
        if all(self.periodic):
            return None
        return tuple((-np.inf, np.inf) if p else (float(b[0]), float(b[1])) for p, b in zip(self.periodic, self.bounds))

    def zero(self) -> Array:
        low, high = self.bounds.T
        return np.where((low <= 0.0) & (high >= 0.0), 0.0, 0.5 * (low + high))

    def extended(self, controls: ArrayLike, winding: Array) -> Array:
        """Controls with periodic coordinates continued by order - 1, shape (6, ...)."""
        C = np.asarray(controls, dtype=float)
        for d in range(self.n_v):
            if self.periodic[d]:
                m = C.shape[d + 1]
                index = np.arange(m + self.order - 1)
                turns = winding[:, d].reshape((6,) + (1,) * self.n_v)
                where = (index // m).reshape((1,) * (d + 1) + (-1,) + (1,) * (self.n_v - 1 - d))
                C = np.take(C, index % m, axis=d + 1) + turns * where
        return C

    def parameters(self, placement: Array) -> Array:
        n, k = self.n_v, self.order
        head: list[float] = [float(n), float(self.moving)]
        for d in range(n):
            head += [k, len(self.knots[d]) - k, float(self.periodic[d]), *self.bounds[d]]
        C = self.extended(self.controls, self.winding)
        parts = [np.array(head), self.home[:3, :3].ravel(), self.home[:3, 3]]
        parts += [twist_record(e) for e in self.twists]
        parts += [*self.knots, C.ravel()]
        if self.moving:
            parts += [np.zeros(2 * C.size)]
        return np.concatenate(parts)

    def motion_parameters(self, controls: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> Array:
        """The tail of `parameters` that changes when the surface moves: C, Ċ, C̈ as the kernel reads them."""
        still = np.zeros((6, self.n_v))
        parts = []
        for name, values in (("controls", controls), ("rates", rates), ("accelerations", accelerations)):
            check_finite(values, f"moving spline joint: {name}")
            if np.shape(values) != self.controls.shape:
                raise InputError(f"moving spline joint: {name} must have the shape {self.controls.shape}")
            parts.append(self.extended(values, self.winding if name == "controls" else still).ravel())
        return np.concatenate(parts)

    def check(self, bone: str) -> None:
        params = self.parameters(np.eye(4))
        G, S, H = np.empty(12), np.empty((7, 6)), np.empty((7, 7, 6))
        scratch, n = np.empty(SCRATCH), self.n_v

        def jacobian(q: Array) -> tuple[Array, Array]:
            surface(params, 0, q, 0, G, S, H, scratch)
            return S[:n].copy(), H[:n, :n].copy()

        axes = []
        for (low, high), knots in zip(self.bounds, self.knots):
            breaks = np.unique(np.clip(knots, low, high))
            axes.append(samples(breaks, max(2, -(-LEAST_SAMPLES // (len(breaks) - 1)))))
        at, sigma = weakest_point(jacobian, axes, self.periodic)
        if not sigma > SINGULAR:
            where = ", ".join(f"{c:.6g}" for c in at)
            raise InputError(f"bone '{bone}': the Jacobian of the spline joint loses rank at q = ({where})")


SCRATCH = 3 * 5 * MAX_ORDER + 6 + 6 * 4 + 6 * 16


@njit(cache=True)
def surface(params, p, q, i, G, jacobian, hessian, scratch):
    """Fill G (12,), s (n+1, 6), ∂s (n+1, n+1, 6); index n is time, and zero when the surface stands still."""
    n, moving = int(params[p]), params[p + 1] != 0.0
    dims = n + 1 if moving else n
    home = p + 2 + HEAD * n
    record0 = home + 12
    knot0 = record0 + 6 * RECORD
    basis = scratch[: 15 * MAX_ORDER].reshape(3, 5, MAX_ORDER)
    phi = scratch[15 * MAX_ORDER : 15 * MAX_ORDER + 6]
    slope = scratch[15 * MAX_ORDER + 6 : 15 * MAX_ORDER + 30].reshape(6, 4)
    curvature = scratch[15 * MAX_ORDER + 30 : 15 * MAX_ORDER + 126].reshape(6, 4, 4)
    order = int(params[p + 2])
    m1, m2 = 1, 1
    f0, f1, f2 = 0, 0, 0
    c0 = knot0
    for d in range(n):
        h = p + 2 + HEAD * d
        x = q[i + d]
        if params[h + 2] != 0.0:
            x = wrap_coordinate(x, params[h + 3], params[h + 4])
        m = int(params[h + 1])
        first = basis_derivatives(params, c0, m, order, x, basis[d])
        c0 += m + order
        if d == 0:
            f0 = first
        elif d == 1:
            f1, m1 = first, m
        else:
            f2, m2 = first, m
    size = int(params[p + 3]) * m1 * m2
    for j in range(6):
        base = c0 + j * size
        _tensor(params, base, size, n, moving, order, f0, f1, f2, m1, m2, basis, j, phi, slope, curvature)
    for c in range(12):
        G[c] = params[home + c]
    for a in range(dims):
        for c in range(6):
            jacobian[a, c] = 0.0
            for b in range(dims):
                hessian[a, b, c] = 0.0
    for j in range(6):
        multiply_exponential(params, record0 + RECORD * j, phi[j], slope[j], curvature[j], dims, G, jacobian, hessian)


@njit(cache=True)
def _tensor(params, base, size, n, moving, order, f0, f1, f2, m1, m2, basis, j, phi, slope, curvature):
    """φ_j with its first and second derivatives in q and t, from the tensor product of the bases."""
    value, d0, d1, d2, d00, d01, d02, d11, d12, d22 = _contract(params, base, n, order, f0, f1, f2, m1, m2, basis)
    phi[j] = value
    slope[j, 0], slope[j, 1], slope[j, 2] = d0, d1, d2
    bend = curvature[j]
    bend[0, 0], bend[0, 1], bend[0, 2] = d00, d01, d02
    bend[1, 0], bend[1, 1], bend[1, 2] = d01, d11, d12
    bend[2, 0], bend[2, 1], bend[2, 2] = d02, d12, d22
    if moving:
        rates, accelerations = base + 6 * size, base + 12 * size
        value, d0, d1, d2, _, _, _, _, _, _ = _contract(params, rates, n, order, f0, f1, f2, m1, m2, basis)
        slope[j, n] = value
        for a in range(n):
            d = d0 if a == 0 else (d1 if a == 1 else d2)
            bend[a, n] = d
            bend[n, a] = d
        bend[n, n] = _contract(params, accelerations, n, order, f0, f1, f2, m1, m2, basis)[0]


@njit(cache=True)
def _contract(params, base, n, order, f0, f1, f2, m1, m2, basis):
    """Σ C B(q_0) B(q_1) B(q_2) and its first and second derivatives, the innermost coordinate summed first."""
    n1 = order if n > 1 else 1
    n2 = order if n > 2 else 1
    value, d0, d1, d2, d00, d01, d02, d11, d12, d22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(order):
        u, u1, u2, u11, u12, u22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for b in range(n1):
            at = base + ((f0 + a) * m1 + (f1 + b)) * m2 + f2
            if n > 2:
                t, t2, t22 = 0.0, 0.0, 0.0
                for c in range(n2):
                    t += params[at + c] * basis[2, 0, c]
                    t2 += params[at + c] * basis[2, 1, c]
                    t22 += params[at + c] * basis[2, 2, c]
            else:
                t, t2, t22 = params[at], 0.0, 0.0
            if n > 1:
                u += basis[1, 0, b] * t
                u1 += basis[1, 1, b] * t
                u2 += basis[1, 0, b] * t2
                u11 += basis[1, 2, b] * t
                u12 += basis[1, 1, b] * t2
                u22 += basis[1, 0, b] * t22
            else:
                u = t
        A, A1 = basis[0, 0, a], basis[0, 1, a]
        value += A * u
        d0 += A1 * u
        d1 += A * u1
        d2 += A * u2
        d00 += basis[0, 2, a] * u
        d01 += A1 * u1
        d02 += A1 * u2
        d11 += A * u11
        d12 += A * u12
        d22 += A * u22
    return value, d0, d1, d2, d00, d01, d02, d11, d12, d22
