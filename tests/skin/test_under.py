"""What is drawn under a skin stays under it, however the skin is smoothed."""

import numpy as np

from vitruvian.flesh import Drape, box_lattice, embed
from vitruvian.mesh import capsule, vertex_normals
from vitruvian.skin import Under

CELL, RADIUS, BEND = 0.03, 0.05, 1.5
ENDS = np.array([0.0, 0.0, 0.0]), np.array([0.3, 0.0, 0.0])


def height(points):
    """Above the skin of the limb in its rest pose [m], shape (n,)."""
    foot = np.clip(points[:, 0], 0.0, 0.3)
    return np.linalg.norm(points - np.column_stack([foot, 0.0 * foot, 0.0 * foot]), axis=1) - RADIUS


def bent(points):
    return points + np.column_stack([0.0 * points[:, 0], BEND * points[:, 0] ** 2, 0.0 * points[:, 0]])


def straight(points):
    return points - np.column_stack([0.0 * points[:, 0], BEND * points[:, 0] ** 2, 0.0 * points[:, 0]])


def limb():
    """A bent limb whose lattice has kinks of 6 mm from cell to cell, its draped skin, and a belly 3 mm below it."""
    lattice = box_lattice((14, 5, 5), CELL, origin=(-0.07, -0.075, -0.075))
    skin, faces = capsule(*ENDS, RADIUS, sides=48)
    belly, _ = capsule(*ENDS, RADIUS - 0.003, sides=40)
    kinks = 0.006 * np.random.default_rng(2).choice([-1.0, 1.0], size=lattice.nodes.shape)
    x = bent(lattice.nodes) + kinks
    riding, carried = embed(lattice, skin).positions(x), embed(lattice, belly).positions(x)
    drawn = bent(skin) + Drape(skin, faces, 2.0 * CELL)(riding - bent(skin))
    return skin, faces, belly, riding, drawn, carried


def above(points, drawn, faces, skin):
    """Above the drawn skin [m], shape (n,): the plane of the nearest of its vertices."""
    normals = vertex_normals(drawn, faces)
    nearest = ((points[:, None] - drawn[None]) ** 2).sum(axis=2).argmin(axis=1)
    return np.einsum("ni,ni->n", points - drawn[nearest], normals[nearest])


def test_no_belly_comes_through_a_skin_that_is_smoother_than_its_flesh():
    skin, faces, belly, riding, drawn, carried = limb()
    assert (height(straight(carried)) > 0.0005).sum() > 20  # without the correction some do
    assert (above(carried, drawn, faces, skin) > 0.0005).sum() > 10
    below = Under(skin, faces, belly, CELL)(carried, riding, drawn)
    assert (above(below, drawn, faces, skin) > 0.0005).sum() == 0


def test_a_skin_drawn_as_it_rides_leaves_what_lies_well_below_it_alone():
    skin, faces, belly, *_ = limb()
    deep = 0.8 * (belly - [0.15, 0.0, 0.0]) + [0.15, 0.0, 0.0]
    under = Under(skin, faces, deep, CELL)
    np.testing.assert_array_equal(under(deep, skin, skin), deep)
    shift = np.array([0.01, -0.02, 0.03])
    moved = Under(skin, faces, belly, CELL)(belly, skin, skin + shift)
    np.testing.assert_allclose(moved, belly + shift, atol=1e-12)
