import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.measured import Trial, seen_only
from vitruvian.measured.trial import filled, thinned

TIME = np.arange(50) / 100.0


def trial(**gaps):
    x = np.column_stack([np.sin(TIME), TIME, TIME**2])
    markers = {"LASI": x.copy(), "RASI": x + 0.1}
    for name, frames in gaps.items():
        markers[name][frames] = np.nan
    return Trial("walk.c3d", "C3D", TIME, markers)


def test_short_gaps_are_filled_and_said():
    whole, holed = trial(), filled(trial(LASI=slice(20, 26)))
    assert np.abs(holed.markers["LASI"] - whole.markers["LASI"]).max() < 1e-5
    assert any("gaps of up to 0.1 s filled" in remark for remark in holed.remarks)


def test_long_gaps_are_named_not_filled():
    with pytest.raises(InputError, match=r"gaps longer than 0\.1 s.*LASI from 0\.2 to 0\.34 s"):
        filled(trial(LASI=slice(20, 35)))
    assert np.isfinite(filled(trial(LASI=slice(20, 35)), 0.2).markers["LASI"]).all()


def test_a_gap_at_the_beginning_cuts_the_trial_or_is_named():
    cut = filled(trial(RASI=slice(0, 5)))
    assert len(cut.time) == 45
    assert cut.time[0] == 0.0
    assert any("cut to" in remark for remark in cut.remarks)
    with pytest.raises(InputError, match="RASI not seen at the beginning or end"):
        filled(trial(RASI=slice(0, 30)))


def test_a_marker_that_is_never_seen_is_left_out_and_said():
    seen = filled(trial(RASI=slice(0, 50)))
    assert list(seen.markers) == ["LASI"]
    assert "never seen, left out: RASI" in seen.remarks


def test_times_that_do_not_ascend_are_named():
    t = TIME.copy()
    t[7] = t[6]
    with pytest.raises(
        InputError, match=r"walk\.c3d: times must ascend; frame 8 is at 0\.06 s after frame 7 at 0\.06 s"
    ):
        Trial("walk.c3d", "C3D", t, {"A": np.zeros((50, 3))})


def test_a_trial_needs_something_measured():
    with pytest.raises(InputError, match="neither markers nor joints"):
        Trial("walk.c3d", "C3D", TIME)


def test_frames_beyond_the_rate_of_the_analysis_are_left_out_and_said():
    thin = thinned(trial(), 30.0)
    assert len(thin.time) == 17
    assert thin.markers["LASI"].shape == (17, 3)
    assert thin.remarks[-1] == "every 3. frame used: 33 of 100 a second"
    assert thinned(trial(), 60.0).remarks == ()


def test_a_gap_below_nothing_is_refused():
    with pytest.raises(InputError, match="gap must be a time of 0 s or more"):
        filled(trial(), -1.0)


def test_markers_at_the_origin_are_not_seen_and_said():
    markers = {"LASI": np.ones((4, 3)), "RASI": np.ones((4, 3))}
    markers["RASI"][1:3] = 0.0
    remarks: list[str] = []
    seen = seen_only(markers, remarks)
    assert np.isnan(seen["RASI"]).all(axis=1).tolist() == [False, True, True, False]
    assert remarks == ["at (0, 0, 0), taken as not seen: RASI in 2 frames"]


def test_noise_does_not_fold_back_when_frames_are_left_out():
    time = np.arange(1000) / 1000.0
    noisy = np.column_stack([np.sin(2.0 * np.pi * time), 0.0 * time, 0.0 * time])
    noisy[:, 1] = 0.01 * np.cos(2.0 * np.pi * 99.0 * time)  # would look like 1 Hz at 100 frames a second
    thin = thinned(Trial("a.c3d", "C3D", time, {"A": noisy}), 100.0)
    assert len(thin.time) == 100
    assert np.abs(thin.markers["A"][2:-2, 1]).max() < 1e-3
    assert np.abs(thin.markers["A"][:, 0] - np.sin(2.0 * np.pi * thin.time)).max() < 1e-3
