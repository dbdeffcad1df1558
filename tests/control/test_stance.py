"""Muscles and ground in one problem: linear algebra against dense formulas, optimality against another solver."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize

from vitruvian.anatomy import Body, human
from vitruvian.control import HANGING, pose
from vitruvian.control.stance import Catch, Follow, Jump, Sensed, StanceControl, Walk, posture_weights, soles, soles_of
from vitruvian.control.stance.control import Instant
from vitruvian.control.stance.soles import FEET
from vitruvian.control.stance.solve import Columns, compromise, condense, softness, solve_shares
from vitruvian.couple import BodyStepper
from vitruvian.scenes import find
from vitruvian.skeleton import centre_of_mass
from vitruvian.world import scene_parameters

RNG = np.random.default_rng(2)


def spd(n):
    A = RNG.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


def test_softness_compromise_and_condensation_are_their_dense_formulas():
    n, r = 7, 3
    A, J = spd(n), RNG.normal(size=(r, n))
    weight, cost = RNG.uniform(0.5, 2.0, n), RNG.uniform(1.0, 9.0, r)
    W = np.diag(weight) + J.T @ np.diag(cost) @ J
    out = np.empty((n, n))
    softness(A, weight, J, cost, out)
    assert out == pytest.approx(A @ np.linalg.solve(W, A.T))
    wanted, goal, best = RNG.normal(size=n), RNG.normal(size=r), np.empty(n)
    compromise(weight, J, cost, wanted, goal, best)
    assert best == pytest.approx(np.linalg.solve(W, weight * wanted + J.T @ (cost * goal)))
    m, p = np.array([0, 2, 3, 6]), np.array([1, 4, 5])
    small = np.empty((4, 4))
    condense(A, m, p, small)
    schur = A[np.ix_(m, m)] - A[np.ix_(m, p)] @ np.linalg.solve(A[np.ix_(p, p)], A[np.ix_(p, m)])
    assert small == pytest.approx(schur)


def test_shares_are_those_of_another_solver():
    rows, n = 4, 9
    R, A = RNG.normal(size=(rows, n)), spd(rows)
    weight, w = RNG.uniform(0.5, 2.0, rows), RNG.uniform(0.5, 2.0, n)
    torque = 3.0 * RNG.normal(size=rows)  # more than the columns can give within bounds
    soft = np.empty((rows, rows))
    softness(A, weight, np.zeros((0, rows)), np.zeros(0), soft)
    start = np.arange(n + 1) * rows
    columns = Columns(start, np.tile(np.arange(rows), n), R.T.ravel().copy(), 1.0 / w**2, np.full(n, 0.8))
    found = solve_shares(columns, torque, soft, np.zeros(rows))

    def price(x):
        yielded = np.linalg.solve(A, R @ x - torque)
        return 0.5 * np.sum((w * x) ** 2) + 0.5 * np.sum(weight * yielded**2)

    other = minimize(price, np.full(n, 0.4), bounds=[(0.0, 0.8)] * n, tol=1e-14, options={"maxiter": 2000})
    assert found.converged
    assert price(found.x) <= other.fun + 1e-8
    assert R @ found.x - torque == pytest.approx(found.yielded, abs=1e-5)


@pytest.fixture(scope="module")
def standing():
    body = human()
    q = pose(body, {**HANGING, "pelvis": {"shift": [0, 0, -0.02]}, "feet": -0.005})
    q[2] -= soles(body, q)[:, 2].min()
    return body, q


class Still:
    def __init__(self, q, n):
        self.q, self.n = q, n

    def sample(self, time):
        return self.q.copy(), np.zeros(self.n), np.zeros(self.n)


def test_standing_still_plans_the_weight_inside_the_friction_cones(standing):
    body, q = standing
    s = body.skeleton
    control = StanceControl(body, BodyStepper(s, body.muscles), Follow(body, Still(q, s.n_v), posture_weights(body)))
    own = control.start(RNG)
    controls = control.act(own, body.at_rest(q), 0.0, 1 / 480)
    assert controls.asked == ("excitation",)  # no hand
    weight = s.mass * 9.81
    assert own.ground[2] == pytest.approx(weight, rel=0.15)
    assert np.hypot(*own.ground[:2]) < 0.6 * own.ground[2]


def test_a_jumper_in_the_air_counts_on_no_ground(standing):
    body, q = standing
    s = body.skeleton
    plan = Jump(body, Still(q, s.n_v), posture_weights(body), leaves=0.5, lands=0.9, pushes=0.2)
    points, still = soles(body, q), np.zeros((16, 3))
    sensed = Sensed(
        centre_of_mass(s, q) + np.array([0, 0, 0.1]), np.array([0.0, 0.0, 1.0]), np.full(16, 0.1), points, still
    )
    memory = {}
    wish = plan.wish(body.at_rest(q), sensed, 0.6, memory)
    assert "left" in memory
    assert not wish.carrying.any()
    assert not wish.planted.any()
    assert wish.centre is None
    down = Sensed(sensed.centre, np.array([0.0, 0.0, -1.0]), np.zeros(16), points, still)
    wish = plan.wish(body.at_rest(q), down, 0.8, memory)
    assert memory["landed"] == 0.8
    assert wish.carrying.all()


def test_a_step_is_taken_where_the_capture_point_leaves_the_soles_ahead(standing):
    body, q = standing
    s = body.skeleton
    plan = Catch(body, Still(q, s.n_v), posture_weights(body))
    points, state = soles(body, q), body.at_rest(q)
    still, feet = np.zeros_like(points), soles_of(body)
    centre = centre_of_mass(s, q)

    def sensed(velocity, gap=0.0):
        return Sensed(centre, np.array([0.0, *velocity]), np.full(len(points), gap), points, still)

    memory = {}
    for velocity in ((0.0, 0.0), (-0.2, 0.0), (0.9, 0.0)):  # at rest, slowly ahead, back: no step
        wish = plan.wish(state, sensed(velocity), 0.5, memory)
        assert wish.swing is None
        assert wish.planted.all()
    wish = plan.wish(state, sensed((-0.9, 0.0)), 0.5, memory)
    foot = feet.foot[FEET[int(memory["foot"])]]
    assert (wish.swing.led == foot).all()
    assert not (wish.planted & foot).any()
    assert not (wish.carrying & foot).any()
    assert wish.planted[~foot].all()
    capture = centre[1] - 0.9 / np.sqrt(9.81 / centre[2])
    assert memory["to y"] < capture  # ahead is -y; by then it will have gone on
    assert np.abs(memory["to x"] - points[~foot, 0].mean()) >= plan.apart - 1e-9  # feet do not cross
    middle = plan.wish(state, sensed((-0.9, 0.0), 0.03), 0.5 + 0.5 * plan.swing, memory).swing
    assert middle.place[foot, 2].min() == pytest.approx(plan.lift, rel=0.1)
    h = 1e-5
    ways = [plan._led(foot, np.zeros(2), np.array([0.1, -0.3]), 0.4 + x) for x in (-h, 0.0, h)]
    rate = (ways[2].place - ways[0].place) / (2.0 * h * plan.swing)
    bend = (ways[2].rate - ways[0].rate) / (2.0 * h * plan.swing)
    assert ways[1].rate[foot] == pytest.approx(rate[foot], abs=1e-6)
    assert ways[1].bend[foot] == pytest.approx(bend[foot], abs=1e-4)
    down = plan.wish(state, sensed((-0.3, 0.0)), 0.5 + 0.9 * plan.swing, memory)
    assert "foot" not in memory
    assert down.planted.all()


@dataclass(frozen=True)
class Striding:
    """Feet in turn flat on the ground while the pelvis goes ahead and sways more than any feet could make it."""

    body: Body
    q: np.ndarray

    def sample(self, time):
        q, v = self.q.copy(), np.zeros(self.body.skeleton.n_v)
        q[0] += 0.1 * np.sin(2.0 * np.pi * time)
        return q, v, v.copy()


def test_a_walker_is_led_as_its_feet_can_carry_it(standing):
    body, q = standing
    walk = Walk(body, Striding(body, q), posture_weights(body), 2.0)
    h, c = 1.0 / 240.0, walk.gait.centres
    bend = (c[2:, :2] - 2.0 * c[1:-1, :2] + c[:-2, :2]) / h**2 - walk.gait.turns[1:-1]
    pressure = c[1:-1, :2] - bend * (c[1:-1, 2] / 9.81)[:, None]
    points = np.array([soles(body, walk.motion.sample(t * h)[0])[:, :2] for t in range(len(c))])
    middle = np.median(points.mean(axis=1), axis=0)
    assert np.abs(pressure[:, 0] - middle[0]).max() < 0.01  # the sway of the soles is not the place where they stand
    assert np.abs(pressure[:, 1] - middle[1]).max() < 0.12  # from heel to toe
    clip = np.array([walk.motion.sample(t * h)[0][0] for t in range(len(c))])
    assert np.ptp(c[240:-240, 0]) < 0.5 * np.ptp(clip)


def test_the_ground_recorded_is_what_moves_the_centre_of_mass():
    """Taken anew at each frame, 12 % of the weight were missing, and friction was half the weight either way."""
    scene = find("walk")
    world = scene.build(scene_parameters(scene, "draft", {}))
    world.start()
    rows = []
    while world.time < 0.3:
        world.advance(1.0 / 60.0)
        rows.append({k: np.array(x) for k, x in world.observe().signals.items() if k in ("ground", "centre", "weight")})
    ground, centre = (np.array([row[k] for row in rows]) for k in ("ground", "centre"))
    mass = float(rows[0]["weight"]) / 9.81
    bends = np.gradient(np.gradient(centre, 1 / 60, axis=0), 1 / 60, axis=0)
    moved = mass * (bends + np.array([0.0, 0.0, 9.81]))
    assert np.abs(np.median((ground - moved)[2:-2], axis=0)).max() < 20.0  # [N]; steps of 4 ms in frames of 17


@dataclass(frozen=True)
class OneStep:
    """The right foot is lifted at 0.5 s and set down at 1 s, where it was."""

    body: Body
    down: np.ndarray
    up: np.ndarray

    def sample(self, time):
        zero = np.zeros(self.body.skeleton.n_v)
        return (self.up if 0.5 < time < 1.0 else self.down).copy(), zero, zero.copy()


def stepping(standing):
    """A walker whose right foot is led down, 0.02 s before its time; what it feels, and its memory."""
    body, q = standing
    lifted = q.copy()
    lifted[body.skeleton.q_slice("Tfp_r")] = np.radians(60.0)
    walk = Walk(body, OneStep(body, q, lifted), posture_weights(body), 2.0)
    sensed = Sensed(centre_of_mass(body.skeleton, q), np.zeros(3), np.zeros(16), soles(body, q), np.zeros((16, 3)))
    memory = {"ahead": 0.0, "shift x": 0.0, "shift y": 0.0, "Fo_l stands": 1.0}
    return walk, body.at_rest(q), sensed, memory, 0.98


def test_a_foot_that_comes_down_early_sets_the_clock_on(standing):
    walk, state, sensed, memory, time = stepping(standing)
    wish = walk.wish(state, sensed, time, memory)
    down = walk.gait.stances["Fo_r"][-1].down
    assert memory["ahead"] == pytest.approx(down - time, abs=1e-5)
    assert memory["ahead"] > 0.01
    assert wish.planted.all()
    assert memory["Fo_r stands"] == 1.0
    off = walk.gait.off(sensed.points, down + 1e-5)  # the motion's world goes with the foot that came down
    assert memory["shift x"] != 0.0
    assert np.abs(off).max() < 0.05


def test_a_walker_asks_no_more_of_the_ground_than_its_soles_can_give(standing):
    walk, state, sensed, memory, _ = stepping(standing)
    pushed = replace(sensed, velocity=np.array([0.0, -2.0, 0.0]))  # its capture point is 0.6 m ahead
    wish = walk.wish(state, pushed, 1.5, memory)
    z = sensed.centre[2]
    rest = wish.centre_a[:2] - walk.gait.turn(1.5 + memory["ahead"])
    pressure = sensed.centre[:2] - rest * z / (9.81 + wish.centre_a[2])
    assert sensed.points[:, 1].min() - 1e-3 < pressure[1] < sensed.points[:, 1].min() + 0.01  # at the toes
    assert wish.centre[1] == pushed.centre[1]
    assert wish.centre_v[1] == pushed.velocity[1]


def test_a_walker_begins_with_the_capture_point_where_it_is_led(standing):
    walk, state, _, _, _ = stepping(standing)
    v = walk.first_velocity(state.q, state.v)
    now = Instant.of(walk.body, state.q, v)
    led, omega = walk.gait.centre(0.0), np.sqrt(9.81 / now.centre[2])
    rate = (walk.gait.centre(0.008) - led) / 0.008
    off = now.centre - led + (now.centre_rate - rate) / omega
    assert np.abs(off[:2] - walk.gait.off(now.points, 0.0)).max() < 1e-4


def test_a_foot_is_led_from_where_it_stood(standing):
    """Not from where the motion has it: on such a way it met the other foot."""
    body, q = standing
    lifted = q.copy()
    lifted[body.skeleton.q_slice("Tfp_r")] = np.radians(60.0)
    walk = Walk(body, OneStep(body, q, lifted), posture_weights(body), 2.0, gain=0.0)
    mine, state = soles_of(body).foot["Fo_r"], body.at_rest(q)
    points = soles(body, q) + np.where(mine[:, None], (0.08, 0.05, 0.0), 0.0)  # it stood elsewhere
    gap = np.where(mine, 0.03, 0.0)
    sensed = Sensed(centre_of_mass(body.skeleton, q), np.zeros(3), gap, points, np.zeros_like(points))
    memory = {"Fo_l stands": 1.0, "ahead": 0.0, "shift x": 0.0, "shift y": 0.0}
    first = walk.wish(state, sensed, 0.52, memory).swing
    assert (first.led == mine).all()
    assert first.place[mine, :2].mean(axis=0) == pytest.approx(points[mine, :2].mean(axis=0), abs=0.005)
    last = walk.wish(state, sensed, 0.93, memory).swing
    assert last.place[mine, 0].mean() == pytest.approx(soles(body, lifted)[mine, 0].mean(), abs=0.02)


@pytest.mark.parametrize("seed", [1, 2, 8, 17, 18])
def test_hard_shares_are_found(seed):
    """Inertias and costs over some decades, and many muscles at full activation: a walker met such decisions each
    fifth time, and did at random what had been found when the search was given up."""
    rng, n, m = np.random.default_rng(seed), 60, 300
    mixed = rng.normal(size=(n, n))
    inertia = mixed @ np.diag(10.0 ** rng.uniform(-2, 1, n)) @ mixed.T / n + 1e-3 * np.eye(n)
    weight = np.diag(inertia) * 10.0 ** rng.uniform(-1, 1.3, n)
    tasks, cost, soft = rng.normal(size=(12, n)), 10.0 ** rng.uniform(0, 3.5, 12), np.empty((n, n))
    softness(0.5 * (inertia + inertia.T), weight, tasks, cost, soft)
    rows = np.concatenate([[*np.sort(rng.choice(n, 3, replace=False)), *_levers(rng)] for _ in range(m)]).reshape(m, 6)
    torque = rng.normal(size=n) * 60
    columns = Columns(
        np.arange(0, 3 * m + 1, 3), rows[:, :3].astype(int).ravel(), rows[:, 3:].ravel(), np.ones(m), np.ones(m)
    )
    found = solve_shares(columns, torque, soft, np.zeros(n))
    assert found.converged
    assert (found.x >= 0.99).sum() > 30
    given = np.zeros(n)
    np.add.at(given, columns.row, columns.value * np.repeat(found.x, 3))
    assert np.abs(given - torque - found.yielded).max() < 1e-5 * np.abs(torque).max()


def _levers(rng):
    return rng.normal(size=3) * 10.0 ** rng.uniform(-0.5, 1.5)
