"""A warning names what is too narrow for the cells, once a run."""

import warnings

import numpy as np
import pytest

from vitruvian.mesh import box, cylinder, sphere
from vitruvian.water import NarrowWarning, RigidBodies, RigidBody, Tank, cover, fill, narrow_links, start_patches, step


def told(shape, cell, *, steps=1, patch=False):
    tank = Tank((14, 14, 14), cell, free_surface=False, gravity=(0.0, 0.0, 0.0))
    vertices, faces = shape
    body = RigidBody.solid("paddle", np.asarray(vertices, float), faces, 1000.0, position=(7.0 * cell,) * 3)
    bodies = RigidBodies([body], (0.0, 0.0, 0.0))
    state = bodies.start()
    water = fill(tank, mechanism=bodies, body=state)
    patches = None
    if patch:
        patches = cover(tank, bodies, state, links=[0])
        water.patches = start_patches(patches)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(steps):
            step(tank, water, 1e-3, mechanism=bodies, body=state, patches=patches)
    return [str(w.message) for w in found if w.category is NarrowWarning]


HAND = box((0.18, 0.08, 0.025))


def test_a_hand_on_coarse_cells_is_named_once_with_breadth_and_cell():
    (text,) = told(HAND, 0.045, steps=3)
    assert text.startswith("paddle: 80 mm broad and 25 mm thick on cells of 45 mm; ")
    assert "wrong by a fifth" in text
    assert "take cells of 17 mm" in text


@pytest.mark.parametrize(
    ("shape", "cell"),
    [(HAND, 0.016), (cylinder(0.038, 0.3), 0.045), (sphere(0.2), 0.1), (box((0.5, 0.5, 0.001)), 0.1)],
)
def test_what_the_cells_resolve_is_not(shape, cell):
    assert told(shape, cell) == []


def test_a_flat_body_of_about_a_cell_is_pushed_in_pulses_however_broad():
    (text,) = told(HAND, 0.03)
    assert "pulses by a third" in text
    assert "take cells of 17 mm" in text
    (text,) = told(box((0.2, 0.2, 0.025)), 0.03)
    assert "pulses" in text


def test_links_are_told_with_the_one_first_that_needs_the_finest_cells():
    bodies = RigidBodies(
        [
            RigidBody.solid("ball", *map(np.asarray, sphere(0.02)), 1000.0, position=(0.1, 0.1, 0.1)),
            RigidBody.solid("hand", *map(np.asarray, HAND), 1000.0, position=(0.3, 0.3, 0.3)),
            RigidBody.solid("thigh", *map(np.asarray, cylinder(0.08, 0.4)), 1000.0, position=(0.6, 0.6, 0.6)),
        ]
    )
    found = narrow_links(Tank((20, 20, 20), 0.04), bodies.skins(bodies.start()))
    assert [n.name for n in found] == ["hand", "ball"]
    assert found[0].cell == pytest.approx(0.025 / 1.5, rel=1e-6)
    assert found[0].breadth == pytest.approx(0.08, rel=1e-6)


@pytest.mark.parametrize(("shape", "cell"), [(cylinder(0.038, 0.3), 0.07), (sphere(0.05), 0.1)])
def test_a_round_limb_of_a_cell_is(shape, cell):
    assert len(told(shape, cell)) == 1


def test_a_hand_in_a_patch_is_not():
    assert told(HAND, 0.045, patch=True) == []


def test_a_vessel_is_no_flat_limb():
    outer, inner = (np.asarray(v, float) for v in (box((0.4, 0.4, 0.3))[0], box((0.36, 0.36, 0.26))[0]))
    faces = np.asarray(box((1.0, 1.0, 1.0))[1])
    hollow = np.concatenate([outer, inner]), np.concatenate([faces, faces[:, ::-1] + len(outer)])
    assert told(hollow, 0.05) == []
