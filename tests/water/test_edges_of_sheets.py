"""The edge of a sheet that ends inside a cell: its effective place moves as the edge itself does."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from vitruvian.mesh import box, cylinder
from vitruvian.spatial import exp_so3
from vitruvian.water import RigidBodies, RigidBody, Tank, fill, project, rasterise, set_body_velocity
from vitruvian.water.pieces import TURN


def half_breadth(breadth, height):
    """Effective half breadth [cells] of a sheet of half a breadth at a height above the faces between cells, from its
    added mass rho pi a^2 for each length in a tank of one row.
    """
    n, deep = 96, 4
    tank = Tank((n, deep, n), 1.0, free_surface=False, gravity=(0.0, 0.0, 0.0))
    sheet = RigidBody.solid(
        "sheet", *map(np.asarray, box((2.0 * breadth, 2.0 * deep, 0.01))), 1000.0,
        position=(0.5 * n, 0.5 * deep, 0.5 * n + height),
    )  # fmt: skip
    bodies = RigidBodies([sheet], (0.0, 0.0, 0.0))
    state = bodies.start()
    water = fill(tank, mechanism=bodies, body=state)
    b = rasterise(tank, water, bodies.skins(state), bodies.links(state).origins)
    set_body_velocity(tank, water, b, bodies.skins(state), np.array([[0, 0, 0, 0, 0, 1.0]]))
    push = -project(tank, water, b, 1e-3).impulses[0, 5]
    return np.sqrt(push / (1000.0 * deep * np.pi))


@pytest.mark.parametrize("height", [0.0, 0.25, 0.5])
def test_the_effective_edge_of_a_sheet_moves_with_its_own(height):
    """Past the sides of cells as well, where the cell of the edge turns from one piece to two."""
    parts = np.array([0.05, 0.3, 0.6, 0.9, 0.99, 1.05])
    found = np.array([half_breadth(8.0 + part, height) for part in parts]) - 8.0
    assert found - found[0] == pytest.approx(parts - parts[0], abs=0.1)
    assert found[0] == pytest.approx(0.15, abs=0.2)  # walls at six half breadths make it some 0.1


def test_the_turn_of_a_half_planes_edge_on_the_lattice():
    """The last face of a plate on the five-point lattice, open by w, moves the edge of the far field by (1 - w) /
    (1 + TURN w) of a cell: the closed form that the effective open part inverts.
    """

    def half(closed, w, n=200):
        """From a quarter of the plane, n cells a side; the flow is odd across the plate's plane."""
        at = np.arange(n * n).reshape(n, n)
        rows, columns, main = [], [], np.zeros(n * n)
        for a, b in ((at[:-1], at[1:]), (at[:, :-1], at[:, 1:])):
            rows += [a.ravel(), b.ravel()]
            columns += [b.ravel(), a.ravel()]
            main[a.ravel()] += 1.0
            main[b.ravel()] += 1.0
        opened = np.ones(n)
        opened[:closed] = 0.0
        opened[closed] = w
        main[at[:, 0]] += 2.0 * opened
        main[at[-1]] += 2.0
        main[at[:, -1]] += 2.0
        rows, columns = np.concatenate([*rows, at.ravel()]), np.concatenate([*columns, at.ravel()])
        matrix = sp.csc_matrix((np.concatenate([np.full(len(rows) - n * n, -1.0), main]), (rows, columns)))
        right = np.zeros(n * n)
        right[at[:, 0]] = 1.0 - opened
        return np.sqrt(4.0 * ((1.0 - opened) * spsolve(matrix, right)[at[:, 0]]).sum() / np.pi)

    low, high = half(16, 1.0), half(17, 1.0)
    for w in (0.8, 0.5, 0.2):
        assert (half(16, w) - low) / (high - low) == pytest.approx((1.0 - w) / (1.0 + TURN * w), abs=0.003)


def added_mass(shape, turn=0.0, place=(0.0, 0.0, 0.5), n=32):
    """Over rho, upwards, of a body turned about the vertical and placed off the middle of a tank."""
    tank = Tank((n, n, n), 1.0, free_surface=False, gravity=(0.0, 0.0, 0.0))
    position = tuple(0.5 * n + np.asarray(place))
    sheet = RigidBody.solid(
        "sheet", *map(np.asarray, shape), 1000.0, position=position, rotation=exp_so3(np.array([0.0, 0.0, turn]))
    )
    bodies = RigidBodies([sheet], (0.0, 0.0, 0.0))
    state = bodies.start()
    water = fill(tank, mechanism=bodies, body=state)
    b = rasterise(tank, water, bodies.skins(state), bodies.links(state).origins)
    set_body_velocity(tank, water, b, bodies.skins(state), np.array([[0, 0, 0, 0, 0, 1.0]]))
    return -project(tank, water, b, 1e-3).impulses[0, 5] / 1000.0


@pytest.mark.parametrize("height", [0.25, 0.5])
@pytest.mark.parametrize("degrees", [20.0, 45.0])
def test_a_sheet_turned_in_its_plane_is_as_heavy_as_along_the_grid(height, degrees):
    sheet = box((10.0, 10.0, 0.05))
    places = [(0.1, 0.3, height), (-0.4, 0.2, height), (0.3, -0.1, height)]
    along = np.mean([added_mass(sheet, place=at) for at in places])
    assert np.mean([added_mass(sheet, np.radians(degrees), at) for at in places]) == pytest.approx(along, rel=0.025)


def test_a_thin_disc_of_few_cells_has_its_added_mass():
    """Most of its edge is askew."""
    radius, exact = 3.0, 8.0 / 3.0 * 27.0 * 1.012  # of its thickness
    found = [added_mass(cylinder(radius, 0.02), place=(x, y, z)) for x, y, z in [(0.1, 0.3, 0.3), (-0.4, 0.2, 0.5)]]
    assert np.array(found) == pytest.approx(exact, rel=0.03)


def test_a_disc_of_half_a_cell_is_heavier_than_a_sheet():
    """The throat beside its edge is as long as it is thick."""
    exact = 8.0 / 3.0 * 27.0 * 1.132  # of its thickness, from an axisymmetric solution
    places = [(0.1, 0.3, 0.3), (-0.4, 0.2, 0.5), (0.2, -0.3, 0.1)]
    found = np.mean([added_mass(cylinder(3.0, 0.5), place=at) for at in places])
    assert found == pytest.approx(exact, rel=0.055)
