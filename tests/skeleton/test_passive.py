"""Springs, dampers, limits: gradients of an energy, with exact derivatives."""

import numpy as np
import pytest

from vitruvian.skeleton import (
    Inertia,
    SkeletonBuilder,
    generalized_forces,
    geometric_stiffness,
    integrate,
    joints,
    passive_derivatives,
    passive_energy,
    passive_forces,
    point_jacobian,
    spring_lengths,
)
from vitruvian.skeleton.samples import EVERY_JOINT, random_inertia
from vitruvian.spatial import exp_se3, quaternion_from_vector


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    builder = SkeletonBuilder()
    for i, make in enumerate([EVERY_JOINT["free"], *EVERY_JOINT.values(), EVERY_JOINT["ball"]]):
        joint = make(rng)
        builder.add_bone(
            f"bone{i}",
            parent=f"bone{rng.integers(max(0, i - 4), i)}" if i else None,
            joint=joint,
            placement=exp_se3(0.4 * rng.normal(size=6)),
            inertia=random_inertia(rng),
            stiffness=rng.uniform(1.0, 3.0, joint.n_v),
            damping=rng.uniform(0.1, 0.3, joint.n_v),
            limits=(-0.1, 0.1),
            limit_stiffness=rng.uniform(1.0, 3.0, joint.n_v),
            limit_damping=0.3,
        )
    builder.add_spring("inner", "bone5", (0.1, 0.2, 0.3), "bone11", (0.0, 0.3, -0.1), 10.0, 2.0, 0.1)
    builder.add_spring("ground", "bone14", (0.1, 0.2, 0.3), None, (0.0, 0.3, -0.1), 10.0, 2.0)
    tree = builder.build()
    q = integrate(tree, tree.neutral, 0.7 * rng.normal(size=tree.n_v))
    return tree, q, rng.normal(size=tree.n_v), rng


def slope(tree, q, f, e=1e-6):
    return np.array(
        [(f(integrate(tree, q, d, e)) - f(integrate(tree, q, d, -e))) / (2 * e) for d in np.eye(tree.n_v)]
    ).T


def test_passive_forces_at_rest_are_minus_the_gradient_of_their_energy(case):
    tree, q, _, _ = case
    gradient = slope(tree, q, lambda x: passive_energy(tree, x))
    assert np.allclose(passive_forces(tree, q, np.zeros(tree.n_v)), -gradient, atol=1e-6)


def test_derivatives_of_passive_forces_equal_finite_differences(case):
    tree, q, v, _ = case
    tau, dq, dv = passive_derivatives(tree, q, v)
    assert np.allclose(tau, passive_forces(tree, q, v), atol=1e-13)
    assert np.allclose(dq, slope(tree, q, lambda x: passive_forces(tree, x, v)), atol=2e-6)
    e = 1e-6
    rates = [
        (passive_forces(tree, q, v + e * d) - passive_forces(tree, q, v - e * d)) / (2 * e) for d in np.eye(len(v))
    ]
    assert np.allclose(dv, np.array(rates).T, atol=1e-6)


def test_damping_only_takes_energy(case):
    tree, q, v, _ = case
    assert (passive_forces(tree, q, v) - passive_forces(tree, q, np.zeros(tree.n_v))) @ v < 0.0


def test_point_forces_and_their_geometric_stiffness(case):
    tree, q, _, rng = case
    bones = rng.integers(-1, tree.n_bones, 20)
    points, forces = rng.normal(size=(2, 20, 3))
    tau = generalized_forces(tree, q, bones, points, forces)
    by_hand = sum(point_jacobian(tree, q, b, p).T @ f for b, p, f in zip(bones, points, forces) if b >= 0)
    assert np.allclose(tau, by_hand, atol=1e-12 * np.abs(tau).max())
    K = geometric_stiffness(tree, q, bones, points, forces)
    numbers = slope(tree, q, lambda x: generalized_forces(tree, x, bones, points, forces))
    assert np.allclose(K, numbers, atol=1e-7 * np.abs(K).max())


def test_limit_pushes_only_beyond_itself():
    builder = SkeletonBuilder()
    builder.add_bone(
        "bone",
        joint=joints.Revolute((0.0, 0.0, 1.0)),
        inertia=Inertia.sphere(1.0, 0.1),
        limits=(-0.5, 1.0),
        limit_stiffness=10.0,
    )
    tree = builder.build()
    for q, force in ((0.9, 0.0), (1.2, -2.0), (-0.4, 0.0), (-0.7, 2.0)):
        assert passive_forces(tree, [q], [0.0])[0] == pytest.approx(force)


def test_ball_spring_pulls_back_along_the_rotation_from_neutral():
    builder = SkeletonBuilder()
    neutral = quaternion_from_vector((0.2, 0.1, -0.3))
    builder.add_bone("bone", joint=joints.Ball(), inertia=Inertia.sphere(1.0, 0.1), stiffness=4.0, neutral=neutral)
    tree = builder.build()
    turn = np.array([0.3, -0.5, 0.2])
    assert np.allclose(passive_forces(tree, integrate(tree, neutral, turn), np.zeros(3)), -4.0 * turn, atol=1e-12)


def test_open_spline_takes_its_domain_as_limits():
    rng = np.random.default_rng(0)
    builder = SkeletonBuilder()
    builder.add_bone("bone", joint=EVERY_JOINT["curve"](rng), inertia=Inertia.sphere(1.0, 0.1), limit_stiffness=5.0)
    tree = builder.build()
    assert tree.forces.low[0] == 0.0
    assert tree.forces.high[0] == 5.0


def test_spring_rests_at_its_neutral_length_unless_told_otherwise(case):
    tree, *_ = case
    lengths = spring_lengths(tree, tree.neutral)
    assert tree.springs.rest_length[0] == 0.1
    assert lengths[1] == pytest.approx(tree.springs.rest_length[1])
