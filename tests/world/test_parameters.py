import pytest

from vitruvian.errors import InputError
from vitruvian.world import Parameter, Scene, scene_parameters
from vitruvian.world.parameters import split_settings

scene = Scene(
    name="toy",
    summary="",
    answers="",
    seconds=1.0,
    build=lambda parameters: None,
    check=lambda recording, parameters: None,
    parameters={
        "length": Parameter(1.0, "", "m", low=0.1, high=2.0),
        "count": Parameter(3, "", low=1),
        "friction": Parameter(True, ""),
        "shape": Parameter("round", "", choices=("round", "square")),
    },
    qualities={"fine": {"count": 30}},
)


def test_defaults_then_quality_then_the_users_word():
    assert scene_parameters(scene, "draft", {}) == {"length": 1.0, "count": 3, "friction": True, "shape": "round"}
    assert scene_parameters(scene, "fine", {})["count"] == 30
    chosen = scene_parameters(scene, "fine", {"count": "12", "length": "2", "friction": "off", "shape": "square"})
    assert chosen == {"length": 2.0, "count": 12, "friction": False, "shape": "square"}
    assert isinstance(chosen["length"], float)
    assert isinstance(chosen["count"], int)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lenght": "1"}, "did you mean length"),
        ({"length": "long"}, "length must be a number"),
        ({"length": "nan"}, "length must be a number"),
        ({"length": "3"}, "at most 2 m"),
        ({"length": "0"}, r"at least 0\.1 m"),
        ({"count": "1.5"}, "count must be a whole number"),
        ({"count": "0"}, "at least 1"),
        ({"friction": "maybe"}, "yes or no"),
        ({"shape": "oval"}, "one of round, square"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(settings, message):
    with pytest.raises(InputError, match=message):
        scene_parameters(scene, "draft", settings)


def test_an_unknown_quality_is_told_the_known_ones():
    with pytest.raises(InputError, match="did you mean draft"):
        scene_parameters(scene, "drafty", {})


@pytest.mark.parametrize("word", ["length", "=3", ""])
def test_a_setting_wants_key_and_value(word):
    with pytest.raises(InputError, match="key=value"):
        split_settings([word])


def test_a_setting_given_twice_is_refused():
    with pytest.raises(InputError, match="twice"):
        split_settings(["a=1", "a=2"])
