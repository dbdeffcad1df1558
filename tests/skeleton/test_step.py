"""Time steps: order of accuracy, conservation, stability for stiff springs."""

import numpy as np
import pytest

from vitruvian.errors import Diverged
from vitruvian.skeleton import (
    Inertia,
    SkeletonBuilder,
    SkeletonState,
    centre_of_mass,
    centroidal_momentum,
    energy,
    joints,
    step_backward_euler,
    step_forward_euler,
    step_rk4,
    step_semi_implicit,
)
from vitruvian.skeleton.samples import EVERY_JOINT, random_state, random_surface, random_tree


def pendulum(**options):
    builder = SkeletonBuilder()
    builder.add_bone(
        "bob", joint=joints.Revolute((0.0, 1.0, 0.0)), inertia=Inertia.sphere(1.0, 0.1, (0.0, 0.0, -1.0)), **options
    )
    return builder.build()


def run(step, skeleton, q, v, seconds, dt, **options):
    state = SkeletonState(np.array(q, dtype=float), np.array(v, dtype=float))
    for _ in range(round(seconds / dt)):
        step(skeleton, state, dt, **options)
    return state


def test_small_pendulum_swings_with_the_textbook_period():
    skeleton = pendulum()
    period = 2 * np.pi * np.sqrt((1.0 + 0.4 * 0.01) / 9.81)
    state = run(step_rk4, skeleton, [1e-4], [0.0], period, period / 1000)
    assert state.q[0] == pytest.approx(1e-4, rel=1e-8)
    assert abs(state.v[0]) < 1e-11


@pytest.mark.parametrize(
    ("step", "order"), [(step_forward_euler, 1), (step_semi_implicit, 1), (step_backward_euler, 1), (step_rk4, 4)]
)
def test_order_of_accuracy_with_ball_free_and_spline_joints(step, order):
    rng = np.random.default_rng(2)
    kinds = [EVERY_JOINT[k] for k in ("free", "ball", "curve", "universal")]
    tree = random_tree(rng, kinds, 4)
    q, v = random_state(tree, rng)
    v *= 0.3
    q[tree.q_slice("bone2")] = 2.0
    best = run(step_rk4, tree, q, v, 0.08, 0.001)
    errors = [np.abs(run(step, tree, q, v, 0.08, dt).v - best.v).max() for dt in (0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.25)


def test_free_floating_tree_with_springs_keeps_its_momentum():
    rng = np.random.default_rng(3)
    builder = SkeletonBuilder((0.0, 0.0, 0.0))
    for i, kind in enumerate(("free", "ball", "revolute", "closed curve", "universal")):
        joint = EVERY_JOINT[kind](rng)
        builder.add_bone(
            f"bone{i}",
            parent=f"bone{i - 1}" if i else None,
            joint=joint,
            placement=(0.2, 0.1, 0.3),
            inertia=Inertia.box(1.0, (0.2, 0.3, 0.4)),
            stiffness=3.0 if i else 0.0,
            damping=0.05 if i else 0.0,
        )
    tree = builder.build()
    q, v = random_state(tree, rng)
    before, x = centroidal_momentum(tree, q, v), centre_of_mass(tree, q)
    state = run(step_rk4, tree, q, v, 0.5, 0.001)
    after = centroidal_momentum(tree, state.q, state.v)
    assert np.abs(after - before).max() < 1e-7 * np.abs(before).max()
    assert np.allclose(centre_of_mass(tree, state.q), x + 0.5 * before[3:] / tree.mass, atol=1e-7)


def test_backward_euler_is_stable_where_explicit_steps_blow_up():
    skeleton = pendulum(stiffness=1e6, damping=10.0)
    calm = run(step_backward_euler, skeleton, [0.1], [0.0], 0.5, 0.01)
    assert abs(calm.q[0]) < 0.02
    with np.errstate(all="ignore"), pytest.raises(Diverged, match="bob"):
        run(step_semi_implicit, skeleton, [0.1], [0.0], 5.0, 0.01)


def test_backward_euler_solves_the_linear_oscillator_exactly_as_the_formula_says():
    builder = SkeletonBuilder((0.0, 0.0, 0.0))
    builder.add_bone("mass", joint=joints.Prismatic((1.0, 0.0, 0.0)), inertia=Inertia.sphere(2.0, 0.1))
    k, d, m, dt = 30.0, 0.7, 2.0, 0.05
    state = SkeletonState(np.array([0.3]), np.array([-0.4]))
    step_backward_euler(
        builder.build(), state, dt, forces=lambda q, v: (-k * q - d * v, np.array([[-k]]), np.array([[-d]]))
    )
    new = -0.4 + dt * (-k * 0.3 + 0.4 * d + dt * k * 0.4) / (m + dt * d + dt * dt * k)
    assert state.v[0] == pytest.approx(new, rel=1e-14)
    assert state.q[0] == pytest.approx(0.3 + dt * new, rel=1e-14)


def test_rk4_follows_a_moving_surface_to_fourth_order():
    rng = np.random.default_rng(4)
    joint = random_surface(rng, 2, moving=True)
    builder = SkeletonBuilder()
    builder.add_bone("ball", joint=joint, inertia=Inertia.sphere(1.0, 0.1))
    still = builder.build()
    shape = 0.05 * rng.normal(size=joint.controls.shape)

    def at(t):
        return still.with_moving_surfaces(
            {"ball": (joint.controls + np.sin(5 * t) * shape, 5 * np.cos(5 * t) * shape, -25 * np.sin(5 * t) * shape)}
        )

    def end(dt):
        state = SkeletonState(np.array([0.5, 0.5]), np.zeros(2))
        for k in range(round(0.16 / dt)):
            step_rk4(at(k * dt), state, dt, moving=lambda s, k=k: at(k * dt + s))
        return state.q

    best = end(0.002)
    coarse, fine = (np.abs(end(dt) - best).max() for dt in (0.04, 0.02))
    assert coarse / fine > 10.0


def test_energy_of_a_swinging_chain_is_kept_by_rk4():
    rng = np.random.default_rng(5)
    tree = random_tree(rng, [EVERY_JOINT["revolute"], EVERY_JOINT["ball"], EVERY_JOINT["closed curve"]], 5)
    q, v = random_state(tree, rng)
    before = energy(tree, q, v).total
    state = run(step_rk4, tree, q, v, 0.3, 0.0005)
    kinetic = energy(tree, state.q, state.v).kinetic
    assert energy(tree, state.q, state.v).total == pytest.approx(before, abs=1e-5 * kinetic)
