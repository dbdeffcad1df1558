"""Tissue by itself, of any elements: it is stepped, measured and drawn."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import box_lattice, box_tetrahedra, build_flesh, preset
from vitruvian.systems import TissueSystem
from vitruvian.world import World

SIZE = (0.1, 0.1, 0.2)


def blocks():
    lattice, tetrahedra = box_lattice((2, 2, 4), 0.05), box_tetrahedra((2, 2, 4), 0.05)
    return {
        kind: build_flesh(e, preset("lee"), fixed=e.nodes[:, 2] < 1e-9)
        for kind, e in (("cells", lattice), ("tetrahedra", tetrahedra))
    }


@pytest.mark.parametrize("kind", ["cells", "tetrahedra"])
def test_a_block_under_its_weight_sinks_and_is_drawn_by_its_own_surface(kind):
    model = blocks()[kind]
    world = World(TissueSystem(model), frame_rate=30.0)
    world.advance(0.1)
    frame, stage = world.observe(), world.stage()
    top = model.elements.nodes[:, 2] > SIZE[2] - 1e-9
    assert world.state.flesh.x[top, 2].mean() < SIZE[2]
    assert frame.signals["volume"] == pytest.approx(np.prod(SIZE), rel=0.01)
    assert frame.surfaces["skin"].vertices == pytest.approx(world.state.flesh.x)
    assert np.array_equal(stage.surfaces[0].faces, model.elements.surface())
    assert frame.surfaces["skin"].values.max() > 0.0  # strain


def test_gravity_that_is_none_is_told():
    with pytest.raises(InputError, match="three finite numbers"):
        TissueSystem(blocks()["cells"], (0.0, np.nan, -9.81))
