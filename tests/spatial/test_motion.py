import numpy as np
import pytest
from scipy.linalg import expm

from vitruvian.spatial import (
    adjoint,
    bracket,
    exp_se3,
    inverse,
    log_se3,
    pose_from_transform,
    right_jacobian_se3,
    skew,
    transform_from_pose,
)


def hat(g):
    T = np.zeros((4, 4))
    T[:3, :3], T[:3, 3] = skew(g[:3]), g[3:]
    return T


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 0.5, 1.5])
def test_exponential_equals_the_matrix_exponential_and_logarithm_undoes_it(scale):
    rng = np.random.default_rng(1)
    for _ in range(20):
        g = scale * rng.normal(size=6)
        if np.linalg.norm(g[:3]) > 3.0:
            g[:3] *= 3.0 / np.linalg.norm(g[:3])
        T = exp_se3(g)
        assert np.allclose(T, expm(hat(g)), atol=1e-13)
        assert np.allclose(log_se3(T), g, atol=1e-12)


def test_adjoint_and_bracket_are_conjugation_and_commutator():
    rng = np.random.default_rng(2)
    T, g, h = exp_se3(rng.normal(size=6)), rng.normal(size=6), rng.normal(size=6)
    assert np.allclose(hat(adjoint(T) @ g), T @ hat(g) @ inverse(T), atol=1e-13)
    assert np.allclose(hat(bracket(g) @ h), hat(g) @ hat(h) - hat(h) @ hat(g), atol=1e-13)
    assert np.allclose(inverse(T), np.linalg.inv(T), atol=1e-13)


def test_right_jacobian_is_the_derivative_of_the_exponential():
    rng = np.random.default_rng(3)
    g, d, e = rng.normal(size=6), rng.normal(size=6), 1e-6
    slope = log_se3(inverse(exp_se3(g - e * d)) @ exp_se3(g + e * d)) / (2 * e)
    assert np.allclose(right_jacobian_se3(g) @ d, slope, atol=1e-8)


def test_pose_and_transform_are_two_ways_to_say_the_same():
    T = exp_se3([0.3, -2.0, 1.1, 0.4, 0.5, -0.6])
    assert np.allclose(transform_from_pose(pose_from_transform(T)), T, atol=1e-14)
