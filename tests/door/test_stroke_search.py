"""A search over a stroke's numbers, judged here by a formula instead of a swim."""

import json

import pytest

from vitruvian.control.rhythm import load_stroke
from vitruvian.door import search_stroke
from vitruvian.errors import InputError

pytest.importorskip("cma")
CHANGES = {"twist times": (1.0, 0.2), "knee flexion plus": (0.0, 3.0)}
ASKED = []


def judge(changes):
    """Fastest with 1.4 times the twist and knees 5 degrees straighter."""
    ASKED.append(changes)
    off = ((changes["twist times"] - 1.4) / 0.2) ** 2 + ((changes["knee flexion plus"] + 5.0) / 3.0) ** 2
    return [1.0 + off, 1.0, 0.0]


def test_a_search_comes_near_the_best_writes_it_and_goes_on_where_it_was(tmp_path):
    best = search_stroke("crawl", CHANGES, out=tmp_path, rounds=12, population=8, judge=judge)
    assert best.changes["twist times"] == pytest.approx(1.4, abs=0.05)
    assert best.changes["knee flexion plus"] == pytest.approx(-5.0, abs=0.8)
    assert json.loads((tmp_path / "best.json").read_text())["changes"] == best.changes
    assert load_stroke(tmp_path / "best.toml").posture == "prone"
    asked = len(ASKED)
    again = search_stroke("crawl", CHANGES, out=tmp_path, rounds=13, population=8, judge=judge)
    assert len(ASKED) == asked + 8  # one round more; the rest was kept
    assert again.cost <= best.cost


def test_a_search_without_a_step_is_refused(tmp_path):
    with pytest.raises(InputError, match="step above zero"):
        search_stroke("crawl", {"twist times": (1.0, 0.0), "knee flexion plus": (0.0, 1.0)}, out=tmp_path)
