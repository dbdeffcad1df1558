"""Learning the oscillators' weights from length signals by locally weighted regression (Si 2013, eqs. 4.4-4.8).

    f = y'' / W^2 - alpha (beta (g - y) - y' / W)                                                  (4.5)
    incremental, sample after sample, with forgetting L:
        P <- (P - P^2 r^2 / (L / Psi + P r^2)) / L,      w <- w + Psi P r (f - w r)                (4.6-4.8)
    batch:  w = sum Psi r f / (1 / P_0 + sum Psi r^2), what the former gives with L = 1 from w = 0, P = P_0

Signals are scaled to -0.5..0.5 and to a period of 2 pi (W = 1), so r = 1 and g = 0 while learning.

One regression blurs: kernel i learns the mean of f around its centre, and the oscillator mixes neighbouring kernels
again, which takes 13 % off the third harmonic (a six-beat kick). So the regression is repeated on what the mixture
leaves, f - sum Psi w / sum Psi, `rounds` times; rounds = 1 is Si's. Forgetting adds a lag: with L = 0.95 a kernel
remembers some twenty samples, those after its centre best, and shifts by log(1/L) / h per unit of sampled phase.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.control.rhythm.lengths import LengthCycle
from vitruvian.control.rhythm.oscillator import Oscillator
from vitruvian.errors import InputError

Array = np.ndarray
STILL = 1e-9  # [m] range below which a muscle does not move: rounding, no signal


@dataclass(frozen=True)
class Learning:
    """How weights are learned; `SI_LEARNING` is as Si does."""

    forgetting: float = 0.999  # L per sample; 1 forgets nothing
    start: float = 1.0  # P_0
    cycles: int = 3  # how often the signal is shown in each round
    rounds: int = 16


SI_LEARNING = Learning(forgetting=0.95, rounds=1)


@dataclass(frozen=True)
class Pattern:
    """A learned stroke: what a switch of strokes exchanges."""

    name: str
    weights: Array  # w, shape (n_muscles, N)
    amplitude: Array  # r [m], shape (n_muscles,)
    baseline: Array  # g [m], shape (n_muscles,)


def learn_pattern(
    name: str, cycle: LengthCycle, oscillator: Oscillator | None = None, how: Learning | None = None
) -> Pattern:
    """Weights for all muscles from one cycle of lengths."""
    oscillator, how = oscillator or Oscillator(), how or Learning()
    if not 0 < how.forgetting <= 1 or how.cycles < 1 or how.rounds < 1 or not how.start > 0:
        raise InputError(f"learning needs 0 < forgetting <= 1, start > 0, cycles and rounds >= 1, got {how}")
    span = cycle.range
    moving = span > STILL
    scale = np.where(moving, span, 1.0)
    turn = 2.0 * np.pi
    y = np.where(moving, (cycle.length - cycle.middle) / scale, 0.0)
    dy = np.where(moving, cycle.slope / scale, 0.0) / turn
    ddy = np.where(moving, cycle.curvature / scale, 0.0) / turn**2
    wanted = target(oscillator, y, dy, ddy)
    weights = np.zeros((len(span), oscillator.kernels))
    basis, mixture = oscillator.basis(turn * cycle.phase), oscillator.mixture(turn * cycle.phase)
    for _ in range(how.rounds):
        left = wanted - mixture @ weights.T
        weights += incremental(basis, left, how.forgetting, how.start, how.cycles)
    return Pattern(name, weights, np.where(moving, span, 0.0), cycle.middle)


def target(oscillator: Oscillator, y: Array, dy: Array, ddy: Array) -> Array:
    """f of (4.5) with W = 1 and g = 0, from a signal and its derivatives by phase [rad]; any shape."""
    return ddy + oscillator.alpha * (oscillator.beta * y + dy)


def batch(basis: Array, f: Array, start: float = 1.0) -> Array:
    """Weights (n, N) by (4.4) over all samples at once, r = 1. basis: Psi (samples, N); f: (samples, n)."""
    return f.T @ basis / (1.0 / start + basis.sum(axis=0))


def incremental(basis: Array, f: Array, forgetting: float = 0.95, start: float = 1.0, cycles: int = 1) -> Array:
    """Weights (n, N) by (4.6-4.8), r = 1, the samples shown `cycles` times in order."""
    weights, P = np.zeros((basis.shape[1], f.shape[1])), np.full(basis.shape[1], float(start))
    for _ in range(cycles):
        _recurse(np.ascontiguousarray(basis), np.ascontiguousarray(f), float(forgetting), P, weights)
    return weights.T.copy()


@nb.njit(cache=True)
def _recurse(basis: Array, f: Array, forgetting: float, P: Array, weights: Array) -> None:
    """Show all samples once; weights (N, n) and P (N,) are brought up to date."""
    # P depends on phase alone, so all muscles share it.
    for t in range(len(basis)):
        for i in range(len(P)):
            psi = basis[t, i]
            P[i] = (P[i] - P[i] * P[i] * psi / (forgetting + psi * P[i])) / forgetting
            gain = psi * P[i]
            if gain > 0.0:
                row = weights[i]
                for m in range(len(row)):
                    row[m] += gain * (f[t, m] - row[m])
