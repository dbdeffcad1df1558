import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vitruvian.spatial import (
    exp_so3,
    log_so3,
    quaternion_from_rotation,
    quaternion_from_vector,
    quaternion_product,
    rotation_about,
    rotation_between,
    rotation_from_quaternion,
    rotation_vector,
)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 0.3, 3.0, np.pi - 1e-9])
def test_rotation_exponential_and_logarithm_agree_with_scipy(angle):
    w = angle * np.array([0.6, -0.48, 0.64])
    R = exp_so3(w)
    assert np.allclose(R, Rotation.from_rotvec(w).as_matrix(), atol=1e-15)
    assert np.allclose(log_so3(R), w, atol=1e-8 if angle > 3.1 else 1e-14)


def test_quaternions_agree_with_scipy_at_random_rotations():
    rng = np.random.default_rng(0)
    for theirs in Rotation.random(50, random_state=1):
        R = theirs.as_matrix()
        q = quaternion_from_rotation(R)
        assert q[0] >= 0.0
        x, y, z, w = theirs.as_quat()
        assert np.allclose(q, np.sign(w) * np.array([w, x, y, z]), atol=1e-14)
        assert np.allclose(rotation_from_quaternion(q), R, atol=1e-14)
        other = quaternion_from_vector(rng.normal(size=3))
        assert np.allclose(
            rotation_from_quaternion(quaternion_product(q, other)), R @ rotation_from_quaternion(other), atol=1e-14
        )


def test_quaternion_of_a_half_turn_is_exact_for_each_axis():
    for axis in np.eye(3):
        q = quaternion_from_rotation(rotation_about(axis, np.pi))
        assert np.allclose(np.abs(q), [0.0, *axis], atol=1e-15)


def test_rotation_vector_takes_the_short_way():
    q = quaternion_from_vector([0.0, 0.0, 0.4])
    assert np.allclose(rotation_vector(-q), [0.0, 0.0, 0.4], atol=1e-15)


@pytest.mark.parametrize("b", [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.6, 0.0, 0.8)])
def test_rotation_between_turns_one_direction_into_the_other(b):
    R = rotation_between((1.0, 0.0, 0.0), b)
    assert np.allclose(R @ [1.0, 0.0, 0.0], b, atol=1e-14)
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)
