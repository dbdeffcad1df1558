"""What a head sees, feels and does: rule files and the mind that lives by them, without a face and without muscles."""

import numpy as np
import pytest

from vitruvian.control.mind import (
    EMOTIONS,
    Mind,
    Place,
    Seen,
    character_names,
    load_character,
    read_character,
)
from vitruvian.errors import InputError


def doll(place):
    return Seen("doll", "doll", np.asarray(place, float))


def live(mind, things, seconds):
    """The mind's state after so long with things(time)."""
    own = mind.start()
    for k in range(round(seconds / 0.04)):
        mind.decide(own, things(0.04 * k), 0.04 * k)
    return own, mind.look(own, things(seconds), seconds)


def strongest(look):
    return max(look.emotions, key=look.emotions.get)


ABOVE = 0.8 * np.array([0.0, -np.cos(np.radians(40)), np.sin(np.radians(40))])
LEVEL = np.array([0.0, -0.8, 0.0])


def aside(x):
    return np.array([x, -0.8, 0.0])


@pytest.mark.parametrize(
    ("emotion", "course"),
    [
        ("awe", lambda t: ABOVE),
        ("joy", lambda t: LEVEL),
        ("anger", lambda t: aside(0.08 * np.sin(2.0 * np.pi * 3.0 * t))),
    ],
)
def test_the_three_that_everybody_asks_for(emotion, course):
    _, look = live(Mind(load_character("curious"), ["doll"]), lambda t: [doll(course(t))], 3.0)
    assert strongest(look) == emotion
    assert look.emotions[emotion] > 0.8
    assert sorted(look.emotions.values())[-2] < 0.2  # and nothing else
    np.testing.assert_allclose(look.target, course(3.0))
    assert list(look.emotions) == list(EMOTIONS)


def test_a_steady_course_is_not_shaking():
    _, look = live(Mind(load_character("curious"), ["doll"]), lambda t: [doll(aside(0.6 * t - 0.9))], 3.0)
    assert look.emotions["anger"] < 0.05


def test_feelings_fade_when_the_cause_is_gone():
    mind = Mind(load_character("curious"), ["doll"])
    own, _ = live(mind, lambda t: [doll(ABOVE if t < 2.0 else (0.0, -20.0, 0.0))], 6.0)  # then out of sight
    assert own.attended == -1
    assert own.emotions.max() < 0.02


def test_emotions_move_the_head():
    mind = Mind(load_character("curious"), ["doll"])
    _, awed = live(mind, lambda t: [doll(ABOVE)], 2.0)
    assert awed.turn[0] < np.radians(-3.0)  # chin up
    angry = [live(mind, lambda t: [doll(aside(0.08 * np.sin(18.0 * t)))], 2.0 + d)[1].turn for d in (0.08, 0.28)]
    assert all(turn[0] > np.radians(4.0) for turn in angry)  # forehead forward
    assert np.degrees(abs(angry[0][2] - angry[1][2])) > 2.0  # and shaken


def test_attention_goes_to_what_moves_and_tires_of_what_is_old():
    mind = Mind(load_character("curious"), ["still", "moving"])

    def things(t):
        return [
            Seen("still", "doll", np.array([0.4, -0.8, 0.0])),
            Seen("moving", "doll", np.array([-0.4, -0.8, 0.2 * np.sin(6.0 * t)])),
        ]

    _, look = live(mind, things, 2.0)
    assert look.attended == "moving"

    def even(t):
        return [Seen(n, "doll", np.array([x, -0.8, 0.0])) for n, x in (("still", 0.4), ("moving", -0.4))]

    own, seen = mind.start(), set()
    for k in range(500):
        mind.decide(own, even(0.0), 0.04 * k)
        seen.add(own.attended)
    assert seen == {0, 1}


def test_feelings_pass_from_face_to_face():
    shown = np.eye(len(EMOTIONS))[EMOTIONS.index("joy")]
    found = {}
    for name in ("lively", "grumpy"):
        mind = Mind(load_character(name), ["anna"])
        face = Seen("anna", "face", np.array([0.0, -3.0, 0.0]), shown)
        found[name] = live(mind, lambda t, face=face: [face], 2.0)[1].emotions["joy"]
    assert 0.1 < found["grumpy"] < 0.3 < found["lively"] <= 0.8


def test_feeling_tires_and_rest_recovers():
    mind = Mind(load_character("grumpy"), ["doll"])
    own, look = live(mind, lambda t: [doll(aside(0.08 * np.sin(18.0 * t)))], 20.0)
    assert look.fatigue > 0.4
    assert look.lids > 0.1
    assert look.emotions["anger"] < 0.9  # damped
    assert look.turn[0] > np.radians(4.0)
    tired = own.fatigue
    for k in range(2000):
        mind.decide(own, [doll((0.0, -20.0, 0.0))], 20.0 + 0.04 * k)
    assert own.fatigue < 0.5 * tired


def test_a_mind_must_be_shown_what_it_knows():
    mind = Mind(load_character("curious"), ["doll"])
    with pytest.raises(InputError, match="knows doll was shown cup"):
        mind.decide(mind.start(), [Seen("cup", "cup", LEVEL)], 0.0)


@pytest.mark.parametrize("name", character_names())
def test_the_packages_own_characters_can_be_read(name):
    assert load_character(name).about


GOOD = 'about = "x"\n\n[[feel]]\nemotion = "joy"\n\n[[feel]]\nemotion = "awe"\nabove = 20\nbelow = 40\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace('"awe"', '"ave"'), r"my.toml, line 7: .*'ave'.*awe"),
        (GOOD.replace("above = 20", "above = 200"), r"my.toml, line 8: above must be a number from -90 to 90, got 200"),
        (GOOD.replace("above = 20", "abave = 20"), r"my.toml, line 8: .*'abave'.*above"),
        (GOOD.replace("below = 40", "below = 10"), r"my.toml, line 9: below = 10 is not over above = 20"),
        (GOOD.replace("[[feel]]", "[feel]", 1).split("[[")[0], r"my.toml, line 3: rules are written as \[\[feel\]\]"),
        (GOOD + "\n[[do]]\nhead = [1, 2, 3]\n", r"my.toml, line 11: \[\[do\]\] needs 'emotion'"),
        (GOOD + '\n[[do]]\nemotion = "joy"\nhead = [1, 2]\n', r"line 13: head must be three numbers"),
        (GOOD + '\n[[do]]\nemotion = "joy"\ngaze = "up"\n', r"line 13: .*'up'"),
        (GOOD + "\n[fatigue]\ntires = true\n", r"line 12: tires must be a number"),
        (GOOD + "\n[fatique]\ntires = 1\n", r"line 11: .*'fatique'.*fatigue"),
        ('about = "x"\n', r"my.toml: no \[\[feel\]\]"),
        ("about = x\n", r"my.toml: .*line 1"),
    ],
)
def test_a_bad_file_is_one_line_with_file_line_and_key(text, told):
    with pytest.raises(InputError, match=told) as error:
        read_character(text, "my.toml", "my")
    assert "\n" not in str(error.value)


def test_unknown_characters_and_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"curius.*curious"):
        load_character("curius")
    with pytest.raises(InputError, match="no character file"):
        load_character(tmp_path / "none.toml")


def test_places_turn_points_into_a_heads_axes_and_back():
    place = Place((1.0, 2.0, 0.0), np.pi / 2)
    np.testing.assert_allclose(place.into((1.0, 1.0, 0.5)), (-1.0, 0.0, 0.5), atol=1e-12)
    np.testing.assert_allclose(place.out(place.into((0.3, -0.2, 1.0))), (0.3, -0.2, 1.0), atol=1e-12)
