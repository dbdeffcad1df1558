import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.measured import Trial
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
