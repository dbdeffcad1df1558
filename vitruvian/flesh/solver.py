"""Flesh to equilibrium, or one step in time: the two things that a user does with it."""

from __future__ import annotations

import numpy as np

from vitruvian.errors import Diverged, InputError
from vitruvian.flesh.contact import contact_forces
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.newton import Newton, Settings, SolveReport
from vitruvian.flesh.potential import Loads, Potential, StepMotion
from vitruvian.flesh.state import FleshState


class FleshSolver:
    """Solves one model again and again; holds buffers, never state."""

    def __init__(self, model: FleshModel, settings: Settings | None = None) -> None:
        self.model = model
        self.settings = settings or Settings()
        self.newton = Newton(model, self.settings)

    def equilibrium(self, state: FleshState, loads: Loads) -> SolveReport:
        """Move `state` to quasi-static balance with `loads`, starting from where it is; velocities stay as they are."""
        self._check(loads)
        if loads.targets is None and not self.model.fixed.any():
            raise InputError("flesh equilibrium: nothing holds the body; fix nodes or attach it to bones")
        return self.newton.minimise(Potential(self.model, loads), state.x, state.pressure)

    def step(
        self,
        state: FleshState,
        loads: Loads,
        dt: float,
        *,
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
        midpoint: bool = False,
    ) -> SolveReport:
        """One step of `dt` [s] with Rayleigh damping α M + β K; α [1/s], β [s].

        K is the projected stiffness at the start of the step, so that damping never feeds energy in.

        Backward Euler keeps linear momentum, damps vibration, and loses angular momentum by dt Σ m v₀ × v₁ a step.
        midpoint: forces act halfway, as in a backward-Euler step of dt/2 whose motion is then doubled; linear and
        angular momentum are both kept (damping β K apart) and vibration is not damped. `loads` are then those of the
        middle of the step.
        """
        self._check(loads)
        if not dt > 0.0:
            raise InputError(f"flesh step: dt must be positive, got {dt} s")
        if mass_damping < 0.0 or stiffness_damping < 0.0:
            raise InputError("flesh step: damping must not be negative")
        start, speed = state.x.copy(), state.v.copy()
        if midpoint:
            dt *= 0.5
        motion = StepMotion(dt, start, start + dt * state.v, mass_damping, None, self._friction(state, loads))
        if stiffness_damping > 0.0:
            still = Potential(self.model, Loads(activation=loads.activation))
            motion.damping = np.zeros((len(self.model.pattern.column), 9))
            still.stiffness(start, state.pressure, still.evaluate(start, state.pressure), True, motion.damping)
            motion.damping *= stiffness_damping
        free = ~self.model.fixed
        state.x[free] += dt * state.v[free]
        report = self.newton.minimise(Potential(self.model, loads, motion), state.x, state.pressure)
        if not report.converged:
            raise Diverged("flesh", f"a step of {dt:.3g} s left {report.residual:.3g} N unbalanced")
        state.v[:] = (state.x - start) / dt
        if midpoint:
            state.x[:] += state.x - start
            state.v[:] = np.where(self.model.fixed, 0.0, 2.0 * state.v - speed)
        return report

    def _friction(self, state: FleshState, loads: Loads) -> list[tuple[np.ndarray, np.ndarray]]:
        """Tangential dashpots of each contact from the normal force and the slip at the start of the step."""
        out = []
        for contact in loads.contacts:
            embedding = contact.surface.embedding
            found = contact_forces(contact, embedding.positions(state.x))
            speed = (embedding.matrix @ state.v)[found.active]
            tangent = np.eye(3) - found.normal[:, :, None] * found.normal[:, None, :]
            slip = np.linalg.norm(np.einsum("nij,nj->ni", tangent, speed), axis=1)
            press = np.linalg.norm(found.force[found.active], axis=1)
            strength = contact.friction * press / np.maximum(slip, contact.slip)
            out.append((found.active, strength[:, None, None] * tangent))
        return out

    def _check(self, loads: Loads) -> None:
        model = self.model
        if loads.targets is not None and loads.targets.shape != (len(model.attachments.bone), 3):
            raise InputError(
                f"flesh: {len(model.attachments.bone)} attachments need as many targets, not {loads.targets.shape}"
            )
        if loads.activation is not None and len(loads.activation) != len(model.muscles.names):
            raise InputError(
                f"flesh: {len(model.muscles.names)} muscles need as many activations, not {len(loads.activation)}"
            )
        if loads.force is not None and loads.force.shape != model.elements.nodes.shape:
            raise InputError(
                f"flesh: nodal forces must have shape {model.elements.nodes.shape}, not {loads.force.shape}"
            )
