"""Newton's method for flesh: augmented Lagrangian in one loop, chord rule, truncated conjugate gradients, line search.

Each step solves (A(p̂) + γ Σ V g gᵀ) δ = −∇L, moves x by α δ and the pressures by α γ (c + g·δ): one pressure update
per Newton step, no inner loop. The matrix is kept while the residual falls by more than `chord`. The true stiffness
is used as long as cells are sound; from a bad start (inverted cells, a failed search) its negative curvature is
projected away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.errors import Diverged
from vitruvian.flesh.kernels import pressure_forces, volume_rates
from vitruvian.flesh.krylov import conjugate_gradients, inverse_diagonal, multiply
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.potential import Evaluation, Potential

UNSOUND = 0.1  # a cell whose mean J is below this counts as inverted


@dataclass(frozen=True)
class Settings:
    """How hard to try. Forces in N: 0.15 N is 0.7 % of a 20 N load on a forearm."""

    residual: float = 0.15  # Euclidean norm of the unbalanced force [N]
    gap: float = 1e-3  # volume-weighted rms of c
    newton: int = 40  # most Newton steps
    krylov: int = 400  # most iterations of each linear solve
    tolerance: float = 0.1  # relative, of each linear solve
    chord: float = 0.3  # keep the matrix while the residual falls below this fraction
    single: bool = False  # store the matrix in float32: half the memory traffic, same answer (residuals stay float64)


@dataclass
class Report:
    """How a solve went."""

    converged: bool
    newton: int
    krylov: int
    assemblies: int
    residual: float  # [N]
    gap: float
    projected: int  # assemblies with projected stiffness


class Newton:
    """Buffers of the solver for one model; they carry nothing from one solve to the next."""

    def __init__(self, model: FleshModel, settings: Settings) -> None:
        self.model, self.settings = model, settings
        n = model.lattice.n_nodes
        self.data = np.zeros((len(model.pattern.column), 9), np.float32 if settings.single else np.float64)
        self.inverse = np.zeros((n, 3, 3))
        self.step = np.zeros((n, 3))
        self.rate = np.zeros(model.lattice.n_cells)

    def minimise(self, potential: Potential, x: np.ndarray, pressure: np.ndarray) -> Report:
        """Move x and pressure in place to a minimum of the potential."""
        model, settings, pattern = self.model, self.settings, self.model.pattern
        gamma, volume = model.moduli[:, 5], model.lattice.volume
        # differences of L below this are round-off of its parts, not a rise
        noise = 1e-15 * float(np.sum(volume * (np.abs(pressure) + gamma)))
        report = Report(False, 0, 0, 0, np.inf, np.inf, 0)
        now = potential.evaluate(x, pressure)
        fresh, before, rough = False, np.inf, False
        while True:
            report.residual = float(np.linalg.norm(now.force))
            report.gap = float(np.sqrt(np.sum(volume * now.gap**2) / np.sum(volume)))
            if not np.isfinite(report.residual):
                raise Diverged("flesh", "the unbalanced force is not finite")
            if report.residual <= settings.residual and report.gap <= settings.gap:
                report.converged = True
                return report
            if report.newton >= settings.newton:
                return report
            if report.newton == 0 or report.residual > settings.chord * before:
                projected = rough or bool(now.jbar.min() < UNSOUND)
                self._assemble(potential, x, pressure, now, projected)
                report.assemblies += 1
                report.projected += projected
                fresh = True
            else:
                fresh = False
            iterations, negative = conjugate_gradients(
                pattern.start,
                pattern.column,
                self.data,
                self.inverse,
                now.force,
                self.step,
                settings.tolerance,
                settings.krylov,
            )
            report.krylov += iterations
            alpha, after = self._search(potential, x, pressure, now, noise)
            if after is None:
                if not fresh:  # an old matrix misled us: same place, new matrix
                    before = 0.0
                    report.newton += 1
                    continue
                if rough:
                    return report
                rough, before = True, 0.0
                report.newton += 1
                continue
            volume_rates(x, self.step, potential.cells, self.rate)
            pressure += alpha * gamma * (now.gap + self.rate)
            x += alpha * self.step
            before = report.residual if alpha == 1.0 else 0.0
            now = potential.evaluate(x, pressure)
            after_residual = float(np.linalg.norm(now.force))
            # negative curvature without progress is a bad place; progress with whole steps is a good one
            rough = (negative or alpha < 0.25) and after_residual > 0.5 * report.residual
            report.newton += 1

    def responses(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, forces: np.ndarray, tolerance: float = 1e-6
    ) -> np.ndarray:
        """How the balanced body moves under small extra nodal forces, shape (k, n_nodes, 3) [N] -> [m], linearised.

        Pressures follow: (A + γ V g gᵀ) δx + V g δp (1 − γ/κ) = f with δp = κ g·δx, by the iteration of `minimise`.
        """
        model, pattern = self.model, self.model.pattern
        volume_part = (pattern.colours, pattern.blocks, pattern.order)
        gamma, kappa = model.moduli[:, 5], model.moduli[:, 3]
        self._assemble(potential, x, pressure, potential.evaluate(x, pressure), False)
        out = np.zeros_like(forces)
        product, squeeze = np.empty_like(x), np.empty_like(x)
        for k, right in enumerate(forces):
            right = np.where(model.fixed, 0.0, right)
            goal = tolerance * float(np.linalg.norm(right))
            moved, change = out[k], np.zeros(model.lattice.n_cells)
            for _ in range(60):
                multiply(pattern.start, pattern.column, self.data, moved, product)
                squeeze[:] = 0.0
                pressure_forces(x, change * (1.0 - gamma / kappa), potential.cells, *volume_part, squeeze)
                left = np.where(model.fixed, 0.0, right - product - squeeze)
                if float(np.linalg.norm(left)) <= goal:
                    break
                conjugate_gradients(
                    pattern.start, pattern.column, self.data, self.inverse, left, self.step, 1e-2, self.settings.krylov
                )
                moved += self.step
                volume_rates(x, moved, potential.cells, self.rate)
                change += gamma * (self.rate - change / kappa)
        return out

    def _assemble(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, now: Evaluation, projected: bool
    ) -> None:
        potential.stiffness(x, pressure, now, projected, self.data)
        inverse_diagonal(self.data, self.model.pattern.diagonal, self.model.fixed, self.inverse)

    def _search(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, now: Evaluation, noise: float
    ) -> tuple[float, Evaluation | None]:
        """Halve the step until L falls as a descent direction promises; None when it does not."""
        slope = float(np.sum(now.force * self.step))
        if slope <= 0.0:
            return 0.0, None
        noise += 1e-13 * now.scale
        alpha = 1.0
        for _ in range(12):
            there = potential.evaluate(x + alpha * self.step, pressure)
            if there.value <= now.value - 1e-4 * alpha * slope + noise:
                return alpha, there
            alpha *= 0.5
        return 0.0, None
