"""Standing, squatting, jumping on muscles and the ground's true forces: no hand at the pelvis.

A plan says at every decision where joints and centre of mass should go and which feet carry. From that follow

    joints, root    a* = a + k_p (q* - q) + k_v (v* - v)
    centre of mass  J a + J' v = c'' + k_p (c* - c) + k_v (c*' - c')      (the ankle's and the hip's work in balance)
    spin            L' = -k L about the centre of mass
    soles           J a + J' v = -k_v u - k_p gap: balls of the feet that stand stay where they are, on the ground;
                    balls of a foot that swings are led by place

each with its weight, and `solve` finds activations (0 to 1) and forces of the ground inside friction cones that come
closest. The forces of the ground are only planned: what acts is what contact gives in the step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.computed_muscle import tracking_error
from vitruvian.control.controls import Controls, Effort
from vitruvian.control.inverse import Demand, InverseDynamics
from vitruvian.control.stance.soles import fill_columns, point_jacobians, soles_of
from vitruvian.control.stance.solve import Columns, Shares, compromise, condense, softness, solve_shares
from vitruvian.couple import BodyState, BodyStepper
from vitruvian.skeleton import centre_of_mass, integrate, mass_matrix, world_twists

Array = np.ndarray
TINY = 1e-6  # [s] over which Jacobians are differenced
TURNING = 12.0  # [kg m²] of a body about its centre of mass, order of magnitude: a scale for weights
UNIT = 500.0  # [N] of a friction cone's edge at x = 1
EDGE_COST = 1.0  # w of x along an edge, beside 1 of an activation


@dataclass(frozen=True)
class Swing:
    """Where balls of a sole that swings should be; each array for all balls, (n_balls, 3)."""

    led: Array  # which of them are led, bool, (n_balls,)
    place: Array  # [m]
    rate: Array  # [m/s]
    bend: Array  # [m/s²]


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
    swing: Swing | None = None


class Plan(Protocol):
    """Where a body should go; may look at where it is, and remember numbers by name."""

    def wish(self, state: BodyState, sensed: Sensed, time: float, memory: dict[str, float]) -> Wish: ...


@dataclass(frozen=True)
class Sensed:
    """What a plan may feel."""

    centre: Array  # of mass [m], (3,)
    velocity: Array  # of the centre of mass [m/s], (3,)
    gap: Array  # under each ball of the soles [m], (n_balls,)
    points: Array  # lowest points of the balls [m], (n_balls, 3)
    rates: Array  # their velocities [m/s], (n_balls, 3)


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
    swing_stiffness: float = 400.0  # of a sole that is led through the air [1/s²]
    swing_damping: float = 40.0  # [1/s]
    swing_weight: float = 20.0  # [kg]
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
        self.soles = soles_of(body)
        m = self.gains.friction / np.sqrt(2.0)
        self.edges = UNIT * np.array([(x, y, 1.0) for x in (-m, m) for y in (-m, m)])
        self._ask(InverseDynamics(body, stepper))

    def _ask(self, inverse: InverseDynamics) -> None:
        self.inverse, self._rows = inverse, inverse.wanted
        n, balls = self.body.muscles.n_muscles, self.soles.n
        most = len(self.inverse.demand_pattern[1]) + n * len(self.inverse.root) + 4 * balls * len(self._rows)
        self._start = np.zeros(n + 4 * balls + 1, dtype=np.int64)
        self._row, self._value = np.zeros(most, dtype=np.int64), np.zeros(most)

    def leave(self, coordinates: Array, muscles: Array) -> None:
        """Leave these coordinates and muscles (indices) to another controller: what they do is felt, not asked for."""
        driven = self.body.driven.copy()
        driven[coordinates] = False
        self._ask(InverseDynamics(self.body, self.stepper, driven=driven, left=muscles))

    def start(self, rng: np.random.Generator) -> StanceState:
        return StanceState(np.zeros(self.body.muscles.n_muscles), np.zeros(len(self._rows)), np.zeros(3))

    def act(self, own: StanceState, state: BodyState, time: float, dt: float) -> Controls:
        if time >= own.next_decision - 1e-9:
            self._decide(own, state, time, dt)
            own.next_decision = time + 1.0 / self.gains.rate
        told = {"planned_ground": own.ground.copy()}
        return Controls(excitation=own.excitation.copy(), effort=replace(own.effort), told=told)

    def _decide(self, own: StanceState, state: BodyState, time: float, dt: float) -> None:
        g, s, rows = self.gains, self.body.skeleton, self._rows
        now = Instant.of(self.body, state.q, state.v)
        sensed = Sensed(now.centre, now.centre_rate, now.points[:, 2].copy(), now.points, now.rates)
        wish = self.plan.wish(state, sensed, time, own.memory)
        error = np.empty(s.n_v)
        tracking_error(s.topology, state.q, wish.q, error)
        wanted = wish.a + g.stiffness * error + g.damping * (wish.v - state.v)
        tasks, goals, costs = self._tasks(now, wish, state)
        tasks = np.ascontiguousarray(tasks[:, rows])
        demand = self.inverse.demand(state, np.zeros(s.n_v), dt)
        inner = np.empty((len(rows), len(rows)))
        condense(demand.matrix, rows, self.inverse.passive, inner)
        weight = wish.weight[rows] * np.diag(inner)
        best = np.empty(len(rows))
        compromise(weight, tasks, costs, wanted[rows], goals, best)
        soft = np.empty_like(inner)
        softness(inner, weight, tasks, costs, soft)
        carrying = np.flatnonzero(wish.carrying)
        columns = self._columns(demand, np.ascontiguousarray(now.jacobians[carrying][:, :, rows]))
        torque = np.concatenate([demand.torque, demand.root]) + np.einsum("ij,j->i", inner, best)
        found = solve_shares(columns, torque, soft, own.multiplier)
        self._keep(own, found, len(carrying))

    def _tasks(self, now: Instant, wish: Wish, state: BodyState) -> tuple[Array, Array, Array]:
        """Rows J (r, n_v) with the accelerations J a that are asked for (r,) and what missing them costs (r,)."""
        g, mass = self.gains, self.body.skeleton.mass
        later = Instant.of(self.body, integrate(self.body.skeleton, state.q, state.v, TINY), state.v)
        bias = (later.rates - now.rates) / TINY
        J, goal, cost = [], [], []
        planted = np.flatnonzero(wish.planted)
        if len(planted):
            down = g.sole_stiffness * now.points[planted] * (0.0, 0.0, 1.0)
            J.append(now.jacobians[planted].reshape(-1, len(state.v)))
            goal.append((-g.sole_damping * now.rates[planted] - down - bias[planted]).ravel())
            cost.append(np.full(3 * len(planted), g.sole_weight / len(planted)))
        if wish.swing is not None:
            w, led = wish.swing, np.flatnonzero(wish.swing.led)
            pull = g.swing_stiffness * (w.place[led] - now.points[led]) + g.swing_damping * (
                w.rate[led] - now.rates[led]
            )
            J.append(now.jacobians[led].reshape(-1, len(state.v)))
            goal.append((w.bend[led] + pull - bias[led]).ravel())
            cost.append(np.full(3 * len(led), g.swing_weight / len(led)))
        if wish.centre is not None:
            stiff, damp = np.array(g.centre_stiffness), np.array(g.centre_damping)
            pull = stiff * (wish.centre - now.centre) + damp * (wish.centre_v - now.centre_rate)
            J.append(now.centre_jacobian)
            goal.append(wish.centre_a + pull - (later.centre_rate - now.centre_rate) / TINY)
            cost.append(mass * wish.centre_weight)
            if wish.spin_weight > 0.0:
                J.append(now.spin)
                goal.append(-g.spin_damping * (now.spin @ state.v))
                cost.append(np.full(3, wish.spin_weight / TURNING))
        if not J:
            return np.zeros((0, len(state.v))), np.zeros(0), np.zeros(0)
        costs = np.concatenate(cost)
        keep = costs > 0.0
        return np.concatenate(J)[keep], np.concatenate(goal)[keep], costs[keep]

    def _keep(self, own: StanceState, found: Shares, n_carrying: int) -> None:
        n = self.body.muscles.n_muscles
        own.excitation, own.multiplier, own.iterations = found.x[:n].copy(), found.multiplier, found.iterations
        own.ground = (found.x[n:].reshape(n_carrying, 4) @ self.edges).sum(axis=0)
        n_driven = len(self.inverse.driven)
        missing = np.abs(found.yielded[:n_driven])
        row = int(np.argmax(missing))
        own.effort = Effort(float(missing[row]), int(self.inverse.driven[row]))

    def _columns(self, demand: Demand, jacobians: Array) -> Columns:
        """Muscles on joints (and, through passive bones, on the root), then the edges of friction cones."""
        n, edges = self.body.muscles.n_muscles, 4 * len(jacobians)
        wide = np.abs(demand.root_map).max(axis=0, initial=0.0) > 0.0
        m = demand.map
        count = fill_columns(
            m.row_start, m.column, m.value, wide, demand.root_map, len(self.inverse.driven), jacobians, self.edges,
            self._start, self._row, self._value,
        )  # fmt: skip
        return Columns(
            self._start[: n + edges + 1],
            self._row[:count],
            self._value[:count],
            np.concatenate([1.0 / self.body.muscles.weight**2, np.full(edges, 1.0 / EDGE_COST**2)]),
            np.concatenate([np.full(n, self.gains.upper), np.full(edges, 1e6)]),
        )


@dataclass(frozen=True)
class Instant:
    """Where a body is and how it moves: soles, centre of mass, spin."""

    points: Array  # lowest point of each ball of the soles [m], (n_balls, 3)
    rates: Array  # their velocities [m/s], (n_balls, 3)
    jacobians: Array  # of these points, (n_balls, 3, n_v)
    centre: Array  # of mass [m], (3,)
    centre_rate: Array  # [m/s], (3,)
    centre_jacobian: Array  # (3, n_v)
    spin: Array  # angular momentum about the centre of mass per unit of the joint velocities, (3, n_v)

    @classmethod
    def of(cls, body: Body, q: Array, v: Array) -> Instant:
        s, feet = body.skeleton, soles_of(body)
        poses, screws = world_twists(s, q)
        points = feet.points(poses)
        jacobians = np.empty((feet.n, 3, s.n_v))
        point_jacobians(screws, s.supports, feet.bone, points, jacobians)
        M, centre = mass_matrix(s, q), centre_of_mass(s, q)
        turn, away = poses[0, :3, :3], poses[0, :3, 3] - centre
        push = turn @ M[3:6]
        spin = turn @ M[:3] + np.cross(away, push, axisb=0, axisc=0)
        return cls(points, jacobians @ v, jacobians, centre, push @ v / s.mass, push / s.mass, spin)
