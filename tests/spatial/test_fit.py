import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.spatial import Se3Spline, control_influence, exp_se3, fit_curve, inverse, log_se3, natural_coordinates


def curve(periodic=False, n=8, seed=0):
    rng = np.random.default_rng(seed)
    frames = [np.eye(4)]
    while len(frames) < n:
        frames.append(frames[-1] @ exp_se3(0.4 * rng.normal(size=6)))
    return Se3Spline(frames, periodic=periodic)


@pytest.mark.parametrize("periodic", [False, True])
def test_influence_of_control_frames_equals_finite_differences(periodic):
    spline, e, q = curve(periodic), 1e-6, 1.7
    M = control_influence(spline, q)
    for j in range(len(spline.frames)):
        for k in range(6):
            sides = []
            for sign in (1.0, -1.0):
                frames = spline.frames.copy()
                frames[j] = frames[j] @ exp_se3(sign * e * np.eye(6)[k])
                sides.append(Se3Spline(frames, spline.breaks, periodic=periodic)(q))
            assert np.allclose(M[:, 6 * j + k], log_se3(inverse(sides[1]) @ sides[0]) / (2 * e), atol=1e-8)


@pytest.mark.parametrize("periodic", [False, True])
def test_fit_recovers_a_curve_from_its_own_frames(periodic):
    true = curve(periodic)
    q = np.linspace(*true.domain, 40, endpoint=not periodic)
    low, high = true.domain
    fit = fit_curve(q, [true(x) for x in q], n_controls=8, periodic=periodic, period=high - low if periodic else None)
    assert fit.rotation_error.max() < 1e-9
    assert fit.position_error.max() < 1e-9
    assert np.allclose(fit.spline.frames, true.frames, atol=1e-7)


def test_natural_coordinates_make_the_curve_run_at_unit_speed():
    true = curve(n=10)
    frames = [true(x) for x in np.linspace(*true.domain, 80) ** 2 / true.domain[1]]

    def unevenness(q):
        spline = fit_curve(q, frames, n_controls=20).spline
        speeds = [np.linalg.norm(spline.evaluate(x)[1]) for x in np.linspace(q[2], q[-3], 50)]
        return np.abs(np.array(speeds) - 1.0).mean()

    assert unevenness(natural_coordinates(frames)) < 0.1
    assert unevenness(np.linspace(0.0, natural_coordinates(frames)[-1], len(frames))) > 0.3


def test_smoothing_trades_closeness_for_a_steady_axis():
    rng = np.random.default_rng(5)
    true = curve(n=6)
    q = np.linspace(*true.domain, 30)
    noisy = [true(x) @ exp_se3(0.02 * rng.normal(size=6)) for x in q]
    fits = [fit_curve(q, noisy, n_controls=9, smoothing=w, iterations=8) for w in (0.0, 0.003, 0.1)]
    roughness = [f.roughness for f in fits]
    errors = [np.mean(f.rotation_error**2) + np.mean(f.position_error**2) for f in fits]
    assert roughness[0] > roughness[1] > roughness[2]
    assert errors[0] < errors[1] < errors[2]


def test_bad_data_are_refused():
    frames = [exp_se3(0.1 * k * np.ones(6)) for k in range(6)]
    with pytest.raises(InputError, match="ascending"):
        fit_curve([0, 1, 2, 2, 3, 4], frames, n_controls=5)
    with pytest.raises(InputError, match="smoothing"):
        fit_curve(range(6), frames, n_controls=5, smoothing=1.0)
    with pytest.raises(InputError, match="the same"):
        natural_coordinates([frames[0], frames[0]])
    with pytest.raises(InputError, match="finite"):
        natural_coordinates(np.full((3, 4, 4), np.nan))
