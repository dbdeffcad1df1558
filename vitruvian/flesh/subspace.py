"""Flesh in a few modes: the balance of the whole body, looked for among sums of balances found before.

    x = X + U q,      minimise L(X + U q) over q

X is the rest body, U an orthonormal basis of full solutions. L is the potential of `potential` with the pressures kept
at rest, so volume is held by γ alone; bones stay where they are at rest. What is quadratic in x is so in q and costs a
product of the modes alone: springs to bone and those that hold corners of cut cells,

    ½ qᵀ S q,      S = Uᵀ (Wᵀ k W + H) U

Walls that touch know of q through their own points, x_i = X_i + U_i q. Only the tissue is summed over its elements. The
minimum is found by a quasi-Newton method (BFGS) that starts from the compliance of the modes at rest, or from what the
last solve has made of it: a few evaluations a frame when the loads move on a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.contact import Contact, Touch
from vitruvian.flesh.embedding import Embedding
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.pair_contact import PairContact
from vitruvian.flesh.pattern import block_matrix
from vitruvian.flesh.state import rest_state

Array = np.ndarray
ARMIJO = 1e-4
SHORTENED = 8  # times at most, in a line search
CURVED = 1e-10  # cosine of step and change of slope below which compliance is not changed
ROUND_OFF = 1e-8  # of L: what modes of single precision do not tell
STEP = 2e-5  # [m] with which the stiffness of the modes is found by differences


@dataclass
class ReducedReport:
    """How a solve went."""

    evaluations: int
    left: float  # unbalanced force over that at the start, in the norm of the modes' compliance
    value: float  # L [J]


class Subspace:
    """The modes of one piece of flesh. Holds nothing that changes."""

    def __init__(
        self, model: FleshModel, basis: Array, contacts: Sequence[Contact] = (), facing: PairContact | None = None
    ) -> None:
        """basis: U as columns, shape (3 n_nodes, r); contacts: shapes that do not move; facing: walls of the flesh."""
        n = len(model.elements.nodes)
        if basis.ndim != 2 or basis.shape[0] != 3 * n:
            raise InputError(f"subspace: a basis of {3 * n} rows is needed, not one of shape {basis.shape}")
        self.model = model
        self.basis = np.ascontiguousarray(basis, np.float32)
        self.basis[model.fixed.ravel()] = 0.0
        self.rest = rest_state(model)
        self._strained = model.elasticity.propped(0.0)  # tissue without the springs that are in S
        self._springs = self._quadratic()
        self._touches = [(Touch(c, model), *self._points(c.surface.embedding)) for c in contacts]
        self._facing = None if facing is None else self._walls(facing)
        self.stiffness = self._stiffness()  # UᵀKU at rest, nothing in touch (r, r)
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

    def evaluate(self, q: Array, activation: Array) -> tuple[float, Array]:
        """L [J] and ∂L/∂q (r,) with the muscles at an activation (n_muscles,)."""
        value, slope = self._tissue(q, activation)
        for touch, points, modes in self._touches:
            found = touch.forces(points + (modes @ q).reshape(-1, 3))
            if len(found.active):
                value += found.energy
                slope -= found.force.ravel() @ modes
        if self._facing is not None:
            start, modes, k = self._facing
            deep = np.minimum(start + modes @ q, 0.0)
            value += 0.5 * float(k @ (deep * deep))
            slope += (k * deep) @ modes
        return value, slope

    def solve(
        self,
        q: Array,
        activation: Array,
        compliance: Array | None = None,
        *,
        evaluations: int = 8,
        tolerance: float = 0.02,
    ) -> ReducedReport:
        """Move q towards balance, in place, with at most so many evaluations of L and those of one line search.

        compliance: of the modes (r, r), as the last solve has left it; moved on in place. That at rest without it."""
        B = self.inverse.copy() if compliance is None else compliance
        value, slope = self.evaluate(q, activation)
        used, first = 1, self._energy(slope)
        while used < evaluations and self._energy(slope) > max(tolerance**2 * first, ROUND_OFF * abs(value)):
            step = -B @ slope
            down = float(step @ slope)
            length, moved = 1.0, False
            for _ in range(SHORTENED):
                tried, new = self.evaluate(q + length * step, activation)
                used += 1
                if tried <= value + ARMIJO * length * down:
                    moved = True
                    break
                # to where a parabola through what is known has its lowest point
                length *= float(np.clip(0.5 * length * down / (length * down + value - tried), 0.1, 0.5))
            if not moved:
                B[:] = self.inverse
                break
            q += length * step
            _update(B, length * step, new - slope)
            value, slope = tried, new
        return ReducedReport(used, float(np.sqrt(self._energy(slope) / max(first, 1e-30))), value)

    def _energy(self, slope: Array) -> float:
        """What an unbalanced force could still set free, twice [J]."""
        return float(slope @ self.inverse @ slope)

    def _tissue(self, q: Array, activation: Array) -> tuple[float, Array]:
        """L and its slope without what touches."""
        force, linear = np.zeros(self.rest.x.shape), self._springs @ q
        strained = self._strained.forces(self.positions(q), self.rest.pressure, activation, force)
        return sum(strained.parts) + 0.5 * float(q @ linear), linear - self.project(force)

    def _quadratic(self) -> Array:
        """S [N/m], shape (r, r)."""
        model, modes = self.model, self.basis.astype(float).reshape(-1, 3 * self.n_modes)
        held = block_matrix(model.pattern, model.elasticity.steady) @ modes
        if len(model.attachments.bone):
            points = model.attachments.embedding.matrix @ modes
            held += model.attachments.embedding.transpose @ (model.attachments.stiffness[:, None] * points)
        return np.asarray(self.basis.astype(float).T @ held.reshape(-1, self.n_modes))

    def _points(self, points: Embedding) -> tuple[Array, Array]:
        """Where points are at rest [m] (n, 3), and how modes move them (3 n, r)."""
        modes = points.matrix @ self.basis.astype(float).reshape(-1, 3 * self.n_modes)
        return points.positions(self.rest.x), modes.reshape(-1, self.n_modes)

    def _walls(self, facing: PairContact) -> tuple[Array, Array, Array]:
        """Gaps at rest [m] (n,), how modes move them (n, r), and k A [N/m] (n,)."""
        first, second = (self._points(side)[1].reshape(-1, 3, self.n_modes) for side in (facing.first, facing.second))
        apart = np.einsum("nir,ni->nr", first - second, facing.normal)
        return facing.gaps(self.rest.x), apart, facing.stiffness

    def _stiffness(self) -> Array:
        off = np.zeros(max(1, len(self.model.muscles.names)))
        out = np.empty((self.n_modes, self.n_modes))
        for k, largest in enumerate(np.abs(self.basis).max(axis=0)):
            way = np.zeros(self.n_modes)
            way[k] = STEP / largest
            ahead, back = (self._tissue(sign * way, off)[1] for sign in (1.0, -1.0))
            out[:, k] = (ahead - back) / (2.0 * way[k])
        return out


def _update(B: Array, s: Array, y: Array) -> None:
    """BFGS: the compliance after a step s that changed the slope by y."""
    sy = float(s @ y)
    if sy > CURVED * float(np.sqrt((s @ s) * (y @ y))):
        By = B @ y
        B += np.outer((1.0 + float(y @ By) / sy) / sy * s - By / sy, s) - np.outer(s / sy, By)


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
