"""Action units and expressions: what they ask for, and one clear line for what is wrong with them."""

import numpy as np
import pytest

from vitruvian.control.face import action_units, blend, effort, expression, expressions, muscle_names, read_units
from vitruvian.errors import InputError


def test_there_are_44_muscles_and_every_unit_pulls_known_ones():
    assert len(muscle_names()) == 44
    for unit in action_units().values():
        assert unit.muscles or unit.jaw or unit.upper_lid


def test_expressions_of_the_thesis_are_there():
    assert {"joy", "awe", "anger", "fear", "sadness", "disgust", "surprise"} <= set(expressions())


def test_a_list_of_units_is_read():
    assert read_units("AU6 + AU12:0.5") == {"AU6": 1.0, "AU12": 0.5}


def test_one_sided_units_act_on_one_side():
    found = effort({"LAU12": 1.0}).activation
    names = muscle_names()
    assert found[names.index("zygomaticus_major_l")] == 1.0
    assert found[names.index("zygomaticus_major_r")] == 0.0


def test_units_that_share_a_muscle_add_up_and_no_more_than_fully():
    found = effort({"AU4": 1.0, "AU9": 1.0})
    assert found.activation.max() == 1.0
    one, two = effort({"AU9": 0.3}), effort({"AU4": 0.3, "AU9": 0.3})
    i = muscle_names().index("procerus_l")
    assert two.activation[i] == pytest.approx(0.3 * action_units()["AU4"].muscles["procerus"] + one.activation[i])


def test_the_jaw_opens_in_radians():
    assert effort({"AU26": 0.5}).jaw == pytest.approx(np.radians(5.0))


def test_a_blend_is_between_its_parts():
    found = blend({"joy": 0.5, "surprise": 0.5})
    assert found["AU12"] == pytest.approx(0.5 * expression("joy")["AU12"])
    assert "AU26" in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AU99", "AU99"),
        ("AU12:3", "between 0 and 1, not 3"),
        ("AU12:much", "much"),
        ("smile", "smile"),
        ("AU12+", "a name is missing"),
    ],
)
def test_wrong_units_are_one_clear_line(text, said):
    with pytest.raises(InputError) as error:
        read_units(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[glee]\nunits = { AU12 = 3 }\n", ("line 2", "AU12", "between 0 and 1")),
        ("[glee]\nunits = { AU98 = 1 }\n", ("line 2", "AU98")),
        ("[glee]\n\nunit = { AU12 = 1 }\n", ("line 1", "glee")),
        ("[glee]\nunits = { AU12 = 1 }\ncolour = 3\n", ("line 3", "colour")),
        ("[glee\n", ("mine.toml",)),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path, body, said):
    path = tmp_path / "mine.toml"
    path.write_text(body)
    with pytest.raises(InputError) as error:
        expressions(path)
    for part in said:
        assert part in str(error.value)


def test_a_table_of_units_that_is_wrong_says_where(tmp_path):
    path = tmp_path / "units.toml"
    path.write_text('[AU12]\nname = "smile"\nmuscles = { zygomatic = 1.0 }\n')
    with pytest.raises(InputError, match=r"line 3.*zygomatic"):
        action_units(path)
