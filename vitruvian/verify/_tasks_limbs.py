"""Claims on the learned motion of limbs."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal

from vitruvian.control.tasks.gpdm import connectivity, likelihood
from vitruvian.control.tasks.latent import LatentWeights, objective
from vitruvian.control.tasks.limbs import LIMBS, load, shipped
from vitruvian.verify.book import Finding, worst

Array = np.ndarray


def _small() -> tuple[Array, Array, Array, Array, Array]:
    """Points, poses, beginnings and parameters of a small model."""
    rng = np.random.default_rng(0)
    first = np.zeros(14, bool)
    first[[0, 6]] = True
    return (
        rng.standard_normal((14, 3)),
        rng.standard_normal((14, 4)),
        first,
        np.array([1.2, 0.7, 20.0]),
        np.array([0.8, 1.1, 0.3, 30.0]),
    )


def beside_scipy() -> Finding:
    X, Y, first, b, a = _small()
    K = np.array([[b[0] * np.exp(-0.5 * b[1] * np.sum((p - q) ** 2)) for q in X] for p in X]) + np.eye(len(X)) / b[2]
    here = [i for i in range(len(X) - 1) if not first[i + 1]]
    M = np.array(
        [[a[0] * np.exp(-0.5 * a[1] * np.sum((X[i] - X[j]) ** 2)) + a[2] * X[i] @ X[j] for j in here] for i in here]
    ) + np.eye(len(here)) / a[3]  # fmt: skip
    told = sum(multivariate_normal(None, K).logpdf(Y[:, k]) for k in range(Y.shape[1]))
    told += sum(multivariate_normal(None, M).logpdf(X[[i + 1 for i in here], k]) for k in range(X.shape[1]))
    told += sum(multivariate_normal(np.zeros(3), np.eye(3)).logpdf(X[i]) for i in np.flatnonzero(first))
    told -= np.log(b).sum() + np.log(a).sum()
    value = likelihood(X, Y, first, b, a)[0]
    return Finding.error(
        abs(value - told) / abs(told), 1e-10, "relative", f"ln p = {value:.3f}, two clips of 14 points"
    )


def gradients() -> Finding:
    X, Y, first, b, a = _small()
    h = 1e-6
    _, gX, gb, ga = likelihood(X, Y, first, b, a)
    clip = np.cumsum(first)
    gC = connectivity(X, clip)[1]
    scale, errors = float(np.abs(gX).max()), []
    for i in np.ndindex(X.shape):
        d = np.zeros_like(X)
        d[i] = h
        numeric = (likelihood(X + d, Y, first, b, a)[0] - likelihood(X - d, Y, first, b, a)[0]) / (2.0 * h)
        errors.append(float(abs(numeric - gX[i])) / scale)
        joined = (connectivity(X + d, clip)[0] - connectivity(X - d, clip)[0]) / (2.0 * h)
        errors.append(float(abs(joined - gC[i])) / float(np.abs(gC).max()))
    for k in range(7):
        e = np.zeros(7)
        e[k] = h
        up, down = (likelihood(X, Y, first, b * np.exp(s * e[:3]), a * np.exp(s * e[3:]))[0] for s in (1.0, -1.0))
        errors.append(float(abs((up - down) / (2.0 * h) - np.concatenate([gb, ga])[k])) / scale)
    return Finding.error(worst(errors), 1e-6, "relative", "points, seven parameters, connectivity prior")


def latent() -> Finding:
    t, rng, h, errors = shipped(), np.random.default_rng(1), 1e-5, []
    weights = LatentWeights()
    real = [np.flatnonzero(t.X[i, :, 0] < 1e5) for i in range(len(LIMBS))]
    for _ in range(5):
        before = np.array([t.X[i, rng.choice(r)] for i, r in enumerate(real)])
        x = before + 0.1 * rng.standard_normal(before.shape)
        half = rng.standard_normal((16, 16))
        Q, u, y = half @ half.T / 16.0, rng.standard_normal(16), t.at(before) + 0.1
        given = (before, y, Q, u, 1.0 / 30.0, 0.5)
        _, g = objective(t, weights, x, *given)
        for i in np.ndindex(x.shape):
            d = np.zeros_like(x)
            d[i] = h
            numeric = (objective(t, weights, x + d, *given)[0] - objective(t, weights, x - d, *given)[0]) / (2.0 * h)
            errors.append(float(abs(numeric - g[i])) / float(np.abs(g).max()))
    return Finding.error(worst(errors), 1e-6, "relative", "four limbs, 12 latent coordinates, 5 points")


def learned() -> Finding:
    """rms angle between the shipped models' poses and those they hold."""
    found = []
    for limb, g in load().items():
        y = g.mean + g.scale * g.Y
        found.append((limb, float(np.degrees(np.sqrt(((g.pose(g.X) - y) ** 2).mean())))))
    each = ", ".join(f"{limb} {error:.2f}" for limb, error in found)
    return Finding.within(worst(e for _, e in found), 0.0, 3.0, "deg", each)
