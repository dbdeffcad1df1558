import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.skeleton import Inertia, SkeletonBuilder, Target, bone_poses, integrate, joints, solve_ik
from vitruvian.skeleton.samples import EVERY_JOINT, random_state, random_tree
from vitruvian.spatial import rotation_about, transform


def arm(limits=None):
    builder = SkeletonBuilder()
    for i in range(3):
        builder.add_bone(
            f"link{i}",
            parent=f"link{i - 1}" if i else None,
            joint=joints.Revolute((0.0, 0.0, 1.0)),
            placement=(1.0 if i else 0.0, 0.0, 0.0),
            inertia=Inertia.sphere(1.0, 0.1),
            limits=limits,
        )
    return builder.build()


def test_reachable_frame_is_reached_through_spline_ball_and_elliptic_joints():
    rng = np.random.default_rng(3)
    kinds = [EVERY_JOINT[k] for k in ("revolute", "ball", "curve", "universal", "revolute", "elliptic", "ball")]
    tree = random_tree(rng, kinds, 10)
    start, goal = random_state(tree, rng)[0], random_state(tree, rng)[0]
    T = bone_poses(tree, goal)[-1]
    found = solve_ik(tree, start, [Target(tree.names[-1], T[:3, 3], T[:3, :3])])
    assert found.converged
    assert np.allclose(bone_poses(tree, found.q)[-1], T, atol=1e-5)


def test_unreachable_point_is_approached_along_the_straight_arm():
    tree = arm()
    found = solve_ik(tree, [0.3, 0.4, -0.2], [Target("link2", (0.0, 5.0, 0.0), point=(1.0, 0.0, 0.0))])
    assert not found.converged
    assert found.position_error == pytest.approx(2.0, abs=1e-5)


def test_limits_are_respected_and_the_best_pose_within_them_is_found():
    tree = arm(limits=(-0.2, 0.2))
    found = solve_ik(tree, [0.0, 0.0, 0.0], [Target("link2", (0.0, 3.0, 0.0), point=(1.0, 0.0, 0.0))])
    assert np.allclose(found.q, 0.2)


def test_ball_joint_limits_hold_for_the_rotation_from_neutral():
    builder = SkeletonBuilder()
    builder.add_bone("bone", joint=joints.Ball(), inertia=Inertia.sphere(1.0, 0.1), limits=(-0.3, 0.3))
    tree = builder.build()
    found = solve_ik(tree, tree.neutral_q(), [Target("bone", orientation=rotation_about((0, 0, 1), 1.0))])
    assert found.orientation_error == pytest.approx(0.7, abs=1e-6)
    assert np.allclose(found.q, integrate(tree, tree.neutral, [0, 0, 0.3]), atol=1e-6)


def test_fixed_velocities_do_not_move():
    tree = arm()
    start = np.array([0.3, 0.4, -0.2])
    found = solve_ik(tree, start, [Target("link2", (1.0, 1.0, 0.0))], fixed=[True, False, False])
    assert found.q[0] == start[0]


def test_weights_decide_between_targets_that_contradict():
    tree = arm()
    a, b = (1.5, 1.0, 0.0), (1.5, 1.2, 0.0)
    found = solve_ik(tree, [0.3, 0.4, -0.2], [Target("link2", a, weight=10.0), Target("link2", b, weight=1.0)])
    y = bone_poses(tree, found.q)[2, 1, 3]
    assert y == pytest.approx((100 * 1.0 + 1.2) / 101, abs=1e-5)


def test_bad_target_is_refused():
    tree = arm()
    with pytest.raises(InputError, match="'link1': neither"):
        solve_ik(tree, tree.neutral, [Target("link1")])
    with pytest.raises(InputError, match=r"'link1': .*finite"):
        solve_ik(tree, tree.neutral, [Target("link1", (np.nan, 0.0, 0.0))])
    with pytest.raises(InputError, match="unknown bone"):
        solve_ik(tree, tree.neutral, [Target("nose", (0.0, 0.0, 0.0))])


def test_open_spline_stays_in_its_limits():
    frames = [transform(rotation_about((0, 0, 1), a), (np.sin(a), 0.0, 0.0)) for a in np.linspace(0.0, 1.0, 6)]
    builder = SkeletonBuilder()
    builder.add_bone("bone", joint=joints.CurveSpline(frames), inertia=Inertia.sphere(1, 0.1), limit_stiffness=1.0)
    tree = builder.build()
    found = solve_ik(tree, [1.0], [Target("bone", (5.0, 0.0, 0.0))])
    assert found.q[0] == pytest.approx(3.0)
