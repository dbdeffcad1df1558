"""Flesh that follows bones which something else moves: a swimmer, a script, a recording.

    follower = Follower(model)
    skin = follower.skin(vertices)                       # any points that ride along
    state = follower.start(rest_poses)
    moved = follower.follow(state, poses, dt, skin=skin, activation=a, skin_force=f)
    moved.positions, moved.velocities, moved.wrenches

Only poses come in: no skeleton is needed. Each call finds the balance of the tissue's elastic and viscous forces (no
inertia), starting from where the last one left off, and costs little when the motion is smooth (see `flesh_predictor`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from vitruvian.couple.flesh_predictor import Predictor, Trend
from vitruvian.errors import Diverged, InputError
from vitruvian.flesh import (
    Drag,
    Embedding,
    FleshModel,
    FleshSolver,
    FleshState,
    Loads,
    Settings,
    SolveReport,
    embed,
    rest_state,
)
from vitruvian.flesh.viscosity import TISSUE, viscosity
from vitruvian.spatial import exp_se3, inverse, log_se3

Array = np.ndarray
HALVINGS = 2  # times that a motion too large for one solve is cut in half
EASING = (1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.1, 0.05, 0.02)  # τ/dt of viscous steps through a snap


class Carrier(Protocol):
    """What a state must hold for flesh to follow."""

    flesh: FleshState
    poses: Array
    trend: Trend


@dataclass
class FollowState:
    flesh: FleshState
    poses: Array  # of the bones when the flesh was last balanced, shape (n_bones, 4, 4)
    trend: Trend = field(default_factory=Trend.unknown)  # what the last balance added to skinning


@dataclass(frozen=True)
class Moved:
    """What one call of `follow` found."""

    positions: Array  # of the skin [m], shape (n, 3)
    velocities: Array  # by differences over the step [m/s], shape (n, 3)
    wrenches: Array  # (moment, force) of the flesh on each bone in its own frame [N m, N], shape (n_bones, 6)
    report: SolveReport


class Follower:
    """Flesh and the skinning of its bones; holds buffers, never state."""

    def __init__(self, model: FleshModel, settings: Settings | None = None, *, relaxation: float = TISSUE) -> None:
        """relaxation: τ [s] of the tissue's viscosity (see `flesh.viscosity`) in steps that take time."""
        if not relaxation >= 0.0:
            raise InputError(f"flesh follower: the relaxation time must not be negative, got {relaxation} s")
        if len(model.attachments.bone) == 0:
            raise InputError("flesh follower: the flesh is attached to no bone")
        self.model = model
        self.solver = FleshSolver(model, settings)
        self.predictor = Predictor(model)
        self.viscosity, self.relaxation = viscosity(model), relaxation

    def start(self, rest_poses: Array) -> FollowState:
        """Undeformed flesh on bones in the poses in which it was attached, shape (n_bones, 4, 4)."""
        if rest_poses.shape != (self.model.attachments.n_bones, 4, 4):
            raise InputError(
                f"flesh follower: {self.model.attachments.n_bones} bones need as many poses, not {rest_poses.shape}"
            )
        return FollowState(rest_state(self.model), rest_poses.copy())

    def skin(self, vertices: Array) -> Embedding:
        """Points of the rest body [m], shape (n, 3), that ride in the flesh."""
        return embed(self.model.elements, vertices)

    def follow(
        self,
        state: FollowState,
        poses: Array,
        dt: float,
        *,
        skin: Embedding,
        activation: Array | None = None,
        skin_force: Array | None = None,
    ) -> Moved:
        """Bones at `poses` after `dt` [s]: balance around them under forces on the skin [N], shape (n, 3)."""
        if not dt > 0.0:
            raise InputError(f"flesh follower: dt must be positive, got {dt} s")
        before = skin.positions(state.flesh.x)
        force = None if skin_force is None else skin.nodal_forces(skin_force)
        report = self.settle(state, np.asarray(poses, float), Loads(activation=activation, force=force), dt)
        after = skin.positions(state.flesh.x)
        wrenches = self.model.attachments.bone_wrenches(state.flesh.x, state.poses)
        return Moved(after, (after - before) / dt, wrenches, report)

    def settle(
        self, state: Carrier, goal: Array, loads: Loads, dt: float = np.inf, halvings: int = HALVINGS
    ) -> SolveReport:
        """Balance around bones at `goal`, shape (n_bones, 4, 4), reached in `dt` [s]: at rest there without it.

        A motion too large for one solve is taken in parts.
        """
        kept = state.flesh.copy()
        before = state.poses.copy()
        carried = self.predictor.carry(state.flesh, before, goal, state.trend)
        held = replace(loads, targets=self.model.attachments.targets(goal))
        report = self.solver.attempt(
            state.flesh, self._viscous(held, self.relaxation / dt, kept.x if carried is None else carried.skinned)
        )
        if report.balanced:
            state.poses[:] = goal
            state.trend = self.predictor.trend(carried, state.flesh) if carried is not None else Trend.unknown()
            return report
        state.trend = Trend.unknown()
        if halvings == 0:
            return self._ease(state, goal, held, report, self.relaxation / dt)
        state.flesh.x[:], state.flesh.pressure[:] = kept.x, kept.pressure
        middle = np.stack([a @ exp_se3(0.5 * log_se3(inverse(a) @ b)) for a, b in zip(before, goal, strict=True)])
        first = self.settle(state, middle, loads, 0.5 * dt, halvings - 1)
        second = self.settle(state, goal, loads, 0.5 * dt, halvings - 1)
        second.add(first)
        second.add(report)
        return second

    def _viscous(self, loads: Loads, share: float, start: Array) -> Loads:
        """Loads with viscosity, share = τ/dt, against motion from `start`."""
        return loads if share == 0.0 else replace(loads, drag=Drag(self.viscosity, share, start.copy()))

    def _ease(self, state: Carrier, goal: Array, held: Loads, sofar: SolveReport, share: float) -> SolveReport:
        """Where tissue snaps through, as in a deep crease, follow it down in viscous steps, then balance."""
        flesh = state.flesh
        for thick in (*(e for e in EASING if e > share), share):
            report = self.solver.attempt(flesh, self._viscous(held, thick, flesh.x))
            report.add(sofar)
            sofar = report
        if not report.balanced:
            raise Diverged("flesh", f"no balance: {report.residual:.3g} N left after {report.newton} Newton steps")
        if report.folded:
            warnings.warn(f"flesh: {report.folded} elements are inside out in a deep crease", stacklevel=2)
        state.poses[:] = goal
        return report
