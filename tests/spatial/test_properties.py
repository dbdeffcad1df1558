"""Identities of rotations and rigid motions, at random ones and at the awkward ones: hardly any turn, nearly half."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from vitruvian.spatial import (
    adjoint,
    bracket,
    exp_se3,
    exp_so3,
    inverse,
    log_se3,
    log_so3,
    pose_from_transform,
    quaternion_from_rotation,
    quaternion_from_vector,
    quaternion_product,
    right_jacobian_se3,
    rotation_between,
    rotation_from_quaternion,
    rotation_vector,
    skew,
    transform_from_pose,
)

number = st.floats(-1.0, 1.0)
vectors = st.tuples(number, number, number).map(np.array)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3).map(lambda v: v / np.linalg.norm(v))
angles = st.one_of(
    st.floats(0.0, np.pi),
    st.floats(-16.0, -3.0).map(lambda e: 10.0**e),  # hardly any
    st.floats(-16.0, -3.0).map(lambda e: np.pi - 10.0**e),  # nearly half a turn
    st.sampled_from([0.0, 1e-300, 1e-13, 1e-4, 0.5 * np.pi, np.pi]),
)
turns = st.builds(lambda a, d: a * d, angles, directions)
twists = st.builds(lambda w, v: np.concatenate([w, v]), turns, vectors)
motions = twists.map(exp_se3)


def close(a, b, tolerance=1e-13):
    return np.abs(np.asarray(a) - b).max() < tolerance


@given(turns)
def test_exponential_is_a_rotation_that_leaves_its_axis_alone(w):
    R = exp_so3(w)
    assert close(R @ R.T, np.eye(3))
    assert abs(np.linalg.det(R) - 1.0) < 1e-13
    assert close(R @ w, w)
    assert close(R, expm(skew(w)))


@given(turns)
def test_logarithm_undoes_the_exponential(w):
    back = log_so3(exp_so3(w))
    # at half a turn w and -w are the same rotation; how near the vector is to w is then a matter of rounding
    assert close(exp_so3(back), exp_so3(w))
    assert np.linalg.norm(back) <= np.pi + 1e-12
    if np.linalg.norm(w) < np.pi - 1e-6:
        assert np.abs(back - w).max() <= 1e-9 * np.linalg.norm(w) + 1e-300


@given(turns)
def test_quaternions_come_back_from_vector_and_matrix(w):
    q = quaternion_from_vector(w)
    assert abs(q @ q - 1.0) < 1e-14
    assert close(rotation_from_quaternion(q), exp_so3(w))
    back = quaternion_from_rotation(rotation_from_quaternion(q))
    assert back[0] >= 0.0
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 1e-13
    assert close(rotation_from_quaternion(quaternion_from_vector(rotation_vector(q))), exp_so3(w))


@given(turns, turns)
def test_product_of_quaternions_is_that_of_rotations(a, b):
    product = quaternion_product(quaternion_from_vector(a), quaternion_from_vector(b))
    assert close(rotation_from_quaternion(product), exp_so3(a) @ exp_so3(b))


@given(directions, directions, st.floats(0.01, 100.0))
def test_smallest_turn_between_two_directions(a, b, size):
    R = rotation_between(size * a, b)
    assert close(R @ a, b, 1e-11)
    assert close(R @ R.T, np.eye(3))
    assert np.linalg.norm(log_so3(R)) <= np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b) + 1e-7


@given(twists)
def test_motion_of_a_twist_is_the_matrix_exponential_and_its_logarithm_comes_back(g):
    T = exp_se3(g)
    hat = np.zeros((4, 4))
    hat[:3, :3], hat[:3, 3] = skew(g[:3]), g[3:]
    assert close(T, expm(hat), 1e-12)
    assert close(exp_se3(log_se3(T)), T, 1e-12)
    if np.linalg.norm(g[:3]) < np.pi - 1e-6:
        assert close(log_se3(T), g, 1e-8)


@given(motions, motions, twists)
def test_adjoint_is_a_homomorphism_and_moves_the_exponential(A, B, g):
    assert close(adjoint(A @ B), adjoint(A) @ adjoint(B))
    assert close(adjoint(inverse(A)) @ adjoint(A), np.eye(6))
    assert close(A @ inverse(A), np.eye(4))
    assert close(exp_se3(adjoint(A) @ g), A @ exp_se3(g) @ inverse(A), 1e-11)


@given(twists, twists)
def test_adjoint_of_an_exponential_is_the_exponential_of_the_bracket(g, h):
    assert close(adjoint(exp_se3(g)), expm(bracket(g)), 1e-11)
    assert close(bracket(g) @ h, -bracket(h) @ g)


@given(twists)
def test_right_jacobian_solves_its_own_equation(g):
    """ad_g J_r(g) = 1 - Ad_exp(-g), and the twist itself is left alone."""
    J = right_jacobian_se3(g)
    assert close(J @ g, g, 1e-12)
    assert close(bracket(g) @ J, np.eye(6) - adjoint(exp_se3(-g)), 1e-11)


@given(motions)
def test_pose_and_transform_are_two_ways_to_say_the_same(T):
    pose = pose_from_transform(T)
    assert abs(np.linalg.norm(pose[3:]) - 1.0) < 1e-14
    assert close(transform_from_pose(pose), T)
