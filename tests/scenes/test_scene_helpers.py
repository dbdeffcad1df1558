"""Curves, letters, knee, shoulder and wave: the geometry that scenes of bones are made of."""

import numpy as np
import pytest

from vitruvian.mesh import perimeter, resampled
from vitruvian.mesh.outline import tangents
from vitruvian.scenes._alphabet import letter
from vitruvian.scenes._leg import (
    LATERAL_ROLLBACK,
    axis_of,
    fitted_knee,
    flexion_angle,
    internal_rotation,
    knee_transform,
)
from vitruvian.scenes._shoulder import CLAVICLE, REACH, STERNUM, blade_path, fit_ribs, scapula_pose
from vitruvian.scenes.letters import build_letters, chain_of
from vitruvian.scenes.wave_surface import Wave, wave_controls
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import inverse, log_se3
from vitruvian.spatial.curves import closed_spline, coastline, flower, frames_along


def test_closed_spline_meets_its_frames_and_keeps_even_speed():
    points = resampled(flower(0.5, 5, 0.4, 4000), 120)
    frames = frames_along(points, (0.0, 1.0, 0.0))
    spline = closed_spline(frames, perimeter(points))
    miss = [np.abs(log_se3(inverse(spline(q)) @ frame)).max() for q, frame in zip(spline.breaks, frames)]
    assert max(miss) < 1e-4
    speed = [np.linalg.norm(spline.evaluate(q)[1][3:]) for q in np.linspace(*spline.domain, 500)]
    assert np.allclose(speed, 1.0, atol=0.06)
    assert np.allclose(spline(0.0), spline(spline.domain[1]), atol=1e-9)


def test_coastlines_lie_on_the_sphere_and_follow_their_seed():
    one, same, other = (coastline(np.random.default_rng(s), np.array([0.0, 0.0, 1.0]), 0.5, 0.2) for s in (1, 1, 2))
    assert np.allclose(np.linalg.norm(one, axis=1), 1.0)
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("name", "AINRTUV")
def test_letter_is_smooth_and_as_tall_as_asked(name):
    shape = letter(name, 0.3)
    assert np.ptp(shape.outline[:, 1]) == pytest.approx(0.3, rel=0.03)
    turn = np.diff(np.unwrap(np.arctan2(*tangents(shape.outline).T[::-1])))
    radius = perimeter(shape.outline) / len(shape.outline) / np.abs(turn).max()
    assert radius > 0.02 * 0.3
    body = shape.body(700.0, 0.06)
    assert body["mass"] > 0.0
    assert np.linalg.eigvalsh(body["matrix"]).min() > 0.0


@pytest.mark.parametrize("two_sided", [False, True])
def test_word_starts_upright_on_its_baseline(two_sided):
    skeleton = build_letters("RUVIAN", two_sided=two_sided, controls=160)
    poses = bone_poses(skeleton, skeleton.neutral_q())[[skeleton.index(f"{k + 1} {c}") for k, c in enumerate("RUVIAN")]]
    assert np.allclose(poses[:, :3, :3], np.eye(3), atol=1e-4)
    assert np.ptp(poses[1:, 2, 3]) < 1e-3
    assert (np.diff(poses[:, 0, 3]) > 0.05).all()
    assert len(chain_of("RUVIAN").before) == 5


def test_knee_rolls_back_and_turns_inwards_as_published():
    straight, bent = knee_transform(0.0), knee_transform(np.deg2rad(120.0))
    assert flexion_angle(bent) == pytest.approx(np.deg2rad(120.0))
    assert np.rad2deg(internal_rotation(bent) - internal_rotation(straight)) == pytest.approx(19.2, abs=1.0)
    # Half of the turn comes within the first third of the flexion: the screw-home motion.
    early = internal_rotation(knee_transform(np.deg2rad(40.0)))
    assert early > 0.5 * internal_rotation(bent)
    assert 0.015 <= LATERAL_ROLLBACK <= 0.020


def test_noiseless_knee_is_fitted_to_a_tenth_of_a_millimetre():
    knee = fitted_knee(seed=0, samples=60, noise_position=0.0, noise_angle=0.0, controls=12, smoothing=0.0)
    assert knee.position_error.max() < 1e-4
    assert np.rad2deg(knee.rotation_error.max()) < 0.05
    q = knee.coordinate(np.deg2rad(50.0))
    assert flexion_angle(knee.spline(q)) == pytest.approx(np.deg2rad(50.0))
    place, direction = axis_of(knee.spline, q)
    step = 1e-5
    moved = knee.spline(q + step) @ inverse(knee.spline(q - step))
    along = moved[:3, :3] @ place + moved[:3, 3] - place  # points of a screw axis only slide along it
    assert np.linalg.norm(np.cross(along, direction)) < 1e-9


def test_acromion_keeps_a_clavicles_length_over_the_whole_surface():
    path = blade_path(fit_ribs())
    for a in np.linspace(*REACH[0], 4):
        for b in np.linspace(*REACH[1], 4):
            pose, _ = scapula_pose(path, np.array([a, b]))
            assert np.linalg.norm(pose[:3, 3] - STERNUM) == pytest.approx(np.linalg.norm(CLAVICLE), abs=1e-9)


def test_time_derivatives_of_the_wave_agree_with_differences():
    wave, time, step = Wave(0.06), 0.7, 1e-4
    before, now, after = (wave_controls(wave, time + s, 12) for s in (-step, 0.0, step))
    assert np.allclose((after[0] - before[0]) / (2.0 * step), now[1], atol=1e-6)
    assert np.allclose((after[1] - before[1]) / (2.0 * step), now[2], atol=1e-6)
