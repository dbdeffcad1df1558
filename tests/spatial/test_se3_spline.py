import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.spatial import Se3Spline, exp_se3, inverse, log_se3, rotation_about, transform


def walk(seed, n, scale=0.5):
    rng = np.random.default_rng(seed)
    frames = [exp_se3(rng.normal(size=6))]
    while len(frames) < n:
        frames.append(frames[-1] @ exp_se3(scale * rng.normal(size=6)))
    return np.array(frames)


@pytest.mark.parametrize(("periodic", "order"), [(False, 4), (True, 4), (False, 6), (True, 5)])
def test_jacobian_and_its_slope_equal_finite_differences(periodic, order):
    spline = Se3Spline(walk(0, 9), order=order, periodic=periodic)
    e = 1e-5
    for q in np.linspace(*spline.domain, 23)[1:-1] + 0.013:
        _, s, h = spline.evaluate(q)
        assert np.allclose(s, log_se3(inverse(spline(q - e)) @ spline(q + e)) / (2 * e), atol=1e-8)
        assert np.allclose(h, (spline.evaluate(q + e)[1] - spline.evaluate(q - e)[1]) / (2 * e), atol=1e-8)


def test_open_curve_starts_and_ends_at_its_first_and_last_frame():
    frames = walk(1, 7)
    spline = Se3Spline(frames, [0.0, 0.4, 1.0, 3.0, 3.5])
    assert np.allclose(spline(0.0), frames[0], atol=1e-13)
    assert np.allclose(spline(3.5), frames[-1], atol=1e-13)


def test_closed_curve_repeats_after_its_period():
    spline = Se3Spline(walk(2, 8, 0.3), np.linspace(0.0, 2 * np.pi, 9), periodic=True)
    for q in (0.1, 3.0, 6.2):
        assert np.allclose(spline(q), spline(q + 4 * np.pi), atol=1e-12)
        assert np.allclose(spline(q), spline(q - 2 * np.pi), atol=1e-12)
    before, after = spline.evaluate(-1e-12), spline.evaluate(1e-12)
    assert np.allclose(before[1], after[1], atol=1e-9)
    assert np.allclose(before[2], after[2], atol=1e-9)


def test_control_moves_the_curve_only_near_itself():
    frames = walk(3, 12)
    moved = frames.copy()
    moved[2] = moved[2] @ exp_se3(0.1 * np.ones(6))
    a, b = Se3Spline(frames), Se3Spline(moved)
    assert np.allclose(a(7.5), b(7.5), atol=1e-14)
    assert not np.allclose(a(1.5), b(1.5), atol=1e-3)


def test_frames_about_one_axis_give_a_plain_rotation():
    angles = np.linspace(0.0, 2.0, 7)
    spline = Se3Spline([transform(rotation_about((0.0, 0.6, 0.8), a)) for a in angles])
    _, s, h = spline.evaluate(1.7)
    assert np.allclose(np.cross(s[:3], (0.0, 0.6, 0.8)), 0.0, atol=1e-14)
    assert np.allclose(s[3:], 0.0)
    assert np.allclose(np.cross(h[:3], (0.0, 0.6, 0.8)), 0.0, atol=1e-13)


def test_changing_one_frame_of_the_flat_numbers_equals_building_anew():
    for periodic in (False, True):
        frames = walk(5, 8)
        spline = Se3Spline(frames, periodic=periodic)
        for j in (0, 3, 7):
            changed = frames.copy()
            changed[j] = changed[j] @ exp_se3(0.1 * np.arange(6.0))
            anew = Se3Spline(changed, periodic=periodic)
            assert np.allclose(spline.params_with(j, changed[j]), anew.params, atol=1e-13)


def test_bad_frames_and_breaks_are_refused():
    frames = walk(4, 6)
    for bad, message in (
        (frames[:3], "too few"),
        (frames[:, :3], "shape"),
        (np.where(np.arange(6)[:, None, None] == 2, np.nan, frames), "finite"),
        (2.0 * frames, "rigid"),
    ):
        with pytest.raises(InputError, match=message):
            Se3Spline(bad)
    with pytest.raises(InputError, match="ascend"):
        Se3Spline(frames, [0.0, 2.0, 1.0, 3.0])
    with pytest.raises(InputError, match="breaks"):
        Se3Spline(frames, [0.0, 1.0])
