"""Muscle lines on random trees of random joints: rates, moment arms, and what a motion of the whole leaves alone."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vitruvian.muscle import (
    LinearHill,
    MuscleBuilder,
    joint_damping,
    joint_stiffness,
    lengths,
    moment_arms,
    path_points,
    tension,
)
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, integrate, world_twists
from vitruvian.skeleton.joints import Ball, Free, Prismatic, Revolute, Universal
from vitruvian.spatial import exp_se3

SHORTEST = 0.02  # [m] of a segment, or its direction turns too fast for a difference to follow


@st.composite
def bodies(draw):
    """A skeleton, muscles on it, a pose and velocities."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    builder = SkeletonBuilder()
    count = draw(st.integers(2, 6))
    for i in range(count):
        kind = Free if i == 0 else draw(st.sampled_from([Revolute, Ball, Universal, Prismatic]))
        a, b = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        joint = kind(a, b) if kind is Universal else kind(a) if kind in (Revolute, Prismatic) else kind()
        parent = None if i == 0 else f"bone {draw(st.integers(0, i - 1))}"
        place = exp_se3(rng.uniform(-0.4, 0.4, 6))
        builder.add_bone(
            f"bone {i}", parent=parent, joint=joint, placement=place, inertia=Inertia.box(1.0, (0.1, 0.2, 0.3))
        )
    skeleton = builder.build()
    muscles = MuscleBuilder(skeleton)
    for m in range(draw(st.integers(1, 4))):
        on = draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=5).filter(lambda bones: len({*bones}) > 1))
        muscles.add_muscle(
            f"muscle {m}", [(f"bone {i}", rng.uniform(-0.3, 0.3, 3)) for i in on], LinearHill(100.0, 0.3)
        )
    q = integrate(skeleton, skeleton.neutral_q(), rng.uniform(-1.0, 1.0, skeleton.n_v))
    return skeleton, muscles.build(), q, rng.normal(size=skeleton.n_v)


def apart(model, poses):
    """Whether every segment is long enough."""
    points = path_points(model, poses)
    return (
        min(
            np.linalg.norm(np.diff(points[a:b], axis=0), axis=1).min()
            for a, b in zip(model.offsets[:-1], model.offsets[1:])
        )
        > SHORTEST
    )


@given(bodies())
def test_rate_is_moment_arms_times_velocity_and_both_are_the_derivative_of_length(body):
    s, m, q, v = body
    assume(apart(m, bone_poses(s, q)))
    length, arms = moment_arms(m, *world_twists(s, q))
    assert np.allclose(length, lengths(m, bone_poses(s, q)), rtol=1e-13)
    assert np.allclose(arms.rates(v), arms.dense() @ v, rtol=0.0, atol=1e-13)
    h = 1e-6
    ends = [lengths(m, bone_poses(s, integrate(s, q, x * v))) for x in (h, -h)]
    assert np.allclose(arms.rates(v), (ends[0] - ends[1]) / (2.0 * h), rtol=0.0, atol=1e-6)
    force = np.abs(np.sin(1.0 + np.arange(m.n_muscles)))
    assert np.isclose(arms.torques(force) @ v, -force @ arms.rates(v), rtol=1e-12, atol=1e-13)


@given(bodies(), st.integers(0, 1000))
def test_each_moment_arm_equals_a_finite_difference(body, which):
    s, m, q, _ = body
    assume(apart(m, bone_poses(s, q)))
    arms = moment_arms(m, *world_twists(s, q))[1].dense()
    step = np.zeros(s.n_v)
    k = which % s.n_v
    step[k] = 1e-6
    ends = [lengths(m, bone_poses(s, integrate(s, q, x))) for x in (step, -step)]
    assert np.allclose(arms[:, k], (ends[0] - ends[1]) / 2e-6, rtol=0.0, atol=1e-6)


@given(bodies(), st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6))
def test_a_rigid_motion_of_the_whole_changes_no_length_and_no_muscle_moves_the_root(body, twist):
    s, m, q, _ = body
    poses = bone_poses(s, q)
    before = lengths(m, poses)
    assert np.allclose(lengths(m, exp_se3(twist) @ poses), before, rtol=1e-12)
    whole = np.zeros(s.n_v)
    whole[:6] = twist
    assert np.allclose(lengths(m, bone_poses(s, integrate(s, q, whole))), before, rtol=1e-12)
    assert not moment_arms(m, *world_twists(s, q))[1].dense()[:, :6].any()


@settings(max_examples=20)
@given(bodies(), st.floats(0.0, 1.0))
def test_stiffness_and_damping_of_the_joints_are_symmetric_and_never_negative(body, activation):
    s, m, q, v = body
    assume(apart(m, bone_poses(s, q)))
    length, arms = moment_arms(m, *world_twists(s, q))
    slope = tension(m, np.full(m.n_muscles, activation), length, arms.rates(v))
    for matrix, weight in (
        (joint_stiffness(arms, slope), slope.stiffness),
        (joint_damping(arms, slope), slope.damping),
    ):
        wanted = arms.dense().T @ np.diag(np.maximum(weight, 0.0)) @ arms.dense()
        assert np.allclose(matrix, wanted, rtol=0.0, atol=1e-10 * max(1.0, np.abs(wanted).max()))
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * max(1.0, np.abs(wanted).max())
