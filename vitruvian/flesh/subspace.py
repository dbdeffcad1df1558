"""Flesh in a few modes: the balance of the whole body, looked for among sums of balances found before.

    x = X + U q,      minimise L(X + U q) over q

X is the rest body, U an orthonormal basis of full solutions. L is the potential of `potential` with the pressures kept
at rest, so volume is held by γ alone; ties, fibres and walls that touch are in it. The minimum is found by a
quasi-Newton method (L-BFGS, Nocedal 1980) that starts from the stiffness of the modes at rest, inverted once and kept:
a few evaluations a frame when the loads move on a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.potential import Loads, Potential
from vitruvian.flesh.state import rest_state

Array = np.ndarray
MEMORY = 12  # pairs that L-BFGS keeps
ARMIJO = 1e-4
HALVINGS = 8
STEP = 2e-5  # [m] with which the stiffness of the modes is found by differences


@dataclass
class ReducedReport:
    """How a solve went."""

    evaluations: int
    left: float  # unbalanced force over that at the start, in the norm of the modes' compliance
    value: float  # L [J]


class Subspace:
    """The modes of one piece of flesh. Holds nothing that changes."""

    def __init__(self, model: FleshModel, basis: Array, stiffness: Array | None = None) -> None:
        """basis: U as columns, shape (3 n_nodes, r); stiffness: UᵀKU at rest (r, r), found here if left out."""
        n = len(model.elements.nodes)
        if basis.ndim != 2 or basis.shape[0] != 3 * n:
            raise InputError(f"subspace: a basis of {3 * n} rows is needed, not one of shape {basis.shape}")
        self.model = model
        self.basis = np.ascontiguousarray(basis, np.float32)
        self.rest = rest_state(model)
        self.stiffness = self._stiffness() if stiffness is None else stiffness
        values, vectors = np.linalg.eigh(0.5 * (self.stiffness + self.stiffness.T))
        values = np.maximum(values, 1e-6 * values.max())
        self.inverse = (vectors / values) @ vectors.T

    @property
    def n_modes(self) -> int:
        return int(self.basis.shape[1])

    def positions(self, q: Array) -> Array:
        """Nodes [m], shape (n_nodes, 3)."""
        return self.rest.x + (self.basis @ q.astype(np.float32)).astype(float).reshape(-1, 3)

    def project(self, force: Array) -> Array:
        """Uᵀ f, shape (r,)."""
        return (force.reshape(-1).astype(np.float32) @ self.basis).astype(float)

    def solve(self, q: Array, loads: Loads, *, evaluations: int = 8, tolerance: float = 0.02) -> ReducedReport:
        """Move q towards balance, in place, with at most so many evaluations of L."""
        potential = Potential(self.model, loads)
        pressure = self.rest.pressure

        def at(y: Array) -> tuple[float, Array]:
            found = potential.evaluate(self.positions(y), pressure)
            return found.value, -self.project(found.force)

        value, slope = at(q)
        used = 1
        pairs: list[tuple[Array, Array]] = []
        first = float(slope @ self.inverse @ slope)
        while used < evaluations:
            step = -self._direction(slope, pairs)
            down = float(step @ slope)
            if down >= 0.0:
                pairs.clear()
                step = -self.inverse @ slope
                down = float(step @ slope)
            length, moved = 1.0, False
            for _ in range(HALVINGS):
                tried, new = at(q + length * step)
                used += 1
                if tried <= value + ARMIJO * length * down:
                    moved = True
                    break
                length *= 0.5
            if not moved:
                break
            pairs.append((length * step, new - slope))
            if len(pairs) > MEMORY:
                pairs.pop(0)
            q += length * step
            value, slope = tried, new
            if float(slope @ self.inverse @ slope) <= tolerance**2 * max(first, 1e-30):
                break
        left = np.sqrt(float(slope @ self.inverse @ slope) / max(first, 1e-30))
        return ReducedReport(used, float(left), value)

    def _direction(self, slope: Array, pairs: Sequence[tuple[Array, Array]]) -> Array:
        """H⁻¹ g by the two loops of L-BFGS; H₀ is the stiffness at rest."""
        g = slope.copy()
        kept: list[tuple[float, float] | None] = []
        for s, y in reversed(pairs):
            sy = float(s @ y)
            if sy <= 1e-14:
                kept.append(None)
                continue
            a = float(s @ g) / sy
            g -= a * y
            kept.append((a, sy))
        out = self.inverse @ g
        for (s, y), found in zip(pairs, reversed(kept), strict=True):
            if found is not None:
                a, sy = found
                out += (a - float(y @ out) / sy) * s
        return out

    def _stiffness(self) -> Array:
        tied = self.model.attachments
        targets = tied.embedding.positions(self.rest.x) if len(tied.bone) else None
        potential = Potential(self.model, Loads(targets=targets))
        out = np.empty((self.n_modes, self.n_modes))
        for k in range(self.n_modes):
            mode = self.basis[:, k].astype(float).reshape(-1, 3)
            h = STEP / np.abs(mode).max()
            ahead, back = (
                self.project(potential.evaluate(self.rest.x + sign * h * mode, self.rest.pressure).force)
                for sign in (1.0, -1.0)
            )
            out[:, k] = (back - ahead) / (2.0 * h)
        return out


def basis_of(snapshots: Array, modes: int, *, weight: Array | None = None) -> Array:
    """The orthonormal basis that holds displacements (k, n, 3) [m] best, shape (3 n, ≤ modes).

    weight: of each node (n,); where tissue is thin a node counts for little."""
    w = np.ones(snapshots.shape[1]) if weight is None else np.sqrt(weight / weight.max())
    a = (snapshots * w[None, :, None]).reshape(len(snapshots), -1)
    scale = np.linalg.norm(a, axis=1)
    a = a / np.maximum(scale, 1e-12)[:, None]  # a small motion, such as a brow's, counts like a large one
    values, vectors = np.linalg.eigh(a @ a.T)
    keep = np.argsort(values)[::-1][: min(modes, int((values > 1e-6 * values.max()).sum()))]
    out = (snapshots / np.maximum(scale, 1e-12)[:, None, None]).reshape(len(snapshots), -1).T @ vectors[:, keep]
    basis, _ = np.linalg.qr(out)
    return np.asarray(basis)
