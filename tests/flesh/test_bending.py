"""Strain points and uneven volume: beams of few cells bend right, in any material, free or in plane strain."""

import numpy as np
import pytest

from vitruvian.flesh import box_lattice, lattice_from_level_set
from vitruvian.flesh.lattice.bending import DRAWN_IN, strain_points
from vitruvian.flesh.lattice.trilinear import gradients
from vitruvian.verify._flesh_beams import _cantilever_ratio, _tip
from vitruvian.verify._flesh_common import materials


@pytest.mark.parametrize(("poisson", "limit"), [(0.3, 0.996), (0.499, 0.981)])
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
