"""Body shapes from a scene's parameters."""

import pytest

from vitruvian.anatomy.skin_data import BUILDS
from vitruvian.errors import InputError
from vitruvian.scenes import find
from vitruvian.scenes._shape import shape_parameters, skin_shape
from vitruvian.world import scene_parameters


def chosen(**given):
    return {name: parameter.default for name, parameter in shape_parameters("average").items()} | given


def test_a_build_is_taken_as_it_is_and_sex_age_and_weight_go_over_it():
    assert skin_shape(chosen()) == BUILDS["average"]
    shape = skin_shape(chosen(sex="female", age=25.0, weight=0.8))
    assert (shape.sex, shape.age, shape.weight, shape.muscle) == (0.0, 0.5, 0.8, BUILDS["average"].muscle)
    assert skin_shape(chosen(age=90.0)).age == 1.0


@pytest.mark.parametrize(("given", "told"), [({"age": 5.0}, "15 to 90"), ({"weight": -0.5}, "from 0, thin, to 1")])
def test_shapes_that_the_data_do_not_have_are_refused(given, told):
    with pytest.raises(InputError, match=told):
        skin_shape(chosen(**given))


@pytest.mark.parametrize("name", ["biceps", "curl", "jiggle", "poke", "tone"])
def test_quality_reaches_the_lattice_of_every_scene_with_a_body_and_spacing_wins(name):
    scene = find(name)
    found = [scene_parameters(scene, quality, {})["spacing"] for quality in ("draft", "standard", "fine")]
    assert found == [0.03, 0.02, 0.01]
    assert scene_parameters(scene, "fine", {"spacing": "0.025"})["spacing"] == 0.025
