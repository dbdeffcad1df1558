import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.skeleton import (
    bone_poses,
    bone_velocities,
    coordinate_rates,
    difference,
    frame_jacobian,
    integrate,
    point_jacobian,
)
from vitruvian.skeleton.samples import EVERY_JOINT, random_state, random_tree
from vitruvian.spatial import inverse, log_se3


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, list(EVERY_JOINT.values()), 20)
    return (tree, *random_state(tree, rng), rng)


def test_point_jacobian_equals_finite_difference(case):
    tree, q, v, rng = case
    e = 1e-6
    up, down = (bone_poses(tree, integrate(tree, q, v, s * e)) for s in (1, -1))
    for b in range(tree.n_bones):
        point = np.append(rng.normal(size=3), 1.0)
        speed = ((up[b] - down[b]) @ point)[:3] / (2 * e)
        assert np.allclose(point_jacobian(tree, q, b, point[:3]) @ v, speed, atol=1e-7 * (1 + np.abs(speed).max()))


def test_frame_jacobian_gives_bone_velocities_in_either_frame(case):
    tree, q, v, _ = case
    e = 1e-6
    twists, poses = bone_velocities(tree, q, v), bone_poses(tree, q)
    up, down = (bone_poses(tree, integrate(tree, q, v, s * e)) for s in (1, -1))
    for b in range(tree.n_bones):
        assert np.allclose(frame_jacobian(tree, q, b) @ v, twists[b], atol=1e-11)
        slope = log_se3(inverse(down[b]) @ up[b]) / (2 * e)
        assert np.allclose(twists[b], slope, atol=1e-7 * (1 + np.abs(slope).max()))
        R = poses[b, :3, :3]
        world = frame_jacobian(tree, q, tree.names[b], world=True) @ v
        assert np.allclose(world, np.concatenate([R @ twists[b, :3], R @ twists[b, 3:]]), atol=1e-11)


def test_integrate_and_difference_are_inverse(case):
    tree, q, _, rng = case
    step = 0.8 * rng.normal(size=tree.n_v)
    assert np.allclose(difference(tree, q, integrate(tree, q, step)), step, atol=1e-10)


def test_coordinate_rates_are_the_slope_of_integrate(case):
    tree, q, v, _ = case
    e = 1e-6
    slope = (integrate(tree, q, v, e) - integrate(tree, q, v, -e)) / (2 * e)
    assert np.allclose(coordinate_rates(tree, q, v), slope, atol=1e-8)


def test_supports_say_which_velocity_moves_which_bone(case):
    tree, q, _, _ = case
    moved = np.array([[np.abs(frame_jacobian(tree, q, b)[:, k]).max() > 0 for k in range(tree.n_v)] for b in range(3)])
    assert np.array_equal(tree.supports[:3], moved)


def test_unknown_bone_names_the_nearest(case):
    with pytest.raises(InputError, match="did you mean bone"):
        case[0].index("bone_3")
