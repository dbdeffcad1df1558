"""Systems with nothing in them: no muscles, no excitation."""

import numpy as np
import pytest

from vitruvian.anatomy import arm
from vitruvian.errors import InputError
from vitruvian.systems import BodySystem, LanesSystem
from vitruvian.world import World


def test_a_body_without_muscles_is_measured():
    body = arm("left")
    bare = body.without_muscles(*body.muscles.names)
    assert bare.muscles.n_muscles == 0
    world = World(BodySystem(bare, drawn=False), frame_rate=60.0, substeps=8)
    world.advance(0.05)
    assert np.array_equal(world.observe().signals["activation"], np.zeros(2))


def test_lanes_whose_things_would_be_called_the_same_are_told():
    with pytest.raises(InputError, match="calls two things the same"):
        LanesSystem({"one": BodySystem(arm("left"), drawn=False)}, (1.0, 0.0, 0.0), naming="{lane}")
