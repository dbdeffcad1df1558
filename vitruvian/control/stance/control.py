"""Standing, squatting, jumping on muscles and the ground's true forces: no hand at the pelvis.

A plan says at every decision where joints and centre of mass should go and which feet carry. From that follow

    joints, root    a* = a + k_p (q* - q) + k_v (v* - v)
    centre of mass  J a + J' v = c'' + k_p (c* - c) + k_v (c*' - c')      (the ankle's and the hip's work in balance)
    spin            L' = -k L about the centre of mass
    soles           J a + J' v = -k_v u - k_p gap: balls of the feet that stand stay where they are, on the ground

each with its weight, and `solve` finds activations (0 to 1) and forces of the ground inside friction cones that come
closest. The forces of the ground are only planned: what acts is what contact gives in the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from vitruvian.anatomy import Body, sole_balls
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.controls import Controls, Effort
from vitruvian.control.inverse import Demand, InverseDynamics
from vitruvian.control.stance.solve import Columns, Shares, compromise, condense, softness, solve_shares
from vitruvian.couple import BodyState, BodyStepper
from vitruvian.skeleton import centre_of_mass, integrate, mass_matrix, world_twists

Array = np.ndarray
TINY = 1e-6  # [s] over which Jacobians are differenced
TURNING = 12.0  # [kg m²] of a body about its centre of mass, order of magnitude: a scale for weights
UNIT = 500.0  # [N] of a friction cone's edge at x = 1
EDGE_COST = 1.0  # w of x along an edge, beside 1 of an activation


@dataclass(frozen=True)
class Wish:
    """What a plan asks for at one instant."""

    q: Array  # posture (n_q,)
    v: Array  # (n_v,)
    a: Array  # (n_v,)
    weight: Array  # of a deviation from the posture's acceleration, per inertia that a coordinate meets, (n_v,)
    carrying: Array  # which of the soles' balls may carry, bool, (n_balls,)
    planted: Array  # which of them should stay on the ground or come down to it, bool, (n_balls,)
    centre: Array | None = None  # where the centre of mass should be [m], (3,)
    centre_v: Array = field(default_factory=lambda: np.zeros(3))
    centre_a: Array = field(default_factory=lambda: np.zeros(3))
    centre_weight: Array = field(default_factory=lambda: np.ones(3))  # per the body's mass
    spin_weight: float = 0.1  # of keeping the angular momentum about the centre of mass low, per 1/(12 kg m²)


class Plan(Protocol):
    """Where a body should go; may look at where it is, and remember numbers by name."""

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish: ...


@dataclass(frozen=True)
class Sensed:
    """What a plan may feel: centre of mass and its velocity [m, m/s] (3,), gap under each ball of the soles [m]."""

    centre: Array
    velocity: Array
    gap: Array


@dataclass(frozen=True)
class StanceGains:
    """Feedback and limits."""

    stiffness: float = 100.0  # of joints [1/s²]
    damping: float = 20.0  # [1/s]
    centre_stiffness: tuple[float, float, float] = (12.0, 12.0, 100.0)  # of the centre of mass [1/s²]
    centre_damping: tuple[float, float, float] = (7.0, 7.0, 20.0)  # [1/s]
    spin_damping: float = 8.0  # of the angular momentum [1/s]
    sole_stiffness: float = 400.0  # [1/s²]
    sole_damping: float = 40.0  # [1/s]
    sole_weight: float = 400.0  # [kg]
    friction: float = 0.6  # that is counted on
    rate: float = 120.0  # decisions [1/s]
    upper: float = 1.0  # most activation


@dataclass
class StanceState:
    """What the controller remembers."""

    excitation: Array
    multiplier: Array
    ground: Array  # planned force of the ground [N], (3,)
    memory: dict[str, float] = field(default_factory=dict)  # of the plan
    next_decision: float = 0.0
    effort: Effort = field(default_factory=Effort)
    iterations: int = 0


class StanceControl:
    """A `Controller` for a body on its feet."""

    def __init__(self, body: Body, stepper: BodyStepper, plan: Plan, gains: StanceGains | None = None):
        self.body, self.plan, self.gains = body, plan, gains or StanceGains()
        self.stepper = stepper
        self.inverse = InverseDynamics(body, stepper)
        s = body.skeleton
        balls = sole_balls(body)
        self.ball_bone = np.array([s.index(b) for b, _, _ in balls])
        self.ball_centre = np.array([c for _, c, _ in balls])
        self.ball_radius = np.array([r for _, _, r in balls])
        m = self.gains.friction / np.sqrt(2.0)
        self.edges = np.array([(x, y, 1.0) for x in (-m, m) for y in (-m, m)])
        self._rows = self.inverse.wanted
        self._n = len(self._rows)

    def start(self, rng: np.random.Generator) -> StanceState:
        return StanceState(np.zeros(self.body.muscles.n_muscles), np.zeros(self._n), np.zeros(3))

    def act(self, own: StanceState, state: BodyState, time: float, dt: float) -> Controls:
        if time >= own.next_decision - 1e-9:
            self._decide(own, state, time, dt)
            own.next_decision = time + 1.0 / self.gains.rate
        told = {"planned_ground": own.ground.copy()}
        return Controls(excitation=own.excitation.copy(), effort=replace(own.effort), told=told)

    def _decide(self, own: StanceState, state: BodyState, time: float, dt: float) -> None:
        g, s = self.gains, self.body.skeleton
        poses, screws = world_twists(s, state.q)
        points = np.einsum("nij,nj->ni", poses[self.ball_bone, :3, :3], self.ball_centre) + poses[self.ball_bone, :3, 3]
        points[:, 2] -= self.ball_radius
        M, mass = mass_matrix(s, state.q), s.mass
        com_jacobian = poses[0, :3, :3] @ M[3:6] / mass
        sensed = Sensed(centre_of_mass(s, state.q), com_jacobian @ state.v, points[:, 2].copy())
        wish = self.plan.wish(state, sensed, time, own.memory)

        error = np.empty(s.n_v)
        tracking_error(s.topology, state.q, wish.q, error)
        wanted = wish.a + g.stiffness * error + g.damping * (wish.v - state.v)

        later_q = integrate(s, state.q, state.v, TINY)
        later_poses, later_screws = world_twists(s, later_q)
        carrying = np.flatnonzero(wish.carrying)
        J, goal, cost = [], [], []
        planted = np.flatnonzero(wish.planted)
        jacobians = {k: self._point_jacobian(screws, points[k], self.ball_bone[k]) for k in {*carrying, *planted}}
        for k in planted:
            bone = self.ball_bone[k]
            x = later_poses[bone, :3, :3] @ self.ball_centre[k] + later_poses[bone, :3, 3]
            x[2] -= self.ball_radius[k]
            u = jacobians[k] @ state.v
            bias = (self._point_jacobian(later_screws, x, bone) @ state.v - u) / TINY
            J.append(jacobians[k])
            down = np.array([0.0, 0.0, g.sole_stiffness * points[k, 2]])
            goal.append(-g.sole_damping * u - down - bias)
            cost += [g.sole_weight / len(planted)] * 3
        if wish.centre is not None:
            stiff, damp = np.array(g.centre_stiffness), np.array(g.centre_damping)
            pull = stiff * (wish.centre - sensed.centre) + damp * (wish.centre_v - sensed.velocity)
            J.append(com_jacobian)
            later = later_poses[0, :3, :3] @ mass_matrix(s, later_q)[3:6] / mass
            goal.append(wish.centre_a + pull - (later @ state.v - sensed.velocity) / TINY)
            cost += list(mass * wish.centre_weight)
            if wish.spin_weight > 0.0:
                away = poses[0, :3, 3] - sensed.centre
                spin = poses[0, :3, :3] @ M[:3] + np.cross(away, mass * com_jacobian, axisb=0, axisc=0)
                J.append(spin)
                goal.append(-g.spin_damping * (spin @ state.v))
                cost += [wish.spin_weight / TURNING] * 3
        rows = self._rows
        tasks = np.ascontiguousarray(np.concatenate([*J, np.zeros((0, s.n_v))])[:, rows])
        demand = self.inverse.demand(state, np.zeros(s.n_v), dt)
        inner = np.empty((self._n, self._n))
        condense(demand.matrix, rows, self.inverse.passive, inner)
        weight = wish.weight[rows] * np.diag(inner)
        costs = np.array(cost, dtype=float)
        keep = costs > 0.0
        tasks, costs, goals = tasks[keep], costs[keep], np.concatenate([*goal, np.zeros(0)])[keep]
        best = np.empty(self._n)
        compromise(weight, np.ascontiguousarray(tasks), costs, wanted[rows], goals, best)
        soft = np.empty_like(inner)
        softness(inner, weight, np.ascontiguousarray(tasks), costs, soft)
        columns = self._columns(demand, [jacobians[k] for k in carrying])
        torque = np.concatenate([demand.torque, demand.root]) + np.einsum("ij,j->i", inner, best)
        found = solve_shares(columns, torque, soft, own.multiplier)
        self._keep(own, found, len(carrying))

    def _keep(self, own: StanceState, found: Shares, n_carrying: int) -> None:
        n = self.body.muscles.n_muscles
        own.excitation, own.multiplier, own.iterations = found.x[:n].copy(), found.multiplier, found.iterations
        force = found.x[n:].reshape(n_carrying, 4) @ self.edges * UNIT if n_carrying else np.zeros((0, 3))
        own.ground = force.sum(axis=0)
        n_driven = len(self.inverse.driven)
        missing = np.abs(found.yielded[:n_driven])
        row = int(np.argmax(missing))
        own.effort = Effort(float(missing[row]), int(self.inverse.driven[row]))

    def _point_jacobian(self, screws: Array, x: Array, bone: int) -> Array:
        """Of a point [m] of a bone, world axes, shape (3, n_v)."""
        moved = self.body.skeleton.supports[bone]
        return ((np.cross(screws[:, :3], x) + screws[:, 3:]) * moved[:, None]).T

    def _columns(self, demand: Demand, jacobians: Sequence[Array]) -> Columns:
        """Muscles on joints (and, through passive bones, on the root), then the edges of friction cones."""
        n, rows = self.body.muscles.n_muscles, self._n
        n_driven = len(self.inverse.driven)
        start, row, value = [0], [], []
        m = demand.map
        wide = np.abs(demand.root_map).max(axis=0) > 0.0
        counts = np.diff(m.row_start)
        if not wide.any():
            starts, row_all, value_all = m.row_start, m.column, m.value
        else:
            for i in range(n):
                at = slice(m.row_start[i], m.row_start[i + 1])
                row.append(m.column[at])
                value.append(m.value[at])
                if wide[i]:
                    row.append(np.arange(n_driven, rows))
                    value.append(demand.root_map[:, i])
            starts = np.concatenate([[0], np.cumsum(counts + wide * (rows - n_driven))])
            row_all, value_all = np.concatenate(row), np.concatenate(value)
        start = list(starts)
        more_row, more_value = [], []
        for J in jacobians:
            mine = J[:, self._rows]
            used = np.flatnonzero(np.abs(mine).max(axis=0) > 0.0)
            for edge in self.edges:
                more_row.append(used)
                more_value.append(UNIT * (edge @ mine[:, used]))
                start.append(start[-1] + len(used))
        edges = 4 * len(jacobians)
        weight = np.concatenate([self.body.muscles.weight, np.full(edges, EDGE_COST)])
        upper = np.concatenate([np.full(n, self.gains.upper), np.full(edges, 1e6)])
        return Columns(
            np.array(start, dtype=np.int64),
            np.concatenate([row_all, *more_row]).astype(np.int64),
            np.concatenate([value_all, *more_value]),
            1.0 / weight**2,
            upper,
        )
