"""Computed muscle control (Lee 2008, 5.3): from a motion to muscle activations, many times a second.

    a* = a_motion + k_p (q* - q) + k_v (v* - v)          (5.3, with the motion's own acceleration)
    hybrid inverse dynamics -> torques (5.4)             control.inverse
    least activations for them, with coactivation (5.5-5.7)

External loads and pushes are sensed with a lag (5.8, `control.senses`). A load's force is linear in its inertia, so for
held weights the inertia is what lags. The pelvis is held by the world, or driven by a fictitious wrench that the same
inverse dynamics gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numba as nb
import numpy as np

from vitruvian.anatomy import PARTS, Body
from vitruvian.control.activation import ActivationSolver
from vitruvian.control.coactivation import Warm, activate, by_region
from vitruvian.control.controls import Controls, Effort
from vitruvian.control.inverse import InverseDynamics
from vitruvian.control.motion import Motion
from vitruvian.control.senses import Felt
from vitruvian.couple import BodyState, BodyStepper
from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle import ActivationDynamics
from vitruvian.skeleton.evaluate import CODE, NV, Q0, V0
from vitruvian.skeleton.joints.base import BALL, FREE
from vitruvian.skeleton.passive import rotation_vector_between

Array = np.ndarray
SOFT = {"Hyo": 0.01, "Thy": 0.01}  # [N^2 m^2] slack: bones that few muscles hold, tracked softly
GIVE = 0.1  # [N^2/kg] slack of every coordinate per inertia [kg m^2]: under 0.1 N m is missed where muscles suffice


RATE = 60.0  # [1/s] decisions
LAGGING_RATE = 120.0  # [1/s] where activations lag by 10 ms and more: at 60 a wrist runs 15 degrees off


@dataclass(frozen=True)
class Gains:
    """Feedback and senses."""

    stiffness: float = 100.0  # k_p [1/s^2]
    damping: float = 20.0  # k_v [1/s]
    feedforward: bool = True  # add the motion's acceleration
    rate: float = RATE  # [1/s] decisions
    sensor_lag: float = 0.2  # [s], 1/sigma of (5.8); 0 senses at once


@dataclass
class ControllerState:
    """What the controller remembers."""

    excitation: Array
    root: Array  # wrench on a pelvis that is driven, shape (6,)
    load: Felt  # inertia held by each bone, shape (n_bones, 10)
    wrench: Felt  # push on each bone, shape (n_bones, 6)
    next_decision: float = 0.0  # [s]
    effort: Effort = field(default_factory=Effort)
    iterations: int = 0  # Newton steps of the last decision
    warm: Warm = field(default_factory=Warm)
    regions: dict[str, Warm] = field(default_factory=dict)


class ComputedMuscleControl:
    """A `Controller` for a body: see the head of this file."""

    def __init__(
        self,
        body: Body,
        stepper: BodyStepper,
        motion: Motion,
        gains: Gains | None = None,
        *,
        coactivation: Mapping[str, float] | float = 0.0,
        upper: float | None = 1.0,
        regions: bool = False,
        weight: Array | None = None,
        dynamics: ActivationDynamics | None = None,
    ):
        """coactivation: one number, or by part ("left arm": 0.5); regions: Lee's part-by-part solve.

        weight: w of (5.5), shape (n_muscles,); a larger one spares its muscle. dynamics: the muscles' activation lag,
        which excitations make up for as far as they can.
        """
        self.body, self.motion = body, motion
        self.gains = gains or Gains(rate=RATE if dynamics is None else LAGGING_RATE)
        if not self.gains.rate > 0 or self.gains.sensor_lag < 0:
            raise InputError("control rate must be positive and sensor lag not negative")
        self._ask(InverseDynamics(body, stepper))
        self.solver = ActivationSolver(upper=upper, tolerance=1e-6)
        self.regions = regions
        self.dynamics = dynamics
        self.weight = body.muscles.weight if weight is None else np.asarray(weight, dtype=float)
        self.part_gamma = _part_values(coactivation)
        self.coactivation = self.part_gamma[_muscle_part(body)]

    def _ask(self, inverse: InverseDynamics) -> None:
        self.inverse = inverse
        self._slack = np.array([SOFT.get(name.split()[0], 0.0) for name in inverse.names])
        self._row_part = self.body.coordinate_part[inverse.driven]

    def leave(self, coordinates: Array, muscles: Array) -> None:
        """Leave these coordinates and muscles (indices) to another controller: what they do is felt, not asked for."""
        driven = self.body.driven.copy()
        driven[coordinates] = False
        self._ask(InverseDynamics(self.body, self.inverse.stepper, driven=driven, left=muscles))

    def start(self, rng: np.random.Generator) -> ControllerState:
        s = self.body.skeleton
        return ControllerState(
            np.zeros(self.body.muscles.n_muscles),
            np.zeros(6),
            Felt(np.zeros((s.n_bones, 10))),
            Felt(np.zeros((s.n_bones, 6))),
        )

    def act(self, own: ControllerState, state: BodyState, time: float, dt: float) -> Controls:
        own.load.feel(state.load, self.gains.sensor_lag, dt)
        own.wrench.feel(state.wrench, self.gains.sensor_lag, dt)
        if time >= own.next_decision - 1e-9:
            self._decide(own, state, time, dt)
            own.next_decision = time + 1.0 / self.gains.rate
        root = own.root.copy() if len(self.inverse.root) else None
        return Controls(excitation=own.excitation.copy(), root_force=root, effort=replace(own.effort))

    def wanted_acceleration(self, state: BodyState, time: float) -> Array:
        """a* of (5.3), shape (n_v,)."""
        q, v, a = self.motion.sample(time)
        error = np.empty_like(v)
        tracking_error(self.body.skeleton.topology, state.q, q, error)
        g = self.gains
        return (a if g.feedforward else 0.0) + g.stiffness * error + g.damping * (v - state.v)

    def _decide(self, own: ControllerState, state: BodyState, time: float, dt: float) -> None:
        wanted = self.wanted_acceleration(state, time)
        # A decision holds for 1/rate: damping and springs are counted as they are amid that time.
        demand = self.inverse.demand(
            state,
            wanted,
            max(dt, 0.5 / self.gains.rate),
            load=own.load.value,
            wrench=own.wrench.value,
            condense=not self.regions,
        )
        weight = self.weight
        inertia = np.diagonal(demand.matrix)[self.inverse.driven]
        solver = replace(self.solver, slack=self._slack + GIVE * inertia)
        if self.regions:
            warm = {PARTS.index(k): w for k, w in own.regions.items()}
            a = by_region(solver, demand.map, demand.torque, self._row_part, self.part_gamma, weight, warm)
            own.regions = {PARTS[k]: w for k, w in warm.items()}
            own.effort.share = min(w.share for w in warm.values())
        else:
            tone = activate(solver, demand.map, demand.torque, self.coactivation, weight, own.warm)
            a, own.effort.share, own.iterations = tone.activation, tone.share, tone.agonist.iterations
        missing = np.where(self._slack > 0, 0.0, np.abs(demand.map.torques(a) - demand.torque))
        if len(missing):
            row = int(np.argmax(missing))
            own.effort.missing, own.effort.missing_at = float(missing[row]), int(self.inverse.driven[row])
        if self.dynamics is None:
            own.excitation = a
        else:
            own.excitation = self.dynamics.excitation_for(state.activation, a, 1.0 / self.gains.rate)
        if len(self.inverse.root):
            own.root = demand.root - np.einsum("ij,j->i", demand.root_map, a)


def _part_values(coactivation: Mapping[str, float] | float) -> Array:
    if isinstance(coactivation, Mapping):
        for name in coactivation:
            if name not in PARTS:
                raise unknown_name("body part", name, PARTS)
        values = np.array([float(coactivation.get(p, 0.0)) for p in PARTS])
    else:
        values = np.full(len(PARTS), float(coactivation))
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"coactivation must not be negative, got {coactivation}")
    return values


def _muscle_part(body: Body) -> Array:
    """Part of each muscle: the last-numbered part among the joints that it crosses, so limbs before the torso."""
    m = body.muscles
    out = np.zeros(m.n_muscles, dtype=np.int64)
    np.maximum.at(out, np.repeat(np.arange(m.n_muscles), np.diff(m.row_start)), body.coordinate_part[m.column])
    return out


@nb.njit(cache=True)
def tracking_error(topology: Array, q: Array, target: Array, out: Array) -> None:
    """out (n_v,): from q to target, rotations as vectors in the child's frame, the root's shift in the root's frame."""
    y = np.empty(3)
    for i in range(topology.shape[0]):
        code, q0, v0 = topology[i, CODE], topology[i, Q0], topology[i, V0]
        if code in (BALL, FREE):
            a = q0 + 3 if code == FREE else q0
            rotation_vector_between(q, target, a, y)
            for k in range(3):
                out[v0 + k] = y[k]
            if code == FREE:
                w, x, yy, z = q[a], q[a + 1], q[a + 2], q[a + 3]
                d0, d1, d2 = target[q0] - q[q0], target[q0 + 1] - q[q0 + 1], target[q0 + 2] - q[q0 + 2]
                # rotate by the conjugate: into the root's frame
                t0, t1, t2 = 2.0 * (z * d1 - yy * d2), 2.0 * (x * d2 - z * d0), 2.0 * (yy * d0 - x * d1)
                out[v0 + 3] = d0 + w * t0 + z * t1 - yy * t2
                out[v0 + 4] = d1 + w * t1 + x * t2 - z * t0
                out[v0 + 5] = d2 + w * t2 + yy * t0 - x * t1
        else:
            for k in range(topology[i, NV]):
                out[v0 + k] = target[q0 + k] - q[q0 + k]
