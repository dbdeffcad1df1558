"""Where a limb goes naturally: the next latent points of all limbs, found together (Si 2013, 5.19-5.20).

With μ(x) the limb's mean pose, σ² its variance, μ_X and s² mean and variance of the point after x (`gpdm`)

    E(x') = ½ (u - u*)ᵀ Q (u - u*)                                  what the tasks would have the limbs do, at rates u
          + Σ  w_prior ½ |x' - μ_X(x)|² / s²  +  w_smooth |μ(x') - μ(x)|²  +  w_confid σ²(x')
    u     = (μ(x') - μ(x)) / Δ + (μ(x) - y) / τ                      y: the limb's pose now

over the four limbs; Q and u* come from the program of the tasks, everything but the limbs eliminated. Gradients are
analytic; steps are those of Levenberg and Marquardt with the curvature of the squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.control.tasks.gpdm import Gpdm, _rbf

Array = np.ndarray
MOST = 8  # steps
EVEN = 1e-9  # share of E at which they end


@dataclass(frozen=True)
class LatentWeights:
    """Of (5.19), in SI units: the printed ones do not carry over."""

    prior: float = 1e-3
    smooth: float = 0.5
    confid: float = 0.05


@dataclass(frozen=True)
class Tabled:
    """A limb's model as kernels want it, all limbs padded to the same number of points."""

    X: Array  # (limbs, n, d)
    alpha: Array  # K_Y⁻¹ Y, scaled to radians, (limbs, n, D)
    inverse: Array  # K_Y⁻¹, (limbs, n, n)
    pose: Array  # b_1, b_2, b_3, (limbs, 3)
    mean: Array  # (limbs, D)
    A: Array  # points that have a next one, (limbs, m, d)
    beta: Array  # K_X⁻¹ X_out, (limbs, m, d)
    forward: Array  # K_X⁻¹, (limbs, m, m)
    motion: Array  # (limbs, 4)

    @classmethod
    def of(cls, models: list[Gpdm]) -> Tabled:
        n, m = max(len(g.X) for g in models), max(len(g.into) for g in models)
        d, D, k = models[0].X.shape[1], models[0].Y.shape[1], len(models)
        out = cls(
            np.full((k, n, d), 1e6), np.zeros((k, n, D)), np.zeros((k, n, n)),
            np.array([g.pose_kernel for g in models]),
            np.array([g.mean for g in models]), np.full((k, m, d), 1e6), np.zeros((k, m, d)), np.zeros((k, m, m)),
            np.array([g.motion_kernel for g in models]),
        )  # fmt: skip
        for i, g in enumerate(models):
            c, at = len(g.X), g.into
            K = _rbf(g.X, g.X, *g.pose_kernel[:2]) + np.eye(c) / g.pose_kernel[2]
            out.X[i, :c], out.inverse[i, :c, :c] = g.X, np.linalg.inv(K)
            out.alpha[i, :c] = g.scale * np.linalg.solve(K, g.Y)
            A, a = g.X[at], g.motion_kernel
            M = _rbf(A, A, a[0], a[1]) + a[2] * A @ A.T + np.eye(len(at)) / a[3]
            out.A[i, : len(at)], out.forward[i, : len(at), : len(at)] = A, np.linalg.inv(M)
            out.beta[i, : len(at)] = np.linalg.solve(M, g.X[at + 1])
        return out

    def arrays(self) -> tuple[Array, ...]:
        return (self.X, self.alpha, self.inverse, self.pose, self.mean)

    def at(self, x: Array) -> Array:
        """Mean poses (limbs, D) at latent points (limbs, d)."""
        return np.array([_look(i, x[i], self.arrays())[0] for i in range(len(x))])

    def next(self, x: Array) -> tuple[Array, Array]:
        """Means (limbs, d) and variances (limbs,) of the points that follow x (limbs, d)."""
        mean, variance = np.empty_like(x), np.empty(len(x))
        _follow(x, self.A, self.beta, self.forward, self.motion, mean, variance)
        return mean, variance

    def nearest(self, y: Array) -> Array:
        """Latent points (limbs, d) of the learned poses nearest to y (limbs, D)."""
        out = np.empty((len(y), self.X.shape[2]))
        for i in range(len(y)):
            real = self.X[i, :, 0] < 1e5
            points = self.X[i][real]
            poses = np.array([_look(i, p, self.arrays())[0] for p in points])
            out[i] = points[np.argmin(((poses - y[i]) ** 2).sum(axis=1))]
        return out


def objective(
    t: Tabled, w: LatentWeights, x: Array, before: Array, y: Array, Q: Array, u: Array, dt: float, settle: float
) -> tuple[float, Array]:
    """E and its gradient (limbs, d) at x, after the points `before`; y (limbs, D), Q and u over limbs x D rates."""
    here = t.at(before)
    mean, variance = t.next(before)
    g, H = np.empty(x.size), np.empty((x.size, x.size))
    value = _objective(x, t.arrays(), here, y, mean, variance, Q, u, dt, settle, w.prior, w.smooth, w.confid, g, H)
    return float(value), g.reshape(x.shape)


def next_points(
    t: Tabled, w: LatentWeights, before: Array, y: Array, Q: Array, u: Array, dt: float, settle: float
) -> Array:
    """The points (limbs, d) that minimise E, from where the model goes by itself or from where it is."""
    here = t.at(before)
    mean, variance = t.next(before)
    return np.asarray(
        _minimise(before.copy(), t.arrays(), here, y, mean, variance, Q, u, dt, settle, w.prior, w.smooth, w.confid)
    )


@nb.njit(cache=True)
def _look(i, x, model):
    """Mean pose (D,), its slope (D, d), variance and its slope (d,) of limb i at x."""
    X, alpha, inverse, pose, mean = model
    n, d, D = X.shape[1], X.shape[2], alpha.shape[2]
    k = np.empty(n)
    mu, J, vs = mean[i].copy(), np.zeros((D, d)), np.zeros(d)
    for p in range(n):
        s = 0.0
        for c in range(d):
            s += (x[c] - X[i, p, c]) ** 2
        k[p] = pose[i, 0] * np.exp(-0.5 * pose[i, 1] * s)
        if k[p] < 1e-14:
            k[p] = 0.0
            continue
        for a in range(D):
            f = k[p] * alpha[i, p, a]
            mu[a] += f
            for c in range(d):
                J[a, c] -= pose[i, 1] * (x[c] - X[i, p, c]) * f
    variance = pose[i, 0] + 1.0 / pose[i, 2]
    for p in range(n):
        if k[p] == 0.0:
            continue
        s = 0.0
        row = inverse[i, p]
        for r in range(n):
            s += row[r] * k[r]
        variance -= k[p] * s
        for c in range(d):
            vs[c] += 2.0 * pose[i, 1] * (x[c] - X[i, p, c]) * k[p] * s
    return mu, J, variance, vs


@nb.njit(cache=True)
def _follow(x, A, beta, forward, motion, mean, variance):
    limbs, m, d = A.shape
    k = np.empty(m)
    for i in range(limbs):
        size = 0.0
        for c in range(d):
            mean[i, c] = 0.0
            size += x[i, c] ** 2
        for p in range(m):
            if A[i, p, 0] > 1e5:
                k[p] = 0.0
                continue
            s, dot = 0.0, 0.0
            for c in range(d):
                s += (x[i, c] - A[i, p, c]) ** 2
                dot += x[i, c] * A[i, p, c]
            k[p] = motion[i, 0] * np.exp(-0.5 * motion[i, 1] * s) + motion[i, 2] * dot
            for c in range(d):
                mean[i, c] += k[p] * beta[i, p, c]
        v = motion[i, 0] + motion[i, 2] * size + 1.0 / motion[i, 3]
        for p in range(m):
            if k[p] != 0.0:
                s = 0.0
                for r in range(m):
                    s += forward[i, p, r] * k[r]
                v -= k[p] * s
        variance[i] = max(v, 1.0 / motion[i, 3])


@nb.njit(cache=True)
def _objective(x, model, here, y, ahead, variance, Q, wish, dt, settle, w_prior, w_smooth, w_confid, g, H):
    limbs, d = x.shape
    pose = model[3]
    D = model[1].shape[2]
    n = limbs * d
    value = 0.0
    J = np.zeros((limbs * D, n))
    off = np.empty(limbs * D)
    g[:] = 0.0
    H[:] = 0.0
    for i in range(limbs):
        mu, slope, v, vs = _look(i, x[i], model)
        for a in range(D):
            moved = mu[a] - here[i, a]
            off[i * D + a] = moved / dt + (here[i, a] - y[i, a]) / settle - wish[i * D + a]
            value += w_smooth * moved * moved
            for c in range(d):
                J[i * D + a, i * d + c] = slope[a, c]
                g[i * d + c] += 2.0 * w_smooth * moved * slope[a, c]
                for e in range(d):
                    H[i * d + c, i * d + e] += 2.0 * w_smooth * slope[a, c] * slope[a, e]
        value += w_confid * v
        for c in range(d):
            left = x[i, c] - ahead[i, c]
            value += 0.5 * w_prior * left * left / variance[i]
            g[i * d + c] += w_prior * left / variance[i] + w_confid * vs[c]
            H[i * d + c, i * d + c] += w_prior / variance[i] + w_confid * pose[i, 0] * pose[i, 1]
    Qo = Q @ off
    value += 0.5 * (off @ Qo)
    g += J.T @ Qo / dt
    H += J.T @ (Q @ J) / (dt * dt)
    return value


@nb.njit(cache=True)
def _minimise(x, model, here, y, ahead, variance, Q, wish, dt, settle, w_prior, w_smooth, w_confid):
    n = x.size
    g, H, g2, H2 = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((n, n))
    given = (model, here, y, ahead, variance, Q, wish, dt, settle, w_prior, w_smooth, w_confid)
    value = _objective(x, *given, g, H)
    start = _objective(ahead, *given, g2, H2)
    if start < value:
        x, value = ahead.copy(), start
        g[:], H[:] = g2, H2
    damp = 1e-3
    for _ in range(MOST):
        A = H.copy()
        for c in range(n):
            A[c, c] += damp * (H[c, c] + 1e-9)
        step = np.linalg.solve(A, -g)
        there = x + step.reshape(x.shape)
        new = _objective(there, *given, g2, H2)
        if new < value:
            done = value - new < EVEN * abs(value)
            x, value = there, new
            g[:], H[:] = g2, H2
            damp *= 0.2
            if done:
                break
        else:
            damp *= 10.0
    return x
