"""Strokes changed by readable numbers."""

import numpy as np
import pytest

from vitruvian.control.rhythm import load_stroke, shaped, stroke_table, write_stroke
from vitruvian.errors import InputError


@pytest.fixture
def crawl():
    return stroke_table("crawl")


def line(table, word):
    return np.asarray(table["angles"][word], float)


def test_no_change_is_no_change(crawl, tmp_path):
    write_stroke(
        shaped(crawl, {"twist times": 1.0, "knee flexion plus": 0.0, "arms 0.62 at": 0.62}), tmp_path / "a.toml"
    )
    again, first = load_stroke(tmp_path / "a.toml"), load_stroke("crawl")
    assert again.keys == first.keys
    assert np.degrees(np.abs(again.angles - first.angles)).max() < 0.011


def test_a_bump_turns_each_side_at_its_own_time(crawl):
    made = shaped(crawl, {"shoulder abduction at 0.5": 6.0})
    left = line(made, "left shoulder abduction") - line(crawl, "left shoulder abduction")
    right = line(made, "right shoulder abduction") - line(crawl, "right shoulder abduction")
    assert left[12] == pytest.approx(6.0)
    assert np.abs(left[[8, 16]]).max() < 1e-9  # 0.167 of a cycle away
    assert np.abs(right - np.roll(left, 12)).max() < 1e-9
    both = shaped(stroke_table("butterfly"), {"knee flexion at 0.25": -4.0})
    assert line(both, "knee flexion")[6] == pytest.approx(line(stroke_table("butterfly"), "knee flexion")[6] - 4.0)


def test_times_scale_about_the_mean_and_leave_the_neck(crawl):
    made = shaped(crawl, {"hip flexion times": 2.0, "twist times": 1.5})
    before, after = line(crawl, "left hip flexion"), line(made, "left hip flexion")
    assert after.mean() == pytest.approx(before.mean(), abs=0.01)
    assert np.ptp(after) == pytest.approx(2.0 * np.ptp(before), abs=0.03)
    assert np.ptp(line(made, "T6 twist")) == pytest.approx(1.5 * np.ptp(line(crawl, "T6 twist")), abs=0.03)
    assert (line(made, "C1 twist") == line(crawl, "C1 twist")).all()


def test_a_twist_that_comes_later_leaves_neck_and_arms(crawl):
    made = shaped(crawl, {"twist later": 3 / 24})
    assert np.abs(line(made, "T6 twist") - np.roll(line(crawl, "T6 twist"), 3)).max() < 0.011
    for word in ("C1 twist", "pelvis twist", "left shoulder rotation"):
        assert (line(made, word) == line(crawl, word)).all()
    half = shaped(crawl, {"twist later": 0.5 / 24})  # between poses
    between = 0.5 * (line(crawl, "T6 twist") + np.roll(line(crawl, "T6 twist"), 1))
    assert np.abs(line(half, "T6 twist") - between).max() < 0.1


def test_bent_time_moves_what_happened(crawl):
    made = shaped(crawl, {"arms 0.5 at": 0.54167})
    for side, turn in (("left", 0), ("right", 12)):
        word = f"{side} elbow flexion"
        assert line(made, word)[(13 + turn) % 24] == pytest.approx(line(crawl, word)[(12 + turn) % 24], abs=0.1)
    assert (line(made, "left knee flexion") == line(crawl, "left knee flexion")).all()


@pytest.mark.parametrize("change", ["left tail flexion plus", "faster", "arms 0.5 at", "tail wag at 0.3"])
def test_what_makes_no_sense_is_refused(crawl, change):
    with pytest.raises(InputError):
        shaped(crawl, {change: 1.5})
