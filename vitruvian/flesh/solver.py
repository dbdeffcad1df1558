"""Flesh to equilibrium, or one step in time: the two things that a user does with it.

Both either succeed or raise `Diverged` and leave the state as it was. A balance in which elements are turned inside out
is a balance all the same: it is returned, with `folded` above zero and `converged` false.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.flesh.checks import check_loads, check_state, number
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.newton import Newton
from vitruvian.flesh.potential import Loads, Potential, StepMotion
from vitruvian.flesh.settings import Settings, SolveReport, Unbalanced
from vitruvian.flesh.state import FleshState

INTEGRATORS = ("backward-euler", "energy-momentum")
PROP = 8.0  # by how much checkerboards are held harder in `_unfold`
FIRST, SMALLEST = 0.25, 1.0 / 64.0  # part of the load that a load step brings up, at first and at least


class FleshSolver:
    """Solves one model again and again; holds buffers, never state."""

    def __init__(self, model: FleshModel, settings: Settings | None = None) -> None:
        self.model = model
        self.settings = settings or Settings()
        self.newton = Newton(model, self.settings)

    def equilibrium(self, state: FleshState, loads: Loads) -> SolveReport:
        """Move `state` to quasi-static balance with `loads`, starting from where it is; velocities stay as they are.

        Where one Newton solve finds no balance, or turns elements over on its way, the load is brought up in parts: the
        forces that are unbalanced at the start are held back and let go little by little, each part on a way that turns
        no element over. From a start with whole elements inside out, some of which stay folded, it is tried again with
        corners held harder on the way. `Diverged` if that does not lead to a balance either; the state is then as it
        was.
        """
        check_state(self.model, state)
        begin = state.copy()
        try:
            return self._equilibrium(state, loads, begin)
        except Exception:
            state.become(begin)
            raise

    def _equilibrium(self, state: FleshState, loads: Loads, begin: FleshState) -> SolveReport:
        report = self.attempt(state, loads)
        if report.balanced and report.folded == 0:
            return report
        tangled = report.folded > 0 and self._tangled(begin)
        if report.balanced and not tangled and self.model.elements.folded(begin.x) > 0:
            return report  # some were turned over from the start
        found = state.copy()
        state.become(begin)
        again = self._unfold(state, loads) if tangled else self._load_steps(state, loads)
        again.add(report)
        if again.balanced and again.folded <= report.folded:
            return again
        if report.balanced:  # the folded one is all there is
            state.become(found)
            report.add(again)
            return report
        raise Unbalanced("no equilibrium", again)

    def attempt(self, state: FleshState, loads: Loads) -> SolveReport:
        """One Newton solve towards balance; `state` keeps what it reached, whether that is balanced or not."""
        check_state(self.model, state)
        check_loads(self.model, loads)
        if loads.targets is None and not self.model.fixed.any():
            raise InputError("flesh equilibrium: nothing holds the body; fix nodes or attach it to bones")
        return self._minimise(self._potential(state, loads), state)

    def _potential(self, state: FleshState, loads: Loads, motion: StepMotion | None = None) -> Potential:
        """L, contact starting from what it did in the last solve."""
        potential = Potential(self.model, loads, motion)
        potential.recall(state.push, state.x)
        return potential

    def _minimise(self, potential: Potential, state: FleshState, careful: bool = False) -> SolveReport:
        report = self.newton.minimise(potential, state.x, state.pressure, careful)
        state.push[:] = 0.0
        if potential.touches:
            for contact, found in zip(
                potential.loads.contacts, potential.evaluate(state.x, state.pressure).contacts, strict=True
            ):
                state.push += contact.surface.embedding.nodal_forces(found.force + found.rub)
        return report

    def _tangled(self, state: FleshState) -> bool:
        """Whether whole elements are inside out."""
        return bool(Potential(self.model, Loads()).evaluate(state.x, state.pressure).jbar.min() < 0.0)

    def _unfold(self, state: FleshState, loads: Loads) -> SolveReport:
        """Balance from a start with elements inside out: first with checkerboards held harder, then as they are.

        A corner pushed through its cell is such a mode, and may be stable; held harder it comes back.
        """
        propped = replace(self.model, elasticity=self.model.elasticity.propped(PROP))
        first = self._minimise(Potential(propped, loads), state)
        report = self.attempt(state, loads)
        report.add(first)
        return report

    def _load_steps(self, state: FleshState, loads: Loads) -> SolveReport:
        """Balance in parts: minimise L − (1 − t) r₀·x for t from 0 to 1, r₀ what is unbalanced at the start."""
        start = self._potential(state, loads).evaluate(state.x, state.pressure).force
        part, done, sofar, parts = FIRST, 0.0, None, 0
        while True:
            kept = state.copy()
            potential = self._potential(state, loads)
            until = min(1.0, done + part)
            potential.eased = -(1.0 - until) * start
            report = self._minimise(potential, state, careful=True)
            parts += 1
            if sofar is not None:
                report.add(sofar)
            sofar = report
            report.parts = parts
            if report.balanced:
                done, part = until, 2.0 * part
                if done == 1.0:
                    return report
                continue
            state.become(kept)
            part *= 0.5
            if part < SMALLEST:
                return report

    def step(
        self,
        state: FleshState,
        loads: Loads,
        dt: float,
        *,
        integrator: str = "backward-euler",
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
    ) -> SolveReport:
        """One step of `dt` [s] with Rayleigh damping α M + β K; α [1/s], β [s].

        K is the projected stiffness at the start of the step, so that damping never feeds energy in.

        integrator: "backward-euler" keeps linear momentum, damps vibration, and loses angular momentum by
        dt Σ m v₀ × v₁ a step. "energy-momentum" keeps linear and angular momentum, and energy but for what loads,
        damping and contact do: elastic forces are those of the whole step (see `secant`), all others act halfway, so
        `loads` are those of the middle of the step.
        """
        check_state(self.model, state)
        check_loads(self.model, loads)
        number("flesh step", "dt", dt, above=0.0)
        number("flesh step", "mass_damping", mass_damping, least=0.0)
        number("flesh step", "stiffness_damping", stiffness_damping, least=0.0)
        if integrator not in INTEGRATORS:
            raise unknown_name("integrator of flesh", integrator, INTEGRATORS)
        begin, conserving = state.copy(), integrator == "energy-momentum"
        span = 0.5 * dt if conserving else dt  # to where forces act
        start = begin.x
        motion = StepMotion(span, start, start + span * begin.v, mass_damping, None, conserving)
        if stiffness_damping > 0.0:
            tissue = Potential(self.model, Loads(activation=loads.activation))
            motion.damping = np.zeros((len(self.model.pattern.column), 9))
            tissue.stiffness(start, state.pressure, tissue.evaluate(start, state.pressure), True, motion.damping)
            motion.damping *= stiffness_damping
        free = ~self.model.fixed
        state.x[free] += span * state.v[free]
        potential = self._potential(state, loads, motion)
        try:
            if potential.touches:  # something may be in the way of free flight
                still = self._potential(begin, loads, motion)
                if still.unbalanced(begin.x, state.pressure) < potential.unbalanced(state.x, state.pressure):
                    potential, state.x[:] = still, begin.x
            report = self._minimise(potential, state)
        except Exception:
            state.become(begin)
            raise
        if not report.balanced:
            state.become(begin)
            raise Unbalanced(f"a step of {dt:.3g} s", report)
        state.v[:] = (state.x - start) / span
        if conserving:
            self._whole_step(state, begin, potential)
        return report

    def _whole_step(self, state: FleshState, begin: FleshState, potential: Potential) -> None:
        """From the middle of a step to its end.

        Where nothing is held, the force and moment that the solve left unbalanced are given back as a rigid motion, so
        that momentum is kept however roughly Newton's method was ended. The centre moves on by its mean velocity with
        that: else a body that falls would begin to turn.
        """
        middle, mean = state.x.copy(), state.v.copy()
        state.x[:] = 2.0 * middle - begin.x
        state.v[:] = np.where(self.model.fixed, 0.0, 2.0 * mean - begin.v)
        if self.model.fixed.any():
            return
        assert potential.motion is not None
        mass, half = self.model.node_mass, potential.motion.dt
        left = 2.0 * half * potential.evaluate(middle, state.pressure).force
        given = left.sum(axis=0)
        arm = middle - mass @ middle / mass.sum()
        state.x += half * given / mass.sum()
        state.v += rigid_velocity(mass, state.x, given, np.cross(arm, left).sum(axis=0))


def rigid_velocity(mass: np.ndarray, x: np.ndarray, momentum: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """Velocities [m/s] of a rigid body of masses at x of this momentum [N s] and this spin about its centre [N m s]."""
    arm = x - mass @ x / mass.sum()
    inertia = np.einsum("n,nk,nk->", mass, arm, arm) * np.eye(3) - np.einsum("n,ni,nj->ij", mass, arm, arm)
    return momentum / mass.sum() + np.cross(np.linalg.lstsq(inertia, spin, rcond=None)[0], arm)
