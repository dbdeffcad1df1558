import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.measured.smooth import closed_on_itself, smoothed
from vitruvian.skeleton import difference


def test_velocity_and_acceleration_are_those_of_finite_differences(body, stride):
    time, q, _ = stride
    s = body.skeleton
    course = smoothed(body, time, q, rate=400.0, cutoff=0.0)
    h = course.period
    for f in (20, 61, 120):
        v = (difference(s, course.q[f], course.q[f + 1]) - difference(s, course.q[f], course.q[f - 1])) / (2.0 * h)
        a = (course.v[f + 1] - course.v[f - 1]) / (2.0 * h)
        assert np.abs(v - course.v[f]).max() < 2e-3 * max(1.0, np.abs(course.v[f]).max())
        assert np.abs(a - course.a[f]).max() < 1e-2 * max(1.0, np.abs(course.a[f]).max())


def test_the_filter_passes_slow_motion_and_halves_power_at_its_cutoff(body):
    time = np.arange(401) / 100.0
    s = body.skeleton
    knee = s.q_slice("Tfp_l").start
    for hertz, share in ((1.0, 1.0), (6.0, 0.707), (20.0, 0.01)):
        q = np.tile(body.default_q, (len(time), 1))
        q[:, knee] = 0.5 + 0.2 * np.sin(2.0 * np.pi * hertz * time)
        out = smoothed(body, time, q, rate=100.0, cutoff=6.0).q[100:300, knee]
        assert 0.5 * np.ptp(out) / 0.2 == pytest.approx(share, abs=0.03)


def test_a_closed_motion_has_no_ends(body, lab):
    time, q = lab.stride(body, 0.6)
    closed, miss, _ = closed_on_itself(body, q)
    assert miss < 1e-6
    course = smoothed(body, time, closed, rate=100.0, cutoff=6.0, closed=True)
    assert np.abs(course.v[0] - course.v[-1]).max() < 1e-6
    assert np.abs(course.a[0] - course.a[-1]).max() < 1e-4


def test_half_a_cycle_is_not_closed(body, stride):
    _, q, _ = stride
    assert closed_on_itself(body, q[: len(q) // 3]) is None


def test_a_cutoff_beyond_what_the_file_holds_is_refused(body, stride):
    time, q, _ = stride
    with pytest.raises(InputError, match="a cut-off of 20 Hz needs more than 40 frames a second; the file has 25"):
        smoothed(body, time[::4], q[::4], rate=100.0, cutoff=20.0)
