"""A Gaussian process dynamical model of one limb (Wang, Fleet, Hertzmann 2008), learned from captured motion.

Poses Y (n, D) hang on latent points X (n, d), which follow each other:

    ln p(Y | X) = -½ tr(K_Y⁻¹ Y Yᵀ) - ½ D ln |K_Y| - ½ n D ln 2π,      K_Y = b_1 exp(-½ b_2 |x - x'|²) + 1/b_3
    ln p(X)     = the same with X after its first points for Y,       K_X = a_1 exp(-½ a_2 |x - x'|²) + a_3 x·x' + 1/a_4

    mean of a pose   μ(x) = Yᵀ K_Y⁻¹ k(x),      σ²(x) = k(x, x) - k(x)ᵀ K_Y⁻¹ k(x)
    next point       μ_X(x) = X_outᵀ K_X⁻¹ k_X(x)

First points have a unit Gaussian; parameters a prior -Σ ln. Clips are joined by a connectivity prior: every point is
drawn to the nearest ones of other clips (after Levine et al. 2012, who use a diffusion kernel),

    w Σ_i ln Σ_j exp(-½ |x_i - x_j|² / l²),     j in other clips

Noise is kept above a floor: free, it runs to nothing, and the prior of a motion becomes a needle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

Array = np.ndarray
SHARPEST = 1e4  # of 1/noise variance
CONNECT, REACH = 0.1, 0.5  # w and l of the connectivity prior


@dataclass(frozen=True)
class Gpdm:
    """A learned limb; poses are (y - mean) / scale."""

    X: Array  # latent points, (n, d)
    Y: Array  # scaled poses, (n, D)
    first: Array  # whether a clip begins there, bool, (n,)
    pose_kernel: Array  # b_1, b_2, b_3
    motion_kernel: Array  # a_1, a_2, a_3, a_4
    mean: Array  # (D,)
    scale: float

    @property
    def into(self) -> Array:
        """Numbers of points that have a next one."""
        return np.flatnonzero(~np.append(self.first[1:], True))

    def pose(self, x: Array) -> Array:
        """Mean pose at latent points (m, d), (m, D)."""
        K = _rbf(self.X, self.X, *self.pose_kernel[:2]) + np.eye(len(self.X)) / self.pose_kernel[2]
        k = _rbf(np.atleast_2d(x), self.X, *self.pose_kernel[:2])
        return np.asarray(self.mean + self.scale * (k @ np.linalg.solve(K, self.Y)))


def likelihood(X: Array, Y: Array, first: Array, b: Array, a: Array) -> tuple[float, Array, Array, Array]:
    """ln p(Y, X) with the priors of first points and parameters, without the connectivity prior; its gradients by X,
    ln b and ln a."""
    n = len(Y)
    K = _rbf(X, X, b[0], b[1])
    noisy = K + np.eye(n) / b[2]
    value, G = _gaussian(noisy, Y)
    gX = _through_rbf(G, K, X, b[1])
    gb = np.array([(G * K).sum(), -0.5 * b[1] * (G * K * _squares(X, X)).sum(), -np.trace(G) / b[2]])
    here = np.flatnonzero(~np.append(first[1:], True))
    A, out = X[here], X[here + 1]
    R = _rbf(A, A, a[0], a[1])
    L = A @ A.T
    total, G2 = _gaussian(R + a[2] * L + np.eye(len(A)) / a[3], out)
    value += total
    gA = _through_rbf(G2, R, A, a[1]) + 2.0 * a[2] * G2 @ A
    np.add.at(gX, here, gA)
    Kx = cho_factor(R + a[2] * L + np.eye(len(A)) / a[3])
    np.add.at(gX, here + 1, -cho_solve(Kx, out))
    ga = np.array(
        [(G2 * R).sum(), -0.5 * a[1] * (G2 * R * _squares(A, A)).sum(), a[2] * (G2 * L).sum(), -np.trace(G2) / a[3]]
    )
    begin = X[first]
    value += -0.5 * float((begin**2).sum()) - 0.5 * begin.size * np.log(2.0 * np.pi)
    gX[first] -= begin
    value += -float(np.log(b).sum() + np.log(a).sum())
    return value, gX, gb - 1.0, ga - 1.0


def connectivity(X: Array, clip: Array) -> tuple[float, Array]:
    """The connectivity prior and its gradient; clip: number of each point's clip, (n,)."""
    other = clip[:, None] != clip[None, :]
    if not other.any():
        return 0.0, np.zeros_like(X)
    E = np.where(other, -0.5 * _squares(X, X) / REACH**2, -np.inf)
    top = E.max(axis=1, keepdims=True)
    P = np.exp(E - top)
    total = P.sum(axis=1, keepdims=True)
    value = CONNECT * float((top + np.log(total)).sum())
    P /= total
    S = P + P.T
    return value, -CONNECT / REACH**2 * (S.sum(axis=1)[:, None] * X - S @ X)


def learn(poses: Array, clip: Array, d: int = 3, steps: int = 60) -> Gpdm:
    """From poses (n, D) [rad] of clips, frames in order; clip: number of each frame's clip."""
    first = np.append(True, clip[1:] != clip[:-1])
    mean = poses.mean(axis=0)
    scale = float((poses - mean).std())
    Y = (poses - mean) / scale
    _, _, axes = np.linalg.svd(Y, full_matrices=False)
    X = Y @ axes[:d].T
    X = X / X.std()
    n = len(Y)

    def negative(z: Array) -> tuple[float, Array]:
        points, b, a = z[: n * d].reshape(n, d), np.exp(z[n * d : n * d + 3]), np.exp(z[n * d + 3 :])
        value, gX, gb, ga = likelihood(points, Y, first, b, a)
        more, gC = connectivity(points, clip)
        return -value - more, -np.concatenate([(gX + gC).ravel(), gb, ga])

    start = np.concatenate([X.ravel(), np.log([1.0, 1.0, 100.0]), np.log([1.0, 1.0, 0.1, 100.0])])
    bound = (
        [(None, None)] * (n * d)
        + [(-6, 6), (-4, 4), (0, np.log(SHARPEST))]
        + [(-6, 6), (-4, 4), (-8, 4), (0, np.log(SHARPEST))]
    )
    best = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bound, options={"maxiter": steps})
    z = best.x
    return Gpdm(z[: n * d].reshape(n, d), Y, first, np.exp(z[n * d : n * d + 3]), np.exp(z[n * d + 3 :]), mean, scale)


def thinned(model: Gpdm, most: int) -> Gpdm:
    """The same model on fewer points: those farthest from each other in latent space, and for each its next one's
    place is kept by the motion kernel over the points that follow each other."""
    if len(model.X) <= most:
        return model
    chosen = [int(np.argmin(((model.X - model.X.mean(axis=0)) ** 2).sum(axis=1)))]
    gap = ((model.X - model.X[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, ((model.X - model.X[chosen[-1]]) ** 2).sum(axis=1))
    order = np.sort(chosen)
    first = np.append(True, np.diff(order) > 1) | model.first[order]
    return Gpdm(model.X[order], model.Y[order], first, model.pose_kernel, model.motion_kernel, model.mean, model.scale)


def _squares(A: Array, B: Array) -> Array:
    return np.maximum((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None, :] - 2.0 * A @ B.T, 0.0)


def _rbf(A: Array, B: Array, height: float, sharp: float) -> Array:
    return np.asarray(height * np.exp(-0.5 * sharp * _squares(A, B)))


def _gaussian(K: Array, Y: Array) -> tuple[float, Array]:
    """ln N(Y; 0, K) over columns, and its derivative by K (symmetric)."""
    factor = cho_factor(K, lower=True)
    n, D = Y.shape
    W = cho_solve(factor, Y)
    value = (
        -0.5 * float((W * Y).sum()) - D * float(np.log(np.diag(factor[0])).sum()) - 0.5 * n * D * np.log(2.0 * np.pi)
    )
    return value, 0.5 * (W @ W.T - D * cho_solve(factor, np.eye(n)))


def _through_rbf(G: Array, K: Array, X: Array, sharp: float) -> Array:
    """Gradient by X of a function whose derivative by the RBF matrix K is G."""
    S = G * K
    return np.asarray(-2.0 * sharp * (S.sum(axis=1)[:, None] * X - S @ X))
