"""Newton's method for flesh: augmented Lagrangian in one loop, chord rule, truncated conjugate gradients, line search.

Each step solves (A(p̂) + γ Σ V g gᵀ) δ = −∇L and moves x by α δ. Forces feel p̂ = p + γ c; the pressures themselves move
to p̂ only while the volumes are off by more than asked, for that disturbs the forces again: one update per Newton step,
no inner loop. Linear solves go no farther than the goal, the matrix is kept while the residual halves, and is stored in
float32 (residuals are float64, so the answer does not feel it). Where tissue that is about to snap makes the Lagrangian
lose its convexity, or volumes come right slowly, γ is raised for that solve: the method of multipliers swings to and
fro unless γ outweighs the negative curvature (Bertsekas 1982, section 2.2). The true stiffness is used while elements
are sound and it is convex; from a bad start (inverted ones, a failed search) and at a saddle its negative curvature is
projected away.
"""

from __future__ import annotations

import numpy as np

from vitruvian.errors import Diverged
from vitruvian.flesh.krylov import conjugate_gradients, inverse_diagonal, multigrid_gradients, multiply
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.multigrid import Multigrid, crossed, multigrid_pays, reach
from vitruvian.flesh.pairs import couple, no_pairs
from vitruvian.flesh.potential import Evaluation, Potential, norm
from vitruvian.flesh.settings import Settings, SolveReport

FINEST = 0.01  # of linear solves
SLOW = 0.35  # volumes that fall by less than this in two updates of the pressures ask for a larger γ
HARDER, HARDEST = 4.0, 16.0  # by how much γ is raised at a time, and in all
SHIFT = 0.02  # stiffness added after a step that had to be cut short, in μ h
HALVINGS = 12  # of a step that overshoots
SHORT, PATIENCE = 0.1, 3  # steps shorter than this, and how many on end mean that skin is wedged between elements
LIGHT = 0.01  # inertia over stiffness: a row of some 80 stiffnesses up to 12 times as large, an ε of 6e-8 each
FARTHEST = 64.0  # times a step at a saddle
NEAR = 0.05  # unbalanced force, relative, from which contact forces are moved
FAIR = 0.5  # likewise, from which pressures are
NEARER = 0.01  # how much nearer volumes are held in an energy-momentum step whose pressures, lagging behind them, ...
FED = 1e-6  # ... feed it more than this part of its kinetic energy
UNSOUND = 0.1  # an element whose mean J is below this counts as inverted


class Newton:
    """Buffers of the solver for one model; they carry nothing from one solve to the next."""

    def __init__(self, model: FleshModel, settings: Settings) -> None:
        self.model, self.settings = model, settings
        n, pattern = len(model.elements.nodes), model.pattern
        self.data = np.zeros((len(pattern.column), 9), np.float32 if settings.single else np.float64)
        self.buffers = {self.data.dtype: self.data}
        self.inverse = np.zeros((n, 3, 3))
        if settings.multigrid is None:
            self.reach, self.crossed = reach(pattern, _holding(model)), crossed(model)
            self.across = float(np.sqrt(n / max(self.reach, 1)))
        self.levels: Multigrid | None = None  # built when first wanted
        self.multigrid = self._preconditioner(np.inf)
        self.step = np.zeros((n, 3))
        self.pairs = no_pairs()

    def minimise(self, potential: Potential, x: np.ndarray, pressure: np.ndarray, careful: bool = False) -> SolveReport:
        """Move x and pressure in place to a minimum of the potential; careful: on a way that turns no element over."""
        precise = np.dtype(np.float64 if not self.settings.single or self._light(potential) else np.float32)
        if precise not in self.buffers:
            self.buffers[precise] = np.zeros(self.data.shape, precise)
        self.data = self.buffers[precise]
        self.multigrid = self._preconditioner(np.inf if potential.motion is None else potential.motion.dt)
        report = self._descend(potential, x, pressure, careful)
        report.folded = self.model.elements.folded(x)
        return report

    def _preconditioner(self, dt: float) -> Multigrid | None:
        """Multigrid, or None for diagonal blocks: what is asked for, else what is less work in a step of `dt` [s]."""
        wanted = self.settings.multigrid
        if wanted is None:
            wanted = multigrid_pays(min(self.reach, self.crossed * dt), self.across)
        if wanted and self.levels is None:
            pattern, coarser = self.model.pattern, self.model.elements.coarser()
            if coarser or self.settings.multigrid:
                self.levels = Multigrid(coarser, pattern.start, pattern.column, pattern.diagonal, self.model.fixed)
        return self.levels if wanted else None

    def _light(self, potential: Potential) -> bool:
        """Whether the inertia of a body that nothing holds would be lost in a matrix of float32."""
        if potential.motion is None or potential.loads.targets is not None or self.model.fixed.any():
            return False
        inertia = self.model.node_mass / potential.motion.dt**2
        return float(inertia.sum()) < LIGHT * float(self.model.node_stiffness.sum())

    def _descend(self, potential: Potential, x: np.ndarray, pressure: np.ndarray, careful: bool) -> SolveReport:
        settings = self.settings
        volume = self.model.elements.volume
        least = self._round_off(potential, x, pressure)
        # differences of L below this are round-off of its parts, not a rise
        noise = 1e-15 * float(np.sum(volume * (np.abs(pressure) + potential.elasticity.penalty)))
        report = SolveReport(False, 0, 0, 0, np.inf, 0.0, np.inf, 0)
        now = potential.evaluate(x, pressure)
        stale, rough, projected, shift, short = True, False, False, 0.0, 0
        gaps: list[float] = []
        while True:
            report.residual, report.size, report.depth = norm(now.force), now.size, potential.depth(now)
            report.gap = self._rms(now.gap)
            goal = max(settings.residual * now.size, least)
            held = self._held(potential, x, now)
            report.left_out = 0 if potential.left_out is None else int(potential.left_out.sum())
            if not np.isfinite(report.residual):
                raise Diverged("flesh", "the unbalanced force is not finite")
            if report.residual <= goal and report.gap <= held and potential.pressed(now):
                report.balanced = True
                return report
            if report.newton >= settings.newton:
                return report
            if report.residual <= least:  # nothing to move: what is left is for pressures and contact forces
                report.newton += 1
                elastic = potential.elasticity
                pressure += (elastic.bulk if self.model.fixed.all() else elastic.penalty) * now.gap
                potential.press(now)
                now = potential.evaluate(x, pressure)
                continue
            fresh = stale
            if fresh:
                projected = rough or bool(now.jbar.min() < UNSOUND)
                self.assemble(potential, x, pressure, now, projected)
                self._stiffen(shift)
                report.assemblies += 1
                report.projected += projected
            # no farther than the goal, and never farther than the tolerance asks
            wanted = settings.tolerance
            if report.gap <= held and shift == 0.0:
                wanted = min(settings.tolerance, max(FINEST, 0.5 * goal / report.residual))
            iterations, negative = self.solve(now.force, wanted)
            report.krylov += iterations
            report.branched = report.branched or (negative and not projected and potential.raised >= HARDEST)
            if negative and not projected and potential.raised < HARDEST:
                now = self._harden(potential, x, pressure)
                stale, gaps = True, []
                continue
            saddle = negative and not projected
            if saddle:  # as where tissue snaps or a crushed block is let go
                self.assemble(potential, x, pressure, now, True)
                projected = True
                report.projected += 1
                iterations, negative = self.solve(now.force, wanted)
                report.krylov += iterations
            report.newton += 1
            alpha, there = self._search(potential, x, pressure, now, noise, careful)
            if there is None:
                if fresh and projected:
                    if not self._unwedge(potential, x, pressure, now, 0.5 ** (HALVINGS - 1)):
                        return report
                    now = potential.evaluate(x, pressure)
                rough, stale = rough or fresh, True  # an old matrix misled us, or the true one: same place, a new one
                continue
            if saddle and alpha == 1.0 and not potential.conserving:
                alpha, there = self._farther(potential, x, pressure, there)
            short = short + 1 if alpha < SHORT else 0
            if short >= PATIENCE and self._unwedge(potential, x, pressure, now, 2.0 * alpha):
                there, short = potential.evaluate(x + alpha * self.step, pressure), 0
            x += alpha * self.step
            rough = False
            whole = alpha >= 1.0
            left = norm(there.force)
            stale = not whole or shift > 0.0 or left > settings.chord * report.residual
            shift = 0.25 * shift if whole and shift > SHIFT else (0.0 if whole else max(shift, SHIFT))
            now, moved = there, False
            if left <= max(NEAR * now.size, least) and not potential.pressed(now):
                potential.press(now)
                moved = True
            if (gap := self._rms(now.gap)) > self._held(potential, x, now) and left <= max(FAIR * now.size, least):
                pressure += potential.elasticity.penalty * now.gap
                gaps.append(gap)
                moved = True
                if len(gaps) > 2 and gap > SLOW * gaps[-3] and potential.raised < HARDEST:
                    potential.harden(HARDER * potential.raised)
                    stale, gaps = True, []
            if moved:
                now = potential.evaluate(x, pressure)

    def _harden(self, potential: Potential, x: np.ndarray, pressure: np.ndarray) -> Evaluation:
        """Raise γ, and look again."""
        potential.harden(HARDER * potential.raised)
        return potential.evaluate(x, pressure)

    def _stiffen(self, shift: float) -> None:
        """Add `shift` μ h to the diagonal of the matrix."""
        if shift == 0.0:
            return
        for k in (0, 4, 8):
            self.data[self.model.pattern.diagonal, k] += shift * self.model.node_stiffness
        self.precondition()

    def solve(self, force: np.ndarray, relative: float) -> tuple[int, bool]:
        """self.step = A⁻¹ force, roughly."""
        pattern, most = self.model.pattern, self.settings.krylov
        if self.multigrid is not None:
            return multigrid_gradients(
                pattern.start, pattern.column, self.data, self.multigrid, force, self.step, relative, most, self.pairs
            )
        between = (self.pairs.nodes, self.pairs.weights, self.pairs.direction, self.pairs.stiffness)
        return conjugate_gradients(
            pattern.start, pattern.column, self.data, self.inverse, force, self.step, relative, most, *between
        )

    def _round_off(self, potential: Potential, x: np.ndarray, pressure: np.ndarray) -> float:
        """What rounding leaves of forces that balance [N]: an ε of the stiffness times the distance from the origin."""
        elements, elastic = self.model.elements, potential.elasticity
        stiff = (elastic.penalty + elastic.shear + np.abs(pressure)) * elements.volume / elements.size**2
        if potential.motion is not None:
            stiff = np.append(stiff, self.model.node_mass / potential.motion.dt**2)
        return 4.0 * float(np.finfo(float).eps) * float(np.abs(x).max(initial=0.0)) * norm(stiff)

    def _held(self, potential: Potential, x: np.ndarray, now: Evaluation) -> float:
        """How near volumes shall be to what their pressures ask for: nearer where a step would feed energy in."""
        return self.settings.gap * (1.0 if potential.fed(x, now) <= FED else NEARER)

    def _rms(self, gap: np.ndarray) -> float:
        volume = self.model.elements.volume
        return float(np.sqrt(np.sum(volume * gap**2) / np.sum(volume)))

    def responses(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, forces: np.ndarray, tolerance: float = 1e-6
    ) -> np.ndarray:
        """How the balanced body moves under small extra nodal forces, shape (k, n_nodes, 3) [N] -> [m], linearised.

        Pressures follow: (A + γ V g gᵀ) δx + V g δp (1 − γ/κ) = f with δp = κ g·δx, by the iteration of `minimise`.
        """
        model, pattern = self.model, self.model.pattern
        elasticity = model.elasticity
        gamma, kappa = elasticity.penalty, elasticity.bulk
        data = np.zeros((len(pattern.column), 9))  # in float64: here the matrix is the answer
        pairs = potential.stiffness(x, pressure, potential.evaluate(x, pressure), False, data)
        between = (pairs.nodes, pairs.weights, pairs.direction, pairs.stiffness)
        inverse_diagonal(data, pattern.diagonal, model.fixed, self.inverse)
        out = np.zeros_like(forces)
        product, squeeze = np.empty_like(x), np.empty_like(x)
        for k, right in enumerate(forces):
            right = np.where(model.fixed, 0.0, right)
            goal = tolerance * norm(right)
            moved, change = out[k], np.zeros(len(gamma))
            for _ in range(60):
                multiply(pattern.start, pattern.column, data, moved, product)
                couple(*between, moved, product)
                squeeze[:] = 0.0
                elasticity.pressure_forces(x, change * (1.0 - gamma / kappa), squeeze)
                left = np.where(model.fixed, 0.0, right - product - squeeze)
                if norm(left) <= goal:
                    break
                conjugate_gradients(
                    pattern.start,
                    pattern.column,
                    data,
                    self.inverse,
                    left,
                    self.step,
                    1e-2,
                    self.settings.krylov,
                    *between,
                )
                moved += self.step
                change += gamma * (elasticity.volume_rates(x, moved) - change / kappa)
        return out

    def assemble(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, now: Evaluation, projected: bool
    ) -> None:
        self.pairs = potential.stiffness(x, pressure, now, projected, self.data)
        self.precondition()

    def precondition(self) -> None:
        if self.multigrid is not None:
            self.multigrid.update(self.data)
        else:
            inverse_diagonal(self.data, self.model.pattern.diagonal, self.model.fixed, self.inverse)

    def _search(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, now: Evaluation, noise: float, careful: bool
    ) -> tuple[float, Evaluation | None]:
        """Halve the step until L falls as a descent direction promises; None when it does not.

        Forces over a whole step have no L: there the unbalanced force must fall. careful: no element may turn over.
        """
        slope = float(np.sum(now.force * self.step))
        if slope <= 0.0:
            return 0.0, None
        noise += 1e-13 * now.scale
        alpha, folded = 1.0, self.model.elements.folded(x) if careful else 0
        for _ in range(HALVINGS):
            if careful and self.model.elements.folded(x + alpha * self.step) > folded:
                alpha *= 0.5
                continue
            there = potential.evaluate(x + alpha * self.step, pressure)
            if potential.conserving:
                if norm(there.force) <= (1.0 - 1e-4 * alpha) * norm(now.force):
                    return alpha, there
                alpha *= 0.5
                continue
            goal = now.value - 1e-4 * alpha * slope + noise
            if there.value > goal and potential.leave_out(now, there, alpha * self.step):
                there = potential.evaluate(x + alpha * self.step, pressure)
            if there.value <= goal:
                return alpha, there
            alpha *= 0.5
        return 0.0, None

    def _farther(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, there: Evaluation
    ) -> tuple[float, Evaluation]:
        """Double the step while L falls and nothing turns over: a projected matrix is too stiff along a way down that
        curves downwards."""
        alpha, folded = 1.0, self.model.elements.folded(x + self.step)
        while alpha < FARTHEST:
            beyond = x + 2.0 * alpha * self.step
            if self.model.elements.folded(beyond) > folded:
                break
            next_ = potential.evaluate(beyond, pressure)
            if not next_.value < there.value:
                break
            alpha, there = 2.0 * alpha, next_
        return alpha, there

    def _unwedge(
        self, potential: Potential, x: np.ndarray, pressure: np.ndarray, now: Evaluation, alpha: float
    ) -> bool:
        """Ignore skin that is in the way of `alpha` times the step; whether there is any."""
        if potential.loads.self_contact is None:
            return False
        move = alpha * self.step
        return potential.leave_out(now, potential.evaluate(x + move, pressure), move, wedged=True)


def _holding(model: FleshModel) -> np.ndarray:
    """Nodes that are held or tied to bone, shape (n_nodes,)."""
    held = np.array(model.fixed.any(axis=1), bool)
    held[model.attachments.embedding.nodes.ravel()] = True
    return held
