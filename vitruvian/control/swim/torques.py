"""Joint torques in the muscles' place: inverse dynamics or springs and dampers (Si 2013, section 7.2).

The pelvis is free and has no motor: the stroke's accelerations are asked of the joints, the pelvis follows (hybrid
dynamics, `control.inverse` with `floating`). Ribs, jaw and hyoid are left to their ligaments.

    inverse dynamics   a* = a_d + k_p e + k_v e',  torque from A dv = h (f + torque + felt water)
    PD                 torque = K e + D e',  at the end of the step (which is handed stiffness and damping);
                       D = 2 sqrt(K I): critical for the inertia I that the joint moves while the others are held

The same effort as muscles: a torque about a coordinate stays between what all muscles that help there and all that
hinder could give at that instant, at full activation and at their present length and speed. Muscles must also balance
each other over all axes of a joint, which this leaves out: torques are never weaker than muscles, often stronger.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.controls import Beat, Controls
from vitruvian.control.inverse import InverseDynamics, torque_controls, without_stops
from vitruvian.control.rhythm import Stroke, StrokeMotion, load_stroke
from vitruvian.control.senses import Felt, Sensed
from vitruvian.control.swim.pilot import Command, Pilot, PilotState, checked_plan, give_commands
from vitruvian.control.swim.splines import SETTLING
from vitruvian.control.swim.springs import free_springs
from vitruvian.errors import InputError

Array = np.ndarray
LOOSE = ("Rb", "Hyo", "Thy", "Man")  # left to their ligaments


@dataclass(frozen=True)
class TorqueGains:
    """Feedback of both kinds."""

    stiffness: float = 400.0  # k_p [1/s^2]
    damping: float = 40.0  # k_v [1/s]
    give: float = 0.1  # [rad] of PD: error at which a joint spends its whole strength


@dataclass
class TorqueClock:
    """Phase and rate of the stroke; the stand-in of a rhythm's state."""

    phase: float  # cycles
    rate: float  # [1/s]
    wanted_rate: float


@dataclass
class TorqueOwn:
    """What the actuation remembers."""

    rhythm: TorqueClock
    felt: Felt  # the water's push on each bone, shape (n_bones, 6)
    pilot: PilotState | None = None
    next_command: int = 0


class _Torques(ABC):
    """What both kinds share."""

    def __init__(
        self,
        body: Body,
        stroke: str | Stroke = "crawl",
        rate: float = 0.75,
        *,
        phase: float = 0.0,
        gains: TorqueGains | None = None,
        limited: bool = True,
        water_lag: float | None = 0.0,
        pilot: Pilot | None = None,
        plan: Sequence[tuple[float, Command]] = (),
    ):
        """limited: no stronger than muscles. water_lag [s] with which the water is felt; None: not at all."""
        self.body, self.gains, self.limited, self.water_lag = body, gains or TorqueGains(), limited, water_lag
        self.motion = StrokeMotion(body, load_stroke(stroke) if isinstance(stroke, str) else stroke, rate, phase)
        self.pilot, self.plan = pilot, checked_plan(plan)
        s = body.skeleton
        driven = body.driven.copy()
        for bone in s.names:
            if bone.startswith(LOOSE):
                driven[s.v_slice(bone)] = False
        self.inverse = InverseDynamics(body, without_stops(body), floating=True, driven=driven)
        self.rows = self.inverse.driven

    @property
    def rhythm(self) -> _Torques:
        """Commands are given to what holds the rhythm: here, the actuation itself."""
        return self

    def set_rate(self, state: TorqueClock, rate: float, groups: Sequence[str] = ()) -> None:
        """Slide to `rate` cycles a second."""
        if not (np.isfinite(rate) and rate >= 0):
            raise InputError(f"stroke rate must be zero or more cycles a second, got {rate:g}")
        state.wanted_rate = float(rate)

    def set_stroke(self, state: TorqueClock, stroke: str, groups: Sequence[str] = ()) -> None:
        raise InputError("joint torques follow one stroke; use actuation=muscles to switch strokes")

    def start(self, rng: np.random.Generator) -> TorqueOwn:
        clock = TorqueClock(self.motion.phase, self.motion.rate, self.motion.rate)
        felt = Felt(np.zeros((self.body.n_bones, 6)))
        return TorqueOwn(clock, felt, self.pilot.start() if self.pilot else None)

    def act(self, own: TorqueOwn, now: Sensed, time: float, dt: float) -> Controls:
        give_commands(self, own, time)
        clock = own.rhythm
        q, slope, bend = self.motion.at(clock.phase)
        slide = (clock.wanted_rate - clock.rate) / SETTLING
        v, a = slope * clock.rate, bend * clock.rate**2 + slope * slide
        error = np.empty_like(v)
        tracking_error(self.body.skeleton.topology, now.q, q, error)
        if self.pilot is not None and own.pilot is not None:
            self.pilot.joints(own.pilot, now, time, dt, (clock.phase % 1.0, clock.rate), (error, v, a))
        wrench = own.felt.feel(now.wrench, self.water_lag, dt)
        controls = self._torques(now, error, v - now.v, a, wrench, dt)
        controls.beat = Beat(time, clock.phase, clock.rate)
        clock.phase += dt * clock.rate
        clock.rate += (1.0 - np.exp(-dt / SETTLING)) * (clock.wanted_rate - clock.rate)
        return controls

    @abstractmethod
    def _torques(self, now: Any, error: Array, lag: Array, a: Array, wrench: Array, dt: float) -> Controls:
        """From errors of pose and velocity and the wanted acceleration, each (n_v,), to torques."""

    def _controls(self, torque: Array, low: Array, high: Array) -> Controls:
        """torque, low, high: on the driven coordinates [N m], shape (n_driven,)."""
        given = np.clip(torque, low, high) if self.limited else torque
        return torque_controls(self.body, self.rows, torque, given)


class InverseDynamicsActuation(_Torques):
    """Torques that give the joints the stroke's accelerations, corrected by what was missed."""

    def _torques(self, now: Any, error: Array, lag: Array, a: Array, wrench: Array, dt: float) -> Controls:
        g = self.gains
        wanted = a + g.stiffness * error + g.damping * lag
        demand = self.inverse.demand(now, wanted, dt, wrench=wrench)
        low, high = _bounds(demand.map.row_start, demand.map.column, demand.map.value, len(self.rows))
        return self._controls(demand.torque, low, high)


class PdActuation(_Torques):
    """Springs and dampers from where the joints are to where the stroke wants them; stiffer where muscles are stronger.

    The stiffness goes to the step with the torque, so that a stiff joint stays stable at any step."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        s = self.body.skeleton
        now = self.body.at_rest(self.motion.at(0.0)[0])
        demand = self.inverse.demand(now, np.zeros(s.n_v), 1e-3, wrench=now.wrench)
        low, high = _bounds(demand.map.row_start, demand.map.column, demand.map.value, len(self.rows))
        self.stiffness = 0.5 * (high - low) / self.gains.give  # [N m/rad], shape (n_driven,)
        self.damping = 2.0 * np.sqrt(self.stiffness * np.diag(demand.matrix)[self.rows])  # [N m s/rad]

    def _torques(self, now: Any, error: Array, lag: Array, a: Array, wrench: Array, dt: float) -> Controls:
        rows, K, D = self.rows, self.stiffness, self.damping
        # The step moves the pose by the present velocity, then by the new one: where the joints should be after both.
        torque = K * (error + 2.0 * dt * (lag + now.v))[rows] + D * (lag + dt * a)[rows]
        demand = self.inverse.demand(now, np.zeros_like(a), dt, wrench=wrench)
        low, high = _bounds(demand.map.row_start, demand.map.column, demand.map.value, len(rows))
        free = np.ones(len(rows), dtype=bool)
        if self.limited:
            unmoved = torque - 2.0 * dt * K * now.v[rows]
            free, end = free_springs(demand.matrix, demand.force, rows, unmoved, dt * K + D, low, high, dt)
            low, high = np.where(free, -np.inf, end), np.where(free, np.inf, end)
        out = self._controls(torque, low, high)
        soft = np.zeros((2, self.body.skeleton.n_v))
        soft[0, rows], soft[1, rows] = K * free, D * free
        assert out.torque is not None
        out.torque.stiffness, out.torque.damping = soft[0], soft[1]
        return out


def _bounds(row_start: Array, column: Array, value: Array, n: int) -> tuple[Array, Array]:
    """Least and greatest torque [N m] about each coordinate when every muscle may be on or off, shape (n,) each."""
    return (
        np.bincount(column, np.minimum(value, 0.0), n),
        np.bincount(column, np.maximum(value, 0.0), n),
    )
