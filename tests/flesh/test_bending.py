"""Strain points and uneven volume: beams of few cells bend right, in any material, free or in plane strain."""

import numpy as np
import pytest

from vitruvian.flesh import box_lattice, build_flesh, lattice_from_level_set, preset, tissue_volume
from vitruvian.flesh.lattice.bending import DRAWN_IN, strain_points
from vitruvian.flesh.lattice.trilinear import gradients
from vitruvian.verify._flesh_beams import _cantilever_ratio, _tip
from vitruvian.verify._flesh_common import materials


@pytest.mark.parametrize(("poisson", "limit"), [(0.3, 0.996), (0.499, 0.986)])
def test_a_beam_two_cells_thick_bends_as_beam_theory_says(poisson, limit):
    """limit: of small cells, over theory's, of a beam that is clamped rigidly (`clamped_cantilever`)."""
    assert _cantilever_ratio(poisson, 2) == pytest.approx(1.0, abs=0.01)
    assert _cantilever_ratio(poisson, 2, clamped=True) == pytest.approx(limit, rel=0.03)


@pytest.mark.parametrize("poisson", [0.2, 0.3, 0.49])
@pytest.mark.parametrize("plane", [False, True], ids=["free", "plane strain"])
@pytest.mark.parametrize("number", range(4), ids=["Mooney-Rivlin", "neo-Hookean", "corotated", "Venant-Kirchhoff"])
def test_two_cells_bend_as_a_beam_or_plate_does(poisson, plane, number):
    assert _tip(materials(1e6, poisson)[number], 2, plane=plane) == pytest.approx(1.0, abs=0.006)


def test_mean_gradients_of_cut_cells_are_those_of_their_tissue():
    normal = np.array([0.6, 0.5, 0.62])
    lattice = lattice_from_level_set(lambda p: p @ normal - 0.05, [0.0] * 3, [0.08] * 3, 0.02)
    points = strain_points(lattice.points)
    assert np.abs(points - lattice.points).max() > 0.01
    exact, found = gradients(lattice.points).mean(axis=1), gradients(points).mean(axis=1)
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_full_cells_draw_their_points_in_by_the_same_factor():
    lattice = box_lattice((2, 2, 2), 0.01)
    ratio = (strain_points(lattice.points) - 0.5) / (lattice.points - 0.5)
    np.testing.assert_allclose(ratio, np.sqrt(DRAWN_IN), rtol=1e-12)


def test_volume_of_a_twisted_cell_is_that_of_the_whole_cell():
    """Strain points alone would miss a third of what twist adds about the middle."""
    lattice = box_lattice((1, 1, 1), 1.0, origin=(-0.5, -0.5, -0.5))
    cells = build_flesh(lattice, preset("soft")).elasticity
    c, s = np.cos(0.4 * lattice.nodes[:, 2]), np.sin(0.4 * lattice.nodes[:, 2])
    x = np.stack([c * lattice.nodes[:, 0] - s * lattice.nodes[:, 1], s * lattice.nodes[:, 0] + c * lattice.nodes[:, 1]])
    x = np.concatenate([x, lattice.nodes[:, 2:].T]).T
    exact = tissue_volume(lattice, x)
    found = cells.forces(x, -cells.rest_pressure, np.zeros(1), np.zeros_like(x)).jbar[0]
    points = gradients(cells.strain_points, 1.0)
    at_points = np.linalg.det(np.einsum("nai,nqaj->nqij", x[lattice.cell_nodes], points)).mean()
    assert abs(at_points - exact) > 3e-3
    assert found == pytest.approx(exact, abs=1e-4)
