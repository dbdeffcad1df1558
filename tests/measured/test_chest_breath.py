"""An average breath from markers: made ones with a known motion, and files that are wrong."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.exchange.marker_csv import write_marker_csv
from vitruvian.measured import Trial
from vitruvian.measured.chest_breath import SITES, chest_breath

SITES_AT = {n: np.array([x if kind == "front" else 0.17 * x, -0.12 if kind == "front" else -0.03, z])
            for n, (x, z, kind) in SITES.items()}  # fmt: skip
PERIOD = 3.7


def made(noise=5e-4, facing=0.9, breaths=4, scale=1.0):
    """Front markers go forward by 5 mm and up by 2 mm, flanks out by 3 mm."""
    time = np.arange(0.0, breaths * PERIOD + 1.0, 0.01)
    lift = 0.5 - 0.5 * np.cos(2.0 * np.pi * time / PERIOD)
    rng = np.random.default_rng(1)
    c, s = np.cos(facing), np.sin(facing)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    out = {}
    for name, at in SITES_AT.items():
        way = np.array([0.0, -5e-3, 2e-3]) if "flank" not in name else np.array([3e-3 * np.sign(at[0]), 0.0, 0.0])
        x = (at + lift[:, None] * way) @ turn.T + [0.7, 2.0, 0.0]
        out[name] = scale * (x + noise * rng.standard_normal(x.shape))
    return Trial("made", "made", time, out)


def test_the_breath_is_found_turned_back_and_averaged():
    found = chest_breath(made(), SITES_AT)
    assert found.period == pytest.approx(PERIOD, rel=0.01)
    assert found.breaths >= 3
    front = found.moved[:, found.names.index("navel")]
    flank = found.moved[:, found.names.index("flank_left1")]
    assert np.ptp(front, axis=0) == pytest.approx([0.0, 5e-3, 2e-3], abs=1.2e-3)
    assert np.ptp(flank[:, 0]) == pytest.approx(3e-3, abs=1e-3)
    assert front[14:18, 1].mean() < -1.5e-3  # begins half in: a quarter later the belly is furthest ahead


def test_short_gaps_are_filled_and_long_ones_named():
    trial = made()
    trial.markers["navel"][200:205] = np.nan
    assert chest_breath(trial, SITES_AT).breaths >= 3
    trial.markers["navel"][300:400] = np.nan
    with pytest.raises(InputError, match="navel"):
        chest_breath(trial, SITES_AT)


@pytest.mark.parametrize(
    ("scale", "words"), [(1e3, "unit of length"), (1e-3, "unit of length")], ids=["mm as m", "m as km"]
)
def test_a_wrong_unit_is_told(scale, words):
    with pytest.raises(InputError, match=words):
        chest_breath(made(scale=scale), SITES_AT)


def test_infinite_places_unknown_names_and_stillness_are_told():
    trial = made()
    trial.markers["navel"][7, 0] = np.inf
    with pytest.raises(InputError, match="navel"):
        chest_breath(trial, SITES_AT)
    plain = made()
    with pytest.raises(InputError, match="names that we know"):
        chest_breath(Trial("x", "made", plain.time, {"A": plain.markers["navel"]}), SITES_AT)
    still = {n: np.tile(x[:1], (len(x), 1)) for n, x in made(noise=0.0).markers.items()}
    with pytest.raises(InputError, match="do not move"):
        chest_breath(Trial("x", "made", plain.time, still), SITES_AT)


def test_one_breath_is_not_enough():
    with pytest.raises(InputError, match="breath"):
        chest_breath(made(breaths=1), SITES_AT)


def test_csv_goes_round(tmp_path):
    trial = made(noise=0.0)
    trial.markers["navel"][3] = np.nan
    write_marker_csv(tmp_path / "a.csv", trial.time, trial.markers)
    back = read_trial(tmp_path / "a.csv")
    for name, x in trial.markers.items():
        np.testing.assert_allclose(back.markers[name], x, atol=1e-6)
    assert chest_breath(back, SITES_AT).breaths >= 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time [s],a.x [ell],a.y [ell],a.z [ell]\n0,1,2,3\n", "unit 'ell'"),
        ("time [s],a.x,a.y,a.z\n0,1,2,3\n", "no unit"),
        ("time [s],a.x [mm],a.y [mm],b.z [mm]\n0,1,2,3\n", "marker 'a'"),
        ("time [s],a.x [mm]\n0,1\n", "marker 'a' has columns x only"),
        ("time [s],a.x [mm],a.y [mm],a.z [m]\n0,1,2,3\n", "in m and in mm; one unit"),
        ("time [s],a.x [mm],a.y [mm],a.z [mm]\n0,1,2\n", "line 2"),
        ("time [s],a.x [mm],a.y [mm],a.z [mm]\n0,1,two,3\n", "'two' is not a finite number"),
        ("time [s],a.x [mm],a.y [mm],a.z [mm]\n0,1,inf,3\n", "'inf' is not a finite number"),
    ],
)
def test_bad_csv_lines_are_named(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_trial(tmp_path / "a.csv")
