"""Every joint family: Jacobian and Hessian against finite differences of its transform."""

import numpy as np
import pytest

from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_velocities, integrate, joint_transforms, joints
from vitruvian.skeleton.evaluate import S, joint_hessian
from vitruvian.skeleton.samples import EVERY_JOINT, random_inertia, random_state, random_surface
from vitruvian.spatial import exp_se3, inverse, log_se3, rotation_about, transform


def single(joint, seed=0):
    builder = SkeletonBuilder()
    rng = np.random.default_rng(seed)
    builder.add_bone("bone", joint=joint, placement=exp_se3(rng.normal(size=6)), inertia=random_inertia(rng))
    return builder.build()


def jacobian(skeleton, q):
    joint_transforms(skeleton, q)
    return skeleton.workspace.dofs[:, S : S + 6].copy()


@pytest.mark.parametrize("kind", EVERY_JOINT)
def test_jacobian_equals_finite_difference_of_the_transform(kind):
    rng = np.random.default_rng(4)
    skeleton = single(EVERY_JOINT[kind](rng))
    q, _ = random_state(skeleton, rng)
    e = 1e-5
    for k, direction in enumerate(np.eye(skeleton.n_v)):
        down, up = (joint_transforms(skeleton, integrate(skeleton, q, direction, s * e))[0] for s in (-1, 1))
        slope = log_se3(inverse(down) @ up) / (2 * e)
        assert np.allclose(jacobian(skeleton, q)[k], slope, atol=2e-8)


@pytest.mark.parametrize(
    "kind",
    ["planar", "universal", "elliptic", "curve", "closed curve", "surface 1", "surface 2", "surface 3", "custom"],
)
def test_hessian_equals_finite_difference_of_the_jacobian(kind):
    rng = np.random.default_rng(5)
    skeleton = single(EVERY_JOINT[kind](rng))
    q, _ = random_state(skeleton, rng)
    n, e = skeleton.n_v, 1e-5
    G, J, H = np.empty(12), np.empty((7, 6)), np.empty((7, 7, 6))
    joint_hessian(skeleton.topology, skeleton.params, skeleton.custom_rows(q), q, 0, G, J, H, np.empty(1000))
    for b, direction in enumerate(np.eye(n)):
        slope = (jacobian(skeleton, q + e * direction) - jacobian(skeleton, q - e * direction)) / (2 * e)
        assert np.allclose(H[:n, b], slope, atol=1e-7)


def test_elliptic_joint_stays_on_its_ellipse_and_along_its_tangent():
    skeleton = single(joints.Elliptic(0.5, 0.2))
    home = joint_transforms(skeleton, [0.0])[0] @ inverse(transform(position=(0.0, -0.2, 0.0)))
    for q in np.linspace(0.0, 7.0, 11):
        G = inverse(home) @ joint_transforms(skeleton, [q])[0]
        x, y, z = G[:3, 3]
        assert (x / 0.5) ** 2 + (y / 0.2) ** 2 == pytest.approx(1.0)
        assert z == pytest.approx(0.0, abs=1e-14)
        tangent = np.array([0.5 * np.cos(q), 0.2 * np.sin(q), 0.0])
        assert np.allclose(G[:3, 0], tangent / np.linalg.norm(tangent), atol=1e-13)


def test_circular_elliptic_joint_is_a_hinge():
    rng = np.random.default_rng(0)
    circle, hinge = joints.Elliptic(0.3, 0.3), joints.Revolute((0.0, 0.0, 1.0))
    a, b = single(circle), single(hinge)
    arm = transform(position=(0.0, -0.3, 0.0))
    for q in rng.normal(size=5):
        assert np.allclose(joint_transforms(a, [q])[0], joint_transforms(b, [q])[0] @ arm, atol=1e-14)


def test_curve_spline_with_frames_on_one_axis_moves_as_a_hinge():
    angles = np.linspace(-1.0, 1.0, 7)
    frames = [transform(rotation_about((0.0, 0.0, 1.0), a)) for a in angles]
    spline = single(joints.CurveSpline(frames, np.linspace(-1.0, 1.0, 5)))
    hinge = single(joints.Revolute((0.0, 0.0, 1.0)))
    for q in (-0.7, 0.0, 0.31):
        G = inverse(joint_transforms(hinge, [0.0])[0]) @ joint_transforms(spline, [q])[0]
        turned = log_se3(G)
        assert np.allclose(turned[[0, 1, 3, 4, 5]], 0.0, atol=1e-14)
        assert np.allclose(jacobian(spline, [q])[0, [0, 1, 3, 4, 5]], 0.0, atol=1e-14)


def test_winding_angle_closes_the_surface():
    m = 8
    controls = np.zeros((6, m, 5))
    controls[3] = (2 * np.pi * np.arange(m) / m)[:, None]  # the angle about z turns once over one period
    controls[2] = np.linspace(0.0, 1.0, 5)
    winding = np.zeros((6, 2))
    winding[3, 0] = 2 * np.pi
    joint = joints.SurfaceSpline(controls, [(0.0, 1.0), (0.0, 1.0)], periodic=(True, False), winding=winding)
    skeleton = single(joint)
    for q in ((0.05, 0.3), (0.97, 0.6)):
        here, there = (joint_transforms(skeleton, np.add(q, (k, 0.0)))[0] for k in (0, 1))
        assert np.allclose(here, there, atol=1e-12)
        assert jacobian(skeleton, q)[0, 2] == pytest.approx(2 * np.pi)


def test_moving_surface_carries_the_bone_with_its_exact_velocity():
    rng = np.random.default_rng(6)
    joint = random_surface(rng, 2, moving=True)
    still = single(joint)
    rates, accelerations = rng.normal(size=(2, *joint.controls.shape))

    def at(t):
        controls = joint.controls + t * rates + 0.5 * t * t * accelerations
        return still.with_moving_surfaces({"bone": (controls, rates + t * accelerations, accelerations)})

    q, v, e = np.array([0.4, 0.6]), np.array([0.7, -0.3]), 1e-5
    G = [joint_transforms(at(s * e), q + s * e * v)[0] for s in (-1, 1)]
    assert np.allclose(bone_velocities(at(0.0), q, v)[0], log_se3(inverse(G[0]) @ G[1]) / (2 * e), atol=1e-8)
    # and its acceleration: what inverse dynamics of a free unit mass at the origin feels
    twist = [bone_velocities(at(s * e), q + s * e * v, v)[0] for s in (-1, 1)]
    slope = (twist[1] - twist[0]) / (2 * e)
    from vitruvian.skeleton.evaluate import C

    bone_velocities(at(0.0), q, v)
    assert np.allclose(at(0.0).workspace.rows[0, C : C + 6], slope, atol=1e-7)


def test_massless_inertia_helpers_are_what_textbooks_say():
    assert np.allclose(Inertia.sphere(2.0, 0.5).matrix, 0.2 * np.eye(3))
    assert np.allclose(Inertia.ellipsoid(2.0, (0.5, 0.5, 0.5)).matrix, 0.2 * np.eye(3))
    assert np.allclose(Inertia.cylinder(3.0, 0.2, 1.0).matrix, np.diag([0.28, 0.28, 0.06]))
    assert np.allclose(Inertia.box(12.0, (1.0, 2.0, 3.0)).matrix, np.diag([13.0, 10.0, 5.0]))
