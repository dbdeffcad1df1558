import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control import strength_tests
from vitruvian.control.strength import strength


@pytest.fixture(scope="module")
def body():
    return human(muscles="elastic")


def named(name):
    return next(t for t in strength_tests() if t.name.startswith(name))


def test_limbs_of_the_corrected_body_are_about_as_strong_as_peoples(body):
    for t in strength_tests():
        if t.method == "sum":
            assert 0.75 * t.low <= strength(body, t) <= t.high / 0.75, t.name


def test_the_printed_body_is_much_weaker(body):
    printed = human("printed")
    assert strength(printed, named("elbow flexion")) < 0.5 * strength(body, named("elbow flexion"))


def test_balanced_trunk_strength_is_symmetric_and_below_the_sum_of_all_muscles(body):
    from dataclasses import replace

    bend = named("trunk lateral bending")
    left, right = strength(body, bend), strength(body, replace(bend, axis="0 -1 0"))
    assert left == pytest.approx(right, rel=1e-3)
    alone = strength(body, replace(bend, method="sum"))
    assert 0 < left < alone
    assert np.isfinite(alone)
