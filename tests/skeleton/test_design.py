import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, design_curve, fit_surface
from vitruvian.skeleton.design import translation_and_euler
from vitruvian.spatial import exp_se3, rotation_about, transform


def knee(angle):
    """Measured-looking: flexion whose axis slides and turns slightly."""
    return transform(
        rotation_about((1.0, 0.0, 0.0), angle) @ rotation_about((0.0, 0.0, 1.0), 0.1 * angle**2),
        (0.0, 0.02 * angle, -0.4 + 0.01 * np.sin(angle)),
    )


def test_designed_knee_passes_where_it_was_measured():
    rng = np.random.default_rng(0)
    angles = np.linspace(0.0, 2.0, 25)
    noisy = [knee(a) @ exp_se3([*(0.01 * rng.normal(size=3)), *(0.001 * rng.normal(size=3))]) for a in angles]
    joint, fit = design_curve(noisy, q=angles, n_controls=7, smoothing=0.01, length=0.1)
    assert fit.position_error.mean() < 0.003
    errors = [np.linalg.norm(joint.spline(a)[:3, 3] - knee(a)[:3, 3]) for a in angles]
    assert np.mean(errors) < 0.0015
    builder = SkeletonBuilder()
    builder.add_bone("tibia", joint=joint, inertia=Inertia.cylinder(3.0, 0.05, 0.4), limit_stiffness=10.0)
    assert builder.build().n_v == 1


def test_surface_through_its_own_frames_is_recovered():
    def frame(a, b):
        return transform(rotation_about((0, 0, 1), 0.3 * a * b) @ rotation_about((1, 0, 0), a), (a, b, 0.2 * b**2))

    rng = np.random.default_rng(1)
    q = rng.uniform((-0.5, 0.0), (0.5, 1.0), (150, 2))
    fit = fit_surface(q, [frame(*x) for x in q], [(-0.5, 0.5), (0.0, 1.0)], n_controls=(6, 7), smoothing=1e-12)
    assert fit.rotation_error.max() < 1e-5
    assert fit.position_error.max() < 1e-5
    builder = SkeletonBuilder()
    builder.add_bone("scapula", joint=fit.joint, inertia=Inertia.sphere(1.0, 0.1))
    for point in ((0.1, 0.3), (-0.4, 0.9)):
        assert np.allclose(bone_poses(builder.build(), point)[0], frame(*point), atol=1e-4)


def test_euler_angles_compose_to_the_frame_and_refuse_their_singularity():
    x, y, z = np.eye(3)
    R = rotation_about(z, 0.3) @ rotation_about(y, -0.4) @ rotation_about(x, 1.2)
    assert np.allclose(translation_and_euler(transform(R, (1, 2, 3))), [1, 2, 3, 0.3, -0.4, 1.2])
    with pytest.raises(InputError, match="quarter turn"):
        translation_and_euler(transform(rotation_about(y, np.pi / 2)))


def test_data_outside_the_domain_are_refused():
    with pytest.raises(InputError, match="outside"):
        fit_surface([[2.0]], [np.eye(4)], [(0.0, 1.0)], n_controls=5)
