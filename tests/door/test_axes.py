"""What a sweep varies is read as it was meant, and refused before anything runs where it was not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitruvian.scenes
from vitruvian.door.axes import Axes, grid_values, parse_axes, split_axes
from vitruvian.errors import InputError
from vitruvian.world import Parameter, Report, Scene

SCENE = Scene(
    name="toy",
    summary="",
    answers="",
    seconds=1.0,
    build=lambda parameters: None,
    check=lambda recording, parameters: Report(),
    parameters={
        "rate": Parameter(1.0, "", "1/s", low=0.0, high=10.0),
        "count": Parameter(3, "", low=0, high=100),
        "loud": Parameter(False, ""),
        "lungs": Parameter("full", "", choices=("full", "normal", "empty")),
        "planes": Parameter(2, "", choices=(1, 2, 4)),
        "word": Parameter("abc", ""),
    },
)
decimals = st.decimals(-1000, 1000, allow_nan=False, places=4)


def axes(*settings, **options):
    return parse_axes(SCENE, split_axes(settings), **options)


@settings(deadline=None)  # a busy machine
@given(first=decimals, last=decimals, count=st.integers(2, 200))
def test_a_grid_has_its_ends_its_count_and_even_steps(first, last, count):
    values = [float(word) for word in grid_values(f"{first}:{last}:{count}")]
    assert len(values) == count
    assert (values[0], values[-1]) == (float(first), float(last))
    exact = [Fraction(first) + k * (Fraction(last) - Fraction(first)) / (count - 1) for k in range(count)]
    assert values == [float(value) for value in exact]


@settings(deadline=None)
@given(first=st.integers(0, 50), step=st.integers(1, 10), count=st.integers(2, 5))
def test_a_grid_of_whole_numbers_is_whole(first, step, count):
    found = axes(f"count={first}:{first + step * (count - 1)}:{count}").grid["count"]
    assert found == [first + step * k for k in range(count)]
    assert all(type(value) is int for value in found)


@settings(deadline=None)
@given(st.text(alphabet="0123456789.:eE+-~,; x", max_size=20))
def test_any_text_is_read_or_refused_in_words(text):
    for name in SCENE.parameters:
        try:
            found = axes(f"{name}={text}", sample=3 if text.strip().startswith("~") else None)
        except InputError:
            continue  # any other error fails this test
        assert len(found) == len(list(found)) > 0


def test_tenths_are_those_that_one_types():
    assert axes("rate=0:1:11").grid["rate"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def test_lists_have_the_type_of_the_parameter():
    found = axes("rate=1,2.5", "count=1,2e1", "loud=yes,no", "lungs=full, normal", "planes=1,4").grid
    assert found == {
        "rate": [1.0, 2.5],
        "count": [1, 20],
        "loud": [True, False],
        "lungs": ["full", "normal"],
        "planes": [1, 4],
    }
    assert [type(value) for value in found["count"]] == [int, int]


def test_text_may_hold_commas_and_colons():
    assert axes("word=a,b:c").fixed == {"word": "a,b:c"}
    assert axes("word=a,b;c:d:2").grid == {"word": ["a,b", "c:d:2"]}


def test_python_values_are_sequences_numbers_or_the_same_text():
    found = parse_axes(SCENE, {"rate": np.linspace(0, 1, 3), "count": (1, 2), "loud": True, "lungs": "full,empty"})
    assert found == Axes({"loud": True}, {"rate": [0.0, 0.5, 1.0], "count": [1, 2], "lungs": ["full", "empty"]}, {})
    assert all(type(value) is float for value in found.grid["rate"])


def test_every_combination_once_the_first_slowest():
    found = list(axes("rate=1,2", "lungs=full,empty", "loud=yes"))
    assert found == [{"loud": True, "rate": rate, "lungs": lungs} for rate in (1.0, 2.0) for lungs in ("full", "empty")]


def test_a_random_sample_stays_in_its_range_and_grows_at_its_end():
    settings = ("rate~2:3", "count~5:7", "lungs~full,empty", "loud=yes,no")
    small, large = axes(*settings, sample=20), axes(*settings, sample=200)
    for name, values in small.drawn.items():
        assert large.drawn[name][:20] == values
    assert all(2.0 <= value < 3.0 for value in large.drawn["rate"])
    assert np.mean(large.drawn["rate"]) == pytest.approx(2.5, abs=0.08)  # four standard errors of 200 draws
    assert set(large.drawn["count"]) == {5, 6, 7}
    assert set(large.drawn["lungs"]) == {"full", "empty"}
    assert len(small) == 40
    points = list(small)
    assert [point["rate"] for point in points[:20]] == [point["rate"] for point in points[20:]]
    assert axes(*settings, sample=20, draw=1).drawn != small.drawn
    assert axes(*settings, sample=20) == small


@pytest.mark.parametrize(
    ("settings", "options", "words"),
    [
        (["rat=1:2:3"], {}, "did you mean rate"),
        (["rate"], {}, "key=a:b:n"),
        (["rate="], {}, "key=a:b:n"),
        (["=1"], {}, "key=a:b:n"),
        (["rate=1", "rate=2"], {}, "twice; give all its values at once"),
        (["rate=1:2"], {}, "rate: '1:2' is no grid"),
        (["rate=1:2:1"], {}, "is no grid"),
        (["rate=1:2:3:4"], {}, "is no grid"),
        (["rate=1:2:x"], {}, "is no grid"),
        (["rate=a:2:3"], {}, "is no grid"),
        (["rate=1/3:2:3"], {}, "is no grid"),
        (["rate=1:2:9999999"], {}, "is no grid"),
        (["rate=1:11:3"], {}, "rate must be at most 10 1/s, not 11"),
        (["rate=1:1:3"], {}, "rate has the value 1.0 twice"),
        (["count=0:5:3"], {}, "count must be a whole number, not '2.5'"),
        (["rate=1,x"], {}, "rate must be a number"),
        (["rate=1,"], {}, "rate must be a number"),
        (["loud=yes,maybe"], {}, "loud must be yes or no"),
        (["lungs=full,half"], {}, "lungs must be one of"),
        (["planes=1:4:4"], {}, "planes must be one of"),
        (["lungs=full,full"], {}, "twice"),
        (["rate~1:2"], {}, "--sample"),
        (["rate~1:2:3"], {"sample": 3}, "is no range"),
        (["rate~2:1"], {"sample": 3}, "greater than the first"),
        (["rate~1:11"], {"sample": 3}, "at most 10"),
        (["rate~1"], {"sample": 3}, "nothing to chance"),
        (["rate=1"], {"sample": 3}, "there is none"),
        (["rate~1:2"], {"sample": 0}, "number of samples"),
    ],
)
def test_what_was_not_meant_is_refused(settings, options, words):
    with pytest.raises(InputError) as raised:
        axes(*settings, **options)
    assert words in str(raised.value)


def test_no_scene_has_a_parameter_that_is_called_like_an_option_of_sweep():
    from inspect import signature

    from vitruvian.door import sweep

    options = set(signature(sweep).parameters) - {"scene", "parameters"}
    for scene in vitruvian.scenes.all_scenes():
        assert not options & set(scene.parameters), scene.name
