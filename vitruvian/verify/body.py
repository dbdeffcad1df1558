"""Body: muscles, their control and the step of bones and muscles, on the whole human.

Moment arms P^T = dl/dq (Lee 2008, 3.1.1.1), the linearised Hill model (5.1.2), hybrid inverse dynamics (5.3.3),
activations (5.3.4) and the linear-implicit step, against finite differences, virtual work, energy, optimality
conditions and other solvers.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize

from vitruvian.anatomy import Body, arm, human
from vitruvian.anatomy.tables import load_tables, mirrored
from vitruvian.control import (
    HANGING,
    ActivationSolver,
    ComputedMuscleControl,
    Gains,
    InverseDynamics,
    Relaxer,
    load_motion,
    pose,
)
from vitruvian.control.activation import TorqueMap
from vitruvian.control.coactivation import Warm, activate
from vitruvian.couple import BodyState, BodyStepper
from vitruvian.couple.step import joint_terms
from vitruvian.errors import MissingExtra
from vitruvian.muscle import lengths, moment_arms
from vitruvian.skeleton import (
    bone_poses,
    bone_velocities,
    coordinate_rates,
    energy,
    forward_dynamics,
    integrate,
    inverse_dynamics,
    mass_matrix,
    normalized,
    world_twists,
)
from vitruvian.verify._body_contact import (
    a_jumper_flies_a_parabola,
    a_jumper_stands_again,
    a_push_is_balanced,
    a_squat_needs_no_hand,
    a_walk_makes_ten_steps,
    a_walker_holds_its_head_up,
    books_of_a_fall_close,
    contact_energy_balances,
    falling_over_stays_out_of_the_ground,
    falling_upright_stays_out_of_the_ground,
    joints_stop_within_three_degrees,
    lying_stays_out_of_the_ground,
    neutral_angles_lie_within_their_range,
    steps_of_contact_are_booked,
    what_the_step_loses_halves_with_it,
)
from vitruvian.verify._body_paths import (
    moment_arms_lie_in_published_bands,
    muscles_end_on_bone,
    paths_stay_out_of_bone,
    prime_movers_keep_their_sign,
    raised_arm_pulls_down_by_60_newton_metres,
)
from vitruvian.verify._body_smooth import moment_arms_do_not_jump, paths_do_not_jump
from vitruvian.verify._exports import (
    mjcf_equals_mujoco,
    mjcf_falls_as_ours,
    mjcf_of_wrapped_paths_falls_as_ours,
    osim_arm_with_muscles_falls_as_ours,
    osim_equals_opensim,
    osim_falls_as_ours,
)
from vitruvian.verify.book import Finding, claim, worst

__all__ = [
    "a_jumper_flies_a_parabola",
    "a_jumper_stands_again",
    "a_push_is_balanced",
    "a_squat_needs_no_hand",
    "a_walk_makes_ten_steps",
    "a_walker_holds_its_head_up",
    "books_of_a_fall_close",
    "contact_energy_balances",
    "falling_over_stays_out_of_the_ground",
    "falling_upright_stays_out_of_the_ground",
    "joints_stop_within_three_degrees",
    "lying_stays_out_of_the_ground",
    "mjcf_equals_mujoco",
    "mjcf_falls_as_ours",
    "mjcf_of_wrapped_paths_falls_as_ours",
    "moment_arms_do_not_jump",
    "moment_arms_lie_in_published_bands",
    "muscles_end_on_bone",
    "neutral_angles_lie_within_their_range",
    "osim_arm_with_muscles_falls_as_ours",
    "osim_equals_opensim",
    "osim_falls_as_ours",
    "paths_do_not_jump",
    "paths_stay_out_of_bone",
    "prime_movers_keep_their_sign",
    "raised_arm_pulls_down_by_60_newton_metres",
    "steps_of_contact_are_booked",
    "what_the_step_loses_halves_with_it",
]

Array = np.ndarray


@lru_cache(maxsize=1)
def _body() -> Body:
    return human()


def _random(body: Body, seed: int, spread: float = 0.4) -> tuple[Array, Array, Array]:
    """A pose, velocities and activations."""
    rng = np.random.default_rng(seed)
    q = integrate(body.skeleton, body.default_q, rng.uniform(-spread, spread, body.skeleton.n_v))
    return q, rng.normal(size=body.skeleton.n_v), rng.uniform(0.0, 1.0, body.muscles.n_muscles)


def _held(body: Body) -> Array:
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = True
    return held


@claim
def default_lengths_equal_the_table() -> Finding:
    """Every muscle's length in the default pose equals its (corrected) rest length in the table (documents' paths)."""
    body = human(paths="documents")
    rows = mirrored(load_tables()).muscles
    table = np.array([rows[n].rest_length for n in body.muscles.names])
    off = np.abs(lengths(body.muscles, bone_poses(body.skeleton, body.default_q)) - table)
    at = int(np.argmax(off))
    return Finding.error(off[at], 1.5e-3, "m", f"846 muscles, corrected rest lengths, worst {body.muscles.names[at]}")


@claim
def moment_arms_equal_finite_differences() -> Finding:
    """dl/dq of all muscles and joints equals central differences of length."""
    body, h = _body(), 1e-6
    errors: list[float] = []
    for seed in range(3):
        q, _, _ = _random(body, seed)
        _, arms = moment_arms(body.muscles, *world_twists(body.skeleton, q))
        dense = arms.dense()
        for k in range(body.skeleton.n_v):
            step = np.zeros(body.skeleton.n_v)
            step[k] = h
            ends = [
                lengths(body.muscles, bone_poses(body.skeleton, integrate(body.skeleton, q, s))) for s in (step, -step)
            ]
            errors.append(float(np.abs((ends[0] - ends[1]) / (2 * h) - dense[:, k]).max()))
    return Finding.error(
        worst(errors), 1e-6, "m/rad", "3 random poses, 860 muscles x 163 coordinates, cylinders and patella"
    )


@claim
def muscle_power_equals_force_times_shortening() -> Finding:
    """Power of muscles on the joints equals tension times shortening speed of their points (polylines)."""
    body = human(paths="documents")
    errors: list[float] = []
    s, m = body.skeleton, body.muscles
    for seed in range(5):
        q, v, a = _random(body, seed)
        poses = bone_poses(s, q)
        twist = bone_velocities(s, q, v)[m.bone]
        R = poses[m.bone, :3, :3]
        speed = np.einsum("nij,nj->ni", R, twist[:, 3:] + np.cross(twist[:, :3], m.local))
        place = np.einsum("nij,nj->ni", R, m.local) + poses[m.bone, :3, 3]
        _, arms = moment_arms(m, *world_twists(s, q))
        force = a * m.f_max
        power = 0.0
        for i in range(m.n_muscles):
            at = slice(m.offsets[i], m.offsets[i + 1])
            line = np.diff(place[at], axis=0)
            unit = line / np.linalg.norm(line, axis=1)[:, None]
            power -= force[i] * float((unit * np.diff(speed[at], axis=0)).sum())
        errors.append(abs(float(arms.torques(force) @ v) - power) / abs(power))
    return Finding.error(worst(errors), 1e-9, "1", "relative, 5 random states")


@claim
def step_matrices_equal_the_skeletons() -> Finding:
    """Mass matrix and bias of the muscle step's world-frame recursion equal the skeleton's own."""
    body = _body()
    errors: list[float] = []
    stepper = BodyStepper(body.skeleton, body.muscles)
    for seed in range(5):
        q, v, a = _random(body, seed)
        work = stepper.assemble(q, v, a, 0.0)
        M, c = mass_matrix(body.skeleton, q), inverse_dynamics(body.skeleton, q, v, np.zeros_like(v))
        errors.append(float(np.abs(work.full_matrix() - M).max() / np.abs(M).max()))
        errors.append(float(np.abs(work.bias - c).max() / np.abs(c).max()))
    return Finding.error(worst(errors), 1e-10, "1", "relative, 5 random states, 163 coordinates")


@claim
def step_gives_the_wanted_acceleration() -> Finding:
    """Activations from hybrid inverse dynamics make the next step accelerate as was asked."""
    body = _body()
    stepper = BodyStepper(body.skeleton, body.muscles, held=_held(body))
    inverse = InverseDynamics(body, stepper)
    state = body.at_rest(Relaxer(body).rest(pose(body, HANGING)))
    wanted, dt = np.random.default_rng(0).normal(size=body.skeleton.n_v), 2e-3
    solver = ActivationSolver(upper=None, tolerance=1e-12)
    for _ in range(8):  # the step's stiffness depends on the activations themselves: repeat until they agree
        demand = inverse.demand(state, wanted, dt)
        state.activation = solver.solve(demand.map, demand.torque).activation
    _, v = stepper.step(state.q, state.v, state.activation, dt)
    off = float(np.abs(v / dt - wanted)[inverse.driven].max())
    return Finding.error(off, 1e-6, "rad/s²", "125 driven coordinates, sternum and cartilages passive")


@claim
def energy_less_work_stays() -> Finding:
    """Kinetic and potential energy less the work of muscles and dampers stays over 2 s of a controlled curl."""
    body = human(pelvis="fixed")
    motion = load_motion(body, "curl")
    control = ComputedMuscleControl(
        body, BodyStepper(body.skeleton, body.muscles), motion, Gains(rate=120.0, sensor_lag=0.0)
    )
    own = control.start(np.random.default_rng(0))
    state = body.at_rest(motion.sample(0.0)[0])
    stepper = BodyStepper(body.skeleton, body.muscles)
    dt, inner = 1.0 / 480.0, 48
    start = energy(body.skeleton, state.q, state.v).total
    work, moved = 0.0, 0.0
    offsets: list[float] = []
    for n in range(960):
        excitation = control.act(own, state, n * dt, dt).excitation
        assert excitation is not None
        state.activation = excitation
        for _ in range(inner):
            gain, flow = _rk4(body, stepper, state, dt / inner)
            work += gain
            moved += flow
        offsets.append(abs(energy(body.skeleton, state.q, state.v).total - start - work))
    return Finding.error(
        worst(offsets) / moved,
        1e-6,
        "1",
        f"of {moved:.1f} J turned over; Runge-Kutta steps of {dt / inner * 1e6:.0f} µs",
    )


@claim
def activations_satisfy_the_optimality_conditions() -> Finding:
    """KKT residual of the activation solve for holding ten poses, with 0 <= a <= 1."""
    errors: list[float] = []
    for R, torque, weight in _problems(10):
        s = ActivationSolver(upper=1.0).solve(R, torque, weight)
        slope = weight**2 * s.activation - R.dense().T @ s.multiplier
        inside = (s.activation > 0) & (s.activation < 1)
        scale = np.maximum(1.0, np.abs(torque).max())
        parts = [
            np.abs(s.residual).max() / scale,
            np.abs(slope[inside]).max(initial=0.0),
            np.maximum(-slope[s.activation == 0], 0.0).max(initial=0.0),
            np.maximum(slope[s.activation == 1], 0.0).max(initial=0.0),
        ]
        errors.append(worst(parts))
    return Finding.error(worst(errors), 1e-8, "1", "10 poses, 860 muscles, 125 torques")


@claim
def activations_equal_scipys() -> Finding:
    """On one arm the activation solve finds the optimum of SciPy's SLSQP."""
    body = arm("left")
    errors: list[float] = []
    stepper = BodyStepper(body.skeleton, body.muscles)
    inverse = InverseDynamics(body, stepper)
    for bend in (20, 60, 100):
        q = pose(body, {"left arm": {"direction": [0.5, -0.4, -0.8]}, "left elbow": bend})
        demand = inverse.demand(body.at_rest(q), np.zeros(body.skeleton.n_v), 2e-3)
        R = demand.map.dense()
        ours = ActivationSolver(upper=None).solve(demand.map, demand.torque)
        peer = minimize(
            lambda a: 0.5 * a @ a,
            ours.activation * 0.5,
            jac=lambda a: a,
            bounds=[(0, None)] * R.shape[1],
            constraints={"type": "eq", "fun": lambda a: R @ a - demand.torque, "jac": lambda a: R},  # noqa: B023
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 1000},
        )
        errors.append(abs(0.5 * float(ours.activation @ ours.activation) / peer.fun - 1.0))
    return Finding.error(worst(errors), 1e-6, "1", "objective, 3 poses, 64 muscles, 9 torques")


@claim
def activations_equal_osqps() -> Finding:
    """On the whole body the activation solve finds the optimum of OSQP."""
    try:
        import osqp
    except ImportError:
        raise MissingExtra("OSQP", "pip install osqp") from None
    from scipy import sparse

    errors: list[float] = []
    for R, torque, weight in _problems(3):
        ours = ActivationSolver(upper=1.0).solve(R, torque, weight)
        A, n = R.dense(), len(weight)
        peer = osqp.OSQP()
        peer.setup(
            sparse.csc_matrix(sparse.diags(weight**2)),
            np.zeros(n),
            sparse.csc_matrix(np.vstack([A, np.eye(n)])),
            np.concatenate([torque, np.zeros(n)]),
            np.concatenate([torque, np.ones(n)]),
            eps_abs=1e-9,
            eps_rel=1e-9,
            max_iter=200000,
            polishing=True,
            verbose=False,
        )
        theirs = peer.solve().x
        value = 0.5 * np.sum((weight * ours.activation) ** 2)
        errors.append(abs(value / (0.5 * np.sum((weight * theirs) ** 2)) - 1.0))
    return Finding.error(worst(errors), 1e-5, "1", "objective, 3 poses, 860 muscles, 125 torques")


@claim
def coactivation_adds_no_torque() -> Finding:
    """Coactivation, the same everywhere or by body part, has no net torque."""
    errors: list[float] = []
    for i, (R, torque, weight) in enumerate(_problems(4)):
        gamma = np.linspace(0.0, 1.0, len(weight)) if i % 2 else 0.7
        tone = activate(ActivationSolver(upper=None), R, torque, gamma, weight, Warm())
        errors.append(float(np.abs(R.torques(tone.added)).max() / np.maximum(1.0, np.abs(torque).max())))
    return Finding.error(worst(errors), 1e-8, "1", "relative to the largest torque; 4 poses")


@claim
def every_driven_joint_is_reachable() -> Finding:
    """Muscles can turn every driven joint coordinate either way, all others balanced."""
    body = _body()
    stepper = BodyStepper(body.skeleton, body.muscles, held=_held(body))
    inverse = InverseDynamics(body, stepper)
    demand = inverse.demand(body.at_rest(pose(body, HANGING)), np.zeros(body.skeleton.n_v), 2e-3)
    solver, missed = ActivationSolver(upper=None), []
    for i, name in enumerate(inverse.names):
        for sign in (1.0, -1.0):
            torque = np.zeros(len(inverse.names))
            torque[i] = sign
            if not solver.solve(demand.map, torque).exact:
                missed.append(f"{name} {'+' if sign > 0 else '-'}")
    return Finding.error(len(missed), 0.0, "directions", f"250 directions; missed: {', '.join(missed) or 'none'}")


@claim
def implicit_step_converges_at_first_order() -> Finding:
    """Halving the implicit step halves its error against a fine explicit run of the passive body."""
    body = _body()
    stepper = BodyStepper(body.skeleton, body.muscles, held=_held(body))
    q0 = Relaxer(body).rest(pose(body, {**HANGING, "elbow": 60}))
    off, seconds = np.zeros(body.muscles.n_muscles), 0.1

    def run(n: int) -> Array:
        q, v = q0, np.zeros(body.skeleton.n_v)
        for _ in range(n):
            q, v = stepper.step(q, v, off, seconds / n)
        return v

    fine = run(3200)
    errors = [float(np.linalg.norm(run(n) - fine)) for n in (50, 100)]
    return Finding.within(
        errors[0] / errors[1], 1.7, 2.4, "1", f"2 and 1 ms against 31 µs, error {errors[1]:.1e} rad/s"
    )


def _problems(count: int) -> list[tuple[TorqueMap, Array, Array]]:
    """Torque maps and torques for holding random easy poses of the whole body."""
    body = _body()
    stepper = BodyStepper(body.skeleton, body.muscles, held=_held(body))
    inverse = InverseDynamics(body, stepper)
    rng, out = np.random.default_rng(3), []
    relaxer = Relaxer(body)
    for _ in range(count):
        table = {
            "arm": {"direction": [rng.uniform(0.1, 0.8), rng.uniform(-0.6, 0.1), -1.0]},
            "elbow": rng.uniform(5, 90),
            "hip": [rng.uniform(-30, 5), 0, 0],
            "knee": rng.uniform(0, 40),
            "chest": [rng.uniform(0, 15), rng.uniform(-5, 5), 0],
            "head": [rng.uniform(0, 15), 0, rng.uniform(-15, 15)],
        }
        demand = inverse.demand(body.at_rest(relaxer.rest(pose(body, table))), np.zeros(body.skeleton.n_v), 2e-3)
        out.append((demand.map, demand.torque, rng.uniform(0.8, 1.25, body.muscles.n_muscles)))
    return out


def _rk4(body: Body, stepper: BodyStepper, state: BodyState, h: float) -> tuple[float, float]:
    """One classical Runge-Kutta step; returns the work of muscles and dampers and the energy turned over [J]."""
    s = body.skeleton
    q0, v0 = state.q, state.v
    q_sum, v_sum, work, flow = np.zeros_like(q0), np.zeros_like(v0), 0.0, 0.0
    q_rate, v_rate = np.zeros_like(q0), np.zeros_like(v0)
    for share, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        q, v = q0 + share * h * q_rate, v0 + share * h * v_rate
        terms = stepper.assemble(q, v, state.activation, 0.0)
        muscles = -float(stepper.found.tension[0] @ stepper.found.rate)
        force = terms.force + terms.bias  # muscles, springs, dampers
        power = muscles + damping_power(stepper, q, v)
        q_rate, v_rate = coordinate_rates(s, q, v), forward_dynamics(s, q, v, force)
        q_sum += weight * q_rate
        v_sum += weight * v_rate
        work += weight * power
        flow += weight * (abs(muscles) + abs(power - muscles))
    state.q = normalized(s, q0 + h / 6.0 * q_sum)
    state.v = v0 + h / 6.0 * v_sum
    return h / 6.0 * work, h / 6.0 * flow


def damping_power(stepper: BodyStepper, q: Array, v: Array) -> float:
    """Power [W] of the dampers of joints, stops and cartilages: their force at v less that at rest, times v."""
    forces = []
    for speed in (v, np.zeros_like(v)):
        w = stepper.bones.system
        w.force[:], w.v, w.dt = 0.0, speed, 0.0
        joint_terms(stepper.bones.tree, stepper.bones.joints, q, speed, 0.0, w.force, w.matrix, w.damping)
        stepper.links.add(w)
        forces.append(w.force.copy())
    return float((forces[0] - forces[1]) @ v)
