"""Bodies that rest are not looked at again, and nothing else changes by that."""

import numpy as np
import pytest

from vitruvian.mesh import sphere
from vitruvian.water import RigidBodies, RigidBody, Tank, fill, move_window, placing, rasterise

VERTICES, FACES = (np.asarray(a) for a in sphere(0.12, subdivisions=2))
FIELDS = ("open_x", "open_y", "open_z", "volume", "psi", "triangle", "link_x", "link_y", "link_z")


def two_balls(apart, tank):
    names = zip(("one", "two"), (0.5 - 0.5 * apart, 0.5 + 0.5 * apart))
    bodies = RigidBodies([RigidBody.solid(n, VERTICES, FACES, 500.0, position=(x, 0.5, 0.5)) for n, x in names])
    body = bodies.start()
    return bodies, body, fill(tank, level=0.5, mechanism=bodies, body=body)


def on_grid(tank, bodies, body, water):
    return rasterise(tank, water, bodies.skins(body), bodies.links(body).origins)


@pytest.fixture
def counted(monkeypatch):
    calls = []
    real = placing.mesh_distance
    monkeypatch.setattr(placing, "mesh_distance", lambda *a: calls.append(a) or real(*a))
    return calls


def test_only_the_ball_that_moved_is_looked_at_again(counted):
    tank = Tank((20, 20, 20), 0.05)
    bodies, body, water = two_balls(0.5, tank)
    counted.clear()
    on_grid(tank, bodies, body, water)
    assert counted == []
    body.position[1, 2] += 0.01
    on_grid(tank, bodies, body, water)
    assert len(counted) == 2  # at the nodes of the grid and at finer ones
    move_window(tank, water, np.array([1, 0, 0]))
    on_grid(tank, bodies, body, water)
    assert len(counted) == 6


@pytest.mark.parametrize("apart", [0.5, 0.3, 0.2])
def test_what_is_remembered_equals_what_is_made_anew(apart):
    tank = Tank((20, 20, 20), 0.05)
    bodies, body, water = two_balls(apart, tank)
    on_grid(tank, bodies, body, water)
    body.position[1, 2] += 0.013
    kept = on_grid(tank, bodies, body, water)
    fresh_bodies, _, _ = two_balls(apart, tank)
    fresh = on_grid(tank, fresh_bodies, body, water)
    for name in FIELDS:
        assert np.array_equal(getattr(kept, name), getattr(fresh, name)), name
    assert np.array_equal(kept.rows, fresh.rows)


def test_touching_boxes_give_each_boundary_cell_once():
    tank = Tank((20, 20, 20), 0.05)
    bodies, body, water = two_balls(0.25, tank)
    b = on_grid(tank, bodies, body, water)
    keys = np.column_stack([b.cells, b.cell_link])
    assert len(np.unique(keys, axis=0)) == len(keys)
    # closed surfaces: what the cells' faces close of each ball sums to nothing
    for link in range(2):
        assert np.abs(b.rows[b.cell_link == link, 3:].sum(axis=0)).max() < 1e-9
