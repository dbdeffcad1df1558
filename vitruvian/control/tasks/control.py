"""A controller by tasks: every step the joint velocities that serve all of them best, then torques or muscles.

    look at body and water -> governing equation -> tasks -> one program -> velocities x a time T ahead
    a = (x - v) / T  ->  inverse dynamics, no stronger than the joints' limits, or muscles chosen together

T is a fixed time, not the step: a goal of one step's velocity would be a gain of one over the step.

A step in water first moves the bones with the velocities that they have, and meets all forces there. So that is where
body and water are looked at: a wrist that turns at 10 rad/s is 12° further on after 1/48 s, and what muscles give it
for the pose before is another torque there. Muscles are chosen for that very step, with the stops that joints press
against (`stops`): chosen as if those were not there, they bring about nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.controls import Controls
from vitruvian.control.controls import Effort as Shortfall
from vitruvian.control.inverse import InverseDynamics, torque_controls, without_stops
from vitruvian.control.rhythm.balance import RIBS, BalanceGains, BodyBalance
from vitruvian.control.tasks.expect import ExpectedWater
from vitruvian.control.tasks.force import Fit, WaterForce, water_force
from vitruvian.control.tasks.gather import Gathered, Task, memories
from vitruvian.control.tasks.limits import Limits
from vitruvian.control.tasks.now import Now, look, pelvis_from_joints
from vitruvian.control.tasks.stops import Stops
from vitruvian.couple import BodyStepper, StillWater, System
from vitruvian.couple.skin_links import SkinPose
from vitruvian.skeleton import integrate
from vitruvian.skin import BoundSkin

Array = np.ndarray
AHEAD = 0.05  # T [s]
RATE = 48.0  # [1/s] decisions for muscles; torques are decided at every step
SPARING = 10.0  # [N m rad/s²] effort given up to spare activation
ACTUATIONS = ("torques", "muscles")


@dataclass
class TaskState:
    """What the controller remembers."""

    fit: Fit
    memory: dict[str, dict[str, Array]]  # of the tasks, by name
    wanted: Array = field(default_factory=lambda: np.zeros(0))  # velocities of the driven joints, (n,)
    excitation: Array = field(default_factory=lambda: np.zeros(0))  # of the last decision, (n_muscles,)
    effort: Shortfall = field(default_factory=Shortfall)
    next_decision: float = -np.inf  # [s]


class TaskControl:
    """A `Controller` of a swimmer; see the head of this file."""

    def __init__(
        self,
        body: Body,
        skin: BoundSkin,
        tasks: Sequence[Task],
        *,
        simulated: bool = True,
        still: StillWater | None = None,
        actuation: str = "torques",
        ahead: float = AHEAD,
    ):
        """simulated: the water's force is felt and its damping fitted; else the law of still water is known. still: the
        calm water's level and density."""
        self.body, self.skin, self.tasks, self.simulated = body, skin, list(tasks), simulated
        self.still, self.actuation, self.ahead = still or StillWater(), actuation, ahead
        self.balance = BodyBalance(body, BalanceGains(softness=SPARING))
        ribs = np.array([body.skeleton.names[b].startswith(RIBS) for b in body.skeleton.dof_bone[self.balance.rows]])
        self.joints = self.balance.rows[~ribs]  # ribs are asked to stay, and no more
        self.limits = Limits(body, self.joints)
        self.stops = Stops(body, self.limits)
        self.balance.stepper = self.stops.stepper
        self.bones = BodyStepper(body.skeleton, body.muscles).bones
        self._links, self._faces = np.asarray(skin.face_bone), skin.faces
        driven = np.zeros(body.skeleton.n_v, dtype=bool)
        driven[self.joints] = True
        self.inverse = InverseDynamics(body, without_stops(body), floating=True, driven=driven)
        self._order = np.searchsorted(self.inverse.driven, self.joints)

    def start(self, rng: np.random.Generator) -> TaskState:
        return TaskState(Fit.start(len(self.skin.names)), memories(self.tasks))

    def act(self, own: TaskState, state: Any, time: float, dt: float) -> Controls:
        if self.actuation == "muscles" and time < own.next_decision - 1e-9:
            return Controls(excitation=own.excitation.copy(), effort=replace(own.effort))
        now = self.look(own, state, time, dt)
        x, _ = self.decide(own, now)
        own.wanted = x
        acceleration = -now.v / self.ahead
        acceleration[self.joints] = (x - now.v[self.joints]) / self.ahead
        if self.actuation == "muscles":
            beat = max(dt, 1.0 / RATE)
            rows = self.moved(now, x, beat)
            a, lack = self.balance.activations(
                now.q, now.v, state.activation, acceleration[rows], beat, load=state.load, wrench=state.push,
                others=(ExpectedWater(now.water),), rows=rows,
            )  # fmt: skip
            worst = int(np.argmax(np.abs(lack)))
            own.effort = Shortfall(float(np.abs(lack[worst])), int(rows[worst]))
            own.excitation, own.next_decision = a.copy(), time + beat
            return Controls(excitation=a, effort=replace(own.effort))
        return self._torques(state, now, acceleration, dt)

    def moved(self, now: Now, x: Array, beat: float) -> Array:
        """The coordinates (n,) that muscles are asked to move in a beat [s]: those that stay in their stops are not;
        `balance` then meets the stops that are left."""
        rows = self.balance.rows
        return np.asarray(rows[~self.stops.meet(now.q, x, beat)[rows]])

    def look(self, own: TaskState, state: Any, time: float, dt: float) -> Now:
        """Body and water where forces will be met; learns from the water's force of the last step."""
        s, v = self.body.skeleton, state.v
        before = None
        if self.simulated:
            before = self._water(self.bones.assemble(state.q, v, 0.0), v, state.link_force)
            if state.link_force.any():  # before the first step nothing has been felt
                own.fit.learn(before.law, before.felt, dt)
        q = integrate(s, state.q, v, self.lead(dt))
        system, mass, centre, momentum = look(self.bones, q, v)
        water = self._water(system, v, None, own.fit if self.simulated else None)
        if before is not None:
            water = replace(water, felt=before.felt)
        pelvis = pelvis_from_joints(momentum, v, centre, s.mass * s.gravity, self.ahead, water, self.joints)
        return Now(
            s, q, v, time, self.ahead, system.poses.copy(), system.screws.copy(), mass, centre, momentum, water,
            self.still.level, self.joints, pelvis,
        )  # fmt: skip

    def lead(self, dt: float) -> float:
        """Time [s] by which the forces of the coming steps are met later than now, in the mean of a decision."""
        within = dt if self.simulated else min(dt, self.still.longest)
        return 0.5 * (max(dt, 1.0 / RATE) + within) if self.actuation == "muscles" else 0.5 * (dt + within)

    def _water(self, system: System, v: Array, felt: Array | None = None, fit: Fit | None = None) -> WaterForce:
        pose = SkinPose.seen(system, self.skin)
        return water_force(pose, v, self.still, self._faces, self._links, felt, fit)

    def decide(self, own: TaskState, now: Now) -> tuple[Array, Gathered]:
        """Velocities of the driven joints (n,), and what was asked."""
        low, high = self.limits.bounds(now)
        n = len(self.joints)
        gathered = Gathered(now, low, high, np.full(n, 1e-6), np.zeros(n), own.wanted)
        for task in self.tasks:
            task.add(now, gathered, own.memory[task.name])
        return gathered.program().solve().x, gathered

    def _torques(self, state: Any, now: Now, acceleration: Array, dt: float) -> Controls:
        water = (ExpectedWater(now.water),)
        there = replace(state, q=now.q)
        demand = self.inverse.demand(there, acceleration, dt, condense=False, wrench=state.push, others=water)
        asked = demand.torque[self._order]
        given = np.clip(asked, -self.limits.torque, self.limits.torque)
        return torque_controls(self.body, self.joints, asked, given)
